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
            return type >= EMU_ELEMENT_U32 && type != EMU_ELEMENT_S64 &&
                   type <= EMU_ELEMENT_BF16;
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

/* A subnormal number becomes zero. */
static uint64_t
element_flush(uint64_t bits)
{
    if ((bits & 0x7f800000u) == 0) {
        return bits & 0x80000000u;
    }
    return bits;
}

uint64_t
emu_element_copied(unsigned type, uint64_t bits)
{
    switch (type) {
        case EMU_ELEMENT_F32_FTZ:
            return element_flush(bits);
        case EMU_ELEMENT_TF32:
            return bits;
        case EMU_ELEMENT_TF32_FTZ:
            return element_flush(bits);
        default:
            return bits;
    }
}

bool
emu_element_changes(unsigned type)
{
    return type == EMU_ELEMENT_F32_FTZ || type == EMU_ELEMENT_TF32 ||
           type == EMU_ELEMENT_TF32_FTZ;
}

uint64_t
emu_element_nan(unsigned type)
{
    switch (emu_element_size(type)) {
        case 2:
            return 0x7fff;
        case 4:
            return 0x7fffffff;
        default:
            return UINT64_MAX >> 1;
    }
}
