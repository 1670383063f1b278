/* The vector operations of lanes.h for several warps in lockstep.
 *
 * All lanes of these warps are active. `warp` is the first of them; warp->steps has the
 * distance from the operands of one warp to those of the next one. An operation that
 * has no macro here is defined by EMU_OP, which runs it for one warp after the other.
 * Included by handler_table.inc after lanes.h. */
#ifndef DEVICE_MACHINE_WARP_LOCKSTEP_LANES_H
#define DEVICE_MACHINE_WARP_LOCKSTEP_LANES_H

#include "device/machine/warp/lanes.h"
#include "device/machine/warp/warp.h"

/* Here gcc vectorises first, and unrolls the four or eight steps that remain. */
#ifdef __clang__
#    define EMU_VECTORISE_ALL EMU_VECTORISE
#else
#    define EMU_VECTORISE_ALL _Pragma("GCC ivdep")
#endif

#undef EMU_OP
#undef EMU_UNARY
#undef EMU_BINARY
#undef EMU_TERNARY
#undef EMU_COMPARE
#undef EMU_PREDICATE

#define EMU_OP(name) EMU_OP_UNLESS(name, false)

/* The same, for an operation that `done` may do for all warps at once. */
#define EMU_OP_UNLESS(name, done)                                                   \
    static inline const emu_insn *one_##name(emu_warp *warp, const emu_insn *insn); \
    static const emu_insn *op_##name(emu_warp *warp, const emu_insn *insn)          \
    {                                                                               \
        const emu_warp *const last = warp + warp->abreast - 1;                      \
                                                                                    \
        if (done) {                                                                 \
            return insn + 1;                                                        \
        }                                                                           \
        for (;;) {                                                                  \
            if (one_##name(warp, insn) == NULL) {                                   \
                return NULL;                                                        \
            }                                                                       \
            if (warp == last) {                                                     \
                return insn + 1;                                                    \
            }                                                                       \
            warp[1].recent = warp[0].recent; /* they mostly access one array */     \
            warp[1].is_noted = warp[0].is_noted;                                    \
            warp++;                                                                 \
        }                                                                           \
    }                                                                               \
    static inline const emu_insn *one_##name(emu_warp *warp, const emu_insn *insn)

/* The bytes from the lanes of an operand of one warp to those of the next warp. */
static inline size_t
lockstep_step(const emu_warp *warp, uint32_t operand)
{
    return warp->steps[operand & EMU_TAG_MASK];
}

#define EMU_UNARY(name, td, ta, expr)                                                 \
    static const emu_insn *op_##name(emu_warp *warp, const emu_insn *insn)            \
    {                                                                                 \
        const size_t step_d = warp->steps[EMU_TAG_FRAME],                             \
                     step_a = lockstep_step(warp, insn->a);                           \
        u8 *d = EMU_TARGET(u8, insn->d);                                              \
        const u8 *a = EMU_SOURCE(u8, insn->a);                                        \
                                                                                      \
        for (uint32_t left = warp->abreast; left; left--, d += step_d, a += step_a) { \
            td *const pd = (td *)(void *)d;                                           \
            const ta *const pa = (const ta *)(const void *)a;                         \
                                                                                      \
            EMU_VECTORISE_ALL                                                         \
            for (int i = 0; i < EMU_LANES; i++) {                                     \
                const ta x = pa[i];                                                   \
                                                                                      \
                pd[i] = (td)(expr);                                                   \
            }                                                                         \
        }                                                                             \
        return insn + 1;                                                              \
    }

