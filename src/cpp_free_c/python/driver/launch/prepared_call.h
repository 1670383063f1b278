/* Prepared calls, as methods and attributes of Function.
 *
 * Callers: function.c, for the type's tables. */
#ifndef PYTHON_DRIVER_LAUNCH_PREPARED_CALL_H
#define PYTHON_DRIVER_LAUNCH_PREPARED_CALL_H

#include "python/support/base.h"

#define PCU_PREPARED_METHOD(name)                                                 \
    PCU_HIDDEN PyObject *pcu_function_##name(PyObject *op, PyObject *const *args, \
                                             Py_ssize_t nargs, PyObject *kwnames)
PCU_PREPARED_METHOD(prepared_call);
PCU_PREPARED_METHOD(prepared_async_call);
PCU_PREPARED_METHOD(prepared_timed_call);
#undef PCU_PREPARED_METHOD

/* Set the argument types of prepared calls, and return the function. texrefs may be
 * NULL. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_function_prepare(PyObject *op, PyObject *arg_types,
                                                     PyObject *texrefs);

PCU_HIDDEN PyObject *pcu_function_get_arg_format(PyObject *op, void *closure);
PCU_HIDDEN int pcu_function_set_arg_format(PyObject *op, PyObject *format,
                                           void *closure);

#endif
