/* Linking of names, initialisers, the places of shared variables, and stacks. See
 * lower.h. */
#include "device/compile/lower.h"

#include <string.h>

#include "device/compile/code.h"

/* -- symbols ----------------------------------------------------------------------- */

/* -- the choice among the modules of libraries ---------------------------------------
 */

static bool
symbols_is_visible_to_modules(const ptx_var *var)
{
    return var->is_visible || var->is_weak || var->is_common;
}

/* While modules are chosen, own_function and own_var of a name are a use of it that is
 * not defined yet. */

static bool
symbols_function_is_visible(const ptx_function *function)
{
    return function->is_visible || function->is_weak || function->is_entry;
}

/* Notes what a module that stays defines for other modules, and what it needs. */
static void
symbols_note_module(ptx_module *module)
{
    for (ptx_function *function = module->functions; function != NULL;
         function = function->next) {
        if (!function->has_body) {
            function->name->own_function = function;
        }
        else if (symbols_function_is_visible(function)) {
            function->name->function = function;
        }
    }
    for (ptx_var *var = module->vars; var != NULL; var = var->next) {
        if (var->is_extern && var->space != PTX_SPACE_SHARED) {
            var->name->own_var = var;
        }
        else if (symbols_is_visible_to_modules(var)) {
            var->name->var = var;
        }
    }
}

/* Whether a module defines a name that is used and not defined. */
static bool
symbols_module_is_needed(const ptx_module *module)
{
    for (const ptx_function *function = module->functions; function != NULL;
         function = function->next) {
        if (function->has_body && symbols_function_is_visible(function) &&
            function->name->own_function != NULL && function->name->function == NULL) {
            return true;
        }
    }
    for (const ptx_var *var = module->vars; var != NULL; var = var->next) {
        if (!var->is_extern && symbols_is_visible_to_modules(var) &&
            var->name->own_var != NULL && var->name->var == NULL) {
            return true;
        }
    }
    return false;
}

/* Clears the fields of the names, which linking uses in another way. */
static void
symbols_forget_module(ptx_module *module)
{
    for (ptx_function *function = module->functions; function != NULL;
         function = function->next) {
        function->name->function = function->name->own_function = NULL;
    }
    for (ptx_var *var = module->vars; var != NULL; var = var->next) {
        var->name->var = var->name->own_var = NULL;
    }
}

static bool
symbols_has_library(const ptx_module *modules)
{
    bool library = false, other = false;

    for (; modules != NULL; modules = modules->next) {
        library |= modules->is_library;
        other |= !modules->is_library;
    }
    return library && other;
}

/* Makes the needed modules of libraries ordinary ones, and the modules that those need,
 * and so on. */
static void
symbols_mark_needed(ptx_module *modules)
{
    bool again = true;

    for (ptx_module *module = modules; module != NULL; module = module->next) {
        if (!module->is_library) {
            symbols_note_module(module);
        }
    }
    while (again) {
        again = false;
        for (ptx_module *module = modules; module != NULL; module = module->next) {
            if (module->is_library && symbols_module_is_needed(module)) {
                module->is_library = false;
                symbols_note_module(module);
                again = true;
            }
        }
    }
}

ptx_module *
emu_symbols_choose(ptx_module *modules)
{
    ptx_module **link = &modules;

    if (!symbols_has_library(modules)) {
        return modules;
    }
    symbols_mark_needed(modules);
    for (ptx_module *module = modules; module != NULL; module = module->next) {
        symbols_forget_module(module);
    }
    while (*link != NULL) {
        if ((*link)->is_library) {
            *link = (*link)->next;
        }
        else {
            link = &(*link)->next;
        }
    }
    return modules;
}

/* -- linking ----------------------------------------------------------------------- */

/* Makes a function the definition of its name for all modules, if it is visible to
 * them. A definition that is not weak replaces a weak one. */