#define EMU_BINARY(name, td, ta, tb, expr)                                   \
    static const emu_insn *op_##name(emu_warp *warp, const emu_insn *insn)   \
    {                                                                        \
        const size_t step_d = warp->steps[EMU_TAG_FRAME],                    \
                     step_a = lockstep_step(warp, insn->a),                  \
                     step_b = lockstep_step(warp, insn->b);                  \
        u8 *d = EMU_TARGET(u8, insn->d);                                     \
        const u8 *a = EMU_SOURCE(u8, insn->a), *b = EMU_SOURCE(u8, insn->b); \
                                                                             \
        for (uint32_t left = warp->abreast; left;                            \
             left--, d += step_d, a += step_a, b += step_b) {                \
            td *const pd = (td *)(void *)d;                                  \
            const ta *const pa = (const ta *)(const void *)a;                \
            const tb *const pb = (const tb *)(const void *)b;                \
                                                                             \
            EMU_VECTORISE_ALL                                                \
            for (int i = 0; i < EMU_LANES; i++) {                            \
                const ta x = pa[i];                                          \
                const tb y = pb[i];                                          \
                                                                             \
                pd[i] = (td)(expr);                                          \
            }                                                                \
        }                                                                    \
        return insn + 1;                                                     \
    }

#define EMU_TERNARY(name, td, ta, tb, tc, expr)                              \
    static const emu_insn *op_##name(emu_warp *warp, const emu_insn *insn)   \
    {                                                                        \
        const size_t step_d = warp->steps[EMU_TAG_FRAME],                    \
                     step_a = lockstep_step(warp, insn->a),                  \
                     step_b = lockstep_step(warp, insn->b),                  \
                     step_c = lockstep_step(warp, insn->c);                  \
        u8 *d = EMU_TARGET(u8, insn->d);                                     \
        const u8 *a = EMU_SOURCE(u8, insn->a), *b = EMU_SOURCE(u8, insn->b); \
        const u8 *c = EMU_SOURCE(u8, insn->c);                               \
                                                                             \
        for (uint32_t left = warp->abreast; left;                            \
             left--, d += step_d, a += step_a, b += step_b, c += step_c) {   \
            td *const pd = (td *)(void *)d;                                  \
            const ta *const pa = (const ta *)(const void *)a;                \
            const tb *const pb = (const tb *)(const void *)b;                \
            const tc *const pc = (const tc *)(const void *)c;                \
                                                                             \
            EMU_VECTORISE_ALL                                                \
            for (int i = 0; i < EMU_LANES; i++) {                            \
                const ta x = pa[i];                                          \
                const tb y = pb[i];                                          \
                const tc z = pc[i];                                          \
                                                                             \
                pd[i] = (td)(expr);                                          \
            }                                                                \
        }                                                                    \
        return insn + 1;                                                     \
    }

#define EMU_COMPARE(name, ta, wide, expr)                                    \
    static const emu_insn *op_##name(emu_warp *warp, const emu_insn *insn)   \
    {                                                                        \
        const size_t step_d = warp->steps[EMU_TAG_FRAME],                    \
                     step_a = lockstep_step(warp, insn->a),                  \
                     step_b = lockstep_step(warp, insn->b);                  \
        u8 *d = EMU_TARGET(u8, insn->d);                                     \
        const u8 *a = EMU_SOURCE(u8, insn->a), *b = EMU_SOURCE(u8, insn->b); \
                                                                             \
        for (uint32_t left = warp->abreast; left;                            \
             left--, d += step_d, a += step_a, b += step_b) {                \
            const ta *const pa = (const ta *)(const void *)a;                \
            const ta *const pb = (const ta *)(const void *)b;                \
            wide bits = 0;                                                   \
                                                                             \
            EMU_VECTORISE_ALL                                                \
            for (int i = 0; i < EMU_LANES; i++) {                            \
                const ta x = pa[i], y = pb[i];                               \
                                                                             \
                bits |= (expr) ? (wide)lane_bits[i] : 0;                     \
            }                                                                \
            *(u32 *)(void *)d = (uint32_t)bits;                              \
        }                                                                    \
        return insn + 1;                                                     \
    }

/* The bits of a comparison of 32-bit integers come from the vectors themselves where
 * the processor has an instruction for it. EMU_VECTOR_BYTES says which vectors it has.
 */
#ifdef EMU_VECTOR_BYTES

typedef int32_t lockstep_words
    __attribute__((vector_size(EMU_VECTOR_BYTES), aligned(4), may_alias));
typedef uint32_t lockstep_words_u32
    __attribute__((vector_size(EMU_VECTOR_BYTES), aligned(4), may_alias));
