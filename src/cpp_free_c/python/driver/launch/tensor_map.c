/* TensorMap: a tensor map of the driver, for the tensor memory access unit of GPUs of
 * compute capability 9.0. See tensor_map.h.
 *
 * The driver numbers the dimensions from the innermost one; here they are in the order
 * of the array's shape.
 *
 * Invariant: a TensorMap never changes after __new__, and holds its array. */
#include "python/driver/launch/tensor_map.h"

#include "python/support/convert.h"
#include "python/support/driver_call.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"

enum { RANK_MOST = 5, STRIDE_UNIT = 16, ADDRESS_UNIT = 16, BOX_MOST = 256 };

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *array; /* strong: its memory is what kernels copy */
    unsigned char bytes[PCU_TENSOR_MAP_SIZE];
} tensor_map;

const void *
pcu_tensor_map_bytes(pcu_state *st, PyObject *op)
{
    if (!Py_IS_TYPE(op, st->TensorMap)) {
        return NULL;
    }
    return ((tensor_map *)op)->bytes;
}

PyObject *
pcu_tensor_map_array(PyObject *op)
{
    return ((tensor_map *)op)->array;
}

/* -- the array --------------------------------------------------------------------- */

/* An array as its interface describes it, dimensions in the order of the shape. */
typedef struct {
    CUdeviceptr address;
    int rank;
    unsigned long long shape[RANK_MOST];
    long long strides[RANK_MOST]; /* bytes */
    PyArray_Descr *dtype;         /* strong */
} tensor_array;

/* The entry of the interface; NULL without an exception if there is none. */
static PyObject *
tensor_entry_new(PyObject *interface, const char *name)
{
    PyObject *value = PyMapping_GetItemString(interface, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear(); /* the entry is optional */
    }
    return value;
}

/* Read a tuple of `rank` integers. */
static int
tensor_read_tuple(PyObject *value, int rank, long long low, unsigned long long high,
                  unsigned long long *out, const char *name)
{
    PyObject *items = PySequence_Tuple(value);
    int rc = 0;
    if (items == NULL) {
        return -1;
    }
    if (PyTuple_GET_SIZE(items) != rank) {
        PyErr_Format(PyExc_ValueError,
                     "%s has %zd items, but the array has %d dimensions", name,
                     PyTuple_GET_SIZE(items), rank);
        rc = -1;
    }
    for (int i = 0; i < rank && rc == 0; i++) {
        rc = pcu_as_integer(PyTuple_GET_ITEM(items, i), low, high, &out[i], name);
    }
    Py_DECREF(items);
    return rc;
}

/* Read shape and strides. Without strides the array is contiguous. */
static int
tensor_read_layout(PyObject *shape, PyObject *strides, tensor_array *a)
{
    Py_ssize_t rank = PySequence_Size(shape);
    if (rank < 0) {
        return -1;
    }
    if (rank < 1 || rank > RANK_MOST) {
        PyErr_Format(PyExc_ValueError,
                     "a TensorMap has 1 to %d dimensions; the array has %zd", RANK_MOST,
                     rank);
        return -1;
    }
    a->rank = (int)rank;
    if (tensor_read_tuple(shape, a->rank, 0, LLONG_MAX, a->shape, "shape") < 0) {
        return -1;
    }
    if (strides != NULL && strides != Py_None) {
        return tensor_read_tuple(strides, a->rank, LLONG_MIN, LLONG_MAX,
                                 (unsigned long long *)a->strides, "strides");
    }
    long long stride = (long long)PyDataType_ELSIZE(a->dtype);
    for (int i = a->rank; i-- > 0;) {
        a->strides[i] = stride;
        stride *= (long long)a->shape[i];
    }
    return 0;
}

/* Read the address, the first item of the entry `data`. */
static int
tensor_read_address(PyObject *data, CUdeviceptr *address)
{
    PyObject *item = PySequence_GetItem(data, 0);
    int rc = -1;
    if (item != NULL) {
        rc = pcu_as_address(item, address, "__cuda_array_interface__['data'][0]");
        Py_DECREF(item);
    }
    return rc;
}

