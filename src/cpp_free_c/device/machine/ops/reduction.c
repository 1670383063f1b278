/* Reductions of elements in memory. See ops.h. */
#include "device/machine/ops/ops.h"

#include "device/base/number.h"
#include "device/machine/warp/lanes.h"

/* As red.global.add, but subnormal numbers of single precision are kept. A NaN of
 * double precision stays as it is. */
static float
reduction_add_f32(float old, float value)
{
    return canonical(old + value);
}

static double
reduction_add_f64(double old, double value)
{
    if (value != value) {
        return value;
    }
    if (old != old) {
        return old;
    }
    return nan_of_numbers(old + value);
}

/* The smaller or the larger of two numbers. NaN loses. */
static uint64_t
reduction_extreme_half(bool smaller, int format, uint64_t old, uint64_t value)
{
    const double a = emu_half_value((uint16_t)old, format);
    const double b = emu_half_value((uint16_t)value, format);
    bool takes;

    if (a != a || b != b) {
        if (a != a && b != b) {
            return 0x7fff;
        }
        return a != a ? value : old;
    }
    if (a == b) { /* zeros differ in their sign */
        takes = ((value >> 15) != 0) == smaller;
    }
    else {
        takes = (b < a) == smaller;
    }
    return takes ? value : old;
}

static uint64_t
reduction_extreme(unsigned operation, unsigned type, uint64_t old, uint64_t value)
{
    const bool smaller = operation == EMU_REDUCE_MIN;
    bool less;

    switch (type) {
        case EMU_ELEMENT_F16:
            return reduction_extreme_half(smaller, EMU_F16, old, value);
        case EMU_ELEMENT_BF16:
            return reduction_extreme_half(smaller, EMU_BF16, old, value);
        case EMU_ELEMENT_S32:
            less = (int32_t)(uint32_t)value < (int32_t)(uint32_t)old;
            break;
        case EMU_ELEMENT_S64:
            less = (int64_t)value < (int64_t)old;
            break;
        default:
            less = value < old;
            break;
    }
    return less == smaller ? value : old;
}

static uint64_t
reduction_add(unsigned type, uint64_t old, uint64_t value)
{
    switch (type) {
        case EMU_ELEMENT_F16:
            return emu_half_add((uint16_t)old, (uint16_t)value, EMU_F16);
        case EMU_ELEMENT_BF16:
            return emu_half_add((uint16_t)old, (uint16_t)value, EMU_BF16);
        case EMU_ELEMENT_F32_FTZ:
        case EMU_ELEMENT_TF32_FTZ:
            return bits_of_f32(
                flush(reduction_add_f32(flush(f32_of_bits((uint32_t)old)),
                                        flush(f32_of_bits((uint32_t)value)))));
        case EMU_ELEMENT_F32:
        case EMU_ELEMENT_TF32:
            return bits_of_f32(reduction_add_f32(f32_of_bits((uint32_t)old),
                                                 f32_of_bits((uint32_t)value)));
        case EMU_ELEMENT_F64:
            return bits_of_f64(reduction_add_f64(f64_of_bits(old), f64_of_bits(value)));
        case EMU_ELEMENT_U64:
        case EMU_ELEMENT_S64:
            return old + value;
        default:
            return (uint32_t)(old + value);
    }
}

uint64_t
emu_reduction(unsigned operation, unsigned type, uint64_t old, uint64_t value)
{
    switch (operation) {
        case EMU_REDUCE_ADD:
            return reduction_add(type, old, value);
        case EMU_REDUCE_MIN:
        case EMU_REDUCE_MAX:
            return reduction_extreme(operation, type, old, value);
        case EMU_REDUCE_INC:
            return old >= value ? 0 : old + 1;
        case EMU_REDUCE_DEC:
            return old == 0 || old > value ? value : old - 1;
        case EMU_REDUCE_AND:
            return old & value;
        case EMU_REDUCE_OR:
            return old | value;
        case EMU_REDUCE_XOR:
            return old ^ value;
        default:
            return value;
    }
}

/* -- memory ------------------------------------------------------------------------ */

#define REDUCTION_AT(name, type)                                                    \
    static void reduction_at_##name(void *at, unsigned operation, unsigned element, \
                                    uint64_t value)                                 \
    {                                                                               \
        type old = __atomic_load_n((type *)at, __ATOMIC_SEQ_CST), fresh;            \
                                                                                    \
        do {                                                                        \
            fresh = (type)emu_reduction(operation, element, old, value);            \
        } while (!__atomic_compare_exchange_n((type *)at, &old, fresh, false,       \
                                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
    }

REDUCTION_AT(16, u16)
REDUCTION_AT(32, u32)
REDUCTION_AT(64, u64)

void
emu_reduce_bytes(void *to, const void *from, size_t bytes, unsigned operation,
                 unsigned type)
{
    const unsigned size = emu_element_size(type);
    uint8_t *at = to;

    for (size_t i = 0; i < bytes; i += size) {
        uint64_t value = 0;

        memcpy(&value, (const uint8_t *)from + i, size);
        switch (size) {
            case 2:
                reduction_at_16(at + i, operation, type, value);
                break;
            case 4:
                reduction_at_32(at + i, operation, type, value);
                break;
            default:
                reduction_at_64(at + i, operation, type, value);
                break;
        }
    }
}
