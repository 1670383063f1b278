/* Walks over operands and calls. See call_graph.h. */
#include "device/compile/call_graph.h"

void
emu_operands_walk(ptx_function *function, emu_operand_visit visit, void *data)
{
    for (size_t i = 0; i < function->insn_count; i++) {
        const ptx_insn *insn = &function->insns[i];

        for (unsigned k = 0; k < insn->operand_count; k++) {
            ptx_operand *operand = &insn->operands[k];

            visit(data, operand);
            for (uint32_t m = 0; m < operand->count; m++) {
                visit(data, &operand->items[m]);
                for (uint32_t n = 0; n < operand->items[m].count; n++) {
                    visit(data, &operand->items[m].items[n]);
                }
            }
        }
    }
}

bool
emu_calls_through_pointers(const ptx_function *function)
{
    for (size_t i = 0; i < function->insn_count; i++) {
        const ptx_insn *insn = &function->insns[i];
        bool named = false;

        if (insn->opcode != PTX_OP_call) {
            continue;
        }
        for (unsigned k = 0; k < insn->operand_count; k++) {
            named = named || insn->operands[k].kind == PTX_O_FUNCTION;
        }
        if (!named) {
            return true;
        }
    }
    return false;
}

ptx_function *
emu_function_definition(ptx_function *function)
{
    if (function->same != NULL) {
        return function->same;
    }
    return function;
}
