/* The type Event: a point in the work of a stream, to wait for and to time.
 *
 * Invariant: an Event is a pcu_resource. Python is the only caller. */
#include "python/driver/stream.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"
#include "python/driver/foreign_handle.h"
#include "python/driver/resource.h"
#include "driver/events.h"
#include "driver/waits.h"

#define DOC_NOT_TIMED                                                      \
    "LogicError\n"                                                         \
    "    If one of the two was not recorded, was made with\n"              \
    "    ``event_flags.DISABLE_TIMING``, or belongs to another context.\n" \
    "RuntimeError\n"                                                       \
    "    If the recorded work has not finished.\n"

/* -- events as arguments ----------------------------------------------------------- */

/* Streams and modules have attributes of the same names, so the name of the type
 * counts, too: Event in cuda.core, CuPy, PyTorch and Numba. */
static bool
event_may_be(PyObject *op)
{
    return strstr(Py_TYPE(op)->tp_name, "Event") != NULL;
}

int
pcu_event_handle(pcu_state *st, PyObject *op, CUevent *out, const char *routine)
{
    static const char *const names[] = {"cuda_event", "ptr", "handle", NULL};
    unsigned long long bits = 0;
    if (PyObject_TypeCheck(op, st->Event)) {
        *out = ((pcu_resource *)op)->handle.event;
        return pcu_resource_check((pcu_resource *)op, routine);
    }
    int found = 0;
    if (event_may_be(op)) {
        found = pcu_foreign_handle(op, names, &bits);
    }
    if (found == 0) {
        PyErr_Format(
            PyExc_TypeError,
            "event must be an Event, or an event of cuda.core, CuPy, PyTorch or "
            "Numba that was recorded, not %s",
            Py_TYPE(op)->tp_name);
    }
    if (found <= 0) {
        return -1;
    }
    *out = (CUevent)(uintptr_t)bits;
    return 0;
}

enum { EVENT_BLOCKING_SYNC = 1 };

/* What is known of the times of an event. */
typedef enum { EVENT_MAY_BE_TIMED, EVENT_IS_TIMED, EVENT_IS_NOT_TIMED } event_timing;

typedef struct {
    pcu_resource head;
    PyObject *owner; /* keeps a foreign event alive; never in tp_clear */
    bool foreign;    /* another library destroys the handle */
    bool sleeps;     /* made with BLOCKING_SYNC: waiting threads sleep */
    event_timing timing;
    CUstream stream;   /* of the last record */
    uint64_t recorded; /* the newest launch then; 0: not recorded */
} event_object;

PCU_SIGNATURE_OF_ONE(
    event, "flags", pcu_as_uint,
    "Event(flags=0)\n"
    "--\n\n"
    "A point in the work of a stream, to wait for and to time.\n"
    "\nParameters\n----------\n"
    "flags : int, optional\n"
    "    Or-ed ``event_flags``. The default is 0: the event records times.\n"
    "\nRaises\n------\n" PCU_DOC_NO_CONTEXT
    "\nSee Also\n--------\n"
    "Event.record : Set the point.\n"
    "Event.time_since : The time between two events.\n"
    "Stream.wait_for_event : Let a stream wait.\n"
    "\nNotes\n-----\n"
    "An event that was not recorded counts as finished.\n"
    "\nExamples\n--------\n"
    ">>> event = drv.Event()\n"
    ">>> event.query()\n"
    "True")

static int
event_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_resource *self = (pcu_resource *)op;
    unsigned int flags = 0;
    pcu_handle handle = {0};
    if (((event_object *)op)->foreign) {
        PyErr_SetString(PyExc_TypeError, "this event was made by Event.from_handle");
        return -1;
    }
    if (pcu_args_parse_tuple(self->st, &event_signature, args, kwargs,
                             PCU_ONLY(event, &flags)) < 0) {
        return -1;
    }
    PyObject *ctx = pcu_context_require(self->st, "cuEventCreate");
    if (ctx == NULL) {
        return -1;
    }
    CUresult status;
    PCU_STATUS(status, EventCreate, (&handle.event, flags));
    int rc =
        pcu_check_flags(self->st, "cuEventCreate", status, flags, "event_flags, or-ed");
    if (rc == 0) {
        pcu_resource_adopt(self, ctx, PCU_HANDLE_event, handle);
        ((event_object *)op)->timing = EVENT_IS_TIMED;
        ((event_object *)op)->sleeps = (flags & EVENT_BLOCKING_SYNC) != 0;
        if ((flags & CU_EVENT_DISABLE_TIMING) != 0) {
            ((event_object *)op)->timing = EVENT_IS_NOT_TIMED;
        }
    }
    Py_DECREF(ctx);
    return rc;
}

