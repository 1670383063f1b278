/* What the files around Function share: its description, the launch itself, packing. */
#ifndef PYTHON_DRIVER_LAUNCH_LAUNCH_H
#define PYTHON_DRIVER_LAUNCH_LAUNCH_H

#include "python/support/base.h"

#include "python/driver/launch/function_struct.h"

#include "driver/argument_buffer.h"

typedef struct {
    unsigned int grid[3];
    unsigned int block[3];
    unsigned int shared; /* bytes of dynamic shared memory */
    CUstream stream;
} pcu_launch_shape;

/* Ask the driver once for the kernel's limits and, from CUDA 12.4 on, its parameters.
 */
PCU_HIDDEN PCU_RAISES int pcu_function_describe(pcu_function *self);

/* Forget what pcu_function_describe learned: an attribute was set. */
PCU_HIDDEN void pcu_function_forget(pcu_function *self);

/* Check the shape against device and kernel, then launch. params holds size bytes. */
PCU_HIDDEN PCU_RAISES int pcu_launch_run(pcu_function *self,
                                         const pcu_launch_shape *shape, void *params,
                                         size_t size);

/* Only check the shape. */
PCU_HIDDEN PCU_RAISES int pcu_launch_check(pcu_function *self,
                                           const pcu_launch_shape *shape);

/* Pack the arguments of a call. If any is an ArgumentHandler, *handlers becomes an
 * array of nargs pointers, also on failure: the device memory of those that are exactly
 * an In, Out or InOut. pcu_handlers_release takes it.
 *
 * Arguments that say which stream their data comes from (__cuda_array_interface__) are
 * waited for: by *stream, or by the caller where stream is NULL. */
PCU_HIDDEN PCU_RAISES int pcu_launch_pack(pcu_function *self, PyObject *const *args,
                                          Py_ssize_t nargs, const CUstream *stream,
                                          pcu_argbuf *buffer, PyObject ***handlers);

/* prepared.c */
PCU_HIDDEN void pcu_prepared_release(pcu_prepared *plan); /* NULL is fine */
PCU_HIDDEN PyObject *pcu_function_prepare(PyObject *op, PyObject *const *args,
                                          Py_ssize_t nargs, PyObject *kwnames);
PCU_HIDDEN PyObject *pcu_function_get_arg_format(PyObject *op, void *closure);
PCU_HIDDEN int pcu_function_set_arg_format(PyObject *op, PyObject *format,
                                           void *closure);
PCU_HIDDEN PyObject *pcu_function_prepared_call(PyObject *op, PyObject *const *args,
                                                Py_ssize_t nargs, PyObject *kwnames);
PCU_HIDDEN PyObject *pcu_function_prepared_async_call(PyObject *op,
                                                      PyObject *const *args,
                                                      Py_ssize_t nargs,
                                                      PyObject *kwnames);
PCU_HIDDEN PyObject *pcu_function_prepared_timed_call(PyObject *op,
                                                      PyObject *const *args,
                                                      Py_ssize_t nargs,
                                                      PyObject *kwnames);

/* oldlaunch.c: the calls of CUDA before 4.0, methods for Function */
extern PCU_HIDDEN PyMethodDef pcu_oldlaunch_methods[];

/* The call of a Function. */
PCU_HIDDEN PyObject *pcu_function_vectorcall(PyObject *op, PyObject *const *args,
                                             size_t nargsf, PyObject *kwnames);

#endif
