/* Work that NumPy does on the software device, whose memory is the host's.
 *
 * Called by product/matmul.c, fourier/fourier.c and sort/sort.c. The Python half is
 * pycuda/_array/host.py. */
#ifndef PYTHON_ARRAY_HOST_WORK_H
#define PYTHON_ARRAY_HOST_WORK_H

#include "python/driver/context.h"

/* 1 if NumPy may work in the order of the stream, 0 if the work becomes a part of a
 * graph, which cannot repeat it, or -1. */
PCU_HIDDEN int pcu_host_may_work(pcu_state *st, CUstream stream);

/* Call a function of pycuda/_array/host.py. The arguments, a tuple, are taken over;
 * NULL is an error that was raised. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_host_call_new(const char *name, PyObject *args);

/* The same for a function that returns nothing. */
PCU_HIDDEN PCU_RAISES int pcu_host_call(const char *name, PyObject *args);

#endif
