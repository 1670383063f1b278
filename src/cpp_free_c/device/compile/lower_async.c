/* Lowering of what works on ranges and tiles of memory: bulk copies, mbarrier,
 * tensormap, createpolicy. */
#include "device/compile/lower.h"

#include <stddef.h>
#include <string.h>

#include "device/base/number.h"
#include "device/compile/encoding.h"
#include "device/memory/tensor_map.h"

/* -- bulk copies ------------------------------------------------------------------- */

/* The machine copies at once. So the groups of copies are always complete, and
 * prefetches have no effect. */

/* EMU_REDUCE_ number of the instruction. */
static unsigned
bulk_reduction(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_add, PTX_W_min, PTX_W_max, PTX_W_inc,
                                     PTX_W_dec, PTX_W_and, PTX_W_or,  PTX_W_xor};
    const unsigned found = low_find(f, words, 8);

    if (!low_has(f, PTX_W_reduce)) {
        return EMU_REDUCE_NONE;
    }
    if (found == 8) {
        low_unsupported(f);
    }
    return EMU_REDUCE_ADD + found;
}

/* The n-th state space among the words: PTX_W_global, PTX_W_shared_cta or
 * PTX_W_shared_cluster; PTX_W_NONE if there are fewer. */
static unsigned
bulk_space(const low_func *f, unsigned n)
{
    for (unsigned i = 0; i < f->in->word_count; i++) {
        const unsigned word = f->in->words[i];

        if (word == PTX_W_global || word == PTX_W_shared_cta ||
            word == PTX_W_shared_cluster) {
            if (n == 0) {
                return word;
            }
            n--;
        }
    }
    return PTX_W_NONE;
}

/* The generic address of an operand in brackets, in a state space. */
static low_value
bulk_address(low_func *f, const ptx_operand *operand, unsigned space)
{
    uint32_t at = EMU_AT_SHARED;
    low_place place;

    if (space == PTX_W_global) {
        at = EMU_AT_GLOBAL;
    }
    place = low_place_in(low_address(f, operand), at);
    if ((place.aux & EMU_AT_MASK) != at) {
        low_fail(f, "a variable is not in the state space of the copy");
    }
    return low_generic_address(f, place);
}

/* The direction of the copy, and what signals its completion. */
typedef struct {
    uint32_t flags; /* EMU_BULK_ */
    unsigned next;  /* the first operand that was not read */
    low_value mbarrier, blocks;
} bulk_end;

/* The flags of the instruction, which must name two state spaces that a copy has, and
 * the right completion mechanism. */
static uint32_t
bulk_flags(const low_func *f)
{
    const unsigned to = bulk_space(f, 0), from = bulk_space(f, 1);
    const bool to_shared = to == PTX_W_shared_cluster || to == PTX_W_shared_cta;
    uint32_t flags = 0;

    if (bulk_space(f, 2) != PTX_W_NONE) {
        low_unsupported(f);
    }
    if (to == PTX_W_global && from == PTX_W_shared_cta) {
        flags = EMU_BULK_FROM_SHARED;
    }
    else if (to_shared && from == PTX_W_global && !low_has(f, PTX_W_reduce)) {
        flags = EMU_BULK_TO_SHARED;
    }
    else if (to == PTX_W_shared_cluster && from == PTX_W_shared_cta &&
             !low_has(f, PTX_W_tensor)) {
        flags = EMU_BULK_TO_SHARED | EMU_BULK_FROM_SHARED;
    }
    else {
        low_unsupported(f);
    }
    if (low_has(f, PTX_W_mbarrier_complete_tx_bytes) !=
            ((flags & EMU_BULK_TO_SHARED) != 0) ||
        low_has(f, PTX_W_bulk_group) == ((flags & EMU_BULK_TO_SHARED) != 0)) {
        low_unsupported(f);
    }
    if (low_has(f, PTX_W_multicast_cluster)) {
        if (to != PTX_W_shared_cluster || from != PTX_W_global) {
            low_unsupported(f);
        }
        flags |= EMU_BULK_MULTICAST;
    }
    return flags;
}

