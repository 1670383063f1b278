/* The arguments of a call of a program's own kernel: an ElementwiseKernel, a
 * ReductionKernel or a scan.
 *
 * The functions here accept the usual cases. pycuda/_array/kernels/kernel_arguments.py
 * handles all others. Called by kernel_call.c and call_launch.c. */
#ifndef PYTHON_ARRAY_TYPE_KERNEL_ARGUMENTS_H
#define PYTHON_ARRAY_TYPE_KERNEL_ARGUMENTS_H

#include "python/driver/memory/gpuarray.h"

/* How a parameter uses its argument. */
enum { PCU_USE_SCALAR, PCU_USE_POINTER, PCU_USE_ELEMENTS };

/* One call; all objects are borrowed. */
typedef struct {
    pcu_state *st;
    Py_ssize_t count;
    PyObject *const *args;
    PyObject *dtypes;          /* tuple: what the kernel declares */
    const char *uses;          /* a byte for each argument */
    const pcu_gpuarray *first; /* the array that gives the order of memory */
    size_t extent;             /* elements that the kernel uses of each array */
} pcu_kernel_arguments;

/* Check argument i, an array: 1 if it certainly is what the kernel declares, 0 if
 * Python has to decide, -1 on error. Runs no Python code. */
PCU_HIDDEN PCU_RAISES int pcu_kernel_arguments_check(const pcu_kernel_arguments *call,
                                                     Py_ssize_t i);

/* The same, and store the address that the kernel gets. */
PCU_HIDDEN PCU_RAISES int pcu_kernel_arguments_address(const pcu_kernel_arguments *call,
                                                       Py_ssize_t i,
                                                       CUdeviceptr *address);

#endif
