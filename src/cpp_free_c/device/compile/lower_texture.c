/* Lowering of texture and surface instructions. See lower.h; the fields that
 * the operations read are in encoding.h.
 *
 * Textures and surfaces are 64-bit handles in registers, or in variables of type
 * .texref and .surfref. Separate samplers are refused. */
#include "device/memory/texture.h"
#include "device/compile/encoding.h"
#include "device/compile/lower.h"

static unsigned
texture_geometry_of(const low_func *f)
{
    static const struct {
        uint16_t word, geometry;
    } known[] = {{PTX_W_t1d, EMU_GEOMETRY_1D},     {PTX_W_t2d, EMU_GEOMETRY_2D},
                 {PTX_W_t3d, EMU_GEOMETRY_3D},     {PTX_W_a1d, EMU_GEOMETRY_A1D},
                 {PTX_W_a2d, EMU_GEOMETRY_A2D},    {PTX_W_cube, EMU_GEOMETRY_CUBE},
                 {PTX_W_acube, EMU_GEOMETRY_ACUBE}};

    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        if (low_has(f, known[i].word)) {
            return known[i].geometry;
        }
    }
    low_unsupported(f);
}

/* The handle in a variable of type .texref or .surfref. */
static low_value
texture_handle_in_variable(low_func *f, const ptx_operand *operand)
{
    const ptx_var *var = operand->items->var;
    const ptx_operand address = {
        .kind = PTX_O_ADDRESS, .count = 1, .items = operand->items};
    low_value handle;

    if (var->type != PTX_W_texref && var->type != PTX_W_surfref) {
        low_fail(f, "'%.100s' is not a variable of type .texref or .surfref",
                 var->name->text);
    }
    handle = low_temp(f, PTX_R64);
    low_access(f, EMU_OP_ld_u64_64, handle, low_address(f, &address), 0);
    return handle;
}

/* The handle of [texture] or [texture, {coordinates}]; `parts` is 1 or 2. */
static low_value
texture_handle_of(low_func *f, const ptx_operand *operand, unsigned parts)
{
    const ptx_operand *item = operand->items;

    if (operand->kind != PTX_O_ADDRESS) {
        low_fail(f, "an operand is not [texture] or [surface]");
    }
    if (operand->count == parts + 1) {
        low_fail(f, "samplers apart from textures are not supported");
    }
    if (operand->count != parts) {
        low_fail(f, "an operand is not [texture, {coordinates}]");
    }
    if (item->kind == PTX_O_VAR) {
        return texture_handle_in_variable(f, operand);
    }
    if (item->kind != PTX_O_REG) {
        low_fail(f, "an operand is neither a handle in a register nor a reference");
    }
    return low_source(f, item, PTX_W_u64);
}

/* The n-th element of a vector; a scalar is a vector of one. */
static const ptx_operand *
texture_part(const low_func *f, const ptx_operand *operand, unsigned n)
{
    if (operand->kind != PTX_O_VECTOR) {
        if (n > 0) {
            low_fail(f, "an operand has too few elements");
        }
        return operand;
    }
    if (n >= operand->count) {
        low_fail(f, "an operand has %u elements, which is too few", operand->count);
    }
    return &operand->items[n];
}

/* The further operands of an instruction (emu_insn.x), written ones first. */
typedef struct {
    low_value values[32];
    unsigned count, written;
} extras;

static void
texture_take_result(low_func *f, extras *x, const ptx_operand *operand, ptx_class width)
{
    x->values[x->count++] = low_target(f, operand, width);
    x->written++;
}

static void
texture_take(low_func *f, extras *x, const ptx_operand *operand, unsigned first,
             unsigned count, unsigned type)
{
    for (unsigned k = first; k < first + count; k++) {
        x->values[x->count++] = low_source(f, texture_part(f, operand, k), type);
    }
}

/* The layer, if there is one, and the coordinates. */
static void
texture_take_place(low_func *f, extras *x, const ptx_operand *operand,
                   unsigned geometry, unsigned type)
{
    const bool layered = emu_geometry_layered(geometry);

    if (layered) {
        texture_take(f, x, operand, 0, 1, PTX_W_u32);
    }
    texture_take(f, x, operand, layered, emu_geometry_sides(geometry), type);
}

