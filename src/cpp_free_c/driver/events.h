/* The record of what this package did last: launches, and changes of allocations.
 *
 * An event has the number of the line of Python that caused it
 * (python/support/call_site.h). It is written by whoever did the work: pcu_event_launch
 * after the driver has accepted a launch, the functions of driver/memory_map.h. Nothing
 * is converted to text, and an event holds no reference, so a note costs some
 * nanoseconds. Readers make the rest: the launches that an error may come from
 * (python/support/suspects.c), and the history of allocations
 * (python/driver/memory/memory_snapshot.c).
 *
 * Changes are in one ring; a new one replaces the oldest. Each context has places for
 * its last PCU_LAUNCHES_KEPT launches, which it writes in turn: they stay in the
 * processor's cache, and no other work can push them out. Two things live longer:
 * - Live allocations: driver/memory_map.h has a note for each.
 * - The calls that a timeline records. All of them are kept until its end, and the
 *   times of the device are added later: python/driver/timeline.c.
 *
 * Waits store what they prove in the record of the context: launches until a number
 * have finished, in one stream or in all. The other launches are the suspects of an
 * error. pcu_wait_succeeded (driver/stream_use.h) stores all that a wait for a context
 * proves.
 *
 * Invariant: events and proofs are read and written under the interpreter lock only.
 * Callers: see above, and files that wait. */
#ifndef DRIVER_EVENTS_H
#define DRIVER_EVENTS_H

#include "driver/context_record.h"
#include "driver/ticks.h"

typedef enum {
    PCU_LAUNCH_KERNEL,  /* of a module of the program */
    PCU_LAUNCH_ARRAY,   /* a generated kernel of an array operation */
    PCU_LAUNCH_GRAPH,   /* an executable graph; it has no shape */
    PCU_LAUNCH_LIBRARY, /* a function of a library such as cuBLAS; no shape */
    PCU_LAUNCH_KINDS
} pcu_launch_kind;

typedef struct {
    unsigned int grid[3];
    unsigned int block[3];
    unsigned int shared; /* bytes of dynamic shared memory */
    CUstream stream;
} pcu_launch_shape;

/* What happened to an allocation. */
typedef enum {
    PCU_MEMORY_ALLOCATED, /* the driver gave it to the program */
    PCU_MEMORY_FREED,     /* the program gave it back to the driver */
    PCU_MEMORY_GROWN,     /* a pool got a block */
    PCU_MEMORY_SHRUNK,    /* a pool freed a held block */
    PCU_MEMORY_TAKEN,     /* a pool gave a held block to the program */
    PCU_MEMORY_RETURNED   /* the program gave a block back to its pool */
} pcu_memory_change;

typedef struct pcu_launch_event {
    uint64_t number;   /* counts the launches of the process, from 1 */
    CUfunction kernel; /* NULL for graphs and libraries */
    const void *name;  /* a str that the module keeps; NULL: generated kernel */
    pcu_launch_shape shape;
    uint32_t site;
    pcu_launch_kind kind;
} pcu_launch_event;

typedef struct {
    uint64_t ticks;
    uint64_t address;
    uint64_t size;  /* bytes of the driver's memory */
    uint32_t site;  /* of the allocation, for its end as well */
    uint8_t kind;   /* pcu_memory_kind of driver/memory_map.h */
    uint8_t change; /* pcu_memory_change */
    uint8_t device;
} pcu_memory_event;

enum {
    PCU_LAUNCHES_KEPT = 64,    /* of a context */
    PCU_CHANGES_KEPT = 1 << 15 /* of allocations, by default */
};

struct pcu_events {
    pcu_memory_event *ring; /* NULL before the first event */
    size_t room;            /* of the ring: a power of two, or 0 */
    uint64_t launches;      /* events of launches so far */
    uint64_t changes;       /* of allocations, since pcu_events_keep */
    pcu_ticks_pair start;   /* when the ring was made, and the clock */
};

extern PCU_HIDDEN struct pcu_events pcu_events;

/* The times that the program has enqueued work that may never end: kernels of its own,
 * graphs, functions, waits for values. */
extern PCU_HIDDEN unsigned long pcu_doubts;

/* -- writing ----------------------------------------------------------------------- */

/* Note a launch in a context that the driver has accepted. */
PCU_HIDDEN void pcu_event_launch(pcu_context_record *ctx, pcu_launch_kind kind,
                                 CUfunction kernel, const void *name,
                                 const pcu_launch_shape *shape, uint32_t site);

/* Note a change of an allocation. Return its time in ticks. */
PCU_HIDDEN uint64_t pcu_event_memory(pcu_memory_change change, unsigned int kind,
                                     uint32_t site, CUdevice device, uint64_t address,
                                     uint64_t size);

/* Choose how many of the last changes of allocations a reader sees: 0, or a number that
 * is rounded up to a power of two. Changes so far are dropped. Return 0, or -1 if there
 * is no memory. */
PCU_HIDDEN int pcu_events_keep(size_t count);

/* The record of a context ends: its launches are dropped. */
PCU_HIDDEN void pcu_events_forget(pcu_context_record *ctx);

/* Drop all changes. */
PCU_HIDDEN void pcu_events_finish(void);

/* -- reading ----------------------------------------------------------------------- */

/* A launch of the context: the newest for age 0, then older ones; NULL at the end. */
PCU_HIDDEN const pcu_launch_event *pcu_launch_kept(const pcu_context_record *ctx,
                                                   size_t age);

/* How many changes the ring has, and one of them: 0 is the oldest. */
PCU_HIDDEN size_t pcu_changes_count(void);
PCU_HIDDEN const pcu_memory_event *pcu_change_kept(size_t place);

/* -- what waits prove -------------------------------------------------------------- */

/* The number of the newest launch of the process. Read it before a wait. */
static inline uint64_t
pcu_launch_newest(void)
{
    return pcu_events.launches;
}

/* A wait for a stream has succeeded: its launches until `number` have finished. `ctx`
 * may be NULL. */
PCU_HIDDEN void pcu_launches_passed(pcu_context_record *ctx, CUstream stream,
                                    uint64_t number);

/* The same for all streams of the context. */
PCU_HIDDEN void pcu_launches_passed_all(pcu_context_record *ctx, uint64_t number);

/* Whether no wait has proved that the first launch of the same kernel has finished. */
PCU_HIDDEN bool pcu_launch_is_of_new_kernel(const pcu_context_record *ctx,
                                            const pcu_launch_event *launch);

/* Whether a wait has proved that the launch of the context has finished. */
PCU_HIDDEN bool pcu_launch_has_passed(const pcu_context_record *ctx,
                                      const pcu_launch_event *launch);

#endif
