/* Release of driver handles, one function for all kinds, and counters of live handles.
 *
 * Invariant: a counter is the number of handles of its kind that this process created
 * through this package and has not released. Any thread may call.
 *
 * Callers: python/driver/resource.c and the pools release; constructors of wrappers
 * count what they created. */
#ifndef DRIVER_RELEASE_H
#define DRIVER_RELEASE_H

#include "driver/context_record.h"
#include "driver/memory_map.h"
#include "driver/virtual_range.h"
#include "tables/resources.h"

#define PCU_HANDLE_MEMBER(kind, type, ender) PCU_HANDLE_##kind,
typedef enum { PCU_RESOURCES(PCU_HANDLE_MEMBER) PCU_HANDLE_KINDS } pcu_handle_kind;
#undef PCU_HANDLE_MEMBER

/* A handle of any kind. The kind says which member is valid. */
typedef union {
#define PCU_HANDLE_HANDLE(kind, type, ender) type kind;
    PCU_RESOURCES(PCU_HANDLE_HANDLE)
#undef PCU_HANDLE_HANDLE
} pcu_handle;

/* Count a handle of this kind as created. */
PCU_HIDDEN void pcu_handle_created(pcu_handle_kind kind);

/* The number of live handles of a kind. */
PCU_HIDDEN long pcu_handle_live(pcu_handle_kind kind);

/* The number of handles of a kind that were released. */
PCU_HIDDEN unsigned long pcu_handle_released(pcu_handle_kind kind);

/* The name of a kind, as in tables/resources.h. */
PCU_HIDDEN const char *pcu_handle_kind_name(pcu_handle_kind kind);

/* The name of the driver function that releases a handle of this kind. */
PCU_HIDDEN const char *pcu_handle_release_routine(pcu_handle_kind kind);

/* The release of one handle, in three steps. Only the second step may wait for the
 * device, so the caller unlocks the interpreter during that step only (see
 * python/driver/resource.c). The other two read and write the context's record. */
typedef struct {
    pcu_handle_kind kind;
    pcu_handle handle;
    bool unmaps;     /* unmap the graphics resource instead of releasing it */
    CUstream stream; /* where to unmap, or to free */
    bool async;      /* free memory behind the work of the stream */
    pcu_context_record *ctx;
    pcu_scope scope;
    bool entered;
    bool calls;            /* pcu_release_call must follow */
    pcu_memory_note *note; /* of memory; outside the map until the release has ended */
    const char *routine;   /* result: the driver call that failed */
    CUresult status;
    bool ended;    /* result: the handle is released; otherwise it is still live */
    CUresult lost; /* result: the code by which the call found the context lost, or 0 */
} pcu_release;

/* Enter the context of the handle. Return whether pcu_release_call must follow.
 * pcu_release_finish follows in both cases.
 *
 * A context that has ended, or that belongs to the parent process, took its handles
 * with it: the release succeeds without a call. Handles that belong to no context are
 * released after it too. */
PCU_HIDDEN bool pcu_release_begin(pcu_release *release);

/* Call the driver. This needs no lock and may wait for the device. */
PCU_HIDDEN void pcu_release_call(pcu_release *release);

/* Leave the context and return the status. Codes that only report that the handle no
 * longer exists (the driver shuts down, the context is lost) count as success. */
PCU_HIDDEN CUresult pcu_release_finish(pcu_release *release);

/* The word by which work refers to a handle: the address of memory, the bits of the
 * handle of an array or a texture; 0 for other kinds. It is the key of the note in
 * driver/memory_map.h. */
PCU_HIDDEN uint64_t pcu_handle_address(pcu_handle_kind kind, pcu_handle handle);

/* The handle of a note that is owed. */
PCU_HIDDEN pcu_handle pcu_handle_owed(const pcu_memory_note *note);

/* When the call that releases a handle of this kind may wait: PCU_BLOCKING_... */
PCU_HIDDEN int pcu_handle_blocking(pcu_handle_kind kind);

/* Count a handle as released that could not be released and that no caller can release
 * later. */
PCU_HIDDEN void pcu_handle_abandon(pcu_handle_kind kind);

#endif