/* Read the mbarrier, from operand `next` on. */
static bulk_end
bulk_read_mbarrier(low_func *f, unsigned next)
{
    bulk_end end = {.flags = bulk_flags(f), .next = next};

    end.mbarrier = low_constant(f, PTX_R64, 0);
    end.blocks = low_constant(f, PTX_R16, 0);
    if (end.flags & EMU_BULK_TO_SHARED) {
        low_check_operand_count(f, next + 1, PTX_MAX_OPERANDS);
        end.mbarrier = bulk_address(f, &f->in->operands[next], PTX_W_shared_cluster);
        end.next++;
    }
    return end;
}

/* Read the blocks of a multicast. A cache policy, which has no effect, is the last
 * operand. */
static void
bulk_read_blocks(low_func *f, bulk_end *end)
{
    const unsigned rest = (unsigned)low_has(f, PTX_W_multicast_cluster) +
                          (unsigned)low_has(f, PTX_W_L2_cache_hint);

    low_check_operand_count(f, end->next + rest, end->next + rest);
    if (end->flags & EMU_BULK_MULTICAST) {
        end->blocks = low_source_at(f, end->next, PTX_W_u16);
    }
}

/* -- ranges of bytes --------------------------------------------------------------- */

/* The element type of a reduction. */
static unsigned
bulk_element(const low_func *f, unsigned operation)
{
    static const struct {
        uint8_t word, element;
    } rows[] = {{PTX_W_u32, EMU_ELEMENT_U32}, {PTX_W_b32, EMU_ELEMENT_U32},
                {PTX_W_s32, EMU_ELEMENT_S32}, {PTX_W_u64, EMU_ELEMENT_U64},
                {PTX_W_b64, EMU_ELEMENT_U64}, {PTX_W_s64, EMU_ELEMENT_S64},
                {PTX_W_f16, EMU_ELEMENT_F16}, {PTX_W_bf16, EMU_ELEMENT_BF16},
                {PTX_W_f32, EMU_ELEMENT_F32}, {PTX_W_f64, EMU_ELEMENT_F64}};
    const unsigned type = low_type_at(f, 0);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].word == type) {
            if (!emu_element_can_reduce(operation, rows[i].element)) {
                low_unsupported(f);
            }
            return rows[i].element;
        }
    }
    low_unsupported(f);
}

/* [to], [from], bytes {, [mbarrier]} {, blocks} {, policy} */
static void
bulk_range(low_func *f)
{
    const ptx_operand *operands = f->in->operands;
    const unsigned operation = bulk_reduction(f);
    bulk_end end;
    low_value values[5];
    low_insn *insn;

    low_check_operand_count(f, 3, PTX_MAX_OPERANDS);
    end = bulk_read_mbarrier(f, 3);
    bulk_read_blocks(f, &end);
    if (operation != EMU_REDUCE_NONE) {
        end.flags |= bulk_element(f, operation) << EMU_BULK_TYPE_SHIFT;
    }
    else if (low_type_at(f, 0) != PTX_W_NONE) {
        low_unsupported(f);
    }
    values[0] = bulk_address(f, &operands[0], bulk_space(f, 0));
    values[1] = bulk_address(f, &operands[1], bulk_space(f, 1));
    values[2] = low_source(f, &operands[2], PTX_W_u32);
    values[3] = end.mbarrier;
    values[4] = end.blocks;
    insn = low_emit(f, EMU_OP_bulk_copy, 0, 0, 0, 0);
    insn->e = LOW_NUMBER(operation);
    insn->aux = end.flags;
    for (unsigned i = 0; i < 5; i++) {
        low_add_x(f, insn, values[i], false);
    }
}

/* -- tiles ------------------------------------------------------------------------- */

enum { RANK_MOST = 5 };

/* The number of dimensions that .1d to .5d names. */
static unsigned
bulk_rank(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_t1d, PTX_W_t2d, PTX_W_t3d, PTX_W_t4d,
                                     PTX_W_t5d};
    const unsigned found = low_find(f, words, RANK_MOST);

    if (found == RANK_MOST) {
        low_unsupported(f);
    }
    return found + 1;
}

