/* The places of shared variables. See shared_memory.h. */
#include "device/compile/shared_memory.h"

#include "device/compile/call_graph.h"

enum { MAX_SHARED = 1 << 26, DYNAMIC_ALIGN = 16 };

/* A walk over a kernel and all functions that it can reach. */
typedef struct {
    emu_load *load;
    uint64_t top; /* end of the variables placed so far */
    uint64_t dynamic_align;
    uint64_t mark;           /* of this walk, for ptx_function.visited */
    emu_shared_state *state; /* its queue: the functions reached, in their order */
    size_t count;
    bool in_kernel; /* walking over the kernel itself */
} shared_walk;

static uint64_t
shared_align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

static void
shared_place(shared_walk *walk, ptx_var *var)
{
    walk->top = shared_align_up(walk->top, var->align);
    var->address = walk->top;
    walk->top += var->size;
    if (walk->top > MAX_SHARED) {
        emu_load_fail(walk->load, EMU_LOAD_INVALID_PTX, var->line,
                      "too much shared memory");
    }
}

/* The shared variable that an operand names, or NULL. */
static ptx_var *
shared_variable_of(const ptx_operand *operand)
{
    if (operand->kind != PTX_O_VAR || operand->var->space != PTX_SPACE_SHARED) {
        return NULL;
    }
    return operand->var;
}

/* -- variables of device functions ------------------------------------------------- */

static void
shared_visit_common(void *data, ptx_operand *operand)
{
    shared_walk *walk = data;
    ptx_var *var = shared_variable_of(operand);

    if (var == NULL) {
        return;
    }
    walk->state->in_functions = true;
    if (!var->unsized && !var->in_function) {
        var->in_function = true;
        shared_place(walk, var);
    }
}

void
emu_shared_place_common(emu_load *load, ptx_module *modules, emu_shared_state *state)
{
    shared_walk walk = {.load = load, .state = state};

    for (ptx_module *module = modules; module != NULL; module = module->next) {
        load->source_name = module->source_name;
        for (ptx_function *function = module->functions; function != NULL;
             function = function->next) {
            if (!function->is_entry) {
                emu_references_walk(function, shared_visit_common, &walk);
            }
        }
    }
}

/* -- variables of one kernel ------------------------------------------------------- */

/* Adds a function to the queue. Device functions without shared variables need no walk.
 */
static void
shared_reach(shared_walk *walk, ptx_function *function)
{
    if (!function->is_entry && !walk->state->in_functions) {
        return;
    }
    function = emu_function_definition(function);
    if (function->visited != walk->mark) {
        function->visited = walk->mark;
        walk->state->queue =
            emu_arena_grow(walk->load, walk->state->queue, walk->count,
                           &walk->state->room, sizeof *walk->state->queue);
        walk->state->queue[walk->count++] = function;
    }
}

/* A call through a pointer may reach every device function. */
static void
shared_reach_all(shared_walk *walk, ptx_module *modules)
{
    for (ptx_module *module = modules; module != NULL; module = module->next) {
        for (ptx_function *function = module->functions; function != NULL;
             function = function->next) {
            if (!function->is_entry) {
                shared_reach(walk, function);
            }
        }
    }
}

/* Collects what the kernel can reach: functions, the end of their variables, and the
 * alignment of dynamic shared memory. Marks the kernel's own variables as not placed.
 */
static void
shared_visit_reached(void *data, ptx_operand *operand)
{
    shared_walk *walk = data;
    ptx_var *var = shared_variable_of(operand);

    if (operand->kind == PTX_O_FUNCTION) {
        shared_reach(walk, operand->function);
    }
    if (var == NULL) {
        return;
    }
    if (var->unsized) {
        if (var->align > walk->dynamic_align) {
            walk->dynamic_align = var->align;
        }
    }
    else if (var->in_function) {
        if (var->address + var->size > walk->top) {
            walk->top = var->address + var->size;
        }
    }
    else if (walk->in_kernel) {
        var->placed = false;
    }
}

static void
shared_visit_own(void *data, ptx_operand *operand)
{
    ptx_var *var = shared_variable_of(operand);

    if (var != NULL && !var->unsized && !var->in_function && !var->placed) {
        var->placed = true;
        shared_place(data, var);
    }
}

uint64_t
emu_shared_place_kernel(emu_load *load, ptx_function *kernel, ptx_module *modules,
                        emu_shared_state *state, uint64_t *size)
{
    shared_walk walk = {.load = load,
                        .dynamic_align = DYNAMIC_ALIGN,
                        .state = state,
                        .mark = (uint64_t)(uintptr_t)kernel}; /* its own for each */

    shared_reach(&walk, kernel);
    for (size_t i = 0; i < walk.count; i++) {
        ptx_function *function = state->queue[i];

        walk.in_kernel = function == kernel;
        emu_references_walk(function, shared_visit_reached, &walk);
        if (function->calls_pointers) {
            shared_reach_all(&walk, modules);
        }
    }
    emu_references_walk(kernel, shared_visit_own, &walk);
    *size = walk.top;
    return shared_align_up(walk.top, walk.dynamic_align);
}
