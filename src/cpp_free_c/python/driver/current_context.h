/* The stack of contexts of each thread, and the driver's current context: making the
 * calling thread's context current, and driver calls that depend on it.
 *
 * Another library may change the driver's current context. Calls that depend on the
 * current context therefore begin with pcu_current_context_ready, which compares, or
 * are repeated after pcu_current_context_repair.
 *
 * Invariant: if a function of the first part returns 0, the driver's current context is
 * that of the thread, unless the thread has none. Callers: all files in python/ that
 * make driver calls. */
#ifndef PYTHON_DRIVER_CURRENT_CONTEXT_H
#define PYTHON_DRIVER_CURRENT_CONTEXT_H

#include "python/support/base.h"

#include "python/support/driver_call.h"
#include "python/driver/resource.h"

/* Make this thread's context the driver's current one: the top of its stack, else the
 * context that pycuda.autoinit lends. If there is neither, the driver's current context
 * stays. */
PCU_HIDDEN PCU_RAISES int pcu_current_context_settle(pcu_state *st);

/* The same, with a fast path that costs one driver call if nothing has to be done. */
static inline PCU_RAISES int
pcu_current_context_ready(pcu_state *st)
{
    CUcontext current = NULL;
    if (pcu_ctx_current != NULL && pcu_ctx_current->alive) {
        CUresult status = drv.CtxGetCurrent(&current);
        if (status == CUDA_SUCCESS && current == pcu_ctx_current->handle) {
            return 0;
        }
        if (status != CUDA_SUCCESS && pcu_drv_info.state == PCU_DRV_READY) {
            return pcu_raise(st, "cuCtxGetCurrent", status);
        }
    }
    return pcu_current_context_settle(st);
}

/* After a call failed with this status: return true if the driver's current context was
 * not this thread's and has been corrected, so that the call can be repeated. Never
 * raises. Used for calls that are too frequent for pcu_current_context_ready. */
PCU_HIDDEN bool pcu_current_context_repair(pcu_state *st, CUresult status);

/* PCU_CALL for a function that depends on the current context. Not for use inside a
 * scope. */
#define PCU_CALL_CURRENT(rc, st, name, args)               \
    do {                                                   \
        if (((rc) = pcu_current_context_ready(st)) == 0) { \
            PCU_CALL(rc, st, name, args);                  \
        }                                                  \
    } while (0)

/* Wait until all work of the current context has finished. */
PCU_HIDDEN PCU_RAISES int pcu_current_context_synchronize(pcu_state *st);

/* The same for a context that need not be current; the caller keeps it alive. On
 * failure *routine names the driver call. */
PCU_HIDDEN CUresult pcu_context_wait(pcu_context_record *rec, const char **routine);

/* -- the stack --------------------------------------------------------------------- */

/* `active` is the only handle of this package on the driver's own stack, or NULL. The
 * stack is synchronised if active is the handle of the top and pcu_ctx_current is the
 * record of the top. Every operation leaves the stack synchronised or raises; after a
 * failure the next operation tries again.
 *
 * A thread with an empty stack works in the context that pycuda.autoinit lends to all
 * threads. `lent` holds that context from the first call that needs one until the
 * thread pushes its own context. It acts as the top, but it is not an item of the
 * stack: get_current() returns None, and there is nothing to pop.
 *
 * The object is in the thread-state dictionary, so it is deleted with its thread.
 * Callers: context.c, and stream.c, which keeps the streams of its with blocks here. */

typedef struct {
    PyObject_HEAD
    PyObject *items;      /* list of Context, the top at depth - 1, None above it */
    Py_ssize_t depth;     /* the list never shrinks, so a pop cannot fail */
    PyObject *streams;    /* list of entered Stream objects (stream.c), or NULL */
    PyObject *lent;       /* the Context that acts as the top, or NULL */
    CUcontext active;     /* pushed on the driver's stack, or NULL */
    unsigned long thread; /* the thread that owns this stack */
} pcu_ctxstack;

/* The calling thread's stack. If the thread has none, it is created if `create` is set;
 * otherwise the result is NULL without an exception. */
PCU_HIDDEN PCU_BORROWED pcu_ctxstack *pcu_ctxstack_borrow(pcu_state *st, bool create);

/* Drop ended contexts from the top, and make the top the driver's current context. */
PCU_HIDDEN PCU_RAISES int pcu_ctxstack_sync(pcu_state *st, pcu_ctxstack *self);

/* The same while an exception is pending. The pending exception is kept. */
PCU_HIDDEN void pcu_ctxstack_sync_noraise(pcu_state *st, pcu_ctxstack *self);

/* pcu_ctxstack_sync after the top was removed. Contexts below it that another library
 * has ended are removed too. */
PCU_HIDDEN PCU_RAISES int pcu_ctxstack_uncover(pcu_state *st, pcu_ctxstack *self);

/* Pop our handle from the driver's stack. The next sync pushes the top again. */
PCU_HIDDEN PCU_RAISES int pcu_ctxstack_suspend(pcu_state *st, pcu_ctxstack *self);

/* Remove and return the top, alive or ended. NULL if the stack is empty. The stack is
 * not synchronised afterwards. This cannot fail, and neither can pcu_ctxstack_put of
 * the same object directly afterwards. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_ctxstack_take(pcu_ctxstack *self);

/* Push ctx. The stack is not synchronised afterwards. */
PCU_HIDDEN PCU_RAISES int pcu_ctxstack_put(pcu_ctxstack *self, PyObject *ctx);

/* Make the type. */
PCU_HIDDEN PCU_RAISES int pcu_ctxstack_setup(PyObject *m, pcu_state *st);

/* The stream of the innermost `with stream:` block of this thread, NULL outside of such
 * blocks. Borrowed from `streams` of the thread's stack; stream.c writes it. */
extern PCU_HIDDEN PCU_THREAD pcu_resource *pcu_stream_top;

#endif
