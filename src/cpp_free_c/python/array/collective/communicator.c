/* The type Communicator: making it, ending it, and asking for errors.
 *
 * Invariant: see communicator.h. Python is the only caller. */

#include "python/array/collective/communicator.h"

#include "python/array/collective/group.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/support/args.h"
#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"

/* -- the list of a context --------------------------------------------------------- */

static void
communicator_unlink(pcu_communicator *self)
{
    if (self->place == NULL) {
        return;
    }
    *self->place = self->next;
    if (self->next != NULL) {
        self->next->place = self->place;
    }
    self->place = NULL;
    self->next = NULL;
}

/* -- the turn of a thread ---------------------------------------------------------- */

static void
communicator_wait(pcu_communicator *self)
{
    self->waiting++;
    if (!PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) {
        PyThreadState *thread = pcu_unlock();
        PyThread_acquire_lock(self->lock, WAIT_LOCK);
        pcu_lock(thread);
    }
}

void
pcu_communicator_leave(pcu_communicator *self)
{
    PyThread_release_lock(self->lock);
    self->waiting--;
}

int
pcu_communicator_enter(pcu_communicator *self, const char *routine)
{
    if (self->lock != NULL) {
        communicator_wait(self);
        if (self->handle != NULL &&
            pcu_context_record_usable(pcu_context_rec(self->ctx))) {
            return 0;
        }
        pcu_communicator_leave(self);
    }
    const char *reason = "its context has ended";
    if (self->ctx == NULL) {
        reason = "its __init__ has not made it";
    }
    else if (pcu_context_record_usable(pcu_context_rec(self->ctx))) {
        reason = "it was closed";
    }
    PyErr_Format(self->st->exc_LogicError, "%s: this Communicator cannot be used: %s",
                 routine, reason);
    return -1;
}

/* -- the end ----------------------------------------------------------------------- */

/* Take the handle out of the object and end it with Destroy or Abort, in its context.
 * Returns a status of NCCL. */
static int
communicator_end(pcu_communicator *self, int (*end)(pcu_nccl_handle handle))
{
    pcu_scope scope;
    int status = PCU_NCCL_SUCCESS;
    pcu_nccl_handle handle = self->handle;
    pcu_context_record *rec = pcu_context_rec(self->ctx);
    self->handle = NULL;
    communicator_unlink(self);
    if (handle != NULL && pcu_context_record_usable(rec) &&
        pcu_scope_enter(&scope, rec) == CUDA_SUCCESS) {
        PyThreadState *thread = pcu_unlock(); /* waits for the device */
        status = end(handle);
        pcu_lock(thread);
        (void)pcu_scope_leave(&scope);
    }
    return status;
}

/* End all communicators of a context that ends. Work that has not finished is lost with
 * the context. */
static void
communicator_end_all_noraise(pcu_context *ctx)
{
    while (ctx->communicators != NULL) {
        pcu_communicator *self = (pcu_communicator *)Py_NewRef(ctx->communicators);
        communicator_wait(self);
        (void)communicator_end(self, pcu_nccl.CommAbort);
        pcu_communicator_leave(self);
        Py_DECREF(self);
    }
}

