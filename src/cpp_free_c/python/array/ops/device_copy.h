/* Copies between GPUArrays, on the device.
 *
 * Called by assign.c, host_transfer.c, ufunc.c and the methods in type/. */
#ifndef PYTHON_ARRAY_OPS_DEVICE_COPY_H
#define PYTHON_ARRAY_OPS_DEVICE_COPY_H

#include "python/array/ops/elementwise_kernel.h"
#include "python/driver/memory/gpuarray.h"

/* Enqueue target[...] = source, with broadcasting and conversion. */
PCU_HIDDEN PCU_RAISES int pcu_device_copy(pcu_gpuarray *target, pcu_gpuarray *source,
                                          CUstream stream);

/* A packed copy with self's order of axes. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_copy_new(pcu_gpuarray *self,
                                                      PyObject *allocator,
                                                      CUstream stream);

/* A copy that is packed in C or Fortran order. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_ordered_copy_new(pcu_gpuarray *self,
                                                              bool f_order,
                                                              CUstream stream);

/* The array itself if it is packed in C order, else a copy that is. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_gpuarray_in_c_order_new(pcu_gpuarray *self,
                                                            PyObject *allocator,
                                                            CUstream stream);

/* Replace the arrays among the inputs that conflict with an output by copies. copies
 * has nin places, NULL at first; the caller releases them after the launch. */
PCU_HIDDEN PCU_RAISES int pcu_device_copy_conflicting(int nin, pcu_operand *inputs,
                                                      int nout,
                                                      pcu_gpuarray *const *outputs,
                                                      PyObject **copies,
                                                      CUstream stream);

#endif
