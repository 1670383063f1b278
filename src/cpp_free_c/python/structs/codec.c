/* Formats of _pvt_struct: compiling them, packing and unpacking values.
 *
 * Invariant: the items of a plan lie inside its size, and only strings may be empty.
 * Caller: struct.c; see codec.h. */
#include "python/structs/codec.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Integers are copied by their low bytes, which come first on all hosts of CUDA. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "little-endian hosts only");

/* -- format characters ------------------------------------------------------------- */

typedef enum {
    PAD,
    CHAR,
    STRING,
    PASCAL,
    SIGNED,
    UNSIGNED,
    POINTER,
    BOOL,
    REAL,
    COMPLEX
} code_kind;

struct pvt_code {
    char code;
    code_kind kind;
    Py_ssize_t size;
    Py_ssize_t align;
};

#define ROW(code, kind, type)                                             \
    {                                                                     \
        code, kind, (Py_ssize_t)sizeof(type), (Py_ssize_t) _Alignof(type) \
    }

static const pvt_code codec_codes[] = {
    {'x', PAD, 1, 1},
    {'c', CHAR, 1, 1},
    {'s', STRING, 1, 1},
    {'p', PASCAL, 1, 1},
    ROW('b', SIGNED, signed char),
    ROW('B', UNSIGNED, unsigned char),
    ROW('h', SIGNED, short),
    ROW('H', UNSIGNED, unsigned short),
    ROW('i', SIGNED, int),
    ROW('I', UNSIGNED, unsigned int),
    ROW('l', SIGNED, long),
    ROW('L', UNSIGNED, unsigned long),
    ROW('q', SIGNED, long long),
    ROW('Q', UNSIGNED, unsigned long long),
    ROW('n', SIGNED, Py_ssize_t),
    ROW('N', UNSIGNED, size_t),
    ROW('P', POINTER, void *),
    ROW('?', BOOL, _Bool),
    ROW('f', REAL, float),
    ROW('d', REAL, double),
    {'F', COMPLEX, 2 * (Py_ssize_t)sizeof(float), (Py_ssize_t) _Alignof(float)},
    {'D', COMPLEX, 2 * (Py_ssize_t)sizeof(double), (Py_ssize_t) _Alignof(double)},
};
#undef ROW

static const pvt_code *
codec_find_code(char code)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(codec_codes); i++) {
        if (codec_codes[i].code == code) {
            return &codec_codes[i];
        }
    }
    return NULL;
}

/* -- plans ------------------------------------------------------------------------- */

/* Read one repeat count and format character at *text and advance *text. Return 1, 0 at
 * the end of the format, or -1 with an exception. */
static int
codec_next_code(PyObject *error, const char **text, const char *end,
                const pvt_code **row, Py_ssize_t *number)
{
    const char *p = *text;

    while (p < end && Py_ISSPACE(*p)) {
        p++;
    }
    if (p == end) {
        return 0;
    }
    *number = 1;
    if (Py_ISDIGIT(*p)) {
        *number = 0;
        for (; p < end && Py_ISDIGIT(*p); p++) {
            int figure = *p - '0';
            if (*number > (PY_SSIZE_T_MAX - figure) / 10) {
                PyErr_SetString(error, "overflow in item count");
                return -1;
            }
            *number = *number * 10 + figure;
        }
        if (p == end) {
            PyErr_SetString(error, "repeat count given without format specifier");
            return -1;
        }
    }
    *row = codec_find_code(*p);
    if (*row == NULL) {
        PyErr_SetString(error, "bad char in struct format");
        return -1;
    }
    *text = p + 1;
    return 1;
}

/* Place one item after the items of the plan. Return 0, or -1 if the size overflows. */
static int
codec_place_item(pvt_plan *made, const pvt_code *row, Py_ssize_t number, pvt_item *item)
{
    Py_ssize_t gap = (row->align - made->size % row->align) % row->align;

    if (made->size > PY_SSIZE_T_MAX - gap ||
        number > (PY_SSIZE_T_MAX - made->size - gap) / row->size) {
        return -1;
    }
    item->row = row;
    item->offset = made->size + gap;
    item->size = row->size;
    item->repeat = number;
    if (row->kind == STRING || row->kind == PASCAL) {
        item->size = number;
        item->repeat = 1;
    }
    made->size = item->offset + number * row->size;
    return 0;
}

