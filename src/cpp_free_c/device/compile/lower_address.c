/* Addresses of variables and accesses to memory. See lower_address.h. */
#include "device/compile/lower_address.h"

#include "device/compile/encoding.h"

low_value
low_register_value(low_func *f, const ptx_operand *operand)
{
    static const uint16_t adds[PTX_CLASSES] = {0, EMU_OP_add_16, EMU_OP_add_32,
                                               EMU_OP_add_64};
    const ptx_class width = (ptx_class)f->registers[operand->reg].width;
    low_value sum;

    if (operand->bits == 0) {
        return LOW_REGISTER(operand->reg);
    }
    if (adds[width] == EMU_OP_NONE ||
        ptx_type_is_float(f->function->reg_type[operand->reg])) {
        low_fail(f, "a register that holds no integer has an offset");
    }
    sum = low_temp(f, width);
    low_emit(f, adds[width], sum, LOW_REGISTER(operand->reg),
             low_constant(f, width, operand->bits), 0);
    return sum;
}

/* The definition that a declaration refers to. */
static const ptx_var *
address_definition(const ptx_var *var)
{
    if (var->same != NULL) {
        return var->same;
    }
    return var;
}

static low_value
address_in_frame(low_func *f, uint64_t offset)
{
    low_value d = low_temp(f, PTX_R64);

    low_emit(f, EMU_OP_local_address, d, 0, 0, 0)->imm = (int64_t)offset;
    return d;
}

low_value
low_address_of(low_func *f, const ptx_operand *operand, ptx_class width)
{
    const ptx_var *var = address_definition(operand->var);
    low_value value, narrow;
    uint64_t offset = var->address + operand->bits;

    if (width != PTX_R64 && width != PTX_R32) {
        low_fail(f, "the address of %s needs a 32- or 64-bit register",
                 var->name->text);
    }
    switch (var->space) {
        case PTX_SPACE_GLOBAL:
        case PTX_SPACE_CONST:
            return low_constant(f, width, offset);
        case PTX_SPACE_SHARED:
            if (!var->unsized) {
                return low_constant(f, width, offset);
            }
            if (f->function->is_entry) {
                return low_constant(f, width, f->dynamic_shared + operand->bits);
            }
            value = low_temp(f, PTX_R64);
            low_emit(f, EMU_OP_shared_dynamic, value, 0, 0, 0)->imm =
                (int64_t)operand->bits;
            break;
        case PTX_SPACE_PARAM:
            if (var->is_param && f->function->is_entry) {
                return low_constant(f, width, offset);
            }
            if (!var->is_param) {
                offset += f->call_base;
            }
            value = address_in_frame(f, offset);
            break;
        default:
            value = address_in_frame(f, offset);
            break;
    }
    if (width == PTX_R64) {
        return value;
    }
    narrow = low_temp(f, PTX_R32);
    low_emit(f, EMU_OP_cvt_32from64_u32, narrow, value, 0, 0);
    return narrow;
}

/* The bytes between the start of an array and an element whose index is in a register.
 * The sum has 32 bits. */
static low_value
address_element_offset(low_func *f, const ptx_operand *index, unsigned element)
{
    low_value value = low_register_value(f, index), offset;
    const ptx_class width = (ptx_class)f->registers[index->reg].width;

    if (width == PTX_PRED || width == PTX_R128) {
        low_fail(f, "the index of an array is no integer");
    }
    if (width != PTX_R32) {
        low_value low = low_temp(f, PTX_R32);

        low_convert(f, low, PTX_R32, value, width,
                    width == PTX_R16 ? PTX_W_u16 : PTX_W_u32);
        value = low;
    }
    offset = low_temp(f, PTX_R32);
    low_emit(f, EMU_OP_mul_32, offset, value, low_constant(f, PTX_R32, element), 0);
    return offset;
}

/* The array with the offset of an element whose index is a number. */
static ptx_operand
address_constant_element(const ptx_operand *array, const ptx_operand *index)
{
    ptx_operand place = *array;

    place.bits = (uint32_t)(index->bits * array->var->element);
    return place;
}

low_value
low_element_address(low_func *f, const ptx_operand *operand, ptx_class width)
{
    const ptx_operand *array = &operand->items[0], *index = &operand->items[1];
    const unsigned element = array->var->element;
    low_value base, offset, wide, sum;

    if (index->kind == PTX_O_INT) {
        const ptx_operand place = address_constant_element(array, index);

        return low_address_of(f, &place, width);
    }
    base = low_address_of(f, array, width);
    offset = address_element_offset(f, index, element);
    sum = low_temp(f, width);
    if (width == PTX_R32) {
        low_emit(f, EMU_OP_add_32, sum, base, offset, 0);
        return sum;
    }
    wide = low_temp(f, PTX_R64);
    low_emit(f, EMU_OP_cvt_64from32_u32, wide, offset, 0, 0);
    low_emit(f, EMU_OP_add_64, sum, base, wide, 0);
    return sum;
}

/* The state space among the words of the instruction: an EMU_AT_ constant. */
static unsigned
address_space(const low_func *f)
{
    if (low_has(f, PTX_W_global) || low_has(f, PTX_W_const)) {
        return EMU_AT_GLOBAL;
    }
    if (low_has_shared(f)) {
        return EMU_AT_SHARED;
    }
    if (low_has(f, PTX_W_local)) {
        return EMU_AT_LOCAL;
    }
    if (low_has(f, PTX_W_param) || low_has(f, PTX_W_param_entry) ||
        low_has(f, PTX_W_param_func)) {
        if (f->function->is_entry) {
            return EMU_AT_PARAM;
        }
        return EMU_AT_LOCAL; /* where a function has its parameters */
    }
    return EMU_AT_GENERIC;
}

