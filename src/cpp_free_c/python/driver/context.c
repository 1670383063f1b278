/* Context: made, retained or found, put on and taken off the thread's stack, ended.
 *
 * A context is ended once: by detach(), or when its last holder goes. rec.alive says
 * so; it is claimed under the interpreter lock before the driver is called. The stack
 * is ctxstack.c; what the current context can be asked is contextinfo.c. */
#include "python/driver/context.h"

#include <time.h>

#include "python/support/convert.h"
#include "python/support/interrupt.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context_stack.h"
#include "python/array/ops/kernel_table.h"

static int
context_convert(pcu_state *st, PyObject *value, void *out, const char *name,
                const char *wanted)
{
    if (!PyObject_TypeCheck(value, st->Context)) {
        PyErr_Format(PyExc_TypeError, "%s must be %s, not %s", name, wanted,
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    *(PyObject **)out = value;
    return 0;
}

int
pcu_as_context(pcu_state *st, PyObject *value, void *out, const char *name)
{
    return context_convert(st, value, out, name, "a Context");
}

int
pcu_as_context_or_none(pcu_state *st, PyObject *value, void *out, const char *name)
{
    if (value == Py_None) {
        return 0;
    }
    return context_convert(st, value, out, name, "a Context or None");
}

/* -- making ------------------------------------------------------------------------ */

/* 1 if this is a signal handler, or a finalizer, that would end the context of the very
 * call that it interrupts. */
static int
context_is_interrupted(const pcu_ctxrec *rec)
{
    return pcu_drv_info.state == PCU_DRV_READY && pcu_ctxrec_is_last(rec) &&
           pcu_scope_is_within(rec->handle);
}

static const char *
context_ender(const pcu_ctxrec *rec)
{
    return rec->kind == PCU_CTX_OWNED ? "cuCtxDestroy" : "cuDevicePrimaryCtxRelease";
}

/* Wait until nothing is being released in the context. */
static CUresult
context_settle(const pcu_ctxrec *rec)
{
    static const struct timespec pause = {.tv_nsec = 100000};
    if (context_is_interrupted(rec)) {
        return CUDA_ERROR_NOT_PERMITTED;
    }
    while (pcu_ctxrec_is_last(rec) && pcu_ctxrec_is_busy(rec)) {
        PyThreadState *thread = PyEval_SaveThread();
        (void)nanosleep(&pause, NULL); /* a signal may end it early: then look again */
        PyEval_RestoreThread(thread);
        if (pcu_interrupt_check()) {
            return CUDA_ERROR_TIMEOUT;
        }
    }
    return CUDA_SUCCESS;
}

/* End an owned context, or give a retained one back. The caller has made sure that no
 * other thread finds it. What is being released in it has to finish before. */
static CUresult
context_end(const pcu_ctxrec *rec, const char **routine)
{
    *routine = context_ender(rec);
    if (pcu_drv_info.state != PCU_DRV_READY) {
        return CUDA_SUCCESS;
    }
    CUresult status = context_settle(rec);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (rec->kind == PCU_CTX_OWNED) {
        PCU_STATUS(status, CtxDestroy, (rec->handle));
    }
    else if (rec->kind == PCU_CTX_PRIMARY) {
        PCU_STATUS(status, DevicePrimaryCtxRelease, (rec->device));
    }
    return status;
}

/* The object goes. Its record leaves the registry first: other threads run while the
 * driver works, and must not find an object that has no reference left. */
static void
context_end_noraise(pcu_context *self)
{
    const char *routine = "";
    CUresult status = CUDA_SUCCESS;
    pcu_ctxrec_forget(&self->rec);
    pcu_kernels_clear(self);
    if (self->rec.alive) {
        self->rec.alive = 0;
        status = context_end(&self->rec, &routine);
    }
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_DEINITIALIZED &&
        status != CUDA_ERROR_CONTEXT_IS_DESTROYED && !pcu_status_is_sticky(status)) {
        pcu_report_cleanup(self->st, routine, (uintptr_t)self->rec.handle, status);
    }
}

/* Wrap a handle; an owned or retained one is given back on failure. */
static PyObject *
context_wrap_new(pcu_state *st, CUcontext handle, CUdevice device, pcu_ctx_kind kind)
{
    pcu_scope scope;
    const char *routine = "";
    pcu_context *self = (pcu_context *)st->Context->tp_alloc(st->Context, 0);
    if (self == NULL) {
        pcu_ctxrec rec = {.handle = handle, .device = device, .kind = kind, .alive = 1};
        (void)context_end(&rec, &routine); /* the allocation's failure is reported */
        return NULL;
    }
    self->st = st;
    self->rec.handle = handle;
    self->rec.device = device;
    self->rec.kind = kind;
    self->rec.alive = 1;
    self->rec.owner = self;
    pcu_ctxrec_register(&self->rec);
    CUresult status = pcu_scope_enter(&scope, &self->rec);
    routine = scope.routine;
    if (status == CUDA_SUCCESS) {
        status = pcu_ctxrec_describe(&self->rec, &routine);
        CUresult left = pcu_scope_leave(&scope);
        if (status == CUDA_SUCCESS && left != CUDA_SUCCESS) {
            routine = "cuCtxPopCurrent";
            status = left;
        }
    }
    if (status != CUDA_SUCCESS) {
        Py_DECREF(self);
        pcu_raise(st, routine, status);
        return NULL;
    }
    return (PyObject *)self;
}

/* The object of a handle that is current in the driver: ours, or a wrapper of a
 * stranger's. */
PyObject *
pcu_context_find_new(pcu_state *st, CUcontext handle)
{
    pcu_ctxrec *known = pcu_ctxrec_find(handle);
    if (known != NULL) {
        return Py_NewRef((PyObject *)known->owner);
    }
    return context_wrap_new(st, handle, 0, PCU_CTX_FOREIGN);
}

/* Append a context that is on the driver's stack already. */
static int
context_append_active(pcu_state *st, pcu_ctxstack *stack, PyObject *self)
{
    if (pcu_ctxstack_put(stack, self) < 0) {
        return -1;
    }
    stack->active = ((pcu_context *)self)->rec.handle;
    return pcu_ctxstack_sync(st, stack);
}

/* `for_gl`: by OpenGL's function, where the driver still has it. */
static PyObject *
context_make_new(pcu_state *st, CUdevice device, unsigned int flags, int for_gl)
{
    CUcontext handle = NULL;
    PyObject *self = NULL;
    pcu_ctxstack *stack = pcu_ctxstack_borrow(st, 1);
    if (stack == NULL) {
        return NULL;
    }
    int rc = pcu_ctxstack_suspend(st, stack);
    if (rc == 0 && for_gl && pcu_drv_missing_since("cuGLCtxCreate") == 0) {
        PCU_CALL(rc, st, GLCtxCreate, (&handle, flags, device));
    }
    else if (rc == 0) {
        PCU_CALL(rc, st, CtxCreate, (&handle, flags, device));
    }
    if (rc == 0) {
        self = context_wrap_new(st, handle, device, PCU_CTX_OWNED);
    }
    /* making the object may have collected garbage, and that used the context before */
    if (self == NULL || pcu_ctxstack_suspend(st, stack) < 0 ||
        context_append_active(st, stack, self) < 0) {
        Py_CLEAR(self); /* ends the context, which takes it off the driver's stack */
        pcu_ctxstack_sync_noraise(st, stack);
    }
    return self;
}

PyObject *
pcu_context_make(pcu_state *st, CUdevice device, unsigned int flags)
{
    return context_make_new(st, device, flags, 0);
}

PyObject *
pcu_context_make_gl(pcu_state *st, CUdevice device, unsigned int flags)
{
    return context_make_new(st, device, flags, 1);
}

PyObject *
pcu_context_retain_primary(pcu_state *st, CUdevice device)
{
    CUcontext handle = NULL;
    int rc;
    PCU_CALL(rc, st, DevicePrimaryCtxRetain, (&handle, device));
    if (rc < 0) {
        return NULL;
    }
    return context_wrap_new(st, handle, device, PCU_CTX_PRIMARY);
}

/* The context for new objects where this thread has none of ours: another library's. */
static PyObject *
context_require_foreign(pcu_state *st, const char *routine)
{
    CUcontext handle = NULL;
    int rc;
    PCU_CALL(rc, st, CtxGetCurrent, (&handle));
    if (rc == 0 && handle == NULL) {
        rc = pcu_raise(st, routine, CUDA_ERROR_INVALID_CONTEXT);
    }
    if (rc < 0) {
        return NULL;
    }
    return pcu_context_find_new(st, handle);
}

PyObject *
pcu_context_require(pcu_state *st, const char *routine)
{
    if (pcu_context_ready(st) < 0) {
        return NULL;
    }
    if (pcu_ctx_current != NULL && pcu_ctx_current->alive) {
        return Py_NewRef((PyObject *)pcu_ctx_current->owner);
    }
    return context_require_foreign(st, routine);
}

CUcontext
pcu_context_handle(pcu_state *st, PyObject *ctx, const char *routine, const char *name)
{
    if (!pcu_context_rec(ctx)->alive) {
        pcu_raise_detail(st, routine, CUDA_ERROR_INVALID_CONTEXT, "%s was detached",
                         name);
        return NULL;
    }
    return pcu_context_rec(ctx)->handle;
}

/* -- the object's life ------------------------------------------------------------- */

static int
context_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((pcu_context *)op)->dict);
    return 0;
}