typedef struct {
    CUstream stream;
    unsigned int flags;
} record_args;

static const pcu_word record_words[] = {
    PCU_WORD("stream", pcu_as_stream, record_args, stream),
    PCU_WORD("flags", pcu_as_uint, record_args, flags),
};

PCU_SIGNATURE(event_record, record_words,
              "record($self, /, stream=None, flags=0)\n"
              "--\n\n"
              "Record the event after all work enqueued in the stream so far.\n"
              "\nParameters\n----------\n" PCU_DOC_STREAM
              "flags : int, optional\n"
              "    An ``event_record_flags``. In a captured stream, EXTERNAL adds a\n"
              "    node that records the event each time the graph runs.\n"
              "\nReturns\n-------\n"
              "Event\n"
              "    The event.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the event's context has ended, or if event and stream belong to\n"
              "    different contexts.\n"
              "\nSee Also\n--------\n"
              "Event.synchronize : Wait for the point.\n"
              "Stream.wait_for_event : Let another stream wait for it.\n"
              "\nNotes\n-----\n"
              "The call does not wait. A second record moves the point.\n"
              "\nExamples\n--------\n"
              ">>> stream = drv.Stream()\n"
              ">>> event = drv.Event().record(stream)\n"
              ">>> stream.synchronize()\n"
              ">>> event.query()\n"
              "True")

static PyObject *
event_record(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_resource *self = (pcu_resource *)op;
    record_args a = {pcu_stream_current(), 0};
    int rc;
    if (pcu_args_parse(self->st, &event_record_signature, args, nargs, kwnames, &a) <
            0 ||
        pcu_resource_check(self, "cuEventRecord") < 0 || pcu_captured_fork() < 0) {
        return NULL;
    }
    if (a.flags == 0) {
        PCU_CALL_CURRENT(rc, self->st, EventRecord, (self->handle.event, a.stream));
    }
    else if ((rc = pcu_captured_object(op)) == 0) { /* the graph records it later */
        PCU_CALL_CURRENT(rc, self->st, EventRecordWithFlags,
                         (self->handle.event, a.stream, a.flags));
    }
    if (rc < 0) {
        return NULL;
    }
    pcu_wait_event_recorded(self->handle.event);
    ((event_object *)op)->stream = a.stream;
    ((event_object *)op)->recorded = pcu_launch_newest();
    return Py_NewRef(op);
}

/* The recorded work has finished without an error, and so have the launches ahead of it
 * in its stream. */
static void
event_passed(const event_object *self)
{
    if (self->recorded != 0) {
        pcu_launches_passed(pcu_context_rec(self->head.ctx), self->stream,
                            self->recorded);
    }
}

PyDoc_STRVAR(event_synchronize_doc,
             "synchronize($self, /)\n"
             "--\n\n"
             "Wait until the recorded work has finished.\n"
             "\nReturns\n-------\n"
             "Event\n"
             "    The event.\n"
             "\nRaises\n------\n" PCU_DOC_WAIT_FAILED PCU_DOC_LATE_INDEX
             "\nSee Also\n--------\n"
             "Event.query : Look without waiting.\n"
             "Stream.synchronize : Wait for all work of a stream.\n"
             "\nNotes\n-----\n"
             "Other threads run meanwhile. With ``event_flags.BLOCKING_SYNC`` the\n"
             "waiting thread sleeps.\n"
             "\nExamples\n--------\n"
             ">>> event = drv.Event().record().synchronize()");

static PyObject *
event_synchronize(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    int rc = pcu_resource_check(self, "cuEventSynchronize");
    if (rc < 0) {
        return NULL;
    }
    event_object recorded = *(event_object *)op; /* other threads may record it again */
    if (recorded.foreign) {
        pcu_wait_event_recorded(self->handle.event); /* perhaps, by its library */
    }
    pcu_wait_sleeps = recorded.sleeps;
    PCU_CALL(rc, self->st, EventSynchronize, (self->handle.event));
    pcu_wait_sleeps = false;
    if (rc == 0) {
        event_passed(&recorded);
    }
    if (rc < 0 || pcu_context_check_indices((pcu_context *)self->ctx) < 0) {
        return NULL;
    }
    return Py_NewRef(op);
}

