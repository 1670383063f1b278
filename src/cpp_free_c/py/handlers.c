/* ArgumentHandler, In, Out, InOut: kernel arguments that carry a host array to the
 * device for the length of one call, and back.
 *
 * A handler allocates at its first call and keeps the allocation for the next. Programs
 * derive from these types; launch.c calls the methods below directly for exactly these
 * types and through attribute look-up for derived ones. */

#include "handlers.h"

/* -- for launch.c ------------------------------------------------------------------ */

/* The array, held: the code that looks at it may run other code that replaces it. */
static PyObject *
handler_array_new(pcu_handler *self)
{
    if (self->array == NULL) {
        PyErr_SetString(PyExc_AttributeError, "the array of this handler was deleted");
    }
    return Py_XNewRef(self->array);
}

/* What messages call the array: "the array of InOut". */
typedef struct {
    char text[64];
} handler_words;

static handler_words
handler_describe(const pcu_handler *self)
{
    handler_words words;
    const char *name = Py_TYPE(self)->tp_name;
    const char *dot = strrchr(name, '.');
    PyOS_snprintf(words.text, sizeof(words.text), "the array of %.40s",
                  dot == NULL ? name : dot + 1);
    return words;
}

/* The bytes of the array. Only an object without a buffer is asked for its nbytes. */
static int
handler_size(pcu_handler *self, size_t *size)
{
    PyObject *array = handler_array_new(self);
    PyObject *nbytes = NULL;
    handler_words words = handler_describe(self);
    int rc = -1;
    if (array == NULL) {
        return -1;
    }
    if (PyArray_Check(array)) {
        *size = (size_t)PyArray_NBYTES((PyArrayObject *)array);
        rc = 0;
    }
    else if (PyObject_CheckBuffer(array)) {
        pcu_buffer buffer = {0};
        rc = pcu_buffer_acquire(&buffer, array, 0, words.text);
        *size = buffer.size;
        pcu_buffer_release(&buffer);
    }
    else {
        nbytes = PyObject_GetAttr(array, self->st->str_nbytes);
        rc = nbytes == NULL ? -1 : pcu_as_size(self->st, nbytes, size, "nbytes");
    }
    Py_XDECREF(nbytes);
    Py_DECREF(array);
    return rc;
}

/* Refuse a numpy array whose elements the kernel would take for others. */
static int
handler_check_meaning(pcu_handler *self)
{
    if (self->array == NULL || !PyArray_Check(self->array)) {
        return 0;
    }
    handler_words words = handler_describe(self);
    PyObject *array = Py_NewRef(self->array);
    int rc = pcu_array_check_meaning((PyArrayObject *)array, words.text);
    Py_DECREF(array);
    return rc;
}

/* Does what was allocated for an earlier call do for this one? It may be too small,
 * when the program replaced the array, or another context's. What the program gave
 * does. */
static int
handler_has_memory(const pcu_handler *self, size_t size)
{
    if (self->dev_alloc == NULL || self->dev_alloc == Py_None) {
        return 0;
    }
    if (self->room == 0) {
        return 1;
    }
    const pcu_resource *memory = (const pcu_resource *)self->dev_alloc;
    return size <= self->room && memory->live &&
           (pcu_ctx_current == NULL ||
            pcu_ctx_current->handle == pcu_context_rec(memory->ctx)->handle);
}

int
pcu_handler_pointer(pcu_handler *self, CUdeviceptr *pointer)
{
    pcu_state *st = self->st;
    size_t size = 0;
    int given = self->room == 0 && handler_has_memory(self, 0);
    if (handler_check_meaning(self) < 0 || (!given && handler_size(self, &size) < 0)) {
        return -1;
    }
    PyObject *alloc;
    if (handler_has_memory(self, size)) {
        alloc = Py_NewRef(self->dev_alloc);
    }
    else {
        alloc = pcu_devmem_alloc(st, size);
        if (alloc == NULL) {
            return -1;
        }
        self->room = size;
        Py_XSETREF(self->dev_alloc, Py_NewRef(alloc)); /* other threads may run */
    }
    int rc = pcu_as_pointer(st, alloc, pointer, "dev_alloc");
    Py_DECREF(alloc);
    return rc;
}

/* What get_device_alloc(), which a subclass may have replaced, gives. */
static PyObject *
handler_method_alloc_new(PyObject *op, CUdeviceptr *pointer)
{
    pcu_state *st = ((pcu_handler *)op)->st;
    PyObject *alloc = PyObject_CallMethodNoArgs(op, st->str_get_device_alloc);
    if (alloc != NULL && pcu_as_pointer(st, alloc, pointer, "get_device_alloc()") < 0) {
        Py_CLEAR(alloc);
    }
    return alloc;
}

