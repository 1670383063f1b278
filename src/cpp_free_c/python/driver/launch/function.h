/* Function: a kernel of a loaded module.
 *
 * Callers: module.c, for get_function(). */
#ifndef PYTHON_DRIVER_LAUNCH_FUNCTION_H
#define PYTHON_DRIVER_LAUNCH_FUNCTION_H

#include "python/support/base.h"

/* Wrap a kernel of the module. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_function_new(pcu_state *st, PyObject *module,
                                                 CUfunction handle, PyObject *name);

#endif
