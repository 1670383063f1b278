/* The constants of a program: vectors of 32 equal lanes, each stored once.
 *
 * Lowering adds them; program.c copies the bytes to the loaded program. The bytes are
 * in the arena `parsed`, which outlives the lowering of one function. */
#ifndef DEVICE_COMPILE_CONSTANTS_H
#define DEVICE_COMPILE_CONSTANTS_H

#include <stddef.h>
#include <stdint.h>

#include "device/ptx/load.h"
#include "device/ptx/types.h"

typedef struct {
    uint8_t *bytes;
    size_t size, room;
    uint32_t *slots; /* hash table of offset + 1 */
    size_t count, slot_count;
} low_constants;

/* The place of a vector of lanes with this value: a byte offset, a multiple of
 * 64. Masks the
 * value to the width. Returns UINT32_MAX when there are too many constants. */
uint32_t low_constants_place(emu_load *load, low_constants *constants, ptx_class width,
                             uint64_t bits);
/* The value of the vector at a place. */
uint64_t low_constants_bits(const low_constants *constants, uint32_t place);

#endif
