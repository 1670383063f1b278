/* DLPack both ways: as_dlpack() of allocations, from_dlpack() and ForeignAllocation.
 *
 * What is lent keeps a reference to its owner. The consumer gives it back in any
 * thread: the reference is dropped under the interpreter lock, which is taken for it.
 * When the interpreter has ended there is nothing to drop it in, and it stays.
 *
 * What is borrowed belongs to the ForeignAllocation that stands for it, which calls the
 * producer's deleter once, when it goes. */
#include "python/driver/exchange/dlpack.h"

#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context_stack.h"
#include "python/driver/stream.h"

/* -- types of items ---------------------------------------------------------------- */

static int
dlpack_describe_dtype(PyArray_Descr *dtype, pcu_dl_dtype *out)
{
    int code = dtype->kind == 'i'   ? PCU_DL_INT
               : dtype->kind == 'u' ? PCU_DL_UINT
               : dtype->kind == 'f' ? PCU_DL_FLOAT
               : dtype->kind == 'c' ? PCU_DL_COMPLEX
               : dtype->kind == 'b' ? PCU_DL_BOOL
                                    : -1;
    npy_intp size = PyDataType_ELSIZE(dtype);
    int longdouble =
        dtype->type_num == NPY_LONGDOUBLE || dtype->type_num == NPY_CLONGDOUBLE;
    if (code < 0 || longdouble || !PyArray_ISNBO(dtype->byteorder)) {
        PyErr_Format(PyExc_BufferError, "DLPack has no type for %R", (PyObject *)dtype);
        return -1;
    }
    *out =
        (pcu_dl_dtype){.code = (uint8_t)code, .bits = (uint8_t)(8 * size), .lanes = 1};
    return 0;
}

/* The NumPy type of items, NULL with an exception if there is none. */
static PyArray_Descr *
dlpack_dtype_new(pcu_dl_dtype type)
{
    static const struct {
        int code;
        int bits;
        int number;
    } known[] = {
        {PCU_DL_INT, 8, NPY_INT8},
        {PCU_DL_INT, 16, NPY_INT16},
        {PCU_DL_INT, 32, NPY_INT32},
        {PCU_DL_INT, 64, NPY_INT64},
        {PCU_DL_UINT, 8, NPY_UINT8},
        {PCU_DL_UINT, 16, NPY_UINT16},
        {PCU_DL_UINT, 32, NPY_UINT32},
        {PCU_DL_UINT, 64, NPY_UINT64},
        {PCU_DL_FLOAT, 16, NPY_FLOAT16},
        {PCU_DL_FLOAT, 32, NPY_FLOAT32},
        {PCU_DL_FLOAT, 64, NPY_FLOAT64},
        {PCU_DL_COMPLEX, 64, NPY_COMPLEX64},
        {PCU_DL_COMPLEX, 128, NPY_COMPLEX128},
        {PCU_DL_BOOL, 8, NPY_BOOL},
    };
    for (size_t i = 0; type.lanes == 1 && i < Py_ARRAY_LENGTH(known); i++) {
        if (known[i].code == type.code && known[i].bits == type.bits) {
            return PyArray_DescrFromType(known[i].number);
        }
    }
    PyErr_Format(PyExc_BufferError,
                 "NumPy has no type for the items of this tensor (DLPack code %d, %d "
                 "bits, %d lanes)",
                 type.code, type.bits, type.lanes);
    return NULL;
}

/* -- lending ----------------------------------------------------------------------- */

typedef struct {
    union {
        pcu_dl_managed plain;
        pcu_dl_versioned versioned;
    } managed;
    PyObject *owner; /* strong */
    int64_t dims[];  /* shape, then strides */
} dlpack_loan;

/* 1 if this thread may touch Python objects as it is. */
static int
dlpack_thread_has_lock(void)
{
    return PyThreadState_GetUnchecked() != NULL && PyGILState_Check();
}

