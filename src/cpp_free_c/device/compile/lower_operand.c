/* Operands of instructions: values to read, registers to write, their types; addresses
 * of variables, and accesses to memory. See lower.h. */
#include "device/compile/lower.h"

#include <string.h>

#include "device/compile/encoding.h"

/* -- addresses --------------------------------------------------------------------- */

/* A register, or the sum of a register and a number. */
static low_value
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

/* The address of a variable in its state space. */
static low_value
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

/* The address of an element of an array, in the array's state space. As on a GPU, the
 * product of index and size has 32 bits without a sign. */
static low_value
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
    low_place p = {.offset = (int64_t)(var->address + operand->bits)};

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
    low_place p = {0};

    if (operand->kind == PTX_O_ELEMENT) {
        p = address_of_element(f, operand);
        p.bound = low_bound_of(f, operand);
        return p;
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
    p.bound = low_bound_of(f, item);
    return p;
}

low_insn *
low_access(low_func *f, unsigned op, low_value d, low_place p, low_value b)
{
    low_insn *insn = low_emit(f, op, d, p.base, b, 0);

    insn->aux = p.aux;
    insn->imm = p.offset;
    insn->bound = p.bound;
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

/* -- operands ---------------------------------------------------------------------- */

/* -- sources and targets ----------------------------------------------------------- */

static uint64_t
operand_number_bits(const low_func *f, const ptx_operand *operand, unsigned type)
{
    float single;
    double number;
    uint64_t bits = 0;

    switch (operand->kind) {
        case PTX_O_INT:
            if (type != PTX_W_f32 && type != PTX_W_f64) {
                return operand->bits;
            }
            number = (double)(int64_t)operand->bits;
            break;
        case PTX_O_F32:
            if (type != PTX_W_f64) {
                return operand->bits;
            }
            memcpy(&single, &operand->bits, sizeof single);
            number = single;
            break;
        case PTX_O_F64:
            if (type != PTX_W_f32) {
                return operand->bits;
            }
            memcpy(&number, &operand->bits, sizeof number);
            break;
        default:
            low_fail(f, "an operand is not a number");
    }
    if (type == PTX_W_f32) {
        single = (float)number;
        memcpy(&bits, &single, sizeof single);
    }
    else {
        memcpy(&bits, &number, sizeof number);
    }
    return bits;
}

low_value
low_lane(low_func *f)
{
    low_value lane = low_temp(f, PTX_R32);
    low_insn *insn = low_emit(f, EMU_OP_lane_special, lane, 0, 0, 0);

    insn->aux = PTX_S_laneid;
    insn->e = LOW_NUMBER(4);
    return lane;
}

uint64_t
low_number(const low_func *f, const ptx_operand *operand)
{
    if (operand->kind != PTX_O_INT) {
        low_fail(f, "an operand must be a number");
    }
    return operand->bits;
}

/* The only special register that is a predicate. */
static low_value
operand_explicit_cluster(low_func *f, ptx_class width)
{
    low_value d, number;
    low_insn *insn;

    if (width != PTX_PRED) {
        low_fail(f, "%%is_explicit_cluster is a predicate");
    }
    number = low_temp(f, PTX_R32);
    insn = low_emit(f, EMU_OP_special, number, 0, 0, 0);
    insn->aux = PTX_S_is_explicit_cluster;
    insn->e = LOW_NUMBER(4);
    d = low_temp(f, PTX_PRED);
    low_emit(f, EMU_OP_ne_32, d, number, low_constant(f, PTX_R32, 0), 0);
    return d;
}

static low_value
operand_special_source(low_func *f, const ptx_operand *operand, ptx_class width)
{
    const unsigned bytes = ptx_class_bytes(width);
    const bool by_lane =
        operand->word == PTX_S_tid || operand->word == PTX_S_laneid ||
        (operand->word >= PTX_S_lanemask_eq && operand->word <= PTX_S_lanemask_gt);
    unsigned op = EMU_OP_special;
    low_value d;
    low_insn *insn;

    if (operand->word == PTX_S_is_explicit_cluster) {
        return operand_explicit_cluster(f, width);
    }
    if (width == PTX_PRED || width == PTX_R128) {
        low_fail(f, "a special register has no such width");
    }
    if (by_lane) {
        op = EMU_OP_lane_special;
    }
    d = low_temp(f, width);
    insn = low_emit(f, op, d, 0, 0, 0);
    insn->aux = operand->word;
    insn->imm = (int64_t)operand->bits;
    insn->e = LOW_NUMBER(bytes);
    return d;
}

low_value
low_source_any(low_func *f, const ptx_operand *operand, unsigned type, ptx_class *width)
{
    const ptx_class natural = ptx_type_class(type);
    const ptx_function *function;

    *width = natural;
    switch (operand->kind) {
        case PTX_O_REG:
            *width = (ptx_class)f->registers[operand->reg].width;
            return low_register_value(f, operand);
        case PTX_O_SPECIAL:
            return operand_special_source(f, operand, natural);
        case PTX_O_INT:
        case PTX_O_F32:
        case PTX_O_F64:
            return low_constant(f, natural, operand_number_bits(f, operand, type));
        case PTX_O_VAR:
            return low_address_of(f, operand, natural);
        case PTX_O_ELEMENT:
            return low_element_address(f, operand, natural);
        case PTX_O_FUNCTION:
            function = operand->function;
            if (function->same != NULL) {
                function = function->same;
            }
            if (function->code == NULL || natural != PTX_R64) {
                low_fail(f, "the address of %s cannot be taken",
                         operand->function->name->text);
            }
            return low_constant(f, natural, EMU_FUNC_ADDRESS(function->code->number));
        case PTX_O_NAME:
            low_fail(f, "'%.100s' is not declared", operand->name->text);
        default:
            low_fail(f, "an operand is of the wrong kind");
    }
}

low_value
low_source(low_func *f, const ptx_operand *operand, unsigned type)
{
    ptx_class width;
    low_value value = low_source_any(f, operand, type, &width);

    if (width != ptx_type_class(type)) {
        low_fail(f, "a source register has the wrong width");
    }
    if (operand->negated) {
        low_value d;

        if (width != PTX_PRED) {
            low_fail(f, "'!' before an operand that is not a predicate");
        }
        d = low_temp(f, PTX_PRED);
        low_emit(f, EMU_OP_not_p, d, value, value, 0);
        return d;
    }
    return value;
}

low_value
low_source_at(low_func *f, unsigned index, unsigned type)
{
    return low_source(f, &f->in->operands[index], type);
}

low_value
low_predicate(low_func *f, const ptx_operand *operand)
{
    return low_source(f, operand, PTX_W_pred);
}

low_value
low_target_any(low_func *f, const ptx_operand *operand, ptx_class *width)
{
    if (operand->kind == PTX_O_SINK) {
        return low_temp(f, *width);
    }
    if (operand->kind != PTX_O_REG || operand->negated || operand->bits != 0) {
        low_fail(f, "the destination is not a register");
    }
    *width = (ptx_class)f->registers[operand->reg].width;
    return LOW_REGISTER(operand->reg);
}

low_value
low_target(low_func *f, const ptx_operand *operand, ptx_class width)
{
    ptx_class found = width;
    low_value value = low_target_any(f, operand, &found);

    if (found != width) {
        low_fail(f, "the destination register has the wrong width");
    }
    return value;
}

low_value
low_result(low_func *f, unsigned type)
{
    return low_target(f, &f->in->operands[0], ptx_type_class(type));
}

/* -- which registers fit the type of an instruction -------------------------------- */

unsigned
low_vector_count(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_v2, PTX_W_v4, PTX_W_v8};
    static const uint8_t counts[] = {2, 4, 8, 1};

    return counts[low_find(f, words, 3)];
}