static PyObject *
communicator_end_by_request(PyObject *op, const char *routine,
                            int (*end)(pcu_nccl_handle handle))
{
    pcu_communicator *self = (pcu_communicator *)op;
    if (self->lock == NULL) {
        Py_RETURN_NONE;
    }
    if (pcu_group_is_open()) {
        PyErr_Format(self->st->exc_LogicError,
                     "%s: a communicator cannot end inside `with group()`", routine);
        return NULL;
    }
    communicator_wait(self);
    int status = communicator_end(self, end);
    pcu_communicator_leave(self);
    if (status != PCU_NCCL_SUCCESS) {
        pcu_nccl_raise(self->st, routine, status);
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(communicator_close_doc,
             "close($self, /)\n"
             "--\n\n"
             "Finish the enqueued exchanges and end the communicator.\n"
             "\nNotes\n-----\n"
             "All processes of the communicator call it. It waits for the\n"
             "exchanges. Later calls do nothing.");

static PyObject *
communicator_close(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return communicator_end_by_request(op, "ncclCommDestroy", pcu_nccl.CommDestroy);
}

PyDoc_STRVAR(communicator_abort_doc,
             "abort($self, /)\n"
             "--\n\n"
             "End the communicator at once.\n"
             "\nNotes\n-----\n"
             "Exchanges that have not finished are stopped, and their results\n"
             "are undefined.");

static PyObject *
communicator_abort(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return communicator_end_by_request(op, "ncclCommAbort", pcu_nccl.CommAbort);
}

static void
communicator_dealloc(PyObject *op)
{
    pcu_communicator *self = (pcu_communicator *)op;
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    if (self->handle != NULL) {
        PyObject *error_type, *error, *trace;
        PyErr_Fetch(&error_type, &error, &trace);
        (void)communicator_end(self, pcu_nccl.CommAbort);
        PyErr_Restore(error_type, error, trace);
    }
    communicator_unlink(self);
    if (self->lock != NULL) {
        PyThread_free_lock(self->lock);
    }
    Py_CLEAR(self->dict);
    Py_CLEAR(self->ctx);
    type->tp_free(op);
    Py_DECREF(type);
}

static int
communicator_traverse(PyObject *op, visitproc visit, void *arg)
{
    pcu_communicator *self = (pcu_communicator *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->dict);
    Py_VISIT(self->ctx);
    return 0;
}

static int
communicator_clear(PyObject *op)
{
    Py_CLEAR(((pcu_communicator *)op)->dict);
    return 0;
}

/* -- making one -------------------------------------------------------------------- */

typedef struct {
    int size;
    PyObject *id; /* borrowed */
    int rank;
} communicator_args;

static PyObject *
communicator_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
                 PyObject *Py_UNUSED(kwargs))
{
    PyObject *op = type->tp_alloc(type, 0);
    if (op != NULL) {
        ((pcu_communicator *)op)->st = pcu_state_of_type(type);
    }
    return op;
}

static int
communicator_check_args(pcu_state *st, const communicator_args *a)
{
    if (a->size < 1 || a->rank < 0 || a->rank >= a->size) {
        PyErr_Format(PyExc_ValueError,
                     "Communicator: rank %d of %d processes: size must be at least 1 "
                     "and rank from 0 to size - 1",
                     a->rank, a->size);
        return -1;
    }
    if (!PyBytes_Check(a->id) ||
        PyBytes_GET_SIZE(a->id) != (Py_ssize_t)sizeof(pcu_nccl_id)) {
        PyErr_Format(PyExc_TypeError,
                     "Communicator: unique_id must be the %zu bytes that "
                     "pycuda.nccl.unique_id() returned in one of the processes",
                     sizeof(pcu_nccl_id));
        return -1;
    }
    (void)st;
    return 0;
}

/* NCCL works in the primary context of a device, where the runtime API works too. */
static int
communicator_require_primary(pcu_state *st, const pcu_context_record *rec)
{
    CUcontext primary = NULL;
    int rc;
    if (rec->kind == PCU_CTX_PRIMARY) {
        return 0;
    }
    PCU_CALL(rc, st, DevicePrimaryCtxRetain, (&primary, rec->device));
    if (rc < 0) {
        return -1;
    }
    PCU_CALL(rc, st, DevicePrimaryCtxRelease, (rec->device));
    if (rc < 0 || primary == rec->handle) {
        return rc;
    }
    PyErr_SetString(st->exc_LogicError,
                    "Communicator: NCCL works in the primary context of a device, and "
                    "another context is current: use pycuda.autoprimaryctx, or "
                    "device.retain_primary_context() and push()");
    return -1;
}

/* Make the handle. Other processes must do so at the same time. */
static int
communicator_connect(pcu_communicator *self, pcu_context *ctx,
                     const communicator_args *a)
{
    pcu_nccl_id id;
    pcu_nccl_handle handle = NULL;
    memcpy(&id, PyBytes_AS_STRING(a->id), sizeof(id));
    if (pcu_current_context_ready(self->st) < 0) {
        return -1;
    }
    PyThreadState *thread = pcu_unlock(); /* waits for the other processes */
    int status = pcu_nccl.CommInitRank(&handle, a->size, id, a->rank);
    pcu_lock(thread);
    if (status != PCU_NCCL_SUCCESS) {
        return pcu_nccl_raise(self->st, "ncclCommInitRank", status);
    }
    if (self->ctx != NULL || !ctx->rec.alive) { /* other code has run meanwhile */
        (void)pcu_nccl.CommAbort(handle);
        PyErr_SetString(self->st->exc_LogicError,
                        "Communicator: its context ended, or its __init__ ran again, "
                        "while it was made");
        return -1;
    }
    self->handle = handle;
    self->size = a->size;
    self->rank = a->rank;
    self->ctx = Py_NewRef((PyObject *)ctx);
    self->next = ctx->communicators;
    if (self->next != NULL) {
        self->next->place = &self->next;
    }
    self->place = &ctx->communicators;
    ctx->communicators = self;
    ctx->end_part[PCU_CONTEXT_COMMUNICATORS] = communicator_end_all_noraise;
    return 0;
}

static const pcu_word communicator_words[] = {
    PCU_WORD("size", pcu_as_int, communicator_args, size),
    PCU_WORD("unique_id", pcu_as_object, communicator_args, id),
    PCU_WORD("rank", pcu_as_int, communicator_args, rank),
};

PCU_SIGNATURE(
    communicator, communicator_words,
    "Communicator(size, unique_id, rank)\n"
    "--\n\n"
    "Processes, or contexts of one process, that exchange arrays through NCCL.\n\n"
    "Each of them makes a Communicator with the same ``unique_id`` and\n"
    "its own rank, in the primary context of its own device, at the\n"
    "same time.\n"
    "\nParameters\n----------\n"
    "size : int\n"
    "    Number of processes.\n"
    "unique_id : bytes\n"
    "    What ``unique_id`` has returned in one of them.\n"
    "rank : int\n"
    "    Number of this process, from 0.\n"
    "\nRaises\n------\n"
    "RuntimeError\n"
    "    If the library is missing or refuses the call.\n"
    "TypeError\n"
    "    If ``unique_id`` is not such bytes.\n"
    "ValueError\n"
    "    If ``size`` or ``rank`` is out of range.\n"
    "\nSee Also\n--------\n"
    "communicator_of : From a communicator of mpi4py.\n"
    "communicators : For several devices of one process.\n"
    "\nNotes\n-----\n"
    "The exchanges are enqueued in a stream. All processes must enqueue\n"
    "the same exchanges in the same order.")

static int
communicator_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_communicator *self = (pcu_communicator *)op;
    communicator_args a = {0};
    if (pcu_args_parse_tuple(self->st, &communicator_signature, args, kwargs, &a) < 0 ||
        communicator_check_args(self->st, &a) < 0 || pcu_nccl_require(self->st) < 0) {
        return -1;
    }
    if (self->ctx != NULL || pcu_group_is_open()) {
        PyErr_SetString(self->st->exc_LogicError,
                        "Communicator: make each one once, and outside of "
                        "`with group()`");
        return -1;
    }
    if (self->lock == NULL && (self->lock = PyThread_allocate_lock()) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    PyObject *ctx = pcu_context_require(self->st, "ncclCommInitRank");
    if (ctx == NULL) {
        return -1;
    }
    int rc = communicator_require_primary(self->st, pcu_context_rec(ctx));
    if (rc == 0) {
        rc = communicator_connect(self, (pcu_context *)ctx, &a);
    }
    Py_DECREF(ctx);
    return rc;
}

/* -- attributes and errors --------------------------------------------------------- */

PyDoc_STRVAR(communicator_check_doc,
             "check($self, /)\n"
             "--\n\n"
             "Raise an error if an exchange has failed since it was enqueued.\n"
             "\nRaises\n------\n"
             "RuntimeError\n"
             "    If an exchange has failed: then call ``abort``.\n"
             "\nNotes\n-----\n"
             "The call does not wait.");

static PyObject *
communicator_check(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_communicator *self = (pcu_communicator *)op;
    int status = PCU_NCCL_SUCCESS;
    if (pcu_communicator_enter(self, "ncclCommGetAsyncError") < 0) {
        return NULL;
    }
    int called = pcu_nccl.CommGetAsyncError(self->handle, &status);
    pcu_communicator_leave(self);
    if (called != PCU_NCCL_SUCCESS) {
        status = called;
    }
    if (status != PCU_NCCL_SUCCESS && status != PCU_NCCL_IN_PROGRESS) {
        pcu_nccl_raise(self->st, "an exchange of the Communicator", status);
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
communicator_is_closed(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_communicator *self = (pcu_communicator *)op;
    bool open =
        self->handle != NULL && pcu_context_record_usable(pcu_context_rec(self->ctx));
    return PyBool_FromLong(!open);
}

static PyObject *
communicator_context(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_communicator *self = (pcu_communicator *)op;
    if (self->ctx == NULL) {
        Py_RETURN_NONE;
    }
    return Py_NewRef(self->ctx);
}

static PyObject *
communicator_enter_block(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return Py_NewRef(op);
}

/* After an exception the other processes may never reach their exchanges, so nothing is
 * waited for. */
static PyObject *
communicator_exit_block(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs == 0 || args[0] == Py_None) {
        return communicator_close(op, NULL);
    }
    return communicator_abort(op, NULL);
}

PyDoc_STRVAR(communicator_enter_doc, "__enter__($self, /)\n--\n\nReturn the object.");
PyDoc_STRVAR(communicator_exit_doc,
             "__exit__($self, /, *args)\n--\n\nClose the communicator; after an "
             "exception, abort it.");

static PyMethodDef communicator_methods[] = {
    {"close", communicator_close, METH_NOARGS, communicator_close_doc},
    {"abort", communicator_abort, METH_NOARGS, communicator_abort_doc},
    {"check", communicator_check, METH_NOARGS, communicator_check_doc},
    {"__enter__", communicator_enter_block, METH_NOARGS, communicator_enter_doc},
    {"__exit__", (PyCFunction)(void (*)(void))communicator_exit_block, METH_FASTCALL,
     communicator_exit_doc},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef communicator_members[] = {
    {"size", Py_T_INT, offsetof(pcu_communicator, size), Py_READONLY,
     "the number of processes"},
    {"rank", Py_T_INT, offsetof(pcu_communicator, rank), Py_READONLY,
     "the number of this process, from 0"},
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_communicator, dict), Py_READONLY,
     NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_communicator, weakrefs),
     Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef communicator_getset[] = {
    {"closed", communicator_is_closed, NULL, "whether the communicator has ended",
     NULL},
    {"context", communicator_context, NULL, "the context in which it works", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot communicator_slots[] = {
    {Py_tp_doc, (void *)communicator_doc}, {Py_tp_new, communicator_new},
    {Py_tp_init, communicator_init},       {Py_tp_traverse, communicator_traverse},
    {Py_tp_clear, communicator_clear},     {Py_tp_dealloc, communicator_dealloc},
    {Py_tp_members, communicator_members}, {Py_tp_getset, communicator_getset},
    {Py_tp_methods, communicator_methods}, {0, NULL},
};

static PyType_Spec communicator_spec = {
    "pycuda.nccl.Communicator", sizeof(pcu_communicator), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, communicator_slots};

int
pcu_communicator_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_private_type(m, &st->Communicator, &communicator_spec,
                             "_Communicator") < 0) {
        return -1;
    }
    return pcu_add_methods(st->Communicator, pcu_communicator_operations);
}