static void
dlpack_drop_owner(PyObject *owner)
{
    pcu_saved_error pending;
    pcu_error_save(&pending);
    Py_DECREF(owner);
    pcu_error_restore(&pending);
}

/* A loan ends, in any thread and at any time. */
static void
dlpack_loan_end(dlpack_loan *loan)
{
    PyObject *owner = loan->owner;
    PyMem_RawFree(loan);
    if (dlpack_thread_has_lock()) {
        dlpack_drop_owner(owner);
    }
    else if (Py_IsInitialized() && !pcu_is_finalizing()) {
        PyGILState_STATE state = PyGILState_Ensure();
        dlpack_drop_owner(owner);
        PyGILState_Release(state);
    }
}

static void
dlpack_plain_deleter(pcu_dl_managed *managed)
{
    dlpack_loan_end(managed->manager);
}

static void
dlpack_versioned_deleter(pcu_dl_versioned *managed)
{
    dlpack_loan_end(managed->manager);
}

/* A capsule that nobody took: the loan is still ours. */
static void
dlpack_capsule_end(PyObject *capsule)
{
    pcu_saved_error pending;
    pcu_error_save(&pending);
    if (PyCapsule_IsValid(capsule, PCU_DL_NAME)) {
        pcu_dl_managed *managed = PyCapsule_GetPointer(capsule, PCU_DL_NAME);
        dlpack_loan_end(managed->manager);
    }
    else if (PyCapsule_IsValid(capsule, PCU_DL_VERSIONED_NAME)) {
        pcu_dl_versioned *managed =
            PyCapsule_GetPointer(capsule, PCU_DL_VERSIONED_NAME);
        dlpack_loan_end(managed->manager);
    }
    pcu_error_restore(&pending);
}

/* Strides of DLPack count items. */
static int
dlpack_fill_dims(dlpack_loan *loan, const pcu_dlpack *t)
{
    npy_intp size = PyDataType_ELSIZE(t->dtype);
    for (int i = 0; i < t->ndim; i++) {
        if (t->strides[i] % size != 0) {
            PyErr_Format(PyExc_BufferError,
                         "a stride of %zd bytes is no multiple of the %zd bytes of an "
                         "item, so DLPack cannot describe it",
                         (Py_ssize_t)t->strides[i], (Py_ssize_t)size);
            return -1;
        }
        loan->dims[i] = (int64_t)t->shape[i];
        loan->dims[t->ndim + i] = t->strides[i] / size;
    }
    return 0;
}

PyObject *
pcu_dlpack_export(const pcu_dlpack *t, PyObject *owner, int versioned)
{
    pcu_dl_tensor tensor = {
        .data = (void *)(uintptr_t)t->pointer, .device = t->device, .ndim = t->ndim};
    if (dlpack_describe_dtype(t->dtype, &tensor.dtype) < 0) {
        return NULL;
    }
    if (t->readonly && !versioned) {
        PyErr_SetString(PyExc_BufferError,
                        "read-only memory needs a consumer that knows DLPack 1");
        return NULL;
    }
    dlpack_loan *loan =
        PyMem_RawCalloc(1, sizeof(*loan) + 2 * (size_t)t->ndim * sizeof(int64_t));
    if (loan == NULL) {
        return PyErr_NoMemory();
    }
    if (dlpack_fill_dims(loan, t) < 0) {
        PyMem_RawFree(loan);
        return NULL;
    }
    tensor.shape = loan->dims;
    tensor.strides = loan->dims + t->ndim;
    loan->owner = Py_NewRef(owner);
    if (versioned) {
        pcu_dl_versioned *managed = &loan->managed.versioned;
        managed->version.major = PCU_DL_MAJOR;
        managed->version.minor = PCU_DL_MINOR;
        managed->manager = loan;
        managed->deleter = dlpack_versioned_deleter;
        managed->flags = (uint64_t)((t->readonly ? PCU_DL_READ_ONLY : 0) |
                                    (t->copied ? PCU_DL_IS_COPIED : 0));
        managed->tensor = tensor;
    }
    else {
        pcu_dl_managed *managed = &loan->managed.plain;
        managed->tensor = tensor;
        managed->manager = loan;
        managed->deleter = dlpack_plain_deleter;
    }
    /* either struct is at the start of the loan */
    PyObject *capsule = PyCapsule_New(
        loan, versioned ? PCU_DL_VERSIONED_NAME : PCU_DL_NAME, dlpack_capsule_end);
    if (capsule == NULL) {
        dlpack_loan_end(loan);
    }
    return capsule;
}