/* Emits the operation once all operands are read: reading them may emit, too. */
static low_insn *
texture_emit(low_func *f, unsigned op, low_value handle, const extras *x, uint32_t aux)
{
    low_insn *insn = low_emit(f, op, 0, handle, 0, 0);

    insn->aux = aux;
    for (unsigned k = 0; k < x->count; k++) {
        low_add_x(f, insn, x->values[k], k < x->written);
    }
    return insn;
}

/* -- textures ---------------------------------------------------------------------- */

/* Four 32-bit registers, two of packed halves, or one for the first channel alone. */
static void
texture_take_results(low_func *f, extras *x, const ptx_operand *d, unsigned count)
{
    if (d->kind != PTX_O_VECTOR) {
        texture_take_result(f, x, d, PTX_R32);
    }
    else if (d->count != count) {
        low_fail(f, "the destination is not a vector of %u elements", count);
    }
    for (unsigned k = x->count; k < count; k++) {
        if (d->kind == PTX_O_VECTOR) {
            texture_take_result(f, x, &d->items[k], PTX_R32);
        }
        else {
            x->values[x->count++] = low_temp(f, PTX_R32);
            x->written++;
        }
    }
}

/* d|p: p tells whether the texels are in memory. Here they always are. */
static void
texture_give_residency(low_func *f)
{
    low_value p, yes;

    if (f->in->second == NULL) {
        return;
    }
    p = low_target(f, f->in->second, PTX_PRED);
    yes = low_constant(f, PTX_PRED, 1);
    low_emit(f, EMU_OP_mov_p, p, yes, yes, 0);
}

static uint32_t
texture_gather_channel(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_r, PTX_W_g, PTX_W_b}; /* else .a */

    return low_find(f, words, 3);
}

/* The form of a tex or tld4 instruction. */
typedef struct {
    unsigned geometry, sides;
    unsigned type, at; /* of the results, of the coordinates */
    bool gather, level, gradient;
    unsigned operands; /* without the offsets, which may follow */
} tex_form;

static tex_form
texture_read_form(const low_func *f)
{
    tex_form form = {.geometry = texture_geometry_of(f),
                     .type = low_type_at(f, 0),
                     .at = low_type_at(f, 1),
                     .gather = f->in->opcode == PTX_OP_tld4,
                     .level = low_has(f, PTX_W_level),
                     .gradient = low_has(f, PTX_W_grad),
                     .operands = 2};

    form.sides = emu_geometry_sides(form.geometry);
    if (form.level) {
        form.operands = 3;
    }
    else if (form.gradient) {
        form.operands = 4;
    }
    return form;
}

static bool
texture_is_supported(const tex_form *form)
{
    const bool cube = form->geometry >= EMU_GEOMETRY_CUBE;

    if (form->at != PTX_W_f32 && form->at != PTX_W_s32) {
        return false;
    }
    if (form->at == PTX_W_s32 &&
        (form->level || form->gradient || form->gather || cube)) {
        return false;
    }
    return !form->gather || form->sides == 2 || cube;
}

/* The flag of the type of the results. */
static uint32_t
texture_type_flag(unsigned type)
{
    switch (type) {
        case PTX_W_f16x2:
            return EMU_TEX_HALVES;
        case PTX_W_u32:
            return EMU_TEX_UNSIGNED;
        case PTX_W_s32:
            return EMU_TEX_SIGNED;
        default:
            return 0;
    }
}

/* aux of the operation. */
static uint32_t
texture_flags(const low_func *f, const tex_form *form)
{
    uint32_t aux = form->geometry | texture_type_flag(form->type);

    if (form->at == PTX_W_s32) {
        aux |= EMU_TEX_INTEGER;
    }
    if (form->level) {
        aux |= EMU_TEX_LEVEL;
    }
    if (form->gradient) {
        aux |= EMU_TEX_GRADIENT;
    }
    if (form->gather) {
        aux |= EMU_TEX_GATHER | texture_gather_channel(f) << EMU_TEX_CHANNEL_SHIFT;
    }
    return aux;
}

