/* Allocation under memory pressure: collect garbage, try again, and explain a failure.
 *
 * Invariant: the garbage collector may run Python code, such as finalizers, so a caller
 * of PCU_ALLOCATE assumes nothing about other objects afterwards. Callers: the files of
 * this folder that allocate. */
#ifndef PYTHON_DRIVER_MEMORY_OUT_OF_MEMORY_H
#define PYTHON_DRIVER_MEMORY_OUT_OF_MEMORY_H

#include "python/support/base.h"

#include "python/support/driver_call.h"

/* Run the garbage collector, even if the program has disabled automatic collection. */
PCU_HIDDEN void pcu_collect_garbage(void);

/* Call an allocating function of the driver. If memory is short, collect garbage and
 * call it again. */
#define PCU_ALLOCATE(status, name, args)            \
    do {                                            \
        PCU_STATUS(status, name, args);             \
        if ((status) == CUDA_ERROR_OUT_OF_MEMORY) { \
            pcu_collect_garbage();                  \
            PCU_STATUS(status, name, args);         \
        }                                           \
    } while (0)

/* The lines of the program that hold the most memory, pools and other processes, as a
 * str that begins with a line end or is empty. `host`: for page-locked memory. It runs
 * Python code. If that fails, the result is empty; NULL only for an exception that is
 * no failure of the code, such as KeyboardInterrupt. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_memory_use_new(size_t asked, int host);

/* Raise the failure of an allocation of `size` bytes of device memory, with the free
 * and total bytes of the device and the lines that hold memory. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_out_of_memory_raise(pcu_state *st, const char *routine,
                                                  CUresult status, size_t size);

/* The same for page-locked memory. */
PCU_HIDDEN PCU_RAISES int pcu_out_of_host_memory_raise(pcu_state *st,
                                                       const char *routine,
                                                       CUresult status, size_t size);

#endif