int
pcu_handler_method_pointer(PyObject *op, CUdeviceptr *pointer)
{
    PyObject *alloc = handler_method_alloc_new(op, pointer);
    Py_XDECREF(alloc);
    return alloc == NULL ? -1 : 0;
}

int
pcu_synchronize(pcu_state *st)
{
    pcu_ctxrec *rec = pcu_ctx_current;
    unsigned long queued = rec == NULL ? 0 : rec->queued;
    int rc;
    PCU_CALL_CURRENT(rc, st, CtxSynchronize, ());
    if (rc == 0 && rec != NULL && rec == pcu_ctx_current && queued > rec->passed) {
        rec->passed = queued; /* what other threads queued meanwhile may be there yet */
    }
    return rc;
}

int
pcu_wait(pcu_state *st, CUstream stream)
{
    int rc;
    if (stream != NULL) {
        PCU_CALL_CURRENT(rc, st, StreamSynchronize, (stream));
    }
    else {
        rc = pcu_synchronize(st);
    }
    return rc;
}

/* Copy between the array and its device memory. The array may say other nbytes than it
 * has, and a program may have replaced it, or the memory, since that was allocated. */
static int
handler_copy(pcu_handler *self, CUdeviceptr pointer, PyObject *alloc, int upload)
{
    pcu_state *st = self->st;
    pcu_buffer buffer = {0};
    handler_words words = handler_describe(self);
    int rc = -1;
    PyObject *array = handler_array_new(self);
    if (array == NULL ||
        (PyArray_Check(array) &&
         pcu_array_check_meaning((PyArrayObject *)array, words.text) < 0) ||
        pcu_buffer_acquire(&buffer, array, !upload, words.text) < 0) {
        goto done;
    }
    int ours = PyObject_TypeCheck(alloc, st->DeviceAllocation) ||
               PyObject_TypeCheck(alloc, st->PooledDeviceAllocation);
    const pcu_resource *memory = (const pcu_resource *)alloc;
    if (ours && memory->has_size && buffer.size > memory->size) {
        PyErr_Format(PyExc_ValueError, "%s has %zu bytes, its device memory has %zu",
                     words.text, buffer.size, memory->size);
        goto done;
    }
    rc = upload ? pcu_copy_to_device(st, pointer, array, words.text)
                : pcu_copy_from_device(st, array, pointer, words.text);
done:
    pcu_buffer_release(&buffer);
    Py_XDECREF(array);
    return rc;
}

int
pcu_handler_upload(pcu_handler *self)
{
    CUdeviceptr pointer = 0;
    if (pcu_handler_pointer(self, &pointer) < 0) {
        return -1;
    }
    PyObject *alloc = Py_NewRef(self->dev_alloc);
    int rc = handler_copy(self, pointer, alloc, 1);
    Py_DECREF(alloc);
    return rc;
}

/* The kernel has written to the memory of the launch: no other is allocated now. */
int
pcu_handler_download(pcu_handler *self, CUstream stream)
{
    CUdeviceptr pointer = 0;
    if (pcu_wait(self->st, stream) < 0 ||
        (!handler_has_memory(self, 0) && pcu_handler_pointer(self, &pointer) < 0)) {
        return -1;
    }
    PyObject *alloc = Py_NewRef(self->dev_alloc);
    int rc = pcu_as_pointer(self->st, alloc, &pointer, "dev_alloc");
    if (rc == 0) {
        rc = handler_copy(self, pointer, alloc, 0);
    }
    Py_DECREF(alloc);
    return rc;
}

/* -- methods ----------------------------------------------------------------------- */

static PyObject *
handler_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    pcu_state *st = pcu_state_of_type(type);
    pcu_handler *self = st == NULL ? NULL : (pcu_handler *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
        self->array = Py_NewRef(Py_None);
    }
    return (PyObject *)self;
}

/* The array may be named: array is what In's documentation calls it, ary what programs
 * write. */
