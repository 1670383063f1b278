/* Packing the arguments of a kernel call.
 *
 * One pass packs every argument into the parameter block. Exact types are tested first,
 * protocols last. From CUDA 12.4 on the driver reports the place of each parameter:
 * each value is written there, and a wrong count or size is a TypeError. With an older
 * driver the values are laid out with natural alignment.
 *
 * The type of each argument is compared with that of its parameter, see
 * parameter_types.c: another type is a warning, see argument_report.c.
 *
 * The only Python code that runs is that of an argument's class, and, at the first
 * launch of a kernel and for a warning, pycuda/_argument_types.py. */
#include "python/driver/launch/launch.h"

#include "python/support/buffer.h"
#include "python/support/convert.h"
#include "python/driver/exchange/dlpack.h"
#include "python/support/errors.h"
#include "python/support/settings.h"
#include "python/driver/memory/gpuarray.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"
#include "python/driver/texture/texture_object.h"

static const char argument_routine[] = "cuLaunchKernel";

typedef struct {
    pcu_function *function;
    pcu_argument_buffer *buffer;
    const CUstream *stream; /* of the launch; NULL: not known yet */
    Py_ssize_t index;       /* of the argument that is packed now */
    Py_ssize_t nargs;
    bool natural;              /* the values follow each other, as in PyCUDA; see
                                 argument_check_count */
    PyObject **memory;         /* of handlers: the result of pcu_arguments_pack */
    Py_ssize_t strided;        /* the first array with gaps; -1: none */
    unsigned char discard[16]; /* receives the bytes of arguments that were converted */
} argument_packer;

/* -- records ----------------------------------------------------------------------- */

static size_t
record_round(size_t size, size_t align)
{
    return (size + align - 1) / align * align;
}

/* The alignment that a structure of CUDA C with these fields has, 0 if a field lies
 * elsewhere than there. NumPy aligns complex numbers for their parts; as members of
 * CUDA's vectors they are aligned for the whole: `whole`. */
static size_t
record_align(PyArray_Descr *dtype, bool whole)
{
    while (PyDataType_HASSUBARRAY(dtype)) {
        dtype = PyDataType_SUBARRAY(dtype)->base;
    }
    if (!PyDataType_HASFIELDS(dtype)) {
        if (whole && PyTypeNum_ISCOMPLEX(dtype->type_num)) {
            return (size_t)PyDataType_ELSIZE(dtype);
        }
        return (size_t)PyDataType_ALIGNMENT(dtype);
    }
    PyObject *names = PyDataType_NAMES(dtype);
    size_t align = 1;
    size_t end = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *field =
            PyDict_GetItem(PyDataType_FIELDS(dtype), PyTuple_GET_ITEM(names, i));
        PyArray_Descr *type = (PyArray_Descr *)PyTuple_GET_ITEM(field, 0);
        size_t own = record_align(type, whole);
        size_t offset = PyLong_AsSize_t(PyTuple_GET_ITEM(field, 1));
        if (own == 0 || offset != record_round(end, own)) {
            return 0;
        }
        end = offset + (size_t)PyDataType_ELSIZE(type);
        align = Py_MAX(align, own);
    }
    return align;
}

bool
pcu_record_lacks_tail(PyArray_Descr *dtype, size_t size)
{
    const size_t own = (size_t)PyDataType_ELSIZE(dtype);
    if (!PyDataType_HASFIELDS(dtype)) {
        return false;
    }
    for (int whole = 0; whole < 2; whole++) {
        size_t align = record_align(dtype, whole);
        if (align != 0 && record_round(own, align) == size) {
            return true;
        }
    }
    return false;
}

/* -- arguments of another size ----------------------------------------------------- */

/* The article of a type's name. */
static const char *
argument_article(const char *name)
{
    return strchr("aeiouAEIOU", name[0]) != NULL ? "an" : "a";
}

/* The alignment that PyCUDA gives to the parameter behind this one. */
static size_t
argument_next_align(const pcu_function *fn, Py_ssize_t index)
{
    size_t size = fn->params[index + 1].size;
    if (size == 2 || size == 4 || size == 8) {
        return size;
    }
    return 1;
}

/* Whether PyCUDA puts the parameters behind an argument of this size where the kernel
 * expects them. PyCUDA puts each argument directly behind the one before, aligned for
 * its own type. Behind the last one, the kernel reads bytes of an earlier launch. */
static bool
argument_keeps_others(const pcu_function *fn, Py_ssize_t index, size_t size)
{
    const pcu_param *param = &fn->params[index];
    if (index + 1 == fn->nparams) {
        return size <= param->size;
    }
    size_t align = argument_next_align(fn, index);
    return ((param->offset + size + align - 1) & ~(align - 1)) == param[1].offset;
}

/* Whether an argument is a value with fields. */
static bool
argument_is_record(PyObject *arg)
{
    if (PyArray_Check(arg)) {
        return PyDataType_HASFIELDS(PyArray_DESCR((PyArrayObject *)arg));
    }
    return PyArray_IsScalar(arg, Void) &&
           PyDataType_HASFIELDS(((PyVoidScalarObject *)arg)->descr);
}

