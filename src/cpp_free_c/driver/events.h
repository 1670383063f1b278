/* The record of what this package did last: one ring of events.
 *
 * An event is a launch, or a change of an allocation. It has the number of the line of
 * Python that caused it (python/support/call_site.h), and it is written by whoever did
 * the work: pcu_event_launch after the driver has accepted a launch, the functions of
 * driver/memory_map.h. Nothing is converted to text, and an event holds no reference,
 * so a note costs some nanoseconds. Readers make the rest: the launches that an error
 * may come from (python/support/suspects.c), and the history of allocations
 * (python/driver/memory/snapshot.c).
 *
 * A new event replaces the oldest one. Three things live longer:
 * - The last PCU_LAUNCHES_KEPT launches of each living context: the ring passes over
 *   their places.
 * - Live allocations: driver/memory_map.h has a note for each.
 * - The calls that a timeline records. All of them are kept until its end, and the
 * times of the device are added later: python/driver/timeline.c.
 *
 * Waits store what they prove in the record of the context: launches until a number
 * have finished, in one stream or in all. The other launches are the suspects of an
 * error.
 *
 * Invariant: ring and proofs are read and written under the interpreter lock only. An
 * event of a launch refers to its context as long as the context's record is
 * registered. Callers: see above, and files that wait. */
#ifndef DRIVER_EVENTS_H
#define DRIVER_EVENTS_H

#include "driver/context_record.h"
#include "driver/ticks.h"

typedef enum { PCU_EVENT_NONE, PCU_EVENT_LAUNCH, PCU_EVENT_MEMORY } pcu_event_type;

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

typedef struct {
    uint64_t number; /* counts the events of its type, from 1 */
    uint32_t site;   /* of a change: that of the allocation, for its end as well */
    uint8_t type;    /* pcu_event_type */
    uint8_t kind;    /* pcu_launch_kind, or pcu_memory_kind of driver/memory_map.h */
    uint8_t change;  /* pcu_memory_change */
    uint8_t device;  /* of a change */
    union {
        struct {
            const pcu_context_record *ctx; /* NULL after its end */
            unsigned long place;           /* counts the launches of the context */
            CUfunction kernel;             /* NULL for graphs and libraries */
            const void *name; /* a str that the module keeps; NULL: generated kernel */
            pcu_launch_shape shape;
        } launch;
        struct {
            uint64_t ticks;
            uint64_t address;
            uint64_t size; /* bytes of the driver's memory */
        } memory;
    };
} pcu_event;

enum {
    PCU_LAUNCHES_KEPT = 64,    /* launches of a context that the ring keeps */
    PCU_EVENTS_LEAST = 1024,   /* places of the ring */
    PCU_EVENTS_USUAL = 1 << 15 /* by default */
};

struct pcu_events {
    pcu_event *places; /* NULL before the first event */
    size_t room;       /* a power of two */
    size_t next;       /* the place of the next event */
    uint64_t launches; /* events of launches so far */
    uint64_t changes;  /* of allocations, since pcu_events_keep */
    size_t history;    /* changes that a reader shows at most: a power of two, or 0 */
    pcu_ticks_pair start; /* when the first event was written, and the clock */
};

extern PCU_HIDDEN struct pcu_events pcu_events;

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
PCU_HIDDEN void pcu_events_forget(const pcu_context_record *ctx);

/* Drop all events. The names are gone. */
PCU_HIDDEN void pcu_events_finish(void);

/* -- reading ----------------------------------------------------------------------- */

/* The next event of a type after `last`, or the first one for NULL; NULL at the end.
 * Changes of allocations come in their order, launches in any. */
PCU_HIDDEN const pcu_event *pcu_event_next(const pcu_event *last, pcu_event_type type);

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

/* Whether a wait has proved that the launch has finished. */
PCU_HIDDEN bool pcu_launch_has_passed(const pcu_event *launch);

#endif
