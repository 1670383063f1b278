/* Converters of plain values. Invariant and callers: see convert.h. */
#include "python/support/convert.h"

#include "python/support/errors.h"
#include "python/support/settings.h"

bool
pcu_is_one_integer(PyObject *value)
{
    return PyIndex_Check(value) &&
           !(PyArray_Check(value) && PyArray_NDIM((PyArrayObject *)value) > 0);
}

size_t
pcu_find_word(PyObject *value, const char *const *words, size_t count)
{
    size_t i = 0;
    if (!PyUnicode_Check(value)) {
        return count;
    }
    while (i < count && PyUnicode_CompareWithASCIIString(value, words[i]) != 0) {
        i++;
    }
    return i;
}

/* Raise OverflowError. The message omits the number if Python refuses to print it
 * because it has too many digits. */
static void
convert_out_of_range(PyObject *number, long long low, unsigned long long high,
                     const char *name)
{
    PyObject *text = PyObject_Repr(number);
    if (text == NULL) {
        PyErr_Clear(); /* the range error is reported instead */
        PyErr_Format(PyExc_OverflowError, "%s must be between %lld and %llu", name, low,
                     high);
        return;
    }
    PyErr_Format(PyExc_OverflowError, "%s is %U; it must be between %lld and %llu",
                 name, text, low, high);
    Py_DECREF(text);
}

bool
pcu_integer_fits(PyObject *integer, long long low, unsigned long long high,
                 unsigned long long *out)
{
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(integer, &overflow);
    unsigned long long bits = (unsigned long long)number;
    bool fits = overflow == 0 && number >= low && (number < 0 || bits <= high);
    if (overflow > 0) { /* above LLONG_MAX: it may fit an unsigned type */
        bits = PyLong_AsUnsignedLongLong(integer);
        fits = !PyErr_Occurred() && bits <= high;
        PyErr_Clear(); /* the caller says what does not fit */
    }
    *out = bits;
    return fits;
}

int
pcu_as_integer(PyObject *value, long long low, unsigned long long high,
               unsigned long long *out, const char *name)
{
    PyObject *index = NULL;
    if (PyLong_CheckExact(value)) {
        index = Py_NewRef(value);
    }
    else {
        index = PyNumber_Index(value);
    }
    if (index == NULL) {
        bool has_index = PyIndex_Check(value) && !PyArray_Check(value);
        if (!has_index && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Format(PyExc_TypeError, "%s must be an integer, not %s", name,
                         Py_TYPE(value)->tp_name);
        }
        return -1; /* keep the exception that __index__ raised */
    }
    bool fits = pcu_integer_fits(index, low, high, out);
    if (!fits) {
        convert_out_of_range(index, low, high, name);
    }
    Py_DECREF(index);
    if (!fits) {
        return -1;
    }
    return 0;
}

int
pcu_as_object(pcu_state *Py_UNUSED(st), PyObject *value, void *out,
              const char *Py_UNUSED(name))
{
    *(PyObject **)out = value;
    return 0;
}

#define CONVERT_INTEGER(function, type, low, high)                     \
    int function(pcu_state *Py_UNUSED(st), PyObject *value, void *out, \
                 const char *name)                                     \
    {                                                                  \
        unsigned long long bits = 0;                                   \
        if (pcu_as_integer(value, low, high, &bits, name) < 0) {       \
            return -1;                                                 \
        }                                                              \
        *(type *)out = (type)bits;                                     \
        return 0;                                                      \
    }
CONVERT_INTEGER(pcu_as_int, int, INT_MIN, INT_MAX)
CONVERT_INTEGER(pcu_as_uint, unsigned int, 0, UINT_MAX)
CONVERT_INTEGER(pcu_as_uint8, unsigned char, 0, UINT8_MAX)
CONVERT_INTEGER(pcu_as_uint16, unsigned short, 0, UINT16_MAX)
CONVERT_INTEGER(pcu_as_size, size_t, 0, SIZE_MAX)
#undef CONVERT_INTEGER

int
pcu_as_bool(pcu_state *Py_UNUSED(st), PyObject *value, void *out,
            const char *Py_UNUSED(name))
{
    int truth = PyObject_IsTrue(value);
    if (truth < 0) {
        return -1;
    }
    *(bool *)out = truth != 0;
    return 0;
}

