/* The integer forms of arithmetic opcodes: the choice of an operation by type, sums and
 * products with carry, pairs of 16-bit integers. Used by lower_arithmetic.c, which has
 * the opcodes. */
#ifndef DEVICE_COMPILE_INTEGER_FORMS_H
#define DEVICE_COMPILE_INTEGER_FORMS_H

#include "device/compile/lower_state.h"

/* -- which operation --------------------------------------------------------------- */

/* Of three operations the one for 16, 32 or 64 bits. */
unsigned low_op_by_width(const low_func *f, const uint16_t ops[3], unsigned type);
/* Of six operations the one for u16, s16, u32, s32, u64 or s64. */
unsigned low_op_by_type(const low_func *f, const uint16_t ops[6], unsigned type);
/* Of four operations the one for u16, s16, u32 or s32. */
unsigned low_op_wide(const low_func *f, const uint16_t ops[4], unsigned type);
/* The type with twice the bits, for .wide. */
unsigned low_type_wide(const low_func *f, unsigned type);

/* -- sums and products ------------------------------------------------------------- */

/* Lowers the instruction to d = a op b. */
void low_integer_binary(low_func *f, unsigned op, unsigned type);
/* Lowers the instruction to a sum that sets or reads the carry. `ops` are the
 * operations for 32 and 64 bits; `in`: the sum reads the carry. */
void low_carry_sum(low_func *f, const uint16_t ops[2], bool in);
/* The same for a product and a sum. `low` are the products by width; `high` are those
 * by type, for .hi; `sums` are for 32 and 64 bits. */
void low_carry_mad(low_func *f, const uint16_t low[3], const uint16_t high[6],
                   const uint16_t sums[2], bool in);
/* A new register with the product of the first two sources. */
low_value low_product(low_func *f, const uint16_t low[3], const uint16_t high[6],
                      unsigned type);

/* -- pairs of 16-bit integers ------------------------------------------------------ */

/* Emits the operation of simd_video with this EMU_VIDEO_ number. `zero` is a register
 * of zeros. */
low_insn *low_emit_pair(low_func *f, unsigned number, low_value d, low_value a,
                        low_value b, low_value zero);

#endif
