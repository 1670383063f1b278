/* Packing the values of a prepared call.
 *
 * Invariant: the compiled format says for each value where its bytes go, so packing
 * looks at no keyword and allocates nothing. */
#include "python/driver/launch/launch.h"

#include "python/support/buffer.h"
#include "python/support/convert.h"
#include "python/support/settings.h"
#include "python/driver/memory/gpuarray.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"
#include "python/driver/texture/texture_object.h"

/* Read an integer that does not fit into its parameter, but into 8 bytes, of which
 * PyCUDA passes the lowest. */
static int
value_cut(const pcu_prepared_arg *item, PyObject *value, unsigned long long *bits)
{
    const long long low = item->low == 0 ? 0 : INT64_MIN;
    if (!item->cuts || !PyErr_ExceptionMatches(PyExc_OverflowError)) {
        return -1;
    }
    PyErr_Clear(); /* the report says what it said */
    if (pcu_as_integer(value, low, UINT64_MAX, bits, "the value") < 0) {
        return -1;
    }
    return pcu_forgive(PyExc_OverflowError,
                       "the value %R of a prepared call has more than the %zu bytes of "
                       "its parameter",
                       value, item->size);
}

static int
value_put_integer(const pcu_prepared_arg *item, PyObject *value, unsigned char *place)
{
    unsigned long long bits = 0;
    if (pcu_as_integer(value, item->low, item->high, &bits, "the value") < 0 &&
        value_cut(item, value, &bits) < 0) {
        return -1;
    }
    memcpy(place, &bits, item->size); /* every host of CUDA is little-endian */
    return 0;
}

/* What value_put returns for values of which the caller must look at more. */
enum {
    VALUE_OF_OTHER_ELEMENTS = 1, /* an array of other elements than the parameter's */
    VALUE_OF_A_SIZE = 2          /* bytes: see value_check_size */
};

