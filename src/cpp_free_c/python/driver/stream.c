/* The type Stream: an ordered queue of work in a context. Also the current stream of a
 * thread, and the order between streams.
 *
 * `with stream:` makes a stream current for work of the thread that names no stream.
 * The thread's context stack lists the streams that the thread has entered, the
 * innermost last. pcu_stream_top is the innermost one, so a launch outside such blocks
 * costs one load. A stream is current only while its context is: in another context,
 * the next outer stream of that context is current, else the default stream.
 *
 * The usual case of pcu_stream_current is inline in stream.h. The method capture() is
 * in graph/stream_capture.c, add_callback() in host_function.c, writes and waits of
 * values are in memory/stream_memory.c.
 *
 * Invariant: a stream of another library is wrapped with `foreign` set and is never
 * destroyed by this package. Callers: Python, and see stream.h. */
#include "python/driver/stream.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/launched.h"
#include "python/driver/graph_resources.h"

typedef struct {
    pcu_resource head;
    PyObject *owner; /* keeps a foreign stream alive; never in tp_clear */
    bool foreign;    /* another library destroys the handle */
} stream;

enum { STREAM_NON_BLOCKING = 1 }; /* stream_flags.NON_BLOCKING */

/* -- the table of the context's streams (driver/stream_use.h) -----------------------
 */

static void
stream_drop_owner(void *owner)
{
    pcu_saved_error pending;
    pcu_error_save(&pending);
    Py_DECREF((PyObject *)owner);
    pcu_error_restore(&pending);
}

static void
stream_report(void *context, const char *routine, uintptr_t handle, CUresult status)
{
    pcu_report_cleanup(((pcu_context *)context)->st, routine, handle, status);
}

/* Whether the stream is ordered with the default stream. If the driver does not say, it
 * may be a non-blocking one. */
static unsigned int
stream_facts(CUstream handle)
{
    unsigned int flags = 0;
    if (drv.StreamGetFlags(handle, &flags) == CUDA_SUCCESS &&
        (flags & STREAM_NON_BLOCKING) == 0) {
        return PCU_STREAM_BLOCKING;
    }
    return 0;
}

/* Add a stream to the table of its context. owner, if any, is kept alive while the
 * stream is in the table. */
static int
stream_follow(pcu_state *st, pcu_context_record *rec, CUstream handle,
              unsigned int facts, PyObject *owner)
{
    if (!pcu_stream_table_add(rec, handle, facts, Py_XNewRef(owner))) {
        Py_XDECREF(owner);
        PyErr_NoMemory();
        return -1;
    }
    const char *routine = "";
    pcu_scope scope;
    CUresult status = pcu_scope_enter(&scope, rec);
    if (status != CUDA_SUCCESS) {
        return pcu_raise(st, scope.routine, status);
    }
    status = pcu_stream_table_order_new(rec, handle, &routine);
    CUresult left = pcu_scope_leave(&scope);
    if (status == CUDA_SUCCESS && left != CUDA_SUCCESS) {
        routine = "cuCtxPopCurrent";
        status = left;
    }
    if (status == CUDA_ERROR_NOT_PERMITTED) {
        return pcu_raise_detail(
            st, routine, status,
            "memory of a pool orders this stream behind the work of a stream that is "
            "being captured; make or use this stream before the capture");
    }
    if (status != CUDA_SUCCESS) {
        return pcu_raise(st, routine, status);
    }
    return 0;
}

/* The same for a stream that an object of another library names. */
static int
stream_follow_foreign(pcu_state *st, CUstream handle, PyObject *owner)
{
    pcu_context_record *rec = pcu_ctx_current;
    CUcontext context = NULL;
    if ((uintptr_t)handle <= (uintptr_t)CU_STREAM_LEGACY) {
        return 0;
    }
    if (drv.StreamGetCtx(handle, &context) == CUDA_SUCCESS &&
        (rec == NULL || rec->handle != context)) {
        rec = pcu_context_record_find(context);
    }
    if (rec == NULL) {
        return 0; /* the call that uses the stream reports what is wrong */
    }
    return stream_follow(st, rec, handle, stream_facts(handle), owner);
}