PyDoc_STRVAR(event_query_doc,
             "query($self, /)\n"
             "--\n\n"
             "Return whether the recorded work has finished.\n"
             "\nReturns\n-------\n"
             "bool\n"
             "    True if it has, or if the event was not recorded.\n"
             "\nRaises\n------\n" PCU_DOC_WAIT_FAILED
             "\nSee Also\n--------\n"
             "Event.synchronize : Wait for it.\n"
             "\nNotes\n-----\n" PCU_DOC_NO_WAIT);

static PyObject *
event_query(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    if (pcu_resource_check(self, "cuEventQuery") < 0) {
        return NULL;
    }
    CUresult status = drv.EventQuery(self->handle.event);
    if (status == CUDA_SUCCESS) {
        event_passed((event_object *)op);
    }
    if (status == CUDA_SUCCESS || status == CUDA_ERROR_NOT_READY) {
        return PyBool_FromLong(status == CUDA_SUCCESS);
    }
    pcu_raise(self->st, "cuEventQuery", status);
    return NULL;
}

/* Why an event has no time, or NULL if it has one. The driver tells it of the time from
 * an event to itself. */
static const char *
event_untimed_reason(PyObject *op)
{
    float milliseconds = 0;
    CUevent handle = ((pcu_resource *)op)->handle.event;
    if (drv.EventElapsedTime(&milliseconds, handle, handle) !=
        CUDA_ERROR_INVALID_HANDLE) {
        return NULL;
    }
    switch (((event_object *)op)->timing) {
        case EVENT_IS_TIMED:
            return "was not recorded";
        case EVENT_IS_NOT_TIMED:
            return "was made with event_flags.DISABLE_TIMING";
        case EVENT_MAY_BE_TIMED:
            break;
    }
    return "was not recorded, or was made with event_flags.DISABLE_TIMING";
}

/* Raise LogicError: there is no time between the two events. */
static void
event_elapsed_refuse(PyObject *start, PyObject *end)
{
    pcu_state *st = ((pcu_resource *)start)->st;
    const char *which = "earlier";
    const char *why = event_untimed_reason(start);
    if (why == NULL) {
        which = "later";
        why = event_untimed_reason(end);
    }
    if (why == NULL) {
        pcu_raise_detail(st, "cuEventElapsedTime", CUDA_ERROR_INVALID_HANDLE,
                         "the two events belong to different contexts");
    }
    else {
        pcu_raise_detail(st, "cuEventElapsedTime", CUDA_ERROR_INVALID_HANDLE,
                         "the %s event %s", which, why);
    }
}

/* Milliseconds from `start` to `end`. */
static PyObject *
event_elapsed(PyObject *start, PyObject *end)
{
    pcu_state *st = ((pcu_resource *)start)->st;
    float milliseconds = 0;
    CUresult status =
        drv.EventElapsedTime(&milliseconds, ((pcu_resource *)start)->handle.event,
                             ((pcu_resource *)end)->handle.event);
    if (status == CUDA_SUCCESS) {
        return PyFloat_FromDouble(milliseconds);
    }
    if (status == CUDA_ERROR_INVALID_HANDLE) {
        event_elapsed_refuse(start, end);
    }
    else if (status == CUDA_ERROR_NOT_READY) {
        pcu_raise_detail(st, "cuEventElapsedTime", status,
                         "the recorded work has not finished: call synchronize() of "
                         "the later event first");
    }
    else {
        pcu_raise(st, "cuEventElapsedTime", status);
    }
    return NULL;
}

static int
event_check(PyObject *op, PyObject *other)
{
    if (!PyObject_TypeCheck(other, ((pcu_resource *)op)->st->Event)) {
        PyErr_Format(PyExc_TypeError, "event must be an Event, not %s",
                     Py_TYPE(other)->tp_name);
        return -1;
    }
    if (pcu_resource_check((pcu_resource *)op, "cuEventElapsedTime") < 0 ||
        pcu_resource_check((pcu_resource *)other, "cuEventElapsedTime") < 0) {
        return -1;
    }
    return 0;
}

