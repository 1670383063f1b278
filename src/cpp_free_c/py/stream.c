/* Stream: an ordered queue of work in the context it was made in. */

#include "pcu.h"

typedef struct {
    unsigned int flags;
} stream_args;

static const pcu_argspec stream_specs[] = {
    {"flags", pcu_as_uint, offsetof(stream_args, flags)},
};
static const pcu_argtable stream_table = {"Stream", stream_specs, 1, 0, 0};

static int
stream_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_resource *self = (pcu_resource *)op;
    stream_args a = {0};
    pcu_res_handle handle = {0};
    int rc;
    if (pcu_args_parse_tuple(self->st, &stream_table, args, kwargs, &a) < 0) {
        return -1;
    }
    PyObject *ctx = pcu_context_require(self->st, "cuStreamCreate");
    if (ctx == NULL) {
        return -1;
    }
    PCU_CALL(rc, self->st, StreamCreate, (&handle.stream, a.flags));
    if (rc == 0) {
        pcu_resource_adopt(self, ctx, PCU_RES_stream, handle);
    }
    Py_DECREF(ctx);
    return rc;
}

PyDoc_STRVAR(
    stream_synchronize_doc,
    "synchronize($self, /)\n--\n\nWait until the stream has nothing left to do.");

static PyObject *
stream_synchronize(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    int rc = pcu_resource_check(self, "cuStreamSynchronize");
    if (rc < 0) {
        return NULL;
    }
    PCU_CALL(rc, self->st, StreamSynchronize, (self->handle.stream));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(stream_is_done_doc,
             "is_done($self, /)\n--\n\nTrue if the stream has nothing left to do.");

static PyObject *
stream_is_done(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    if (pcu_resource_check(self, "cuStreamQuery") < 0) {
        return NULL;
    }
    CUresult status = drv.StreamQuery(self->handle.stream);
    if (status == CUDA_SUCCESS || status == CUDA_ERROR_NOT_READY) {
        return PyBool_FromLong(status == CUDA_SUCCESS);
    }
    pcu_raise(self->st, "cuStreamQuery", status);
    return NULL;
}

PyDoc_STRVAR(
    stream_wait_for_event_doc,
    "wait_for_event($self, event, /)\n--\n\n"
    "Let what is queued from now on wait for the event; the caller does not wait.");

static PyObject *
stream_wait_for_event(PyObject *op, PyObject *event)
{
    pcu_resource *self = (pcu_resource *)op;
    int rc;
    if (!PyObject_TypeCheck(event, self->st->Event)) {
        PyErr_Format(PyExc_TypeError, "event must be an Event, not %s",
                     Py_TYPE(event)->tp_name);
        return NULL;
    }
    if (pcu_resource_check(self, "cuStreamWaitEvent") < 0 ||
        pcu_resource_check((pcu_resource *)event, "cuStreamWaitEvent") < 0) {
        return NULL;
    }
    PCU_CALL(rc, self->st, StreamWaitEvent,
             (self->handle.stream, ((pcu_resource *)event)->handle.event, 0));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *
stream_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((pcu_resource *)op)->handle.stream);
}

static PyGetSetDef stream_getset[] = {
    {"handle", stream_get_handle, NULL, "The CUstream as an int.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef stream_methods[] = {
    {"synchronize", stream_synchronize, METH_NOARGS, stream_synchronize_doc},
    {"is_done", stream_is_done, METH_NOARGS, stream_is_done_doc},
    {"wait_for_event", stream_wait_for_event, METH_O, stream_wait_for_event_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    stream_doc,
    "Stream(flags=0)\n--\n\n"
    "A queue of work on the device of the current context.\n\n"
    "flags: or-ed stream_flags. Work of one stream runs in order; streams run\n"
    "beside each other.");

static PyType_Slot stream_slots[] = {
    {Py_tp_doc, (void *)stream_doc},
    {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, stream_init},
    {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, pcu_resource_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, stream_getset},
    {Py_tp_methods, stream_methods},
    {0, NULL},
};

static PyType_Spec stream_spec = {
    "pycuda._driver.Stream", sizeof(pcu_resource), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, stream_slots};

int
pcu_stream_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->Stream, &stream_spec, NULL);
}
