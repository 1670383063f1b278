/* Lowering of the copies of whole ranges and tiles: cp.async.bulk,
 * cp.reduce.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk.tensor. See
 * lower_bulk.h.
 *
 * The machine copies at once. So the groups of copies are always complete, and
 * prefetches have no effect. */
#include "device/compile/lower_bulk.h"

#include "device/base/element.h"
#include "device/compile/encoding.h"
#include "device/compile/lower_operand.h"

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
    if (low_has(f, PTX_W_mbarrier_bytes) != ((flags & EMU_BULK_TO_SHARED) != 0) ||
        low_has(f, PTX_W_bulk_group) == ((flags & EMU_BULK_TO_SHARED) != 0)) {
        low_unsupported(f);
    }
    if (low_has(f, PTX_W_multicast)) {
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
    const unsigned rest =
        (unsigned)low_has(f, PTX_W_multicast) + (unsigned)low_has(f, PTX_W_l2_hint);

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