/* The operand after the others: offsets, or a depth to compare with. A GPU ignores a
 * depth, because no texture of CUDA has a comparison. False: there are no offsets. */
static bool
texture_take_offsets(low_func *f, extras *x, const tex_form *form,
                     const ptx_operand *operand)
{
    if (operand->kind != PTX_O_VECTOR) {
        (void)low_source(f, operand, PTX_W_f32);
        return false;
    }
    if (form->geometry >= EMU_GEOMETRY_CUBE) {
        low_fail(f, "a cube has no offsets");
    }
    texture_take(f, x, operand, 0, form->sides, PTX_W_s32);
    return true;
}

/* tex.2dms and tex.a2dms: the coordinates begin with the number of the sample. Textures
 * of CUDA have one sample, number 0; on a GPU all others are 0. */
static void
texture_fetch_sample(low_func *f)
{
    enum { TEX, EQUAL, SELECT, CHANNELS = 4 };
    const bool layered = low_has(f, PTX_W_a2dms);
    const ptx_operand *const d = &f->in->operands[0];
    const ptx_operand *const place = &f->in->operands[1].items[1];
    uint32_t aux = EMU_TEX_INTEGER | EMU_GEOMETRY_2D;
    extras x = {.count = CHANNELS, .written = CHANNELS};
    low_value handle, sample, first, zero;

    low_check_operand_count(f, 2, 2);
    if (low_type_at(f, 1) != PTX_W_s32 || d->kind != PTX_O_VECTOR ||
        d->count != CHANNELS) {
        low_unsupported(f);
    }
    handle = texture_handle_of(f, &f->in->operands[1], 2);
    for (unsigned k = 0; k < CHANNELS; k++) {
        x.values[k] = low_temp(f, PTX_R32);
    }
    sample = low_source(f, texture_part(f, place, 0), PTX_W_s32);
    if (layered) {
        aux = EMU_TEX_INTEGER | EMU_GEOMETRY_A2D;
        texture_take(f, &x, place, 1, 1, PTX_W_u32);
    }
    texture_take(f, &x, place, 1 + layered, 2, PTX_W_s32);
    zero = low_constant(f, PTX_R32, 0);
    first = low_temp(f, PTX_PRED);
    low_emit(f, f->ops[EQUAL], first, sample, zero, 0);
    aux |= texture_type_flag(low_type_at(f, 0));
    texture_emit(f, f->ops[TEX], handle, &x, aux);
    for (unsigned k = 0; k < CHANNELS; k++) {
        low_emit(f, f->ops[SELECT], low_target(f, &d->items[k], PTX_R32), x.values[k],
                 zero, first);
    }
    texture_give_residency(f);
}

static void
texture_fetch(low_func *f)
{
    const tex_form form = texture_read_form(f);
    const ptx_operand *operands = f->in->operands;
    uint32_t aux = texture_flags(f, &form);
    extras x = {.count = 0};
    low_value handle;

    low_check_operand_count(f, form.operands, form.operands + 1);
    if (!texture_is_supported(&form)) {
        low_unsupported(f);
    }
    handle = texture_handle_of(f, &operands[1], 2);
    texture_take_results(f, &x, &operands[0], form.type == PTX_W_f16x2 ? 2 : 4);
    texture_take_place(f, &x, &operands[1].items[1], form.geometry, form.at);
    if (form.level) {
        texture_take(f, &x, &operands[2], 0, 1, PTX_W_f32);
    }
    else if (form.gradient) {
        texture_take(f, &x, &operands[2], 0, form.sides, PTX_W_f32);
        texture_take(f, &x, &operands[3], 0, form.sides, PTX_W_f32);
    }
    if (f->in->operand_count > form.operands &&
        texture_take_offsets(f, &x, &form, &operands[form.operands])) {
        aux |= EMU_TEX_OFFSETS;
    }
    texture_emit(f, EMU_OP_tex, handle, &x, aux);
    texture_give_residency(f);
}

/* tex, tld4 */
void
low_tex(low_func *f)
{
    if (low_has(f, PTX_W_t2dms) || low_has(f, PTX_W_a2dms)) {
        texture_fetch_sample(f);
    }
    else {
        texture_fetch(f);
    }
}