static int
tensor_read_array(pcu_state *st, PyObject *array, tensor_array *a)
{
    PyObject *interface = pcu_attribute_new(array, st->str___cuda_array_interface__);
    PyObject *entries[4] = {NULL, NULL, NULL, NULL};
    static const char *const names[] = {"shape", "strides", "typestr", "data"};
    int rc = -1;
    if (interface == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError,
                         "array must be a GPUArray or another array on the device with "
                         "__cuda_array_interface__, not %s",
                         Py_TYPE(array)->tp_name);
        }
        return -1;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(names); i++) {
        entries[i] = tensor_entry_new(interface, names[i]);
        if (entries[i] == NULL && (i != 1 || PyErr_Occurred())) {
            if (!PyErr_Occurred()) {
                PyErr_Format(PyExc_TypeError, "__cuda_array_interface__ has no '%s'",
                             names[i]);
            }
            goto done;
        }
    }
    if (PyArray_DescrConverter(entries[2], &a->dtype) == NPY_SUCCEED &&
        tensor_read_layout(entries[0], entries[1], a) == 0) {
        rc = tensor_read_address(entries[3], &a->address);
    }
done:
    for (size_t i = 0; i < Py_ARRAY_LENGTH(names); i++) {
        Py_XDECREF(entries[i]);
    }
    Py_DECREF(interface);
    return rc;
}

/* -- the description --------------------------------------------------------------- */

typedef struct {
    PyObject *array;
    PyObject *box;
    PyObject *swizzle;
    PyObject *element_strides;
    PyObject *interleave;
    PyObject *l2_promotion;
    PyObject *oob_fill;
    PyObject *data_type;
} map_args;

/* The driver's parameters, innermost dimension first. */
typedef struct {
    CUtensorMapDataType type;
    unsigned int rank;
    uint64_t dims[RANK_MOST];
    uint64_t strides[RANK_MOST]; /* of all dimensions but the innermost */
    unsigned int box[RANK_MOST];
    unsigned int steps[RANK_MOST];
    unsigned int interleave;
    unsigned int swizzle;
    unsigned int promotion;
    unsigned int fill;
} map_parameters;

/* The data type of the driver for a dtype. */
static int
map_data_type(PyArray_Descr *dtype, unsigned int *type)
{
    static const struct {
        char kind;
        npy_intp size;
        unsigned int type;
    } known[] = {{'u', 1, 0}, {'i', 1, 0}, {'b', 1, 0}, {'u', 2, 1},
                 {'i', 2, 1}, {'u', 4, 2}, {'i', 4, 3}, {'u', 8, 4},
                 {'i', 8, 5}, {'f', 2, 6}, {'f', 4, 7}, {'f', 8, 8}};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(known); i++) {
        if (dtype->kind == known[i].kind && PyDataType_ELSIZE(dtype) == known[i].size) {
            *type = known[i].type;
            return 0;
        }
    }
    PyErr_Format(PyExc_TypeError,
                 "a TensorMap has no elements of %R; give data_type=, a "
                 "tensor_map_data_type",
                 dtype);
    return -1;
}

/* Check what the driver requires of the array, to name the dimension at fault. */
static int
map_check_array(const tensor_array *a)
{
    long long element = (long long)PyDataType_ELSIZE(a->dtype);
    if (a->address % ADDRESS_UNIT != 0) {
        PyErr_Format(PyExc_ValueError,
                     "the address %p of the array must be a multiple of %d bytes",
                     (void *)(uintptr_t)a->address, ADDRESS_UNIT);
        return -1;
    }
    if (a->strides[a->rank - 1] != element && a->shape[a->rank - 1] > 1) {
        PyErr_Format(PyExc_ValueError,
                     "the elements of the last dimension must lie side by side; its "
                     "stride is %lld, not %lld",
                     a->strides[a->rank - 1], element);
        return -1;
    }
    for (int i = 0; i < a->rank; i++) {
        if (a->shape[i] == 0 || a->shape[i] > (1ULL << 32)) {
            PyErr_Format(PyExc_ValueError,
                         "dimension %d of the array must have 1 to 2**32 elements, not "
                         "%llu",
                         i, a->shape[i]);
            return -1;
        }
        if (i + 1 < a->rank && (a->strides[i] <= 0 || a->strides[i] >= (1LL << 40) ||
                                a->strides[i] % STRIDE_UNIT != 0)) {
            PyErr_Format(PyExc_ValueError,
                         "the stride of dimension %d must be a multiple of %d bytes "
                         "below 2**40, not %lld; pad the rows",
                         i, STRIDE_UNIT, a->strides[i]);
            return -1;
        }
    }
    return 0;
}

