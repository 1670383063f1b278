/* Numbers as operands of arrays: their type, and their bytes in another type.
 *
 * Python's int, float and complex yield: they take the dtype of the arrays they meet.
 * NumPy's scalars and arrays without axes have a dtype, as arrays do. Called by ops/.
 */
#ifndef PYTHON_ARRAY_SCALAR_H
#define PYTHON_ARRAY_SCALAR_H

#include "python/support/base.h"

enum { PCU_SCALAR_BYTES = 16 }; /* of the largest type */

/* True for a Python number, a NumPy scalar and a NumPy array without axes. */
PCU_HIDDEN bool pcu_is_scalar(PyObject *value);

/* The pcu_type of a scalar, and *yields: 1 if it takes the dtype of arrays. The type is
 * PCU_T_NONE if kernels do not compute with its dtype. */
PCU_HIDDEN PCU_RAISES int pcu_scalar_type(PyObject *value, int *type, int *yields);

/* How a number becomes one of a type. OverflowError for an integer that the type cannot
 * hold, TypeError for a number of a wider kind, ValueError for NaN as an integer. */
typedef enum {
    PCU_SCALAR_OPERAND,
    /* A float loses its fraction in an integer type. A number that has a dtype is
     * converted as the elements of an array are: integers wrap around, complex numbers
     * lose their imaginary part. */
    PCU_SCALAR_ASSIGNED,
    /* Any number is converted as if it had a dtype. */
    PCU_SCALAR_CONVERTED
} pcu_scalar_way;

/* Write the value's bytes in a type. */
PCU_HIDDEN PCU_RAISES int pcu_scalar_pack(PyObject *value, int type, pcu_scalar_way way,
                                          unsigned char *out);

/* 1 if the number is less than zero, 0 if not. */
PCU_HIDDEN PCU_RAISES int pcu_scalar_is_negative(PyObject *value);

#endif