static int
handler_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec array_spec[] = {{"array", pcu_as_object, 0}};
    static const pcu_argspec ary_spec[] = {{"ary", pcu_as_object, 0}};
    pcu_handler *self = (pcu_handler *)op;
    int short_name = kwargs != NULL && PyDict_GetItemString(kwargs, "ary") != NULL;
    const char *dot = strrchr(Py_TYPE(op)->tp_name, '.');
    const pcu_argtable table = {dot == NULL ? Py_TYPE(op)->tp_name : dot + 1,
                                short_name ? ary_spec : array_spec, 1, 1, 0};
    PyObject *array = NULL;
    if (pcu_args_parse_tuple(self->st, &table, args, kwargs, &array) < 0) {
        return -1;
    }
    PyObject *nbytes = pcu_attribute_new(array, self->st->str_nbytes);
    if (nbytes == NULL) {
        if (PyErr_Occurred()) {
            return -1;
        }
        PyErr_Format(
            PyExc_TypeError,
            "an argument handler takes an array (an object with nbytes), not %s",
            Py_TYPE(array)->tp_name);
        return -1;
    }
    Py_DECREF(nbytes);
    Py_XSETREF(self->array, Py_NewRef(array));
    return 0;
}

static int
handler_traverse(PyObject *op, visitproc visit, void *arg)
{
    pcu_handler *self = (pcu_handler *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->array);
    Py_VISIT(self->dev_alloc);
    Py_VISIT(self->dict);
    return 0;
}

static int
handler_clear(PyObject *op)
{
    pcu_handler *self = (pcu_handler *)op;
    Py_CLEAR(self->array);
    Py_CLEAR(self->dev_alloc);
    Py_CLEAR(self->dict);
    return 0;
}

static void
handler_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    Py_TRASHCAN_BEGIN(op,
                      handler_dealloc) /* handlers may hold handlers, in a long chain */
        if (((pcu_handler *)op)->weakrefs != NULL)
    {
        PyObject_ClearWeakRefs(op);
    }
    handler_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
    Py_TRASHCAN_END
}

static PyObject *
handler_get_dev_alloc(PyObject *op, void *Py_UNUSED(closure))
{
    PyObject *alloc = ((pcu_handler *)op)->dev_alloc;
    return Py_NewRef(alloc == NULL ? Py_None : alloc);
}

PyDoc_STRVAR(handler_get_device_alloc_doc,
             "get_device_alloc($self, /)\n--\n\n"
             "The device memory of this argument, allocated at the first call.");

static PyObject *
handler_get_device_alloc(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_handler *self = (pcu_handler *)op;
    CUdeviceptr pointer;
    return pcu_handler_pointer(self, &pointer) < 0 ? NULL
                                                   : handler_get_dev_alloc(op, NULL);
}

/* The stream of pre_call and post_call, as it was given. Borrowed; NULL with an
 * exception. */
static PyObject *
handler_stream_borrow(PyObject *op, const char *function, PyObject *const *args,
                      Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {{"stream", pcu_as_object, 0}};
    const pcu_argtable table = {function, specs, 1, 1, 0};
    PyObject *stream = NULL;
    return pcu_args_parse(((pcu_handler *)op)->st, &table, args, nargs, kwnames,
                          &stream) < 0
               ? NULL
               : stream;
}

PyDoc_STRVAR(
    handler_base_pre_call_doc,
    "pre_call($self, /, stream)\n--\n\nCalled before the launch. Does nothing.");

static PyObject *
handler_base_pre_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    return handler_stream_borrow(op, "pre_call", args, nargs, kwnames) == NULL
               ? NULL
               : Py_NewRef(Py_None);
}

PyDoc_STRVAR(handler_in_pre_call_doc,
             "pre_call($self, /, stream)\n--\n\nCopy the array to the device.");

static PyObject *
handler_in_pre_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    CUdeviceptr pointer = 0;
    if (handler_stream_borrow(op, "pre_call", args, nargs, kwnames) == NULL) {
        return NULL;
    }
    PyObject *alloc = handler_method_alloc_new(op, &pointer);
    int rc = alloc == NULL ? -1 : handler_copy((pcu_handler *)op, pointer, alloc, 1);
    Py_XDECREF(alloc);
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(handler_out_post_call_doc,
             "post_call($self, /, stream)\n--\n\n"
             "Wait for the launch and copy the device's memory back to the array.");

static PyObject *
handler_out_post_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    pcu_handler *self = (pcu_handler *)op;
    PyObject *stream = handler_stream_borrow(op, "post_call", args, nargs, kwnames);
    CUdeviceptr pointer = 0;
    CUstream handle = NULL;
    if (stream == NULL || pcu_as_stream(self->st, stream, &handle, "stream") < 0 ||
        pcu_wait(self->st, handle) < 0) {
        return NULL;
    }
    PyObject *alloc = handler_method_alloc_new(op, &pointer);
    int rc = alloc == NULL ? -1 : handler_copy(self, pointer, alloc, 0);
    Py_XDECREF(alloc);
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