typedef lockstep_words lockstep_words_s32;

/* One bit for each element, 0 or -1. */
static inline uint32_t
lockstep_bits(lockstep_words elements)
{
#    if EMU_VECTOR_BYTES == 64
    return (uint32_t)_mm512_movepi32_mask((__m512i)elements);
#    else
    return (uint32_t)_mm256_movemask_ps((__m256)elements);
#    endif
}

/* Whether no operand of a comparison that grows from lane to lane (EMU_ENDS_DECIDE)
 * wraps around, and the first lane of all and the last one have one result: then all
 * lanes between them have it. `last_a` and `last_b` are of the last warp. */
#    define EMU_ENDS_AGREE(name, ta, expr)                                         \
        static inline bool ends_##name(const ta *a, const ta *b, const ta *last_a, \
                                       const ta *last_b, bool *result)             \
        {                                                                          \
            ta x = a[0], y = b[0];                                                 \
            const bool first = (expr);                                             \
                                                                                   \
            if (last_a[EMU_LANES - 1] < x || last_b[EMU_LANES - 1] < y) {          \
                return false;                                                      \
            }                                                                      \
            x = last_a[EMU_LANES - 1];                                             \
            y = last_b[EMU_LANES - 1];                                             \
            *result = (expr);                                                      \
            return first == *result;                                               \
        }

#    undef EMU_COMPARE_WORDS
#    define EMU_COMPARE_WORDS(name, ta, expr)                                     \
        EMU_ENDS_AGREE(name, ta, expr)                                            \
        static const emu_insn *op_##name(emu_warp *warp, const emu_insn *insn)    \
        {                                                                         \
            enum { WORDS = EMU_VECTOR_BYTES / 4 };                                \
            const size_t step_d = warp->steps[EMU_TAG_FRAME],                     \
                         step_a = lockstep_step(warp, insn->a),                   \
                         step_b = lockstep_step(warp, insn->b);                   \
            u8 *d = EMU_TARGET(u8, insn->d);                                      \
            const u8 *a = EMU_SOURCE(u8, insn->a), *b = EMU_SOURCE(u8, insn->b);  \
            bool result;                                                          \
                                                                                  \
            if (insn->aux & EMU_ENDS_DECIDE && warp->block->grid->is_linear &&    \
                ends_##name(                                                      \
                    (const ta *)(const void *)a, (const ta *)(const void *)b,     \
                    (const ta *)(const void *)(a + step_a * (warp->abreast - 1)), \
                    (const ta *)(const void *)(b + step_b * (warp->abreast - 1)), \
                    &result)) {                                                   \
                for (uint32_t left = warp->abreast; left; left--, d += step_d) {  \
                    *(u32 *)(void *)d = emu_lanes_if(result);                     \
                }                                                                 \
                return insn + 1;                                                  \
            }                                                                     \
            for (uint32_t left = warp->abreast; left;                             \
                 left--, d += step_d, a += step_a, b += step_b) {                 \
                uint32_t bits = 0;                                                \
                                                                                  \
                for (unsigned i = 0; i < EMU_LANES / WORDS; i++) {                \
                    const lockstep_words_##ta x =                                 \
                        ((const lockstep_words_##ta *)(const void *)a)[i];        \
                    const lockstep_words_##ta y =                                 \
                        ((const lockstep_words_##ta *)(const void *)b)[i];        \
                                                                                  \
                    bits |= lockstep_bits((lockstep_words)(expr)) << i * WORDS;   \
                }                                                                 \
                *(u32 *)(void *)d = bits;                                         \
            }                                                                     \
            return insn + 1;                                                      \
        }

#endif

#define EMU_PREDICATE(name, expr)                     \
    EMU_OP(name)                                      \
    {                                                 \
        const uint32_t x = *EMU_SOURCE(u32, insn->a); \
        const uint32_t y = *EMU_SOURCE(u32, insn->b); \
                                                      \
        (void)y; /* of one operand */                 \
        *EMU_TARGET(u32, insn->d) = (expr);           \
        return insn + 1;                              \
    }

#endif