/* Read the result of __cuda_stream__: the version, which must be 0, and the handle. */
static int
stream_parse_protocol(PyObject *pair, CUstream *out, const char *name)
{
    unsigned long long version = 0;
    unsigned long long bits = 0;
    PyObject *items = PySequence_Tuple(pair);
    int rc = -1;
    if (items == NULL) {
        return -1;
    }
    if (PyTuple_GET_SIZE(items) != 2) {
        PyErr_Format(PyExc_TypeError,
                     "%s.__cuda_stream__ must give (version, handle), not %zd values",
                     name, PyTuple_GET_SIZE(items));
    }
    else if (pcu_as_integer(PyTuple_GET_ITEM(items, 0), 0, UINT64_MAX, &version,
                            "the version of __cuda_stream__") == 0 &&
             pcu_as_integer(PyTuple_GET_ITEM(items, 1), 0, UINT64_MAX, &bits,
                            "the handle of __cuda_stream__") == 0) {
        if (version != 0) {
            PyErr_Format(PyExc_TypeError,
                         "%s.__cuda_stream__ has version %llu; only version 0 is "
                         "supported",
                         name, version);
        }
        else {
            *out = (CUstream)(uintptr_t)bits;
            rc = 0;
        }
    }
    Py_DECREF(items);
    return rc;
}

/* Read the handle of another library's stream from its __cuda_stream__. Return 1, or 0
 * if the object does not have that attribute. */
static int
stream_from_protocol(pcu_state *st, PyObject *value, CUstream *out, const char *name)
{
    PyObject *protocol = pcu_attribute_new(value, st->str___cuda_stream__);
    if (protocol == NULL) {
        if (PyErr_Occurred()) {
            return -1;
        }
        return 0;
    }
    PyObject *pair = NULL;
    if (PyCallable_Check(protocol)) {
        pair = PyObject_CallNoArgs(protocol);
    }
    else {
        pair = Py_NewRef(protocol);
    }
    Py_DECREF(protocol);
    int rc = -1;
    if (pair != NULL) {
        rc = stream_parse_protocol(pair, out, name);
    }
    Py_XDECREF(pair);
    if (rc < 0) {
        return -1;
    }
    return 1;
}

int
pcu_as_stream(pcu_state *st, PyObject *value, void *out, const char *name)
{
    CUstream *handle = (CUstream *)out;
    if (value != Py_None && PyObject_TypeCheck(value, st->Stream)) {
        *handle = ((pcu_resource *)value)->handle.stream;
        pcu_stream_note(*handle);
        return pcu_resource_check((pcu_resource *)value, "cuStreamQuery");
    }
    if (value == Py_None) {
        *handle = pcu_stream_current();
        return 0;
    }
    int found = stream_from_protocol(st, value, handle, name);
    if (found == 0) {
        PyErr_Format(PyExc_TypeError,
                     "%s must be a Stream or None, not %s, which has no "
                     "__cuda_stream__",
                     name, Py_TYPE(value)->tp_name);
    }
    if (found <= 0 || stream_follow_foreign(st, *handle, value) < 0) {
        return -1;
    }
    pcu_stream_note(*handle);
    return 0;
}

/* -- the current stream ------------------------------------------------------------ */

pcu_resource *
pcu_stream_find_borrow(void)
{
    CUcontext current = NULL;
    if (pcu_stream_top == NULL) {
        return NULL;
    }
    if (pcu_ctx_current == NULL) { /* a lent context may become current now */
        pcu_saved_error pending;
        pcu_error_save(&pending);
        if (pcu_current_context_settle(pcu_stream_top->st) < 0) {
            PyErr_Clear(); /* the call that uses the stream reports the error */
        }
        pcu_error_restore(&pending);
    }
    if (pcu_ctx_current != NULL) {
        current = pcu_ctx_current->handle;
    }
    else if (drv.CtxGetCurrent(&current) != CUDA_SUCCESS) {
        return NULL;
    }
    pcu_ctxstack *stack = pcu_ctxstack_borrow(pcu_stream_top->st, false);
    Py_ssize_t n = 0;
    if (!(stack == NULL || stack->streams == NULL)) {
        n = PyList_GET_SIZE(stack->streams);
    }
    while (n-- > 0) {
        pcu_resource *self = (pcu_resource *)PyList_GET_ITEM(stack->streams, n);
        const pcu_context_record *rec = pcu_context_rec(self->ctx);
        if (rec->handle == current && pcu_context_record_lives(rec)) {
            return self;
        }
    }
    return NULL;
}

