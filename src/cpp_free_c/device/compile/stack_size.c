/* The stack that each function needs: its own local memory and that of the deepest
 * chain of calls. See stack_size.h. */
#include "device/compile/stack_size.h"

#include "device/compile/call_graph.h"
#include "device/compile/code.h"

enum { PASSES = 64, MAX_STACK = 1 << 22, CALL_COST = 64 };

/* The needs of the functions that one function calls. */
typedef struct {
    uint64_t deepest;
    bool unbounded;
} stack_walk;

static void
stack_visit(void *data, ptx_operand *operand)
{
    stack_walk *walk = data;
    const emu_func *code;

    if (operand->kind != PTX_O_FUNCTION) {
        return;
    }
    code = emu_function_definition(operand->function)->code;
    if (code == NULL) {
        return;
    }
    if (code->stack_size > walk->deepest) {
        walk->deepest = code->stack_size;
    }
    walk->unbounded |= code->unbounded;
}

/* Updates one function from those that it calls. Returns whether it changed. */
static bool
stack_update(ptx_function *function, unsigned pass)
{
    stack_walk walk = {0, false};
    emu_func *code = function->code;
    bool changed = false;
    uint64_t size;

    emu_references_walk(function, stack_visit, &walk);
    size = code->local_size + walk.deepest + CALL_COST;
    walk.unbounded |= code->unbounded;
    if (size > code->stack_size && !code->unbounded) {
        changed = true;
        if (pass >= PASSES || size > MAX_STACK) {
            walk.unbounded = true;
            size = code->stack_size;
        }
        code->stack_size = size;
    }
    if (pass == 0) {
        walk.unbounded |= function->calls_pointers;
    }
    changed |= walk.unbounded && !code->unbounded;
    code->unbounded = walk.unbounded;
    return changed;
}

/* Each pass adds the need of a function to that of its callers, until nothing changes.
 * A size that still grows after more passes than any depth of calls is a recursion. */
void
emu_stack_sizes(ptx_module *modules)
{
    bool changed = true;

    for (unsigned pass = 0; pass <= PASSES + 1 && changed; pass++) {
        changed = false;
        for (ptx_module *module = modules; module != NULL; module = module->next) {
            for (ptx_function *function = module->functions; function != NULL;
                 function = function->next) {
                if (function->code != NULL && stack_update(function, pass)) {
                    changed = true;
                }
            }
        }
    }
}
