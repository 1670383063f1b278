/* What this package has allocated: a note for each allocation of the driver, with its
 * size and the number of the line of Python that made it, and a ring of the last
 * events.
 *
 * A note is added when memory was allocated, and leaves the map before the memory is
 * freed: another thread may get the same address while the driver's call runs. The
 * block of a pool keeps its note while it changes between "in use" and "held".
 *
 * Invariant: notes and events are read and written under the interpreter lock only. If
 * there is no memory for a note, the allocation has none, and nothing fails.
 *
 * Callers: constructors of memory (python/driver/memory_note.c), the pools,
 * driver/release.c, and python/driver/memory/memory_snapshot.c, which reads all. */
#ifndef DRIVER_MEMORY_MAP_H
#define DRIVER_MEMORY_MAP_H

#include <stddef.h>

#include "driver/context_record.h"
#include "driver/ticks.h"
#include "tables/memory_kinds.h"

#define PCU_MEMORY_MEMBER(kind, name, on_device) PCU_MEMORY_##kind,
typedef enum {
    PCU_MEMORY_KINDS(PCU_MEMORY_MEMBER) PCU_MEMORY_KIND_COUNT
} pcu_memory_kind;
#undef PCU_MEMORY_MEMBER

typedef struct pcu_memory_note {
    struct pcu_memory_note *next; /* in its bucket, or among the unused notes */
    uint64_t address;             /* the address, or the handle of an array */
    size_t size;                  /* bytes of the driver's memory */
    size_t asked;                 /* bytes that the program asked for */
    uint64_t ticks;               /* when the program got it */
    const pcu_context_record *ctx;
    uint32_t site; /* the line that got it: see python/support/call_site.h */
    uint8_t kind;  /* pcu_memory_kind */
    uint8_t held;  /* 1: a pool holds the block, and the program does not use it */
} pcu_memory_note;

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
    uint64_t ticks;
    uint64_t address;
    uint64_t size; /* bytes of the driver's memory */
    uint32_t site; /* of the allocation, for the end of a use as well */
    uint8_t kind;
    uint8_t change; /* pcu_memory_change */
    uint8_t device;
    uint8_t unused;
} pcu_memory_event;

enum { PCU_MEMORY_EVENTS = 1 << 15 }; /* events that the ring keeps, by default */

struct pcu_memory_map {
    int recording;             /* 0: nothing is noted */
    pcu_memory_note **buckets; /* a power of two of them; NULL before the first note */
    size_t bucket_count;
    size_t count;  /* notes in the map */
    size_t missed; /* allocations without a note, for lack of memory */
    pcu_memory_note *unused;
    pcu_memory_event *events; /* the ring; NULL before the first event */
    size_t event_room;        /* places in the ring: a power of two, or 0 */
    uint64_t event_count;     /* events so far */
    pcu_ticks_pair start;     /* when the first event was noted, and the clock */
};

extern PCU_HIDDEN struct pcu_memory_map pcu_memory_map;

/* Note that the program got `size` bytes for the `asked` bytes that it asked for. The
 * result is NULL if nothing is recorded. */
PCU_HIDDEN pcu_memory_note *pcu_memory_add(pcu_memory_kind kind, uint64_t address,
                                           size_t size, size_t asked, uint32_t site,
                                           const pcu_context_record *ctx);

/* Note that a pool got a block, which it gives to the program next. */
PCU_HIDDEN pcu_memory_note *pcu_memory_add_block(pcu_memory_kind kind, uint64_t address,
                                                 size_t size,
                                                 const pcu_context_record *ctx);

/* The note of the allocation that begins at the address in a living context, or NULL.
 */
PCU_HIDDEN pcu_memory_note *pcu_memory_find(uint64_t address);

/* Take the note of an address out of the map, before the driver frees the memory. NULL
 * if there is none. pcu_memory_put_back or pcu_memory_end follows. */
PCU_HIDDEN pcu_memory_note *pcu_memory_take_out(uint64_t address,
                                                const pcu_context_record *ctx);

/* The driver refused to free the memory. */
PCU_HIDDEN void pcu_memory_put_back(pcu_memory_note *note);

/* The memory was freed. */
PCU_HIDDEN void pcu_memory_end(pcu_memory_note *note);

/* No caller can free the memory of this address later: drop its note. */
PCU_HIDDEN void pcu_memory_forget(uint64_t address, const pcu_context_record *ctx);

/* Write an event about a note. Return its time. */
PCU_HIDDEN uint64_t pcu_memory_event_write(const pcu_memory_note *note,
                                           pcu_memory_change change);

/* Choose how many of the last events are kept: 0, or a number that is rounded up to a
 * power of two. Events so far are dropped. Return 0, or -1 if there is no memory. */
PCU_HIDDEN int pcu_memory_keep_events(size_t count);

/* A pool gives a block to the program. The note may be NULL. */
static inline void
pcu_memory_block_taken(pcu_memory_note *note, size_t asked, uint32_t site)
{
    if (note != NULL) {
        note->asked = asked;
        note->site = site;
        note->held = 0;
        note->ticks = pcu_memory_event_write(note, PCU_MEMORY_TAKEN);
    }
}

/* The program gives a block back to its pool, which holds it. The note may be NULL. */
static inline void
pcu_memory_block_held(pcu_memory_note *note)
{
    if (note != NULL) {
        note->held = 1;
        (void)pcu_memory_event_write(note, PCU_MEMORY_RETURNED);
    }
}

#endif