static int
handler_set_dev_alloc(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    ((pcu_handler *)op)->room = 0;
    Py_XSETREF(((pcu_handler *)op)->dev_alloc, Py_XNewRef(value));
    return 0;
}

static PyMemberDef handler_members[] = {
    {"array", Py_T_OBJECT_EX, offsetof(pcu_handler, array), 0, "The host array."},
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_handler, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_handler, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef handler_getset[] = {
    {"dev_alloc", handler_get_dev_alloc, handler_set_dev_alloc,
     "The device memory, None before the first call.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef handler_methods[] = {
    {"get_device_alloc", handler_get_device_alloc, METH_NOARGS,
     handler_get_device_alloc_doc},
    {"pre_call", (PyCFunction)(void (*)(void))handler_base_pre_call,
     METH_FASTCALL | METH_KEYWORDS, handler_base_pre_call_doc},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef in_methods[] = {
    {"pre_call", (PyCFunction)(void (*)(void))handler_in_pre_call,
     METH_FASTCALL | METH_KEYWORDS, handler_in_pre_call_doc},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef out_methods[] = {
    {"post_call", (PyCFunction)(void (*)(void))handler_out_post_call,
     METH_FASTCALL | METH_KEYWORDS, handler_out_post_call_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    handler_doc,
    "ArgumentHandler(array)\n--\n\n"
    "Base of kernel arguments that do something before and after the launch.\n\n"
    "Derive and override get_device_alloc, pre_call(stream), post_call(stream).");
PyDoc_STRVAR(in_doc, "In(array)\n--\n\nCopied to the device before the launch.");
PyDoc_STRVAR(out_doc,
             "Out(array)\n--\n\n"
             "Copied back after the launch; what the kernel finds there is undefined.");
PyDoc_STRVAR(
    inout_doc,
    "InOut(array)\n--\n\nCopied to the device before and back after the launch.");

static PyType_Slot handler_slots[] = {
    {Py_tp_doc, (void *)handler_doc}, {Py_tp_new, handler_new},
    {Py_tp_init, handler_init},       {Py_tp_traverse, handler_traverse},
    {Py_tp_clear, handler_clear},     {Py_tp_dealloc, handler_dealloc},
    {Py_tp_members, handler_members}, {Py_tp_getset, handler_getset},
    {Py_tp_methods, handler_methods}, {0, NULL},
};

#define HANDLER_DERIVED(name, methods)                                       \
    static PyType_Slot name##_slots[] = {                                    \
        {Py_tp_doc, (void *)name##_doc}, {Py_tp_traverse, handler_traverse}, \
        {Py_tp_clear, handler_clear},    {Py_tp_dealloc, handler_dealloc},   \
        {Py_tp_methods, methods},        {0, NULL},                          \
    }
static PyMethodDef inout_methods[] = {{NULL, NULL, 0, NULL}};
HANDLER_DERIVED(in, in_methods);
HANDLER_DERIVED(out, out_methods);
HANDLER_DERIVED(inout, inout_methods);

enum { HANDLER_FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE };

static PyType_Spec handler_spec = {"pycuda._driver.ArgumentHandler",
                                   sizeof(pcu_handler), 0, HANDLER_FLAGS,
                                   handler_slots};
static PyType_Spec in_spec = {"pycuda._driver.In", sizeof(pcu_handler), 0,
                              HANDLER_FLAGS, in_slots};
static PyType_Spec out_spec = {"pycuda._driver.Out", sizeof(pcu_handler), 0,
                               HANDLER_FLAGS, out_slots};
static PyType_Spec inout_spec = {"pycuda._driver.InOut", sizeof(pcu_handler), 0,
                                 HANDLER_FLAGS, inout_slots};

int
pcu_handlers_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->ArgumentHandler, &handler_spec, NULL) < 0) {
        return -1;
    }
    PyObject *base = PyTuple_Pack(1, (PyObject *)st->ArgumentHandler);
    PyObject *both = NULL;
    int rc = base == NULL ? -1 : pcu_add_type(m, &st->In, &in_spec, base);
    if (rc == 0) {
        rc = pcu_add_type(m, &st->Out, &out_spec, base);
    }
    if (rc == 0) {
        both = PyTuple_Pack(2, (PyObject *)st->In, (PyObject *)st->Out);
        rc = both == NULL ? -1 : pcu_add_type(m, &st->InOut, &inout_spec, both);
    }
    Py_XDECREF(base);
    Py_XDECREF(both);
    return rc;
}
