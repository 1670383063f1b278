/* The ordinary call of a Function.
 *
 * Callers: function.c, which stores it in each Function as its vectorcall function. */
#ifndef PYTHON_DRIVER_LAUNCH_CALL_H
#define PYTHON_DRIVER_LAUNCH_CALL_H

#include "python/support/base.h"

/* Function.__call__. */
PCU_HIDDEN PyObject *pcu_call_function(PyObject *op, PyObject *const *args,
                                       size_t nargsf, PyObject *kwnames);

#endif
