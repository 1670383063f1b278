/* Atomic operations. Lanes go one after the other, in order of their number; memory
 * that other blocks see is changed by the processor's atomics, shared memory by plain
 * accesses, since a block belongs to one thread. */
#include "device/machine/machine.h"

#include "device/base/half.h"
#include "device/machine/lanes.h"
#include "device/compile/encoding.h"

/* Global memory adds in its caches, which flush subnormal numbers; a block's shared
 * memory is added to by ordinary instructions. */
static float
add_f32(float old, float b, bool shared)
{
    return shared ? canonical(old + b) : flush(canonical(flush(old) + flush(b)));
}

/* Of two NaN, global memory takes the operand's, as it is, shared memory its own. */
static double
add_f64(double old, double b, bool shared)
{
    if (shared) {
        return old != old ? quiet(old) : b != b ? quiet(b) : nan_of_numbers(old + b);
    }
    return b != b ? b : old != old ? old : nan_of_numbers(old + b);
}

static uint64_t
atom_result(unsigned operation, uint64_t old, uint64_t b, unsigned bits, bool shared)
{
    const int64_t so = bits == 64 ? (int64_t)old : (int32_t)(uint32_t)old;
    const int64_t sb = bits == 64 ? (int64_t)b : (int32_t)(uint32_t)b;

    switch (operation) {
        case EMU_ATOM_ADD:
            return old + b;
        case EMU_ATOM_AND:
            return old & b;
        case EMU_ATOM_OR:
            return old | b;
        case EMU_ATOM_XOR:
            return old ^ b;
        case EMU_ATOM_MIN_U:
            return old < b ? old : b;
        case EMU_ATOM_MAX_U:
            return old > b ? old : b;
        case EMU_ATOM_MIN_S:
            return so < sb ? old : b;
        case EMU_ATOM_MAX_S:
            return so > sb ? old : b;
        case EMU_ATOM_INC:
            return old >= b ? 0 : old + 1;
        case EMU_ATOM_DEC:
            return old == 0 || old > b ? b : old - 1;
        case EMU_ATOM_ADD_F32:
            return bits_of_f32(
                add_f32(f32_of_bits((uint32_t)old), f32_of_bits((uint32_t)b), shared));
        case EMU_ATOM_ADD_F64:
            return bits_of_f64(add_f64(f64_of_bits(old), f64_of_bits(b), shared));
        case EMU_ATOM_ADD_F16X2:
            return emu_half_add((uint16_t)old, (uint16_t)b, EMU_F16) |
                   (uint32_t)emu_half_add((uint16_t)(old >> 16), (uint16_t)(b >> 16),
                                          EMU_F16)
                       << 16;
        case EMU_ATOM_ADD_BF16X2:
            return emu_half_add((uint16_t)old, (uint16_t)b, EMU_BF16) |
                   (uint32_t)emu_half_add((uint16_t)(old >> 16), (uint16_t)(b >> 16),
                                          EMU_BF16)
                       << 16;
        case EMU_ATOM_ADD_F16:
            return emu_half_add((uint16_t)old, (uint16_t)b, EMU_F16);
        case EMU_ATOM_ADD_BF16:
            return emu_half_add((uint16_t)old, (uint16_t)b, EMU_BF16);
        default: /* EMU_ATOM_EXCH */
            return b;
    }
}

#define EMU_ATOM(name, type, bits)                                                    \
    static type name##_one(type *at, unsigned operation, type b, type c, bool shared) \
    {                                                                                 \
        type old = shared ? *at : __atomic_load_n(at, __ATOMIC_SEQ_CST);              \
        type fresh;                                                                   \
                                                                                      \
        do {                                                                          \
            if (operation == EMU_ATOM_CAS) {                                          \
                if (old != b) {                                                       \
                    break;                                                            \
                }                                                                     \
                fresh = c;                                                            \
            }                                                                         \
            else {                                                                    \
                fresh = (type)atom_result(operation, old, b, bits, shared);           \
            }                                                                         \
            if (shared) {                                                             \
                *at = fresh;                                                          \
                break;                                                                \
            }                                                                         \
        } while (!__atomic_compare_exchange_n(at, &old, fresh, false,                 \
                                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));   \
        return old;                                                                   \
    }                                                                                 \
                                                                                      \
    const emu_insn *emu_op_##name(emu_warp *warp, const emu_insn *insn)               \
    {                                                                                 \
        uint64_t at[EMU_LANES];                                                       \
        uint32_t left;                                                                \
        const emu_block *block = warp->block;                                         \
                                                                                      \
        if (!emu_address_check(warp, insn, warp->mask, sizeof(type), true, at)) {            \
            return NULL;                                                              \
        }                                                                             \
        warp->spins += 1 << 14;                                                       \
        for (left = warp->mask; left; left &= left - 1) {                             \
            const unsigned i = (unsigned)__builtin_ctz(left);                         \
            const bool shared =                                                       \
                (size_t)(at[i] - (uintptr_t)block->shared) < block->shared_size;      \
            const type b = EMU_SOURCE(type, insn->b)[i];                              \
            const type c = EMU_SOURCE(type, insn->c)[i];                              \
            const type old =                                                          \
                name##_one((type *)(uintptr_t)at[i], insn->e, b, c, shared);          \
                                                                                      \
            if (insn->aux & EMU_AT_RESULT) {                                          \
                EMU_TARGET(type, insn->d)[i] = old;                                   \
            }                                                                         \
        }                                                                             \
        return insn + 1;                                                              \
    }

/* e: EMU_ATOM_ constant; b, c: operands; d is written when aux has EMU_AT_RESULT. */
EMU_ATOM(atom_16, u16, 16)
EMU_ATOM(atom_32, u32, 32)
EMU_ATOM(atom_64, u64, 64)
