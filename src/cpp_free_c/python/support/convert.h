/* Converters of plain values: integers, addresses, names, paths, dtypes, dimensions,
 * shapes.
 *
 * Invariant: after a failure the output is undefined and holds no reference. Integers
 * are accepted from any object with __index__ (NumPy's scalars too), floats are
 * refused, and a value that does not fit is OverflowError. Callers: argument tables and
 * code in python/. */
#ifndef PYTHON_SUPPORT_CONVERT_H
#define PYTHON_SUPPORT_CONVERT_H

#include "python/support/base.h"

#include "python/support/args.h"

#include "driver/shape.h"

PCU_CONVERTER(pcu_as_object, PyObject *); /* unchanged */
PCU_CONVERTER(pcu_as_int, int);
PCU_CONVERTER(pcu_as_uint, unsigned int); /* any __index__ */
PCU_CONVERTER(pcu_as_uint8, unsigned char);
PCU_CONVERTER(pcu_as_uint16, unsigned short);
PCU_CONVERTER(pcu_as_size, size_t); /* any __index__ */
PCU_CONVERTER(pcu_as_bool, bool);
PCU_CONVERTER(pcu_as_double, double);
PCU_CONVERTER(pcu_as_dtype, PyArray_Descr *); /* NEW reference */
PCU_CONVERTER(pcu_as_order, NPY_ORDER);       /* "C" or "F" */

/* Convert any integer (int, NumPy integer, enum member, __index__) between low and
 * high. Other values are OverflowError or TypeError and name the argument. */
PCU_HIDDEN PCU_RAISES int pcu_as_integer(PyObject *value, long long low,
                                         unsigned long long high,
                                         unsigned long long *out, const char *name);

/* Whether an int is between low and high; *out becomes its bits. */
PCU_HIDDEN bool pcu_integer_fits(PyObject *integer, long long low,
                                 unsigned long long high, unsigned long long *out);

/* Whether the value has __index__ and is not an array with axes. */
PCU_HIDDEN bool pcu_is_one_integer(PyObject *value);

/* The place of a str among words; `count` for another value. */
PCU_HIDDEN size_t pcu_find_word(PyObject *value, const char *const *words,
                                size_t count);

/* Convert an address: an integer, or an object with __int__ that is not a float. */
PCU_HIDDEN PCU_RAISES int pcu_as_address(PyObject *value, CUdeviceptr *out,
                                         const char *name);

/* Read an attribute. Return NULL without an exception if the object does not have it.
 */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_attribute_new(PyObject *object, PyObject *name);

/* The UTF-8 text of a str without null characters; borrowed from it. */
PCU_HIDDEN PCU_RAISES const char *pcu_as_name(PyObject *value, const char *name);

/* The bytes object of a path, which is a str, bytes or os.PathLike. */
PCU_HIDDEN PyObject *pcu_as_path_new(PyObject *value, const char *name);

/* Convert a block or grid: an int, or a sequence of 1 to 3 ints. Missing dimensions are
 * 1. */
PCU_HIDDEN PCU_RAISES int pcu_as_dims(pcu_state *st, PyObject *value,
                                      unsigned int dims[3], const char *name);

/* A shape: an int, or an iterable of at most PCU_MAX_NDIM ints. */
typedef struct {
    int ndim;
    npy_intp dims[PCU_MAX_NDIM];
} pcu_shape;
PCU_CONVERTER(pcu_as_shape, pcu_shape);

/* Check that the elements have the same meaning on the device as in the program. For
 * non-native byte order and for masked arrays warn, because their bytes can be copied,
 * or raise TypeError: see pcu_forgive. */
PCU_HIDDEN PCU_RAISES int pcu_array_check_meaning(PyArrayObject *array,
                                                  const char *name);

/* The same, and TypeError for elements that no kernel can use: Python objects. A
 * message calls the array `name` and `owner`, one after the other. */
PCU_HIDDEN PCU_RAISES int pcu_array_check_elements(PyArrayObject *array,
                                                   const char *name, const char *owner);

/* The same as pcu_array_check_meaning for a dtype. */
PCU_HIDDEN PCU_RAISES int pcu_dtype_check_meaning(PyArray_Descr *dtype,
                                                  const char *name);

/* Raise TypeError for a dtype that holds Python objects. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_refuse_objects(PyArray_Descr *dtype, const char *name);

#endif
