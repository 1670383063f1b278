/* The format of prepared calls: from arg_types to the list of values that a call packs.
 *
 * Invariant: a compiled format never changes; calls hold a reference while they pack.
 * Callers: prepared_call.c compiles formats, prepared_values.c reads them. */
#ifndef PYTHON_DRIVER_LAUNCH_PREPARED_FORMAT_H
#define PYTHON_DRIVER_LAUNCH_PREPARED_FORMAT_H

#include "python/support/base.h"

#include "python/driver/launch/function_struct.h"

/* Make one format string of the argument of prepare(): a str, or an iterable of NumPy
 * types and dtypes. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_prepared_format_new(PyObject *arg_types);

/* Compile a format into *prepared. The caller releases it. */
PCU_HIDDEN PCU_RAISES int pcu_prepared_compile(pcu_function *self, PyObject *format,
                                               pcu_prepared **prepared);

/* Drop a reference to a compiled format. NULL is allowed. */
PCU_HIDDEN void pcu_prepared_release(pcu_prepared *plan);

#endif