static int
context_clear(PyObject *op)
{
    Py_CLEAR(((pcu_context *)op)->dict);
    return 0;
}

static void
context_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (((pcu_context *)op)->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    context_end_noraise((pcu_context *)op);
    context_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

/* -- methods on the stack ---------------------------------------------------------- */

/* A forked child has its parent's stack, and the driver none of it. */
static int
context_refuse_fork(pcu_state *st, const char *routine)
{
    if (pcu_drv_info.state != PCU_DRV_FORKED) {
        return 0;
    }
    return pcu_raise(st, routine, CUDA_ERROR_NOT_INITIALIZED);
}

static int
context_push_self(pcu_context *self)
{
    pcu_state *st = self->st;
    pcu_ctxstack *stack = pcu_ctxstack_borrow(st, 1);
    if (stack == NULL || context_refuse_fork(st, "cuCtxPushCurrent") < 0) {
        return -1;
    }
    if (!self->rec.alive) {
        return pcu_raise_detail(st, "cuCtxPushCurrent", CUDA_ERROR_INVALID_CONTEXT,
                                "this context was detached");
    }
    if (pcu_ctxstack_put(stack, (PyObject *)self) < 0) {
        return -1;
    }
    if (pcu_ctxstack_sync(st, stack) < 0) {
        pcu_saved_error pending;
        pcu_error_save(&pending);
        Py_XDECREF(pcu_ctxstack_take(stack));
        pcu_error_restore(&pending);
        pcu_ctxstack_sync_noraise(st, stack);
        return -1;
    }
    return 0;
}

PyDoc_STRVAR(context_push_doc,
             "push($self, /)\n--\n\n"
             "Put this context on the calling thread's stack and make it current.");

static PyObject *
context_push(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    if (context_push_self((pcu_context *)op) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static int
context_pop_current(pcu_state *st)
{
    pcu_ctxstack *stack = pcu_ctxstack_borrow(st, 0);
    PyObject *top = NULL;
    if (stack != NULL) {
        top = pcu_ctxstack_take(stack);
    }
    if (top == NULL) {
        if (PyErr_Occurred()) {
            return -1;
        }
        return pcu_raise_detail(st, "cuCtxPopCurrent", CUDA_ERROR_INVALID_CONTEXT,
                                "this thread's stack of contexts is empty");
    }
    int rc = pcu_ctxstack_uncover(st, stack);
    if (rc < 0) { /* as before: the context is still there to be popped */
        (void)pcu_ctxstack_put(stack, top); /* where it was taken from: cannot fail */
        pcu_ctxstack_sync_noraise(st, stack);
    }
    Py_DECREF(top);
    return rc;
}

PyDoc_STRVAR(
    context_pop_doc,
    "pop($type, /)\n--\n\n"
    "Take the top off the calling thread's stack; the next one becomes current.\n\n"
    "LogicError if the stack is empty.");

static PyObject *
context_pop(PyObject *type, PyObject *Py_UNUSED(ignored))
{
    if (context_pop_current(pcu_state_of_type((PyTypeObject *)type)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    context_detach_doc,
    "detach($self, /)\n--\n\n"
    "End this context, or give the primary context back, now.\n\n"
    "If it is current, the next one of the stack becomes current. What was made in\n"
    "it is gone; releasing that later does nothing. LogicError the second time.");

/* How often a context is on a stack. */
static Py_ssize_t
context_count(const pcu_ctxstack *stack, const pcu_context *self)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t i = 0; stack != NULL && i < stack->depth; i++) {
        count += PyList_GET_ITEM(stack->items, i) == (PyObject *)self;
    }
    return count;
}

/* The context did not end, for the reason that is raised: it is as before. While it was
 * ending, a signal handler that used the stack took it off there. */
static void
context_stay(pcu_context *self, pcu_ctxstack *stack, Py_ssize_t count)
{
    pcu_saved_error pending;
    self->rec.alive = 1;
    pcu_error_save(&pending);
    while (context_count(stack, self) < count &&
           pcu_ctxstack_put(stack, (PyObject *)self) == 0) {
    }
    PyErr_Clear(); /* no memory for that: the first error is the one to report */
    pcu_error_restore(&pending);
    if (stack != NULL) {
        pcu_ctxstack_sync_noraise(self->st, stack);
    }
}

static PyObject *
context_detach(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_context *self = (pcu_context *)op;
    pcu_state *st = self->st;
    const char *routine = "";
    if (self->rec.alive && context_is_interrupted(&self->rec)) {
        pcu_raise_detail(st, context_ender(&self->rec), CUDA_ERROR_NOT_PERMITTED,
                         "the call that was interrupted works in this context; detach "
                         "it afterwards");
        return NULL;
    }
    pcu_ctxstack *stack = pcu_ctxstack_borrow(st, 0);
    if (stack == NULL && PyErr_Occurred()) {
        return NULL;
    }
    int current = pcu_ctx_current == &self->rec;
    if (current && pcu_ctxstack_suspend(st, stack) < 0) {
        pcu_ctxstack_sync_noraise(st, stack);
        return NULL;
    }
    if (self->rec.alive) {
        pcu_kernels_clear(self); /* another thread may detach it meanwhile */
    }
    if (!self->rec.alive) {
        pcu_raise_detail(st, "cuCtxDetach", CUDA_ERROR_INVALID_CONTEXT,
                         "this context was detached before");
        return NULL;
    }
    Py_ssize_t count = context_count(stack, self);
    self->rec.alive = 0; /* from here on no other thread uses or ends it */
    CUresult status = context_end(&self->rec, &routine);
    if (status != CUDA_SUCCESS && !pcu_status_is_sticky(status)) {
        pcu_raise(st, routine, status);
        context_stay(self, stack, count);
        return NULL;
    }
    if (stack != NULL && pcu_ctxstack_uncover(st, stack) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(context_attach_doc,
             "attach($type, /, flags=0)\n--\n\n"
             "Put the context that is current in the driver on this thread's stack.\n\n"
             "It belongs to whoever made it: it is not ended here.");

static PyObject *
context_attach(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
               PyObject *kwnames)
{
    static const pcu_argspec specs[] = {{"flags", pcu_as_uint, 0}};
    static const pcu_argtable table = {"attach", specs, 1, 0, 0};
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    unsigned int flags = 0;
    CUcontext handle = NULL;
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &flags) < 0) {
        return NULL;
    }
    pcu_ctxstack *stack = pcu_ctxstack_borrow(st, 1);
    if (stack == NULL) {
        return NULL;
    }
    PCU_CALL(rc, st, CtxGetCurrent, (&handle));
    if (rc == 0 && handle == NULL) {
        rc = pcu_raise_detail(st, "cuCtxAttach", CUDA_ERROR_INVALID_CONTEXT,
                              "the driver has no current context in this thread");
    }
    PyObject *self = NULL;
    if (rc >= 0) {
        self = pcu_context_find_new(st, handle);
    }
    if (self != NULL && context_append_active(st, stack, self) < 0) {
        Py_CLEAR(self);
    }
    return self;
}

PyDoc_STRVAR(
    context_get_current_doc,
    "get_current($type, /)\n--\n\n"
    "The top of the calling thread's stack, or None.\n\n"
    "None in a thread that has pushed no context, although it may work in the\n"
    "context that pycuda.autoinit lends to such threads.");

static PyObject *
context_get_current(PyObject *type, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    if (context_refuse_fork(st, "cuCtxGetCurrent") < 0) {
        return NULL;
    }
    pcu_ctxstack *stack = pcu_ctxstack_borrow(st, 0);
    if (stack == NULL) {
        if (PyErr_Occurred()) {
            return NULL;
        }
        Py_RETURN_NONE;
    }
    if ((pcu_ctx_current == NULL || !pcu_ctx_current->alive) &&
        pcu_ctxstack_sync(st, stack) < 0) {
        return NULL;
    }
    if (pcu_ctx_current == NULL || stack->depth == 0) {
        Py_RETURN_NONE;
    }
    return Py_NewRef((PyObject *)pcu_ctx_current->owner);
}

PyDoc_STRVAR(context_synchronize_doc,
             "synchronize($type, /)\n--\n\n"
             "Wait until all work of the current context has finished.");

static PyObject *
context_synchronize(PyObject *type, PyObject *Py_UNUSED(ignored))
{
    if (pcu_context_synchronize(pcu_state_of_type((PyTypeObject *)type)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- functions of the module ------------------------------------------------------- */

PyDoc_STRVAR(
    context_lend_to_threads_doc,
    "_lend_to_threads($module, context, /)\n--\n\n"
    "Let threads without a context work in this one, until it ends; None ends\n"
    "that for threads which have not begun.");

static PyObject *
context_lend_to_threads(PyObject *m, PyObject *ctx)
{
    pcu_state *st = pcu_state_of_module(m);
    PyObject *reference = NULL;
    if (ctx != Py_None) {
        if (!PyObject_TypeCheck(ctx, st->Context)) {
            PyErr_Format(PyExc_TypeError, "context must be a Context or None, not %s",
                         Py_TYPE(ctx)->tp_name);
            return NULL;
        }
        reference = PyWeakref_NewRef(ctx, NULL);
        if (reference == NULL) {
            return NULL;
        }
    }
    Py_XSETREF(st->lent_context, reference);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    context_working_context_doc,
    "_working_context($module, /)\n--\n\n"
    "Return the context that calls of this thread work in, or None: the top of\n"
    "its stack, the one that is lent to threads, or another library's.");

static PyObject *
context_working_context(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    CUcontext handle = NULL;
    if (context_refuse_fork(st, "cuCtxGetCurrent") < 0) {
        return NULL;
    }
    if ((pcu_ctx_current == NULL || !pcu_ctx_current->alive) &&
        pcu_context_settle(st) < 0) {
        return NULL;
    }
    if (pcu_ctx_current != NULL) {
        return Py_NewRef((PyObject *)pcu_ctx_current->owner);
    }
    if (drv.CtxGetCurrent(&handle) == CUDA_SUCCESS && handle != NULL) {
        return pcu_context_find_new(st, handle);
    }
    Py_RETURN_NONE;
}

static PyMethodDef context_functions[] = {
    {"_lend_to_threads", context_lend_to_threads, METH_O, context_lend_to_threads_doc},
    {"_working_context", context_working_context, METH_NOARGS,
     context_working_context_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(context_enter_doc,
             "__enter__($self, /)\n--\n\n"
             "Push this context; the end of the with block pops it.");

static PyObject *
context_enter(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    if (context_push_self((pcu_context *)op) < 0) {
        return NULL;
    }
    return Py_NewRef(op);
}

PyDoc_STRVAR(context_exit_doc, "__exit__($self, /, *exc_info)\n--\n\nPop the context.");

static PyObject *
context_exit(PyObject *op, PyObject *const *Py_UNUSED(args),
             Py_ssize_t Py_UNUSED(nargs))
{
    pcu_context *self = (pcu_context *)op;
    if (!self->rec.alive && pcu_ctx_current != &self->rec) {
        Py_RETURN_NONE; /* detached inside the block, which took it off the stack */
    }
    if (pcu_ctx_current != &self->rec) {
        pcu_raise_detail(
            self->st, "cuCtxPopCurrent", CUDA_ERROR_INVALID_CONTEXT,
            "the with block pushed and popped contexts out of balance: its "
            "own is not current at its end");
        return NULL;
    }
    if (context_pop_current(self->st) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- the type -----------------------------------------------------------------------
 */

static PyObject *
context_richcompare(PyObject *a, PyObject *b, int op)
{
    pcu_state *st = ((pcu_context *)a)->st;
    if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(b, st->Context)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    int same = ((pcu_context *)a)->rec.handle == ((pcu_context *)b)->rec.handle;
    return PyBool_FromLong(op == Py_EQ ? same : !same);
}

static Py_hash_t
context_hash(PyObject *op)
{
    uintptr_t bits = (uintptr_t)((pcu_context *)op)->rec.handle >> 4;
    return (Py_hash_t)(bits == (uintptr_t)-1 ? 0 : bits);
}

static PyObject *
context_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((pcu_context *)op)->rec.handle);
}

static PyMemberDef context_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_context, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_context, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef context_getset[] = {
    {"handle", context_get_handle, NULL, "The CUcontext as an int.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef context_methods[] = {
    {"push", context_push, METH_NOARGS, context_push_doc},
    {"pop", context_pop, METH_CLASS | METH_NOARGS, context_pop_doc},
    {"detach", context_detach, METH_NOARGS, context_detach_doc},
    {"attach", (PyCFunction)(void (*)(void))context_attach,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, context_attach_doc},
    {"get_current", context_get_current, METH_CLASS | METH_NOARGS,
     context_get_current_doc},
    {"synchronize", context_synchronize, METH_CLASS | METH_NOARGS,
     context_synchronize_doc},
    {"__enter__", context_enter, METH_NOARGS, context_enter_doc},
    {"__exit__", (PyCFunction)(void (*)(void))context_exit, METH_FASTCALL,
     context_exit_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    context_doc,
    "A CUDA context: the owner of allocations, streams, events and modules.\n\n"
    "Made by Device.make_context() or Device.retain_primary_context(). Each thread\n"
    "has a stack of contexts, whose top is current; `with ctx:` pushes and pops.\n"
    "Two objects are equal if their handles are.");

static PyType_Slot context_slots[] = {
    {Py_tp_doc, (void *)context_doc},
    {Py_tp_traverse, context_traverse},
    {Py_tp_clear, context_clear},
    {Py_tp_dealloc, context_dealloc},
    {Py_tp_richcompare, context_richcompare},
    {Py_tp_hash, context_hash},
    {Py_tp_members, context_members},
    {Py_tp_getset, context_getset},
    {Py_tp_methods, context_methods},
    {0, NULL},
};

static PyType_Spec context_spec = {"pycuda._driver.Context", sizeof(pcu_context), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                       Py_TPFLAGS_BASETYPE |
                                       Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   context_slots};

int
pcu_context_setup(PyObject *m, pcu_state *st)
{
    if (pcu_ctxstack_setup(m, st) < 0) {
        return -1;
    }
    if (pcu_add_type(m, &st->Context, &context_spec, NULL) < 0) {
        return -1;
    }

    return PyModule_AddFunctions(m, context_functions);
}
