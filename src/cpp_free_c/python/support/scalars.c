/* Numbers that go with arrays: which type they have, and their bytes in another.
 *
 * Python's int, float and complex are weak: they take the dtype of the array they meet.
 * NumPy's scalars and arrays without axes have a dtype as an array has. */
#include "python/support/base.h"

#include <math.h>

#include "python/array/gpuarray.h"

int
pcu_is_scalar(PyObject *value)
{
    if (PyFloat_Check(value) || PyLong_Check(value) || PyComplex_Check(value) ||
        PyArray_IsScalar(value, Generic)) {
        return 1;
    }
    return PyArray_Check(value) && PyArray_NDIM((PyArrayObject *)value) == 0;
}

int
pcu_scalar_type(PyObject *value, int *type, int *weak)
{
    *weak = 0;
    if (PyBool_Check(value)) {
        *type = PCU_T_BOOL;
        return 0;
    }
    if (PyLong_Check(value)) {
        *type = PCU_T_INT64;
        *weak = 1;
        return 0;
    }
    if (PyFloat_CheckExact(value) || PyComplex_CheckExact(value)) {
        *type = PyFloat_CheckExact(value) ? PCU_T_FLOAT64 : PCU_T_COMPLEX128;
        *weak = 1;
        return 0;
    }
    if (PyArray_IsScalar(value, Generic) || PyArray_Check(value)) {
        PyArray_Descr *dtype =
            PyArray_IsScalar(value, Generic)
                ? PyArray_DescrFromScalar(value)
                : (PyArray_Descr *)Py_NewRef(
                      (PyObject *)PyArray_DESCR((PyArrayObject *)value));
        if (dtype != NULL && !PyArray_ISNBO(dtype->byteorder)) {
            /* the value is read from it, and has no byte order */
            Py_SETREF(dtype, PyArray_DescrNewByteorder(dtype, NPY_NATIVE));
        }
        if (dtype == NULL) {
            return -1;
        }
        *type = pcu_type_of_dtype(dtype);
        if (*type == PCU_T_RAW) {
            *type = PCU_T_NONE;
        }
        Py_DECREF(dtype);
        return 0;
    }
    *type = PyComplex_Check(value) ? PCU_T_COMPLEX128 : PCU_T_FLOAT64;
    *weak = 1;
    return 0;
}

/* IEEE half precision, rounded to nearest even. */
static uint16_t
scalar_half(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);
    if (isnan(value)) {
        return sign | 0x7E00;
    }
    if (magnitude >= 65520.0) {
        return sign | 0x7C00;
    }
    if (magnitude < 0x1p-14) { /* a multiple of 2**-24 */
        return sign | (uint16_t)nearbyint(magnitude * 0x1p24);
    }
    int exponent = 0;
    double fraction = frexp(magnitude, &exponent); /* 0.5 <= fraction < 1 */
    /* 1024 .. 2048: the carry into the exponent comes out right by addition */
    uint16_t digits = (uint16_t)nearbyint(fraction * 2048.0);
    return (uint16_t)(sign + ((exponent + 13) << 10) + digits);
}

typedef struct {
    int integer; /* the value is in bits, else in real and imag */
    int beyond;  /* an integer of more than 64 bits: in real */
    int negative;
    unsigned long long bits;
    Py_complex number;
} scalar_number;

/* Read an integer of any size. One that no float reaches is OverflowError. */
static int
scalar_read_integer(PyObject *value, scalar_number *out)
{
    PyObject *index = PyNumber_Index(value);
    if (index == NULL) {
        return -1;
    }
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(index, &overflow);
    *out = (scalar_number){.integer = 1,
                           .negative = overflow == 0 && number < 0,
                           .bits = (unsigned long long)number,
                           .number = {(double)number, 0}};
    if (overflow > 0) {
        out->bits = PyLong_AsUnsignedLongLong(index);
        out->number.real = (double)out->bits;
        if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear(); /* more than 64 bits */
            overflow = -1;
        }
    }
    if (overflow < 0) {
        out->beyond = 1;
        out->number.real = PyLong_AsDouble(index);
    }
    Py_DECREF(index);
    return PyErr_Occurred() ? -1 : 0;
}

