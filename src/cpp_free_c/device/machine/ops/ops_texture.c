/* Texture fetches and queries of a warp. See ops.h. Nearly always all lanes use
 * one texture, so its state is read once and kept while the handle stays the same. */
#include "device/machine/ops/ops.h"

#include <stdio.h>
#include <string.h>

#include "device/base/number.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/report.h"
#include "device/memory/texture.h"
#include "device/ptx/words.h"

/* -- handles --------------------------------------------------------------- */

static bool
texture_fault_handle(emu_warp *warp, const emu_insn *insn, unsigned lane,
                     uint64_t handle, const char *what)
{
    (void)emu_fault(warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, 0,
                    "the handle 0x%llx %s", (unsigned long long)handle, what);
    return false;
}

/* The live allocation of the levels of a texture, or NULL. */
static const emu_allocation *
texture_memory_of(const emu_texture *t)
{
    const emu_texture_level *level = &t->levels[0];
    const emu_allocation *record;
    size_t row = level->width * t->element, i;

    if (t->resource.resType == CU_RESOURCE_TYPE_LINEAR) {
        return emu_memory_holding(level->base, row);
    }
    if (t->resource.resType == CU_RESOURCE_TYPE_PITCH2D) {
        return emu_memory_holding(level->base,
                                  level->pitch * (level->height - 1) + row);
    }
    for (i = 0; i < t->level_count; i++) {
        record = emu_memory_find(t->levels[i].base);
        if (record == NULL || !emu_memory_live(record) ||
            record->serial != t->levels[i].serial) {
            return NULL;
        }
    }
    return emu_memory_find(level->base);
}

bool
emu_texture_open(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t handle,
                 bool surface, emu_texture *out)
{
    const emu_context *context = warp->block->grid->context;
    const emu_texture *found = emu_texture_find(handle);
    const emu_allocation *memory;

    if (found == NULL && surface) {
        return texture_fault_handle(warp, insn, lane, handle, "names no surface");
    }
    if (found == NULL) {
        return texture_fault_handle(warp, insn, lane, handle, "names no texture");
    }
    /* The program may destroy the object and create another one meanwhile. The copy is
     * valid only if the handle is still in its slot afterwards. */
    memcpy((char *)out + offsetof(emu_texture, surface),
           (const char *)found + offsetof(emu_texture, surface),
           sizeof *out - offsetof(emu_texture, surface));
    atomic_thread_fence(memory_order_acquire);
    if (emu_texture_find(handle) != found) {
        return texture_fault_handle(warp, insn, lane, handle,
                                    "has just been destroyed");
    }
    if (surface && !out->surface) {
        return texture_fault_handle(warp, insn, lane, handle,
                                    "names a texture, not a surface");
    }
    if (!surface && out->surface) {
        return texture_fault_handle(warp, insn, lane, handle,
                                    "names a surface, not a texture");
    }
    memory = texture_memory_of(out);
    if (memory == NULL || !emu_memory_may_use(context, memory)) {
        (void)emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane,
                        out->levels[0].base,
                        "the memory of the %s with handle 0x%llx %s",
                        surface ? "surface" : "texture", (unsigned long long)handle,
                        memory ? "is of another device" : "has been freed");
        return false;
    }
    atomic_store_explicit(&out->handle, handle, memory_order_relaxed);
    return true;
}

/* -- fetches --------------------------------------------------------------- */

/* A format in the words of NumPy. */
static const char *
texture_format_word(CUarray_format format)
{
    static const struct {
        CUarray_format format;
        const char *word;
    } words[] = {{CU_AD_FORMAT_UNSIGNED_INT8, "uint8"},
                 {CU_AD_FORMAT_UNSIGNED_INT16, "uint16"},
                 {CU_AD_FORMAT_UNSIGNED_INT32, "uint32"},
                 {CU_AD_FORMAT_SIGNED_INT8, "int8"},
                 {CU_AD_FORMAT_SIGNED_INT16, "int16"},
                 {CU_AD_FORMAT_SIGNED_INT32, "int32"},
                 {CU_AD_FORMAT_HALF, "float16"}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].format == format) {
            return words[i].word;
        }
    }
    return "float32";
}

/* The kernel reads integers from a texture that gives floats, or the reverse. A GPU
 * passes the bits, so the kernel goes on, unless a check of kernels is on. */
