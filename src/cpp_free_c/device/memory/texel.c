/* Texels: from the bytes of an element to four channels. See texture.h. */
#include "device/memory/texture.h"

#include <string.h>

#include "device/base/number.h"

#ifdef __clang__
#    pragma STDC FP_CONTRACT OFF
#endif

/* The values of sRGB bytes on an H200, in steps of 1 / SRGB_ONE: the inverse of the
 * transfer function of IEC 61966-2-1 with at most eight significant bits. */
enum { SRGB_ONE = 1 << 14 };

/* clang-format off */
static const uint16_t from_srgb[256] = {
    0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 66,
    72, 78, 85, 92, 99, 107, 115, 123, 131, 140, 150, 159, 169, 180,
    190, 201, 213, 224, 236, 250, 262, 276, 290, 304, 318, 332, 348, 364,
    380, 396, 412, 430, 448, 466, 484, 504, 524, 544, 564, 584, 604, 624,
    648, 672, 692, 716, 740, 764, 788, 816, 840, 864, 896, 920, 944, 976,
    1000, 1032, 1064, 1088, 1120, 1152, 1184, 1216, 1248, 1280, 1312, 1352, 1384, 1416,
    1456, 1488, 1528, 1560, 1600, 1640, 1672, 1712, 1752, 1792, 1832, 1872, 1920, 1952,
    2000, 2048, 2080, 2128, 2176, 2224, 2272, 2320, 2368, 2416, 2464, 2512, 2560, 2608,
    2656, 2704, 2752, 2816, 2864, 2912, 2976, 3024, 3072, 3136, 3184, 3248, 3296, 3360,
    3424, 3472, 3536, 3600, 3664, 3712, 3776, 3840, 3904, 3968, 4032, 4096, 4160, 4224,
    4288, 4352, 4416, 4512, 4576, 4640, 4704, 4768, 4864, 4928, 4992, 5056, 5152, 5216,
    5280, 5376, 5440, 5536, 5600, 5696, 5760, 5824, 5920, 6016, 6080, 6176, 6240, 6336,
    6400, 6496, 6592, 6688, 6752, 6848, 6944, 7008, 7104, 7200, 7296, 7392, 7488, 7584,
    7680, 7744, 7872, 7936, 8064, 8128, 8256, 8320, 8448, 8512, 8640, 8768, 8832, 8960,
    9024, 9152, 9280, 9344, 9472, 9600, 9664, 9792, 9920, 9984, 10112, 10240, 10304, 10432,
    10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712, 11840, 11968, 12096,
    12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376, 13504, 13632, 13760, 13888,
    14016, 14144, 14272, 14400, 14528, 14656, 14848, 14976, 15104, 15232, 15360, 15488, 15616, 15744,
    16000, 16128, 16256, 16384,
};
/* clang-format on */

/* The value of one channel of a normalised format. The least signed integer is a little
 * below -1. */
static float
texel_normalised_channel(const emu_sampler *s, const uint8_t *at, unsigned int c)
{
    uint16_t word;

    switch (s->format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
            if (s->srgb && c < 3) {
                return (float)from_srgb[at[c]] / SRGB_ONE;
            }
            return (float)at[c] / 255.0f;
        case CU_AD_FORMAT_SIGNED_INT8:
            return (float)(int8_t)at[c] / 127.0f;
        case CU_AD_FORMAT_UNSIGNED_INT16:
            memcpy(&word, at + (size_t)2 * c, sizeof word);
            return (float)word / 65535.0f;
        default: /* CU_AD_FORMAT_SIGNED_INT16 */
            memcpy(&word, at + (size_t)2 * c, sizeof word);
            return (float)(int16_t)word / 32767.0f;
    }
}