static int
value_put_bytes(const pcu_prepared_arg *item, PyObject *value, unsigned char *place)
{
    static const char *const what = "the value of a kernel argument";
    pcu_buffer buffer = {0};
    size_t skip = 0;
    if (item->code == 'p') {
        skip = 1;
    }
    if (PyArray_Check(value) &&
        pcu_array_check_meaning((PyArrayObject *)value, what) < 0) {
        return -1;
    }
    if (PyArray_IsScalar(value, Void) &&
        pcu_dtype_check_meaning(((PyVoidScalarObject *)value)->descr, what) < 0) {
        return -1;
    }
    if (PyTuple_Check(value) || PyList_Check(value)) {
        PyErr_Format(PyExc_TypeError,
                     "the value is a %s: pass an element of an array of its dtype, as "
                     "in numpy.array(value, dtype)[()]",
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    if (pcu_buffer_acquire(&buffer, value, false, "the value") < 0) {
        return -1;
    }
    size_t room = 0;
    if (item->size > skip) {
        room = item->size - skip;
    }
    size_t n = Py_MIN(buffer.size, room);
    memset(place, 0, item->size);
    if (skip != 0 && item->size != 0) {
        place[0] = (unsigned char)Py_MIN(n, 255);
    }
    memcpy(place + skip, buffer.data, n);
    pcu_buffer_release(&buffer);
    return item->code == 's' ? VALUE_OF_A_SIZE : 0;
}

static int
value_put_float(const pcu_prepared_arg *item, PyObject *value, unsigned char *place)
{
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    if (item->code == 'd') {
        memcpy(place, &number, sizeof(number));
        return 0;
    }
    if (item->code == 'e') {
#if PY_VERSION_HEX < 0x030B0000
        return _PyFloat_Pack2(number, place, 1);
#else
        return PyFloat_Pack2(number, (char *)place, 1);
#endif
    }
    float single = (float)number;
    memcpy(place, &single, sizeof(single));
    return 0;
}

static int
value_put_complex(const pcu_prepared_arg *item, PyObject *value, unsigned char *place)
{
    Py_complex number = PyComplex_AsCComplex(value);
    if (number.real == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    if (item->code == 'D') {
        double parts[2] = {number.real, number.imag};
        memcpy(place, parts, sizeof(parts));
    }
    else {
        float parts[2] = {(float)number.real, (float)number.imag};
        memcpy(place, parts, sizeof(parts));
    }
    return 0;
}

/* Write the handle of a texture or surface object, which takes 8 bytes. Return 1, or 0
 * if the value is neither. */
static int
value_put_texture(pcu_state *st, PyObject *value, unsigned char *place)
{
    CUdeviceptr handle = 0;
    int found = pcu_texture_argument(st, value, &handle);
    if (found == 1) {
        memcpy(place, &handle, sizeof(handle));
    }
    return found;
}

/* Whether the value is an array of other elements than the parameter's pointer has. */
static bool
value_has_other_elements(pcu_state *st, const pcu_prepared_arg *item, PyObject *value)
{
    return pcu_is_array(st, value) &&
           (item->elements >> ((pcu_gpuarray *)value)->type & 1u) == 0;
}

/* Write a value of 'P': device memory, a texture or a surface, or an address as an int.
 * Return 1 for an array of other elements than the parameter's.
 */
static int
value_put_pointer(pcu_state *st, const pcu_prepared_arg *item, PyObject *value,
                  unsigned char *place)
{
    CUdeviceptr pointer = 0;
    if ((Py_IS_TYPE(value, st->DeviceAllocation) ||
         Py_IS_TYPE(value, st->PooledDeviceAllocation)) &&
        item->size == sizeof(pointer)) {
        memcpy(place, &((pcu_resource *)value)->handle.memory, sizeof(pointer));
        return pcu_resource_check((pcu_resource *)value, "cuLaunchKernel");
    }
    if (item->size != sizeof(pointer) || PyLong_Check(value) ||
        PyArray_IsScalar(value, Integer)) {
        return value_put_integer(item, value, place);
    }
    int found = value_put_texture(st, value, place);
    if (found != 0) {
        return Py_MIN(found, 0);
    }
    if (pcu_as_pointer(st, value, &pointer, "the value") < 0) {
        return -1;
    }
    memcpy(place, &pointer, sizeof(pointer));
    return value_has_other_elements(st, item, value);
}

static int
value_put_truth(const pcu_prepared_arg *item, PyObject *value, unsigned char *place)
{
    int truth = PyObject_IsTrue(value);
    if (truth < 0) {
        return -1;
    }
    memset(place, 0, item->size);
    place[0] = (unsigned char)truth;
    return 0;
}

/* Write an integer, or the handle of a texture or surface object if 8 bytes are free.
 */
static int
value_put_word(pcu_state *st, const pcu_prepared_arg *item, PyObject *value,
               unsigned char *place)
{
    if (item->size == sizeof(CUdeviceptr) && !PyIndex_Check(value)) {
        int found = value_put_texture(st, value, place);
        if (found != 0) {
            return Py_MIN(found, 0);
        }
    }
    return value_put_integer(item, value, place);
}

/* Convert one value and write it. Return 0, or a VALUE_ constant. */
static int
value_put(pcu_state *st, const pcu_prepared_arg *item, PyObject *value,
          unsigned char *place)
{
    switch (item->code) {
        case 'P':
            return value_put_pointer(st, item, value, place);
        case 'f':
            if (Py_IS_TYPE(value, &PyFloatArrType_Type)) {
                memcpy(place, &PyArrayScalar_VAL(value, Float), sizeof(float));
                return 0;
            }
            return value_put_float(item, value, place);
        case 'd':
        case 'e':
            return value_put_float(item, value, place);
        case 'i':
            if (Py_IS_TYPE(value, &PyIntArrType_Type) && item->size == sizeof(int)) {
                memcpy(place, &PyArrayScalar_VAL(value, Int), sizeof(int));
                return 0;
            }
            return value_put_integer(item, value, place);
        case 'F':
        case 'D':
            return value_put_complex(item, value, place);
        case 's':
        case 'p':
        case 'c':
            return value_put_bytes(item, value, place);
        case '?':
            return value_put_truth(item, value, place);
        default:
            return value_put_word(st, item, value, place);
    }
}
/* The class struct.error of _pvt_struct. */
static PyObject *
value_error_class_new(void)
{
    PyObject *module = PyImport_ImportModule("pycuda._pvt_struct");
    PyObject *error = NULL;
    if (module != NULL) {
        error = PyObject_GetAttrString(module, "error");
    }
    Py_XDECREF(module);
    return error;
}

static int
value_bad_count(pcu_function *self, Py_ssize_t wanted, Py_ssize_t given)
{
    PyObject *error = value_error_class_new();
    if (error != NULL) {
        const char *plural = wanted == 1 ? "" : "s";
        PyErr_Format(error, "%U was prepared for %zd argument%s (%zd given)",
                     self->name, wanted, plural, given);
        Py_DECREF(error);
    }
    return -1;
}

/* Turn the error of a value that does not fit its format into a struct.error with the
 * position. The original error becomes its cause. Other exceptions stay as they are. */
static int
value_bad_value(pcu_function *self, char code, Py_ssize_t i)
{
    if (!PyErr_ExceptionMatches(PyExc_TypeError) &&
        !PyErr_ExceptionMatches(PyExc_ValueError) &&
        !PyErr_ExceptionMatches(PyExc_OverflowError)) {
        return -1;
    }
    PyObject *type = NULL;
    PyObject *cause = NULL;
    PyObject *traceback = NULL;
    PyErr_Fetch(&type, &cause, &traceback);
    PyErr_NormalizeException(&type, &cause, &traceback);
    PyObject *error = value_error_class_new();
    PyObject *text = NULL;
    if (error != NULL) {
        text = PyUnicode_FromFormat("argument %zd of %U ('%c'): %S", i, self->name,
                                    code, cause);
    }
    PyObject *exception = NULL;
    if (text != NULL) {
        exception = PyObject_CallOneArg(error, text);
    }
    if (exception != NULL) {
        PyException_SetCause(exception, Py_NewRef(cause));
        PyErr_SetObject(error, exception);
    }
    Py_XDECREF(type);
    Py_XDECREF(cause);
    Py_XDECREF(traceback);
    Py_XDECREF(error);
    Py_XDECREF(text);
    Py_XDECREF(exception);
    return -1;
}

/* Compare the size of a value of NumPy with that of its parameter. Bytes may be shorter
 * or longer, as in the module struct, and a record may lack its tail padding. */
static int
value_check_size(pcu_function *self, const pcu_prepared *plan, Py_ssize_t i,
                 PyObject *value)
{
    const pcu_prepared_arg *item = &plan->items[i];
    size_t wanted = item->padded == 0 ? item->size : item->padded;
    if (!PyArray_Check(value) && !PyArray_CheckScalar(value)) {
        return 0;
    }
    PyArray_Descr *dtype = NULL;
    if (PyArray_Check(value)) {
        dtype = (PyArray_Descr *)Py_NewRef(PyArray_DESCR((PyArrayObject *)value));
    }
    else {
        dtype = PyArray_DescrFromScalar(value);
    }
    if (dtype == NULL) {
        return -1;
    }
    size_t size = (size_t)PyDataType_ELSIZE(dtype);
    if (PyArray_Check(value)) {
        size = (size_t)PyArray_NBYTES((PyArrayObject *)value);
    }
    bool fits =
        size == wanted || (size == item->size && pcu_record_lacks_tail(dtype, wanted));
    Py_DECREF(dtype);
    if (fits) {
        return 0;
    }
    if (plan->count == self->nparams) {
        return pcu_argument_forgive_size(self, i, value, size);
    }
    return pcu_forgive(
        PyExc_TypeError,
        "the value of a kernel argument has %zu bytes, but the parameter "
        "takes %zu: pass an element of an array of its dtype",
        size, wanted);
}

int
pcu_prepared_put(pcu_function *self, const pcu_prepared *plan, Py_ssize_t i,
                 PyObject *value, unsigned char *block)
{
    const pcu_prepared_arg *item = &plan->items[i];
    int rc = value_put(self->st, item, value, block + item->offset);
    if (rc == VALUE_OF_OTHER_ELEMENTS) {
        return pcu_argument_report(self, i, value);
    }
    if (rc == VALUE_OF_A_SIZE) {
        rc = value_check_size(self, plan, i, value);
    }
    if (rc < 0) {
        return value_bad_value(self, item->code, i);
    }
    return 0;
}

int
pcu_prepared_pack(pcu_function *self, const pcu_prepared *plan, PyObject *const *args,
                  Py_ssize_t nargs, pcu_argument_buffer *buffer)
{
    if (nargs != plan->count) {
        return value_bad_count(self, plan->count, nargs);
    }
    unsigned char *block = pcu_argument_buffer_reserve(buffer, plan->size, 1);
    if (block == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memset(block, 0, plan->size);
    for (Py_ssize_t i = 0; i < plan->count; i++) {
        if (pcu_prepared_put(self, plan, i, args[i], block) < 0) {
            return -1;
        }
    }
    return 0;
}
