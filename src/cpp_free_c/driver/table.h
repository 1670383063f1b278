/* The driver table: every CUDA driver function, under its name without cu.
 *
 * Invariant: each member of `drv` can be called at any time. Until the library is
 * loaded, in a forked child, and for symbols that the library lacks, the member is a
 * stub of the same signature that returns a CUresult. No caller tests for NULL, and a
 * call costs one indirect call.
 *
 * `drv` and `pcu_drv_info` are written by pcu_drv_load (once, under its lock) and by
 * the fork handler; all other code reads them. Callers: any code in driver/ and
 * python/. */
#ifndef DRIVER_TABLE_H
#define DRIVER_TABLE_H

#include <stdbool.h>

#include "abi/cuda_abi.h"
#include "abi/functions.h"
#include "abi/graph_abi.h"
#include "abi/software_device.h"
#include "driver/visibility.h"

#define PCU_DRV_MEMBER(name, export, version, thread, caller, door, traits, span, ...) \
    PCU_IF_CALLED_##caller(CUresult (*name)(PCU_PARAMETERS(__VA_ARGS__));)
struct pcu_drv {
    PCU_FUNCTIONS(PCU_DRV_MEMBER)
};
#undef PCU_DRV_MEMBER

/* The values of `lock`, which abi/functions.h explains, and for each function the
 * constant PCU_BLOCKING_OF_<Name>, the value in its row. */
enum {
    PCU_BLOCKING_GIL,
    PCU_BLOCKING_BEHIND,
    PCU_BLOCKING_QUEUE,
    PCU_BLOCKING_COPY,
    PCU_BLOCKING_SYNC,
    PCU_BLOCKING_NOGIL,
    PCU_BLOCKING_IDLE
};
#define PCU_DRV_BLOCKING(name, export, version, thread, caller, ...) \
    PCU_IF_CALLED_##caller(PCU_BLOCKING_OF_##name = PCU_LOCK_##caller, )
enum { PCU_FUNCTIONS(PCU_DRV_BLOCKING) };
#undef PCU_DRV_BLOCKING

typedef enum {
    PCU_DRV_UNLOADED,   /* not tried yet */
    PCU_DRV_READY,      /* the table is filled */
    PCU_DRV_NO_LIBRARY, /* no library could be opened */
    PCU_DRV_STUB,       /* the library is the toolkit's stub for linking */
    PCU_DRV_TOO_OLD,    /* the library has no cuGetProcAddress */
    PCU_DRV_INCOMPLETE, /* a REQUIRED symbol is missing */
    PCU_DRV_BAD_CHOICE, /* a variable of tables/settings.h has an unknown value */
    PCU_DRV_FORKED      /* the parent process had initialised the driver */
} pcu_drv_state;

enum { PCU_DRV_OLDEST = 11040 }; /* the oldest supported driver: CUDA 11.4 */

struct pcu_drv_info {
    pcu_drv_state state;
    bool initialized; /* cuInit has succeeded in this process */
    bool fallback;    /* the software device was chosen because there is no driver */
    bool launch_blocking; /* PYCUDA_LAUNCH_BLOCKING: each launch waits for its end */
    int version;          /* from cuDriverGetVersion; 0 until loaded */
    const pcu_software_device *device; /* NULL: the library is a real driver */
    const void *caller_state;  /* that device->set_caller's callback uses; NULL: none */
    unsigned long main_thread; /* the thread that runs Python's signal handlers, or 0 */
    char path[512];            /* the library given to dlopen */
    char detail[512];          /* the loader's message, or the missing symbol */
};

extern PCU_HIDDEN struct pcu_drv drv;
extern PCU_HIDDEN struct pcu_drv_info pcu_drv_info;

/* Open the library and fill the table, once; later calls only report. Return
 * CUDA_SUCCESS or the code that describes pcu_drv_info.state. */
PCU_HIDDEN CUresult pcu_drv_load(void);

/* Load the library and call cuInit. */
PCU_HIDDEN CUresult pcu_drv_init(unsigned int flags);

/* The code that describes a state; CUDA_SUCCESS for READY. */
PCU_HIDDEN CUresult pcu_drv_state_status(pcu_drv_state state);

/* If the loaded library lacks the symbol (its name has the cu), return the CUDA version
 * that introduced it; otherwise 0. */
PCU_HIDDEN int pcu_drv_missing_since(const char *routine);

#endif
