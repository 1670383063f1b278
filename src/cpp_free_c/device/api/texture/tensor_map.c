/* Tensor maps: the driver's calls that encode one.
 *
 * They check what a GPU's driver checks, and pack the parameters. See
 * device/memory/tensor_map.h. */
#include <string.h>

#include "device/api/entry/entry.h"
#include "device/base/number.h"
#include "device/memory/tensor_map.h"

enum {
    BOX_MOST = 256,
    CHANNELS_MOST = 256,
    PIXELS_MOST = 1024,
    STEP_MOST = 8,
    LINE = 16,      /* bytes: the unit of addresses, strides and rows */
    WIDE_LINE = 32, /* with an interleave of 32 bytes */
    LAST_PROMOTION = 3
};

/* The parameters that both kinds of maps have. */
typedef struct {
    CUtensorMap *out;
    CUtensorMapDataType type;
    uint32_t rank;
    void *address;
    const uint64_t *dims, *strides;
    const uint32_t *steps;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
} map_request;

/* The unit of addresses and strides. */
static unsigned int
map_unit(const map_request *r)
{
    if (r->interleave == EMU_INTERLEAVE_32B) {
        return WIDE_LINE;
    }
    return LINE;
}

static bool
map_modes_are_valid(const map_request *r)
{
    if (r->interleave > EMU_INTERLEAVE_32B || r->swizzle > EMU_SWIZZLE_128B ||
        r->promotion > LAST_PROMOTION || r->fill > 1) {
        return false;
    }
    if (r->interleave != EMU_INTERLEAVE_NONE && r->rank < 3) {
        return false;
    }
    if (r->interleave == EMU_INTERLEAVE_32B && r->swizzle != EMU_SWIZZLE_32B) {
        return false;
    }
    return r->fill == 0 || emu_element_is_float(r->type);
}

/* Check and store the dimensions, their strides and steps. */
static bool
map_set_array(emu_tensor_map *m, const map_request *r)
{
    for (uint32_t i = 0; i < r->rank; i++) {
        if (r->dims[i] == 0 || r->dims[i] > (uint64_t)1 << 32 || r->steps[i] == 0 ||
            r->steps[i] > STEP_MOST) {
            return false;
        }
        m->last[i] = (uint32_t)(r->dims[i] - 1);
        m->steps[i] = (uint8_t)r->steps[i];
        if (i + 1 == r->rank) {
            continue;
        }
        if (r->strides[i] % map_unit(r) != 0 || r->strides[i] >= (uint64_t)1 << 40) {
            return false;
        }
        m->strides[i] = r->strides[i];
    }
    return true;
}

/* Begin a map with what both kinds have in common. Like a GPU's driver, accept any
 * address for the map: only a kernel needs 64 aligned bytes. */
static bool
map_begin(emu_tensor_map *m, const map_request *r)
{
    if (r->out == NULL || r->dims == NULL || r->steps == NULL || r->rank < 1 ||
        r->rank > EMU_TENSOR_RANK || (r->rank > 1 && r->strides == NULL) ||
        r->type >= EMU_ELEMENT_COUNT || !map_modes_are_valid(r) ||
        (uintptr_t)r->address % map_unit(r) != 0) {
        return false;
    }
    memcpy(m->mark, EMU_TENSOR_MARK, sizeof m->mark);
    m->address = (uint64_t)(uintptr_t)r->address;
    m->rank = (uint8_t)r->rank;
    m->type = (uint8_t)r->type;
    m->interleave = (uint8_t)r->interleave;
    m->swizzle = (uint8_t)r->swizzle;
    m->promotion = (uint8_t)r->promotion;
    m->fill = (uint8_t)r->fill;
    return map_set_array(m, r);
}