PyDoc_STRVAR(event_time_since_doc,
             "time_since($self, event, /)\n"
             "--\n\n"
             "Return the time from another event to this one.\n"
             "\nParameters\n----------\n"
             "event : Event\n"
             "    The earlier event.\n"
             "\nReturns\n-------\n"
             "float\n"
             "    Milliseconds.\n"
             "\nRaises\n------\n" DOC_NOT_TIMED PCU_DOC_NO_EVENT
             "\nSee Also\n--------\n"
             "Event.time_till : The same in the other direction.\n"
             "Event.synchronize : Wait first; this call does not.\n"
             "\nExamples\n--------\n"
             ">>> start = drv.Event().record()\n"
             ">>> x = gpuarray.zeros(1000, np.float32) + 1\n"
             ">>> end = drv.Event().record().synchronize()\n"
             ">>> end.time_since(start) >= 0\n"
             "True");

static PyObject *
event_time_since(PyObject *op, PyObject *other)
{
    if (event_check(op, other) < 0) {
        return NULL;
    }
    return event_elapsed(other, op);
}

PyDoc_STRVAR(event_time_till_doc,
             "time_till($self, event, /)\n"
             "--\n\n"
             "Return the time from this event to another one.\n"
             "\nParameters\n----------\n"
             "event : Event\n"
             "    The later event.\n"
             "\nReturns\n-------\n"
             "float\n"
             "    Milliseconds.\n"
             "\nRaises\n------\n" DOC_NOT_TIMED PCU_DOC_NO_EVENT
             "\nSee Also\n--------\n"
             "Event.time_since : The same in the other direction.");

static PyObject *
event_time_till(PyObject *op, PyObject *other)
{
    if (event_check(op, other) < 0) {
        return NULL;
    }
    return event_elapsed(op, other);
}

PyDoc_STRVAR(event_ipc_handle_doc,
             "ipc_handle($self, /)\n"
             "--\n\n"
             "Return the bytes from which another process can open the event.\n"
             "\nReturns\n-------\n"
             "bytearray\n"
             "    64 bytes for ``from_ipc_handle`` on the same machine.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    Unless the event was made with ``event_flags.INTERPROCESS`` and\n"
             "    ``event_flags.DISABLE_TIMING``.\n"
             "\nSee Also\n--------\n"
             "Event.from_ipc_handle : Open it.\n"
             "mem_get_ipc_handle : The same for memory.");

static PyObject *
event_ipc_handle(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    CUipcEventHandle handle;
    int rc = pcu_resource_check(self, "cuIpcGetEventHandle");
    if (rc < 0) {
        return NULL;
    }
    PCU_CALL(rc, self->st, IpcGetEventHandle, (&handle, self->handle.event));
    if (rc < 0) {
        return NULL;
    }
    return pcu_ipc_bytes_new(&handle);
}

PCU_SIGNATURE_OF_ONE(event_from_ipc_handle, "handle", pcu_as_object,
                     "from_ipc_handle($type, handle, /)\n"
                     "--\n\n"
                     "Open an event of another process.\n"
                     "\nParameters\n----------\n"
                     "handle : bytearray or bytes\n"
                     "    The result of ``ipc_handle`` in the other process.\n"
                     "\nReturns\n-------\n"
                     "Event\n"
                     "    A new event in the current context.\n"
                     "\nRaises\n------\n"
                     "LogicError\n"
                     "    If no context is current, or if ``handle`` is none.\n"
                     "\nSee Also\n--------\n"
                     "Event.ipc_handle : Make the handle.")

static PyObject *
event_from_ipc_handle(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    PyObject *bytes = NULL;
    PyObject *self = NULL;
    CUipcEventHandle handle;
    pcu_handle event = {0};
    int rc;
    if (pcu_args_parse(st, &event_from_ipc_handle_signature, args, nargs, kwnames,
                       PCU_ONLY(event_from_ipc_handle, &bytes)) < 0 ||
        pcu_ipc_bytes(st, bytes, "cuIpcOpenEventHandle", &handle) < 0) {
        return NULL;
    }
    PyObject *ctx = pcu_context_require(st, "cuIpcOpenEventHandle");
    if (ctx == NULL) {
        return NULL;
    }
    PCU_CALL(rc, st, IpcOpenEventHandle, (&event.event, handle));
    if (rc == 0) {
        self = pcu_resource_new(st, st->Event, ctx, PCU_HANDLE_event, event);
    }
    Py_DECREF(ctx);
    return self;
}