int
pcu_dlpack_wants_version(PyObject *max_version)
{
    unsigned long long major = 0;
    if (max_version == NULL || max_version == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(max_version) || PyTuple_GET_SIZE(max_version) != 2) {
        PyErr_SetString(PyExc_TypeError,
                        "max_version must be None or a tuple (major, minor)");
        return -1;
    }
    return pcu_as_integer(PyTuple_GET_ITEM(max_version, 0), 0, UINT32_MAX, &major,
                          "max_version[0]") < 0
               ? -1
               : major >= PCU_DL_MAJOR;
}

/* -- as_dlpack() of allocations ---------------------------------------------------- */

typedef struct {
    pcu_shape shape;
    PyArray_Descr *dtype; /* new reference once parsed */
    PyObject *strides;
    PyObject *max_version;
} dlpack_lend_args;

static int
dlpack_parse_strides(PyObject *strides, pcu_dlpack *t)
{
    size_t size = (size_t)PyDataType_ELSIZE(t->dtype);
    if (strides == NULL || strides == Py_None) {
        if (pcu_strides_c(t->ndim, t->shape, size, t->strides) == 0) {
            return 0;
        }
        PyErr_SetString(PyExc_ValueError, "shape and dtype are too large");
        return -1;
    }
    PyObject *items = PySequence_Tuple(strides);
    if (items == NULL) {
        return -1;
    }
    int rc = 0;
    if (PyTuple_GET_SIZE(items) != t->ndim) {
        PyErr_Format(PyExc_ValueError, "strides has %zd entries, shape has %d",
                     PyTuple_GET_SIZE(items), t->ndim);
        rc = -1;
    }
    for (int i = 0; rc == 0 && i < t->ndim; i++) {
        unsigned long long bits = 0;
        rc = pcu_as_integer(PyTuple_GET_ITEM(items, i), PTRDIFF_MIN, PTRDIFF_MAX, &bits,
                            "strides");
        t->strides[i] = (ptrdiff_t)bits;
    }
    Py_DECREF(items);
    return rc;
}

/* The array must lie inside the allocation. */
static int
dlpack_check_extent(pcu_resource *self, const pcu_dlpack *t)
{
    ptrdiff_t low = 0;
    ptrdiff_t high = 0;
    CUdeviceptr base = 0;
    size_t size = 0;
    int rc = pcu_extent(t->ndim, t->shape, t->strides,
                        (size_t)PyDataType_ELSIZE(t->dtype), &low, &high);
    if (rc == 0 && Py_IS_TYPE((PyObject *)self, self->st->PooledDeviceAllocation)) {
        size = (size_t)PyObject_Size((PyObject *)self);
    }
    else if (rc == 0) {
        PCU_CALL_CURRENT(rc, self->st, MemGetAddressRange, (&base, &size, t->pointer));
        if (rc < 0) {
            return -1;
        }
        size -= (size_t)(t->pointer - base);
    }
    if (rc < 0 || low < 0 || (size_t)high > size) {
        PyErr_Format(PyExc_ValueError,
                     "an array of that shape, dtype and strides does not lie inside "
                     "this allocation");
        return -1;
    }
    return 0;
}

