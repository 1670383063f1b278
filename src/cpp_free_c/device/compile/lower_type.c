/* Which registers go with the type of an instruction. See lower.h. */
#include "device/compile/lower.h"

unsigned
low_vector_count(const low_func *f)
{
    return low_has(f, PTX_W_v2)   ? 2
           : low_has(f, PTX_W_v4) ? 4
           : low_has(f, PTX_W_v8) ? 8
                                  : 1;
}

unsigned
low_element_bytes(const low_func *f, const ptx_operand *vector)
{
    unsigned bytes = 0;
    uint32_t i;

    for (i = 0; vector->kind == PTX_O_VECTOR && i < vector->count; i++) {
        const ptx_operand *item = &vector->items[i];

        if (item->kind == PTX_O_REG) {
            const unsigned type = f->function->reg_type[item->reg];
            const unsigned own = type == PTX_W_pred ? 0 : ptx_type_size(type);

            if (!own || (bytes && own != bytes)) {
                low_fail(f, "the elements of a vector differ in width");
            }
            bytes = own;
        }
    }
    return bytes;
}

/* A register that instructions of this type do not take: a float's by those of
 * integers; a pair of halves, or what has a kind and another size, by those of floats.
 */
static bool
is_foreign(const low_func *f, const ptx_operand *operand, unsigned type)
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
    uint32_t i;

    if (operand->kind == PTX_O_VECTOR) {
        for (i = 0; i < operand->count; i++) {
            all &= is_foreign(f, &operand->items[i], type) ||
                   operand->items[i].kind == PTX_O_SINK;
        }
    }
    else {
        all = is_foreign(f, operand, type);
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
    if (bytes && bytes < ptx_type_size(type)) {
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
    if (bytes &&
        ((own == PTX_W_pred) != (type == PTX_W_pred) || bytes != ptx_type_size(type))) {
        low_fail(f, "a register has another size than the instruction's type");
    }
    low_check_kind(f, operand, type);
}
