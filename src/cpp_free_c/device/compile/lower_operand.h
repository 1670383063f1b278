/* Operands of PTX instructions as operands of the machine: values to read, registers to
 * write, and checks that registers fit the types of an instruction. Used by lower_*.c
 * and *_forms.c. */
#ifndef DEVICE_COMPILE_LOWER_OPERAND_H
#define DEVICE_COMPILE_LOWER_OPERAND_H

#include "device/compile/lower_address.h"

/* -- values ------------------------------------------------------------------------ */

/* A value to read as this type; numbers become constants of it. */
low_value low_source(low_func *f, const ptx_operand *operand, unsigned type);
/* The same, but a register may have another width than the type; sets *width. */
low_value low_source_any(low_func *f, const ptx_operand *operand, unsigned type,
                         ptx_class *width);
/* low_source of the instruction's operand of this index. */
low_value low_source_at(low_func *f, unsigned index, unsigned type);
low_value low_predicate(low_func *f, const ptx_operand *operand);
/* A register to write, of this width. For a sink (_) it is a new register. */
low_value low_target(low_func *f, const ptx_operand *operand, ptx_class width);
/* The same for any width; sets *width. */
low_value low_target_any(low_func *f, const ptx_operand *operand, ptx_class *width);
/* The first operand as a register of this type to write. */
low_value low_result(low_func *f, unsigned type);
/* The number of the lane, in a new register. */
low_value low_lane(low_func *f);
/* The value of an operand that must be a number. */
uint64_t low_number(const low_func *f, const ptx_operand *operand);

/* -- types of registers ------------------------------------------------------------ */

/* The number of elements that .v2, .v4 or .v8 names; 1 without one. */
unsigned low_vector_count(const low_func *f);
/* The bytes of a vector's elements, which must be equal; 0 if none is a register. */
unsigned low_element_bytes(const low_func *f, const ptx_operand *vector);
/* Fails if the register, or all registers of the vector, hold floats and the type is an
 * integer. */
void low_check_kind(const low_func *f, const ptx_operand *operand, unsigned type);
/* The same for a load or store; the registers must not be narrower than the type. */
void low_check_access(const low_func *f, const ptx_operand *operand, unsigned type);
/* The same; the registers must have the size of the type. */
void low_check_type(const low_func *f, const ptx_operand *operand, unsigned type);

#endif