/* -- queries ----------------------------------------------------------------------- */

/* The queries of surfaces come first. */
static const uint16_t query_words[] = {
    PTX_W_width,         PTX_W_height,
    PTX_W_depth,         PTX_W_channel_data_type,
    PTX_W_channel_order, PTX_W_array_size,
    PTX_W_memory_layout, PTX_W_normalized_coords,
    PTX_W_num_samples,   PTX_W_num_mipmap_levels,
    PTX_W_filter_mode,   PTX_W_force_unnormalized_coords,
    PTX_W_addr_mode_0,   PTX_W_addr_mode_1,
    PTX_W_addr_mode_2};

enum {
    SURFACE_QUERIES = 7,
    TEXTURE_QUERIES = sizeof query_words / sizeof *query_words
};

/* Emits one of the first `count` queries. `level`: the third operand is a level. */
static low_insn *
texture_emit_query(low_func *f, unsigned count, bool level)
{
    const unsigned which = low_find(f, query_words, count);
    low_value d, handle, number;
    low_insn *insn;

    low_check_operand_count(f, 2u + level, 2u + level);
    if (which == count) {
        low_unsupported(f);
    }
    d = low_result(f, PTX_W_u32);
    handle = texture_handle_of(f, &f->in->operands[1], 1);
    if (level) {
        number = low_source_at(f, 2, PTX_W_u32);
    }
    else {
        number = low_constant(f, PTX_R32, 0);
    }
    insn = low_emit(f, EMU_OP_tex_query, d, handle, number, 0);
    insn->aux = query_words[which];
    return insn;
}

void
low_txq(low_func *f)
{
    (void)texture_emit_query(f, TEXTURE_QUERIES, low_has(f, PTX_W_level));
}

void
low_suq(low_func *f)
{
    texture_emit_query(f, SURFACE_QUERIES, false)->imm = true;
}

/* istypep: a GPU tests a bit of the handle of a variable in device memory. No handle of
 * an object has such a bit, here as there. */
void
low_istypep(low_func *f)
{
    static const uint16_t kinds[] = {PTX_W_texref, PTX_W_samplerref, PTX_W_surfref};
    const unsigned which = low_find(f, kinds, 2); /* else the last one */
    low_value d, handle, bit;

    low_check_operand_count(f, 2, 2);
    d = low_target(f, &f->in->operands[0], PTX_PRED);
    handle = low_source_at(f, 1, PTX_W_u64);
    bit = low_temp(f, PTX_R64);
    low_emit(f, f->ops[0], bit, handle,
             low_constant(f, PTX_R64, (uint64_t)1 << (61 + which)), 0);
    low_emit(f, f->ops[1], d, bit, low_constant(f, PTX_R64, 0), 0);
}

/* -- surfaces ---------------------------------------------------------------------- */

static uint32_t
texture_surface_mode(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_clamp, PTX_W_zero};
    static const uint8_t modes[] = {EMU_SURF_CLAMP, EMU_SURF_ZERO, EMU_SURF_TRAP};

    return (uint32_t)modes[low_find(f, words, 2)] << EMU_SURF_MODE_SHIFT;
}

static uint32_t
texture_surface_fields(const low_func *f, unsigned geometry, unsigned count,
                       unsigned type, ptx_class width)
{
    const unsigned bytes = ptx_type_size(type);

    if (width == PTX_R128 || ptx_class_bytes(width) < bytes) {
        low_fail(f, "a register is too narrow for an element of the surface");
    }
    if (low_has(f, PTX_W_p)) {
        geometry |= EMU_SURF_FORMATTED;
    }
    return geometry | texture_surface_mode(f) |
           (uint32_t)count << EMU_SURF_COUNT_SHIFT |
           (uint32_t)bytes << EMU_SURF_BYTES_SHIFT |
           (uint32_t)ptx_class_bytes(width) << EMU_SURF_WIDE_SHIFT;
}

