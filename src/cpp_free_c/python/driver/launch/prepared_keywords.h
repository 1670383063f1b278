/* A prepared call as it came from Python, and reading its keywords.
 *
 * Callers: prepared_call.c. */
#ifndef PYTHON_DRIVER_LAUNCH_PREPARED_KEYWORDS_H
#define PYTHON_DRIVER_LAUNCH_PREPARED_KEYWORDS_H

#include "python/support/base.h"

#include "python/driver/launch/launch.h"
#include "python/driver/launch/launch_attributes.h"

typedef struct {
    const char *method; /* for messages */
    int async;          /* a stream follows the block */
    PyObject *const *args;
    Py_ssize_t nargs;
    PyObject *kwnames;
} pcu_prepared_request;

/* Read the keywords: shared_size into the shape, launch attributes into `attributes`,
 * the leading parameters into `fixed`. `fixed` has room for grid, block and, with a
 * stream, that one, and already holds those that were given by position. `attributes`
 * may be NULL if there are no keywords. */
PCU_HIDDEN PCU_RAISES int pcu_prepared_keywords(pcu_function *self,
                                                const pcu_prepared_request *request,
                                                PyObject **fixed,
                                                pcu_launch_attributes *attributes,
                                                pcu_launch_shape *shape);

#endif
