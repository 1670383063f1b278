/* The driver table: every CUDA driver function, by its name without cu.
 *
 * Invariant: each member of `drv` can be called at any time. Until the library is
 * loaded, in a forked child, and for symbols the library lacks, the member is a stub of
 * the same signature that returns a CUresult. So no caller tests for NULL and the hot
 * path pays one indirect call.
 *
 * `drv` and `pcu_drv_info` are written by pcu_drv_load (once, under its lock) and by
 * the fork handler, and only read elsewhere. Any code in driver/ and python/ may call. */
#ifndef DRIVER_TABLE_H
#define DRIVER_TABLE_H

#include "abi/cuda_abi.h"
#include "abi/symbols.h"

#if defined(__GNUC__)
#    define PCU_HIDDEN __attribute__((visibility("hidden")))
/* A variable of each thread, reached without a call: a few pointers fit into what the
 * C library keeps for libraries that are loaded later. */
#    define PCU_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#else
#    define PCU_HIDDEN
#    define PCU_THREAD _Thread_local
#endif

#define PCU_DRV_MEMBER(name, version, need, blocking, params) CUresult(*name) params;
struct pcu_drv {
    PCU_DRV_SYMBOLS(PCU_DRV_MEMBER)
};
#undef PCU_DRV_MEMBER

/* PCU_WAITS_<Name>: the column `blocking` of the table. */
enum {
    PCU_BLOCKING_GIL,
    PCU_BLOCKING_BEHIND,
    PCU_BLOCKING_QUEUE,
    PCU_BLOCKING_COPY,
    PCU_BLOCKING_NOGIL
};
#define PCU_DRV_NOGIL(name, version, need, blocking, params) \
    PCU_WAITS_##name = PCU_BLOCKING_##blocking,
enum { PCU_DRV_SYMBOLS(PCU_DRV_NOGIL) };
#undef PCU_DRV_NOGIL

typedef enum {
    PCU_DRV_UNLOADED,   /* nothing was tried yet */
    PCU_DRV_READY,      /* the table is filled */
    PCU_DRV_NO_LIBRARY, /* no library could be opened */
    PCU_DRV_STUB,       /* the library is the toolkit's stub for linking */
    PCU_DRV_TOO_OLD,    /* the library has no cuGetProcAddress */
    PCU_DRV_INCOMPLETE, /* a REQUIRED symbol is missing */
    PCU_DRV_BAD_CHOICE, /* PYCUDA_DRIVER holds an unknown word */
    PCU_DRV_FORKED      /* a child of a process that had initialised the driver */
} pcu_drv_state;

enum { PCU_DRV_OLDEST = 11040 }; /* the oldest driver this package runs on */

struct pcu_drv_info {
    pcu_drv_state state;
    int initialized; /* cuInit has succeeded in this process */
    int emulated;    /* the library is the software device */
    const char *(*report)(
        void); /* its words on the last fault; NULL on a real driver */
    /* Registers who handles signals while a call takes long (device/machine/wait.h); NULL on
     * a real driver. */
    void (*set_host)(int (*host)(int question));
    unsigned long main_thread; /* that Python handles signals in; 0: not set up */
    int fallback;              /* ... and was taken because no driver library exists */
    int version;               /* cuDriverGetVersion, 0 until loaded */
    char path[512];            /* the library asked of dlopen */
    char detail[512];          /* what the loader, or the missing symbol's name, said */
};

extern PCU_HIDDEN struct pcu_drv drv;
extern PCU_HIDDEN struct pcu_drv_info pcu_drv_info;

/* Open the library and fill the table; later calls only report. CUDA_SUCCESS, or the
 * code that describes pcu_drv_info.state. */
PCU_HIDDEN CUresult pcu_drv_load(void);

/* cuInit, remembering success. */
PCU_HIDDEN CUresult pcu_drv_init(unsigned int flags);

/* The code for a state other than READY. */
PCU_HIDDEN CUresult pcu_drv_state_status(pcu_drv_state state);

/* The CUDA version a symbol (with its cu) came with if the loaded library lacks it,
 * else 0. */
PCU_HIDDEN int pcu_drv_missing_since(const char *routine);

#endif
