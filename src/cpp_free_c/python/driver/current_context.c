/* The stack of contexts of a thread, and the driver's current context. Invariant and
 * callers: see current_context.h. */
#include "python/driver/current_context.h"

#include "driver/stream_use.h"
#include "python/support/driver_call.h"
#include "python/support/suspects.h"

/* -- the stack --------------------------------------------------------------------- */

PCU_THREAD pcu_resource *pcu_stream_top;

static int
ctxstack_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((pcu_ctxstack *)op)->items);
    Py_VISIT(((pcu_ctxstack *)op)->streams);
    Py_VISIT(((pcu_ctxstack *)op)->lent);
    return 0;
}

/* The thread ends, or a foreign thread leaves Python: remove our handle from the
 * driver's stack. */
static int
ctxstack_clear(PyObject *op)
{
    pcu_ctxstack *self = (pcu_ctxstack *)op;
    if (self->items != NULL && self->thread == PyThread_get_thread_ident()) {
        CUcontext current = NULL;
        pcu_ctx_current = NULL;
        if (self->active != NULL && drv.CtxGetCurrent(&current) == CUDA_SUCCESS &&
            current == self->active) {
            drv.CtxPopCurrent(&current); /* an error cannot be reported any more */
        }
        self->active = NULL;
        pcu_stream_top = NULL;
    }
    self->depth = 0;
    Py_CLEAR(self->streams);
    Py_CLEAR(self->items);
    Py_CLEAR(self->lent);
    return 0;
}

static void
ctxstack_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    ctxstack_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyType_Slot ctxstack_slots[] = {
    {Py_tp_traverse, ctxstack_traverse},
    {Py_tp_clear, ctxstack_clear},
    {Py_tp_dealloc, ctxstack_dealloc},
    {0, NULL},
};

static PyType_Spec ctxstack_spec = {
    "pycuda._driver.ContextStack", sizeof(pcu_ctxstack), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    ctxstack_slots};

int
pcu_ctxstack_setup(PyObject *m, pcu_state *st)
{
    st->ContextStack =
        (PyTypeObject *)PyType_FromModuleAndSpec(m, &ctxstack_spec, NULL);
    if (st->ContextStack == NULL) {
        return -1;
    }
    return 0;
}

