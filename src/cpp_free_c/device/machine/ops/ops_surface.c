/* Loads, stores and reductions of a warp through surfaces: see ops.h. The
 * first coordinate counts bytes, or elements if the access is formatted; the others
 * count rows, slices or layers. */
#include "device/machine/ops/ops.h"

#include <string.h>

#include "device/memory/texture.h"
#include "device/compile/encoding.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/report.h"

typedef struct {
    unsigned geometry, mode, count, bytes, wide;
    bool formatted; /* the format of the surface says what is stored */
    emu_texture surface;
    uint64_t open; /* the handle of `surface`, or 0 */
} surface_access;

static void
surface_begin(surface_access *s, const emu_insn *insn)
{
    s->geometry = insn->aux & EMU_TEX_GEOMETRY;
    s->mode = insn->aux >> EMU_SURF_MODE_SHIFT & 3;
    s->count = insn->aux >> EMU_SURF_COUNT_SHIFT & 15;
    s->bytes = insn->aux >> EMU_SURF_BYTES_SHIFT & 31;
    s->wide = insn->aux >> EMU_SURF_WIDE_SHIFT & 31;
    s->formatted = (insn->aux & EMU_SURF_FORMATTED) != 0;
    s->open = 0;
}

static bool
surface_fault_outside(emu_warp *warp, const emu_insn *insn, unsigned lane,
                      const int64_t at[3], const int64_t sizes[3])
{
    (void)emu_fault(
        warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane, 0,
        "byte %lld of row %lld of slice or layer %lld of a surface that has %lld "
        "bytes, %lld rows, %lld slices",
        (long long)at[0], (long long)at[1], (long long)at[2], (long long)sizes[0],
        (long long)sizes[1], (long long)sizes[2]);
    return false;
}

/* Read the coordinates of a lane: byte, row, slice or layer. */
static void
surface_coordinates(emu_warp *warp, const emu_insn *insn, const surface_access *s,
                    unsigned lane, int64_t at[3])
{
    const unsigned sides = emu_geometry_sides(s->geometry);
    const bool layered = emu_geometry_layered(s->geometry);
    const uint32_t *const x = insn->x + s->count;
    unsigned k;

    at[0] = at[1] = at[2] = 0;
    if (layered) {
        at[2] = (int64_t)EMU_SOURCE(
            u32, x[0])[lane]; /* unsigned: a negative layer is beyond the last */
    }
    for (k = 0; k < sides; k++) {
        at[k] = (int64_t)EMU_SOURCE(s32, x[layered + k])[lane];
    }
}

/* Find the host address of a lane's access. *out is NULL if the access is outside and
 * the mode is zero. False after a fault. */
static bool
surface_locate(emu_warp *warp, const emu_insn *insn, surface_access *s, unsigned lane,
               uint8_t **out)
{
    const uint64_t handle = EMU_SOURCE(u64, insn->a)[lane];
    int64_t size = (int64_t)s->count * s->bytes;
    const emu_texture_level *level = &s->surface.levels[0];
    int64_t at[3], sizes[3];

    if (!s->open || s->open != handle) {
        if (!emu_texture_open(warp, insn, lane, handle, true, &s->surface)) {
            return false;
        }
        s->open = handle;
    }
    sizes[0] = (int64_t)(level->width * s->surface.element);
    sizes[1] = (int64_t)level->height;
    sizes[2] = (int64_t)level->depth;
    surface_coordinates(warp, insn, s, lane, at);
    if (s->formatted) {
        size = (int64_t)s->surface.element;
        at[0] *= size;
    }
    *out = NULL;
    if (at[0] % size != 0) {
        (void)emu_fault(warp, insn, CUDA_ERROR_MISALIGNED_ADDRESS, lane, 0,
                        "%lld bytes at byte %lld of a row of a surface, which is no "
                        "multiple of them",
                        (long long)size, (long long)at[0]);
        return false;
    }
    if (at[0] < 0 || at[0] > sizes[0] - size ||
        emu_clamp(at[1], 0, sizes[1] - 1) != at[1] ||
        emu_clamp(at[2], 0, sizes[2] - 1) != at[2]) {
        if (s->mode == EMU_SURF_ZERO) {
            return true;
        }
        if (s->mode == EMU_SURF_TRAP || sizes[0] < size) {
            return surface_fault_outside(warp, insn, lane, at, sizes);
        }
        at[0] = emu_clamp(at[0] / size, 0, sizes[0] / size - 1) * size;
        at[1] = emu_clamp(at[1], 0, sizes[1] - 1);
        at[2] = emu_clamp(at[2], 0, sizes[2] - 1);
    }
    *out = (uint8_t *)(uintptr_t)level->base + (size_t)at[2] * level->slice +
           (size_t)at[1] * level->pitch + (size_t)at[0];
    return true;
}

const emu_insn *
emu_op_suld(emu_warp *warp, const emu_insn *insn)
{
    uint8_t *at[EMU_LANES] = {NULL};
    surface_access s;
    uint32_t left;
    unsigned k;

    surface_begin(&s, insn);
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        if (!surface_locate(warp, insn, &s, lane, &at[lane])) {
            return NULL;
        }
    }
    for (k = 0; k < s.count; k++) {
        uint8_t *const d = EMU_TARGET(uint8_t, insn->x[k]);

        for (left = warp->mask; left; left &= left - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(left);
            uint64_t value = 0;

            if (at[lane]) {
                memcpy(&value, at[lane] + (size_t)k * s.bytes, s.bytes);
            }
            memcpy(d + (size_t)lane * s.wide, &value, s.wide);
        }
    }
    return insn + 1;
}