/* Check the row of a tile against the swizzle, and write the map. */
static bool
map_finish(const emu_tensor_map *m, const map_request *r)
{
    const unsigned int bytes = m->box[0] * emu_element_size(m->type);
    const unsigned int span = emu_tile_span(m->swizzle);

    if (bytes % LINE != 0 ||
        (span != 0 && bytes > span && m->interleave == EMU_INTERLEAVE_NONE)) {
        return false;
    }
    memset(r->out, 0, sizeof *r->out);
    memcpy(r->out, m, sizeof *m);
    return true;
}

/* -- tiled maps -------------------------------------------------------------------- */

static bool
map_set_box(emu_tensor_map *m, uint32_t rank, const uint32_t *box)
{
    if (box == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < rank; i++) {
        if (box[i] == 0 || box[i] > BOX_MOST) {
            return false;
        }
        m->box[i] = (uint16_t)box[i];
    }
    return true;
}

CUresult
emu_cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                           uint32_t tensorRank, void *globalAddress,
                           const uint64_t *globalDim, const uint64_t *globalStrides,
                           const uint32_t *boxDim, const uint32_t *elementStrides,
                           CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                           CUtensorMapL2promotion l2Promotion,
                           CUtensorMapFloatOOBfill oobFill)
{
    const map_request r = {tensorMap, tensorDataType, tensorRank,     globalAddress,
                           globalDim, globalStrides,  elementStrides, interleave,
                           swizzle,   l2Promotion,    oobFill};
    emu_tensor_map m = {.is_im2col = 0};

    if (!map_begin(&m, &r) || !map_set_box(&m, tensorRank, boxDim) ||
        !map_finish(&m, &r)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* -- im2col maps ------------------------------------------------------------------- */

/* Check and store the corners of the box of pixels. */
static bool
map_set_corners(emu_tensor_map *m, const int *lower, const int *upper)
{
    const unsigned int dims = m->rank - 2u;
    const int most = 1 << (16 / dims - 1); /* 16, 8 or 5 bits each */

    if (lower == NULL || upper == NULL) {
        return false;
    }
    for (unsigned int i = 0; i < dims; i++) {
        if (lower[i] < -most || lower[i] >= most || upper[i] < -most ||
            upper[i] >= most) {
            return false;
        }
        m->lower[i] = (int16_t)lower[i];
        m->upper[i] = (int16_t)upper[i];
    }
    return true;
}

CUresult
emu_cuTensorMapEncodeIm2col(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, uint32_t tensorRank,
    void *globalAddress, const uint64_t *globalDim, const uint64_t *globalStrides,
    const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner,
    uint32_t channelsPerPixel, uint32_t pixelsPerColumn, const uint32_t *elementStrides,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    const map_request r = {tensorMap, tensorDataType, tensorRank,     globalAddress,
                           globalDim, globalStrides,  elementStrides, interleave,
                           swizzle,   l2Promotion,    oobFill};
    emu_tensor_map m = {.is_im2col = 1};
    bool valid = tensorRank >= 3 && channelsPerPixel != 0 &&
                 channelsPerPixel <= CHANNELS_MOST && pixelsPerColumn != 0 &&
                 pixelsPerColumn <= PIXELS_MOST;

    if (interleave != EMU_INTERLEAVE_NONE) {
        return CUDA_ERROR_NOT_SUPPORTED; /* no copy runs with such a map here */
    }
    m.box[0] = (uint16_t)channelsPerPixel;
    m.box[1] = (uint16_t)pixelsPerColumn;
    valid = valid && map_begin(&m, &r) &&
            map_set_corners(&m, pixelBoxLowerCorner, pixelBoxUpperCorner) &&
            map_finish(&m, &r);
    if (!valid) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* -- both kinds -------------------------------------------------------------------- */

CUresult
emu_cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
{
    emu_tensor_map m;

    if (tensorMap == NULL || !emu_tensor_map_read(&m, tensorMap) ||
        (uintptr_t)globalAddress % LINE != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    m.address = (uint64_t)(uintptr_t)globalAddress;
    memcpy(tensorMap, &m, sizeof m);
    return CUDA_SUCCESS;
}