/* Memory of cudaMallocManaged has a device type of its own. */
int32_t
pcu_dlpack_device_type(CUdeviceptr pointer)
{
    int managed = 0;
    CUresult status =
        drv.PointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer);
    return status == CUDA_SUCCESS && managed ? PCU_DL_CUDA_MANAGED : PCU_DL_CUDA;
}

PyDoc_STRVAR(
    dlpack_as_dlpack_doc,
    "as_dlpack($self, /, shape, dtype, strides=None, max_version=None)\n--\n\n"
    "A DLPack capsule over an array in this memory, for another library.\n\n"
    "strides are bytes; None is C order. It keeps this allocation alive. Nothing\n"
    "waits for queued work. max_version=(1, 0) gives the form of DLPack 1.");

static PyObject *
dlpack_as_dlpack(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"shape", pcu_as_shape, offsetof(dlpack_lend_args, shape)},
        {"dtype", pcu_as_dtype, offsetof(dlpack_lend_args, dtype)},
        {"strides", pcu_as_object, offsetof(dlpack_lend_args, strides)},
        {"max_version", pcu_as_object, offsetof(dlpack_lend_args, max_version)},
    };
    static const pcu_argtable table = {"as_dlpack", specs, 4, 2, 0};
    pcu_resource *self = (pcu_resource *)op;
    dlpack_lend_args a = {.dtype = NULL};
    pcu_dlpack t;
    PyObject *capsule = NULL;
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0) {
        Py_XDECREF(a.dtype);
        return NULL;
    }
    int versioned = pcu_dlpack_wants_version(a.max_version);
    t.dtype = a.dtype;
    t.ndim = a.shape.ndim;
    t.readonly = t.copied = 0;
    for (int i = 0; i < t.ndim; i++) {
        t.shape[i] = (size_t)a.shape.dims[i];
    }
    if (versioned >= 0 && PyDataType_ELSIZE(a.dtype) == 0) {
        PyErr_SetString(PyExc_BufferError,
                        "DLPack has no type for items without bytes");
    }
    /* Reading the arguments may run code that frees the block, so it is looked at
     * after them. */
    else if (versioned >= 0 && dlpack_parse_strides(a.strides, &t) == 0 &&
             pcu_resource_check(self, "as_dlpack") == 0) {
        t.pointer = self->handle.memory;
        t.device.type = pcu_dlpack_device_type(t.pointer);
        t.device.id = pcu_context_rec(self->ctx)->device;
        if (dlpack_check_extent(self, &t) == 0) {
            capsule = pcu_dlpack_export(&t, op, versioned);
        }
    }
    Py_XDECREF(a.dtype);
    return capsule;
}

static PyMethodDef dlpack_allocation_methods[] = {
    {"as_dlpack", (PyCFunction)(void (*)(void))dlpack_as_dlpack,
     METH_FASTCALL | METH_KEYWORDS, dlpack_as_dlpack_doc},
    {NULL, NULL, 0, NULL},
};

/* -- ForeignAllocation ------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *dict;
    PyObject *weakrefs;
    pcu_dl_managed *plain; /* one of the two is ours to end */
    pcu_dl_versioned *versioned;
    PyObject *stream_object; /* keeps stream alive; never in tp_clear */
    CUstream stream;         /* on which the producer made the memory safe to use */
    pcu_dlpack tensor;       /* with a strong dtype */
} foreign;

const pcu_dlpack *
pcu_dlpack_of(PyObject *op)
{
    return &((foreign *)op)->tensor;
}

static int
foreign_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((foreign *)op)->dict);
    Py_VISIT(((foreign *)op)->stream_object);
    return 0;
}

static int
foreign_clear(PyObject *op)
{
    Py_CLEAR(((foreign *)op)->dict);
    return 0;
}

/* The producer's deleter may run Python code. */
static void
foreign_dealloc(PyObject *op)
{
    foreign *self = (foreign *)op;
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
    return PyLong_FromUnsignedLongLong(((foreign *)op)->tensor.pointer);
}

