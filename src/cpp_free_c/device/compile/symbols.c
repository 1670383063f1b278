/* Linking of names, and initialisers. See symbols.h. */
#include "device/compile/symbols.h"

#include <string.h>

#include "device/compile/code.h"

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
        if (var->is_extern) {
            var->unsized = true; /* dynamic shared memory, whatever its size */
        }
        return;
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
