/* Atomic operations. The lanes are done one after the other, in the order of their
 * numbers. Memory that other blocks see is changed with atomics of the processor,
 * shared memory with plain accesses, since a block belongs to one thread. */
#include "device/machine/warp/machine.h"

#include "device/base/number.h"
#include "device/compile/encoding.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/warp.h"

/* On a GPU the caches add to global memory and flush subnormal numbers. Additions to
 * shared memory use ordinary instructions. */
static float
atom_add_f32(float old, float b, bool shared)
{
    if (shared) {
        return canonical(old + b);
    }
    return flush(canonical(flush(old) + flush(b)));
}

/* If both numbers are NaN, global memory keeps the operand as it is, and shared
 * memory keeps its own NaN. */
static double
atom_add_f64(double old, double b, bool shared)
{
    if (shared && old != old) {
        return quiet(old);
    }
    if (b != b) {
        if (shared) {
            return quiet(b);
        }
        return b;
    }
    if (old != old) {
        return old;
    }
    return nan_of_numbers(old + b);
}

/* The lesser number, or the greater one if `sign` is -1; a number before NaN. */
static uint16_t
atom_extreme_half(uint16_t old, uint16_t b, int format, double sign)
{
    const double x = sign * emu_half_value(old, format);
    const double y = sign * emu_half_value(b, format);

    if (x != x && y != y) {
        return 0x7fff;
    }
    if (x != x) {
        return b;
    }
    if (y != y || x < y || (x == y && signbit(x))) {
        return old;
    }
    return b;
}

/* EMU_ATOM_ADD_F16 to EMU_ATOM_MAX_BF16X2: three operations on four types each. */
static uint64_t
atom_half(unsigned operation, uint64_t old, uint64_t b)
{
    const unsigned which = operation - EMU_ATOM_ADD_F16;
    const int format = which & 1 ? EMU_BF16 : EMU_F16;
    const unsigned count = which & 2 ? 2 : 1;
    uint64_t result = 0;

    for (unsigned i = 0; i < count; i++) {
        const uint16_t x = (uint16_t)(old >> 16 * i), y = (uint16_t)(b >> 16 * i);
        uint16_t r;

        switch (which >> 2) {
            case 0:
                r = emu_half_add(x, y, format);
                break;
            case 1:
                r = atom_extreme_half(x, y, format, 1.0);
                break;
            default:
                r = atom_extreme_half(x, y, format, -1.0);
                break;
        }
        result |= (uint64_t)r << 16 * i;
    }
    return result;
}

/* Operations on floating-point numbers, and the exchange. */
static inline uint64_t
atom_float(unsigned operation, uint64_t old, uint64_t b, bool shared)
{
    switch (operation) {
        case EMU_ATOM_ADD_F32:
            return bits_of_f32(atom_add_f32(f32_of_bits((uint32_t)old),
                                            f32_of_bits((uint32_t)b), shared));
        case EMU_ATOM_ADD_F64:
            return bits_of_f64(atom_add_f64(f64_of_bits(old), f64_of_bits(b), shared));
        case EMU_ATOM_EXCH:
            return b;
        default:
            return atom_half(operation, old, b);
    }
}

static inline uint64_t
atom_min_signed(uint64_t old, uint64_t b, unsigned bits)
{
    if (bits == 64) {
        return (int64_t)old < (int64_t)b ? old : b;
    }
    return (int32_t)(uint32_t)old < (int32_t)(uint32_t)b ? old : b;
}

static inline uint64_t
atom_max_signed(uint64_t old, uint64_t b, unsigned bits)
{
    if (bits == 64) {
        return (int64_t)old > (int64_t)b ? old : b;
    }
    return (int32_t)(uint32_t)old > (int32_t)(uint32_t)b ? old : b;
}

static inline uint64_t
atom_decrement(uint64_t old, uint64_t b)
{
    if (old == 0 || old > b) {
        return b;
    }
    return old - 1;
}

static uint64_t
atom_result(unsigned operation, uint64_t old, uint64_t b, unsigned bits, bool shared)
{
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
            return atom_min_signed(old, b, bits);
        case EMU_ATOM_MAX_S:
            return atom_max_signed(old, b, bits);
        case EMU_ATOM_INC:
            if (old >= b) {
                return 0;
            }
            return old + 1;
        case EMU_ATOM_DEC:
            return atom_decrement(old, b);
        default:
            return atom_float(operation, old, b, shared);
    }
}

/* The lanes whose address is in the shared memory of the block. */
static uint32_t
atom_shared_lanes(const emu_warp *warp, const uint64_t at[EMU_LANES])
{
    const emu_block *block = warp->block;
    uint32_t lanes = 0;

    for (unsigned i = 0; i < EMU_LANES; i++) {
        const uint64_t offset = at[i] - (uint64_t)(uintptr_t)block->shared;

        lanes |= (uint32_t)(offset < block->shared_size) << i;
    }
    return lanes;
}

