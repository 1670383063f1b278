/* Loops over the 32 lanes of a warp, written so that gcc and clang vectorise them.
 *
 * Every lane is computed, whether it is active or not. If some lanes are inactive,
 * the results are written to a buffer, and the active lanes are copied from there.
 * This is correct only for operations that cannot fault and change nothing but their
 * register. Included by the files that read or write the lanes of registers. */
#ifndef DEVICE_MACHINE_WARP_LANES_H
#define DEVICE_MACHINE_WARP_LANES_H

#include <math.h>
#include <string.h>

#include "device/base/number.h"
#include "device/machine/warp/machine.h"

/* The types of registers. A register may be accessed as any type of its size. */
typedef uint8_t __attribute__((may_alias)) u8;
typedef int8_t __attribute__((may_alias)) s8;
typedef uint16_t __attribute__((may_alias)) u16;
typedef int16_t __attribute__((may_alias)) s16;
typedef uint32_t __attribute__((may_alias)) u32;
typedef int32_t __attribute__((may_alias)) s32;
typedef uint64_t __attribute__((may_alias)) u64;
typedef int64_t __attribute__((may_alias)) s64;
typedef float __attribute__((may_alias)) f32;
typedef double __attribute__((may_alias)) f64;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* "unroll 1": otherwise gcc unrolls short loops before it can vectorise them. */
#ifdef __clang__
#    define EMU_VECTORISE _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#else
#    define EMU_VECTORISE _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif

#define EMU_OP(name) \
    static const emu_insn *op_##name(emu_warp *warp, const emu_insn *insn)

/* The bit of each lane in a mask. */
#define B(n) 1u << (n), 1u << ((n) + 1), 1u << ((n) + 2), 1u << ((n) + 3)
static const uint32_t lane_bits[EMU_LANES] = {B(0),  B(4),  B(8),  B(12),
                                              B(16), B(20), B(24), B(28)};
#undef B

#define EMU_BLEND(type, bits)                                              \
    static inline void blend_##type(type *d, const type *t, uint32_t mask) \
    {                                                                      \
        int i;                                                             \
                                                                           \
        EMU_VECTORISE                                                      \
        for (i = 0; i < EMU_LANES; i++) {                                  \
            d[i] = (bits)(mask & lane_bits[i]) ? t[i] : d[i];              \
        }                                                                  \
    }

EMU_BLEND(u16, uint32_t)
EMU_BLEND(u32, uint32_t)
EMU_BLEND(u64, uint32_t)
#undef EMU_BLEND

/* The blend of each lane type, by its width. */
#define blend_s16(d, t, m) blend_u16((void *)(d), (const void *)(t), m)
#define blend_s32(d, t, m) blend_u32((void *)(d), (const void *)(t), m)
#define blend_s64(d, t, m) blend_u64((void *)(d), (const void *)(t), m)
#define blend_f32(d, t, m) blend_u32((void *)(d), (const void *)(t), m)
#define blend_f64(d, t, m) blend_u64((void *)(d), (const void *)(t), m)

/* For each lane i: run `body`, which sets `r`, and store `r` in the target register. */
#define EMU_LANE_LOOP(type, body)                             \
    do {                                                      \
        type *const target = EMU_TARGET(type, insn->d);       \
        _Alignas(64) type buffer[EMU_LANES];                  \
        const uint32_t mask = warp->mask;                     \
        type *const out = mask == EMU_FULL ? target : buffer; \
        int i;                                                \
                                                              \
        EMU_VECTORISE                                         \
        for (i = 0; i < EMU_LANES; i++) {                     \
            type r;                                           \
            body;                                             \
            out[i] = r;                                       \
        }                                                     \
        if (mask != EMU_FULL) {                               \
            blend_##type(target, buffer, mask);               \
        }                                                     \
    } while (0)

#define EMU_UNARY(name, td, ta, expr)                          \
    EMU_OP(name)                                               \
    {                                                          \
        const ta *const pa = EMU_SOURCE(ta, insn->a);          \
                                                               \
        EMU_LANE_LOOP(td, const ta x = pa[i]; r = (td)(expr)); \
        return insn + 1;                                       \
    }

#define EMU_BINARY(name, td, ta, tb, expr)                                         \
    EMU_OP(name)                                                                   \
    {                                                                              \
        const ta *const pa = EMU_SOURCE(ta, insn->a);                              \
        const tb *const pb = EMU_SOURCE(tb, insn->b);                              \
                                                                                   \
        EMU_LANE_LOOP(td, const ta x = pa[i]; const tb y = pb[i]; r = (td)(expr)); \
        return insn + 1;                                                           \
    }

#define EMU_TERNARY(name, td, ta, tb, tc, expr)                                       \
    EMU_OP(name)                                                                      \
    {                                                                                 \
        const ta *const pa = EMU_SOURCE(ta, insn->a);                                 \
        const tb *const pb = EMU_SOURCE(tb, insn->b);                                 \
        const tc *const pc = EMU_SOURCE(tc, insn->c);                                 \
                                                                                      \
        EMU_LANE_LOOP(td, const ta x = pa[i]; const tb y = pb[i]; const tc z = pc[i]; \
                      r = (td)(expr));                                                \
        return insn + 1;                                                              \
    }