static PyObject *
foreign_get_shape(PyObject *op, void *Py_UNUSED(closure))
{
    const pcu_dlpack *t = &((foreign *)op)->tensor;
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
    const pcu_dlpack *t = &((foreign *)op)->tensor;
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
    return Py_NewRef((PyObject *)((foreign *)op)->tensor.dtype);
}

static PyObject *
foreign_get_device(PyObject *op, void *Py_UNUSED(closure))
{
    const pcu_dlpack *t = &((foreign *)op)->tensor;
    return Py_BuildValue("(ii)", (int)t->device.type, (int)t->device.id);
}

static PyObject *
foreign_get_readonly(PyObject *op, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(((foreign *)op)->tensor.readonly);
}

/* Host memory has no stream; else it is the one that the producer was told. */
static PyObject *
foreign_stream_new(const foreign *self)
{
    if (self->tensor.device.type == PCU_DL_CUDA_HOST) {
        return Py_NewRef(Py_None);
    }
    return PyLong_FromVoidPtr(self->stream == NULL ? CU_STREAM_LEGACY : self->stream);
}

static PyObject *
foreign_get_interface(PyObject *op, void *Py_UNUSED(closure))
{
    foreign *self = (foreign *)op;
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
    {"readonly", foreign_get_readonly, NULL, "True if it must not be written.", NULL},
    {"__cuda_array_interface__", foreign_get_interface, NULL,
     "The array for kernel calls and other libraries.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef foreign_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(foreign, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(foreign, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(
    foreign_doc,
    "An array in memory of another library, borrowed by DLPack and given back\n"
    "when the object goes.\n\n"
    "int() gives the address. It can be passed to kernels and copied.");

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
    "pycuda._driver.ForeignAllocation", sizeof(foreign), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    foreign_slots};

/* -- borrowing --------------------------------------------------------------------- */

static int
dlpack_check_device(pcu_dl_device device)
{
    if (device.type == PCU_DL_CUDA || device.type == PCU_DL_CUDA_HOST ||
        device.type == PCU_DL_CUDA_MANAGED) {
        return 0;
    }
    PyErr_Format(
        PyExc_BufferError,
        "the tensor is not in memory of CUDA, but on a device of DLPack's type "
        "%d%s",
        (int)device.type, device.type == PCU_DL_CPU ? ", ordinary host memory" : "");
    return -1;
}

/* Read a tensor into *t, whose dtype becomes a new reference. */
static int
dlpack_read(const pcu_dl_tensor *tensor, pcu_dlpack *t)
{
    if (dlpack_check_device(tensor->device) < 0) {
        return -1;
    }
    if (tensor->ndim < 0 || tensor->ndim > PCU_MAX_NDIM) {
        PyErr_Format(PyExc_BufferError,
                     "the tensor has %d dimensions; at most %d are possible",
                     (int)tensor->ndim, PCU_MAX_NDIM);
        return -1;
    }
    t->pointer = (CUdeviceptr)(uintptr_t)tensor->data + tensor->byte_offset;
    t->device = tensor->device;
    t->ndim = tensor->ndim;
    t->dtype = dlpack_dtype_new(tensor->dtype);
    if (t->dtype == NULL) {
        return -1;
    }
    size_t size = (size_t)PyDataType_ELSIZE(t->dtype);
    int bad = 0;
    for (int i = 0; i < t->ndim; i++) {
        bad |= tensor->shape[i] < 0;
        t->shape[i] = (size_t)tensor->shape[i];
        if (tensor->strides != NULL) {
            bad |= __builtin_mul_overflow(tensor->strides[i], (int64_t)size,
                                          &t->strides[i]);
        }
    }
    if (!bad && tensor->strides == NULL) {
        bad = pcu_strides_c(t->ndim, t->shape, size, t->strides) < 0;
    }
    if (bad) {
        PyErr_SetString(PyExc_BufferError, "the shape of the tensor is no array's");
        Py_CLEAR(t->dtype);
        return -1;
    }
    return 0;
}

