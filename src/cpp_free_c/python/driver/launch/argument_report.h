/* The warning about an argument whose type differs from that of its parameter.
 *
 * Invariant: a call site that has warned is remembered, so the next calls from there
 * cost little. Callers: arguments.c, prepared_format.c and prepared_values.c. */
#ifndef PYTHON_DRIVER_LAUNCH_ARGUMENT_REPORT_H
#define PYTHON_DRIVER_LAUNCH_ARGUMENT_REPORT_H

#include "python/support/base.h"

#include "python/driver/launch/function_struct.h"

/* Warn that argument `index` is of another type than its parameter. `arg` is the
 * argument, or the str of its format character. With PYCUDA_STRICT=1 raise TypeError.
 */
PCU_HIDDEN PCU_RAISES int pcu_argument_report(pcu_function *fn, Py_ssize_t index,
                                              PyObject *arg);

/* The same for a format character of prepare(). */
PCU_HIDDEN PCU_RAISES int pcu_argument_report_format(pcu_function *fn, Py_ssize_t index,
                                                     char code);

/* Raise an exception for an argument that cannot be passed. `format` says what is wrong
 * after the words "argument INDEX of KERNEL". What is known of the parameter is added.
 * Return -1. */
PCU_HIDDEN PCU_RAISES int pcu_argument_raise(pcu_function *fn, Py_ssize_t index,
                                             PyObject *arg, PyObject *error,
                                             const char *format, ...);

/* The same for an argument that PyCUDA passes, and that is right on a GPU if the kernel
 * does not use it: raise only if such mistakes are errors. Otherwise warn, and return
 * 0. The driver must report the parameters. */
PCU_HIDDEN PCU_RAISES int pcu_argument_forgive(pcu_function *fn, Py_ssize_t index,
                                               PyObject *arg, PyObject *error,
                                               const char *format, ...);

/* Forget the call sites of a function, when it is freed. */
PCU_HIDDEN void pcu_argument_sites_free(struct pcu_argument_sites *sites);

#endif
