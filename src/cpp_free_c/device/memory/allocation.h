/* Allocations: the record of one piece of device memory.
 *
 * Records never move. A freed record keeps its place, with extent 0, until its
 * addresses are used again. Made by memory.c; read by all files that check an address.
 */
#ifndef DEVICE_MEMORY_ALLOCATION_H
#define DEVICE_MEMORY_ALLOCATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/base/device.h"

#define EMU_ALL_DEVICES UINT64_MAX

typedef enum {
    EMU_MEMORY_NONE,
    EMU_MEMORY_DEVICE,     /* cuMemAlloc */
    EMU_MEMORY_PITCHED,    /* cuMemAllocPitch */
    EMU_MEMORY_HOST,       /* cuMemHostAlloc: page-locked */
    EMU_MEMORY_REGISTERED, /* cuMemHostRegister: outside the range */
    EMU_MEMORY_MANAGED,    /* cuMemAllocManaged */
    EMU_MEMORY_ARRAY,      /* the elements of a CUarray */
    EMU_MEMORY_GLOBAL,     /* a .global or .const variable of a module */
    EMU_MEMORY_HEAP,       /* malloc() in a kernel */
    EMU_MEMORY_IPC,        /* another process's allocation, opened here */
    EMU_MEMORY_POOLED,     /* cuMemAllocAsync */
    EMU_MEMORY_GRAPHICS,   /* an OpenGL buffer */
    EMU_MEMORY_GRAPH_NODE, /* of an allocation node of a graph */
    EMU_MEMORY_IMPORTED,   /* memory of another process's pool, opened here */
    EMU_MEMORY_RESERVED,   /* addresses of cuMemAddressReserve, without memory */
    EMU_MEMORY_MAPPED,     /* cuMemMap: a part of such addresses that has memory */
    EMU_MEMORY_KINDS
} emu_memory_kind;

typedef struct emu_allocation {
    uint64_t base;           /* first address */
    _Atomic uint64_t extent; /* bytes that may be accessed: size while live, then 0 */
    uint64_t devices;        /* bit d: a context of device d may access it */
    uint64_t size;           /* bytes requested; kept after the free, for reports */
    uint64_t span;           /* bytes of the range that it occupies, guard included */
    uint64_t charged;        /* bytes charged to the memory of its device */
    uint64_t serial;         /* 1, 2, 3, ... in order of allocation, never reused */
    emu_memory_kind kind;
    int device;         /* ordinal of the device that has the memory */
    unsigned int flags; /* flags of the call that allocated it */
    CUcontext context;  /* the context that allocated it; NULL after its destruction */
    const char *name;   /* name of the variable of a module; owned by the program */
    const char *site;   /* of the call that allocated it (site.h); NULL: unknown */
    void *owner;        /* the array, pool or IPC record that it belongs to */
    bool mapped;        /* its pages are mapped from a shared file */
    bool suspended;     /* it keeps its addresses, but is neither live nor charged */
    size_t pitch;       /* row pitch of a pitched allocation */
    /* Advice on managed memory; it always counts for a whole allocation. Places are
     * ordinals of devices, -1 for the host, -2 for none. */
    struct {
        bool read_mostly;
        int preferred, prefetched;
        uint64_t accessed_by; /* bit d: device d */
        bool accessed_by_host;
    } managed;
    struct emu_allocation *next, *previous; /* the allocations of one context */
    struct emu_allocation *queue;           /* free list or quarantine */
} emu_allocation;

#endif