typedef struct {
    PyObject *handle;
    PyObject *owner;
} event_foreign_args;

static const pcu_word event_foreign_words[] = {
    PCU_WORD("handle", pcu_as_object, event_foreign_args, handle),
    PCU_WORD("owner", pcu_as_object, event_foreign_args, owner),
};

PCU_SIGNATURE(
    event_from_handle, event_foreign_words,
    "from_handle($type, /, handle, owner=None)\n"
    "--\n\n"
    "Wrap an event of another library, which also destroys it.\n"
    "\nParameters\n----------\n"
    "handle : int or object\n"
    "    A CUevent, or an event of cuda.core, CuPy, PyTorch or Numba.\n" PCU_DOC_OWNER
    "\nReturns\n-------\n"
    "Event\n"
    "    A new object that belongs to the current context.\n"
    "\nRaises\n------\n"
    "TypeError\n"
    "    If ``handle`` is no event.\n" PCU_DOC_NO_CONTEXT
    "\nSee Also\n--------\n"
    "Stream.from_handle : The same for streams.\n"
    "\nExamples\n--------\n"
    ">>> event = drv.Event()\n"
    ">>> same = drv.Event.from_handle(event.handle, owner=event)\n"
    ">>> same.record().synchronize().query()\n"
    "True")

static PyObject *
event_from_handle(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    event_foreign_args a = {NULL, NULL};
    pcu_handle handle = {0};
    unsigned long long bits = 0;
    if (st == NULL || pcu_args_parse(st, &event_from_handle_signature, args, nargs,
                                     kwnames, &a) < 0) {
        return NULL;
    }
    if (PyIndex_Check(a.handle)) {
        if (pcu_as_integer(a.handle, 1, UINT64_MAX, &bits, "handle") < 0) {
            return NULL;
        }
        handle.event = (CUevent)(uintptr_t)bits;
    }
    else if (pcu_event_handle(st, a.handle, &handle.event, "Event.from_handle") < 0) {
        return NULL;
    }
    if ((a.owner == NULL || a.owner == Py_None) && !PyIndex_Check(a.handle)) {
        a.owner = a.handle;
    }
    PyObject *ctx = pcu_context_require(st, "Event.from_handle");
    if (ctx == NULL) {
        return NULL;
    }
    event_object *self =
        (event_object *)((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
    if (self != NULL) {
        self->head.st = st;
        self->head.ctx = Py_NewRef(ctx);
        self->head.kind = PCU_HANDLE_event;
        self->head.handle = handle;
        self->head.live = true;
        self->foreign = true;
        self->owner = Py_XNewRef(a.owner);
    }
    Py_DECREF(ctx);
    return (PyObject *)self;
}

static int
event_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((event_object *)op)->owner);
    return pcu_resource_traverse(op, visit, arg);
}

static void
event_dealloc(PyObject *op)
{
    event_object *self = (event_object *)op;
    PyObject *owner = self->owner;
    self->owner = NULL;
    if (self->foreign) {
        self->head.live = false;
    }
    pcu_resource_dealloc(op);
    Py_XDECREF(owner);
}

static PyObject *
event_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((pcu_resource *)op)->handle.event);
}

static PyGetSetDef event_getset[] = {
    {"handle", event_get_handle, NULL, "The CUevent as an int.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef event_methods[] = {
    PCU_METHOD("record", event_record),
    {"synchronize", event_synchronize, METH_NOARGS, event_synchronize_doc},
    {"query", event_query, METH_NOARGS, event_query_doc},
    {"time_since", event_time_since, METH_O, event_time_since_doc},
    {"time_till", event_time_till, METH_O, event_time_till_doc},
    {"ipc_handle", event_ipc_handle, METH_NOARGS, event_ipc_handle_doc},
    {"from_ipc_handle", (PyCFunction)(void (*)(void))event_from_ipc_handle,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, event_from_ipc_handle_doc},
    {"from_handle", (PyCFunction)(void (*)(void))event_from_handle,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, event_from_handle_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot event_slots[] = {
    {Py_tp_doc, (void *)event_doc},
    {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, event_init},
    {Py_tp_traverse, event_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, event_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, event_getset},
    {Py_tp_methods, event_methods},
    {0, NULL},
};

static PyType_Spec event_spec = {
    "pycuda._driver.Event", sizeof(event_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, event_slots};

int
pcu_event_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->Event, &event_spec, NULL);
}
