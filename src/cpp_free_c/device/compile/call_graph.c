/* The references of functions. See call_graph.h. */
#include "device/compile/call_graph.h"

#include <string.h>

/* -- collecting -------------------------------------------------------------------- */

/* A list that grows, used again for each function. */
typedef struct {
    emu_load *load;
    ptx_operand **items;
    size_t count, room;
} reference_list;

static void
references_add(reference_list *list, ptx_operand *operand)
{
    if (operand->kind != PTX_O_FUNCTION &&
        (operand->kind != PTX_O_VAR || operand->var->space != PTX_SPACE_SHARED)) {
        return;
    }
    list->items = emu_arena_grow(list->load, list->items, list->count, &list->room,
                                 sizeof *list->items);
    list->items[list->count++] = operand;
}

/* Adds an operand, and those in its lists. */
static void
references_add_all(reference_list *list, ptx_operand *operand)
{
    references_add(list, operand);
    for (uint32_t m = 0; m < operand->count; m++) {
        ptx_operand *item = &operand->items[m];

        references_add(list, item);
        for (uint32_t n = 0; n < item->count; n++) {
            references_add(list, &item->items[n]);
        }
    }
}

/* Whether a call names no function: it may reach any function. */
static bool
references_is_pointer_call(const ptx_insn *insn)
{
    if (insn->opcode != PTX_OP_call) {
        return false;
    }
    for (unsigned k = 0; k < insn->operand_count; k++) {
        if (insn->operands[k].kind == PTX_O_FUNCTION) {
            return false;
        }
    }
    return true;
}

static void
references_collect_function(reference_list *list, ptx_function *function)
{
    list->count = 0;
    for (size_t i = 0; i < function->insn_count; i++) {
        const ptx_insn *insn = &function->insns[i];

        for (unsigned k = 0; k < insn->operand_count; k++) {
            references_add_all(list, &insn->operands[k]);
        }
        function->calls_pointers |= references_is_pointer_call(insn);
    }
    if (list->count > 0) {
        function->references = emu_arena_get(list->load, &list->load->scratch,
                                             list->count, sizeof *function->references);
        memcpy(function->references, list->items,
               list->count * sizeof *function->references);
        function->reference_count = list->count;
    }
}

void
emu_references_collect(emu_load *load, ptx_module *modules)
{
    reference_list list = {.load = load};

    for (ptx_module *module = modules; module != NULL; module = module->next) {
        for (ptx_function *function = module->functions; function != NULL;
             function = function->next) {
            references_collect_function(&list, function);
        }
    }
}

/* -- walking ----------------------------------------------------------------------- */

void
emu_references_walk(ptx_function *function, emu_operand_visit visit, void *data)
{
    for (size_t i = 0; i < function->reference_count; i++) {
        visit(data, function->references[i]);
    }
}

ptx_function *
emu_function_definition(ptx_function *function)
{
    if (function->same != NULL) {
        return function->same;
    }
    return function;
}