/* The words after "argument INDEX of KERNEL" for an argument of another size than its
 * parameter: article, type, its bytes, those of the parameter, remedy. */
static const char argument_other_size[] =
    " is %s %s of %zu bytes, but that parameter takes %zu%s";

static const char *
argument_remedy(PyObject *arg)
{
    if (argument_is_record(arg)) {
        return ": its dtype must have the fields of the structure, made with "
               "align=True";
    }
    return "";
}

int
pcu_argument_forgive_size(pcu_function *fn, Py_ssize_t index, PyObject *arg,
                          size_t size)
{
    const char *name = Py_TYPE(arg)->tp_name;
    return pcu_argument_forgive(fn, index, arg, PyExc_TypeError, argument_other_size,
                                argument_article(name), name, size,
                                fn->params[index].size, argument_remedy(arg));
}

/* The place for an argument of another size than its parameter. PyCUDA passes its
 * bytes: a kernel that does not use that parameter, or finds zeros there, is right.
 * NULL with an exception if that is an error. */
static void *
argument_place_other_size(argument_packer *p, PyObject *arg, size_t size)
{
    pcu_function *fn = p->function;
    const pcu_param *param = &fn->params[p->index];
    const char *name = Py_TYPE(arg)->tp_name;
    int rc;
    if (argument_keeps_others(fn, p->index, size)) {
        rc = pcu_argument_forgive_size(fn, p->index, arg, size);
    }
    else {
        rc = pcu_argument_raise(fn, p->index, arg, PyExc_TypeError, argument_other_size,
                                argument_article(name), name, size, param->size,
                                argument_remedy(arg));
    }
    if (rc < 0) {
        return NULL;
    }
    return p->buffer->data + param->offset;
}

static bool
argument_is_integer(PyObject *arg)
{
    return PyArray_IsScalar(arg, Integer) ||
           (PyArray_Check(arg) && PyArray_NDIM((PyArrayObject *)arg) == 0 &&
            PyTypeNum_ISINTEGER(PyArray_DESCR((PyArrayObject *)arg)->type_num));
}

/* Whether an argument of this size fits into its parameter and the padding after it. */
static bool
argument_has_room(const pcu_function *fn, Py_ssize_t index, size_t size)
{
    const pcu_param *param = &fn->params[index];
    return size < param->size ||
           (index + 1 < fn->nparams && param[1].offset - param->offset >= size);
}

/* An integer that does not fit into its parameter: pass its lowest bytes, as PyCUDA
 * does, where that moves no other parameter. */
static void *
argument_place_beyond(argument_packer *p, PyObject *arg, size_t size)
{
    if (!PyErr_ExceptionMatches(PyExc_OverflowError) ||
        !argument_keeps_others(p->function, p->index, size)) {
        return NULL;
    }
    PyErr_Clear(); /* the report says it */
    if (pcu_argument_forgive(p->function, p->index, arg, PyExc_OverflowError,
                             " is %R, which its parameter cannot hold", arg) < 0) {
        return NULL;
    }
    return p->buffer->data + p->function->params[p->index].offset;
}

/* Convert an argument whose size differs from its parameter's, or raise. An integer is
 * converted if the parameter is an integer that can hold the value, and its bytes are
 * written to the parameter block. Return p->discard: the caller writes the argument's
 * own bytes there, and they are not used. A wider integer is accepted only where
 * padding follows the parameter: there PyCUDA's layout gives the same result. */
static void *
argument_convert(argument_packer *p, PyObject *arg, size_t size)
{
    pcu_function *fn = p->function;
    unsigned long long bits = 0;
    if (!argument_is_integer(arg) || size > sizeof(p->discard)) {
        return argument_place_other_size(p, arg, size);
    }
    if (fn->params[p->index].integer == PCU_INTEGER_UNKNOWN &&
        pcu_parameter_integers_read(fn) < 0) {
        return NULL;
    }
    const pcu_param *param = &fn->params[p->index];
    if (param->integer == PCU_INTEGER_NONE || param->size > sizeof(bits) ||
        !argument_has_room(fn, p->index, size)) {
        return argument_place_other_size(p, arg, size);
    }
    unsigned long long top = UINT64_MAX >> (64 - 8 * param->size);
    long long low = 0;
    if (param->integer == PCU_INTEGER_SIGNED) {
        top >>= 1;
        low = -(long long)top - 1;
    }
    if (!PyLong_CheckExact(arg) || !pcu_integer_fits(arg, low, top, &bits)) {
        char name[64];
        (void)PyOS_snprintf(name, sizeof(name), "argument %zd", p->index); /* fits */
        if (pcu_as_integer(arg, low, top, &bits, name) < 0) {
            return argument_place_beyond(p, arg, size);
        }
    }
    memcpy(p->buffer->data + param->offset, &bits, param->size);
    return p->discard;
}

