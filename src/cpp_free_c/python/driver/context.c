/* The type Context: making, retaining and finding contexts, pushing and popping them,
 * ending them.
 *
 * Invariant: a context is ended once, by detach() or when the last reference is
 * dropped. rec.alive is cleared under the interpreter lock before the driver is called.
 * The stack itself is in current_context.c; context_settings.c, context_device.c and
 * context_foreign.c add further methods. Callers: see context.h. */
#include "python/driver/context.h"

#include <time.h>

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/call_site.h"
#include "python/support/interrupt.h"
#include "driver/events.h"
#include "python/support/setup.h"
#include "python/support/suspects.h"
#include "python/support/type.h"
#include "driver/staging.h"
#include "driver/stream_use.h"
#include "driver/waits.h"
#include "python/driver/current_context.h"

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

/* Whether a signal handler or finalizer interrupted a call that uses this context, and
 * would now end the context. */
static bool
context_is_interrupted(const pcu_context_record *rec)
{
    return pcu_drv_info.state == PCU_DRV_READY && pcu_context_record_is_last(rec) &&
           pcu_scope_is_within(rec->handle);
}

static const char *
context_ender(const pcu_context_record *rec)
{
    return rec->kind == PCU_CTX_OWNED ? "cuCtxDestroy" : "cuDevicePrimaryCtxRelease";
}

/* Wait until all releases in the context have finished. */
static CUresult
context_settle(const pcu_context_record *rec)
{
    static const struct timespec pause = {.tv_nsec = 100000};
    if (context_is_interrupted(rec)) {
        return CUDA_ERROR_NOT_PERMITTED;
    }
    while (pcu_context_record_is_last(rec) && pcu_context_record_is_busy(rec)) {
        PyThreadState *thread = PyEval_SaveThread();
        (void)nanosleep(&pause, NULL); /* a signal may end it early */
        PyEval_RestoreThread(thread);
        if (pcu_interrupt_check()) {
            return CUDA_ERROR_TIMEOUT;
        }
    }
    return CUDA_SUCCESS;
}

/* 1 if a status of the release of a primary context says that another library has reset
 * it: it has ended, and there is nothing to release. */