/* The generic address of the tensor map in [map, {coordinates}]. */
static low_value
bulk_map_address(low_func *f, const ptx_operand *operand)
{
    ptx_operand map = *operand;
    low_place place;

    map.count = 1;
    place = low_place_in(low_address(f, &map), EMU_AT_GENERIC);
    if ((place.aux & EMU_AT_MASK) == EMU_AT_SHARED) {
        low_fail(f, "a tensor map is in shared memory");
    }
    return low_generic_address(f, place);
}

/* Read `count` numbers of a vector. */
static void
bulk_read_vector(low_func *f, const ptx_operand *vector, unsigned count, unsigned type,
                 low_value *values, const char *what)
{
    if (vector->kind != PTX_O_VECTOR || vector->count != count) {
        low_fail(f, "the %s are not a vector of %u elements", what, count);
    }
    for (unsigned i = 0; i < count; i++) {
        values[i] = low_source(f, &vector->items[i], type);
    }
}

/* Fails unless an operand is [map, {coordinates}]. */
static const ptx_operand *
bulk_map_operand(const low_func *f, const ptx_operand *operand)
{
    if (operand->kind != PTX_O_ADDRESS || operand->count != 2) {
        low_fail(f, "an operand is not a tensor map with coordinates in brackets");
    }
    return operand;
}

/* To shared memory: [tile], [map, {coordinates}], [mbarrier] {, {offsets}} {, blocks}
 * {, policy}. To global memory: [map, {coordinates}], [tile] {, policy}. */
static void
bulk_tile(low_func *f)
{
    const ptx_operand *operands = f->in->operands, *map, *tile;
    const unsigned rank = bulk_rank(f), operation = bulk_reduction(f);
    const bool to_shared = bulk_flags(f) & EMU_BULK_TO_SHARED;
    low_value values[4], coordinates[RANK_MOST], offsets[RANK_MOST];
    unsigned offset_count = 0;
    bulk_end end;
    low_insn *insn;

    low_check_operand_count(f, 2, PTX_MAX_OPERANDS);
    map = bulk_map_operand(f, &operands[to_shared ? 1 : 0]);
    tile = &operands[to_shared ? 0 : 1];
    end = bulk_read_mbarrier(f, 2);
    if (low_has(f, PTX_W_im2col) || low_has(f, PTX_W_im2col_no_offs)) {
        if (rank < 3 || low_has(f, PTX_W_im2col) != to_shared) {
            low_unsupported(f);
        }
        end.flags |= EMU_BULK_IM2COL;
    }
    if (low_has(f, PTX_W_im2col)) {
        low_check_operand_count(f, end.next + 1, PTX_MAX_OPERANDS);
        offset_count = rank - 2;
        bulk_read_vector(f, &operands[end.next++], offset_count, PTX_W_u16, offsets,
                         "offsets");
    }
    bulk_read_blocks(f, &end);
    values[0] = bulk_map_address(f, map);
    values[1] = bulk_address(f, tile, PTX_W_shared_cluster);
    values[2] = end.mbarrier;
    values[3] = end.blocks;
    bulk_read_vector(f, &map->items[1], rank, PTX_W_s32, coordinates, "coordinates");
    insn = low_emit(f, EMU_OP_tensor_copy, 0, 0, 0, 0);
    insn->e = LOW_NUMBER(operation);
    insn->aux = end.flags | rank << EMU_BULK_RANK_SHIFT;
    for (unsigned i = 0; i < 4; i++) {
        low_add_x(f, insn, values[i], false);
    }
    for (unsigned i = 0; i < rank; i++) {
        low_add_x(f, insn, coordinates[i], false);
    }
    for (unsigned i = 0; i < offset_count; i++) {
        low_add_x(f, insn, offsets[i], false);
    }
}

/* -- all forms --------------------------------------------------------------------- */