/* The place for an argument of another type than its parameter, or of another size;
 * NULL with an exception. The first launch comes here for each argument: the types of
 * the parameters are read then. `elements`: the argument is the address of elements. */
static void *
argument_place_slow(argument_packer *p, PyObject *arg, size_t size, unsigned int type,
                    bool elements)
{
    pcu_function *fn = p->function;
    const pcu_param *param = &fn->params[p->index];
    if (pcu_parameter_types_read(fn) < 0) {
        return NULL;
    }
    bool fits = pcu_parameter_takes(param, type);
    if (elements) {
        fits = pcu_parameter_takes_elements(param, type);
    }
    if (!fits && size != param->size) {
        return argument_convert(p, arg, size);
    }
    if (!fits && pcu_argument_report(fn, p->index, arg) < 0) {
        return NULL;
    }
    return p->buffer->data + param->offset;
}

static void *
argument_reserve(argument_packer *p, size_t size, size_t align)
{
    void *place = pcu_argument_buffer_reserve(p->buffer, size, align);
    if (place == NULL) {
        PyErr_NoMemory();
    }
    return place;
}

/* The place for the bytes of a structure or of an argument whose type is not known;
 * NULL with an exception. A record may come without its tail padding. `record`: its
 * dtype, or NULL. */
static void *
argument_place_raw(argument_packer *p, PyObject *arg, size_t size, size_t align,
                   PyArray_Descr *record)
{
    pcu_function *fn = p->function;
    if (p->natural) {
        return argument_reserve(p, size, align);
    }
    const pcu_param *param = &fn->params[p->index];
    if (size != param->size &&
        (record == NULL || (size_t)PyDataType_ELSIZE(record) != size ||
         !pcu_record_lacks_tail(record, param->size))) {
        return argument_convert(p, arg, size);
    }
    return p->buffer->data + param->offset;
}

/* The place for a value of the type; NULL with an exception. */
static inline void *
argument_place(argument_packer *p, PyObject *arg, size_t size, size_t align,
               unsigned int type)
{
    if (p->natural) {
        return argument_reserve(p, size, align);
    }
    const pcu_param *param = &p->function->params[p->index];
    if (!pcu_parameter_takes(param, type)) {
        return argument_place_slow(p, arg, size, type, false);
    }
    return p->buffer->data + param->offset;
}

static inline int
argument_put(argument_packer *p, PyObject *arg, const void *bytes, size_t size,
             size_t align, unsigned int type)
{
    void *place = argument_place(p, arg, size, align, type);
    if (place == NULL) {
        return -1;
    }
    memcpy(place, bytes, size);
    return 0;
}

static inline int
argument_put_pointer(argument_packer *p, PyObject *arg, CUdeviceptr pointer)
{
    return argument_put(p, arg, &pointer, sizeof(pointer), sizeof(pointer),
                        PCU_ARGUMENT_ADDRESS);
}

/* Pass the address of elements of a type. */
static inline int
argument_put_elements(argument_packer *p, PyObject *arg, CUdeviceptr pointer,
                      unsigned int type)
{
    void *place;
    if (p->natural) {
        place = argument_reserve(p, sizeof(pointer), sizeof(pointer));
    }
    else {
        const pcu_param *param = &p->function->params[p->index];
        place = p->buffer->data + param->offset;
        if (!pcu_parameter_takes_elements(param, type)) {
            place = argument_place_slow(p, arg, sizeof(pointer), type, true);
        }
    }
    if (place == NULL) {
        return -1;
    }
    memcpy(place, &pointer, sizeof(pointer));
    return 0;
}

/* Pass the address of an allocation. Check it first: the address of released memory may
 * belong to another owner. */
static inline int
argument_put_memory(argument_packer *p, PyObject *arg)
{
    pcu_resource *memory = (pcu_resource *)arg;
    if (pcu_resource_check(memory, argument_routine) < 0) {
        return -1;
    }
    return argument_put_pointer(p, arg, memory->handle.memory);
}

static inline int
argument_put_gpuarray(argument_packer *p, PyObject *arg)
{
    pcu_state *st = p->function->st;
    pcu_gpuarray *array = (pcu_gpuarray *)arg;
    PyObject *memory = array->memory;
    if (memory != NULL &&
        (Py_IS_TYPE(memory, st->DeviceAllocation) ||
         Py_IS_TYPE(memory, st->PooledDeviceAllocation)) &&
        pcu_resource_check((pcu_resource *)memory, argument_routine) < 0) {
        return -1;
    }
    if (!array->inside && st->check_array(arg) < 0) {
        return -1;
    }
    if (array->contiguous == 0 && p->strided < 0) {
        p->strided = p->index;
    }
    return argument_put_elements(p, arg, array->address, array->type);
}

/* The alignment of a structure of this dtype on the device: vector types are aligned to
 * their size, other structures to their widest member. Used where the driver does not
 * report the parameters. */
