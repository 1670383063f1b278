/* Numbers of 8 bits: e4m3, which has no infinity, and e5m2.
 *
 * Used by the operations of the machine, and by lowering for the names of formats. */
#ifndef DEVICE_BASE_FP8_H
#define DEVICE_BASE_FP8_H

#include <stdint.h>

enum { EMU_E4M3, EMU_E5M2 };

/* The value of a number; exact. */
double emu_fp8_value(uint8_t bits, int format);
/* Round a value to nearest even. A value that is too large, or infinity, gives the
 * largest number, and NaN gives 0x7f. */
uint8_t emu_fp8_round(double value, int format);

#endif