/* Take the tensor out of a capsule. Until it is renamed it stays the producer's: once
 * it was looked at, nothing may run that takes it, too. */
static int
dlpack_take(foreign *self, PyObject *capsule)
{
    pcu_dl_managed *plain = NULL;
    pcu_dl_versioned *versioned = NULL;
    const pcu_dl_tensor *tensor = NULL;
    if (PyCapsule_IsValid(capsule, PCU_DL_NAME)) {
        plain = PyCapsule_GetPointer(capsule, PCU_DL_NAME);
        tensor = plain == NULL ? NULL : &plain->tensor;
    }
    else if (PyCapsule_IsValid(capsule, PCU_DL_VERSIONED_NAME)) {
        versioned = PyCapsule_GetPointer(capsule, PCU_DL_VERSIONED_NAME);
        tensor = versioned == NULL ? NULL : &versioned->tensor;
    }
    else {
        PyErr_Format(PyExc_BufferError,
                     "%R is no DLPack capsule, or its tensor was taken before",
                     capsule);
    }
    if (tensor == NULL) {
        return -1;
    }
    if (versioned != NULL && versioned->version.major != PCU_DL_MAJOR) {
        PyErr_Format(PyExc_BufferError, "the tensor is of DLPack %u; %d is known here",
                     (unsigned int)versioned->version.major, PCU_DL_MAJOR);
        return -1;
    }
    if (dlpack_read(tensor, &self->tensor) < 0 ||
        PyCapsule_SetName(capsule, plain != NULL ? PCU_DL_USED_NAME
                                                 : PCU_DL_VERSIONED_USED_NAME) < 0) {
        return -1;
    }
    self->plain = plain;
    self->versioned = versioned;
    self->tensor.readonly =
        versioned != NULL && (versioned->flags & PCU_DL_READ_ONLY) != 0;
    return 0;
}

/* Making the object may collect garbage, so it comes before the capsule is looked at.
 */