/* Read the box and the element strides. */
static int
map_read_box(const map_args *args, const tensor_array *a, map_parameters *p)
{
    unsigned long long box[RANK_MOST];
    unsigned long long steps[RANK_MOST];
    for (int i = 0; i < a->rank; i++) {
        steps[i] = 1;
    }
    if (tensor_read_tuple(args->box, a->rank, 1, BOX_MOST, box, "box") < 0 ||
        (args->element_strides != NULL && args->element_strides != Py_None &&
         tensor_read_tuple(args->element_strides, a->rank, 1, 8, steps,
                           "element_strides") < 0)) {
        return -1;
    }
    p->rank = (unsigned int)a->rank;
    for (int i = 0; i < a->rank; i++) {
        int k = a->rank - 1 - i;
        p->dims[k] = a->shape[i];
        p->box[k] = (unsigned int)box[i];
        p->steps[k] = (unsigned int)steps[i];
        if (k > 0) {
            p->strides[k - 1] = (uint64_t)a->strides[i];
        }
    }
    size_t inner = p->box[0] * (size_t)PyDataType_ELSIZE(a->dtype);
    if (p->interleave == 0 && inner % STRIDE_UNIT != 0) {
        PyErr_Format(PyExc_ValueError,
                     "the last dimension of the box must be a multiple of %d bytes, "
                     "not %zu",
                     STRIDE_UNIT, inner);
        return -1;
    }
    return 0;
}

/* Read an enumeration whose default is 0. */
static int
map_read_enum(PyObject *type, PyObject *value, unsigned int *out, const char *name)
{
    *out = 0;
    if (value == NULL || value == Py_None) {
        return 0;
    }
    return pcu_enum_value(type, value, out, name);
}

static int
map_read_parameters(pcu_state *st, const map_args *args, const tensor_array *a,
                    map_parameters *p)
{
    memset(p, 0, sizeof(*p));
    if (map_read_enum(st->enum_tensor_map_swizzle, args->swizzle, &p->swizzle,
                      "swizzle") < 0 ||
        map_read_enum(st->enum_tensor_map_interleave, args->interleave, &p->interleave,
                      "interleave") < 0 ||
        map_read_enum(st->enum_tensor_map_l2_promotion, args->l2_promotion,
                      &p->promotion, "l2_promotion") < 0 ||
        map_read_enum(st->enum_tensor_map_oob_fill, args->oob_fill, &p->fill,
                      "oob_fill") < 0) {
        return -1;
    }
    if (args->data_type != NULL && args->data_type != Py_None) {
        return pcu_enum_value(st->enum_tensor_map_data_type, args->data_type, &p->type,
                              "data_type");
    }
    return map_data_type(a->dtype, &p->type);
}

/* Let the driver encode the map into the object. */
static int
map_encode(tensor_map *self, const tensor_array *a, const map_parameters *p)
{
    CUtensorMap map;
    memset(&map, 0, sizeof(map));
    CUresult status = drv.TensorMapEncodeTiled(
        &map, p->type, p->rank, (void *)(uintptr_t)a->address, p->dims, p->strides,
        p->box, p->steps, p->interleave, p->swizzle, p->promotion, p->fill);
    if (status == CUDA_SUCCESS) {
        memcpy(self->bytes, &map, sizeof(map));
        return 0;
    }
    return pcu_raise_detail(
        self->st, "cuTensorMapEncodeTiled", status,
        "%u dimensions, data type %u, innermost box of %u elements, swizzle %u, "
        "interleave %u; the bytes of the innermost box must fit the swizzle",
        p->rank, p->type, p->box[0], p->swizzle, p->interleave);
}

static int
map_init(tensor_map *self, const map_args *args)
{
    tensor_array a = {.dtype = NULL};
    map_parameters p;
    int rc = tensor_read_array(self->st, args->array, &a);
    if (rc == 0) {
        rc = map_read_parameters(self->st, args, &a, &p);
    }
    if (rc == 0) {
        rc = map_check_array(&a);
    }
    if (rc == 0) {
        rc = map_read_box(args, &a, &p);
    }
    if (rc == 0) {
        rc = map_encode(self, &a, &p);
    }
    Py_XDECREF(a.dtype);
    return rc;
}

