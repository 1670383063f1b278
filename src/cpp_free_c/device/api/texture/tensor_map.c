/* Tensor maps: the driver's call that encodes one.
 *
 * It checks what a GPU's driver checks, and packs the parameters. See tensor_map.h. */
#include <string.h>

#include "device/api/entry/entry.h"
#include "device/base/element.h"
#include "device/memory/tensor_map.h"

enum {
    BOX_MOST = 256,
    STEP_MOST = 8,
    LINE = 16,      /* bytes: the unit of addresses, strides and boxes */
    WIDE_LINE = 32, /* with an interleave of 32 bytes */
    LAST_SWIZZLE = 6,
    LAST_PROMOTION = 3
};

/* The bytes that the innermost box may have with this swizzle. */
static unsigned int
map_swizzle_span(unsigned int swizzle)
{
    static const unsigned short spans[LAST_SWIZZLE + 1] = {0xffff, 32,  64, 128,
                                                           128,    128, 128};
    return spans[swizzle];
}

static bool
map_modes_are_valid(const emu_tensor_map *m, unsigned int interleave,
                    unsigned int swizzle, unsigned int promotion, unsigned int fill)
{
    if (m->type >= EMU_ELEMENT_COUNT || m->rank < 1 || m->rank > EMU_TENSOR_RANK ||
        interleave > EMU_INTERLEAVE_32B || swizzle > LAST_SWIZZLE ||
        promotion > LAST_PROMOTION || fill > 1) {
        return false;
    }
    if (interleave != EMU_INTERLEAVE_NONE && m->rank < 3) {
        return false;
    }
    if (interleave == EMU_INTERLEAVE_32B && swizzle != EMU_SWIZZLE_32B) {
        return false;
    }
    return fill == 0 || emu_element_is_float(m->type);
}

/* Check and store one dimension. */
static bool
map_set_dimension(emu_tensor_map *m, unsigned int i, uint64_t dim, uint64_t stride,
                  unsigned int box, unsigned int step)
{
    const uint64_t unit = m->interleave == EMU_INTERLEAVE_32B ? WIDE_LINE : LINE;

    if (dim == 0 || dim > (uint64_t)1 << 32 || box == 0 || box > BOX_MOST ||
        step == 0 || step > STEP_MOST) {
        return false;
    }
    if (i + 1 < m->rank && (stride % unit != 0 || stride >= (uint64_t)1 << 40)) {
        return false;
    }
    m->last[i] = (uint32_t)(dim - 1);
    m->box[i] = (uint16_t)box;
    m->steps[i] = (uint8_t)step;
    if (i + 1 < m->rank) {
        m->strides[i] = stride;
    }
    return true;
}

/* Check the innermost box against interleave and swizzle. */
static bool
map_inner_box_fits(const emu_tensor_map *m)
{
    const unsigned int bytes = m->box[0] * emu_element_size(m->type);

    return m->interleave != EMU_INTERLEAVE_NONE ||
           (bytes % LINE == 0 && bytes <= map_swizzle_span(m->swizzle));
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
    emu_tensor_map m = {.mark = EMU_TENSOR_MARK,
                        .address = (uint64_t)(uintptr_t)globalAddress};
    CUresult status = emu_enter(EMU_CALL_TensorMapEncodeTiled);
    bool valid = tensorMap != NULL && globalDim != NULL && boxDim != NULL &&
                 elementStrides != NULL && (uintptr_t)tensorMap % 64 == 0 &&
                 (tensorRank == 1 || globalStrides != NULL) &&
                 tensorRank <= EMU_TENSOR_RANK && tensorDataType < EMU_ELEMENT_COUNT;

    if (status != CUDA_SUCCESS) {
        return emu_leave(status);
    }
    if (valid) {
        m.rank = (uint8_t)tensorRank;
        m.type = (uint8_t)tensorDataType;
        valid = map_modes_are_valid(&m, interleave, swizzle, l2Promotion, oobFill) &&
                m.address % (interleave == EMU_INTERLEAVE_32B ? WIDE_LINE : LINE) == 0;
    }
    if (valid) {
        m.interleave = (uint8_t)interleave;
        m.swizzle = (uint8_t)swizzle;
        m.promotion = (uint8_t)l2Promotion;
        m.fill = (uint8_t)oobFill;
    }
    for (unsigned int i = 0; valid && i < tensorRank; i++) {
        uint64_t stride = 0;

        if (i + 1 < tensorRank) {
            stride = globalStrides[i];
        }
        valid = map_set_dimension(&m, i, globalDim[i], stride, boxDim[i],
                                  elementStrides[i]);
    }
    if (!valid || !map_inner_box_fits(&m)) {
        return emu_leave(CUDA_ERROR_INVALID_VALUE);
    }
    memset(tensorMap, 0, sizeof(*tensorMap));
    memcpy(tensorMap, &m, sizeof(m));
    return emu_leave(CUDA_SUCCESS);
}
