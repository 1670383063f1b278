/* Numbers of 16 bits: IEEE half precision and bfloat16. */
#ifndef DEVICE_BASE_HALF_H
#define DEVICE_BASE_HALF_H

#include <stdint.h>

enum { EMU_F16, EMU_BF16 };

/* In emu_insn.aux beside the format: .ftz. */
enum { EMU_HALF_FTZ = 2 };

/* Rounding of emu_half_round; the order of the PTX modifiers. */
enum { EMU_RN, EMU_RZ, EMU_RM, EMU_RP };

/* The value of a number; exact. */
double emu_half_value(uint16_t bits, int format);
/* The number nearest to a value in the direction. NaN gives 0x7fff. */
uint16_t emu_half_round(double value, int format, int rounding);
uint16_t emu_half_add(uint16_t x, uint16_t y, int format);

#endif
