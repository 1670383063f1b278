/* Loads, stores and reductions of a warp through surfaces: see ops_texture.h. The
 * first coordinate counts bytes, the others rows, slices or layers. */
#include "device/machine/ops/ops_texture.h"

#include <string.h>

#include "device/base/geometry.h"
#include "device/compile/encoding.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/report.h"

typedef struct {
    unsigned geometry, mode, count, bytes, wide;
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
    s->open = 0;
}

static int64_t
surface_nearest(int64_t k, int64_t count)
{
    if (k < 0) {
        return 0;
    }
    if (k >= count) {
        return count - 1;
    }
    return k;
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
    const int64_t size = (int64_t)s->count * s->bytes;
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
    *out = NULL;
    if (at[0] & (size - 1)) {
        (void)emu_fault(warp, insn, CUDA_ERROR_MISALIGNED_ADDRESS, lane, 0,
                        "%lld bytes at byte %lld of a row of a surface, which is no "
                        "multiple of them",
                        (long long)size, (long long)at[0]);
        return false;
    }
    if (at[0] < 0 || at[0] > sizes[0] - size ||
        surface_nearest(at[1], sizes[1]) != at[1] ||
        surface_nearest(at[2], sizes[2]) != at[2]) {
        if (s->mode == EMU_SURF_ZERO) {
            return true;
        }
        if (s->mode == EMU_SURF_TRAP || sizes[0] < size) {
            return surface_fault_outside(warp, insn, lane, at, sizes);
        }
        at[0] = surface_nearest(at[0] / size, sizes[0] / size) * size;
        at[1] = surface_nearest(at[1], sizes[1]);
        at[2] = surface_nearest(at[2], sizes[2]);
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

const emu_insn *
emu_op_sust(emu_warp *warp, const emu_insn *insn)
{
    surface_access s;
    uint32_t left;
    unsigned k;

    surface_begin(&s, insn);
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint8_t *at;

        if (!surface_locate(warp, insn, &s, lane, &at)) {
            return NULL;
        }
        for (k = 0; at && k < s.count; k++) {
            memcpy(at + (size_t)k * s.bytes,
                   EMU_SOURCE(uint8_t, insn->x[k]) + (size_t)lane * s.wide, s.bytes);
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

/* imm: EMU_ATOM_ operation. */
const emu_insn *
emu_op_sured(emu_warp *warp, const emu_insn *insn)
{
    surface_access s;
    uint32_t left;

    surface_begin(&s, insn);
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t value = 0;
        uint8_t *at;

        if (!surface_locate(warp, insn, &s, lane, &at)) {
            return NULL;
        }
        if (at) {
            memcpy(&value, EMU_SOURCE(uint8_t, insn->x[0]) + (size_t)lane * s.wide,
                   s.bytes);
            surface_reduce((unsigned)insn->imm, at, value, s.bytes);
        }
    }
    return insn + 1;
}
