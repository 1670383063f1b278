/* The stack of contexts that each thread has, and the driver kept in step with it.
 *
 * Invariant: `active` is the one handle of ours on the driver's own stack, NULL if
 * there is none. In step means that active is the top's handle and pcu_ctx_current the
 * top's record. Every operation ends in step or raises; after a failure the next one
 * tries again.
 *
 * A thread with an empty stack works in the context that pycuda.autoinit lends to all
 * threads. `lent` holds that context from the first call that needs one until the
 * thread pushes a context of its own; it takes the place of the top, but it is no item
 * of the stack: get_current() is None, and there is nothing to pop.
 *
 * Another library may change the driver's current context behind our back. Calls that
 * depend on the current context begin with pcu_context_ready below, which looks.
 *
 * The object lives in the thread-state dictionary, so that it dies with its thread. For
 * context.c only, but that stream.c keeps the streams of its with blocks here. */
#ifndef PYTHON_DRIVER_CONTEXT_STACK_H
#define PYTHON_DRIVER_CONTEXT_STACK_H

#include "python/support/base.h"

#include "python/support/driver_call.h"

#include "python/driver/context_struct.h"
#include "python/driver/resource.h"

typedef struct {
    PyObject_HEAD
    PyObject *items;      /* list of Context, the top at depth - 1, None above it */
    Py_ssize_t depth;     /* taking one off cannot fail: the list never gets shorter */
    PyObject *streams;    /* list of Stream, the entered ones (stream.c), or NULL */
    PyObject *lent;       /* the Context in place of a top, or NULL */
    CUcontext active;     /* what this stack put on the driver's */
    unsigned long thread; /* the thread whose stack this is */
} pcu_ctxstack;

/* The calling thread's stack. Without `create`, NULL without an exception if it has
 * none. */
PCU_HIDDEN PCU_BORROWED pcu_ctxstack *pcu_ctxstack_borrow(pcu_state *st, int create);

/* Drop dead contexts off the top and make the driver's current context the top. */
PCU_HIDDEN PCU_RAISES int pcu_ctxstack_sync(pcu_state *st, pcu_ctxstack *self);

/* The same where an exception is already on its way, which is kept. */
PCU_HIDDEN void pcu_ctxstack_sync_noraise(pcu_state *st, pcu_ctxstack *self);

/* pcu_ctxstack_sync after the top went: the next ones go as well if another library
 * has ended them. */
PCU_HIDDEN PCU_RAISES int pcu_ctxstack_uncover(pcu_state *st, pcu_ctxstack *self);

/* Take our handle off the driver's stack; the next sync puts the top there again. */
PCU_HIDDEN PCU_RAISES int pcu_ctxstack_suspend(pcu_state *st, pcu_ctxstack *self);

/* Take the top off, alive or dead; the stack is not in step afterwards. NULL if it is
 * empty; it cannot fail, nor can putting back what was taken. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_ctxstack_take(pcu_ctxstack *self);

/* Make ctx the top; the stack is not in step afterwards. */
PCU_HIDDEN PCU_RAISES int pcu_ctxstack_put(pcu_ctxstack *self, PyObject *ctx);

/* Make the type. */
PCU_HIDDEN PCU_RAISES int pcu_ctxstack_setup(PyObject *m, pcu_state *st);

/* The stream of the innermost `with stream:` block of this thread, NULL outside of such
 * blocks. Borrowed from `streams` of the thread's stack; stream.c writes it. */
extern PCU_HIDDEN PCU_THREAD pcu_resource *pcu_stream_top;

/* Make the context that this thread works in the driver's current one: the top of its
 * stack, else the context that pycuda.autoinit lends. Leaves the driver alone if there
 * is neither. */
PCU_HIDDEN PCU_RAISES int pcu_context_settle(pcu_state *st);

/* The same at the price of one look where nothing has to be done. */
static inline PCU_RAISES int
pcu_context_ready(pcu_state *st)
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
    return pcu_context_settle(st);
}

/* 1 if a call failed with this status because the driver's current context was not this
 * thread's, which it is now: call again. Never raises. For calls that are too frequent
 * for pcu_context_ready and fail in the wrong context. */
PCU_HIDDEN int pcu_context_repair(pcu_state *st, CUresult status);

/* PCU_CALL for a call that depends on the current context: not inside of a scope. */
#define PCU_CALL_CURRENT(rc, st, name, args)       \
    do {                                           \
        if (((rc) = pcu_context_ready(st)) == 0) { \
            PCU_CALL(rc, st, name, args);          \
        }                                          \
    } while (0)

/* Wait for all work of the current context. */
PCU_HIDDEN PCU_RAISES int pcu_context_synchronize(pcu_state *st);

#endif
