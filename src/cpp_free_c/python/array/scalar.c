/* Numbers as operands of arrays: see scalar.h. */

#include "python/array/scalar.h"

#include <math.h>

#include "python/array/element_type.h"

bool
pcu_is_scalar(PyObject *value)
{
    if (PyFloat_Check(value) || PyLong_Check(value) || PyComplex_Check(value) ||
        PyArray_IsScalar(value, Generic)) {
        return true;
    }
    return PyArray_Check(value) && PyArray_NDIM((PyArrayObject *)value) == 0;
}

/* The dtype of a NumPy scalar or array, in this machine's byte order: the number itself
 * has no byte order. */
static PyArray_Descr *
scalar_dtype_new(PyObject *value)
{
    PyArray_Descr *dtype;
    if (PyArray_Check(value)) {
        dtype = PyArray_DESCR((PyArrayObject *)value);
        Py_INCREF(dtype);
    }
    else {
        dtype = PyArray_DescrFromScalar(value);
    }
    if (dtype != NULL && !PyArray_ISNBO(dtype->byteorder)) {
        Py_SETREF(dtype, PyArray_DescrNewByteorder(dtype, NPY_NATIVE));
    }
    return dtype;
}

int
pcu_scalar_type(PyObject *value, int *type, int *yields)
{
    *yields = 1;
    if (PyFloat_CheckExact(value)) {
        *type = PCU_T_FLOAT64;
        return 0;
    }
    if (PyBool_Check(value)) {
        *yields = 0;
        *type = PCU_T_BOOL;
        return 0;
    }
    if (PyLong_Check(value)) {
        *type = PCU_T_INT64;
        return 0;
    }
    if (PyComplex_CheckExact(value)) {
        *type = PCU_T_COMPLEX128;
        return 0;
    }
    if (PyArray_IsScalar(value, Generic) || PyArray_Check(value)) {
        PyArray_Descr *dtype = scalar_dtype_new(value);
        if (dtype == NULL) {
            return -1;
        }
        *yields = 0;
        *type = pcu_type_of_dtype(dtype);
        if (*type == PCU_T_RAW) {
            *type = PCU_T_NONE;
        }
        Py_DECREF(dtype);
        return 0;
    }
    *type = PCU_T_FLOAT64;
    if (PyComplex_Check(value)) {
        *type = PCU_T_COMPLEX128;
    }
    return 0;
}

int
pcu_scalar_is_negative(PyObject *value)
{
    PyObject *zero = PyLong_FromLong(0);
    if (zero == NULL) {
        return -1;
    }
    int negative = PyObject_RichCompareBool(value, zero, Py_LT);
    Py_DECREF(zero);
    return negative;
}

/* -- reading a number -------------------------------------------------------------- */

/* IEEE half precision, rounded to nearest even. */
static uint16_t
scalar_half(double value)
{
    uint16_t sign = (uint16_t)((signbit(value) != 0) << 15);
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
    /* 1024 .. 2048: the addition carries a rounded-up fraction into the exponent */
    uint16_t digits = (uint16_t)nearbyint(fraction * 2048.0);
    return (uint16_t)(sign + ((exponent + 13) << 10) + digits);
}

/* bfloat16, the upper half of a float32, rounded to nearest even. */
static uint16_t
scalar_bfloat(double value)
{
    uint32_t single;
    float rounded = (float)value;
    if (isnan(value)) {
        return (uint16_t)((signbit(value) != 0) << 15) | 0x7FC0;
    }
    memcpy(&single, &rounded, sizeof(single));
    if (isfinite(rounded) && (double)rounded != value) {
        /* Round to odd: of both neighbours the one with an odd last digit, so that the
         * second rounding is that of the value. */
        if (fabs((double)rounded) > fabs(value)) {
            single--;
        }
        single |= 1;
    }
    single += 0x7FFF + (single >> 16 & 1);
    return (uint16_t)(single >> 16);
}

typedef struct {
    bool integer;            /* the value is in bits, else in number */
    bool beyond;             /* an integer of more than 64 bits, in number.real */
    bool negative;           /* of an integer */
    unsigned long long bits; /* two's complement */
    Py_complex number;       /* set for integers too */
} scalar_number;