static void
symbols_define_function(emu_load *load, ptx_function *function)
{
    ptx_function *other = function->name->function;

    if (!function->has_body || !symbols_function_is_visible(function)) {
        return;
    }
    if (other == NULL || (other->is_weak && !function->is_weak)) {
        function->name->function = function;
    }
    else if (!function->is_weak && !other->is_weak) {
        load->source_name = function->module->source_name;
        emu_load_fail(load, EMU_LOAD_INVALID_PTX, function->line,
                      "%s is defined in two texts", function->name->text);
    }
}

/* The same for a variable. A common definition is weak. */
static void
symbols_define_var(emu_load *load, ptx_module *module, ptx_var *var)
{
    ptx_var *other = var->name->var;
    const bool weak = var->is_weak || var->is_common;

    if (var->is_extern || !symbols_is_visible_to_modules(var)) {
        return;
    }
    if (other == NULL || ((other->is_weak || other->is_common) && !weak)) {
        var->name->var = var;
    }
    else if (!weak && !other->is_weak && !other->is_common) {
        load->source_name = module->source_name;
        emu_load_fail(load, EMU_LOAD_INVALID_PTX, var->line,
                      "%s is defined in two texts", var->name->text);
    }
}

/* The definition in the current module; NULL if it only declares the variable. */
static ptx_var *
symbols_own_definition(const ptx_var *var)
{
    ptx_var *other = var->name->own_var;

    if (other != NULL && other->is_extern) {
        return NULL;
    }
    return other;
}

/* Makes the module's own definitions the current ones of their names. */
static void
symbols_enter_module(ptx_module *module)
{
    for (ptx_function *function = module->functions; function != NULL;
         function = function->next) {
        function->name->own_function = function;
    }
    for (ptx_var *var = module->vars; var != NULL; var = var->next) {
        if (var->name->own_var == NULL || var->name->own_var->is_extern) {
            var->name->own_var = var;
        }
    }
}

static void
symbols_leave_module(ptx_module *module)
{
    for (ptx_function *function = module->functions; function != NULL;
         function = function->next) {
        function->name->own_function = NULL;
    }
    for (ptx_var *var = module->vars; var != NULL; var = var->next) {
        var->name->own_var = NULL;
    }
}

static void
symbols_link_function(ptx_function *function)
{
    if (function->is_weak || !function->has_body) {
        function->same = function->name->function;
    }
    if (function->same == function) {
        function->same = NULL;
    }
}

/* Whether the variable means the definition that all modules see, and not `own`, that
 * of this module. */
static bool
symbols_is_defined_elsewhere(const ptx_var *var, const ptx_var *own)
{
    if (var->is_extern) {
        return own == NULL || own == var;
    }
    return var->name->var != NULL;
}

static void
symbols_link_variable(emu_load *load, ptx_var *var)
{
    if (var->space == PTX_SPACE_SHARED) {
        return; /* an extern one with a size is static, as ptxas has it */
    }
    if (var->is_extern || var->is_weak || var->is_common) {
        var->same = symbols_own_definition(var);
        if (symbols_is_defined_elsewhere(var, var->same)) {
            var->same = var->name->var;
        }
    }
    if (var->same == var) {
        var->same = NULL;
    }
    if (var->is_extern && var->same == NULL) {
        emu_load_fail(load, EMU_LOAD_INVALID_PTX, var->line,
                      "the variable %s is not defined", var->name->text);
    }
}

static void
symbols_link_module(emu_load *load, ptx_module *module)
{
    load->source_name = module->source_name;
    symbols_enter_module(module);
    for (ptx_function *function = module->functions; function != NULL;
         function = function->next) {
        symbols_link_function(function);
    }
    for (ptx_var *var = module->vars; var != NULL; var = var->next) {
        symbols_link_variable(load, var);
    }
    symbols_leave_module(module);
}

