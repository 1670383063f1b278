/* The native record of a context, and scopes: making a context current during a call.
 *
 * Invariant: `handle` may be used while the record lives and the driver is READY (in a
 * forked child it is not). A record lives while it is `alive`. The record of a primary
 * context also lives while another record of the same life of that context does: an
 * object made through one wrapper stays valid while another wrapper retains the
 * context. The record is part of the Python object that owns it; a reference to that
 * object keeps the record. Records and registry are read and written under the
 * interpreter lock only.
 *
 * Callers: any code in driver/ and python/. */
#ifndef DRIVER_CONTEXT_RECORD_H
#define DRIVER_CONTEXT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/table.h"

typedef enum {
    PCU_CTX_OWNED,   /* created by this package, which destroys it */
    PCU_CTX_PRIMARY, /* retained by this package, which releases it */
    PCU_CTX_FOREIGN  /* of another library, which ends it */
} pcu_ctx_kind;

/* Limits of the context's device that launches need. They are read once. */
typedef struct {
    int max_threads;
    int max_block[3];
    int max_grid[3];
    int multiprocessors;
    int cache; /* bytes of the L2 cache */
} pcu_device_limits;

/* What waits have proved about launches: see driver/events.h. */
enum { PCU_LAUNCH_WAITS = 8 };
typedef struct {
    CUstream stream;
    uint64_t number; /* its launches until this one have finished; 0: no wait */
} pcu_launch_wait;

typedef struct {
    uint64_t all; /* all launches until this number have finished */
    unsigned int next;
    pcu_launch_wait waits[PCU_LAUNCH_WAITS];
} pcu_launch_proof;

enum { PCU_WAIT_MARKS = 2 };

typedef struct pcu_context_record {
    CUcontext handle;
    CUdevice device;
    pcu_ctx_kind kind;
    bool alive;
    void *owner;                     /* the Python object this record is part of */
    struct pcu_context_record *next; /* in the registry */
    pcu_device_limits limits;
    unsigned long life;    /* shared by records of one handle that lived together */
    unsigned long queued;  /* calls that may have enqueued work */
    unsigned long passed;  /* of these, the calls before the last synchronisation */
    unsigned int releases; /* in progress: the context must not end before they do */
    struct pcu_stream_table
        *streams;                  /* see stream_use.h; NULL: only the default stream */
    unsigned long launches;        /* through this record that were noted in `kept` */
    struct pcu_launch_event *kept; /* the last ones: see driver/events.h; or NULL */
    struct pcu_first_launch *first; /* of each kernel: see driver/events.c; or NULL */
    pcu_launch_proof proof;
    void *lost; /* what python/support/suspects.h keeps once the context is lost */
    bool told;  /* an exception has said that the context is lost */
    /* for driver/waits.h */
    unsigned int schedule; /* how waits pass the time, and that this is known */
    unsigned long
        proved; /* of pcu_doubts, those that a wait for all work has removed */
    bool stuck; /* a signal ended a wait, and no wait has succeeded since */
    struct pcu_capture_record *late; /* releases that wait for the end of the work */
    CUevent idle; /* recorded behind all work; NULL before the first use */
    void *stage;  /* page-locked memory for small copies; or NULL */
    CUevent marks[PCU_WAIT_MARKS]; /* recorded behind work that fills the queue */
    unsigned long step;            /* of `queued`, for the last of these */
    unsigned long first_step;      /* for the first of these since `marked` */
    unsigned long marked;          /* `passed` then */
} pcu_context_record;

/* The top of the calling thread's context stack, NULL if that is empty. Written by
 * python/driver/current_context.c; borrowed, valid while the thread's stack holds it.
 */
extern PCU_HIDDEN PCU_THREAD pcu_context_record *pcu_ctx_current;

/* Whether this thread runs a function that a stream calls: it cannot call the driver.
 */
extern PCU_HIDDEN PCU_THREAD bool pcu_in_host_function;