unsigned
low_element_bytes(const low_func *f, const ptx_operand *vector)
{
    unsigned bytes = 0;

    for (uint32_t i = 0; vector->kind == PTX_O_VECTOR && i < vector->count; i++) {
        const ptx_operand *item = &vector->items[i];

        if (item->kind == PTX_O_REG) {
            const unsigned type = f->function->reg_type[item->reg];
            const unsigned own = ptx_type_size(type);

            if (type == PTX_W_pred || own == 0 || (bytes != 0 && own != bytes)) {
                low_fail(f, "the elements of a vector differ in width");
            }
            bytes = own;
        }
    }
    return bytes;
}

/* Whether an instruction of this type refuses the register. An integer type refuses
 * registers of floating-point numbers. A floating-point type refuses pairs of halves,
 * and registers of another size unless they have a .b type. */
static bool
operand_is_foreign(const low_func *f, const ptx_operand *operand, unsigned type)
{
    unsigned own;

    if (operand->kind != PTX_O_REG) {
        return false;
    }
    own = f->function->reg_type[operand->reg];
    if (own == PTX_W_f16x2 || own == PTX_W_bf16x2) {
        return ptx_type_is_float(type) && own != type;
    }
    if (ptx_type_is_float(type)) {
        return ptx_type_size(own) != ptx_type_size(type) &&
               (ptx_type_is_float(own) || ptx_type_is_signed(own) ||
                ptx_type_is_unsigned(own));
    }
    return ptx_type_is_float(own) &&
           (ptx_type_is_signed(type) || ptx_type_is_unsigned(type));
}

/* Fails if the register, or all registers of the vector, hold floats and the type is an
 * integer. */
static void
low_check_kind(const low_func *f, const ptx_operand *operand, unsigned type)
{
    bool all = operand->count > 0;

    if (operand->kind == PTX_O_VECTOR) {
        for (uint32_t i = 0; i < operand->count; i++) {
            all &= operand_is_foreign(f, &operand->items[i], type) ||
                   operand->items[i].kind == PTX_O_SINK;
        }
    }
    else {
        all = operand_is_foreign(f, operand, type);
    }
    if (all) {
        low_fail(f, "a register of floats where the instruction has another type");
    }
}

void
low_check_access(const low_func *f, const ptx_operand *operand, unsigned type)
{
    unsigned bytes = 0;

    if (type == PTX_W_pred ||
        (ptx_type_is_float(type) && type != PTX_W_f32 && type != PTX_W_f64)) {
        low_unsupported(f); /* halves are moved as .b16 and .b32 */
    }
    if (operand->kind == PTX_O_REG) {
        bytes = ptx_type_size(f->function->reg_type[operand->reg]);
    }
    else if (operand->kind == PTX_O_VECTOR) {
        bytes = low_element_bytes(f, operand);
    }
    if (bytes != 0 && bytes < ptx_type_size(type)) {
        low_fail(f, "a register is too narrow for what is %s",
                 f->in->opcode == PTX_OP_st ? "stored" : "loaded");
    }
    low_check_kind(f, operand, type);
}

void
low_check_type(const low_func *f, const ptx_operand *operand, unsigned type)
{
    unsigned own = PTX_W_NONE, bytes = 0;

    if (operand->kind == PTX_O_REG) {
        own = f->function->reg_type[operand->reg];
        bytes = ptx_type_size(own);
    }
    else if (operand->kind == PTX_O_VECTOR) {
        bytes = low_element_bytes(f, operand);
    }
    if (bytes != 0 &&
        ((own == PTX_W_pred) != (type == PTX_W_pred) || bytes != ptx_type_size(type))) {
        low_fail(f, "a register has another size than the instruction's type");
    }
    low_check_kind(f, operand, type);
}