static pcu_ctxstack *
ctxstack_create(pcu_state *st, PyObject *dict, PyObject *key)
{
    PyTypeObject *type = st->ContextStack;
    pcu_ctxstack *self = (pcu_ctxstack *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->thread = PyThread_get_thread_ident();
    self->items = PyList_New(0);
    if (self->items == NULL || PyDict_SetItem(dict, key, (PyObject *)self) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    Py_DECREF(self); /* the dictionary holds it */
    return self;
}

pcu_ctxstack *
pcu_ctxstack_borrow(pcu_state *st, bool create)
{
    PyObject *dict = PyThreadState_GetDict();
    PyObject *key = (PyObject *)st->ContextStack;
    if (dict == NULL) {
        if (create) {
            PyErr_NoMemory();
        }
        return NULL;
    }
    pcu_ctxstack *self = (pcu_ctxstack *)PyDict_GetItemWithError(dict, key);
    if (self == NULL && !PyErr_Occurred() && create) {
        self = ctxstack_create(st, dict, key);
    }
    return self;
}

/* The record of the top, NULL if the stack is empty. */
static pcu_context_record *
ctxstack_top(pcu_ctxstack *self)
{
    Py_ssize_t n = self->depth;
    if (n == 0) {
        return NULL;
    }
    return &((pcu_context *)PyList_GET_ITEM(self->items, n - 1))->rec;
}

/* The record of the context that the thread works in, NULL if there is none. */
static pcu_context_record *
ctxstack_wanted(pcu_ctxstack *self)
{
    if (self->depth > 0 || self->lent == NULL) {
        return ctxstack_top(self);
    }
    pcu_context_record *rec = &((pcu_context *)self->lent)->rec;
    if (!rec->alive) {
        return NULL;
    }
    return rec;
}

PyObject *
pcu_ctxstack_take(pcu_ctxstack *self)
{
    if (self->depth == 0) {
        return NULL;
    }
    self->depth--;
    pcu_ctx_current = NULL;
    PyObject *top = PyList_GET_ITEM(self->items, self->depth);
    PyList_SET_ITEM(self->items, self->depth, Py_NewRef(Py_None));
    return top; /* with the reference that the list held */
}

int
pcu_ctxstack_put(pcu_ctxstack *self, PyObject *ctx)
{
    int rc = 0;
    if (self->depth < PyList_GET_SIZE(self->items)) {
        rc = PyList_SetItem(self->items, self->depth, Py_NewRef(ctx));
    }
    else {
        rc = PyList_Append(self->items, ctx);
    }
    self->depth += rc == 0;
    return rc;
}

/* Ending a context may run other code that uses this stack, so the top is read again in
 * each round. */
static void
ctxstack_drop_dead(pcu_ctxstack *self)
{
    pcu_context_record *top;
    while ((top = ctxstack_top(self)) != NULL && !top->alive) {
        Py_XDECREF(pcu_ctxstack_take(self));
    }
}

int
pcu_ctxstack_suspend(pcu_state *st, pcu_ctxstack *self)
{
    CUcontext current = NULL;
    int rc = 0;
    pcu_ctx_current = NULL;
    if (self->active == NULL) {
        return 0;
    }
    PCU_CALL(rc, st, CtxGetCurrent, (&current));
    if (rc == 0 && current == self->active) {
        CUresult status = drv.CtxPopCurrent(&current);
        if (status != CUDA_SUCCESS && status != CUDA_ERROR_CONTEXT_IS_DESTROYED) {
            rc = pcu_raise(st, "cuCtxPopCurrent", status);
        }
    }
    if (rc == 0) {
        self->active = NULL;
    }
    return rc;
}

int
pcu_ctxstack_sync(pcu_state *st, pcu_ctxstack *self)
{
    int rc = 0;
    ctxstack_drop_dead(self);
    pcu_context_record *top = ctxstack_wanted(self);
    CUcontext wanted = NULL;
    if (top != NULL) {
        wanted = top->handle;
    }
    if (self->active != wanted && pcu_ctxstack_suspend(st, self) < 0) {
        return -1;
    }
    if (self->active != wanted) {
        PCU_CALL(rc, st, CtxPushCurrent, (wanted));
    }
    if (rc == 0) {
        self->active = wanted;
        pcu_ctx_current = top;
        if (self->depth > 0 || top == NULL) {
            Py_CLEAR(self->lent); /* last: this may end the context */
        }
    }
    return rc;
}

/* Whether another library has ended the context. */
static bool
ctxstack_was_ended(const pcu_context_record *rec)
{
    CUcontext popped = NULL;
    CUresult status = drv.CtxPushCurrent(rec->handle);
    if (status == CUDA_SUCCESS) {
        (void)drv.CtxPopCurrent(&popped); /* the context that was just pushed */
    }
    return status == CUDA_ERROR_INVALID_CONTEXT ||
           status == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

int
pcu_ctxstack_uncover(pcu_state *st, pcu_ctxstack *self)
{
    int rc = pcu_ctxstack_sync(st, self);
    while (rc < 0) {
        pcu_saved_error pending;
        pcu_error_save(&pending);
        const pcu_context_record *top = ctxstack_top(self);
        bool was_ended = top != NULL && ctxstack_was_ended(top);
        pcu_error_restore(&pending);
        if (!was_ended) {
            break;
        }
        PyErr_Clear(); /* skip that context: the next one becomes current */
        Py_XDECREF(pcu_ctxstack_take(self));
        rc = pcu_ctxstack_sync(st, self);
    }
    return rc;
}

/* Let the context that is lent to all threads act as the top, if there is one. */
static void
ctxstack_borrow_lent(pcu_state *st, pcu_ctxstack *self)
{
    PyObject *lent = pcu_weakref_new(st->lent_context);
    if (lent != NULL && !((pcu_context *)lent)->rec.alive) {
        Py_CLEAR(lent);
    }
    pcu_ctx_current = NULL;
    Py_XSETREF(self->lent, lent);
}

/* Make the context that the thread works in the driver's current one: the top, or the
 * context that is lent, if the stack is empty. */
static int
ctxstack_refresh(pcu_state *st, pcu_ctxstack *self)
{
    ctxstack_drop_dead(self);
    if (ctxstack_wanted(self) == NULL) {
        ctxstack_borrow_lent(st, self);
    }
    return pcu_ctxstack_sync(st, self);
}

void
pcu_ctxstack_sync_noraise(pcu_state *st, pcu_ctxstack *self)
{
    pcu_saved_error pending;
    pcu_error_save(&pending);
    if (pcu_ctxstack_sync(st, self) < 0) {
        PyErr_Clear(); /* the first error is reported */
    }
    pcu_error_restore(&pending);
}

/* -- the current context ----------------------------------------------------------- */

int
pcu_current_context_settle(pcu_state *st)
{
    CUcontext current = NULL;
    int rc = 0;
    if (pcu_drv_info.state != PCU_DRV_READY) {
        return 0; /* the driver call itself reports the error */
    }
    pcu_ctxstack *self = pcu_ctxstack_borrow(st, st->lent_context != NULL);
    if (self == NULL) {
        if (PyErr_Occurred()) {
            return -1;
        }
        return 0;
    }
    if (ctxstack_refresh(st, self) < 0) {
        return -1;
    }
    if (self->active != NULL) {
        PCU_CALL(rc, st, CtxGetCurrent, (&current));
    }
    if (rc == 0 && current != self->active) { /* another library changed it */
        PCU_CALL(rc, st, CtxSetCurrent, (self->active));
    }
    return rc;
}

bool
pcu_current_context_repair(pcu_state *st, CUresult status)
{
    CUcontext before = NULL;
    CUcontext after = NULL;
    if (status != CUDA_ERROR_INVALID_CONTEXT && status != CUDA_ERROR_INVALID_HANDLE &&
        status != CUDA_ERROR_CONTEXT_IS_DESTROYED) {
        return false;
    }
    if (drv.CtxGetCurrent(&before) != CUDA_SUCCESS) {
        return false;
    }
    if (pcu_current_context_settle(st) < 0) {
        PyErr_Clear(); /* the first error is reported */
        return false;
    }
    return drv.CtxGetCurrent(&after) == CUDA_SUCCESS && after != before;
}

int
pcu_current_context_synchronize(pcu_state *st)
{
    pcu_context_record *rec = pcu_ctx_current;
    pcu_wait wait = pcu_wait_begin(rec);
    int rc;
    PCU_CALL_CURRENT(rc, st, CtxSynchronize, ());
    if (rc == 0 && rec != NULL && rec == pcu_ctx_current) {
        pcu_wait_succeeded(rec, &wait);
        pcu_suspects_forget(rec); /* the context works: it was reset */
        pcu_release_late((PyObject *)rec->owner);
    }
    return rc;
}

CUresult
pcu_context_wait(pcu_context_record *rec, const char **routine)
{
    pcu_wait wait = pcu_wait_begin(rec);
    pcu_scope scope;
    CUresult status = pcu_scope_enter(&scope, rec);
    *routine = scope.routine;
    if (status != CUDA_SUCCESS) {
        return status;
    }
    PCU_STATUS(status, CtxSynchronize, ());
    *routine = "cuCtxSynchronize";
    if (status == CUDA_SUCCESS) {
        pcu_wait_succeeded(rec, &wait);
    }
    CUresult left = pcu_scope_leave(&scope);
    if (status == CUDA_SUCCESS && left != CUDA_SUCCESS) {
        *routine = "cuCtxPopCurrent";
        status = left;
    }
    return status;
}
