/* The types of a kernel's parameters, as its source or its symbol declares them.
 *
 * Each parameter has two sets of element types, as bits: the types of values that may
 * be passed, and those of arrays whose address may be passed. A launch tests one bit in
 * place of the size, so it costs the same. Both sets are empty before the first launch
 * reads the declaration.
 *
 * Invariant: a value in the first set has the size of the parameter. Callers:
 * arguments.c, prepared_format.c and prepared_values.c. */
#ifndef PYTHON_DRIVER_LAUNCH_PARAMETER_TYPES_H
#define PYTHON_DRIVER_LAUNCH_PARAMETER_TYPES_H

#include "python/support/element_dtype.h"

#include "python/driver/launch/function_struct.h"

/* The bits beside those of pcu_type: of an address whose elements are not known, and of
 * the elements of NumPy's arrays of bytes and characters. */
enum { PCU_ARGUMENT_ADDRESS = PCU_T_NONE + 1, PCU_ARGUMENT_TEXT };

/* 1 if an argument of this type may be passed: a value, or the address of elements. */
static inline int
pcu_parameter_takes(const pcu_param *param, unsigned int type)
{
    return (int)(param->values >> type & 1u);
}

static inline int
pcu_parameter_takes_elements(const pcu_param *param, unsigned int type)
{
    return (int)(param->elements >> type & 1u);
}

/* 1 if the parameter may be an integer or an address. */
PCU_HIDDEN int pcu_parameter_takes_integers(const pcu_param *param);

/* Read the types, once. The driver has reported the parameters before. */
PCU_HIDDEN PCU_RAISES int pcu_parameter_types_read(pcu_function *fn);

/* Read which parameters are integers for sure: pcu_param.integer. */
PCU_HIDDEN PCU_RAISES int pcu_parameter_integers_read(pcu_function *fn);

#endif
