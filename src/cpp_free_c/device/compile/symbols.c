/* Linking of names, initialisers, shared memory and stack sizes. See symbols.h. */
#include "device/compile/symbols.h"

#include <string.h>

/* -- linking ----------------------------------------------------------------------- */

static void
symbols_define_function(emu_load *load, ptx_function *function)
{
    ptx_function *other = function->name->function;

    if (!function->has_body ||
        !(function->is_visible || function->is_weak || function->is_entry)) {
        return;
    }
    if (!other || (other->is_weak && !function->is_weak)) {
        function->name->function = function;
    }
    else if (!function->is_weak && !other->is_weak) {
        load->source_name = function->module->source_name;
        emu_load_fail(load, EMU_LOAD_INVALID_PTX, function->line,
                      "%s is defined in two texts", function->name->text);
    }
}

static bool
symbols_var_is_shared_by_modules(const ptx_var *var)
{
    return var->is_visible || var->is_weak || var->is_common;
}

static void
symbols_define_var(emu_load *load, ptx_module *module, ptx_var *var)
{
    ptx_var *other = var->name->var;
    const bool weak = var->is_weak || var->is_common;

    if (var->is_extern || !symbols_var_is_shared_by_modules(var)) {
        return;
    }
    if (!other || ((other->is_weak || other->is_common) && !weak)) {
        var->name->var = var;
    }
    else if (!weak && !other->is_weak && !other->is_common) {
        load->source_name = module->source_name;
        emu_load_fail(load, EMU_LOAD_INVALID_PTX, var->line,
                      "%s is defined in two texts", var->name->text);
    }
}

/* The definition in the module itself, which follows its extern declaration. */
static ptx_var *
symbols_own_definition(const ptx_module *module, const ptx_var *var)
{
    ptx_var *other = var->name->own_var;

    (void)module;
    if (other != NULL && other->is_extern) {
        return NULL;
    }
    return other;
}

static void
symbols_enter_module(ptx_module *module)
{
    ptx_function *function;
    ptx_var *var;

    for (function = module->functions; function; function = function->next) {
        function->name->own_function = function;
    }
    for (var = module->vars; var; var = var->next) {
        if (!var->name->own_var || var->name->own_var->is_extern) {
            var->name->own_var = var;
        }
    }
}

static void
symbols_leave_module(ptx_module *module)
{
    ptx_function *function;
    ptx_var *var;

    for (function = module->functions; function; function = function->next) {
        function->name->own_function = NULL;
    }
    for (var = module->vars; var; var = var->next) {
        var->name->own_var = NULL;
    }
}

static void
link_function(ptx_function *function)
{
    if (function->is_weak || !function->has_body) {
        function->same = function->name->function;
    }
    if (function->same == function) {
        function->same = NULL;
    }
}

/* Whether the definition of another module goes before that of this one, `own`. */
static bool
symbols_is_defined_elsewhere(const ptx_var *var, const ptx_var *own)
{
    if (var->is_extern) {
        return own == NULL || own == var;
    }
    return var->name->var != NULL;
}

