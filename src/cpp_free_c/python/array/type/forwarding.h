/* Calls of Python functions in pycuda/_array that do the work of a method. */
#ifndef PYTHON_ARRAY_TYPE_FORWARDING_H
#define PYTHON_ARRAY_TYPE_FORWARDING_H

#include "python/support/args.h"

/* Call function(op, *args, **kwargs) of the Python module `where`. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_forward(PyObject *op, const char *where,
                                                     const char *function,
                                                     PyObject *const *args,
                                                     Py_ssize_t nargs,
                                                     PyObject *kwnames);

/* Call function(*args, **kwargs) of the Python module `where`. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_forward(const char *where, const char *function,
                                            PyObject *const *args, Py_ssize_t nargs,
                                            PyObject *kwnames);

/* Call function(what, self, **arguments) of the Python module `where`, without self if
 * that is NULL. The arguments were parsed by the signature, which names them. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_forward_by_name(
    const char *where, const char *function, const char *what, PyObject *self,
    const pcu_signature *signature, PyObject *const *args, Py_ssize_t nargs,
    PyObject *kwnames);

#endif
