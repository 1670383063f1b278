/* Formats of _pvt_struct, compiled once into plans by which values are packed and
 * unpacked.
 *
 * Values are laid out by the C compiler's own sizes and alignments; F and D are two
 * floats and two doubles. A plan lives in a bytes object: whoever uses it holds a
 * reference, so that a conversion which runs Python code (even one that calls
 * Struct.__init__ again) cannot free it.
 *
 * Invariant: a plan never changes once made. Called by python/structs/struct.c only,
 * with the GIL. `error` is the exception class for wrong formats and values. */
#ifndef PYTHON_STRUCTS_CODEC_H
#define PYTHON_STRUCTS_CODEC_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct pvt_code pvt_code;

typedef struct {
    const pvt_code *row;
    Py_ssize_t offset;
    Py_ssize_t size;   /* of one value; a string's whole length */
    Py_ssize_t repeat; /* values, one behind the other */
} pvt_item;

typedef struct {
    Py_ssize_t size;   /* bytes in all, without padding at the end */
    Py_ssize_t values; /* how many Python values they hold */
    Py_ssize_t count;  /* items */
    pvt_item items[];
} pvt_plan;

/* The plan in the bytes that pvt_compile returned; it lives as long as they do. */
static inline const pvt_plan *
pvt_plan_borrow(PyObject *bytes)
{
    /* Bytes objects start at a multiple of 16 and their text at one of 8. */
    return (const pvt_plan *)(const void *)PyBytes_AS_STRING(bytes);
}

/* Compiles a format (bytes). A new reference to the plan's bytes, or NULL with an
 * exception. */
PyObject *pvt_compile(PyObject *error, PyObject *format);

/* Packs plan->values values into plan->size bytes. 0, or -1 with an exception. */
int pvt_pack_all(PyObject *error, const pvt_plan *p, unsigned char *data,
                 PyObject *const *values);

/* The values that plan->size bytes hold: a new tuple, or NULL with an exception. */
PyObject *pvt_unpack_all(const pvt_plan *p, const unsigned char *data);

#endif