int
pcu_as_double(pcu_state *Py_UNUSED(st), PyObject *value, void *out, const char *name)
{
    double number = PyFloat_AsDouble(value);
    if (number == -1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) {
            return -1;
        }
        PyErr_Format(PyExc_TypeError, "%s must be a number, not %s", name,
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    *(double *)out = number;
    return 0;
}

int
pcu_as_address(PyObject *value, CUdeviceptr *out, const char *name)
{
    unsigned long long bits = 0;
    PyNumberMethods *number = Py_TYPE(value)->tp_as_number;
    bool by_int = !PyIndex_Check(value) && !PyFloat_Check(value) && number != NULL &&
                  number->nb_int != NULL;
    PyObject *integer = NULL;
    if (by_int) {
        integer = PyNumber_Long(value);
    }
    else {
        integer = Py_NewRef(value);
    }
    int rc = -1;
    if (integer != NULL) {
        rc = pcu_as_integer(integer, 0, UINT64_MAX, &bits, name);
    }
    Py_XDECREF(integer);
    *out = bits;
    return rc;
}

PyObject *
pcu_attribute_new(PyObject *object, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(object, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear(); /* a missing attribute is no error */
    }
    return value;
}

/* Replace the codec's error for a string with a lone surrogate by one that names the
 * argument. */
static void
convert_name_half(const char *name)
{
    if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        PyErr_Format(
            PyExc_ValueError,
            "%s has one half of a surrogate pair, which is no character; check "
            "how it was decoded",
            name);
    }
}

PyObject *
pcu_as_path_new(PyObject *value, const char *name)
{
    PyObject *path = NULL;
    if (!PyUnicode_FSConverter(value, &path)) {
        convert_name_half(name);
        return NULL;
    }
    return path;
}

const char *
pcu_as_name(PyObject *value, const char *name)
{
    Py_ssize_t length = 0;
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s must be a str, not %s", name,
                     Py_TYPE(value)->tp_name);
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(value, &length);
    if (text == NULL) {
        convert_name_half(name);
    }
    if (text != NULL && strlen(text) != (size_t)length) {
        PyErr_Format(PyExc_ValueError, "%s contains a null character", name);
        return NULL;
    }
    return text;
}

int
pcu_as_dtype(pcu_state *Py_UNUSED(st), PyObject *value, void *out,
             const char *Py_UNUSED(name))
{
    if (!PyArray_DescrConverter(value, (PyArray_Descr **)out)) {
        return -1;
    }
    return 0;
}

int
pcu_as_order(pcu_state *Py_UNUSED(st), PyObject *value, void *out, const char *name)
{
    const char *text = "";
    if (PyUnicode_Check(value)) {
        text = PyUnicode_AsUTF8(value);
    }
    if (text == NULL) {
        convert_name_half(name);
        return -1;
    }
    bool is_f = strcmp(text, "F") == 0 || strcmp(text, "f") == 0;
    bool is_c = strcmp(text, "C") == 0 || strcmp(text, "c") == 0;
    if (!is_f && !is_c) {
        PyErr_Format(PyExc_ValueError, "%s must be 'C' or 'F', not %R", name, value);
        return -1;
    }
    *(NPY_ORDER *)out = is_f ? NPY_FORTRANORDER : NPY_CORDER;
    return 0;
}

/* The common case, which takes a few nanoseconds: a tuple of one to three small ints.
 * Return false for any other value. */
static bool
convert_plain_dims(PyObject *value, unsigned int dims[3])
{
    Py_ssize_t n = 0;
    if (PyTuple_CheckExact(value)) {
        n = PyTuple_GET_SIZE(value);
    }
    if (n < 1 || n > 3) {
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GET_ITEM(value, i);
        int overflow = 0;
        long number = -1;
        if (PyLong_CheckExact(item)) {
            number = PyLong_AsLongAndOverflow(item, &overflow);
        }
        if (number < 0 || number > UINT_MAX || overflow != 0) {
            return false;
        }
        dims[i] = (unsigned int)number;
    }
    return true;
}

