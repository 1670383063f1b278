/* Which streams of a context may still use a piece of memory.
 *
 * Memory that a program frees may be given out again at once if the next work runs
 * behind the work that used the memory. That is so in one stream, and between the
 * default stream and a blocking stream. Other pairs of streams are unordered. A context
 * has a table of its streams from the first stream on that a program makes or brings.
 * While no two streams of the table are unordered, memory is not tracked at all.
 *
 * pcu_stream_note stores in the stream's entry that work may be enqueued in it now, by
 * a clock that counts these notes. A piece of memory keeps the clock of the moment when
 * it was given out. When it is freed, the streams with a later note may have used it:
 * its uses. No launch looks at its arguments. A use has ended when the stream has
 * finished the work until the note; a fence, which is an event, tells that. Fences are
 * recorded only when memory is wanted that another stream may use. The notes are no
 * events of driver/events.h: only the last note of a stream counts, and no later work
 * may push it out.
 *
 * Invariant: the interpreter lock guards all tables. No function here waits or raises.
 * Callers: driver_call.h and stream.c note; pools ask. */
#ifndef DRIVER_STREAM_USE_H
#define DRIVER_STREAM_USE_H

#include "driver/events.h"

/* A stream of a context. */
typedef struct {
    CUstream handle;
    CUcontext context;
    unsigned long id;     /* never used twice, as handles are */
    unsigned long used;   /* clock of the last note; 0: never */
    unsigned long done;   /* the work until this clock has finished */
    unsigned long fenced; /* clock of the fence */
    CUevent fence;        /* pending; NULL: none */
    void *owner;          /* a reference to the object that has a foreign stream */
    bool blocking;        /* ordered with the default stream */
    bool ended;           /* the stream was destroyed: the fence covers its work */
    bool opaque;          /* its work cannot be fenced */
    bool captured;        /* its work goes into a graph, so notes are no uses */
} pcu_stream_entry;

typedef struct pcu_stream_table {
    pcu_stream_entry **entries; /* the first is the default stream */
    size_t count;
    size_t room;
    size_t last;                 /* index of the last note */
    unsigned long life;          /* of the context's records, which share the table */
    unsigned long epoch;         /* counts the moments when streams became unordered */
    unsigned long start;         /* the clock of the last such moment */
    unsigned long ordered_until; /* the epoch whose first stream waits for the others */
    CUcontext context;
    bool unordered;    /* two streams that were used are unordered */
    bool peer;         /* other contexts may use its memory, and it theirs */
    unsigned int busy; /* driver calls on entries in progress: none may be removed */
    unsigned int records;
    struct pcu_stream_table *next;
} pcu_stream_table;

typedef struct {
    unsigned long id;
    unsigned long clock;
} pcu_stream_use;

enum { PCU_STREAM_USES = 3, PCU_STREAM_USES_MANY = 255 };

/* What a piece of memory knows about its uses. All zeros: any stream may have used it.
 */
typedef struct {
    unsigned long epoch; /* of the table when the rest was stored */
    unsigned long clock; /* when it was given out, or when it was freed */
    unsigned char count; /* PCU_STREAM_USES_MANY: all streams until `clock` */
    pcu_stream_use uses[PCU_STREAM_USES];
} pcu_stream_life;

extern PCU_HIDDEN unsigned int pcu_stream_tables;    /* how many tables exist */
extern PCU_HIDDEN unsigned int pcu_stream_unordered; /* and have unordered streams */

/* How many pools and stream-ordered allocations of this process ask the tables. */
extern PCU_HIDDEN size_t pcu_stream_followers;

/* Drops the owner of an entry; set by python/. */
extern PCU_HIDDEN void (*pcu_stream_drop_owner)(void *owner);

/* Warns that a fence could not be destroyed; set by python/. `context` is the owner of
 * the record. */
extern PCU_HIDDEN void (*pcu_stream_report)(void *context, const char *routine,
                                            uintptr_t handle, CUresult status);

PCU_HIDDEN void pcu_stream_note_slow(CUstream stream);

/* Note that work may be enqueued in a stream of the current context. */
static inline void
pcu_stream_note(CUstream stream)
{
    if (pcu_stream_tables != 0) {
        pcu_stream_note_slow(stream);
    }
}

/* The table of a context, NULL if it has none. */
PCU_HIDDEN pcu_stream_table *pcu_stream_table_find(pcu_context_record *rec);