static bool
context_was_reset(const pcu_context_record *rec, CUresult status)
{
    return rec->kind == PCU_CTX_PRIMARY && (status == CUDA_ERROR_INVALID_CONTEXT ||
                                            status == CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

/* Whether work goes on in another context, a wait for which a signal has ended. Then
 * the driver may end no context. */
static bool
context_others_work(const pcu_context_record *rec)
{
    pcu_context_record *other = pcu_context_record_first();
    while (other != NULL && (other->handle == rec->handle || !other->alive ||
                             !pcu_context_works(other, PCU_LOOK_NS))) {
        other = other->next;
    }
    return other != NULL;
}

/* Wait for the work of a context that is to end: signals end this wait, but not that of
 * the driver. If they have done so before, only look: CUDA_ERROR_NOT_READY. */
static CUresult
context_wait(pcu_context_record *rec)
{
    CUcontext popped = NULL;
    if (pcu_wait_was_ended && context_others_work(rec)) {
        return CUDA_ERROR_NOT_READY;
    }
    if (drv.CtxPushCurrent(rec->handle) != CUDA_SUCCESS) {
        return CUDA_SUCCESS; /* the call that ends the context reports it */
    }
    PyThreadState *thread = pcu_unlock();
    CUresult status = pcu_wait_for_context(rec, rec->stuck ? PCU_LOOK_NS : UINT64_MAX);
    if (status == CUDA_SUCCESS) {
        pcu_wait_forget(rec);
    }
    pcu_lock(thread);
    (void)drv.CtxPopCurrent(&popped); /* it may report the failure of earlier work */
    return status;
}

static bool
context_may_wait(const pcu_context_record *rec)
{
    return rec->kind != PCU_CTX_FOREIGN && pcu_drv_info.device == NULL &&
           pcu_drv_info.state == PCU_DRV_READY;
}

/* Destroy an owned context, or release a retained one. The caller has ensured that no
 * other thread finds it. Releases in progress finish first. */
static CUresult
context_end(pcu_context_record *rec, const char **routine)
{
    *routine = context_ender(rec);
    if (pcu_drv_info.state != PCU_DRV_READY) {
        return CUDA_SUCCESS;
    }
    CUresult status = context_settle(rec);
    if (status == CUDA_SUCCESS && context_may_wait(rec)) {
        status = context_wait(rec);
    }
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (rec->kind != PCU_CTX_FOREIGN) {
        PyThreadState *thread = pcu_unlock();
        (void)pcu_staging_release(rec->handle);
        pcu_lock(thread);
    }
    if (rec->kind == PCU_CTX_OWNED) {
        PCU_STATUS(status, CtxDestroy, (rec->handle));
    }
    else if (rec->kind == PCU_CTX_PRIMARY) {
        PCU_STATUS(status, DevicePrimaryCtxRelease, (rec->device));
    }
    if (context_was_reset(rec, status)) {
        return CUDA_SUCCESS;
    }
    if (status == CUDA_SUCCESS && pcu_drv_info.device != NULL) {
        return pcu_drv_info.device->ended_fault();
    }
    return status;
}

/* The context has ended with a status. If that is a fault of its work which no call has
 * reported, report it now: nothing else would. */
static void
context_report_end(pcu_context *self, const char *routine, CUresult status)
{
    if (pcu_status_is_sticky(status) && !self->rec.told) {
        pcu_report_lost(self->st, routine, &self->rec, status);
    }
}

/* End the context of an object that is being deleted. Its record leaves the registry
 * first: other threads run during the driver call and must not find an object without
 * references. */
static void
context_end_noraise(pcu_context *self)
{
    const char *routine = "";
    CUresult status = CUDA_SUCCESS;
    pcu_context_record_forget(&self->rec);
    pcu_stream_table_forget(&self->rec);
    for (int part = 0; part < PCU_CONTEXT_PART_COUNT; part++) {
        if (self->end_part[part] != NULL) {
            self->end_part[part](self);
        }
    }
    if (self->rec.alive) {
        self->rec.alive = false;
        status = context_end(&self->rec, &routine);
    }
    context_report_end(self, routine, status);
    if (status == CUDA_ERROR_TIMEOUT ||
        (status == CUDA_ERROR_NOT_READY && pcu_is_finalizing())) {
        return; /* the exception follows; the end of the process ends the work */
    }
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_DEINITIALIZED &&
        status != CUDA_ERROR_CONTEXT_IS_DESTROYED && !pcu_status_is_sticky(status)) {
        pcu_report_cleanup(self->st, routine, (uintptr_t)self->rec.handle, status);
    }
}

/* Wrap a handle in a new Context. On failure an owned or retained context is ended. */
static PyObject *
context_wrap_new(pcu_state *st, CUcontext handle, CUdevice device, pcu_ctx_kind kind)
{
    pcu_scope scope;
    const char *routine = "";
    pcu_context *self = (pcu_context *)st->Context->tp_alloc(st->Context, 0);
    if (self == NULL) {
        pcu_context_record rec = {
            .handle = handle, .device = device, .kind = kind, .alive = true};
        (void)context_end(&rec, &routine); /* the failed allocation is reported */
        return NULL;
    }
    self->st = st;
    self->rec.handle = handle;
    self->rec.device = device;
    self->rec.kind = kind;
    self->rec.alive = true;
    self->rec.owner = self;
    pcu_context_record_register(&self->rec);
    CUresult status = pcu_scope_enter(&scope, &self->rec);
    routine = scope.routine;
    if (status == CUDA_SUCCESS) {
        status = pcu_context_record_describe(&self->rec, &routine);
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

PyObject *
pcu_context_find_new(pcu_state *st, CUcontext handle)
{
    pcu_context_record *known = pcu_context_record_find(handle);
    if (known != NULL) {
        return Py_NewRef((PyObject *)known->owner);
    }
    return context_wrap_new(st, handle, 0, PCU_CTX_FOREIGN);
}

/* Push a context that is already on the driver's stack. */
static int
context_append_active(pcu_state *st, pcu_ctxstack *stack, PyObject *self)
{
    if (pcu_ctxstack_put(stack, self) < 0) {
        return -1;
    }
    stack->active = ((pcu_context *)self)->rec.handle;
    return pcu_ctxstack_sync(st, stack);
}

/* Create a context and push it. for_gl: use the function for OpenGL if the driver still
 * has it. */
static PyObject *
context_make_new(pcu_state *st, CUdevice device, unsigned int flags, bool for_gl)
{
    CUcontext handle = NULL;
    PyObject *self = NULL;
    pcu_ctxstack *stack = pcu_ctxstack_borrow(st, true);
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
    if (self != NULL) {
        ((pcu_context *)self)->flags = flags;
    }
    /* Making the object may have collected garbage and thereby used another context. */
    if (self == NULL || pcu_ctxstack_suspend(st, stack) < 0 ||
        context_append_active(st, stack, self) < 0) {
        Py_CLEAR(
            self); /* this ends the context and removes it from the driver's stack */
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

/* The context for new objects if this thread has no context of this package: the one
 * that another library made current. */
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
    if (pcu_current_context_ready(st) < 0) {
        return NULL;
    }
    if (pcu_ctx_current != NULL && pcu_ctx_current->alive) {
        return Py_NewRef((PyObject *)pcu_ctx_current->owner);
    }
    return context_require_foreign(st, routine);
}

pcu_context *
pcu_context_launch_borrow(pcu_state *st)
{
    if (pcu_ctx_current != NULL && pcu_ctx_current->alive) {
        return (pcu_context *)pcu_ctx_current->owner;
    }
    PyObject *ctx = pcu_context_require(st, "cuLaunchKernel");
    if (ctx == NULL) {
        return NULL;
    }
    /* The stack or an array usually holds the context. The wrapper of another library's
     * context may have no other reference, so the state holds it. */
    Py_XSETREF(st->foreign_context, ctx);
    return (pcu_context *)ctx;
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

/* -- garbage collection -------------------------------------------------------------
 */

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
    pcu_events_forget(&((pcu_context *)op)->rec);
    pcu_suspects_forget(&((pcu_context *)op)->rec);
    context_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

/* -- methods on the stack ---------------------------------------------------------- */

/* Raise in a forked child: it has its parent's stack, but the driver has no contexts.
 */
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
    pcu_ctxstack *stack = pcu_ctxstack_borrow(st, true);
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
             "push($self, /)\n"
             "--\n\n"
             "Push this context on the calling thread's stack and make it current.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the context was detached.\n"
             "\nSee Also\n--------\n"
             "Context.pop : Undo it.\n"
             "Context.detach : End the context.\n"
             "\nNotes\n-----\n"
             "``with ctx:`` pushes the context and pops it at the end of the block.\n"
             "\nExamples\n--------\n"
             ">>> ctx = drv.Device(0).make_context()\n"
             ">>> drv.Context.pop()\n"
             ">>> ctx.push()\n"
             ">>> drv.Context.get_current() == ctx\n"
             "True\n"
             ">>> ctx.detach()");

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
    pcu_ctxstack *stack = pcu_ctxstack_borrow(st, false);
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
    if (rc < 0) {                           /* undo: the context stays on the stack */
        (void)pcu_ctxstack_put(stack, top); /* cannot fail: its place is free */
        pcu_ctxstack_sync_noraise(st, stack);
    }
    pcu_release_late(top);
    Py_DECREF(top);
    return rc;
}

PyDoc_STRVAR(context_pop_doc,
             "pop($type, /)\n"
             "--\n\n"
             "Pop the top of the calling thread's stack.\n\n"
             "The next context of the stack becomes current.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the stack is empty.\n"
             "\nSee Also\n--------\n"
             "Context.push : Make a context current.\n"
             "\nNotes\n-----\n"
             "The context goes on to exist, with its memory and its modules.");

static PyObject *
context_pop(PyObject *type, PyObject *Py_UNUSED(ignored))
{
    if (context_pop_current(pcu_state_of_type((PyTypeObject *)type)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(context_detach_doc,
             "detach($self, /)\n"
             "--\n\n"
             "End this context now, or give up the primary context.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the context was detached before, or if a call that was\n"
             "    interrupted still uses it.\n"
             "\nSee Also\n--------\n"
             "Context.pop : Let the context exist.\n"
             "\nNotes\n-----\n"
             "If the context is current, the next one of the stack becomes current.\n"
             "The objects that were made in it are invalid; to release them later\n"
             "does nothing. A primary context is ended by the last of those that have\n"
             "retained it.\n"
             "\nExamples\n--------\n"
             ">>> ctx = drv.Device(0).make_context()\n"
             ">>> ctx.detach()");

/* The number of times that a context is on a stack. */
static Py_ssize_t
context_count(const pcu_ctxstack *stack, const pcu_context *self)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t i = 0; stack != NULL && i < stack->depth; i++) {
        count += PyList_GET_ITEM(stack->items, i) == (PyObject *)self;
    }
    return count;
}

/* Undo a detach that failed with the pending exception: the context is alive again. A
 * signal handler may have removed it from the stack meanwhile, so push it again. */
static void
context_stay(pcu_context *self, pcu_ctxstack *stack, Py_ssize_t count)
{
    pcu_saved_error pending;
    self->rec.alive = true;
    pcu_error_save(&pending);
    while (context_count(stack, self) < count &&
           pcu_ctxstack_put(stack, (PyObject *)self) == 0) {
    }
    PyErr_Clear(); /* if memory is short, the first error is reported */
    pcu_error_restore(&pending);
    if (stack != NULL) {
        pcu_ctxstack_sync_noraise(self->st, stack);
    }
}

/* End what rooms above keep in a context. Another thread may use or detach the context
 * meanwhile. */
static void
context_end_parts_noraise(pcu_context *self)
{
    for (int part = 0; part < PCU_CONTEXT_PART_COUNT; part++) {
        if (self->rec.alive && self->end_part[part] != NULL) {
            self->end_part[part](self);
        }
    }
}

/* Before anything of a context ends: wait for its work. */
static int
context_wait_first(pcu_context *self)
{
    CUresult status = CUDA_SUCCESS;
    if (context_may_wait(&self->rec)) {
        status = context_wait(&self->rec);
    }
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise_detail(
        self->st, context_ender(&self->rec), status,
        "a kernel still runs in the context, and the driver cannot stop it; if it "
        "never ends, restart Python, or the notebook's kernel");
}

static PyObject *
context_detach(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_context *self = (pcu_context *)op;
    pcu_state *st = self->st;
    const char *routine = "";
    if (self->rec.alive && context_is_interrupted(&self->rec)) {
        pcu_raise_detail(st, context_ender(&self->rec), CUDA_ERROR_NOT_PERMITTED,
                         "the interrupted call uses this context; detach it after the "
                         "call");
        return NULL;
    }
    if (self->rec.alive && context_wait_first(self) < 0) {
        return NULL;
    }
    pcu_ctxstack *stack = pcu_ctxstack_borrow(st, false);
    if (stack == NULL && PyErr_Occurred()) {
        return NULL;
    }
    bool current = pcu_ctx_current == &self->rec;
    if (current && pcu_ctxstack_suspend(st, stack) < 0) {
        pcu_ctxstack_sync_noraise(st, stack);
        return NULL;
    }
    context_end_parts_noraise(self);
    if (!self->rec.alive) {
        pcu_raise_detail(st, "cuCtxDetach", CUDA_ERROR_INVALID_CONTEXT,
                         "this context was detached before");
        return NULL;
    }
    Py_ssize_t count = context_count(stack, self);
    pcu_stream_table_let_go(&self->rec);
    self->rec.alive = false; /* from now on no other thread uses or ends it */
    pcu_device_site_asks(true);
    CUresult status = context_end(&self->rec, &routine);
    pcu_device_site_asks(false);
    if (status != CUDA_SUCCESS && !pcu_status_is_sticky(status)) {
        pcu_raise(st, routine, status);
        context_stay(self, stack, count);
        return NULL;
    }
    context_report_end(self, routine, status);
    pcu_stream_table_forget(&self->rec);
    pcu_release_late(op);
    if (stack != NULL && pcu_ctxstack_uncover(st, stack) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE_OF_ONE(
    context_attach, "flags", pcu_as_uint,
    "attach($type, /, flags=0)\n"
    "--\n\n"
    "Push the context that is current in the driver on this thread's stack.\n"
    "\nParameters\n----------\n"
    "flags : int, optional\n"
    "    Has no effect.\n"
    "\nReturns\n-------\n"
    "Context\n"
    "    The context: the known object, or a new one for a context of\n"
    "    another library, which this package does not end.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    If the driver has no current context in this thread.\n"
    "\nSee Also\n--------\n"
    "Context.from_handle : A context that is not current.")

static PyObject *
context_attach(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
               PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    unsigned int flags = 0;
    CUcontext handle = NULL;
    int rc;
    if (pcu_args_parse(st, &context_attach_signature, args, nargs, kwnames,
                       PCU_ONLY(context_attach, &flags)) < 0) {
        return NULL;
    }
    pcu_ctxstack *stack = pcu_ctxstack_borrow(st, true);
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

PyDoc_STRVAR(context_get_current_doc,
             "get_current($type, /)\n"
             "--\n\n"
             "Return the top of the calling thread's stack.\n"
             "\nReturns\n-------\n"
             "Context or None\n"
             "    The context; None if this thread has pushed none, although it may\n"
             "    work in the context that ``pycuda.autoinit`` lends to such threads.\n"
             "\nSee Also\n--------\n"
             "Context.get_device : The device of the current context.\n"
             "\nExamples\n--------\n"
             ">>> drv.Context.get_current() == pycuda.autoinit.context\n"
             "True");

static PyObject *
context_get_current(PyObject *type, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    if (context_refuse_fork(st, "cuCtxGetCurrent") < 0) {
        return NULL;
    }
    pcu_ctxstack *stack = pcu_ctxstack_borrow(st, false);
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
             "synchronize($type, /)\n"
             "--\n\n"
             "Wait until all work of the current context has finished.\n"
             "\nRaises\n------\n"
             "LaunchError\n"
             "    If a kernel failed.\n"
             "LogicError\n"
             "    If no context is current, or if a kernel used an invalid "
             "address.\n" PCU_DOC_LATE_INDEX
             "\nSee Also\n--------\n"
             "Stream.synchronize : Wait for one stream.\n"
             "Event.synchronize : Wait for a point in a stream.\n"
             "\nNotes\n-----\n"
             "Other threads run meanwhile.\n"
             "\nExamples\n--------\n"
             ">>> x = gpuarray.zeros(4, np.float32) + 1\n"
             ">>> drv.Context.synchronize()");

static PyObject *
context_synchronize(PyObject *type, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    if (pcu_current_context_synchronize(st) < 0) {
        return NULL;
    }
    if (pcu_ctx_current != NULL &&
        pcu_context_check_indices((pcu_context *)pcu_ctx_current->owner) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- functions of the module ------------------------------------------------------- */

PyDoc_STRVAR(context_lend_to_threads_doc,
             "_lend_to_threads($module, context, /)\n--\n\n"
             "Let threads without a context work in this one until it ends.\n\n"
             "With None, threads that have not used a context yet get none.");

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
    "Return the context in which calls of this thread work, or None.\n\n"
    "It is the top of the thread's stack, the context that is lent to threads, or\n"
    "another library's context.");

static PyObject *
context_working_context(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    CUcontext handle = NULL;
    if (context_refuse_fork(st, "cuCtxGetCurrent") < 0) {
        return NULL;
    }
    if ((pcu_ctx_current == NULL || !pcu_ctx_current->alive) &&
        pcu_current_context_settle(st) < 0) {
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

PyDoc_STRVAR(context_untold_contexts_doc,
             "_untold_contexts($module, /)\n--\n\n"
             "Return the contexts that work, or whose loss no exception has reported.");

static PyObject *
context_untold_contexts(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    (void)m;
    PyObject *found = PyList_New(0);
    const pcu_context_record *rec = pcu_context_record_first();
    for (; found != NULL && rec != NULL; rec = rec->next) {
        if (rec->alive && pcu_context_record_usable(rec) && !rec->told &&
            PyList_Append(found, rec->owner) < 0) {
            Py_CLEAR(found);
        }
    }
    return found;
}

PyDoc_STRVAR(context_recover_contexts_doc,
             "_recover_contexts($module, /)\n--\n\n"
             "Let the contexts of the software device that are lost work again.\n\n"
             "Return whether no context is lost now.");

static PyObject *
context_recover_contexts(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    (void)m;
    bool all = true;
    pcu_context_record *rec = pcu_context_record_first();
    for (; rec != NULL; rec = rec->next) {
        if (!rec->told && rec->lost == NULL) {
            continue;
        }
        if (pcu_drv_info.device == NULL) {
            all = false;
        }
        else if (pcu_context_record_usable(rec)) {
            pcu_drv_info.device->recover(rec->handle);
            pcu_suspects_forget(rec); /* launches are plain data: no code runs */
        }
    }
    return PyBool_FromLong(all);
}

#define CONTEXT_LOOK_NS UINT64_C(50000000)

PyDoc_STRVAR(context_facts_doc,
             "_context_facts($module, context, /)\n--\n\n"
             "Return what pycuda.tools.recover_context needs.\n\n"
             "It is a tuple: the number of the device; 'own', 'primary' or 'foreign';\n"
             "the flags with which the context was made; whether work goes on for\n"
             "which a wait was ended; the living objects of the same context.");

static PyObject *
context_facts(PyObject *m, PyObject *ctx)
{
    static const char *const kinds[] = {[PCU_CTX_OWNED] = "own",
                                        [PCU_CTX_PRIMARY] = "primary",
                                        [PCU_CTX_FOREIGN] = "foreign"};
    pcu_state *st = pcu_state_of_module(m);
    PyObject *context = NULL;
    if (pcu_as_context(st, ctx, &context, "context") < 0) {
        return NULL;
    }
    pcu_context *self = (pcu_context *)context;
    PyObject *found = PyList_New(0);
    const pcu_context_record *rec = pcu_context_record_first();
    for (; found != NULL && rec != NULL; rec = rec->next) {
        if (rec->alive && rec->handle == self->rec.handle &&
            PyList_Append(found, rec->owner) < 0) {
            Py_CLEAR(found);
        }
    }
    if (found == NULL) {
        return NULL;
    }
    return Py_BuildValue("(isIiN)", self->rec.device, kinds[self->rec.kind],
                         self->flags, pcu_context_works(&self->rec, CONTEXT_LOOK_NS),
                         found);
}

PyDoc_STRVAR(context_reset_primary_doc,
             "_reset_primary_context($module, device, /)\n--\n\n"
             "End the primary context of the device with this number.");

static PyObject *
context_reset_primary(PyObject *m, PyObject *number)
{
    pcu_state *st = pcu_state_of_module(m);
    CUdevice device = 0;
    int rc;
    if (pcu_as_int(st, number, &device, "device") < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, DevicePrimaryCtxReset, (device));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef context_functions[] = {
    {"_context_facts", context_facts, METH_O, context_facts_doc},
    {"_reset_primary_context", context_reset_primary, METH_O,
     context_reset_primary_doc},
    {"_lend_to_threads", context_lend_to_threads, METH_O, context_lend_to_threads_doc},
    {"_working_context", context_working_context, METH_NOARGS,
     context_working_context_doc},
    {"_untold_contexts", context_untold_contexts, METH_NOARGS,
     context_untold_contexts_doc},
    {"_recover_contexts", context_recover_contexts, METH_NOARGS,
     context_recover_contexts_doc},
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
        Py_RETURN_NONE; /* detach() in the block removed it from the stack */
    }
    if (pcu_ctx_current != &self->rec) {
        pcu_raise_detail(
            self->st, "cuCtxPopCurrent", CUDA_ERROR_INVALID_CONTEXT,
            "the with block did not pop every context that it pushed, or popped "
            "more: its own context is not current at its end");
        return NULL;
    }
    if (context_pop_current(self->st) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- the type ---------------------------------------------------------------------- */

static PyObject *
context_richcompare(PyObject *a, PyObject *b, int op)
{
    pcu_state *st = ((pcu_context *)a)->st;
    if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(b, st->Context)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    bool same = ((pcu_context *)a)->rec.handle == ((pcu_context *)b)->rec.handle;
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

PyDoc_STRVAR(context_doc,
             "A CUDA context: the owner of allocations, streams, events and modules.\n"
             "\nSee Also\n--------\n"
             "Device.make_context : Make a context.\n"
             "Device.retain_primary_context : Share the one of other libraries.\n"
             "\nNotes\n-----\n"
             "Each thread has a stack of contexts, whose top is current: calls\n"
             "without a context work in it. ``with ctx:`` pushes and pops. Two\n"
             "objects are equal if their handles are equal.\n"
             "\nExamples\n--------\n"
             ">>> ctx = drv.Device(0).retain_primary_context()\n"
             ">>> with ctx:\n"
             "...     x = drv.mem_alloc(1024)\n"
             ">>> del x\n"
             ">>> ctx.detach()");

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