int
pcu_as_dims(pcu_state *st, PyObject *value, unsigned int dims[3], const char *name)
{
    unsigned long long bits = 0;
    dims[0] = dims[1] = dims[2] = 1;
    if (convert_plain_dims(value, dims)) {
        return 0;
    }
    dims[0] = dims[1] = dims[2] = 1;
    if (pcu_is_one_integer(value)) {
        int rc = pcu_as_integer(value, 0, UINT_MAX, &bits, name);
        dims[0] = (unsigned int)bits;
        return rc;
    }
    PyObject *items = PySequence_Tuple(value);
    if (items == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Format(PyExc_TypeError, "%s must be a tuple of 1 to 3 integers, not %s",
                     name, Py_TYPE(value)->tp_name);
    }
    if (items == NULL) {
        return -1;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    int rc = 0;
    if (n < 1 || n > 3) {
        rc = pcu_raise_detail(st, "cuLaunchKernel", CUDA_ERROR_INVALID_VALUE,
                              "%s has %zd dimensions; it takes 1 to 3", name, n);
    }
    for (Py_ssize_t i = 0; rc == 0 && i < n; i++) {
        rc = pcu_as_integer(PyTuple_GET_ITEM(items, i), 0, UINT_MAX, &bits, name);
        dims[i] = (unsigned int)bits;
    }
    Py_DECREF(items);
    return rc;
}

int
pcu_as_shape(pcu_state *Py_UNUSED(st), PyObject *value, void *out, const char *name)
{
    pcu_shape *shape = (pcu_shape *)out;
    unsigned long long bits = 0;
    if (pcu_is_one_integer(value)) {
        int rc = pcu_as_integer(value, 0, NPY_MAX_INTP, &bits, name);
        shape->ndim = 1;
        shape->dims[0] = (npy_intp)bits;
        return rc;
    }
    PyObject *items = PySequence_Tuple(value);
    if (items == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Format(PyExc_TypeError,
                     "%s must be an integer or a sequence of them, not %s", name,
                     Py_TYPE(value)->tp_name);
    }
    if (items == NULL) {
        return -1;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    int rc = 0;
    if (n > PCU_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "%s has %zd dimensions; at most %d are possible",
                     name, n, PCU_MAX_NDIM);
        rc = -1;
    }
    for (Py_ssize_t i = 0; rc == 0 && i < n; i++) {
        rc = pcu_as_integer(PyTuple_GET_ITEM(items, i), 0, NPY_MAX_INTP, &bits, name);
        shape->dims[i] = (npy_intp)bits;
    }
    shape->ndim = (int)n;
    Py_DECREF(items);
    return rc;
}

/* 1 if all numbers of a dtype have the byte order of this machine. -1 on error. */
static int
convert_is_native(PyArray_Descr *dtype)
{
    int native = PyArray_ISNBO(dtype->byteorder);
    if (native && (PyDataType_HASFIELDS(dtype) || PyDataType_HASSUBARRAY(dtype))) {
        PyObject *answer = PyObject_GetAttrString((PyObject *)dtype, "isnative");
        native = -1;
        if (answer != NULL) {
            native = PyObject_IsTrue(answer);
        }
        Py_XDECREF(answer);
    }
    return native;
}

static int
convert_check_dtype(PyArray_Descr *dtype, const char *name, const char *owner)
{
    int native = convert_is_native(dtype);
    if (native != 0) {
        return Py_MIN(native, 0);
    }
    PyArray_Descr *wanted = PyArray_DescrNewByteorder(dtype, NPY_NATIVE);
    int rc = -1;
    if (wanted != NULL) {
        rc = pcu_forgive(
            PyExc_TypeError,
            "%s%s has %R, in the byte order of other machines, which no GPU "
            "reads; convert it with .astype(numpy.%R)",
            name, owner, (PyObject *)dtype, (PyObject *)wanted);
        Py_DECREF(wanted);
    }
    return rc;
}

int
pcu_dtype_check_meaning(PyArray_Descr *dtype, const char *name)
{
    return convert_check_dtype(dtype, name, "");
}

/* 1 if the array is a masked array. numpy.ma is not imported: if it was not imported
 * before, no masked array exists. */
static int
convert_is_masked(PyArrayObject *array)
{
    PyObject *name = PyUnicode_FromString("numpy.ma");
    PyObject *module = NULL;
    if (name != NULL) {
        module = PyImport_GetModule(name);
    }
    int masked = 0;
    if (PyErr_Occurred()) {
        masked = -1;
    }
    if (module != NULL) {
        PyObject *type = PyObject_GetAttrString(module, "MaskedArray");
        masked = -1;
        if (type != NULL) {
            masked = PyObject_IsInstance((PyObject *)array, type);
        }
        Py_XDECREF(type);
    }
    Py_XDECREF(module);
    Py_XDECREF(name);
    return masked;
}

static int
convert_check_array(PyArrayObject *array, const char *name, const char *owner)
{
    if (!PyArray_CheckExact(array)) {
        int masked = convert_is_masked(array);
        if (masked > 0) {
            masked = pcu_forgive(PyExc_TypeError,
                                 "%s%s is a masked array, and arrays on a GPU have no "
                                 "mask; pass its .filled(value), or its .data",
                                 name, owner);
        }
        if (masked < 0) {
            return -1;
        }
    }
    return convert_check_dtype(PyArray_DESCR(array), name, owner);
}

int
pcu_array_check_meaning(PyArrayObject *array, const char *name)
{
    return convert_check_array(array, name, "");
}

int
pcu_array_check_elements(PyArrayObject *array, const char *name, const char *owner)
{
    PyArray_Descr *dtype = PyArray_DESCR(array);
    if (PyDataType_REFCHK(dtype)) {
        PyErr_Format(
            PyExc_TypeError,
            "%s%s is an array of Python objects (%R), which no kernel can use; "
            "convert it to numbers, as in array.astype(numpy.float32)",
            name, owner, (PyObject *)dtype);
        return -1;
    }
    return convert_check_array(array, name, owner);
}

int
pcu_refuse_objects(PyArray_Descr *dtype, const char *name)
{
    PyErr_Format(PyExc_TypeError,
                 "%s: %R holds Python objects, which no GPU can read; give a dtype of "
                 "numbers, such as numpy.float32",
                 name, (PyObject *)dtype);
    return -1;
}
