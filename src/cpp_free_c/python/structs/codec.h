/* Formats of _pvt_struct: a format is compiled once into a plan, by which values are
 * packed and unpacked.
 *
 * Values have the sizes and alignments of the C compiler; F and D are two floats and
 * two doubles. A plan is stored in a bytes object. A user of the plan holds a
 * reference, so Python code that runs during a conversion cannot free the plan, even if
 * it calls Struct.__init__ again.
 *
 * Invariant: a plan never changes. Caller: struct.c, with the interpreter lock. `error`
 * is the exception class for wrong formats and values. */
#ifndef PYTHON_STRUCTS_CODEC_H
#define PYTHON_STRUCTS_CODEC_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct pvt_code pvt_code;

typedef struct {
    const pvt_code *row;
    Py_ssize_t offset;
    Py_ssize_t size;   /* of one value; for a string, its whole length */
    Py_ssize_t repeat; /* the number of consecutive values */
} pvt_item;

typedef struct {
    Py_ssize_t size;   /* total bytes, without padding at the end */
    Py_ssize_t values; /* number of Python values */
    Py_ssize_t count;  /* number of items */
    pvt_item items[];
} pvt_plan;

/* The plan in a bytes object that pvt_compile returned, borrowed from it. */
static inline const pvt_plan *
pvt_plan_borrow(PyObject *bytes)
{
    /* The contents of a bytes object are aligned to 8 bytes. */
    return (const pvt_plan *)(const void *)PyBytes_AS_STRING(bytes);
}

/* Compile a format, a bytes object. Return a new reference to the plan's bytes object,
 * or NULL with an exception. */
PyObject *pvt_compile(PyObject *error, PyObject *format);

/* Pack plan->values values into plan->size bytes. Return 0, or -1 with an exception. */
int pvt_pack_all(PyObject *error, const pvt_plan *p, unsigned char *data,
                 PyObject *const *values);

/* Unpack plan->size bytes. Return a new tuple of the values, or NULL with an
 * exception. */
PyObject *pvt_unpack_all(const pvt_plan *p, const unsigned char *data);

#endif