static bool
texture_misread(emu_warp *warp, const emu_insn *insn, unsigned lane,
                const emu_texture *texture, const emu_sampler *sampler)
{
    static const char *const geometries[] = {"1d",  "2d",   "3d",   "a1d",
                                             "a2d", "cube", "acube"};
    const char *read = "f32", *gives = "integers", *hint = "";
    char what[400];

    if (insn->aux & EMU_TEX_UNSIGNED) {
        read = "u32";
    }
    else if (insn->aux & EMU_TEX_SIGNED) {
        read = "s32";
    }
    if (sampler->normalise) {
        hint = ", or let it give integers (TRSF_READ_AS_INTEGER)";
    }
    if (sampler->is_float) {
        gives = "floats";
    }
    (void)snprintf(what, sizeof what,
                   "texture with handle 0x%llx: its elements are %u x %s and it gives "
                   "%s, but the kernel reads %s (tex.%s.v4.%s), that is, their bits: "
                   "read the type that the texture gives%s",
                   (unsigned long long)texture->handle, sampler->channels,
                   texture_format_word(sampler->format), gives,
                   sampler->is_float ? "integers" : "floats",
                   geometries[insn->aux & EMU_TEX_GEOMETRY], read, hint);
    if ((warp->block->grid->checks & EMU_CHECKS_OF_KERNELS) != 0) {
        (void)emu_fault(warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane,
                        texture->levels[0].base, "%s", what);
        return false;
    }
    if (emu_warns_first(warp, insn, EMU_CHECK_MEMORY)) {
        emu_warn(warp, insn, lane, texture->levels[0].base,
                 "reads another type than the texture gives", "%s", what);
    }
    return true;
}

/* Whether the type of the results is that which the texture gives. */
static bool
texture_is_read_well(uint32_t aux, const emu_sampler *sampler)
{
    return sampler->is_float == !(aux & (EMU_TEX_UNSIGNED | EMU_TEX_SIGNED));
}

/* The places of the operands of an instruction in x. */
typedef struct {
    unsigned results, sides;
    unsigned layer, at, level, dx, dy, offset;
} layout;

static layout
texture_layout_of(uint32_t aux)
{
    const unsigned geometry = aux & EMU_TEX_GEOMETRY;
    layout l = {.results = aux & EMU_TEX_HALVES ? 2 : 4,
                .sides = emu_geometry_sides(geometry)};

    l.layer = l.results;
    l.at = l.layer + emu_geometry_layered(geometry);
    l.level = l.at + l.sides;
    l.dx = l.level;
    l.dy = l.dx + l.sides;
    l.offset = l.level;
    if (aux & EMU_TEX_LEVEL) {
        l.offset += 1;
    }
    else if (aux & EMU_TEX_GRADIENT) {
        l.offset += 2 * l.sides;
    }
    return l;
}

#define WORD(k) (EMU_SOURCE(u32, insn->x[k])[lane])
#define REAL(k) (EMU_SOURCE(f32, insn->x[k])[lane])

static void
texture_fetch_lane(emu_warp *warp, const emu_insn *insn, const layout *l,
                   const emu_sampler *sampler, unsigned lane, uint32_t out[4])
{
    const uint32_t aux = insn->aux;
    emu_fetch fetch = {.geometry = aux & EMU_TEX_GEOMETRY};
    float dx[3] = {0}, dy[3] = {0};
    int32_t texel[3] = {0};
    unsigned k;

    if (l->at > l->layer) {
        fetch.layer = (int32_t)WORD(l->layer);
    }
    for (k = 0; k < l->sides; k++) {
        if (aux & EMU_TEX_INTEGER) {
            texel[k] = (int32_t)WORD(l->at + k);
        }
        else {
            fetch.at[k] = REAL(l->at + k);
        }
        if (aux & EMU_TEX_OFFSETS) {
            fetch.offset[k] = (int32_t)WORD(l->offset + k);
        }
        if (aux & EMU_TEX_GRADIENT) {
            dx[k] = REAL(l->dx + k);
            dy[k] = REAL(l->dy + k);
        }
    }
    if (aux & EMU_TEX_INTEGER) {
        emu_sample_texel(sampler, &fetch, texel, out);
        return;
    }
    if (aux & EMU_TEX_GATHER) {
        emu_sample_gather(sampler, &fetch, aux >> EMU_TEX_CHANNEL_SHIFT & 3, out);
        return;
    }
    if (aux & EMU_TEX_LEVEL) {
        fetch.level = REAL(l->level);
    }
    else if (aux & EMU_TEX_GRADIENT && sampler->level_count > 1) {
        fetch.level = emu_sample_level(sampler, &fetch, dx, dy);
    }
    emu_sample(sampler, &fetch, out);
}

#undef WORD
#undef REAL

static uint32_t
texture_pack_halves(uint32_t low, uint32_t high)
{
    return emu_half_round((double)f32_of_bits(low), EMU_F16, EMU_RN) |
           (uint32_t)emu_half_round((double)f32_of_bits(high), EMU_F16, EMU_RN) << 16;
}

