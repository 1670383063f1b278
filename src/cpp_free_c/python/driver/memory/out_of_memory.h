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

/* Raise the failure of an allocation of `size` bytes of device memory, with the free
 * and total bytes of the device. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_out_of_memory_raise(pcu_state *st, const char *routine,
                                                  CUresult status, size_t size);

#endif
