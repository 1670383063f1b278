/* The native record of a context, and entering one for the length of a call.
 *
 * Invariant: `handle` may be used while the record lives and the driver is READY (a
 * forked child is not). A record lives while `alive` is 1, and a primary context's also
 * while another record of the same life of that context does: what was made through one
 * wrapper stays good when another keeps the context. The record is part of the Python
 * object that owns it; whoever holds that object holds the record. Not locked: records
 * and registry are read and written under the interpreter lock only.
 *
 * Any code in driver/ and python/ may call. */
#ifndef DRIVER_CONTEXT_RECORD_H
#define DRIVER_CONTEXT_RECORD_H

#include "driver/table.h"

typedef enum {
    PCU_CTX_OWNED,   /* made by us: destroyed by us */
    PCU_CTX_PRIMARY, /* retained: released */
    PCU_CTX_FOREIGN  /* someone else's: left alone */
} pcu_ctx_kind;

/* What launches ask of the context's device, read once. */
typedef struct {
    int max_threads;
    int max_block[3];
    int max_grid[3];
    int multiprocessors;
    int cache; /* bytes of the second cache */
} pcu_device_limits;

typedef struct pcu_ctxrec {
    CUcontext handle;
    CUdevice device;
    pcu_ctx_kind kind;
    int alive;
    void *owner;             /* the Python object this record is part of */
    struct pcu_ctxrec *next; /* in the registry */
    pcu_device_limits limits;
    unsigned long life;    /* records of one handle that were alive together share it */
    unsigned long queued;  /* calls that may have put work into the queue */
    unsigned long passed;  /* how many of them a synchronisation has seen pass */
    unsigned int releases; /* under way: the context must not end before they have */
} pcu_ctxrec;

/* The top of the calling thread's context stack, NULL if that is empty. Kept by
 * python/driver/context.c; borrowed, valid while the thread's stack holds it. */
extern PCU_HIDDEN PCU_THREAD pcu_ctxrec *pcu_ctx_current;

/* The number of driver calls that run without the interpreter lock now. Written and
 * read under that lock. */
extern PCU_HIDDEN unsigned int pcu_calls_waiting;

/* A GPU's queue has room for 1,021 launches; a call into a full one waits. After this
 * many calls without a synchronisation between them the queue may be full. */
enum { PCU_QUEUE_SAFE = 600 };

/* Count a call that takes a place in a queue of the current context. 1 if the queue may
 * be full. */
static inline int
pcu_queue_may_be_full(void)
{
    pcu_ctxrec *rec = pcu_ctx_current;
    return rec == NULL || ++rec->queued - rec->passed > PCU_QUEUE_SAFE;
}

/* 1 if a record that was ended shares its context with one that lives. */
PCU_HIDDEN int pcu_ctxrec_outlived(const pcu_ctxrec *rec);

static inline int
pcu_ctxrec_lives(const pcu_ctxrec *rec)
{
    return rec->alive || pcu_ctxrec_outlived(rec);
}

/* 1 if handles of this context may be used in this process now. */
static inline int
pcu_ctxrec_usable(const pcu_ctxrec *rec)
{
    return pcu_ctxrec_lives(rec) && pcu_drv_info.state == PCU_DRV_READY;
}

/* Keep a record findable by its handle, until pcu_ctxrec_forget; the handle is set. */
PCU_HIDDEN void pcu_ctxrec_register(pcu_ctxrec *rec);
PCU_HIDDEN void pcu_ctxrec_forget(pcu_ctxrec *rec);

/* The living record of a handle, NULL if there is none. */
PCU_HIDDEN pcu_ctxrec *pcu_ctxrec_find(CUcontext handle);

/* Read device and limits of rec->handle, which is current. *routine names the call. */
PCU_HIDDEN CUresult pcu_ctxrec_describe(pcu_ctxrec *rec, const char **routine);

/* 1 while a handle of the context is being released, through whichever record. */
PCU_HIDDEN int pcu_ctxrec_is_busy(const pcu_ctxrec *rec);

/* 1 if the end of this record is the end of the context: it is not someone else's, and
 * no other record retains it. */
PCU_HIDDEN int pcu_ctxrec_is_last(const pcu_ctxrec *rec);

typedef struct pcu_scope {
    CUcontext context;       /* of the calls within */
    CUcontext entered;       /* NULL if the context was current already */
    const char *routine;     /* the call that failed to enter */
    struct pcu_scope *outer; /* of this thread */
    int suspended;
} pcu_scope;

/* Make rec current for the calls up to pcu_scope_leave. Nothing to leave on failure,
 * which scope->routine names. */
PCU_HIDDEN CUresult pcu_scope_enter(pcu_scope *scope, const pcu_ctxrec *rec);

/* Undo pcu_scope_enter; CUDA_ERROR_INVALID_CONTEXT if another context came off. */
PCU_HIDDEN CUresult pcu_scope_leave(pcu_scope *scope);

/* 1 if this thread is within a scope of the context: a signal handler interrupts it. */
PCU_HIDDEN int pcu_scope_is_within(CUcontext context);

/* Take the contexts of this thread's scopes off the driver's stack, so that a signal
 * handler finds that stack as the thread's own stack of contexts says. Give the result
 * to pcu_scopes_resume, which puts them back. */
PCU_HIDDEN pcu_scope *pcu_scopes_suspend(void);
PCU_HIDDEN void pcu_scopes_resume(pcu_scope *stop);

#endif
