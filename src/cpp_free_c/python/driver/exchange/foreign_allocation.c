/* ForeignAllocation: an array in memory of another library. See dlpack.h.
 */
#include "python/driver/exchange/dlpack.h"

#include "python/support/errors.h"
#include "python/support/setup.h"
#include "python/support/type.h"

static int
foreign_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((pcu_foreign_allocation *)op)->dict);
    Py_VISIT(((pcu_foreign_allocation *)op)->stream_object);
    return 0;
}

static int
foreign_clear(PyObject *op)
{
    Py_CLEAR(((pcu_foreign_allocation *)op)->dict);
    return 0;
}

/* Save the pending exception: the producer's deleter may run Python code. */
static void
foreign_dealloc(PyObject *op)
{
    pcu_foreign_allocation *self = (pcu_foreign_allocation *)op;
    PyTypeObject *type = Py_TYPE(op);
    pcu_saved_error pending;
    PyObject_GC_UnTrack(op);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    foreign_clear(op);
    pcu_error_save(&pending);
    if (self->plain != NULL && self->plain->deleter != NULL) {
        self->plain->deleter(self->plain);
    }
    if (self->versioned != NULL && self->versioned->deleter != NULL) {
        self->versioned->deleter(self->versioned);
    }
    pcu_error_restore(&pending);
    Py_CLEAR(self->tensor.dtype);
    Py_CLEAR(self->stream_object);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyObject *
foreign_int(PyObject *op)
{
    return PyLong_FromUnsignedLongLong(((pcu_foreign_allocation *)op)->tensor.pointer);
}

static PyObject *
foreign_get_shape(PyObject *op, void *Py_UNUSED(closure))
{
    const pcu_dlpack *t = &((pcu_foreign_allocation *)op)->tensor;
    PyObject *shape = PyTuple_New(t->ndim);
    for (int i = 0; shape != NULL && i < t->ndim; i++) {
        PyObject *item = PyLong_FromSize_t(t->shape[i]);
        if (item == NULL) {
            Py_CLEAR(shape);
        }
        else {
            PyTuple_SET_ITEM(shape, i, item);
        }
    }
    return shape;
}

static PyObject *
foreign_get_strides(PyObject *op, void *Py_UNUSED(closure))
{
    const pcu_dlpack *t = &((pcu_foreign_allocation *)op)->tensor;
    PyObject *strides = PyTuple_New(t->ndim);
    for (int i = 0; strides != NULL && i < t->ndim; i++) {
        PyObject *item = PyLong_FromSsize_t(t->strides[i]);
        if (item == NULL) {
            Py_CLEAR(strides);
        }
        else {
            PyTuple_SET_ITEM(strides, i, item);
        }
    }
    return strides;
}

static PyObject *
foreign_get_dtype(PyObject *op, void *Py_UNUSED(closure))
{
    return Py_NewRef((PyObject *)((pcu_foreign_allocation *)op)->tensor.dtype);
}

static PyObject *
foreign_get_device(PyObject *op, void *Py_UNUSED(closure))
{
    const pcu_dlpack *t = &((pcu_foreign_allocation *)op)->tensor;
    return Py_BuildValue("(ii)", (int)t->device.type, (int)t->device.id);
}

static PyObject *
foreign_get_readonly(PyObject *op, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(((pcu_foreign_allocation *)op)->tensor.readonly);
}

/* The stream of __cuda_array_interface__: the one for which the producer made the
 * memory safe. Host memory has none. */
static PyObject *
foreign_stream_new(const pcu_foreign_allocation *self)
{
    if (self->tensor.device.type == PCU_DL_CUDA_HOST) {
        return Py_NewRef(Py_None);
    }
    return pcu_dlpack_stream_new(self->stream);
}

static PyObject *
foreign_get_interface(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_foreign_allocation *self = (pcu_foreign_allocation *)op;
    PyObject *typestr = PyObject_GetAttrString((PyObject *)self->tensor.dtype, "str");
    if (typestr == NULL) {
        return NULL;
    }
    return Py_BuildValue("{s:N,s:N,s:N,s:(KN),s:i,s:N}", "shape",
                         foreign_get_shape(op, NULL), "strides",
                         foreign_get_strides(op, NULL), "typestr", typestr, "data",
                         (unsigned long long)self->tensor.pointer,
                         PyBool_FromLong(self->tensor.readonly), "version", 3, "stream",
                         foreign_stream_new(self));
}

static PyGetSetDef foreign_getset[] = {
    {"shape", foreign_get_shape, NULL, "The lengths of the axes, a tuple.", NULL},
    {"strides", foreign_get_strides, NULL, "The strides in bytes, a tuple.", NULL},
    {"dtype", foreign_get_dtype, NULL, "The type of the items.", NULL},
    {"device", foreign_get_device, NULL,
     "DLPack's (type, number): type 2 is a GPU, 3 page-locked, 13 managed memory.",
     NULL},
    {"readonly", foreign_get_readonly, NULL, "True if the memory must not be written.",
     NULL},
    {"__cuda_array_interface__", foreign_get_interface, NULL,
     "The array, for kernel calls and other libraries.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef foreign_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_foreign_allocation, dict),
     Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_foreign_allocation, weakrefs),
     Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(foreign_doc,
             "An array in memory of another library.\n"
             "\n"
             "``from_dlpack()`` makes it. The memory is returned when the object is\n"
             "deleted. ``int()`` gives the address. Kernels and copies take the\n"
             "object.\n"
             "\nSee Also\n--------\n"
             "from_dlpack : Borrow an array.");

static PyType_Slot foreign_slots[] = {
    {Py_tp_doc, (void *)foreign_doc},
    {Py_tp_traverse, foreign_traverse},
    {Py_tp_clear, foreign_clear},
    {Py_tp_dealloc, foreign_dealloc},
    {Py_tp_members, foreign_members},
    {Py_tp_getset, foreign_getset},
    {Py_nb_int, foreign_int},
    {Py_nb_index, foreign_int},
    {0, NULL},
};

static PyType_Spec foreign_spec = {
    "pycuda._driver.ForeignAllocation", sizeof(pcu_foreign_allocation), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    foreign_slots};

int
pcu_foreign_allocation_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->ForeignAllocation, &foreign_spec, NULL);
}