/* -- the type ---------------------------------------------------------------------- */

static PyObject *
map_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {
        {"array", pcu_as_object, offsetof(map_args, array)},
        {"box", pcu_as_object, offsetof(map_args, box)},
        {"swizzle", pcu_as_object, offsetof(map_args, swizzle)},
        {"element_strides", pcu_as_object, offsetof(map_args, element_strides)},
        {"interleave", pcu_as_object, offsetof(map_args, interleave)},
        {"l2_promotion", pcu_as_object, offsetof(map_args, l2_promotion)},
        {"oob_fill", pcu_as_object, offsetof(map_args, oob_fill)},
        {"data_type", pcu_as_object, offsetof(map_args, data_type)},
    };
    static const pcu_argtable table = {"TensorMap", specs, 8, 2, 0};
    pcu_state *st = pcu_state_of_type(type);
    map_args a = {.array = NULL};
    if (st == NULL || pcu_args_parse_tuple(st, &table, args, kwargs, &a) < 0) {
        return NULL;
    }
    tensor_map *self = (tensor_map *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->st = st;
    self->array = Py_NewRef(a.array);
    if (map_init(self, &a) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int
map_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((tensor_map *)op)->array);
    return 0;
}

static void
map_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    Py_CLEAR(((tensor_map *)op)->array);
    type->tp_free(op);
    Py_DECREF(type);
}

PyDoc_STRVAR(map_bytes_doc,
             "__bytes__($self, /)\n--\n\n"
             "Return the 128 bytes that kernels receive.");

static PyObject *
map_bytes(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return PyBytes_FromStringAndSize((const char *)((tensor_map *)op)->bytes,
                                     PCU_TENSOR_MAP_SIZE);
}

/* A read-only buffer of the 128 bytes, for prepared calls. */
static int
map_getbuffer(PyObject *op, Py_buffer *view, int flags)
{
    return PyBuffer_FillInfo(view, op, ((tensor_map *)op)->bytes, PCU_TENSOR_MAP_SIZE,
                             1, flags);
}

static PyMethodDef map_methods[] = {
    {"__bytes__", map_bytes, METH_NOARGS, map_bytes_doc},
    {NULL, NULL, 0, NULL},
};

static PyObject *
map_get_array(PyObject *op, void *Py_UNUSED(closure))
{
    return Py_NewRef(((tensor_map *)op)->array);
}

static PyGetSetDef map_getset[] = {
    {"array", map_get_array, NULL, "The array whose tiles kernels copy.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    map_doc,
    "TensorMap(array, box, swizzle=0, element_strides=None, interleave=0,\n"
    "          l2_promotion=0, oob_fill=0, data_type=None)\n--\n\n"
    "A CUtensorMap, by which kernels copy tiles of an array to shared memory.\n\n"
    "array: a GPUArray, or another array with __cuda_array_interface__, of 1 to 5\n"
    "dimensions. Its address and its strides are multiples of 16 bytes. box: the\n"
    "shape of a tile, in the order of the array's shape, up to 256 each. swizzle: a\n"
    "tensor_map_swizzle. element_strides: the step in each dimension, 1 to 8. The\n"
    "other arguments are members of tensor_map_interleave, tensor_map_l2_promotion,\n"
    "tensor_map_oob_fill and tensor_map_data_type (by default that of the dtype).\n"
    "The kernel's parameter is const __grid_constant__ CUtensorMap. The map keeps\n"
    "the array. It needs CUDA 12.0, and kernels that use it need capability 9.0.");

static PyType_Slot map_slots[] = {
    {Py_tp_doc, (void *)map_doc},     {Py_tp_new, map_new},
    {Py_tp_traverse, map_traverse},   {Py_tp_dealloc, map_dealloc},
    {Py_tp_methods, map_methods},     {Py_tp_getset, map_getset},
    {Py_bf_getbuffer, map_getbuffer}, {0, NULL},
};

static PyType_Spec map_spec = {
    "pycuda._driver.TensorMap", sizeof(tensor_map), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, map_slots};

int
pcu_tensor_map_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->TensorMap, &map_spec, NULL);
}