static low_place
address_of_variable(low_func *f, const ptx_operand *operand)
{
    const ptx_var *var = address_definition(operand->var);
    low_place p = {0, 0, (int64_t)(var->address + operand->bits)};

    switch (var->space) {
        case PTX_SPACE_GLOBAL:
        case PTX_SPACE_CONST:
            p.aux = EMU_AT_GLOBAL;
            break;
        case PTX_SPACE_SHARED:
            p.aux = EMU_AT_SHARED;
            if (var->unsized) {
                p.base = low_address_of(f, operand, PTX_R64);
                p.aux |= EMU_AT_BASE64;
                p.offset = 0;
            }
            break;
        case PTX_SPACE_PARAM:
            if (var->is_param && f->function->is_entry) {
                p.aux = EMU_AT_PARAM;
            }
            else {
                p.aux = EMU_AT_FRAME;
                if (!var->is_param) {
                    p.offset += (int64_t)f->call_base;
                }
            }
            break;
        default:
            p.aux = EMU_AT_FRAME;
            break;
    }
    return p;
}

/* The place of an element of an array: that of the array, or a computed address. */
static low_place
address_of_element(low_func *f, const ptx_operand *operand)
{
    const ptx_operand *array = &operand->items[0], *index = &operand->items[1];
    ptx_operand place = *array;
    low_place p;

    if (index->kind == PTX_O_INT) {
        place = address_constant_element(array, index);
        return address_of_variable(f, &place);
    }
    p = address_of_variable(f, array);
    p.base = low_element_address(f, operand, PTX_R64);
    p.offset = 0;
    if ((p.aux & EMU_AT_MASK) == EMU_AT_FRAME) {
        p.aux = EMU_AT_LOCAL;
    }
    p.aux |= EMU_AT_BASE64;
    return p;
}

low_place
low_address(low_func *f, const ptx_operand *operand)
{
    const ptx_operand *item;
    low_place p = {0, 0, 0};

    if (operand->kind == PTX_O_ELEMENT) {
        return address_of_element(f, operand);
    }
    if (operand->kind != PTX_O_ADDRESS || operand->count != 1) {
        low_fail(f, "an operand is not an address");
    }
    item = &operand->items[0];
    switch (item->kind) {
        case PTX_O_REG:
            p.base = LOW_REGISTER(item->reg);
            p.offset = (int64_t)item->bits;
            p.aux = address_space(f);
            if (f->registers[item->reg].width == PTX_R64) {
                p.aux |= EMU_AT_BASE64;
            }
            else if (f->registers[item->reg].width == PTX_R32) {
                p.aux |= EMU_AT_BASE32;
            }
            else {
                low_fail(f, "an address is neither 32 nor 64 bits wide");
            }
            break;
        case PTX_O_INT:
            p.offset = (int64_t)item->bits;
            p.aux = address_space(f);
            break;
        case PTX_O_VAR:
            p = address_of_variable(f, item);
            break;
        case PTX_O_NAME:
            low_fail(f, "'%.100s' is not declared", item->name->text);
        default:
            low_fail(f, "an address is of the wrong kind");
    }
    return p;
}

low_insn *
low_access(low_func *f, unsigned op, low_value d, low_place p, low_value b)
{
    low_insn *insn = low_emit(f, op, d, p.base, b, 0);

    insn->aux = p.aux;
    insn->imm = p.offset;
    return insn;
}

low_place
low_place_in(low_place p, uint32_t space)
{
    if (p.aux & (EMU_AT_BASE64 | EMU_AT_BASE32)) {
        p.aux = (p.aux & ~(uint32_t)EMU_AT_MASK) | space;
    }
    return p;
}

low_value
low_generic_address(low_func *f, low_place p)
{
    const uint32_t space = p.aux & EMU_AT_MASK;
    uint64_t offset = (uint64_t)p.offset;
    low_value value = p.base, wide;
    low_insn *insn;

    if (space == EMU_AT_LOCAL || space == EMU_AT_FRAME) {
        low_fail(f, "an address is in local memory");
    }
    if (space == EMU_AT_SHARED) {
        offset += EMU_SHARED_WINDOW;
    }
    if (p.aux & EMU_AT_BASE32) {
        wide = low_temp(f, PTX_R64);
        low_emit(f, EMU_OP_cvt_64from32_u32, wide, value, 0, 0);
        value = wide;
    }
    if (value == 0) {
        value = low_constant(f, PTX_R64, offset);
    }
    else if (offset != 0) {
        wide = low_temp(f, PTX_R64);
        low_emit(f, EMU_OP_add_64, wide, value, low_constant(f, PTX_R64, offset), 0);
        value = wide;
    }
    if (space == EMU_AT_PARAM) {
        wide = low_temp(f, PTX_R64);
        insn = low_emit(f, EMU_OP_from_window, wide, value, 0, 0);
        insn->aux = EMU_AT_PARAM;
        value = wide;
    }
    return value;
}

bool
low_is_global_or_const(const low_func *f)
{
    return address_space(f) == EMU_AT_GLOBAL;
}