static int
scalar_read(PyObject *value, scalar_number *out)
{
    if (PyLong_Check(value) || PyArray_IsScalar(value, Integer)) {
        return scalar_read_integer(value, out);
    }
    if (PyArray_Check(value)) {
        PyObject *item = PyArray_ToScalar(PyArray_DATA((PyArrayObject *)value),
                                          (PyArrayObject *)value);
        int rc = item == NULL ? -1 : scalar_read(item, out);
        Py_XDECREF(item);
        return rc;
    }
    *out = (scalar_number){.integer = 0};
    if (PyArray_IsScalar(value, Bool)) {
        out->integer = 1;
        out->bits = (unsigned long long)PyObject_IsTrue(value);
        out->number.real = (double)out->bits;
        return 0;
    }
    if (PyComplex_Check(value) || PyArray_IsScalar(value, ComplexFloating)) {
        out->number = PyComplex_AsCComplex(value);
    }
    else {
        out->number = (Py_complex){PyFloat_AsDouble(value), 0};
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int
scalar_misfit(PyObject *value, int type)
{
    PyArray_Descr *dtype = pcu_dtype_of_type(type);
    PyErr_Format(PyExc_TypeError, "%R does not fit an array of dtype %S", value,
                 (PyObject *)dtype);
    Py_XDECREF(dtype);
    return -1;
}

static int
scalar_overflow(PyObject *value, int type)
{
    PyArray_Descr *dtype = pcu_dtype_of_type(type);
    PyErr_Format(PyExc_OverflowError, "%R is out of the range of dtype %S", value,
                 (PyObject *)dtype);
    Py_XDECREF(dtype);
    return -1;
}

/* A float without its fraction, as an integer. NaN is ValueError, what 64 bits cannot
 * hold OverflowError. */
static int
scalar_truncate(PyObject *value, int type, scalar_number *number)
{
    double real = trunc(number->number.real);
    if (isnan(real)) {
        PyErr_SetString(PyExc_ValueError, "NaN cannot be converted to an integer");
        return -1;
    }
    if (real < -9223372036854775808.0 || real >= 18446744073709551616.0) {
        return scalar_overflow(value, type);
    }
    number->integer = 1;
    number->negative = real < 0;
    number->bits =
        real < 0 ? (unsigned long long)(long long)real : (unsigned long long)real;
    return 0;
}

#define SCALAR_STORE(ctype, expression)         \
    do {                                        \
        ctype stored_ = (ctype)(expression);    \
        memcpy(out, &stored_, sizeof(stored_)); \
    } while (0)

/* Store an integer; 1 if it fits, 0 if not. */
static int
scalar_store_integer(const scalar_number *n, int type, unsigned char *out)
{
    size_t size = pcu_type_size(type);
    int is_signed = type == PCU_T_INT8 || type == PCU_T_INT16 || type == PCU_T_INT32 ||
                    type == PCU_T_INT64;
    unsigned int digits = 8 * (unsigned int)size - (unsigned int)is_signed;
    unsigned long long most = digits == 64 ? ULLONG_MAX : (1ULL << digits) - 1;
    /* -1 is stored as the complement of 0 */
    int fits = n->negative ? is_signed && ~n->bits <= most : n->bits <= most;
    switch (size) {
        case 1:
            SCALAR_STORE(uint8_t, n->bits);
            break;
        case 2:
            SCALAR_STORE(uint16_t, n->bits);
            break;
        case 4:
            SCALAR_STORE(uint32_t, n->bits);
            break;
        default:
            SCALAR_STORE(uint64_t, n->bits);
    }
    return fits;
}

static void
scalar_store_float(Py_complex number, int type, unsigned char *out)
{
    switch (type) {
        case PCU_T_FLOAT16:
            SCALAR_STORE(uint16_t, scalar_half(number.real));
            break;
        case PCU_T_FLOAT32:
            SCALAR_STORE(float, number.real);
            break;
        case PCU_T_FLOAT64:
            SCALAR_STORE(double, number.real);
            break;
        case PCU_T_COMPLEX64: {
            float parts[2] = {(float)number.real, (float)number.imag};
            memcpy(out, parts, sizeof(parts));
            break;
        }
        default: {
            double parts[2] = {number.real, number.imag};
            memcpy(out, parts, sizeof(parts));
        }
    }
}

int
pcu_scalar_pack(PyObject *value, int type, int force, unsigned char *out)
{
    scalar_number number;
    if (PyFloat_CheckExact(value)) { /* the usual case */
        number = (scalar_number){.number = {PyFloat_AS_DOUBLE(value), 0}};
    }
    else if (scalar_read(value, &number) < 0) {
        return -1;
    }
    if (type == PCU_T_BOOL) {
        int truth = number.integer && !number.beyond
                        ? number.bits != 0
                        : number.number.real != 0 || number.number.imag != 0;
        SCALAR_STORE(uint8_t, truth);
        return 0;
    }
    if (type >= PCU_T_FLOAT16) {
        int is_complex =
            !number.integer && (PyComplex_Check(value) || number.number.imag != 0);
        if (is_complex && type < PCU_T_COMPLEX64) {
            return scalar_misfit(value, type);
        }
        scalar_store_float(number.number, type, out);
        return 0;
    }
    if (!number.integer) {
        if (!force || PyComplex_Check(value) || number.number.imag != 0) {
            return scalar_misfit(value, type);
        }
        if (scalar_truncate(value, type, &number) < 0) {
            return -1;
        }
    }
    if (number.beyond || !scalar_store_integer(&number, type, out)) {
        return scalar_overflow(value, type);
    }
    return 0;
}