const emu_insn *
emu_op_tex(emu_warp *warp, const emu_insn *insn)
{
    const layout l = texture_layout_of(insn->aux);
    const u64 *const handles = EMU_SOURCE(u64, insn->a);
    uint32_t results[EMU_LANES][4], left;
    emu_sampler sampler;
    emu_texture texture;
    uint64_t open = 0;
    unsigned k;

    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        if (!open || handles[lane] != open) {
            if (!emu_texture_open(warp, insn, lane, handles[lane], false, &texture)) {
                return NULL;
            }
            emu_sampler_read(&sampler, &texture);
            if (!texture_is_read_well(insn->aux, &sampler) &&
                !texture_misread(warp, insn, lane, &texture, &sampler)) {
                return NULL;
            }
            open = handles[lane];
        }
        texture_fetch_lane(warp, insn, &l, &sampler, lane, results[lane]);
    }
    /* A result may overwrite an operand: write after all lanes have been read. */
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint32_t *r = results[lane];

        for (k = 0; k < l.results; k++) {
            u32 *const d = EMU_TARGET(u32, insn->x[k]);

            if (insn->aux & EMU_TEX_HALVES) {
                d[lane] = texture_pack_halves(r[(size_t)2 * k], r[(size_t)2 * k + 1]);
            }
            else {
                d[lane] = r[k];
            }
        }
    }
    return insn + 1;
}

/* -- queries --------------------------------------------------------------- */

/* The numbers of formats in PTX, which are OpenCL's: of the elements, and of the values
 * that a fetch converts them to. */
static const struct {
    CUarray_format format;
    uint16_t raw, converted;
} data_types[] = {{0x01, 0x10da, 0x10d2}, {0x02, 0x10db, 0x10d3},
                  {0x03, 0x10dc, 0x10dc}, {0x08, 0x10d7, 0x10d0},
                  {0x09, 0x10d8, 0x10d1}, {0x0a, 0x10d9, 0x10d9},
                  {0x10, 0x10dd, 0x10dd}, {0x20, 0x10de, 0x10de}};

static uint32_t
texture_query_data_type(const emu_texture *t)
{
    const bool raw = t->surface || t->texture.flags & EMU_TEXTURE_READ_AS_INTEGER;

    for (size_t i = 0; i < sizeof data_types / sizeof *data_types; i++) {
        if (data_types[i].format == t->format) {
            if (raw) {
                return data_types[i].raw;
            }
            return data_types[i].converted;
        }
    }
    return 0; /* a texture has one of these formats */
}

static uint32_t
texture_query_array_size(const emu_texture *t, const emu_texture_level *level)
{
    if (t->flags & EMU_ARRAY_CUBEMAP) {
        return (uint32_t)level->depth / 6;
    }
    if (t->flags & EMU_ARRAY_LAYERED) {
        return (uint32_t)level->depth;
    }
    return 0;
}

static uint32_t
texture_query_size(const emu_texture *t, uint32_t word, uint32_t number)
{
    const emu_texture_level *level;

    if (number >= t->level_count) {
        number = t->level_count - 1;
    }
    level = &t->levels[number];
    switch (word) {
        case PTX_W_width:
            return (uint32_t)level->width;
        case PTX_W_height:
            if (t->dimensions < 2) {
                return 0;
            }
            return (uint32_t)level->height;
        case PTX_W_depth:
            if (t->dimensions < 3) {
                return 0;
            }
            return (uint32_t)level->depth;
        default: /* array_size */
            return texture_query_array_size(t, level);
    }
}

static uint32_t
texture_query(const emu_texture *t, uint32_t word, uint32_t level)
{
    static const uint16_t orders[] = {0, 0x10b0, 0x10b2, 0, 0x10b5};
    const bool unit = t->texture.flags & EMU_TEXTURE_NORMALIZED_COORDINATES;

    switch (word) {
        case PTX_W_channel_data_type:
            return texture_query_data_type(t);
        case PTX_W_channel_order:
            return orders[t->channels];
        case PTX_W_normalized_coords:
            return unit;
        case PTX_W_force_unnormalized_coords:
            return !unit;
        case PTX_W_num_mipmap_levels:
            return t->level_count;
        case PTX_W_num_samples:
            return 1;
        case PTX_W_filter_mode:
            return (uint32_t)t->texture.filterMode;
        case PTX_W_addr_mode_0:
        case PTX_W_addr_mode_1:
        case PTX_W_addr_mode_2:
            return (uint32_t)t->texture.addressMode[word - PTX_W_addr_mode_0];
        case PTX_W_memory_layout: /* 1 for linear memory */
            return t->resource.resType == CU_RESOURCE_TYPE_LINEAR;
        default:
            return texture_query_size(t, word, level);
    }
}

const emu_insn *
emu_op_tex_query(emu_warp *warp, const emu_insn *insn)
{
    const u64 *const handles = EMU_SOURCE(u64, insn->a);
    const u32 *const levels = EMU_SOURCE(u32, insn->b);
    uint32_t results[EMU_LANES] = {0}, left;
    emu_texture texture;
    uint64_t open = 0;

    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        if (!open || handles[lane] != open) {
            if (!emu_texture_open(warp, insn, lane, handles[lane], insn->imm != 0,
                                  &texture)) {
                return NULL;
            }
            open = handles[lane];
        }
        results[lane] = texture_query(&texture, insn->aux, levels[lane]);
    }
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        EMU_TARGET(u32, insn->d)[lane] = results[lane];
    }
    return insn + 1;
}
