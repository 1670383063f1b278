/* Lowering of texture and surface instructions. See lower.h, ops_tex.h.
 *
 * Textures and surfaces are 64-bit handles in registers, or in variables of type
 * .texref and .surfref. Samplers apart from textures, depth comparisons and
 * multisampled textures are refused by name. */
#include "device/compile/encoding.h"
#include "device/compile/lower.h"
#include "device/memory/sampling.h"

static unsigned
geometry_of(const low_func *f)
{
    static const struct {
        uint16_t word, geometry;
    } known[] = {{PTX_W_t1d, EMU_GEOMETRY_1D},     {PTX_W_t2d, EMU_GEOMETRY_2D},
                 {PTX_W_t3d, EMU_GEOMETRY_3D},     {PTX_W_a1d, EMU_GEOMETRY_A1D},
                 {PTX_W_a2d, EMU_GEOMETRY_A2D},    {PTX_W_cube, EMU_GEOMETRY_CUBE},
                 {PTX_W_acube, EMU_GEOMETRY_ACUBE}};
    unsigned i;

    for (i = 0; i < sizeof known / sizeof *known; i++) {
        if (low_has(f, known[i].word)) {
            return known[i].geometry;
        }
    }
    low_unsupported(f);
}

/* What a variable of type .texref or .surfref holds. */
static low_value
handle_in_variable(low_func *f, const ptx_operand *operand)
{
    const ptx_var *var = operand->items->var;
    const ptx_operand address = {
        .kind = PTX_O_ADDRESS, .count = 1, .items = operand->items};
    low_value handle;

    if (var->type != PTX_W_texref && var->type != PTX_W_surfref) {
        low_fail(f, "'%.100s' is no variable of type .texref or .surfref",
                 var->name->text);
    }
    handle = low_temp(f, PTX_R64);
    low_access(f, EMU_OP_ld_u64_64, handle, low_address(f, &address), 0);
    return handle;
}

static low_value
handle_of(low_func *f, const ptx_operand *operand, unsigned parts)
{
    const ptx_operand *item = operand->items;

    if (operand->kind != PTX_O_ADDRESS) {
        low_fail(f, "an operand is no [texture] or [surface]");
    }
    if (operand->count != parts) {
        low_fail(f, operand->count == parts + 1
                        ? "samplers apart from textures are not supported"
                        : "an operand is no [texture, {coordinates}]");
    }
    if (item->kind == PTX_O_VAR) {
        return handle_in_variable(f, operand);
    }
    if (item->kind != PTX_O_REG) {
        low_fail(f, "an operand is neither a handle in a register nor a reference");
    }
    return low_source(f, item, PTX_W_u64);
}

/* The n-th element of a vector; a scalar is a vector of one. */
static const ptx_operand *
part(const low_func *f, const ptx_operand *operand, unsigned n)
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

typedef struct {
    low_value values[32];
    unsigned count, written;
} extras;

static void
take_result(low_func *f, extras *x, const ptx_operand *operand, ptx_class width)
{
    x->values[x->count++] = low_target(f, operand, width);
    x->written++;
}

static void
take(low_func *f, extras *x, const ptx_operand *operand, unsigned first, unsigned count,
     unsigned type)
{
    unsigned k;

    for (k = first; k < first + count; k++) {
        x->values[x->count++] = low_source(f, part(f, operand, k), type);
    }
}

/* The layer, if there is one, and the coordinates. */
static void
take_place(low_func *f, extras *x, const ptx_operand *operand, unsigned geometry,
           unsigned type)
{
    const bool layered = emu_geometry_layered(geometry);

    if (layered) {
        take(f, x, operand, 0, 1, PTX_W_u32);
    }
    take(f, x, operand, layered, emu_geometry_sides(geometry), type);
}

/* Emitted after all operands have been looked at: those may emit too. */
static low_insn *
emit(low_func *f, unsigned op, low_value handle, const extras *x, uint32_t aux)
{
    low_insn *insn = low_emit(f, op, 0, handle, 0, 0);
    unsigned k;

    insn->aux = aux;
    for (k = 0; k < x->count; k++) {
        low_add_x(f, insn, x->values[k], k < x->written);
    }
    return insn;
}

/* -- textures -------------------------------------------------------------- */

/* Four 32-bit registers, two of packed halves, or one for the first channel alone. */
static void
take_results(low_func *f, extras *x, const ptx_operand *d, unsigned count)
{
    unsigned k;

    if (d->kind != PTX_O_VECTOR) {
        take_result(f, x, d, PTX_R32);
    }
    else if (d->count != count) {
        low_fail(f, "the destination is no vector of %u elements", count);
    }
    for (k = x->count; k < count; k++) {
        if (d->kind == PTX_O_VECTOR) {
            take_result(f, x, &d->items[k], PTX_R32);
        }
        else {
            x->values[x->count++] = low_temp(f, PTX_R32);
            x->written++;
        }
    }
}

