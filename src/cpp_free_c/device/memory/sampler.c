/* Samplers: the state of a texture object, unpacked. See sampler.h. */
#include "device/memory/sampler.h"

#include <string.h>

static bool
sampler_is_small_integer(CUarray_format format)
{
    return format == CU_AD_FORMAT_UNSIGNED_INT8 ||
           format == CU_AD_FORMAT_UNSIGNED_INT16 ||
           format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT16;
}

/* Copy the range of levels and layers that the view names. texture.c has checked the
 * format of the view. */
static void
sampler_read_levels(emu_sampler *s, const emu_texture *t)
{
    unsigned int first = 0, last = t->level_count - 1, i;

    if (t->has_view && t->level_count > 1) {
        first = t->view.firstMipmapLevel;
        if (first > last) {
            first = last;
        }
        if (last > t->view.lastMipmapLevel) {
            last = t->view.lastMipmapLevel;
        }
        if (last < first) {
            last = first;
        }
    }
    s->level_count = last - first + 1;
    memcpy(s->levels, &t->levels[first], s->level_count * sizeof s->levels[0]);
    if (!t->has_view || !(t->flags & EMU_ARRAY_LAYERED)) {
        return;
    }
    for (i = 0; i < s->level_count; i++) {
        emu_texture_level *level = &s->levels[i];
        const size_t low = t->view.firstLayer, high = t->view.lastLayer;

        if (low < level->depth) {
            level->base += low * level->slice;
            level->depth -= low;
        }
        if (high >= low && high - low < level->depth) {
            level->depth = high - low + 1;
        }
    }
}

void
emu_sampler_read(emu_sampler *s, const emu_texture *t)
{
    const CUDA_TEXTURE_DESC *d = &t->texture;
    int i;

    s->format = t->format;
    s->channels = t->channels;
    s->element = t->element;
    s->in_line = t->resource.resType == CU_RESOURCE_TYPE_LINEAR;
    s->cubemap = (t->flags & EMU_ARRAY_CUBEMAP) != 0;
    s->normalise = sampler_is_small_integer(t->format) &&
                   !(d->flags & EMU_TEXTURE_READ_AS_INTEGER);
    s->is_float = s->normalise || t->format == CU_AD_FORMAT_HALF ||
                  t->format == CU_AD_FORMAT_FLOAT;
    s->linear = d->filterMode == 1 && s->is_float && !s->in_line;
    s->mip_linear = d->mipmapFilterMode == 1;
    s->unit_range = (d->flags & EMU_TEXTURE_NORMALIZED_COORDINATES) && !s->in_line;
    s->srgb = (d->flags & EMU_TEXTURE_SRGB) && s->normalise &&
              t->format == CU_AD_FORMAT_UNSIGNED_INT8;
    s->seamless = (d->flags & EMU_TEXTURE_SEAMLESS_CUBEMAP) != 0;
    for (i = 0; i < 3; i++) {
        s->modes[i] = d->addressMode[i];
        if (s->modes[i] != CU_TR_ADDRESS_MODE_BORDER && !s->unit_range) {
            /* wrapping and mirroring need coordinates of [0, 1) */
            s->modes[i] = CU_TR_ADDRESS_MODE_CLAMP;
        }
    }
    s->bias = d->mipmapLevelBias;
    s->least_level = d->minMipmapLevelClamp;
    s->most_level = d->maxMipmapLevelClamp;
    memcpy(s->border, d->borderColor, sizeof s->border);
    sampler_read_levels(s, t);
}