void
low_bulk(low_func *f)
{
    if (!low_has(f, PTX_W_async)) {
        low_unsupported(f);
    }
    if (low_has(f, PTX_W_commit_group)) {
        low_check_operand_count(f, 0, 0);
    }
    else if (low_has(f, PTX_W_wait_group)) {
        low_check_operand_count(f, 1, 1);
    }
    else if (low_has(f, PTX_W_prefetch)) {
        low_check_operand_count(f, 1, 4);
    }
    else if (low_has(f, PTX_W_tensor)) {
        bulk_tile(f);
    }
    else {
        bulk_range(f);
    }
}

/* -- mbarrier, and cp.async.mbarrier.arrive ---------------------------------------- */

/* The object of operand `index`. In the state space of the instruction; without one the
 * address is generic. */
static low_place
mbarrier_place(low_func *f, unsigned index)
{
    low_place place = low_address(f, &f->in->operands[index]);
    const uint32_t space = place.aux & EMU_AT_MASK;

    if (space != EMU_AT_GENERIC && space != EMU_AT_SHARED) {
        low_fail(f, "an mbarrier is not in shared memory");
    }
    return place;
}

/* .test_wait and .try_wait: programs call them in loops, so the operation spin lets
 * other warps run. A hint of a time has no effect. */
static void
mbarrier_wait(low_func *f)
{
    const bool parity = low_has(f, PTX_W_parity);
    unsigned type = PTX_W_u64, most = 3;
    low_value d, phase;
    low_place place;
    low_insn *insn;

    if (low_has(f, PTX_W_try_wait)) {
        most = 4;
    }
    low_check_operand_count(f, 3, most);
    if (parity) {
        type = PTX_W_u32;
    }
    phase = low_source_at(f, 2, type);
    place = mbarrier_place(f, 1);
    d = low_target(f, &f->in->operands[0], PTX_PRED);
    insn = low_access(f, EMU_OP_mbarrier_wait, d, place, phase);
    insn->e = LOW_NUMBER(parity);
    low_emit(f, EMU_OP_spin, 0, 0, 0, 0);
}

/* .arrive and .arrive_drop. With .expect_tx the last operand is a number of bytes, else
 * a number of arrivals. */
static void
mbarrier_arrive(low_func *f)
{
    const ptx_operand *operands = f->in->operands;
    low_value count = low_constant(f, PTX_R32, 1), bytes = low_constant(f, PTX_R32, 0);
    low_value d;
    low_insn *insn;

    low_check_operand_count(f, 2, 3);
    if (low_has(f, PTX_W_shared_cluster) && operands[0].kind != PTX_O_SINK) {
        low_fail(f, "an arrival at another block's mbarrier returns no state: write _");
    }
    d = low_target(f, &operands[0], PTX_R64);
    if (low_has(f, PTX_W_expect_tx)) {
        low_check_operand_count(f, 3, 3);
        bytes = low_source(f, &operands[2], PTX_W_u32);
    }
    else if (f->in->operand_count == 3) {
        count = low_source(f, &operands[2], PTX_W_u32);
    }
    insn = low_access(f, EMU_OP_mbarrier_arrive, d, mbarrier_place(f, 1), count);
    insn->c = bytes;
    insn->e = LOW_NUMBER(low_has(f, PTX_W_arrive_drop));
}

/* .expect_tx and .complete_tx without an arrival. */
static void
mbarrier_bytes(low_func *f)
{
    low_value bytes;
    low_insn *insn;

    low_check_operand_count(f, 2, 2);
    bytes = low_source_at(f, 1, PTX_W_u32);
    insn = low_access(f, EMU_OP_mbarrier_bytes, 0, mbarrier_place(f, 0), bytes);
    insn->e = LOW_NUMBER(low_has(f, PTX_W_complete_tx));
}

void
low_complete_bytes(low_func *f, unsigned bytes)
{
    low_value count = low_constant(f, PTX_R32, bytes);
    low_insn *insn =
        low_access(f, EMU_OP_mbarrier_bytes, 0, mbarrier_place(f, 2), count);

    insn->e = LOW_NUMBER(1);
}

static void
mbarrier_pending_count(low_func *f)
{
    low_value a;

    low_check_operand_count(f, 2, 2);
    a = low_source_at(f, 1, PTX_W_u64);
    low_emit(f, EMU_OP_mbarrier_pending, low_result(f, PTX_W_u32), a, 0, 0);
}

