/* Elements of arrays in memory, as tensor maps name their types, and which reductions
 * they have.
 *
 * An element is a number of up to 64 bits, whose upper bits are 0. Used by lowering, by
 * the calls on tensor maps, and by asynchronous copies. */
#ifndef DEVICE_BASE_ELEMENT_H
#define DEVICE_BASE_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

/* The numbers of CUtensorMapDataType. */
enum {
    EMU_ELEMENT_U8,
    EMU_ELEMENT_U16,
    EMU_ELEMENT_U32,
    EMU_ELEMENT_S32,
    EMU_ELEMENT_U64,
    EMU_ELEMENT_S64,
    EMU_ELEMENT_F16,
    EMU_ELEMENT_F32,
    EMU_ELEMENT_F64,
    EMU_ELEMENT_BF16,
    EMU_ELEMENT_F32_FTZ,
    EMU_ELEMENT_TF32,
    EMU_ELEMENT_TF32_FTZ,
    EMU_ELEMENT_COUNT
};

/* The operations of cp.reduce.async.bulk. */
enum {
    EMU_REDUCE_NONE, /* a copy */
    EMU_REDUCE_ADD,
    EMU_REDUCE_MIN,
    EMU_REDUCE_MAX,
    EMU_REDUCE_INC,
    EMU_REDUCE_DEC,
    EMU_REDUCE_AND,
    EMU_REDUCE_OR,
    EMU_REDUCE_XOR
};

/* Bytes of an element. */
unsigned emu_element_size(unsigned type);
bool emu_element_is_float(unsigned type);

/* Whether there is such a reduction of elements of this type. */
bool emu_element_can_reduce(unsigned operation, unsigned type);

/* The element that a copy to shared memory by a tensor map of this type writes. */
uint64_t emu_element_copied(unsigned type, uint64_t bits);
/* Whether emu_element_copied changes elements of this type. */
bool emu_element_changes(unsigned type);
/* The NaN that copies write for elements outside an array. */
uint64_t emu_element_nan(unsigned type);

#endif