/* The number of driver calls that currently run without the interpreter lock. Read and
 * written under that lock. */
extern PCU_HIDDEN unsigned int pcu_calls_waiting;

/* The queue of a GPU has room for 1,021 launches; a call waits while it is full. After
 * this many calls without a synchronisation the queue may be full. */
enum { PCU_QUEUE_SAFE = 600 };

/* Count a call that enqueues work in the current context, whether or not it then waits.
 * Return whether the queue may be full. */
static inline bool
pcu_queue_count(void)
{
    pcu_context_record *rec = pcu_ctx_current;
    return rec == NULL || ++rec->queued - rec->passed > PCU_QUEUE_SAFE;
}

/* Whether the context of an ended record lives on through another record. */
PCU_HIDDEN bool pcu_context_record_outlived(const pcu_context_record *rec);

static inline bool
pcu_context_record_lives(const pcu_context_record *rec)
{
    return rec->alive || pcu_context_record_outlived(rec);
}

/* Whether handles of this context may be used in this process. */
static inline bool
pcu_context_record_usable(const pcu_context_record *rec)
{
    return pcu_context_record_lives(rec) && pcu_drv_info.state == PCU_DRV_READY;
}

/* Add a record, whose handle is set, to the registry; pcu_context_record_forget removes
 * it. */
PCU_HIDDEN void pcu_context_record_register(pcu_context_record *rec);
PCU_HIDDEN void pcu_context_record_forget(pcu_context_record *rec);

/* The living record of a handle, NULL if there is none. */
PCU_HIDDEN pcu_context_record *pcu_context_record_find(CUcontext handle);

/* The newest record of the registry; the others follow through `next`. */
PCU_HIDDEN pcu_context_record *pcu_context_record_first(void);

/* Read device and limits of rec->handle, which is current. *routine names the driver
 * call that failed. */
PCU_HIDDEN CUresult pcu_context_record_describe(pcu_context_record *rec,
                                                const char **routine);

/* Whether a handle of the context is being released through any of its records. */
PCU_HIDDEN bool pcu_context_record_is_busy(const pcu_context_record *rec);

/* Whether ending this record ends the context: the context is not foreign, and no other
 * record retains it. */
PCU_HIDDEN bool pcu_context_record_is_last(const pcu_context_record *rec);

typedef struct pcu_scope {
    CUcontext context;       /* current inside the scope */
    pcu_context_record *rec; /* its record */
    CUcontext entered;       /* pushed by the scope; NULL: it was current already */
    const char *routine;     /* the driver call that failed in pcu_scope_enter */
    struct pcu_scope *outer; /* the enclosing scope of this thread */
    bool suspended;
} pcu_scope;

/* Make rec current until pcu_scope_leave. On failure scope->routine names the driver
 * call, and pcu_scope_leave must not follow. */
PCU_HIDDEN CUresult pcu_scope_enter(pcu_scope *scope, pcu_context_record *rec);

/* Undo pcu_scope_enter. CUDA_ERROR_INVALID_CONTEXT if the driver popped another context
 * than the scope had pushed. */
PCU_HIDDEN CUresult pcu_scope_leave(pcu_scope *scope);

/* The record of the context in which calls of this thread work: that of the innermost
 * scope, else pcu_ctx_current. */
PCU_HIDDEN pcu_context_record *pcu_context_record_working(void);

/* Whether this thread is inside a scope of the context. A signal handler may then run
 * inside a call that uses the context. */
PCU_HIDDEN bool pcu_scope_is_within(CUcontext context);

/* Pop the contexts of this thread's scopes from the driver's stack, so that a signal
 * handler finds the driver's stack as the thread's context stack describes it. Pass the
 * result to pcu_scopes_resume, which pushes the contexts again. */
PCU_HIDDEN pcu_scope *pcu_scopes_suspend(void);
PCU_HIDDEN void pcu_scopes_resume(pcu_scope *stop);

#endif
