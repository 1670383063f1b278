/* Operands of instructions: values to read, registers to write, their types. See
 * lower_operand.h. */
#include "device/compile/lower_operand.h"

#include <string.h>

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

void
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
