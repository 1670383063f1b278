/* The forms of cvt with numbers of 16 and 8 bits, pairs, and tf32. Used by
 * lower_conversion.c, which has the other forms. */
#ifndef DEVICE_COMPILE_NARROW_FORMS_H
#define DEVICE_COMPILE_NARROW_FORMS_H

#include "device/compile/lower_state.h"

/* EMU_F16 or EMU_BF16, for a type that is f16, bf16 or a pair of them. */
uint32_t low_half_format(unsigned type);
/* Rounds a value of type st, f32 or f64, to half precision, with .sat, .relu and
 * .satfinite. */
void low_to_half(low_func *f, low_value d, unsigned dt, low_value a, unsigned st);
/* Rounds an integer of type st to half precision, with .sat. A source of less than 64
 * bits is in a register of 32 bits. */
void low_integer_to_half(low_func *f, low_value d, unsigned dt, low_value a,
                         unsigned st);
/* Lowers cvt if it is cvt.pack or one of its types is tf32, a pair of halves or a pair
 * of bytes. Returns whether it is. */
bool low_packed_conversion(low_func *f, unsigned dt, unsigned st);

#endif
