/* Releasing driver objects, all kinds through one function, and counting the live ones.
 *
 * Invariant: a counter is the number of handles of its kind that this process created
 * through this package and has not released. Any thread may call. */
#ifndef DRIVER_RELEASE_H
#define DRIVER_RELEASE_H

#include "driver/context_record.h"
#include "tables/resources.h"

#define PCU_RES_MEMBER(kind, type, ender) PCU_RES_##kind,
typedef enum { PCU_RESOURCES(PCU_RES_MEMBER) PCU_RES_COUNT } pcu_res_kind;
#undef PCU_RES_MEMBER

/* A handle of any kind: the kind says which member counts. */
typedef union {
#define PCU_RES_HANDLE(kind, type, ender) type kind;
    PCU_RESOURCES(PCU_RES_HANDLE)
#undef PCU_RES_HANDLE
} pcu_res_handle;

/* Say that a handle of this kind was created. */
PCU_HIDDEN void pcu_res_created(pcu_res_kind kind);

/* The number of live handles of a kind. */
PCU_HIDDEN long pcu_res_live(pcu_res_kind kind);

/* How many handles of a kind were released so far. */
PCU_HIDDEN unsigned long pcu_res_released(pcu_res_kind kind);

PCU_HIDDEN const char *pcu_res_name(pcu_res_kind kind);

/* The driver function that ends a handle of this kind. */
PCU_HIDDEN const char *pcu_res_ender(pcu_res_kind kind);

/* The release of one handle, in three steps: only the middle one may wait for the
 * device, so only for that one the caller gives a lock back (python/driver/resource.c does). The
 * other two read and write the context's record. */
typedef struct {
    pcu_res_kind kind;
    pcu_res_handle handle;
    int unmaps;      /* unmap the graphics resource in the stream, do not end it */
    CUstream stream; /* of the unmapping */
    pcu_ctxrec *ctx;
    pcu_scope scope;
    int entered;
    const char *routine; /* result: the call that failed */
    CUresult status;
    int ended; /* result: the handle is gone; otherwise it is as live as before */
} pcu_release;

/* Enter the context of the handle, whichever is current. 1 if pcu_release_call must
 * follow; 0 if there is nothing to call. pcu_release_finish follows in both cases.
 *
 * A context that is gone, or a forked child's, takes its handles with it: success
 * without a call. */
PCU_HIDDEN int pcu_release_begin(pcu_release *release);

/* Make the driver's call. It needs no lock and may wait for the device. */
PCU_HIDDEN void pcu_release_call(pcu_release *release);

/* Leave the context and return the status. A code that only says that the handle is
 * gone (the driver shuts down, the context is lost) counts as success. */
PCU_HIDDEN CUresult pcu_release_finish(pcu_release *release);

/* When the call that ends a handle of this kind may wait: PCU_BLOCKING_... */
PCU_HIDDEN int pcu_res_blocking(pcu_res_kind kind);

/* Count a handle as gone that could not be ended and that no caller can end later. */
PCU_HIDDEN void pcu_res_abandon(pcu_res_kind kind);

#endif