void
emu_symbols_link(emu_load *load, ptx_module *modules)
{
    for (ptx_module *module = modules; module != NULL; module = module->next) {
        for (ptx_function *function = module->functions; function != NULL;
             function = function->next) {
            symbols_define_function(load, function);
        }
        for (ptx_var *var = module->vars; var != NULL; var = var->next) {
            symbols_define_var(load, module, var);
        }
    }
    for (ptx_module *module = modules; module != NULL; module = module->next) {
        symbols_link_module(load, module);
    }
}

/* -- initialisers ------------------------------------------------------------------ */

/* The address of a function or variable that an initialiser names. */
static uint64_t
symbols_address(emu_load *load, const ptx_value *value)
{
    const ptx_function *function = value->name->own_function;
    const ptx_var *var = value->name->own_var;

    if (function != NULL && function->same != NULL) {
        function = function->same;
    }
    if (function == NULL && var == NULL) {
        function = value->name->function;
        var = value->name->var;
    }
    if (function != NULL && function->code != NULL) {
        return EMU_FUNC_ADDRESS(function->code->number);
    }
    if (var != NULL && var->same != NULL) {
        var = var->same;
    }
    if (var == NULL ||
        (var->space != PTX_SPACE_GLOBAL && var->space != PTX_SPACE_CONST)) {
        emu_load_fail(load, EMU_LOAD_INVALID_PTX, value->line,
                      "the address of '%.100s' in an initialiser is not known",
                      value->name->text);
    }
    return var->address;
}

static bool
symbols_has_memory(const ptx_var *var)
{
    return var->same == NULL && !var->is_extern &&
           (var->space == PTX_SPACE_GLOBAL || var->space == PTX_SPACE_CONST);
}

/* The bits of one element: a number, or an address or one byte of it. */
static uint64_t
symbols_value_bits(emu_load *load, const ptx_value *value)
{
    unsigned shift = value->shift;

    if (value->name == NULL) {
        return value->bits;
    }
    if (shift > 63) {
        shift = 63;
    }
    return (value->bits + symbols_address(load, value)) >> shift;
}

void
emu_symbols_initialise(emu_load *load, ptx_module *module)
{
    load->source_name = module->source_name;
    symbols_enter_module(module);
    for (const ptx_var *var = module->vars; var != NULL; var = var->next) {
        uint8_t *memory = (uint8_t *)(uintptr_t)var->address;

        if (!symbols_has_memory(var)) {
            continue;
        }
        for (size_t i = 0; i < var->value_count; i++) {
            /* the widest element has 128 bits */
            const uint64_t bits[2] = {symbols_value_bits(load, &var->values[i]), 0};

            memcpy(memory + i * var->element, bits, var->element);
        }
    }
    symbols_leave_module(module);
}

/* -- references -------------------------------------------------------------------- */

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

/* Calls `visit` for each operand of a function that is a function or a shared variable,
 * in the order of the text. */
static void
references_walk(ptx_function *function, emu_operand_visit visit, void *data)
{
    for (size_t i = 0; i < function->reference_count; i++) {
        visit(data, function->references[i]);
    }
}

/* The definition of a function. */
static ptx_function *
function_definition(ptx_function *function)
{
    if (function->same != NULL) {
        return function->same;
    }
    return function;
}

/* -- shared variables -------------------------------------------------------------- */

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
                references_walk(function, shared_visit_common, &walk);
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
    function = function_definition(function);
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
        references_walk(function, shared_visit_reached, &walk);
        if (function->calls_pointers) {
            shared_reach_all(&walk, modules);
        }
    }
    references_walk(kernel, shared_visit_own, &walk);
    *size = walk.top;
    return shared_align_up(walk.top, walk.dynamic_align);
}

/* -- stacks ------------------------------------------------------------------------ */

/* A function needs its own local memory and that of the deepest chain of calls. */

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
    code = function_definition(operand->function)->code;
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

    references_walk(function, stack_visit, &walk);
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