PyObject *
pvt_compile(PyObject *error, PyObject *format)
{
    const char *text = PyBytes_AS_STRING(format);
    const char *end = text + PyBytes_GET_SIZE(format);
    Py_ssize_t most = end - text;
    PyObject *bytes = NULL;
    pvt_plan *made;
    const pvt_code *row;
    Py_ssize_t number;
    int more;

    if (text < end && *text == '@') {
        text++;
    }
    /* A format has at most as many items as characters. */
    if (most > (PY_SSIZE_T_MAX / 2) / (Py_ssize_t)sizeof(pvt_item)) {
        return PyErr_NoMemory();
    }
    made = PyMem_Calloc(1, sizeof(pvt_plan) + (size_t)most * sizeof(pvt_item));
    if (made == NULL) {
        return PyErr_NoMemory();
    }
    while ((more = codec_next_code(error, &text, end, &row, &number)) == 1) {
        pvt_item *item = &made->items[made->count];

        if (codec_place_item(made, row, number, item) < 0) {
            PyErr_SetString(error, "total struct size too long");
            goto done;
        }
        if (row->kind != PAD && item->repeat != 0) {
            made->values += item->repeat;
            made->count++;
        }
    }
    if (more == 0) {
        bytes = PyBytes_FromStringAndSize(
            (const char *)made,
            (Py_ssize_t)(sizeof(pvt_plan) + (size_t)made->count * sizeof(pvt_item)));
    }
done:
    PyMem_Free(made);
    return bytes;
}

/* -- packing ----------------------------------------------------------------------- */

/* Raise struct.error for a value that does not fit its format. An exception that the
 * value's own code raised, other than TypeError and OverflowError, is kept. */
static int
codec_bad_value(PyObject *error, const char *text)
{
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError) ||
        PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_SetString(error, text);
    }
    return -1;
}

/* Convert to a C integer in two's complement. A number outside the range of the item is
 * an error; a pointer may also be negative. */
static int
codec_integer_bits(PyObject *error, const pvt_item *item, PyObject *number,
                   uint64_t *bits)
{
    int width = (int)(item->size * CHAR_BIT);
    uint64_t highest = UINT64_MAX >> (64 - width);
    int64_t lowest = 0;
    int overflow;
    int64_t low = PyLong_AsLongLongAndOverflow(number, &overflow);

    if (low == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (item->row->kind != UNSIGNED) {
        lowest = -(int64_t)(highest >> 1) - 1;
    }
    if (item->row->kind == SIGNED) {
        highest >>= 1;
    }
    *bits = (uint64_t)low;
    if (overflow > 0) {
        *bits = PyLong_AsUnsignedLongLong(number);
        if (*bits == UINT64_MAX && PyErr_Occurred()) {
            return -1;
        }
    }
    if (overflow < 0 || (overflow == 0 && low < lowest) ||
        ((overflow > 0 || low > 0) && *bits > highest)) {
        PyErr_Format(error, "'%c' format requires %lld <= number <= %llu",
                     item->row->code, (long long)lowest, (unsigned long long)highest);
        return -1;
    }
    return 0;
}

static int
codec_pack_integer(PyObject *error, const pvt_item *item, unsigned char *place,
                   PyObject *value)
{
    PyObject *number = NULL;
    uint64_t bits;
    int rc = -1;

    if (!PyIndex_Check(value)) {
        return codec_bad_value(error, "required argument is not an integer");
    }
    number = PyNumber_Index(value);
    if (number == NULL) {
        return codec_bad_value(error, "required argument is not an integer");
    }
    if (codec_integer_bits(error, item, number, &bits) < 0) {
        codec_bad_value(error, "int too large to convert");
        goto done;
    }
    memcpy(place, &bits, (size_t)item->size);
    rc = 0;
done:
    Py_DECREF(number);
    return rc;
}

static int
codec_pack_real(PyObject *error, const pvt_item *item, unsigned char *place,
                PyObject *value)
{
    double wide = PyFloat_AsDouble(value);
    float narrow = (float)wide;

    if (wide == -1.0 && PyErr_Occurred()) {
        return codec_bad_value(error, "required argument is not a float");
    }
    if (item->size == (Py_ssize_t)sizeof(float)) {
        memcpy(place, &narrow, sizeof(narrow));
    }
    else {
        memcpy(place, &wide, sizeof(wide));
    }
    return 0;
}

static int
codec_pack_complex(PyObject *error, const pvt_item *item, unsigned char *place,
                   PyObject *value)
{
    Py_complex number = PyComplex_AsCComplex(value);
    double wide[2] = {number.real, number.imag};
    float narrow[2] = {(float)number.real, (float)number.imag};

    if (number.real == -1.0 && PyErr_Occurred()) {
        return codec_bad_value(error, "required argument is not a complex number");
    }
    if (item->size == (Py_ssize_t)sizeof(narrow)) {
        memcpy(place, narrow, sizeof(narrow));
    }
    else {
        memcpy(place, wide, sizeof(wide));
    }
    return 0;
}

/* Copy the bytes of a value, as many as fit; the rest of the item stays zero. A Pascal
 * string begins with its length, at most 255. */
static int
codec_pack_string(PyObject *error, const pvt_item *item, unsigned char *place,
                  PyObject *value)
{
    Py_ssize_t prefix = item->row->kind == PASCAL;
    Py_ssize_t room = item->size - prefix;
    Py_buffer view;

    if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0) {
        /* An exporter may raise another class: NumPy raises ValueError. */
        PyErr_SetString(
            error, "argument for 's' or 'p' must be a contiguous bytes-like object");
        return -1;
    }
    if (room > 0) {
        Py_ssize_t length = view.len;
        if (length > room) {
            length = room;
        }
        memcpy(place + prefix, view.buf, (size_t)length);
        if (prefix) {
            place[0] = (unsigned char)(length < UCHAR_MAX ? length : UCHAR_MAX);
        }
    }
    PyBuffer_Release(&view);
    return 0;
}