#define EMU_ATOM(name, type, bits)                                                  \
    static inline __attribute__((always_inline))                                    \
    type name##_one(type *at, unsigned operation, type b, type c, bool shared)      \
    {                                                                               \
        type old = shared ? *at : __atomic_load_n(at, __ATOMIC_SEQ_CST);            \
        type fresh;                                                                 \
                                                                                    \
        do {                                                                        \
            if (operation == EMU_ATOM_CAS) {                                        \
                if (old != b) {                                                     \
                    break;                                                          \
                }                                                                   \
                fresh = c;                                                          \
            }                                                                       \
            else {                                                                  \
                fresh = (type)atom_result(operation, old, b, bits, shared);         \
            }                                                                       \
            if (shared) {                                                           \
                *at = fresh;                                                        \
                break;                                                              \
            }                                                                       \
        } while (!__atomic_compare_exchange_n(at, &old, fresh, false,               \
                                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
        return old;                                                                 \
    }                                                                               \
                                                                                    \
    static inline __attribute__((always_inline)) void name##_lanes(                 \
        emu_warp *warp, const emu_insn *insn, const uint64_t at[EMU_LANES],         \
        uint32_t shared, unsigned operation)                                        \
    {                                                                               \
        const type *const pb = EMU_SOURCE(type, insn->b);                           \
        const type *const pc = EMU_SOURCE(type, insn->c);                           \
        type *const pd = EMU_TARGET(type, insn->d);                                 \
        const bool result = (insn->aux & EMU_AT_RESULT) != 0;                       \
                                                                                    \
        for (uint32_t left = warp->mask; left; left &= left - 1) {                  \
            const unsigned i = (unsigned)__builtin_ctz(left);                       \
            const type old = name##_one((type *)(uintptr_t)at[i], operation, pb[i], \
                                        pc[i], shared >> i & 1);                    \
                                                                                    \
            if (result) {                                                           \
                pd[i] = old;                                                        \
            }                                                                       \
        }                                                                           \
    }                                                                               \
                                                                                    \
    const emu_insn *emu_op_##name(emu_warp *warp, const emu_insn *insn)             \
    {                                                                               \
        uint64_t at[EMU_LANES];                                                     \
        uint32_t shared;                                                            \
                                                                                    \
        if (!emu_address_check(warp, insn, at)) {                                   \
            return NULL;                                                            \
        }                                                                           \
        warp->spins += EMU_SPIN_STEP;                                               \
        shared = atom_shared_lanes(warp, at);                                       \
        if (insn->e == EMU_ATOM_ADD && shared == EMU_FULL) {                        \
            name##_lanes(warp, insn, at, EMU_FULL, EMU_ATOM_ADD);                   \
        }                                                                           \
        else if (insn->e == EMU_ATOM_ADD) {                                         \
            name##_lanes(warp, insn, at, shared, EMU_ATOM_ADD);                     \
        }                                                                           \
        else {                                                                      \
            name##_lanes(warp, insn, at, shared, insn->e);                          \
        }                                                                           \
        return insn + 1;                                                            \
    }

/* e: EMU_ATOM_ constant; b, c: operands; d is written when aux has EMU_AT_RESULT. */
EMU_ATOM(atom_16, u16, 16)
EMU_ATOM(atom_32, u32, 32)
EMU_ATOM(atom_64, u64, 64)

/* -- 128 bits: exchange and compare-and-swap --------------------------------------- */

/* Stores `fresh` if the memory holds `old`. Returns what it held. */
#if defined(__x86_64__)
static u128
atom_swap_128(emu_grid *grid, u128 *at, u128 old, u128 fresh)
{
    uint64_t low = (uint64_t)old, high = (uint64_t)(old >> 64);

    (void)grid;
    __asm__ volatile("lock cmpxchg16b %0"
                     : "+m"(*at), "+a"(low), "+d"(high)
                     : "b"((uint64_t)fresh), "c"((uint64_t)(fresh >> 64))
                     : "cc", "memory");
    return (u128)high << 64 | low;
}
#else
/* Other processors need a library for this, so the blocks of a grid take turns. */
static u128
atom_swap_128(emu_grid *grid, u128 *at, u128 old, u128 fresh)
{
    u128 seen;

    while (atomic_exchange(&grid->swapping, true)) {
    }
    seen = *at;
    if (seen == old) {
        *at = fresh;
    }
    atomic_store(&grid->swapping, false);
    return seen;
}
#endif

static u128
atom_128_one(emu_grid *grid, u128 *at, unsigned operation, u128 b, u128 c)
{
    u128 old = *at, seen;

    for (;;) {
        u128 fresh = b;

        if (operation == EMU_ATOM_CAS) {
            fresh = old == b ? c : old;
        }
        seen = atom_swap_128(grid, at, old, fresh);
        if (seen == old) {
            return old;
        }
        old = seen;
    }
}

static u128
atom_wide_source(const emu_warp *warp, uint32_t operand, unsigned lane)
{
    u128 value;

    memcpy(&value, EMU_SOURCE(uint8_t, operand) + sizeof value * lane, sizeof value);
    return value;
}

/* The operands are those of the other widths. */
const emu_insn *
emu_op_atom_128(emu_warp *warp, const emu_insn *insn)
{
    uint64_t at[EMU_LANES];
    uint32_t left;

    if (!emu_address_check(warp, insn, at)) {
        return NULL;
    }
    warp->spins += EMU_SPIN_STEP;
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        const u128 b = atom_wide_source(warp, insn->b, i);
        u128 c = 0, old;

        if (insn->e == EMU_ATOM_CAS) {
            c = atom_wide_source(warp, insn->c, i);
        }
        old = atom_128_one(warp->block->grid, (u128 *)(uintptr_t)at[i], insn->e, b, c);
        if (insn->aux & EMU_AT_RESULT) {
            memcpy(EMU_TARGET(uint8_t, insn->d) + sizeof old * i, &old, sizeof old);
        }
    }
    return insn + 1;
}