/* The same, if memory of the context must be tracked now, else NULL. */
static inline pcu_stream_table *
pcu_stream_table_tracking(pcu_context_record *rec)
{
    pcu_stream_table *table = rec->streams;
    if (table == NULL && pcu_stream_tables != 0) {
        table = pcu_stream_table_find(rec);
    }
    if (table == NULL || !table->unordered) {
        return NULL;
    }
    return table;
}

/* What is known of a stream that is added. */
enum {
    PCU_STREAM_BLOCKING = 1, /* it is ordered with the default stream */
    PCU_STREAM_FRESH = 2     /* no work was enqueued in it yet */
};
/* Add a stream to the table of its context. `owner` is a reference that the table takes
 * over, or NULL. Return false if memory is short. A known foreign stream gets the new
 * owner. */
PCU_HIDDEN bool pcu_stream_table_add(pcu_context_record *rec, CUstream stream,
                                     unsigned int facts, void *owner);
/* Call it after pcu_stream_table_add, with the context current. While all streams were
 * ordered, memory was given out although earlier work may still use it. So the stream
 * that ends this state waits for that work. On failure *routine names the driver call.
 */
PCU_HIDDEN CUresult pcu_stream_table_order_new(pcu_context_record *rec, CUstream stream,
                                               const char **routine);
/* A stream of the context is about to be captured. During the capture, the driver
 * accepts no events in it, nor in the default stream if the stream is a blocking one.
 * So record fences behind the work that both have now. The context is current. On
 * failure *routine names the driver call. */
PCU_HIDDEN CUresult pcu_stream_table_fence_capture(pcu_context_record *rec,
                                                   CUstream stream,
                                                   const char **routine);
/* The capture has begun: until it ends, work of the stream uses no memory. */
PCU_HIDDEN void pcu_stream_table_begin_capture(pcu_context_record *rec,
                                               CUstream stream);
/* The capture ends, with its fences. */
PCU_HIDDEN void pcu_stream_table_end_capture(pcu_context_record *rec, CUstream stream);
/* Add a table to a context whose memory other contexts may use from now on. */
PCU_HIDDEN bool pcu_stream_table_share(pcu_context_record *rec);
/* The stream is about to be destroyed; its context is current. */
PCU_HIDDEN void pcu_stream_table_end(pcu_context_record *rec, CUstream stream);
/* The context of the record is about to end, which may still fail: destroy the fences
 * and let go of foreign streams. */
PCU_HIDDEN void pcu_stream_table_let_go(pcu_context_record *rec);
/* The record ends. If no other record shares its table, the table ends too. */
PCU_HIDDEN void pcu_stream_table_forget(pcu_context_record *rec);

/* What a wait for all work of a context proves, if it succeeds: calls, notes and
 * launches until these numbers have finished. Work that other threads enqueue during
 * the wait may be pending. */
typedef struct {
    unsigned long queued;
    unsigned long clock;
    uint64_t launch;
} pcu_wait;

/* Read the numbers before the wait. `rec` may be NULL. */
PCU_HIDDEN pcu_wait pcu_wait_begin(const pcu_context_record *rec);
PCU_HIDDEN void pcu_wait_succeeded(pcu_context_record *rec, const pcu_wait *wait);

/* The memory is given out; it is freed. */
PCU_HIDDEN void pcu_stream_life_begin(pcu_stream_life *life,
                                      const pcu_stream_table *table);
PCU_HIDDEN void pcu_stream_life_end(pcu_stream_life *life,
                                    const pcu_stream_table *table);
/* Whether work that is enqueued in `stream` from now on runs behind all uses of the
 * freed memory. Calls no driver function. */
PCU_HIDDEN bool pcu_stream_life_is_over(const pcu_stream_life *life,
                                        const pcu_stream_table *table, CUstream stream);
/* Whether a use of the memory cannot be fenced, so that only the driver can free it. */
PCU_HIDDEN bool pcu_stream_life_is_opaque(const pcu_stream_life *life,
                                          const pcu_stream_table *table);

/* The living stream that was noted last. */
PCU_HIDDEN CUstream pcu_stream_table_last(const pcu_stream_table *table);

/* Ask the fences, and record those that are missing for all streams but `stream`. The
 * context is current. */
PCU_HIDDEN void pcu_stream_table_poll(pcu_stream_table *table, CUstream stream,
                                      bool record);
/* Let work that is enqueued in `stream` from now on wait for all uses of freed memory.
 * On failure *routine names the driver call. */
PCU_HIDDEN CUresult pcu_stream_life_order(const pcu_stream_life *life,
                                          pcu_stream_table *table, CUstream stream,
                                          const char **routine);

#endif
