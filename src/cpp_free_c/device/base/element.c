/* Elements and reductions. See element.h. */
#include "device/base/element.h"

unsigned
emu_element_size(unsigned type)
{
    static const unsigned char sizes[EMU_ELEMENT_COUNT] = {1, 2, 4, 4, 8, 8, 2,
                                                           4, 8, 2, 4, 4, 4};
    return sizes[type];
}

bool
emu_element_is_float(unsigned type)
{
    return type >= EMU_ELEMENT_F16;
}

/* -- reductions -------------------------------------------------------------------- */

bool
emu_element_can_reduce(unsigned operation, unsigned type)
{
    const unsigned size = emu_element_size(type);

    switch (operation) {
        case EMU_REDUCE_NONE:
            return true;
        case EMU_REDUCE_ADD:
            return type >= EMU_ELEMENT_U32 && type != EMU_ELEMENT_S64;
        case EMU_REDUCE_MIN:
        case EMU_REDUCE_MAX:
            return (type >= EMU_ELEMENT_U32 && type <= EMU_ELEMENT_F16) ||
                   type == EMU_ELEMENT_BF16;
        case EMU_REDUCE_INC:
        case EMU_REDUCE_DEC:
            return type == EMU_ELEMENT_U32;
        default:
            return size >= 4 && !emu_element_is_float(type);
    }
}

/* -- copies ------------------------------------------------------------------------ */

/* Round to the 10 bits of the fraction of TF32, to nearest even. All NaN become one. */
static uint64_t
element_round_tf32(uint64_t bits)
{
    const uint64_t rest = bits & 0x1fff, odd = bits >> 13 & 1;

    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return 0x7fffe000u;
    }
    if (rest + odd > 0x1000) {
        return (bits - rest + 0x2000) & 0xffffffffu;
    }
    return bits - rest;
}

/* On an H200 the types with FTZ keep subnormal numbers: only reductions flush them. */
uint64_t
emu_element_copied(unsigned type, uint64_t bits)
{
    if (emu_element_changes(type)) {
        return element_round_tf32(bits);
    }
    return bits;
}

bool
emu_element_changes(unsigned type)
{
    return type == EMU_ELEMENT_TF32 || type == EMU_ELEMENT_TF32_FTZ;
}

uint64_t
emu_element_nan(unsigned type)
{
    /* 0x7ff7 in each half word, as an H200 writes */
    return 0x7ff77ff77ff77ff7 >> (64 - 8 * emu_element_size(type));
}
