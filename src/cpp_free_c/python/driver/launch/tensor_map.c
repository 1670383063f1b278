/* TensorMap: a tensor map of the driver, for the tensor memory access unit of GPUs of
 * compute capability 9.0.
 *
 * The driver numbers the dimensions from the innermost one; here they are in the order
 * of the array's shape.
 *
 * Invariant: a TensorMap never changes after __new__, and holds its array. */
#include "python/driver/launch/launch.h"

#include "python/support/convert.h"
#include "python/support/driver_call.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"

enum { STRIDE_UNIT = 16, ADDRESS_UNIT = 16, BOX_MOST = 256, PIXELS_MOST = 1024 };

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

/* -- the array: its address and layout, from __cuda_array_interface__ -------------- */

/* The dimensions of a map, and those of an array, of which an interleaved layout has
 * one more. */
enum { TENSOR_RANK = 5, TENSOR_DIMENSIONS = 6 };

/* An array as its interface describes it, dimensions in the order of the shape. */
typedef struct {
    CUdeviceptr address;
    int rank;
    unsigned long long shape[TENSOR_DIMENSIONS];
    long long strides[TENSOR_DIMENSIONS]; /* bytes */
    PyArray_Descr *dtype;                 /* strong */
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

/* Read a tuple of `rank` integers, which may be negative if `low` is. */
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
    if (rank < 1 || rank > TENSOR_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError,
                     "a TensorMap has 1 to %d dimensions; the array has %zd",
                     TENSOR_RANK, rank);
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

/* Read the interface of an array. On failure dtype may be set too. */
static int
tensor_array_read(pcu_state *st, PyObject *array, tensor_array *a)
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

/* The arguments of both constructors. */
typedef struct {
    PyObject *array;
    PyObject *box;           /* of TensorMap(...) */
    PyObject *lower, *upper; /* of TensorMap.im2col(...) */
    unsigned int channels, pixels;
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
    uint64_t dims[TENSOR_RANK];
    uint64_t strides[TENSOR_RANK]; /* of all dimensions but the innermost */
    unsigned int box[TENSOR_RANK];
    int lower[TENSOR_RANK]; /* corners of the pixels, innermost dimension first */
    int upper[TENSOR_RANK];
    unsigned int steps[TENSOR_RANK];
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

/* An array with an interleaved layout has slices of 16 or 32 bytes of channels as its
 * last dimension, which the map does not count. */
static int
map_leave_slices(tensor_array *a, const map_parameters *p)
{
    long long slice = 16LL * p->interleave;
    int last = a->rank - 1;
    long long element = (long long)PyDataType_ELSIZE(a->dtype);
    if (a->strides[last] != element || (long long)a->shape[last] * element != slice ||
        a->strides[last - 1] != slice) {
        PyErr_Format(
            PyExc_ValueError,
            "an array with interleave %u has slices of %lld bytes as its last "
            "dimension, which lie side by side; the array has %llu elements of "
            "%lld bytes there, with strides of %lld and %lld bytes in the last "
            "two dimensions",
            p->interleave, slice, a->shape[last], element, a->strides[last - 1],
            a->strides[last]);
        return -1;
    }
    a->rank--;
    return 0;
}

/* Check the number of dimensions, and leave out the slices of an interleaved layout.
 * The driver refuses interleaved arrays of too few dimensions. */
static int
map_check_rank(tensor_array *a, const map_parameters *p)
{
    if (p->interleave != 0 && a->rank > 3) {
        return map_leave_slices(a, p);
    }
    if (a->rank > TENSOR_RANK) {
        PyErr_Format(PyExc_ValueError,
                     "a TensorMap has 1 to %d dimensions; the array has %d",
                     TENSOR_RANK, a->rank);
        return -1;
    }
    return 0;
}

/* Check what the driver requires of the array, to name the dimension at fault. */
static int
map_check_array(const tensor_array *a, const map_parameters *p)
{
    long long element = (long long)PyDataType_ELSIZE(a->dtype);
    if (p->interleave != 0 && a->rank >= 3) {
        element = 16LL * p->interleave;
    }
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

/* Read the dimensions and the element strides. */
static int
map_read_layout(const map_args *args, const tensor_array *a, map_parameters *p)
{
    unsigned long long steps[TENSOR_RANK];
    for (int i = 0; i < a->rank; i++) {
        steps[i] = 1;
    }
    if (args->element_strides != NULL && args->element_strides != Py_None &&
        tensor_read_tuple(args->element_strides, a->rank, 1, 8, steps,
                          "element_strides") < 0) {
        return -1;
    }
    p->rank = (unsigned int)a->rank;
    for (int i = 0; i < a->rank; i++) {
        int k = a->rank - 1 - i;
        p->dims[k] = a->shape[i];
        p->steps[k] = (unsigned int)steps[i];
        if (k > 0) {
            p->strides[k - 1] = (uint64_t)a->strides[i];
        }
    }
    return 0;
}

/* Check the bytes of a row of a tile. */
static int
map_check_row(const tensor_array *a, unsigned int elements, const char *name)
{
    size_t bytes = elements * (size_t)PyDataType_ELSIZE(a->dtype);
    if (bytes % STRIDE_UNIT != 0) {
        PyErr_Format(PyExc_ValueError, "%s must be a multiple of %d bytes, not %zu",
                     name, STRIDE_UNIT, bytes);
        return -1;
    }
    return 0;
}

static int
map_read_box(const map_args *args, const tensor_array *a, map_parameters *p)
{
    unsigned long long box[TENSOR_RANK];
    if (tensor_read_tuple(args->box, a->rank, 1, BOX_MOST, box, "box") < 0) {
        return -1;
    }
    for (int i = 0; i < a->rank; i++) {
        p->box[a->rank - 1 - i] = (unsigned int)box[i];
    }
    return map_check_row(a, p->box[0], "the last dimension of the box");
}

/* Read one corner: a number for each dimension between the first and the last one. */
static int
map_read_corner(PyObject *value, const tensor_array *a, int *corner, const char *name)
{
    /* 16, 8 or 5 bits each */
    long long most = (1LL << (16 / (a->rank - 2) - 1)) - 1;
    unsigned long long numbers[TENSOR_RANK];
    if (tensor_read_tuple(value, a->rank - 2, -most - 1, (unsigned long long)most,
                          numbers, name) < 0) {
        return -1;
    }
    for (int i = 0; i < a->rank - 2; i++) {
        corner[a->rank - 3 - i] = (int)(long long)numbers[i];
    }
    return 0;
}

static int
map_read_pixels(const map_args *args, const tensor_array *a, map_parameters *p)
{
    if (a->rank < 3) {
        PyErr_Format(PyExc_ValueError,
                     "an im2col map has 3 to %d dimensions; the array has %d",
                     TENSOR_RANK, a->rank);
        return -1;
    }
    if (args->channels < 1 || args->channels > BOX_MOST || args->pixels < 1 ||
        args->pixels > PIXELS_MOST) {
        PyErr_Format(PyExc_ValueError,
                     "a column has 1 to %d pixels of 1 to %d channels, not %u of %u",
                     PIXELS_MOST, BOX_MOST, args->pixels, args->channels);
        return -1;
    }
    if (map_read_corner(args->lower, a, p->lower, "lower") < 0 ||
        map_read_corner(args->upper, a, p->upper, "upper") < 0) {
        return -1;
    }
    return map_check_row(a, args->channels, "the channels of a pixel");
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

/* Take the map that the driver has encoded, or raise. `row`: elements of a row. */
static int
map_adopt(tensor_map *self, const CUtensorMap *map, CUresult status,
          const map_parameters *p, const char *routine, unsigned int row)
{
    if (status == CUDA_SUCCESS) {
        memcpy(self->bytes, map, sizeof(*map));
        return 0;
    }
    return pcu_raise_detail(
        self->st, routine, status,
        "%u dimensions, data type %u, rows of %u elements in a tile, swizzle %u, "
        "interleave %u; the bytes of a row must fit the swizzle",
        p->rank, p->type, row, p->swizzle, p->interleave);
}

static int
map_encode_tiled(tensor_map *self, const tensor_array *a, const map_parameters *p)
{
    CUtensorMap map;
    memset(&map, 0, sizeof(map));
    CUresult status = drv.TensorMapEncodeTiled(
        &map, p->type, p->rank, (void *)(uintptr_t)a->address, p->dims, p->strides,
        p->box, p->steps, p->interleave, p->swizzle, p->promotion, p->fill);
    return map_adopt(self, &map, status, p, "cuTensorMapEncodeTiled", p->box[0]);
}

static int
map_encode_im2col(tensor_map *self, const tensor_array *a, const map_parameters *p,
                  const map_args *args)
{
    CUtensorMap map;
    memset(&map, 0, sizeof(map));
    CUresult status = drv.TensorMapEncodeIm2col(
        &map, p->type, p->rank, (void *)(uintptr_t)a->address, p->dims, p->strides,
        p->lower, p->upper, args->channels, args->pixels, p->steps, p->interleave,
        p->swizzle, p->promotion, p->fill);
    return map_adopt(self, &map, status, p, "cuTensorMapEncodeIm2col", args->channels);
}

static int
map_init(tensor_map *self, const map_args *args)
{
    tensor_array a = {.dtype = NULL};
    map_parameters p;
    int rc = tensor_array_read(self->st, args->array, &a);
    if (rc == 0) {
        rc = map_read_parameters(self->st, args, &a, &p);
    }
    if (rc == 0) {
        rc = map_check_rank(&a, &p);
    }
    if (rc == 0) {
        rc = map_check_array(&a, &p);
    }
    if (rc == 0) {
        rc = map_read_layout(args, &a, &p);
    }
    if (rc == 0 && args->lower == NULL) {
        rc = map_read_box(args, &a, &p);
        if (rc == 0) {
            rc = map_encode_tiled(self, &a, &p);
        }
    }
    else if (rc == 0) {
        rc = map_read_pixels(args, &a, &p);
        if (rc == 0) {
            rc = map_encode_im2col(self, &a, &p, args);
        }
    }
    Py_XDECREF(a.dtype);
    return rc;
}

/* -- the type ---------------------------------------------------------------------- */

static PyObject *
map_make_new(PyTypeObject *type, pcu_state *st, const map_args *args)
{
    tensor_map *self = (tensor_map *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->st = st;
    self->array = Py_NewRef(args->array);
    if (map_init(self, args) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

/* -- sentences of docstrings ------------------------------------------------------- */

#define DOC_MAP                                               \
    "swizzle : tensor_map_swizzle, optional\n"                \
    "    Layout of the tiles in shared memory.\n"             \
    "element_strides : sequence of int, optional\n"           \
    "    Step in each dimension, 1 to 8. The default is 1.\n" \
    "interleave : tensor_map_interleave, optional\n"          \
    "    Layout of the channels of the array.\n"              \
    "l2_promotion : tensor_map_l2_promotion, optional\n"      \
    "    What is fetched to the L2 cache.\n"                  \
    "oob_fill : tensor_map_oob_fill, optional\n"              \
    "    Elements outside the array. The default is zeros.\n" \
    "data_type : tensor_map_data_type, optional\n"            \
    "    Type of the elements. The default is that of the dtype.\n"

#define DOC_NO_MAP                                                                    \
    "TypeError\n"                                                                     \
    "    If ``array`` is no array on the device, or if its dtype has no data type.\n" \
    "ValueError\n"                                                                    \
    "    If shape, strides or address are not possible.\n"                            \
    "LogicError\n"                                                                    \
    "    If the driver refuses the map.\n"

static const pcu_word map_words[] = {
    PCU_WORD("array", pcu_as_object, map_args, array),
    PCU_WORD("box", pcu_as_object, map_args, box),
    PCU_WORD("swizzle", pcu_as_object, map_args, swizzle),
    PCU_WORD("element_strides", pcu_as_object, map_args, element_strides),
    PCU_WORD("interleave", pcu_as_object, map_args, interleave),
    PCU_WORD("l2_promotion", pcu_as_object, map_args, l2_promotion),
    PCU_WORD("oob_fill", pcu_as_object, map_args, oob_fill),
    PCU_WORD("data_type", pcu_as_object, map_args, data_type),
    PCU_WORD("lower", pcu_as_object, map_args, lower),
    PCU_WORD("upper", pcu_as_object, map_args, upper),
    PCU_WORD("channels", pcu_as_uint, map_args, channels),
    PCU_WORD("pixels", pcu_as_uint, map_args, pixels),
};

PCU_SIGNATURE(
    map, map_words,
    "TensorMap(array, box, swizzle=0, element_strides=None, interleave=0,\n"
    "          l2_promotion=0, oob_fill=0, data_type=None)\n"
    "--\n\n"
    "A CUtensorMap: kernels copy tiles of an array by it.\n"
    "\nParameters\n----------\n"
    "array : GPUArray\n"
    "    Array of 1 to 5 dimensions, or another array with\n"
    "    ``__cuda_array_interface__``. Its address and its strides are\n"
    "    multiples of 16 bytes.\n"
    "box : sequence of int\n"
    "    Shape of a tile, in the order of the array's shape, up to 256 each.\n" DOC_MAP
    "\nRaises\n------\n" DOC_NO_MAP
    "\nSee Also\n--------\n"
    "TensorMap.im2col : A map for convolutions.\n"
    "\nNotes\n-----\n"
    "The kernel's parameter is ``const __grid_constant__ CUtensorMap``. The\n"
    "map keeps the array. It needs CUDA 12.0, and kernels that use it need\n"
    "compute capability 9.0. With an interleave the array has a shape such\n"
    "as (N, C/k, H, W, k), where k channels are 16 or 32 bytes; ``box``,\n"
    "``element_strides`` and coordinates leave out k, and a tile has one\n"
    "slice of channels.\n"
    "\nExamples\n--------\n"
    ">>> x = gpuarray.zeros((64, 64), np.float32)\n"
    ">>> tiles = drv.TensorMap(x, box=(8, 32))\n"
    ">>> len(bytes(tiles))\n"
    "128")

static PyObject *
map_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    pcu_state *st = pcu_state_of_type(type);
    map_args a = {.array = NULL};
    if (st == NULL || pcu_args_parse_tuple(st, &map_signature, args, kwargs, &a) < 0) {
        return NULL;
    }
    return map_make_new(type, st, &a);
}

PCU_SIGNATURE(
    map_im2col, map_words,
    "im2col($type, array, lower, upper, channels, pixels, swizzle=0,\n"
    "       element_strides=None, interleave=0, l2_promotion=0, oob_fill=0,\n"
    "       data_type=None)\n"
    "--\n\n"
    "Make a map of columns of pixels, for convolutions.\n"
    "\nParameters\n----------\n"
    "array : GPUArray\n"
    "    Images of shape (N, W, C), (N, H, W, C) or (N, D, H, W, C).\n"
    "lower : sequence of int\n"
    "    First corner of the box of pixels, for the dimensions between N and\n"
    "    C.\n"
    "upper : sequence of int\n"
    "    Last corner, from the end of each dimension (exclusive).\n"
    "channels : int\n"
    "    Channels of a pixel, at most 256; a multiple of 16 bytes.\n"
    "pixels : int\n"
    "    Pixels of a column, at most 1024.\n" DOC_MAP
    "\nReturns\n-------\n"
    "TensorMap\n"
    "    The map. A tile has the shape (pixels, channels).\n"
    "\nRaises\n------\n" DOC_NO_MAP
    "\nSee Also\n--------\n"
    "TensorMap : Tiles of an array.\n"
    "\nNotes\n-----\n"
    "A copy moves from the first pixel to the next ones, from ``lower`` to\n"
    "the size of the dimension plus ``upper``, then to the next image.")

static PyObject *
map_im2col(PyObject *cls, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyTypeObject *type = (PyTypeObject *)cls;
    pcu_state *st = pcu_state_of_type(type);
    map_args a = {.array = NULL};
    if (st == NULL ||
        pcu_args_parse(st, &map_im2col_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return map_make_new(type, st, &a);
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
    {"im2col", (PyCFunction)(void (*)(void))map_im2col,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, map_im2col_doc},
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
