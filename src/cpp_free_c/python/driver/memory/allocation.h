/* Device memory: allocating it, and addresses that programs pass in. */
#ifndef PYTHON_DRIVER_MEMORY_ALLOCATION_H
#define PYTHON_DRIVER_MEMORY_ALLOCATION_H

#include "python/support/base.h"

#include "python/support/args.h"
#include "python/support/driver_call.h"

/* Run the garbage collector, also where a program has switched the automatic runs off.
 */
PCU_HIDDEN void pcu_collect_garbage(void);

/* Make an allocating call of the driver; when memory is short, collect garbage and make
 * it again. */
#define PCU_ALLOCATE(status, name, args)            \
    do {                                            \
        PCU_STATUS(status, name, args);             \
        if ((status) == CUDA_ERROR_OUT_OF_MEMORY) { \
            pcu_collect_garbage();                  \
            PCU_STATUS(status, name, args);         \
        }                                           \
    } while (0)

/* Raise the failure of an allocation of device memory, with the figures that explain
 * it. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_devmem_raise(pcu_state *st, const char *routine,
                                           CUresult status, size_t size);

/* Device memory in the current context. Collects garbage and retries once when short.
 */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_devmem_alloc(pcu_state *st, size_t size);

/* 0 unless the object is device memory of ours that was released, or whose context was:
 * its address may be somebody else's by now. */
PCU_HIDDEN PCU_RAISES int pcu_memory_check(pcu_state *st, PyObject *value,
                                           const char *routine);

#endif