/* A comparison of 32-bit integers; `expr` is one relation between x and y. */
#define EMU_COMPARE_WORDS(name, ta, expr) EMU_COMPARE(name, ta, u32, expr)

/* For operations that are too slow to compute for inactive lanes. */
#define EMU_SLOW_UNARY(name, td, ta, expr)                \
    EMU_OP(name)                                          \
    {                                                     \
        const ta *const pa = EMU_SOURCE(ta, insn->a);     \
        td *const pd = EMU_TARGET(td, insn->d);           \
        uint32_t left;                                    \
                                                          \
        for (left = warp->mask; left; left &= left - 1) { \
            const int i = __builtin_ctz(left);            \
            const ta x = pa[i];                           \
                                                          \
            pd[i] = (td)(expr);                           \
        }                                                 \
        return insn + 1;                                  \
    }

#define EMU_SLOW_BINARY(name, td, ta, tb, expr)           \
    EMU_OP(name)                                          \
    {                                                     \
        const ta *const pa = EMU_SOURCE(ta, insn->a);     \
        const tb *const pb = EMU_SOURCE(tb, insn->b);     \
        td *const pd = EMU_TARGET(td, insn->d);           \
        uint32_t left;                                    \
                                                          \
        for (left = warp->mask; left; left &= left - 1) { \
            const int i = __builtin_ctz(left);            \
            const ta x = pa[i];                           \
            const tb y = pb[i];                           \
                                                          \
            pd[i] = (td)(expr);                           \
        }                                                 \
        return insn + 1;                                  \
    }

#define EMU_SLOW_TERNARY(name, td, ta, tb, tc, expr)      \
    EMU_OP(name)                                          \
    {                                                     \
        const ta *const pa = EMU_SOURCE(ta, insn->a);     \
        const tb *const pb = EMU_SOURCE(tb, insn->b);     \
        const tc *const pc = EMU_SOURCE(tc, insn->c);     \
        td *const pd = EMU_TARGET(td, insn->d);           \
        uint32_t left;                                    \
                                                          \
        for (left = warp->mask; left; left &= left - 1) { \
            const int i = __builtin_ctz(left);            \
            const ta x = pa[i];                           \
            const tb y = pb[i];                           \
            const tc z = pc[i];                           \
                                                          \
            pd[i] = (td)(expr);                           \
        }                                                 \
        return insn + 1;                                  \
    }

/* Predicates: bit i of the mask is lane i. `wide` is the unsigned type of ta's size. */
#define EMU_COMPARE(name, ta, wide, expr)                          \
    EMU_OP(name)                                                   \
    {                                                              \
        const ta *const pa = EMU_SOURCE(ta, insn->a);              \
        const ta *const pb = EMU_SOURCE(ta, insn->b);              \
        u32 *const pd = EMU_TARGET(u32, insn->d);                  \
        wide bits = 0;                                             \
        int i;                                                     \
                                                                   \
        EMU_VECTORISE                                              \
        for (i = 0; i < EMU_LANES; i++) {                          \
            const ta x = pa[i], y = pb[i];                         \
                                                                   \
            bits |= (expr) ? (wide)lane_bits[i] : 0;               \
        }                                                          \
        *pd = (*pd & ~warp->mask) | ((uint32_t)bits & warp->mask); \
        return insn + 1;                                           \
    }

#define EMU_PREDICATE(name, expr)                        \
    EMU_OP(name)                                         \
    {                                                    \
        const uint32_t x = *EMU_SOURCE(u32, insn->a);    \
        const uint32_t y = *EMU_SOURCE(u32, insn->b);    \
        u32 *const pd = EMU_TARGET(u32, insn->d);        \
                                                         \
        (void)y; /* of one operand */                    \
        *pd = (*pd & ~warp->mask) | ((expr)&warp->mask); \
        return insn + 1;                                 \
    }

/* -- floats ------------------------------------------------------------------------ */

/* On a GPU, all NaN results of single-precision operations are this NaN. */
static inline float
canonical(float x)
{
    return x == x ? x : f32_of_bits(0x7fffffff);
}

/* The NaN that a double-precision operation on numbers gives. */
#define EMU_NAN_F64 0xfff8000000000000u

/* Make a NaN of double precision quiet. */
static inline double
quiet(double nan)
{
    return f64_of_bits(bits_of_f64(nan) | (uint64_t)1 << 51);
}

static inline double
nan_of_numbers(double x)
{
    return x == x ? x : f64_of_bits(EMU_NAN_F64);
}

/* .ftz: a subnormal number is a zero of its sign. */
static inline float
flush(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

/* .sat: clamps to [0, 1]; NaN gives +0. */
static inline float
saturate(float x)
{
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

#endif