/* Read an integer of any size. OverflowError for one that is too large for a float. */
static int
scalar_read_integer(PyObject *value, scalar_number *out)
{
    PyObject *index = PyNumber_Index(value);
    if (index == NULL) {
        return -1;
    }
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(index, &overflow);
    *out = (scalar_number){.integer = true,
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
        out->beyond = true;
        out->number.real = PyLong_AsDouble(index);
    }
    Py_DECREF(index);
    if (PyErr_Occurred()) {
        return -1;
    }
    return 0;
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
        if (item == NULL) {
            return -1;
        }
        int rc = scalar_read(item, out);
        Py_DECREF(item);
        return rc;
    }
    *out = (scalar_number){.integer = false};
    if (PyArray_IsScalar(value, Bool)) {
        out->integer = true;
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
    if (PyErr_Occurred()) {
        return -1;
    }
    return 0;
}

/* -- writing its bytes ------------------------------------------------------------- */

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

/* Turn a float into an integer without its fraction. ValueError for NaN, OverflowError
 * for a number that 64 bits cannot hold. */
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
    number->integer = true;
    number->negative = real < 0;
    if (real < 0) {
        number->bits = (unsigned long long)(long long)real;
    }
    else {
        number->bits = (unsigned long long)real;
    }
    return 0;
}

#define SCALAR_STORE(ctype, expression)         \
    do {                                        \
        ctype stored_ = (ctype)(expression);    \
        memcpy(out, &stored_, sizeof(stored_)); \
    } while (0)

/* Store an integer; false if it does not fit. */
static bool
scalar_store_integer(const scalar_number *n, int type, unsigned char *out)
{
    const pcu_type_row *row = &pcu_types[type];
    unsigned int digits = 8 * (unsigned int)row->size - row->is_signed;
    unsigned long long most = ULLONG_MAX >> (64 - digits);
    bool fits = n->bits <= most;
    if (n->negative) { /* in two's complement the least number is ~most */
        fits = row->is_signed && ~n->bits <= most;
    }
    switch (row->size) {
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
        case PCU_T_BFLOAT16:
            SCALAR_STORE(uint16_t, scalar_bfloat(number.real));
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

static bool
scalar_truth(const scalar_number *n)
{
    if (n->integer && !n->beyond) {
        return n->bits != 0;
    }
    return n->number.real != 0 || n->number.imag != 0;
}

/* Whether the number is converted as an element of an array is. */
static bool
scalar_is_converted(PyObject *value, pcu_scalar_way way)
{
    if (way == PCU_SCALAR_ASSIGNED) {
        return PyArray_IsScalar(value, Generic) || PyArray_Check(value);
    }
    return way == PCU_SCALAR_CONVERTED;
}

static int
scalar_pack_float(PyObject *value, const scalar_number *n, int type, pcu_scalar_way way,
                  unsigned char *out)
{
    bool is_complex = !n->integer && (PyComplex_Check(value) || n->number.imag != 0);
    if (is_complex && !pcu_type_is_complex(type) && !scalar_is_converted(value, way)) {
        return scalar_misfit(value, type);
    }
    scalar_store_float(n->number, type, out);
    return 0;
}

static int
scalar_pack_integer(PyObject *value, scalar_number *n, int type, pcu_scalar_way way,
                    unsigned char *out)
{
    bool is_converted = scalar_is_converted(value, way);
    if (!n->integer) {
        bool is_complex = PyComplex_Check(value) || n->number.imag != 0;
        if (way == PCU_SCALAR_OPERAND || (is_complex && !is_converted)) {
            return scalar_misfit(value, type);
        }
        if (scalar_truncate(value, type, n) < 0) {
            return -1;
        }
    }
    bool fits = !n->beyond && scalar_store_integer(n, type, out);
    if (!fits && (n->beyond || !is_converted)) {
        return scalar_overflow(value, type);
    }
    return 0;
}

int
pcu_scalar_pack(PyObject *value, int type, pcu_scalar_way way, unsigned char *out)
{
    scalar_number number;
    if (PyFloat_CheckExact(value)) { /* the usual case */
        number = (scalar_number){.number = {PyFloat_AS_DOUBLE(value), 0}};
    }
    else if (scalar_read(value, &number) < 0) {
        return -1;
    }
    switch (pcu_types[type].kind) {
        case PCU_KIND_BOOL:
            SCALAR_STORE(uint8_t, scalar_truth(&number));
            return 0;
        case PCU_KIND_INTEGER:
            return scalar_pack_integer(value, &number, type, way, out);
        default:
            return scalar_pack_float(value, &number, type, way, out);
    }
}