void
low_mbarrier(low_func *f)
{
    if (low_type_at(f, 0) != PTX_W_b64) {
        low_unsupported(f);
    }
    if (low_has(f, PTX_W_init)) {
        low_value count;

        low_check_operand_count(f, 2, 2);
        count = low_source_at(f, 1, PTX_W_u32);
        low_access(f, EMU_OP_mbarrier_init, 0, mbarrier_place(f, 0), count);
    }
    else if (low_has(f, PTX_W_test_wait) || low_has(f, PTX_W_try_wait)) {
        mbarrier_wait(f);
    }
    else if (low_has(f, PTX_W_arrive) || low_has(f, PTX_W_arrive_drop)) {
        mbarrier_arrive(f);
    }
    else if (low_has(f, PTX_W_expect_tx) || low_has(f, PTX_W_complete_tx)) {
        mbarrier_bytes(f);
    }
    else if (low_has(f, PTX_W_pending_count)) {
        mbarrier_pending_count(f);
    }
    else if (!low_has(f, PTX_W_inval)) { /* .inval has no effect here */
        low_unsupported(f);
    }
}

/* cp.async copies at once, so its arrival is at once too. Without .noinc the phase
 * expects one more arrival, which this is: there is nothing to do. */
void
low_copy_arrive(low_func *f)
{
    low_insn *insn;

    low_check_operand_count(f, 1, 1);
    if (!low_has(f, PTX_W_arrive) || low_type_at(f, 0) != PTX_W_b64) {
        low_unsupported(f);
    }
    if (!low_has(f, PTX_W_noinc)) {
        return;
    }
    insn = low_access(f, EMU_OP_mbarrier_arrive, low_temp(f, PTX_R64),
                      mbarrier_place(f, 0), low_constant(f, PTX_R32, 1));
    insn->c = low_constant(f, PTX_R32, 0);
    insn->e = LOW_NUMBER(0);
}

/* -- tensormap --------------------------------------------------------------------- */

/* A map is an emu_tensor_map (device/memory/tensor_map.h), so a new value of a field is
 * an ordinary store. The mark is stored too: a kernel may begin with zeros. */

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

/* -- createpolicy ------------------------------------------------------------------ */

/* A cache policy is an opaque number of 64 bits. Its bits are those of a GPU, but no
 * access reads them: there is no cache. */

/* The upper bits of a policy, without the fraction. */
static int64_t
policy_base(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_L2_evict_unchanged, PTX_W_L2_evict_first,
                                     PTX_W_L2_evict_last, PTX_W_L2_evict_normal};
    uint64_t base = 0x1000;
    unsigned seen = 0;

    for (unsigned i = 0; i < f->in->word_count; i++) {
        for (unsigned k = 0; k < 4; k++) {
            if (f->in->words[i] != words[k]) {
                continue;
            }
            if (seen == 0) {
                base |= (uint64_t)k << 9;
            }
            else if (k == 1) { /* the second priority is evict_first */
                base |= 0x100;
            }
            seen++;
        }
    }
    if (seen == 0) {
        low_unsupported(f);
    }
    return (int64_t)(base << 48);
}

void
low_createpolicy(low_func *f)
{
    const ptx_operand *operands = f->in->operands;
    low_value d = low_target(f, &operands[0], PTX_R64), fraction;

    if (low_has(f, PTX_W_cvt)) {
        low_check_operand_count(f, 2, 2);
        low_emit(f, EMU_OP_mov_64, d, low_source_at(f, 1, PTX_W_b64), 0, 0);
        return;
    }
    fraction = low_constant(f, PTX_R32, 0x3f800000);
    if (low_has(f, PTX_W_fractional)) {
        low_check_operand_count(f, 1, 2);
        if (f->in->operand_count == 2) {
            fraction = low_source_at(f, 1, PTX_W_f32);
        }
    }
    else if (low_has(f, PTX_W_range)) {
        low_check_operand_count(f, 4, 4);
    }
    else {
        low_unsupported(f);
    }
    low_emit(f, EMU_OP_policy, d, fraction, 0, 0)->imm = policy_base(f);
}
