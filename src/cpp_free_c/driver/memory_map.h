/* What this package has allocated: a note for each handle that work of the device can
 * refer to, found by the address or by the bits of the handle. For memory it has the
 * size and the number of the line of Python that made it. What happened to memory is in
 * the ring of events (driver/events.h).
 *
 * A note is added when the handle was made, and leaves the map before the handle is
 * released: another thread may get the same address while the driver's call runs. The
 * block of a pool keeps its note while it changes between "in use" and "held".
 *
 * Graphs refer to addresses, so they keep memory by its note: a note counts the graphs
 * that use it, and a release waits until there is none (python/driver/resource.c).
 *
 * Invariant: notes are read and written under the interpreter lock only. If there is no
 * memory for a note, the handle has none, and nothing fails. A note exists at least as
 * long as a graph keeps it.
 *
 * Callers: constructors of wrappers, the pools, driver/release.c, graphs, and
 * python/driver/memory/memory_snapshot.c, which reads all. */
#ifndef DRIVER_MEMORY_MAP_H
#define DRIVER_MEMORY_MAP_H

#include <stddef.h>

#include "driver/events.h"

/* Kinds of memory: X(KIND, name in snapshots). */
/* clang-format off */
#define PCU_MEMORY_KINDS(X) \
    X(DEVICE, "device")           \
    X(STREAM, "stream")           \
    X(POOL, "pool")               \
    X(MANAGED, "managed")         \
    X(PHYSICAL, "physical")       \
    X(ARRAY, "array")             \
    X(PAGE_LOCKED, "page-locked") \
    X(HOST_POOL, "page-locked pool")
/* clang-format on */

#define PCU_MEMORY_MEMBER(kind, name) PCU_MEMORY_##kind,
typedef enum {
    PCU_MEMORY_KINDS(PCU_MEMORY_MEMBER) PCU_MEMORY_KIND_COUNT
} pcu_memory_kind;
#undef PCU_MEMORY_MEMBER

typedef struct pcu_memory_note {
    struct pcu_memory_note *next; /* in its bucket, or among the unused notes */
    uint64_t address;             /* the address, or the bits of another handle */
    size_t size;                  /* bytes of the driver's memory */
    size_t asked;                 /* bytes that the program asked for */
    uint64_t ticks;               /* when the program got it */
    const pcu_context_record *ctx;
    uint32_t site;       /* the line that got it: see python/support/call_site.h */
    uint8_t kind;        /* pcu_memory_kind */
    bool recorded;       /* snapshots show it; else the members above are not set */
    bool held;           /* a pool holds the block, and the program does not use it */
    bool ended;          /* the handle was released: only a graph refers to the note */
    bool owed;           /* the program released the handle: the last graph does that */
    uint8_t handle_kind; /* pcu_handle_kind of driver/release.h, if owed */
    unsigned int graphs; /* that use it */
} pcu_memory_note;

struct pcu_memory_map {
    bool recording;            /* else notes are for graphs only */
    pcu_memory_note **buckets; /* a power of two of them; NULL before the first note */
    size_t bucket_count;
    size_t count;  /* notes in the map */
    size_t missed; /* allocations without a note, for lack of memory */
    size_t kept;   /* notes that a graph uses */
    pcu_memory_note *unused;
};

extern PCU_HIDDEN struct pcu_memory_map pcu_memory_map;

/* Add a handle to the map. */
PCU_HIDDEN pcu_memory_note *pcu_memory_add(uint64_t address,
                                           const pcu_context_record *ctx);

/* Note that the program got `size` bytes, whose handle is in the map. */
PCU_HIDDEN void pcu_memory_record(pcu_memory_kind kind, uint64_t address, size_t size,
                                  uint32_t site, const pcu_context_record *ctx);

/* Add a block that a pool got, and gives to the program next. */
PCU_HIDDEN pcu_memory_note *pcu_memory_add_block(pcu_memory_kind kind, uint64_t address,
                                                 size_t size,
                                                 const pcu_context_record *ctx);

/* The note of the handle in a living context, or NULL. NULL stands for any context. */
PCU_HIDDEN pcu_memory_note *pcu_memory_find(uint64_t address,
                                            const pcu_context_record *ctx);

/* A graph uses what the note is of, so its release waits. */
PCU_HIDDEN void pcu_memory_keep(pcu_memory_note *note);

/* The graph is gone. Return whether the caller must release the owed handle. */
PCU_HIDDEN bool pcu_memory_let_go(pcu_memory_note *note);

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

/* A pool gives a block to the program. The note may be NULL. */
static inline void
pcu_memory_block_taken(pcu_memory_note *note, size_t asked, uint32_t site)
{
    if (note != NULL) {
        note->asked = asked;
        note->site = site;
        note->held = false;
        note->recorded = pcu_memory_map.recording;
        note->ticks = pcu_memory_event_write(note, PCU_MEMORY_TAKEN);
    }
}

/* The program gives a block back to its pool, which holds it. The note may be NULL. */
static inline void
pcu_memory_block_held(pcu_memory_note *note)
{
    if (note != NULL) {
        note->held = true;
        (void)pcu_memory_event_write(note, PCU_MEMORY_RETURNED);
    }
}

#endif