static size_t
argument_dtype_align(PyArray_Descr *dtype)
{
    size_t size = (size_t)PyDataType_ELSIZE(dtype);
    PyObject *fields = PyDataType_FIELDS(dtype);
    PyObject *names = PyDataType_NAMES(dtype);
    if (fields == NULL || fields == Py_None || names == NULL) {
        size_t align = (size_t)PyDataType_ALIGNMENT(dtype);
        return Py_MAX(align, 1);
    }
    size_t widest = 1;
    Py_ssize_t n = PyTuple_GET_SIZE(names);
    bool alike = n == 2 || n == 4;
    PyArray_Descr *first = NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        PyObject *field = PyDict_GetItemWithError(fields, name);
        if (field == NULL) {
            return widest; /* cannot happen: each name has a field */
        }
        PyArray_Descr *member = (PyArray_Descr *)PyTuple_GET_ITEM(field, 0);
        size_t align = (size_t)PyDataType_ALIGNMENT(member);
        if (align > widest) {
            widest = align;
        }
        if (first == NULL) {
            first = member;
        }
        alike &= member->type_num == first->type_num &&
                 PyUnicode_GET_LENGTH(name) == 1 &&
                 PyUnicode_READ_CHAR(name, 0) == (Py_UCS4) "xyzw"[i & 3];
    }
    size_t vector = 16;
    if (size <= 16) {
        vector = size;
    }
    if (alike && (vector & (vector - 1)) == 0) {
        return vector;
    }
    return widest;
}

/* The place for a value of a dtype, whose element type is `type`. */
static void *
argument_place_dtype(argument_packer *p, PyObject *arg, size_t size,
                     PyArray_Descr *dtype, int type, bool structure)
{
    size_t align = argument_dtype_align(dtype);
    if (type < PCU_T_RAW) {
        return argument_place(p, arg, size, align, (unsigned int)type);
    }
    return argument_place_raw(p, arg, size, align, structure ? dtype : NULL);
}

/* 1 if an argument is no address, and its parameter is a pointer for sure. -1 on error.
 */
static int
argument_is_for_pointer(argument_packer *p)
{
    pcu_function *fn = p->function;
    if (p->natural || fn->params[p->index].size != sizeof(CUdeviceptr)) {
        return 0;
    }
    if (pcu_parameter_types_read(fn) < 0) {
        return -1;
    }
    return fn->params[p->index].is_pointer;
}

/* The place for an array of the host if the parameter is a pointer for sure: its bytes
 * are no address. PyCUDA passes them: a kernel that does not use that pointer, or
 * compares it with NULL, is right. NULL with an exception. */
static void *
argument_place_host_array(argument_packer *p, PyObject *arg, size_t size)
{
    static const char text[] = " is %s %s in the memory of the host";
    pcu_function *fn = p->function;
    const char *name = Py_TYPE(arg)->tp_name;
    int rc;
    if (PyArray_IS_C_CONTIGUOUS((PyArrayObject *)arg) &&
        argument_keeps_others(fn, p->index, size)) {
        rc = pcu_argument_forgive(fn, p->index, arg, PyExc_TypeError, text,
                                  argument_article(name), name);
    }
    else {
        rc = pcu_argument_raise(fn, p->index, arg, PyExc_TypeError, text,
                                argument_article(name), name);
    }
    if (rc < 0) {
        return NULL;
    }
    return p->buffer->data + fn->params[p->index].offset;
}

/* The type of the elements of a NumPy array, for argument_put_elements. */
static unsigned int
argument_array_type(PyArrayObject *array)
{
    PyArray_Descr *dtype = PyArray_DESCR(array);
    if (dtype->type_num == NPY_STRING || dtype->type_num == NPY_UNICODE) {
        return PCU_ARGUMENT_TEXT;
    }
    return (unsigned int)pcu_type_of_dtype(dtype);
}

/* Pass a NumPy array by value. For managed memory pass the address, which is valid on
 * the device. */
static int
argument_put_array(argument_packer *p, PyObject *arg)
{
    PyArrayObject *array = (PyArrayObject *)arg;
    PyArray_Descr *dtype = PyArray_DESCR(array);
    size_t size = (size_t)PyArray_NBYTES(array);
    bool structure = PyDataType_HASFIELDS(dtype) || dtype->type_num == NPY_VOID;
    if (pcu_array_check_elements(array, "the value of a kernel argument", "") < 0) {
        return -1;
    }
    PyObject *managed = pcu_managed_of_array(p->function->st, array);
    if (managed != NULL) {
        if (pcu_resource_check((pcu_resource *)managed, argument_routine) < 0) {
            return -1;
        }
        return argument_put_elements(p, arg, (uintptr_t)PyArray_DATA(array),
                                     argument_array_type(array));
    }
    int type = PCU_T_RAW;
    if (PyArray_SIZE(array) == 1) {
        type = pcu_type_of_dtype(dtype);
    }
    int is_for_pointer = 0;
    if (!structure && type != PCU_T_INT64 && type != PCU_T_UINT64) {
        is_for_pointer = argument_is_for_pointer(p);
    }
    if (is_for_pointer < 0) {
        return -1;
    }
    void *place;
    if (is_for_pointer) {
        place = argument_place_host_array(p, arg, size);
    }
    else if (!PyArray_IS_C_CONTIGUOUS(array)) {
        return pcu_argument_raise(
            p->function, p->index, arg, PyExc_ValueError,
            " is an array with gaps, which cannot be passed by value");
    }
    else {
        place = argument_place_dtype(p, arg, size, dtype, type, structure);
    }
    if (place == NULL) {
        return -1;
    }
    memcpy(place, PyArray_DATA(array), size);
    return 0;
}