/* d|p: p says whether the texels are in memory, and here they always are. */
static void
give_residency(low_func *f)
{
    low_value p, yes;

    if (!f->in->second) {
        return;
    }
    p = low_target(f, f->in->second, PTX_PRED);
    yes = low_constant(f, PTX_PRED, 1);
    low_emit(f, EMU_OP_mov_p, p, yes, yes, 0);
}

static uint32_t
gather_channel(const low_func *f)
{
    return low_has(f, PTX_W_r)   ? 0u
           : low_has(f, PTX_W_g) ? 1u
           : low_has(f, PTX_W_b) ? 2u
                                 : 3u;
}

static void
lower_tex(low_func *f)
{
    const unsigned geometry = geometry_of(f), sides = emu_geometry_sides(geometry);
    const unsigned type = low_type(f, 0), at = low_type(f, 1);
    const bool halves = type == PTX_W_f16x2, gather = f->in->opcode == PTX_OP_tld4;
    const bool level = low_has(f, PTX_W_level), gradient = low_has(f, PTX_W_grad);
    const unsigned least = 2 + (level ? 1 : gradient ? 2 : 0);
    const ptx_operand *operands = f->in->operands;
    extras x = {.count = 0};
    low_value handle;
    uint32_t aux = geometry;

    low_operands(f, least, least + 1);
    if ((type != PTX_W_f32 && type != PTX_W_s32 && type != PTX_W_u32 && !halves) ||
        (at != PTX_W_f32 && at != PTX_W_s32)) {
        low_unsupported(f);
    }
    if (at == PTX_W_s32 &&
        (level || gradient || gather || geometry >= EMU_GEOMETRY_CUBE)) {
        low_unsupported(f);
    }
    if (gather && sides != 2 && geometry < EMU_GEOMETRY_CUBE) {
        low_unsupported(f);
    }
    handle = handle_of(f, &operands[1], 2);
    take_results(f, &x, &operands[0], halves ? 2 : 4);
    take_place(f, &x, &operands[1].items[1], geometry, at);
    if (level) {
        take(f, &x, &operands[2], 0, 1, PTX_W_f32);
    }
    else if (gradient) {
        take(f, &x, &operands[2], 0, sides, PTX_W_f32);
        take(f, &x, &operands[3], 0, sides, PTX_W_f32);
    }
    if (f->in->operand_count > least) {
        if (geometry >= EMU_GEOMETRY_CUBE || operands[least].kind != PTX_O_VECTOR) {
            low_fail(f, "depth comparison is not supported");
        }
        take(f, &x, &operands[least], 0, sides, PTX_W_s32);
        aux |= EMU_TEX_OFFSETS;
    }
    aux |= (at == PTX_W_s32 ? EMU_TEX_INTEGER : 0u) | (level ? EMU_TEX_LEVEL : 0u) |
           (gradient ? EMU_TEX_GRADIENT : 0u) | (halves ? EMU_TEX_HALVES : 0u);
    if (gather) {
        aux |= EMU_TEX_GATHER | gather_channel(f) << EMU_TEX_CHANNEL_SHIFT;
    }
    emit(f, EMU_OP_tex, handle, &x, aux);
    give_residency(f);
}

/* -- queries --------------------------------------------------------------- */

static void
lower_query(low_func *f, bool surface)
{
    static const uint16_t known[] = {
        PTX_W_width,         PTX_W_height,
        PTX_W_depth,         PTX_W_channel_data_type,
        PTX_W_channel_order, PTX_W_array_size,
        PTX_W_memory_layout, PTX_W_normalized_coords,
        PTX_W_num_samples,   PTX_W_num_mipmap_levels,
        PTX_W_filter_mode,   PTX_W_force_unnormalized_coords,
        PTX_W_addr_mode_0,   PTX_W_addr_mode_1,
        PTX_W_addr_mode_2};
    const unsigned common = 7;
    const unsigned count = surface ? common : sizeof known / sizeof *known;
    const bool level = !surface && low_has(f, PTX_W_level);
    low_value d, handle, number;
    low_insn *insn;
    unsigned i;

    low_operands(f, level ? 3 : 2, level ? 3 : 2);
    for (i = 0; i < count && !low_has(f, known[i]); i++) {
    }
    if (i == count || ptx_type_class(low_type(f, 0)) != PTX_R32) {
        low_unsupported(f);
    }
    d = low_target(f, &f->in->operands[0], PTX_R32);
    handle = handle_of(f, &f->in->operands[1], 1);
    number = level ? low_source(f, &f->in->operands[2], PTX_W_u32)
                   : low_constant(f, PTX_R32, 0);
    insn = low_emit(f, EMU_OP_tex_query, d, handle, number, 0);
    insn->aux = known[i];
    insn->imm = surface;
}