/* The bits of one channel: a float or a widened integer. */
static uint32_t
texel_channel(const emu_sampler *s, const uint8_t *at, unsigned int c)
{
    uint16_t word;
    uint32_t whole;

    if (s->normalise) {
        return bits_of_f32(texel_normalised_channel(s, at, c));
    }
    switch (s->format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
            return at[c];
        case CU_AD_FORMAT_SIGNED_INT8:
            return (uint32_t)(int32_t)(int8_t)at[c];
        case CU_AD_FORMAT_UNSIGNED_INT16:
            memcpy(&word, at + (size_t)2 * c, sizeof word);
            return word;
        case CU_AD_FORMAT_SIGNED_INT16:
            memcpy(&word, at + (size_t)2 * c, sizeof word);
            return (uint32_t)(int32_t)(int16_t)word;
        case CU_AD_FORMAT_HALF:
            memcpy(&word, at + (size_t)2 * c, sizeof word);
            if ((word & 0x7c00) == 0x7c00) { /* keep a signalling NaN */
                return (word & 0x8000u) << 16 | 0x7f800000 | (word & 0x3ffu) << 13;
            }
            return bits_of_f32((float)emu_half_value(word, EMU_F16));
        default:
            memcpy(&whole, at + (size_t)4 * c, sizeof whole);
            return whole;
    }
}

void
emu_texel_fill(const emu_sampler *s, uint32_t out[4])
{
    unsigned int c;

    for (c = s->channels; c < 4; c++) {
        out[c] = 0;
    }
}

void
emu_texel_tap(const emu_sampler *s, const emu_texture_level *level, int64_t x,
              int64_t y, int64_t z, uint32_t out[4])
{
    unsigned int c;
    const uint8_t *at;

    if (x < 0 || y < 0 || z < 0 || (uint64_t)x >= level->width ||
        (uint64_t)y >= level->height || (uint64_t)z >= level->depth) {
        memcpy(out, s->border, 4 * sizeof *out);
        emu_texel_fill(s, out);
        return;
    }
    at = (const uint8_t *)(uintptr_t)(level->base + (uint64_t)z * level->slice +
                                      (uint64_t)y * level->pitch +
                                      (uint64_t)x * s->element);
    for (c = 0; c < s->channels; c++) {
        out[c] = texel_channel(s, at, c);
    }
    emu_texel_fill(s, out);
}

void
emu_texel_read(const emu_sampler *s, const emu_texture_level *level, int64_t x,
               int64_t y, int64_t z, uint32_t out[4])
{
    unsigned int c;

    emu_texel_tap(s, level, x, y, z, out);
    if (s->normalise && (s->format == CU_AD_FORMAT_SIGNED_INT8 ||
                         s->format == CU_AD_FORMAT_SIGNED_INT16)) {
        for (c = 0; c < s->channels; c++) {
            if (f32_of_bits(out[c]) < -1.0f) {
                out[c] = bits_of_f32(-1.0f);
            }
        }
    }
}

static uint32_t
texel_clamp_unsigned(uint32_t word, uint32_t most)
{
    return word < most ? word : most;
}

static uint32_t
texel_clamp_signed(uint32_t word, int32_t most)
{
    const int32_t value = (int32_t)word;

    if (value > most) {
        return (uint32_t)most;
    }
    if (value < -most - 1) {
        return (uint32_t)(-most - 1);
    }
    return word;
}

/* A float as a half, rounded toward zero. A NaN keeps its sign and its upper bits. */
static uint32_t
texel_half(uint32_t word)
{
    if ((word & 0x7fffffff) > 0x7f800000) {
        return (word >> 16 & 0x8000) | 0x7c00 | (word >> 13 & 0x3ff);
    }
    return emu_half_round((double)f32_of_bits(word), EMU_F16, EMU_RZ);
}

void
emu_texel_write(CUarray_format format, uint8_t *element, unsigned int channel,
                uint32_t word)
{
    unsigned int bytes = 4;

    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
            bytes = 1;
            word = texel_clamp_unsigned(word, UINT8_MAX);
            break;
        case CU_AD_FORMAT_SIGNED_INT8:
            bytes = 1;
            word = texel_clamp_signed(word, INT8_MAX);
            break;
        case CU_AD_FORMAT_UNSIGNED_INT16:
            bytes = 2;
            word = texel_clamp_unsigned(word, UINT16_MAX);
            break;
        case CU_AD_FORMAT_SIGNED_INT16:
            bytes = 2;
            word = texel_clamp_signed(word, INT16_MAX);
            break;
        case CU_AD_FORMAT_HALF:
            bytes = 2;
            word = texel_half(word);
            break;
        default:
            break;
    }
    memcpy(element + (size_t)channel * bytes, &word, bytes);
}