/* Copy the bytes of a scalar. For a dtype that a library registered (bfloat16), NumPy
 * gives the address of the bytes instead. */
static void
argument_copy_scalar(PyObject *arg, PyArray_Descr *dtype, void *place, size_t size)
{
    void *bytes = NULL;
    if (PyTypeNum_ISUSERDEF(dtype->type_num)) {
        PyArray_ScalarAsCtype(arg, &bytes);
        memcpy(place, bytes, size);
    }
    else {
        PyArray_ScalarAsCtype(arg, place);
    }
}

/* Pass other NumPy scalars, such as np.void and np.datetime64, by value. */
static int
argument_put_scalar(argument_packer *p, PyObject *arg)
{
    PyArray_Descr *dtype = PyArray_DescrFromScalar(arg);
    int rc = -1;
    if (dtype == NULL) {
        return -1;
    }
    size_t size = (size_t)PyDataType_ELSIZE(dtype);
    if (PyDataType_REFCHK(dtype) || PyArray_IsScalar(arg, Character) ||
        PyArray_IsScalar(arg, LongDouble) || PyArray_IsScalar(arg, CLongDouble)) {
        (void)pcu_argument_raise(p->function, p->index, arg, PyExc_TypeError,
                                 ": the device has no %s", Py_TYPE(arg)->tp_name);
    }
    else if (PyArray_IsScalar(arg, Void)) {
        if (pcu_dtype_check_meaning(dtype, "the value of a kernel argument") < 0) {
            goto done;
        }
        void *place = argument_place_dtype(p, arg, size, dtype, PCU_T_RAW, true);
        if (place != NULL) {
            memcpy(place, ((PyVoidScalarObject *)arg)->obval, size);
            rc = 0;
        }
    }
    else {
        int type = pcu_type_of_dtype(dtype);
        if (PyTypeNum_ISDATETIME(dtype->type_num)) {
            type = PCU_T_INT64; /* but no address, as integers may be */
            int is_for_pointer = argument_is_for_pointer(p);
            if (is_for_pointer < 0 ||
                (is_for_pointer &&
                 pcu_argument_report(p->function, p->index, arg) < 0)) {
                goto done;
            }
        }
        void *place = argument_place_dtype(p, arg, size, dtype, type, false);
        if (place != NULL) {
            argument_copy_scalar(arg, dtype, place, size);
            rc = 0;
        }
    }
done:
    Py_DECREF(dtype);
    return rc;
}

/* Pass the device memory of an ArgumentHandler. `exact`: its type is In, Out or InOut.
 */