static void
link_variable(emu_load *load, const ptx_module *module, ptx_var *var)
{
    if (var->space == PTX_SPACE_SHARED) {
        if (var->is_extern) {
            var->unsized = true; /* dynamic shared memory, whatever its size */
        }
        return;
    }
    if (var->is_extern || var->is_weak || var->is_common) {
        var->same = symbols_own_definition(module, var);
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
link_module(emu_load *load, ptx_module *module)
{
    ptx_function *function;
    ptx_var *var;

    load->source_name = module->source_name;
    symbols_enter_module(module);
    for (function = module->functions; function != NULL; function = function->next) {
        link_function(function);
    }
    for (var = module->vars; var != NULL; var = var->next) {
        link_variable(load, module, var);
    }
    symbols_leave_module(module);
}

void
emu_symbols_link(emu_load *load, ptx_module *modules)
{
    ptx_module *module;

    for (module = modules; module; module = module->next) {
        ptx_function *function;
        ptx_var *var;

        for (function = module->functions; function; function = function->next) {
            symbols_define_function(load, function);
        }
        for (var = module->vars; var; var = var->next) {
            symbols_define_var(load, module, var);
        }
    }
    for (module = modules; module; module = module->next) {
        link_module(load, module);
    }
}

/* -- initialisers ------------------------------------------------------------------ */

static uint64_t
symbols_symbol_address(emu_load *load, const ptx_value *value)
{
    const ptx_function *function = value->name->own_function;
    const ptx_var *var = value->name->own_var;

    if (function && function->same) {
        function = function->same;
    }
    if (!function && !var) {
        function = value->name->function;
        var = value->name->var;
    }
    if (function && function->code) {
        return EMU_FUNC_ADDRESS(function->code->number);
    }
    if (var && var->same) {
        var = var->same;
    }
    if (!var || (var->space != PTX_SPACE_GLOBAL && var->space != PTX_SPACE_CONST)) {
        emu_load_fail(load, EMU_LOAD_INVALID_PTX, value->line,
                      "the address of '%.100s' in an initialiser is not known",
                      value->name->text);
    }
    return var->address;
}

void
emu_symbols_initialise(emu_load *load, ptx_module *module)
{
    ptx_var *var;

    load->source_name = module->source_name;
    symbols_enter_module(module);
    for (var = module->vars; var; var = var->next) {
        uint8_t *memory = (uint8_t *)(uintptr_t)var->address;
        size_t i;

        if (var->same || var->is_extern ||
            (var->space != PTX_SPACE_GLOBAL && var->space != PTX_SPACE_CONST)) {
            continue;
        }
        for (i = 0; i < var->value_count; i++) {
            const ptx_value *value = &var->values[i];
            uint64_t bits[2] = {value->bits, 0}; /* the widest element has 128 */

            if (value->name) {
                bits[0] += symbols_symbol_address(load, value);
                bits[0] >>= value->shift < 64 ? value->shift : 63;
            }
            memcpy(memory + i * var->element, bits, var->element);
        }
    }
    symbols_leave_module(module);
}

/* -- walking ----------------------------------------------------------------------- */

void
emu_operands_walk(ptx_function *function, emu_operand_visit visit, void *data)
{
    size_t i;

    for (i = 0; i < function->insn_count; i++) {
        const ptx_insn *insn = &function->insns[i];
        unsigned k;

        for (k = 0; k < insn->operand_count; k++) {
            ptx_operand *operand = &insn->operands[k];
            uint32_t m, n;

            visit(data, operand);
            for (m = 0; m < operand->count; m++) {
                visit(data, &operand->items[m]);
                for (n = 0; n < operand->items[m].count; n++) {
                    visit(data, &operand->items[m].items[n]);
                }
            }
        }
    }
}

/* -- shared memory ----------------------------------------------------------------- */

enum { MAX_SHARED = 1 << 26 };

typedef struct {
    emu_load *load;
    uint64_t top;
    uint64_t dynamic_align;
    uint64_t visit;       /* the mark of this walk */
    ptx_function **queue; /* functions to walk */
    size_t count, room;
    ptx_module *modules;
    bool in_function;
    bool calls_unknown;
} shared_walk;

static uint64_t
symbols_align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

static void
symbols_place_shared(shared_walk *walk, ptx_var *var)
{
    walk->top = symbols_align_up(walk->top, var->align);
    var->address = walk->top;
    walk->top += var->size;
    if (walk->top > MAX_SHARED) {
        emu_load_fail(walk->load, EMU_LOAD_INVALID_PTX, var->line,
                      "too much shared memory");
    }
}

static void
symbols_visit_common(void *data, ptx_operand *operand)
{
    shared_walk *walk = data;

    if (operand->kind == PTX_O_VAR && operand->var->space == PTX_SPACE_SHARED &&
        !operand->var->unsized && !operand->var->in_function) {
        operand->var->in_function = true;
        symbols_place_shared(walk, operand->var);
    }
}

void
emu_shared_place_common(emu_load *load, ptx_module *modules)
{
    shared_walk walk = {.load = load};
    ptx_module *module;
    ptx_function *function;

    for (module = modules; module; module = module->next) {
        load->source_name = module->source_name;
        for (function = module->functions; function; function = function->next) {
            if (!function->is_entry) {
                emu_operands_walk(function, symbols_visit_common, &walk);
            }
        }
    }
}

static void
symbols_reach(shared_walk *walk, ptx_function *function)
{
    if (function->same) {
        function = function->same;
    }
    if (function->visited != walk->visit) {
        function->visited = walk->visit;
        walk->queue = emu_arena_grow(walk->load, walk->queue, walk->count, &walk->room,
                                     sizeof *walk->queue);
        walk->queue[walk->count++] = function;
    }
}

static void
symbols_visit_kernel(void *data, ptx_operand *operand)
{
    shared_walk *walk = data;

    if (operand->kind == PTX_O_FUNCTION) {
        symbols_reach(walk, operand->function);
    }
    if (operand->kind != PTX_O_VAR) {
        return;
    }
    if (operand->var->space == PTX_SPACE_GLOBAL && operand->var->value_count) {
        walk->calls_unknown = true; /* perhaps a table of functions */
    }
    if (operand->var->space != PTX_SPACE_SHARED) {
        return;
    }
    if (operand->var->unsized) {
        if (operand->var->align > walk->dynamic_align) {
            walk->dynamic_align = operand->var->align;
        }
    }
    else if (operand->var->in_function) {
        const uint64_t end = operand->var->address + operand->var->size;

        if (end > walk->top) {
            walk->top = end;
        }
    }
    else if (!walk->in_function) {
        operand->var->placed = false;
    }
}

static void
symbols_visit_place(void *data, ptx_operand *operand)
{
    shared_walk *walk = data;

    if (operand->kind == PTX_O_VAR && operand->var->space == PTX_SPACE_SHARED &&
        !operand->var->unsized && !operand->var->in_function && !operand->var->placed) {
        operand->var->placed = true;
        symbols_place_shared(walk, operand->var);
    }
}

static bool
symbols_calls_through_pointers(const ptx_function *function)
{
    size_t i;
    unsigned k;

    for (i = 0; i < function->insn_count; i++) {
        const ptx_insn *insn = &function->insns[i];
        bool named = false;

        if (insn->opcode != PTX_OP_call) {
            continue;
        }
        for (k = 0; k < insn->operand_count; k++) {
            named = named || insn->operands[k].kind == PTX_O_FUNCTION;
        }
        if (!named) {
            return true;
        }
    }
    return false;
}

uint64_t
emu_shared_place_kernel(emu_load *load, ptx_function *kernel, ptx_module *modules,
                        uint64_t *size)
{
    shared_walk walk = {.load = load, .dynamic_align = 16, .modules = modules};
    size_t i;

    walk.visit = (uint64_t)(uintptr_t)kernel; /* differs from kernel to kernel */
    symbols_reach(&walk, kernel);
    for (i = 0; i < walk.count; i++) {
        ptx_function *function = walk.queue[i];

        walk.in_function = function != kernel;
        emu_operands_walk(function, symbols_visit_kernel, &walk);
        if (symbols_calls_through_pointers(function)) {
            ptx_module *module;
            ptx_function *other;

            for (module = modules; module; module = module->next) {
                for (other = module->functions; other; other = other->next) {
                    if (!other->is_entry) {
                        symbols_reach(&walk, other);
                    }
                }
            }
        }
    }
    emu_operands_walk(kernel, symbols_visit_place, &walk);
    *size = walk.top;
    return symbols_align_up(walk.top, walk.dynamic_align);
}

/* -- stacks ------------------------------------------------------------------------ */

typedef struct {
    uint64_t deepest;
    bool unbounded;
} stack_walk;

static void
symbols_visit_stack(void *data, ptx_operand *operand)
{
    stack_walk *walk = data;
    const ptx_function *function;

    if (operand->kind != PTX_O_FUNCTION) {
        return;
    }
    function = operand->function;
    if (function->same != NULL) {
        function = function->same;
    }
    if (function->code) {
        if (function->code->stack_size > walk->deepest) {
            walk->deepest = function->code->stack_size;
        }
        walk->unbounded |= function->code->unbounded;
    }
}

/* Each pass adds the need of a function to that of its callers, until nothing changes.
 * A size that still grows after more passes than any depth of calls is a recursion. */
void
emu_stack_sizes(ptx_module *modules)
{
    enum { PASSES = 64, MAX_STACK = 1 << 22, CALL_COST = 64 };
    unsigned pass;
    bool changed = true;

    for (pass = 0; pass <= PASSES + 1 && changed; pass++) {
        ptx_module *module;
        ptx_function *function;

        changed = false;
        for (module = modules; module; module = module->next) {
            for (function = module->functions; function; function = function->next) {
                stack_walk walk = {0, false};
                emu_func *code = function->code;
                uint64_t size;

                if (!code) {
                    continue;
                }
                emu_operands_walk(function, symbols_visit_stack, &walk);
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
                    walk.unbounded |= symbols_calls_through_pointers(function);
                }
                changed |= walk.unbounded && !code->unbounded;
                code->unbounded = walk.unbounded;
            }
        }
    }
}