/* Store the values of a lane in an element. A formatted store ignores values that the
 * format has no channel for. */
static void
surface_store(const emu_warp *warp, const emu_insn *insn, const surface_access *s,
              unsigned lane, uint8_t *at)
{
    for (unsigned k = 0; k < s->count; k++) {
        const uint8_t *const value =
            EMU_SOURCE(uint8_t, insn->x[k]) + (size_t)lane * s->wide;
        uint32_t word;

        if (!s->formatted) {
            memcpy(at + (size_t)k * s->bytes, value, s->bytes);
        }
        else if (k < s->surface.channels) {
            memcpy(&word, value, sizeof word);
            emu_texel_write(s->surface.format, at, k, word);
        }
    }
}

const emu_insn *
emu_op_sust(emu_warp *warp, const emu_insn *insn)
{
    surface_access s;
    uint32_t left;

    surface_begin(&s, insn);
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint8_t *at;

        if (!surface_locate(warp, insn, &s, lane, &at)) {
            return NULL;
        }
        if (at) {
            surface_store(warp, insn, &s, lane, at);
        }
    }
    return insn + 1;
}

/* -- reductions ------------------------------------------------------------ */

static uint64_t
surface_combine(unsigned operation, uint64_t old, uint64_t b, unsigned bytes)
{
    int64_t so = (int64_t)old, sb = (int64_t)b; /* the same as signed numbers */

    if (bytes != 8) {
        so = (int32_t)(uint32_t)old;
        sb = (int32_t)(uint32_t)b;
    }
    switch (operation) {
        case EMU_ATOM_AND:
            return old & b;
        case EMU_ATOM_OR:
            return old | b;
        case EMU_ATOM_MIN_U:
            return old < b ? old : b;
        case EMU_ATOM_MAX_U:
            return old > b ? old : b;
        case EMU_ATOM_MIN_S:
            return so < sb ? old : b;
        case EMU_ATOM_MAX_S:
            return so > sb ? old : b;
        default: /* EMU_ATOM_ADD */
            return old + b;
    }
}

static void
surface_reduce(unsigned operation, uint8_t *at, uint64_t b, unsigned bytes)
{
    if (bytes == 8) {
        uint64_t *const cell = (uint64_t *)(void *)at;
        uint64_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);

        while (!__atomic_compare_exchange_n(
            cell, &old, surface_combine(operation, old, b, 8), false, __ATOMIC_SEQ_CST,
            __ATOMIC_RELAXED)) {
        }
    }
    else {
        uint32_t *const cell = (uint32_t *)(void *)at;
        uint32_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);

        while (!__atomic_compare_exchange_n(
            cell, &old, (uint32_t)surface_combine(operation, old, b, 4), false,
            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        }
    }
}

/* The operation of a formatted reduction on this surface: for signed numbers if the
 * format says so. False after a fault. */
static bool
surface_read_operation(emu_warp *warp, const emu_insn *insn, const surface_access *s,
                       unsigned lane, unsigned *operation)
{
    const CUarray_format format = s->surface.format;

    if (format != CU_AD_FORMAT_UNSIGNED_INT32 && format != CU_AD_FORMAT_SIGNED_INT32) {
        (void)emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_INSTRUCTION, lane, 0,
                        "sured.p reduces integers of 32 bits, and the surface has "
                        "another format (0x%x)",
                        (unsigned)format);
        return false;
    }
    if (s->surface.element != s->bytes) {
        (void)emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_INSTRUCTION, lane, 0,
                        "sured.p reduces %u bytes, and an element of the surface has "
                        "%llu",
                        s->bytes, (unsigned long long)s->surface.element);
        return false;
    }
    if (format == CU_AD_FORMAT_SIGNED_INT32 && *operation == EMU_ATOM_MIN_U) {
        *operation = EMU_ATOM_MIN_S;
    }
    else if (format == CU_AD_FORMAT_SIGNED_INT32 && *operation == EMU_ATOM_MAX_U) {
        *operation = EMU_ATOM_MAX_S;
    }
    return true;
}

/* imm: EMU_ATOM_ operation. */
const emu_insn *
emu_op_sured(emu_warp *warp, const emu_insn *insn)
{
    surface_access s;
    uint32_t left;

    surface_begin(&s, insn);
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        unsigned operation = (unsigned)insn->imm;
        uint64_t value = 0;
        uint8_t *at;

        if (!surface_locate(warp, insn, &s, lane, &at)) {
            return NULL;
        }
        if (s.formatted && !surface_read_operation(warp, insn, &s, lane, &operation)) {
            return NULL;
        }
        if (at) {
            memcpy(&value, EMU_SOURCE(uint8_t, insn->x[0]) + (size_t)lane * s.wide,
                   s.bytes);
            surface_reduce(operation, at, value, s.bytes);
        }
    }
    return insn + 1;
}