CUstream
pcu_stream_find_handle(void)
{
    pcu_resource *self = pcu_stream_find_borrow();
    if (self == NULL) {
        return NULL;
    }
    return self->handle.stream;
}

PyDoc_STRVAR(stream_enter_doc,
             "__enter__($self, /)\n--\n\n"
             "Make this the current stream, for work that names no stream.");

static PyObject *
stream_enter(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    if (pcu_resource_check(self, "with stream") < 0) {
        return NULL;
    }
    pcu_ctxstack *stack = pcu_ctxstack_borrow(self->st, true);
    if (stack == NULL) {
        return NULL;
    }
    if (stack->streams == NULL) {
        stack->streams = PyList_New(0);
    }
    if (stack->streams == NULL || PyList_Append(stack->streams, op) < 0) {
        return NULL;
    }
    pcu_stream_top = self;
    return Py_NewRef(op);
}

PyDoc_STRVAR(stream_exit_doc,
             "__exit__($self, /, *exc_info)\n--\n\n"
             "Make the stream current that was current before the with block.");

/* With generators, blocks may end in another order than they began: remove the last
 * entry of this stream, at any position. */
static PyObject *
stream_exit(PyObject *op, PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(nargs))
{
    pcu_resource *self = (pcu_resource *)op;
    pcu_ctxstack *stack = pcu_ctxstack_borrow(self->st, false);
    PyObject *streams = stack == NULL ? NULL : stack->streams;
    Py_ssize_t n = 0;
    if (streams != NULL) {
        n = PyList_GET_SIZE(streams);
    }
    Py_ssize_t i = n - 1;
    if (PyErr_Occurred()) {
        return NULL;
    }
    while (i >= 0 && PyList_GET_ITEM(streams, i) != op) {
        i--;
    }
    if (i < 0) {
        pcu_raise_detail(self->st, "with stream", CUDA_ERROR_INVALID_VALUE,
                         "this thread did not enter this stream");
        return NULL;
    }
    if (PyList_SetSlice(streams, i, i + 1, NULL) < 0) {
        return NULL;
    }
    pcu_stream_top = NULL;
    if (n != 1) {
        pcu_stream_top = (pcu_resource *)PyList_GET_ITEM(streams, n - 2);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(stream_get_current_doc,
             "get_current($type, /)\n"
             "--\n\n"
             "Return the current stream.\n"
             "\nReturns\n-------\n"
             "Stream or None\n"
             "    The stream of the innermost ``with`` block whose stream belongs to\n"
             "    the current context. None is the default stream.\n"
             "\nSee Also\n--------\n"
             "Stream : A ``with`` block makes a stream current.\n"
             "\nExamples\n--------\n"
             ">>> with drv.Stream() as stream:\n"
             "...     drv.Stream.get_current() is stream\n"
             "True");

static PyObject *
stream_get_current(PyObject *Py_UNUSED(type), PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = pcu_stream_find_borrow();
    if (self == NULL) {
        Py_RETURN_NONE;
    }
    return Py_NewRef((PyObject *)self);
}

/* -- other libraries' streams ------------------------------------------------------ */

PyDoc_STRVAR(stream_cuda_stream_doc,
             "__cuda_stream__($self, /)\n--\n\n"
             "Return (0, handle), by which other libraries accept this stream.");

static PyObject *
stream_cuda_stream(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    if (pcu_resource_check(self, "__cuda_stream__") < 0) {
        return NULL;
    }
    return Py_BuildValue("(iN)", 0, PyLong_FromVoidPtr(self->handle.stream));
}

/* The context of a stream. Default streams have no context of their own, and old
 * drivers cannot report it: then it is the current context. */
static PyObject *
stream_context_new(pcu_state *st, CUstream handle)
{
    CUcontext ctx = NULL;
    if ((uintptr_t)handle > (uintptr_t)CU_STREAM_PER_THREAD) {
        CUresult status = drv.StreamGetCtx(handle, &ctx);
        if (status == CUDA_SUCCESS) {
            return pcu_context_find_new(st, ctx);
        }
        /* a stream of a green context has no other context than the current one */
        if (status != CUDA_ERROR_NOT_FOUND && status != CUDA_ERROR_NOT_SUPPORTED) {
            pcu_raise(st, "cuStreamGetCtx", status);
            return NULL;
        }
    }
    return pcu_context_require(st, "Stream.from_handle");
}

typedef struct {
    PyObject *handle;
    PyObject *owner;
} stream_foreign_args;

static const pcu_word stream_foreign_words[] = {
    PCU_WORD("handle", pcu_as_object, stream_foreign_args, handle),
    PCU_WORD("owner", pcu_as_object, stream_foreign_args, owner),
};

PCU_SIGNATURE(
    stream_from_handle, stream_foreign_words,
    "from_handle($type, /, handle, owner=None)\n"
    "--\n\n"
    "Wrap a stream of another library, which also destroys it.\n"
    "\nParameters\n----------\n"
    "handle : int or object\n"
    "    A CUstream, or an object with ``__cuda_stream__``. 0 and 1 are the\n"
    "    default stream, 2 is the default stream of the thread.\n" PCU_DOC_OWNER
    "\nReturns\n-------\n"
    "Stream\n"
    "    A new object that belongs to the context of the stream; default\n"
    "    streams belong to the current context.\n"
    "\nRaises\n------\n"
    "TypeError\n"
    "    If ``handle`` is no stream.\n" PCU_DOC_NO_CONTEXT
    "\nSee Also\n--------\n"
    "Event.from_handle : The same for events.\n"
    "\nNotes\n-----\n"
    "The driver does not check an int: a wrong one may end the process.\n"
    "\nExamples\n--------\n"
    ">>> stream = drv.Stream()\n"
    ">>> same = drv.Stream.from_handle(stream.handle, owner=stream)\n"
    ">>> same.synchronize()")

static PyObject *
stream_from_handle(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    stream_foreign_args a = {0};
    unsigned long long bits = 0;
    CUstream handle = NULL;
    if (st == NULL || pcu_args_parse(st, &stream_from_handle_signature, args, nargs,
                                     kwnames, &a) < 0) {
        return NULL;
    }
    if (!PyIndex_Check(a.handle)) {
        int found = stream_from_protocol(st, a.handle, &handle, "handle");
        if (found == 0) {
            PyErr_Format(PyExc_TypeError,
                         "handle must be an int or an object with __cuda_stream__, not "
                         "%s",
                         Py_TYPE(a.handle)->tp_name);
        }
        if (found <= 0) {
            return NULL;
        }
        if (a.owner == NULL || a.owner == Py_None) {
            a.owner = a.handle;
        }
    }
    else {
        if (pcu_as_integer(a.handle, 0, UINT64_MAX, &bits, "handle") < 0) {
            return NULL;
        }
        handle = (CUstream)(uintptr_t)bits;
    }
    PyObject *ctx = stream_context_new(st, handle);
    if (ctx == NULL) {
        return NULL;
    }
    stream *self = (stream *)((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
    if (self == NULL) {
        Py_DECREF(ctx);
        return NULL;
    }
    self->head.st = st;
    self->head.ctx = ctx;
    self->head.kind = PCU_HANDLE_stream;
    self->head.handle.stream = handle;
    self->head.live = true;
    self->foreign = true;
    self->owner = Py_XNewRef(a.owner);
    if ((uintptr_t)handle > (uintptr_t)CU_STREAM_LEGACY &&
        stream_follow(st, &((pcu_context *)ctx)->rec, handle, stream_facts(handle),
                      NULL) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* -- the object -------------------------------------------------------------------- */

typedef struct {
    unsigned int flags;
    int priority;
} stream_args;

static const pcu_word stream_words[] = {
    PCU_WORD("flags", pcu_as_uint, stream_args, flags),
    PCU_WORD("priority", pcu_as_int, stream_args, priority),
};

PCU_SIGNATURE(
    stream, stream_words,
    "Stream(flags=0, priority=0)\n"
    "--\n\n"
    "A queue of work on the device of the current context.\n"
    "\nParameters\n----------\n"
    "flags : int, optional\n"
    "    Or-ed ``stream_flags``. With the default, 0, the default stream and\n"
    "    this one wait for each other.\n"
    "priority : int, optional\n"
    "    Priority of the work; a lower number is a higher priority. The\n"
    "    driver clips it to the range of\n"
    "    ``Context.get_stream_priority_range``. The default is 0.\n"
    "\nRaises\n------\n" PCU_DOC_NO_CONTEXT
    "\nSee Also\n--------\n"
    "Stream.synchronize : Wait for the work.\n"
    "Stream.capture : Record the work as a graph.\n"
    "Event : A point in the work.\n"
    "\nNotes\n-----\n"
    "Work of one stream runs in order; different streams run concurrently.\n"
    "In a ``with`` block the stream is used by all work that names no\n"
    "stream.\n"
    "\nExamples\n--------\n"
    ">>> with drv.Stream() as stream:\n"
    "...     x = gpuarray.zeros(3, np.float32) + 1\n"
    ">>> stream.synchronize()\n"
    ">>> x\n"
    "array([1., 1., 1.], dtype=float32)")

static int
stream_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    stream *self = (stream *)op;
    pcu_state *st = self->head.st;
    stream_args a = {0};
    pcu_handle handle = {0};
    CUresult status;
    int rc;
    if (pcu_args_parse_tuple(st, &stream_signature, args, kwargs, &a) < 0) {
        return -1;
    }
    if (self->head.live && !self->foreign) {
        /* The old stream may be current, or another thread may wait for it. */
        return pcu_raise_detail(st, "cuStreamCreate", CUDA_ERROR_INVALID_VALUE,
                                "__init__ of this %s was called before; make a new one",
                                Py_TYPE(op)->tp_name);
    }
    PyObject *ctx = pcu_context_require(st, "cuStreamCreate");
    if (ctx == NULL) {
        return -1;
    }
    if (a.priority == 0) {
        PCU_STATUS(status, StreamCreate, (&handle.stream, a.flags));
        rc = pcu_check_flags(st, "cuStreamCreate", status, a.flags, "stream_flags");
    }
    else {
        PCU_STATUS(status, StreamCreateWithPriority,
                   (&handle.stream, a.flags, a.priority));
        rc = pcu_check_flags(st, "cuStreamCreateWithPriority", status, a.flags,
                             "stream_flags");
    }
    if (rc == 0) {
        if (self->foreign) { /* the object was made by from_handle */
            self->foreign = false;
            self->head.live = false;
            Py_CLEAR(self->owner);
        }
        pcu_resource_adopt(&self->head, ctx, PCU_HANDLE_stream, handle);
        unsigned int facts = PCU_STREAM_FRESH;
        if ((a.flags & STREAM_NON_BLOCKING) == 0) {
            facts |= PCU_STREAM_BLOCKING;
        }
        rc = stream_follow(st, &((pcu_context *)ctx)->rec, handle.stream, facts, NULL);
    }
    Py_DECREF(ctx);
    return rc;
}

/* The stream is about to be destroyed, or the owner of a foreign stream let go. */
static void
stream_unfollow(stream *self)
{
    if (self->head.ctx == NULL || pcu_stream_tables == 0) {
        return;
    }
    pcu_context_record *rec = &((pcu_context *)self->head.ctx)->rec;
    if (pcu_context_record_usable(rec)) {
        pcu_stream_table_end(rec, self->head.handle.stream);
    }
}

static int
stream_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((stream *)op)->owner);
    return pcu_resource_traverse(op, visit, arg);
}

static void
stream_dealloc(PyObject *op)
{
    stream *self = (stream *)op;
    PyObject *owner = self->owner;
    if (self->head.live) {
        stream_unfollow(self);
    }
    self->owner = NULL;
    if (self->foreign) {
        self->head.live = false;
    }
    pcu_resource_dealloc(op);
    Py_XDECREF(owner);
}

PyDoc_STRVAR(stream_synchronize_doc,
             "synchronize($self, /)\n"
             "--\n\n"
             "Wait until all work of the stream has finished.\n"
             "\nRaises\n------\n" PCU_DOC_WAIT_FAILED PCU_DOC_LATE_INDEX
             "\nSee Also\n--------\n"
             "Stream.is_done : Look without waiting.\n"
             "Context.synchronize : Wait for all streams of the context.\n"
             "\nNotes\n-----\n"
             "Other threads run meanwhile.\n"
             "\nExamples\n--------\n"
             ">>> stream = drv.Stream()\n"
             ">>> x = gpuarray.to_gpu_async(np.arange(3), stream=stream)\n"
             ">>> stream.synchronize()");

static PyObject *
stream_synchronize(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    int rc = pcu_resource_check(self, "cuStreamSynchronize");
    if (rc < 0) {
        return NULL;
    }
    rc = pcu_launched_wait(self->st, self->handle.stream);
    if (rc < 0 || pcu_context_check_indices((pcu_context *)self->ctx) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(stream_is_done_doc,
             "is_done($self, /)\n"
             "--\n\n"
             "Return whether all work of the stream has finished.\n"
             "\nReturns\n-------\n"
             "bool\n"
             "    True if it has.\n"
             "\nRaises\n------\n" PCU_DOC_WAIT_FAILED
             "\nSee Also\n--------\n"
             "Stream.synchronize : Wait for it.\n"
             "\nNotes\n-----\n" PCU_DOC_NO_WAIT);

static PyObject *
stream_is_done(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    if (pcu_resource_check(self, "cuStreamQuery") < 0) {
        return NULL;
    }
    CUresult status = drv.StreamQuery(self->handle.stream);
    if (status == CUDA_SUCCESS) {
        pcu_launches_passed(pcu_context_rec(self->ctx), self->handle.stream,
                            pcu_launch_newest());
    }
    if (status == CUDA_SUCCESS || status == CUDA_ERROR_NOT_READY) {
        return PyBool_FromLong(status == CUDA_SUCCESS);
    }
    pcu_raise(self->st, "cuStreamQuery", status);
    return NULL;
}

typedef struct {
    PyObject *event;
    unsigned int flags;
} stream_wait_args;

static const pcu_word stream_wait_words[] = {
    PCU_WORD("event", pcu_as_object, stream_wait_args, event),
    PCU_WORD("flags", pcu_as_uint, stream_wait_args, flags),
};

PCU_SIGNATURE(
    stream_wait_for_event, stream_wait_words,
    "wait_for_event($self, event, /, flags=0)\n"
    "--\n\n"
    "Let work that is enqueued from now on wait for an event.\n"
    "\nParameters\n----------\n"
    "event : Event\n"
    "    The event, or an event of cuda.core, CuPy, PyTorch or Numba.\n"
    "flags : int, optional\n"
    "    An ``event_wait_flags``. In a captured stream, EXTERNAL adds a node\n"
    "    that waits for the event each time the graph runs.\n"
    "\nRaises\n------\n"
    "TypeError\n"
    "    If ``event`` is no event.\n"
    "LogicError\n"
    "    If the context of the stream or the event has ended.\n"
    "\nSee Also\n--------\n"
    "Event.record : Set the point to wait for.\n"
    "\nNotes\n-----\n"
    "The calling thread does not wait.\n"
    "\nExamples\n--------\n"
    ">>> with drv.Stream() as first:\n"
    "...     x = gpuarray.zeros(3, np.float32)\n"
    ">>> second = drv.Stream()\n"
    ">>> second.wait_for_event(drv.Event().record(first))")

static PyObject *
stream_wait_for_event(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    pcu_resource *self = (pcu_resource *)op;
    stream_wait_args a = {NULL, 0};
    CUevent event = NULL;
    int rc;
    if (pcu_args_parse(self->st, &stream_wait_for_event_signature, args, nargs, kwnames,
                       &a) < 0 ||
        pcu_resource_check(self, "cuStreamWaitEvent") < 0 ||
        pcu_event_handle(self->st, a.event, &event, "cuStreamWaitEvent") < 0 ||
        (a.flags != 0 && pcu_captured_object(a.event) < 0)) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, self->st, StreamWaitEvent,
                     (self->handle.stream, event, a.flags));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
stream_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((pcu_resource *)op)->handle.stream);
}

static PyObject *
stream_get_priority(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_resource *self = (pcu_resource *)op;
    int priority = 0;
    int rc = pcu_resource_check(self, "cuStreamGetPriority");
    if (rc < 0) {
        return NULL;
    }
    PCU_CALL(rc, self->st, StreamGetPriority, (self->handle.stream, &priority));
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromLong(priority);
}

static PyObject *
stream_get_flags(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_resource *self = (pcu_resource *)op;
    unsigned int flags = 0;
    int rc = pcu_resource_check(self, "cuStreamGetFlags");
    if (rc < 0) {
        return NULL;
    }
    PCU_CALL(rc, self->st, StreamGetFlags, (self->handle.stream, &flags));
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromUnsignedLong(flags);
}

static PyObject *
stream_get_is_capturing(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_resource *self = (pcu_resource *)op;
    pcu_capture state;
    if (pcu_resource_check(self, "cuStreamIsCapturing") < 0) {
        return NULL;
    }
    CUresult status = pcu_capture_ask(self->handle.stream, &state);
    if (status != CUDA_SUCCESS) {
        pcu_raise(self->st, "cuStreamIsCapturing", status);
        return NULL;
    }
    return PyBool_FromLong(state == PCU_CAPTURE_STREAM);
}

static PyGetSetDef stream_getset[] = {
    {"handle", stream_get_handle, NULL, "The CUstream as an int.", NULL},
    {"priority", stream_get_priority, NULL,
     "The priority that the driver chose; a lower number is a higher priority.", NULL},
    {"flags", stream_get_flags, NULL, "The or-ed stream_flags.", NULL},
    {"is_capturing", stream_get_is_capturing, NULL,
     "Whether work of the stream becomes part of a graph instead of running.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef stream_methods[] = {
    {"synchronize", stream_synchronize, METH_NOARGS, stream_synchronize_doc},
    {"is_done", stream_is_done, METH_NOARGS, stream_is_done_doc},
    PCU_METHOD("wait_for_event", stream_wait_for_event),
    {"from_handle", (PyCFunction)(void (*)(void))stream_from_handle,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, stream_from_handle_doc},
    {"get_current", stream_get_current, METH_NOARGS | METH_CLASS,
     stream_get_current_doc},
    {"__cuda_stream__", stream_cuda_stream, METH_NOARGS, stream_cuda_stream_doc},
    {"__enter__", stream_enter, METH_NOARGS, stream_enter_doc},
    {"__exit__", (PyCFunction)(void (*)(void))stream_exit, METH_FASTCALL,
     stream_exit_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot stream_slots[] = {
    {Py_tp_doc, (void *)stream_doc},
    {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, stream_init},
    {Py_tp_traverse, stream_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, stream_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, stream_getset},
    {Py_tp_methods, stream_methods},
    {0, NULL},
};

static PyType_Spec stream_spec = {
    "pycuda._driver.Stream", sizeof(stream), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, stream_slots};

int
pcu_stream_setup(PyObject *m, pcu_state *st)
{
    pcu_stream_drop_owner = stream_drop_owner;
    pcu_stream_report = stream_report;
    return pcu_add_type(m, &st->Stream, &stream_spec, NULL);
}