/* -- surfaces -------------------------------------------------------------- */

static const uint8_t register_bytes[PTX_CLASSES] = {0, 2, 4, 8, 0};

static uint32_t
surface_mode(const low_func *f)
{
    const uint32_t mode = low_has(f, PTX_W_clamp)  ? EMU_SURF_CLAMP
                          : low_has(f, PTX_W_zero) ? EMU_SURF_ZERO
                                                   : EMU_SURF_TRAP;

    return mode << EMU_SURF_MODE_SHIFT;
}

static uint32_t
surface_aux(const low_func *f, unsigned geometry, unsigned count, unsigned type,
            ptx_class width)
{
    const unsigned bytes = ptx_type_size(type);

    if (register_bytes[width] < bytes) {
        low_fail(f, "a register is too narrow for an element of the surface");
    }
    return geometry | surface_mode(f) | (uint32_t)count << EMU_SURF_COUNT_SHIFT |
           (uint32_t)bytes << EMU_SURF_BYTES_SHIFT |
           (uint32_t)register_bytes[width] << EMU_SURF_WIDE_SHIFT;
}

/* Values of a vector that are all of one width. */
static ptx_class
take_values(low_func *f, extras *x, const ptx_operand *values, unsigned count,
            unsigned type, bool written)
{
    ptx_class width = PTX_PRED, found;
    unsigned k;

    if (values->kind == PTX_O_VECTOR && values->count != count) {
        low_fail(f, "a vector has %u elements instead of %u", values->count, count);
    }
    for (k = 0; k < count; k++) {
        const ptx_operand *value = part(f, values, k);

        found = width == PTX_PRED ? ptx_type_class(type) : width;
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

static void
lower_surface(low_func *f, bool load)
{
    const unsigned geometry = geometry_of(f);
    const unsigned type = low_type(f, 0);
    const unsigned count = low_has(f, PTX_W_v2) ? 2 : low_has(f, PTX_W_v4) ? 4 : 1;
    const ptx_operand *values = &f->in->operands[load ? 0 : 1];
    const ptx_operand *place = &f->in->operands[load ? 1 : 0];
    const unsigned bytes = ptx_type_size(type);
    extras x = {.count = 0};
    low_value handle;
    ptx_class width;

    low_operands(f, 2, 2);
    if (!low_has(f, PTX_W_b) || geometry >= EMU_GEOMETRY_CUBE || bytes == 0 ||
        bytes > 8 || bytes * count > 16) {
        low_unsupported(f);
    }
    handle = handle_of(f, place, 2);
    width = take_values(f, &x, values, count, type, load);
    take_place(f, &x, &place->items[1], geometry, PTX_W_s32);
    emit(f, load ? EMU_OP_suld : EMU_OP_sust, handle, &x,
         surface_aux(f, geometry, count, type, width));
}

static void
lower_sured(low_func *f)
{
    const unsigned geometry = geometry_of(f), type = low_type(f, 0);
    const bool is_signed = ptx_type_is_signed(type);
    const ptx_operand *place = &f->in->operands[0];
    const unsigned bytes = ptx_type_size(type);
    extras x = {.count = 0};
    low_value handle;
    ptx_class width;

    low_operands(f, 2, 2);
    if (!low_has(f, PTX_W_b) || geometry > EMU_GEOMETRY_3D ||
        (bytes != 4 && bytes != 8) || ptx_type_is_float(type)) {
        low_unsupported(f);
    }
    handle = handle_of(f, place, 2);
    width = take_values(f, &x, &f->in->operands[1], 1, type, false);
    take_place(f, &x, &place->items[1], geometry, PTX_W_s32);
    emit(f, EMU_OP_sured, handle, &x, surface_aux(f, geometry, 1, type, width))->imm =
        low_has(f, PTX_W_and)   ? EMU_ATOM_AND
        : low_has(f, PTX_W_or)  ? EMU_ATOM_OR
        : low_has(f, PTX_W_min) ? (is_signed ? EMU_ATOM_MIN_S : EMU_ATOM_MIN_U)
        : low_has(f, PTX_W_max) ? (is_signed ? EMU_ATOM_MAX_S : EMU_ATOM_MAX_U)
                                : EMU_ATOM_ADD;
}

bool
low_textures(low_func *f)
{
    switch (f->in->opcode) {
        case PTX_OP_tex:
        case PTX_OP_tld4:
            lower_tex(f);
            return true;
        case PTX_OP_txq:
            lower_query(f, false);
            return true;
        case PTX_OP_suq:
            lower_query(f, true);
            return true;
        case PTX_OP_suld:
            lower_surface(f, true);
            return true;
        case PTX_OP_sust:
            lower_surface(f, false);
            return true;
        case PTX_OP_sured:
            lower_sured(f);
            return true;
        default:
            return false;
    }
}