static int
codec_pack_char(PyObject *error, unsigned char *place, PyObject *value)
{
    const char *text = NULL;

    if (PyBytes_Check(value) && PyBytes_GET_SIZE(value) == 1) {
        text = PyBytes_AS_STRING(value);
    }
    else if (PyByteArray_Check(value) && PyByteArray_GET_SIZE(value) == 1) {
        text = PyByteArray_AS_STRING(value);
    }
    if (text == NULL) {
        return codec_bad_value(error,
                               "char format requires a bytes object of length 1");
    }
    *place = (unsigned char)*text;
    return 0;
}

static int
codec_pack_bool(unsigned char *place, PyObject *value)
{
    int truth = PyObject_IsTrue(value);

    if (truth < 0) {
        return -1;
    }
    *place = (unsigned char)truth;
    return 0;
}

static int
codec_pack_value(PyObject *error, const pvt_item *item, unsigned char *place,
                 PyObject *value)
{
    switch (item->row->kind) {
        case CHAR:
            return codec_pack_char(error, place, value);
        case STRING:
        case PASCAL:
            return codec_pack_string(error, item, place, value);
        case BOOL:
            return codec_pack_bool(place, value);
        case REAL:
            return codec_pack_real(error, item, place, value);
        case COMPLEX:
            return codec_pack_complex(error, item, place, value);
        default:
            return codec_pack_integer(error, item, place, value);
    }
}

int
pvt_pack_all(PyObject *error, const pvt_plan *p, unsigned char *data,
             PyObject *const *values)
{
    memset(data, 0, (size_t)p->size);
    for (Py_ssize_t i = 0; i < p->count; i++) {
        const pvt_item *item = &p->items[i];
        unsigned char *place = data + item->offset;

        for (Py_ssize_t k = 0; k < item->repeat; k++, place += item->size) {
            if (codec_pack_value(error, item, place, *values++) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

/* -- unpacking --------------------------------------------------------------------- */

/* An integer of any size as 64 bits, with sign extension if it is signed. */
static uint64_t
codec_load_integer(const unsigned char *place, Py_ssize_t size, bool is_signed)
{
    uint64_t bits = 0;
    uint64_t sign = (uint64_t)1 << (size * CHAR_BIT - 1);

    memcpy(&bits, place, (size_t)size);
    if (is_signed && (bits & sign)) {
        return bits | ~(sign | (sign - 1));
    }
    return bits;
}

static double
codec_load_real(const unsigned char *place, Py_ssize_t size)
{
    float narrow;
    double wide;

    if (size == (Py_ssize_t)sizeof(float)) {
        memcpy(&narrow, place, sizeof(narrow));
        return (double)narrow;
    }
    memcpy(&wide, place, sizeof(wide));
    return wide;
}

static PyObject *
codec_unpack_pascal(const unsigned char *place, Py_ssize_t size)
{
    if (size == 0) {
        return PyBytes_FromStringAndSize(NULL, 0);
    }
    Py_ssize_t length = place[0];
    if (length > size - 1) {
        length = size - 1;
    }
    return PyBytes_FromStringAndSize((const char *)place + 1, length);
}

static PyObject *
codec_unpack_value(const pvt_item *item, const unsigned char *place)
{
    Py_ssize_t half = item->size / 2;

    switch (item->row->kind) {
        case CHAR:
        case STRING:
            return PyBytes_FromStringAndSize((const char *)place, item->size);
        case PASCAL:
            return codec_unpack_pascal(place, item->size);
        case BOOL:
            return PyBool_FromLong(*place);
        case REAL:
            return PyFloat_FromDouble(codec_load_real(place, item->size));
        case COMPLEX:
            return PyComplex_FromDoubles(codec_load_real(place, half),
                                         codec_load_real(place + half, half));
        case SIGNED:
            return PyLong_FromLongLong(
                (int64_t)codec_load_integer(place, item->size, true));
        default:
            return PyLong_FromUnsignedLongLong(
                codec_load_integer(place, item->size, false));
    }
}

PyObject *
pvt_unpack_all(const pvt_plan *p, const unsigned char *data)
{
    PyObject *result = PyTuple_New(p->values);
    Py_ssize_t next = 0;

    if (result == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < p->count; i++) {
        const pvt_item *item = &p->items[i];
        const unsigned char *place = data + item->offset;

        for (Py_ssize_t k = 0; k < item->repeat; k++, place += item->size) {
            PyObject *value = codec_unpack_value(item, place);

            if (value == NULL) {
                Py_DECREF(result);
                return NULL;
            }
            PyTuple_SET_ITEM(result, next++, value);
        }
    }
    return result;
}