/* Adds the values of a vector, which must have one width. Returns the width. */
static ptx_class
texture_take_values(low_func *f, extras *x, const ptx_operand *values, unsigned count,
                    unsigned type, bool written)
{
    ptx_class width = PTX_PRED, found;

    if (values->kind == PTX_O_VECTOR && values->count != count) {
        low_fail(f, "a vector has %u elements instead of %u", values->count, count);
    }
    for (unsigned k = 0; k < count; k++) {
        const ptx_operand *value = texture_part(f, values, k);

        found = width;
        if (width == PTX_PRED) {
            found = ptx_type_class(type); /* the first element */
        }
        if (written) {
            x->values[x->count++] = low_target_any(f, value, &found);
            x->written++;
        }
        else {
            x->values[x->count++] = low_source_any(f, value, type, &found);
        }
        if (width != PTX_PRED && found != width) {
            low_fail(f, "the elements of a vector differ in width");
        }
        width = found;
    }
    return width;
}

/* Whether the words say how elements are stored: .b, their bytes, or for a store .p,
 * numbers of 32 bits that become the format of the surface. */
static bool
texture_stores_elements(const low_func *f, bool load)
{
    if (low_has(f, PTX_W_p)) {
        return !load && low_type_at(f, 0) == PTX_W_b32;
    }
    return low_has(f, PTX_W_b);
}

/* The value and the place are operands 0 and 1 of a load, 1 and 0 of a store. */
static void
texture_load_or_store(low_func *f, bool load)
{
    const unsigned geometry = texture_geometry_of(f);
    const unsigned type = low_type_at(f, 0), count = low_vector_count(f);
    const ptx_operand *values = &f->in->operands[!load];
    const ptx_operand *place = &f->in->operands[load];
    const unsigned bytes = ptx_type_size(type);
    extras x = {.count = 0};
    low_value handle;
    ptx_class width;

    low_check_operand_count(f, 2, 2);
    if (!texture_stores_elements(f, load) || geometry >= EMU_GEOMETRY_CUBE ||
        count > 4 || bytes > 8 || bytes * count > 16) {
        low_unsupported(f);
    }
    handle = texture_handle_of(f, place, 2);
    width = texture_take_values(f, &x, values, count, type, load);
    texture_take_place(f, &x, &place->items[1], geometry, PTX_W_s32);
    texture_emit(f, f->ops[0], handle, &x,
                 texture_surface_fields(f, geometry, count, type, width));
}

void
low_suld(low_func *f)
{
    texture_load_or_store(f, true);
}

void
low_sust(low_func *f)
{
    texture_load_or_store(f, false);
}

/* EMU_ATOM_ constant of the reduction. */
static int
texture_reduction(const low_func *f, bool is_signed)
{
    static const uint16_t words[] = {PTX_W_and, PTX_W_or, PTX_W_min, PTX_W_max};
    static const uint8_t kinds[2][5] = {
        {EMU_ATOM_AND, EMU_ATOM_OR, EMU_ATOM_MIN_U, EMU_ATOM_MAX_U, EMU_ATOM_ADD},
        {EMU_ATOM_AND, EMU_ATOM_OR, EMU_ATOM_MIN_S, EMU_ATOM_MAX_S, EMU_ATOM_ADD}};

    return kinds[is_signed][low_find(f, words, 4)];
}

void
low_sured(low_func *f)
{
    const unsigned geometry = texture_geometry_of(f), type = low_type_at(f, 0);
    const ptx_operand *place = &f->in->operands[0];
    const unsigned bytes = ptx_type_size(type);
    extras x = {.count = 0};
    low_value handle;
    ptx_class width;

    low_check_operand_count(f, 2, 2);
    if (low_has(f, PTX_W_b) == low_has(f, PTX_W_p) || geometry > EMU_GEOMETRY_3D ||
        (bytes != 4 && bytes != 8)) {
        low_unsupported(f);
    }
    handle = texture_handle_of(f, place, 2);
    width = texture_take_values(f, &x, &f->in->operands[1], 1, type, false);
    texture_take_place(f, &x, &place->items[1], geometry, PTX_W_s32);
    texture_emit(f, EMU_OP_sured, handle, &x,
                 texture_surface_fields(f, geometry, 1, type, width))
        ->imm = texture_reduction(f, ptx_type_is_signed(type));
}