static PyObject *
dlpack_take_new(pcu_state *st, PyObject *capsule, CUstream stream)
{
    PyTypeObject *type = st->ForeignAllocation;
    foreign *self = (foreign *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->st = st;
    self->stream = stream;
    if (dlpack_take(self, capsule) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* The device of a producer: it must be asked before the tensor. */
static int
dlpack_ask_device(PyObject *producer, pcu_dl_device *device)
{
    int type = 0;
    int id = 0;
    PyObject *pair = PyObject_CallMethod(producer, "__dlpack_device__", NULL);
    PyObject *items = pair == NULL ? NULL : PySequence_Tuple(pair);
    int rc = -1;
    if (items != NULL && PyTuple_GET_SIZE(items) == 2) {
        rc = pcu_as_int(NULL, PyTuple_GET_ITEM(items, 0), &type, "the device type") <
                         0 ||
                     pcu_as_int(NULL, PyTuple_GET_ITEM(items, 1), &id,
                                "the device number") < 0
                 ? -1
                 : 0;
    }
    else if (items != NULL) {
        PyErr_SetString(PyExc_TypeError, "__dlpack_device__ must give (type, number)");
    }
    Py_XDECREF(pair);
    Py_XDECREF(items);
    device->type = type;
    device->id = id;
    return rc < 0 ? -1 : dlpack_check_device(*device);
}

/* producer.__dlpack__(stream=, max_version=). Producers older than DLPack 1 do not know
 * max_version. */
static PyObject *
dlpack_ask_capsule_new(PyObject *producer, PyObject *stream)
{
    PyObject *method = PyObject_GetAttrString(producer, "__dlpack__");
    PyObject *none = PyTuple_New(0);
    PyObject *old = Py_BuildValue("{s:O}", "stream", stream);
    PyObject *new = Py_BuildValue("{s:O,s:(ii)}", "stream", stream, "max_version",
                                  PCU_DL_MAJOR, PCU_DL_MINOR);
    PyObject *capsule = NULL;
    if (method != NULL && none != NULL && old != NULL && new != NULL) {
        capsule = PyObject_Call(method, none, new);
        if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear(); /* asked again in the words of before */
            capsule = PyObject_Call(method, none, old);
        }
    }
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(old);
    Py_XDECREF(new);
    return capsule;
}

static PyObject *
dlpack_borrow_new(pcu_state *st, PyObject *producer, CUstream stream)
{
    pcu_dl_device device = {0};
    if (PyCapsule_CheckExact(producer)) {
        return dlpack_take_new(st, producer, stream);
    }
    if (dlpack_ask_device(producer, &device) < 0) {
        return NULL;
    }
    PyObject *number =
        device.type == PCU_DL_CUDA_HOST
            ? Py_NewRef(Py_None)
            : PyLong_FromVoidPtr(stream == NULL ? CU_STREAM_LEGACY : stream);
    PyObject *capsule =
        number == NULL ? NULL : dlpack_ask_capsule_new(producer, number);
    PyObject *result = capsule == NULL ? NULL : dlpack_take_new(st, capsule, stream);
    Py_XDECREF(number);
    Py_XDECREF(capsule);
    return result;
}

PyObject *
pcu_dlpack_import_new(pcu_state *st, PyObject *producer, PyObject *stream)
{
    CUstream handle = NULL;
    PyObject *result = NULL;
    if (stream == NULL || stream == Py_None) {
        pcu_resource *current = pcu_stream_find_borrow();
        stream = current == NULL ? Py_None : (PyObject *)current;
    }
    Py_INCREF(stream);
    if (pcu_as_stream(st, stream, &handle, "stream") == 0) {
        result = dlpack_borrow_new(st, producer, handle);
    }
    if (result == NULL) {
        Py_DECREF(stream);
    }
    else {
        ((foreign *)result)->stream_object = stream;
    }
    return result;
}

typedef struct {
    PyObject *producer;
    PyObject *stream;
} dlpack_borrow_args;

PyDoc_STRVAR(
    dlpack_from_dlpack_doc,
    "from_dlpack($module, x, /, stream=None)\n--\n\n"
    "Borrow the array of another library: a ForeignAllocation.\n\n"
    "x has __dlpack__ and __dlpack_device__, or is a DLPack capsule. Its library\n"
    "is asked to make it safe for work on the stream. BufferError if it is not\n"
    "in memory of CUDA.");

static PyObject *
dlpack_from_dlpack(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"x", pcu_as_object, offsetof(dlpack_borrow_args, producer)},
        {"stream", pcu_as_object, offsetof(dlpack_borrow_args, stream)},
    };
    static const pcu_argtable table = {"from_dlpack", specs, 2, 1, 1};
    pcu_state *st = pcu_state_of_module(m);
    dlpack_borrow_args a = {0};
    return pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0
               ? NULL
               : pcu_dlpack_import_new(st, a.producer, a.stream);
}

static PyMethodDef dlpack_functions[] = {
    {"from_dlpack", (PyCFunction)(void (*)(void))dlpack_from_dlpack,
     METH_FASTCALL | METH_KEYWORDS, dlpack_from_dlpack_doc},
    {NULL, NULL, 0, NULL},
};

/* After the types that get as_dlpack(). */
int
pcu_dlpack_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->ForeignAllocation, &foreign_spec, NULL) < 0 ||
        pcu_add_methods(st->DeviceAllocation, dlpack_allocation_methods) < 0 ||
        pcu_add_methods(st->PooledDeviceAllocation, dlpack_allocation_methods) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, dlpack_functions);
}
