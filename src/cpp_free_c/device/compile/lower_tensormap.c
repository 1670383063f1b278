/* Lowering of tensormap, which changes and copies tensor maps. See lower_opcodes.h.
 *
 * A map is an emu_tensor_map (device/memory/tensor_map.h), so a new value of a field is
 * an ordinary store. The mark is stored too: a kernel may begin with zeros. */
#include <stddef.h>
#include <string.h>

#include "device/base/element.h"
#include "device/compile/encoding.h"
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"
#include "device/memory/tensor_map.h"

enum { MAP_BYTES = 128, LANE_SHIFT = 2 };

/* A field: where it is, and how its value is stored. */
typedef struct {
    uint16_t word;
    uint16_t offset;
    uint16_t step;  /* bytes from one element to the next; 0: the field is no array */
    uint16_t count; /* of elements */
    uint16_t op;    /* the store */
    int16_t change; /* added to a value of 32 bits */
} map_field;

#define FIELD(name) offsetof(emu_tensor_map, name)

static const map_field map_fields[] = {
    {PTX_W_global_address, FIELD(address), 0, 1, EMU_OP_st_64_64, 0},
    {PTX_W_rank, FIELD(rank), 0, 1, EMU_OP_st_8_32, 1},
    {PTX_W_box_dim, FIELD(box), 2, EMU_TENSOR_RANK, EMU_OP_st_16_32, 0},
    {PTX_W_global_dim, FIELD(last), 4, EMU_TENSOR_RANK, EMU_OP_st_32_32, -1},
    {PTX_W_global_stride, FIELD(strides), 8, EMU_TENSOR_RANK - 1, EMU_OP_st_64_64, 0},
    {PTX_W_element_stride, FIELD(steps), 1, EMU_TENSOR_RANK, EMU_OP_st_8_32, 0},
    {PTX_W_elemtype, FIELD(type), 0, 1, EMU_OP_st_8_32, 0},
    {PTX_W_interleave_layout, FIELD(interleave), 0, 1, EMU_OP_st_8_32, 0},
    {PTX_W_swizzle_mode, FIELD(swizzle), 0, 1, EMU_OP_st_8_32, 0},
    {PTX_W_fill_mode, FIELD(fill), 0, 1, EMU_OP_st_8_32, 0},
};

/* -- replace ----------------------------------------------------------------------- */

static const map_field *
map_find_field(const low_func *f)
{
    for (size_t i = 0; i < sizeof map_fields / sizeof *map_fields; i++) {
        if (low_has(f, map_fields[i].word)) {
            return &map_fields[i];
        }
    }
    low_unsupported(f);
}

/* The number of CUtensorMapDataType for a number of .elemtype. */
static uint64_t
map_element_type(const low_func *f, const ptx_operand *operand)
{
    static const uint8_t types[] = {
        EMU_ELEMENT_U8,      EMU_ELEMENT_U16, EMU_ELEMENT_U32,  EMU_ELEMENT_S32,
        EMU_ELEMENT_U64,     EMU_ELEMENT_S64, EMU_ELEMENT_F16,  EMU_ELEMENT_F32,
        EMU_ELEMENT_F32_FTZ, EMU_ELEMENT_F64, EMU_ELEMENT_BF16, EMU_ELEMENT_TF32,
        EMU_ELEMENT_TF32_FTZ};
    const uint64_t number = low_number(f, operand);

    if (number >= sizeof types) {
        low_unsupported(f);
    }
    return types[number];
}

/* The value as it is stored. */
static low_value
map_value(low_func *f, const map_field *field, const ptx_operand *operand)
{
    low_value value, changed;

    if (field->word == PTX_W_elemtype) {
        return low_constant(f, PTX_R32, map_element_type(f, operand));
    }
    if (field->op == EMU_OP_st_64_64) {
        return low_source(f, operand, PTX_W_b64);
    }
    value = low_source(f, operand, PTX_W_b32);
    if (field->change == 0) {
        return value;
    }
    changed = low_temp(f, PTX_R32);
    low_emit(f, EMU_OP_add_32, changed, value,
             low_constant(f, PTX_R32, (uint32_t)field->change), 0);
    return changed;
}

static void
map_replace(low_func *f)
{
    const map_field *field = map_find_field(f);
    const unsigned is_array = field->step != 0;
    low_place place;
    uint64_t mark, ordinal = 0;
    low_value value;

    low_check_operand_count(f, 2 + is_array, 2 + is_array);
    place = low_address(f, &f->in->operands[0]);
    if (is_array) {
        ordinal = low_number(f, &f->in->operands[1]);
        if (ordinal >= field->count) {
            low_fail(f, "a tensor map has %u of these", field->count);
        }
    }
    memcpy(&mark, EMU_TENSOR_MARK, sizeof mark);
    value = low_constant(f, PTX_R64, mark);
    low_access(f, EMU_OP_st_64_64, 0, place, value);
    value = map_value(f, field, &f->in->operands[1 + is_array]);
    place.offset += field->offset + (int64_t)(ordinal * field->step);
    low_access(f, field->op, 0, place, value);
}

/* -- cp_fenceproxy ----------------------------------------------------------------- */

/* The place that is 4 bytes further for each lane. */
static low_place
map_place_of_lane(low_func *f, low_place place, low_value bytes)
{
    low_value sum;

    if (place.aux & EMU_AT_BASE64) {
        const low_value wide = low_temp(f, PTX_R64);

        sum = low_temp(f, PTX_R64);
        low_emit(f, EMU_OP_cvt_64from32_u32, wide, bytes, 0, 0);
        low_emit(f, EMU_OP_add_64, sum, place.base, wide, 0);
        place.base = sum;
    }
    else if (place.aux & EMU_AT_BASE32) {
        sum = low_temp(f, PTX_R32);
        low_emit(f, EMU_OP_add_32, sum, place.base, bytes, 0);
        place.base = sum;
    }
    else {
        place.base = bytes;
        place.aux |= EMU_AT_BASE32;
    }
    return place;
}

/* Copy a map from shared to global memory. The warp copies it together: each lane moves
 * a word. */
static void
map_copy(low_func *f)
{
    const ptx_operand *operands = f->in->operands;
    const uint32_t skip = low_guard_begin(f);
    const low_value bytes = low_temp(f, PTX_R32), word = low_temp(f, PTX_R32);
    low_place to, from;

    low_check_operand_count(f, 3, 3);
    if (low_number(f, &operands[2]) != MAP_BYTES || !low_has(f, PTX_W_sync)) {
        low_unsupported(f);
    }
    low_emit(f, EMU_OP_shl_32, bytes, low_lane(f), low_constant(f, PTX_R32, LANE_SHIFT),
             0);
    to = low_place_in(low_address(f, &operands[0]), EMU_AT_GLOBAL);
    from = low_place_in(low_address(f, &operands[1]), EMU_AT_SHARED);
    low_access(f, EMU_OP_ld_u32_32, word, map_place_of_lane(f, from, bytes), 0);
    low_access(f, EMU_OP_st_32_32, 0, map_place_of_lane(f, to, bytes), word);
    low_emit(f, EMU_OP_fence, 0, 0, 0, 0);
    low_guard_end(f, skip);
}

void
low_tensormap(low_func *f)
{
    if (low_has(f, PTX_W_cp_fenceproxy)) {
        map_copy(f);
    }
    else if (low_has(f, PTX_W_replace)) {
        map_replace(f);
        low_need_specific_target(f);
    }
    else {
        low_unsupported(f);
    }
}