static int
argument_put_handler(argument_packer *p, PyObject *arg, bool exact)
{
    CUdeviceptr pointer = 0;
    if (p->memory == NULL) {
        p->memory = PyMem_Calloc((size_t)p->nargs, sizeof(p->memory[0]));
        if (p->memory == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    if (exact) {
        p->memory[p->index] = pcu_handler_alloc_new((pcu_handler *)arg, &pointer);
        if (p->memory[p->index] == NULL) {
            return -1;
        }
        PyObject *array = ((pcu_handler *)arg)->array;
        if (array != NULL && PyArray_Check(array)) {
            return argument_put_elements(p, arg, pointer,
                                         argument_array_type((PyArrayObject *)array));
        }
    }
    else if (pcu_handler_method_pointer(arg, &pointer) < 0) {
        return -1;
    }
    return argument_put_pointer(p, arg, pointer);
}

/* The entry "stream" of a __cuda_array_interface__; NULL without an exception if there
 * is no entry. */
static PyObject *
argument_interface_stream_new(pcu_state *st, PyObject *interface)
{
    if (PyDict_CheckExact(interface)) {
        return Py_XNewRef(PyDict_GetItemWithError(interface, st->str_stream));
    }
    PyObject *stream = PyObject_GetItem(interface, st->str_stream);
    if (stream == NULL && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear(); /* the entry is optional */
    }
    return stream;
}

/* Order the launch after the work of the stream that the interface names. */
static int
argument_interface_order(argument_packer *p, PyObject *interface)
{
    pcu_state *st = p->function->st;
    unsigned long long bits = 0;
    PyObject *stream = argument_interface_stream_new(st, interface);
    int rc = -1;
    if (stream == NULL || stream == Py_None) {
        if (!PyErr_Occurred()) {
            rc = 0;
        }
    }
    else if (pcu_as_integer(stream, 1, UINT64_MAX, &bits,
                            "__cuda_array_interface__['stream']") == 0) {
        CUstream before = (CUstream)(uintptr_t)bits;
        if (p->stream == NULL) {
            rc = pcu_stream_synchronize(st, before);
        }
        else {
            rc = pcu_stream_order(st, before, *p->stream);
        }
    }
    Py_XDECREF(stream);
    return rc;
}

/* The element type in the text of a dtype, such as "<f4". The type of an address if it
 * is none of the types that kernels know. */
static int
argument_type_of_text(const char *text)
{
    static const char names[PCU_T_COUNT][4] = {
        [PCU_T_BOOL] = "b1",      [PCU_T_INT8] = "i1",       [PCU_T_UINT8] = "u1",
        [PCU_T_INT16] = "i2",     [PCU_T_UINT16] = "u2",     [PCU_T_INT32] = "i4",
        [PCU_T_UINT32] = "u4",    [PCU_T_INT64] = "i8",      [PCU_T_UINT64] = "u8",
        [PCU_T_FLOAT16] = "f2",   [PCU_T_FLOAT32] = "f4",    [PCU_T_FLOAT64] = "f8",
        [PCU_T_COMPLEX64] = "c8", [PCU_T_COMPLEX128] = "c16"};
    if (*text == '<' || *text == '|' || *text == '=') {
        for (int type = 0; type < PCU_T_COUNT; type++) {
            if (strcmp(names[type], text + 1) == 0) {
                return type;
            }
        }
    }
    return PCU_ARGUMENT_ADDRESS;
}

/* The element type that a __cuda_array_interface__ names: the type of an address if it
 * names none. */
static int
argument_interface_type(argument_packer *p, PyObject *interface)
{
    PyObject *text = NULL;
    if (PyDict_CheckExact(interface)) {
        text = PyDict_GetItemWithError(interface, p->function->st->str_typestr);
    }
    if (text == NULL || !PyUnicode_Check(text) || !PyUnicode_IS_ASCII(text)) {
        PyErr_Clear(); /* the type is not known, and not needed */
        return PCU_ARGUMENT_ADDRESS;
    }
    return argument_type_of_text((const char *)PyUnicode_DATA(text));
}

/* Read the address in a __cuda_array_interface__, and the type of its elements. Return
 * 1, or 0 if the argument has no such attribute. */
static int
argument_interface_pointer(argument_packer *p, PyObject *arg,
                           unsigned long long *pointer, int *type)
{
    pcu_state *st = p->function->st;
    PyObject *interface = pcu_attribute_new(arg, st->str___cuda_array_interface__);
    PyObject *data = NULL;
    PyObject *address = NULL;
    int found = -1;
    if (interface == NULL || interface == Py_None || !PyMapping_Check(interface) ||
        PyMapping_Size(interface) <= 0) {
        if (!PyErr_Occurred()) {
            found = 0;
        }
        goto done;
    }
    data = PyObject_GetItem(interface, st->str_data);
    if (data != NULL && !PySequence_Check(data)) {
        PyErr_Format(PyExc_TypeError,
                     "argument %zd of %U: __cuda_array_interface__['data'] must be a "
                     "pair (address, read-only), not %s",
                     p->index, p->function->name, Py_TYPE(data)->tp_name);
        goto done;
    }
    if (data != NULL) {
        address = PySequence_GetItem(data, 0);
    }
    if (address != NULL &&
        pcu_as_address(address, pointer, "__cuda_array_interface__['data'][0]") == 0 &&
        argument_interface_order(p, interface) == 0) {
        *type = argument_interface_type(p, interface);
        found = 1;
    }
done:
    Py_XDECREF(interface);
    Py_XDECREF(data);
    Py_XDECREF(address);
    return found;
}

/* Raise TypeError for an argument without a fixed size. */
static int
argument_refuse(argument_packer *p, PyObject *arg)
{
    const char *name = Py_TYPE(arg)->tp_name;
    return pcu_argument_raise(p->function, p->index, arg, PyExc_TypeError,
                              " is %s %s, which has no fixed size",
                              argument_article(name), name);
}

/* Read the attribute gpudata: an address, or None for an array without elements. Return
 * 1, or 0 if the argument has no such attribute. */
static int
argument_gpudata_pointer(pcu_state *st, PyObject *arg, unsigned long long *pointer)
{
    PyObject *gpudata = pcu_attribute_new(arg, st->str_gpudata);
    int found = 1;
    if (gpudata == NULL) {
        if (PyErr_Occurred()) {
            return -1;
        }
        return 0;
    }
    if (gpudata != Py_None && pcu_as_address(gpudata, pointer, "gpudata") < 0) {
        found = -1;
    }
    Py_DECREF(gpudata);
    return found;
}

/* The element type of memory that has DLPack only. DLPack has no type for plain memory,
 * so its libraries export it as bytes; an array of bytes has a dtype of its own. */
static int
argument_dlpack_type(pcu_state *st, PyObject *arg, PyArray_Descr *dtype, int *type)
{
    *type = pcu_type_of_dtype(dtype);
    if (*type != PCU_T_INT8 && *type != PCU_T_UINT8) {
        return 0;
    }
    PyObject *own = pcu_attribute_new(arg, st->str_dtype);
    if (own == NULL && PyErr_Occurred()) {
        return -1;
    }
    if (own == NULL) {
        *type = PCU_ARGUMENT_ADDRESS;
    }
    Py_XDECREF(own);
    return 0;
}

/* Read the address of an array that has DLPack only. Its library orders the work of the
 * launch's stream behind its own. Return 1, or 0 if the argument is no such array. */
static int
argument_dlpack_pointer(argument_packer *p, PyObject *arg, unsigned long long *pointer,
                        int *type)
{
    CUstream stream = NULL;
    int found = pcu_dlpack_is_cuda(arg);
    if (found <= 0) {
        return found;
    }
    if (p->stream != NULL) {
        stream = *p->stream;
    }
    PyObject *borrowed = pcu_dlpack_borrow_new(p->function->st, arg, stream);
    if (borrowed == NULL) {
        return -1;
    }
    const pcu_dlpack *tensor = pcu_foreign_allocation_tensor(borrowed);
    *pointer = tensor->pointer;
    int rc = argument_dlpack_type(p->function->st, arg, tensor->dtype, type);
    Py_DECREF(borrowed); /* the argument itself keeps the memory */
    if (rc < 0 ||
        (p->stream == NULL && pcu_stream_synchronize(p->function->st, stream) < 0)) {
        return -1;
    }
    return 1;
}

/* Pass the bytes of a buffer by value. */
static int
argument_put_buffer(argument_packer *p, PyObject *arg)
{
    pcu_buffer buffer = {0};
    int rc = -1;
    if (pcu_buffer_acquire(&buffer, arg, false, "a kernel argument") < 0) {
        return -1;
    }
    void *place = argument_place_raw(p, arg, buffer.size, 1, NULL);
    if (place != NULL) {
        memcpy(place, buffer.data, buffer.size);
        rc = 0;
    }
    pcu_buffer_release(&buffer);
    return rc;
}

/* Pass a tensor map. Compilers align it to 64 bytes of the constant bank, not of the
 * parameters (on compute capability 9.0 the first one has offset 48), so its place must
 * come from the driver. */
static int
argument_put_map(argument_packer *p, PyObject *arg, const void *map)
{
    pcu_function *fn = p->function;
    if (p->natural) {
        return pcu_raise_detail(
            fn->st, argument_routine, CUDA_ERROR_NOT_SUPPORTED,
            "argument %zd of %U is a TensorMap: only drivers of CUDA 12.4 and later "
            "report where a kernel expects it",
            p->index, fn->name);
    }
    void *place =
        argument_place_raw(p, arg, PCU_TENSOR_MAP_SIZE, PCU_TENSOR_MAP_ALIGN, false);
    if (place == NULL) {
        return -1;
    }
    memcpy(place, map, PCU_TENSOR_MAP_SIZE);
    return 0;
}

/* Pass an argument of unknown type by the protocols that it supports. */
static int
argument_put_by_protocol(argument_packer *p, PyObject *arg)
{
    pcu_state *st = p->function->st;
    unsigned long long pointer = 0;
    const void *map = pcu_tensor_map_bytes(st, arg);
    if (map != NULL) {
        return argument_put_map(p, arg, map);
    }
    int type = PCU_ARGUMENT_ADDRESS;
    int found = pcu_texture_argument(st, arg, &pointer);
    if (found > 0) {
        return argument_put(p, arg, &pointer, sizeof(pointer), sizeof(pointer),
                            PCU_T_UINT64);
    }
    if (found == 0) {
        found = argument_interface_pointer(p, arg, &pointer, &type);
    }
    if (found == 0) {
        found = argument_gpudata_pointer(st, arg, &pointer);
    }
    if (found == 0) {
        found = argument_dlpack_pointer(p, arg, &pointer, &type);
    }
    if (found == 0 && PyObject_TypeCheck(arg, st->PointerHolderBase)) {
        found = 1;
        if (pcu_as_integer(arg, 0, UINT64_MAX, &pointer, "get_pointer()") < 0) {
            found = -1;
        }
    }
    if (found < 0) {
        return -1;
    }
    if (found > 0) {
        return argument_put_elements(p, arg, pointer, (unsigned int)type);
    }
    if (PyObject_CheckBuffer(arg)) {
        return argument_put_buffer(p, arg);
    }
    return argument_refuse(p, arg);
}

#define ARGUMENT_SCALAR(Name, ctype, align, CODE)                                 \
    if (type == &Py##Name##ArrType_Type) {                                        \
        return argument_put(p, arg, &PyArrayScalar_VAL(arg, Name), sizeof(ctype), \
                            align, PCU_T_##CODE);                                 \
    }

_Static_assert(sizeof(npy_long) == sizeof(npy_int64), "the type of a Long is INT64");

/* Pack one argument. The types are in the order of how common they are. */
static int
argument_put_one(argument_packer *p, PyObject *arg)
{
    pcu_state *st = p->function->st;
    PyTypeObject *type = Py_TYPE(arg);
    if (type == st->DeviceAllocation || type == st->PooledDeviceAllocation) {
        return argument_put_memory(p, arg);
    }
    if (type == st->GPUArray) {
        return argument_put_gpuarray(p, arg);
    }
    ARGUMENT_SCALAR(Int, npy_int, sizeof(npy_int), INT32)
    ARGUMENT_SCALAR(Float, npy_float, sizeof(npy_float), FLOAT32)
    ARGUMENT_SCALAR(Double, npy_double, sizeof(npy_double), FLOAT64)
    ARGUMENT_SCALAR(Long, npy_long, sizeof(npy_long), INT64)
    ARGUMENT_SCALAR(UInt, npy_uint, sizeof(npy_uint), UINT32)
    ARGUMENT_SCALAR(ULong, npy_ulong, sizeof(npy_ulong), UINT64)
    if (type == st->In || type == st->Out || type == st->InOut) {
        return argument_put_handler(p, arg, true);
    }
    ARGUMENT_SCALAR(LongLong, npy_longlong, sizeof(npy_longlong), INT64)
    ARGUMENT_SCALAR(ULongLong, npy_ulonglong, sizeof(npy_ulonglong), UINT64)
    ARGUMENT_SCALAR(Short, npy_short, sizeof(npy_short), INT16)
    ARGUMENT_SCALAR(UShort, npy_ushort, sizeof(npy_ushort), UINT16)
    ARGUMENT_SCALAR(Byte, npy_byte, sizeof(npy_byte), INT8)
    ARGUMENT_SCALAR(UByte, npy_ubyte, sizeof(npy_ubyte), UINT8)
    ARGUMENT_SCALAR(CFloat, npy_cfloat, sizeof(npy_float), COMPLEX64)
    ARGUMENT_SCALAR(CDouble, npy_cdouble, sizeof(npy_double), COMPLEX128)
    if (PyArray_Check(arg)) {
        return argument_put_array(p, arg);
    }
    if (PyArray_IsScalar(arg, Generic)) {
        return argument_put_scalar(p, arg);
    }
    if (PyObject_TypeCheck(arg, st->ArgumentHandler)) {
        return argument_put_handler(p, arg, false);
    }
    if (PyObject_TypeCheck(arg, st->DeviceAllocation)) {
        return argument_put_memory(p, arg);
    }
    if (PyObject_TypeCheck(arg, st->IPCMemoryHandle)) {
        return argument_put_pointer(p, arg, ((pcu_resource *)arg)->handle.ipc_memory);
    }
    return argument_put_by_protocol(p, arg);
}

/* The number of arguments is not that of the parameters. PyCUDA passes the values
 * behind each other: a kernel is right if these are the members of its structures, or
 * if it does not use the parameters at the end. Only more bytes than the parameters
 * have are always an error, of the driver too. */
static int
argument_check_count(argument_packer *p)
{
    static const char text[] = "%U takes %zd argument%s (%zd given)";
    pcu_function *fn = p->function;
    const char *plural = "s";
    if (fn->nparams == 1) {
        plural = "";
    }
    if (p->buffer->used > fn->params_size) {
        PyErr_Format(PyExc_TypeError, text, fn->name, fn->nparams, plural, p->nargs);
        return -1;
    }
    return pcu_forgive(PyExc_TypeError, text, fn->name, fn->nparams, plural, p->nargs);
}

/* Append zeros up to the size of the parameters. */
static int
argument_fill(argument_packer *p)
{
    size_t missing = p->function->params_size - p->buffer->used;
    void *rest = argument_reserve(p, missing, 1);
    if (rest == NULL) {
        return -1;
    }
    memset(rest, 0, missing);
    return 0;
}

int
pcu_arguments_pack(pcu_function *self, PyObject *const *args, Py_ssize_t nargs,
                   const CUstream *stream, pcu_argument_buffer *buffer,
                   PyObject ***memory)
{
    argument_packer p = {.function = self,
                         .buffer = buffer,
                         .stream = stream,
                         .nargs = nargs,
                         .strided = -1,
                         .natural = nargs != self->nparams};
    bool is_other_count = p.natural && self->nparams >= 0;
    int rc = 0;
    if (!p.natural) {
        rc = argument_fill(&p); /* the values are written to their places */
    }
    for (p.index = 0; rc == 0 && p.index < nargs; p.index++) {
        rc = argument_put_one(&p, args[p.index]);
    }
    if (rc == 0 && is_other_count) {
        rc = argument_check_count(&p);
    }
    if (rc == 0 && is_other_count) {
        rc = argument_fill(&p);
    }
    if (rc == 0 && p.strided >= 0) {
        rc = pcu_argument_report_strided(self, p.strided, args, nargs);
    }
    *memory = p.memory;
    return rc;
}
