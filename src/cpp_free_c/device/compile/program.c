/* Loading of programs. See program.h.
 *
 * program_build() has the passes in order; those over one function are in
 * program_compile_function(). */
#include "device/compile/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/base/device.h"
#include "device/compile/call_graph.h"
#include "device/compile/dump.h"
#include "device/compile/finish.h"
#include "device/compile/kernel_info.h"
#include "device/compile/lower.h"
#include "device/compile/registers.h"
#include "device/compile/runtime_text.h"
#include "device/compile/shared_memory.h"
#include "device/compile/stack_size.h"
#include "device/compile/symbols.h"
#include "device/memory/memory.h"
#include "device/ptx/parse_module.h"

enum {
    NEWEST_VERSION = 99,   /* of PTX: 9.9 */
    MAX_FILE_NUMBER = 4096 /* of .file */
};

/* The state of a load, which ends with it. */
typedef struct {
    emu_load load;
    ptx_names names;
    ptx_module *modules, **modules_tail;
    emu_program *program;
    low_constants constants;
    emu_shared_state shared;
    const emu_handler_set *handlers;
    size_t const_size;
    unsigned max_registers;
    unsigned dump; /* EMU_DUMP_ flags */
} loader;

/* -- variables --------------------------------------------------------------------- */

static bool
program_has_memory(const ptx_var *var)
{
    return !var->is_extern && var->same == NULL &&
           (var->space == PTX_SPACE_GLOBAL || var->space == PTX_SPACE_CONST);
}

static void
program_create_variable(loader *l, ptx_var *var)
{
    emu_program *program = l->program;
    emu_variable *variable = &program->variables[program->variable_count];
    emu_memory_request request = {.kind = EMU_MEMORY_GLOBAL,
                                  .size = (size_t)var->size,
                                  .device = program->context->device->ordinal,
                                  .context = program->context,
                                  .flags = var->space == PTX_SPACE_CONST};

    if (request.size == 0) {
        request.size = 1; /* its address must be its own */
    }
    variable->name = emu_keep_text(&l->load, var->name->text);
    request.name = variable->name;
    if (emu_memory_allocate(&request, &variable->allocation) != CUDA_SUCCESS) {
        emu_load_fail(&l->load, EMU_LOAD_NO_MEMORY, var->line,
                      "no memory for the variable %s", var->name->text);
    }
    program->variable_count++;
    variable->serial = variable->allocation->serial;
    variable->address = variable->allocation->base;
    variable->size = (size_t)var->size;
    variable->is_visible = var->is_visible || var->is_weak || var->is_common;
    if (var->type == PTX_W_texref || var->type == PTX_W_surfref) {
        variable->reference = var->type;
    }
    var->address = variable->address;
    if (var->space == PTX_SPACE_CONST) {
        l->const_size += (size_t)var->size;
    }
}

static void
program_create_variables(loader *l)
{
    size_t count = 0;

    for (ptx_module *module = l->modules; module != NULL; module = module->next) {
        for (ptx_var *var = module->vars; var != NULL; var = var->next) {
            count += program_has_memory(var);
        }
    }
    l->program->variables =
        emu_arena_get(&l->load, &l->load.keep, count, sizeof(emu_variable));
    for (ptx_module *module = l->modules; module != NULL; module = module->next) {
        l->load.source_name = module->source_name;
        for (ptx_var *var = module->vars; var != NULL; var = var->next) {
            if (program_has_memory(var)) {
                program_create_variable(l, var);
            }
        }
    }
}

static void
program_release_variables(emu_program *program)
{
    for (size_t i = 0; i < program->variable_count; i++) {
        emu_variable *variable = &program->variables[i];

        /* The context may have freed the allocation and used its record again. */
        if (variable->allocation->serial == variable->serial &&
            emu_memory_live(variable->allocation)) {
            (void)emu_memory_free(variable->allocation);
        }
        if (variable->allocation->serial == variable->serial) {
            variable->allocation->name = NULL;
        }
    }
    program->variable_count = 0;
}

/* -- functions --------------------------------------------------------------------- */

/* Gives a function its code record and its number. The entry of a kernel in `funcs`
 * stays NULL: calls must not reach a kernel. */
static void
program_create_function(loader *l, ptx_function *function, const emu_func **funcs)
{
    emu_func *code = emu_arena_get(&l->load, &l->load.keep, 1, sizeof *code);

    function->code = code;
    code->program = l->program;
    code->number = (uint32_t)l->program->func_count++;
    low_declare(&l->load, function, code);
    if (!function->is_entry) {
        funcs[code->number] = code;
    }
}

static void
program_create_functions(loader *l)
{
    const emu_func **funcs;
    size_t count = 0, kernels = 0;

    for (ptx_module *module = l->modules; module != NULL; module = module->next) {
        for (ptx_function *function = module->functions; function != NULL;
             function = function->next) {
            count += function->has_body;
            kernels += function->has_body && function->is_entry;
        }
    }
    funcs = emu_arena_get(&l->load, &l->load.keep, count, sizeof *funcs);
    l->program->funcs = funcs;
    l->program->kernels =
        emu_arena_get(&l->load, &l->load.keep, kernels, sizeof(emu_kernel));
    for (ptx_module *module = l->modules; module != NULL; module = module->next) {
        l->load.source_name = module->source_name;
        for (ptx_function *function = module->functions; function != NULL;
             function = function->next) {
            if (function->has_body && function->same == NULL) {
                program_create_function(l, function, funcs);
            }
        }
    }
}

/* Copies the constants to memory that lives as long as the program, with room behind
 * them: code may read past the last constant. */
static void
program_keep_constants(loader *l)
{
    enum { READ_AT_END = 512 };
    uint8_t *constants =
        emu_arena_get(&l->load, &l->load.keep, l->constants.size + READ_AT_END, 1);

    if (l->constants.size > 0) {
        memcpy(constants, l->constants.bytes, l->constants.size);
    }
    l->program->constants = constants;
}

/* -- parts that the program keeps -------------------------------------------------- */

/* Keeps the paths of .file for reports. Each text numbers its own files, so only those
 * of the first text that names any are kept. */
static void
program_collect_files(loader *l)
{
    const ptx_module *module = l->modules;
    const ptx_file *first = NULL, *file;
    const char **files;
    size_t count = 0;

    while (module != NULL && module->files == NULL) {
        module = module->next;
    }
    if (module != NULL) {
        first = module->files;
    }
    for (file = first; file != NULL; file = file->next) {
        if (file->index < MAX_FILE_NUMBER && file->index + 1 > count) {
            count = file->index + 1;
        }
    }
    files = emu_arena_get(&l->load, &l->load.keep, count, sizeof *files);
    for (file = first; file != NULL; file = file->next) {
        if (file->index < count) {
            files[file->index] = file->path;
        }
    }
    l->program->files = files;
    l->program->file_count = count;
}

/* -- parsing ----------------------------------------------------------------------- */

static void
program_parse_source(loader *l, const emu_source *source)
{
    size_t size = source->size;
    ptx_module *module;

    while (size > 0 && source->text[size - 1] == 0) {
        size--;
    }
    l->load.source_name = source->name;
    module = ptx_parse(&l->load, &l->names, source->text, size, source->name);
    if (module->version > NEWEST_VERSION) {
        emu_load_fail(&l->load, EMU_LOAD_UNSUPPORTED_VERSION, 0,
                      "PTX version %u.%u is newer than the software device knows",
                      module->version / 10, module->version % 10);
    }
    module->max_registers = source->max_registers;
    module->is_library = source->is_library;
    *l->modules_tail = module;
    l->modules_tail = &module->next;
}

/* Adds the functions of the device runtime library, if a module declares some. */
static void
program_add_runtime(loader *l)
{
    const char *text = emu_runtime_text();
    const emu_source source = {.text = text,
                               .size = strlen(text),
                               .name = "the device runtime library",
                               .is_library = true};

    if (emu_runtime_text_is_wanted(l->modules)) {
        program_parse_source(l, &source);
    }
}

/* -- the passes -------------------------------------------------------------------- */

/* Runs the passes over one function, then frees the scratch memory that they used:
 * large texts have thousands of functions. */
static void
program_compile_function(loader *l, ptx_function *function)
{
    low_func f = {.load = &l->load,
                  .constants = &l->constants,
                  .function = function,
                  .call_base = function->code->call_base,
                  .dynamic_shared = function->code->dynamic_shared,
                  .dump = l->dump};

    l->load.source_name = function->module->source_name;
    l->load.parsed = l->load.scratch;
    memset(&l->load.scratch, 0, sizeof l->load.scratch);
    if (l->dump & EMU_DUMP_PARSED) {
        emu_dump_parsed(function);
    }
    low_begin(&f);
    low_instructions(&f);
    low_allocate(&f);
    if (l->dump & EMU_DUMP_REGISTERS) {
        emu_dump_registers(&f);
    }
    low_finish(&f, l->handlers, function->code);
    if (l->dump & EMU_DUMP_CODE) {
        emu_dump_code(function->code, l->handlers);
    }
    emu_arena_free(&l->load.scratch);
    l->load.scratch = l->load.parsed;
    memset(&l->load.parsed, 0, sizeof l->load.parsed);
}

/* The limit of registers for the kernels of a module: the lower one of two; 0: none. */
static unsigned
program_max_registers(const loader *l, const ptx_module *module)
{
    if (l->max_registers == 0 ||
        (module->max_registers > 0 && module->max_registers < l->max_registers)) {
        return module->max_registers;
    }
    return l->max_registers;
}

static void
program_compile_kernel(loader *l, ptx_function *function)
{
    emu_kernel *kernel = &l->program->kernels[l->program->kernel_count++];
    uint64_t shared = 0;

    emu_kernel_place_parameters(&l->load, function, &kernel->info);
    function->code->dynamic_shared = (uint32_t)emu_shared_place_kernel(
        &l->load, function, l->modules, &l->shared, &shared);
    program_compile_function(l, function);
    kernel->func = function->code;
    kernel->program = l->program;
    kernel->info.shared_size = (size_t)shared;
    kernel->info.const_size = l->const_size;
    emu_kernel_describe(function, program_max_registers(l, function->module),
                        &kernel->info);
}

static void
program_compile_module(loader *l, ptx_module *module)
{
    for (ptx_function *function = module->functions; function != NULL;
         function = function->next) {
        if (function->code != NULL && function->is_entry) {
            program_compile_kernel(l, function);
        }
        else if (function->code != NULL) {
            program_compile_function(l, function);
        }
    }
}

/* All passes, from texts to code. */
static void
program_build(loader *l, CUcontext context, const emu_source *sources, size_t count)
{
    l->program = emu_arena_get(&l->load, &l->load.keep, 1, sizeof(emu_program));
    l->program->context = context;
    /* texts -> modules */
    ptx_words_enter(&l->load, &l->names);
    for (size_t i = 0; i < count; i++) {
        program_parse_source(l, &sources[i]);
    }
    program_add_runtime(l);
    /* names -> definitions -> addresses */
    l->modules = emu_symbols_choose(l->modules);
    emu_symbols_link(&l->load, l->modules);
    program_create_variables(l);
    program_create_functions(l);
    for (ptx_module *module = l->modules; module != NULL; module = module->next) {
        emu_symbols_initialise(&l->load, module);
    }
    emu_references_collect(&l->load, l->modules);
    emu_shared_place_common(&l->load, l->modules, &l->shared);
    emu_stack_sizes(l->modules);
    /* PTX instructions -> machine instructions -> places of registers -> final code */
    for (ptx_module *module = l->modules; module != NULL; module = module->next) {
        program_compile_module(l, module);
    }
    /* what the program keeps beside its code */
    program_keep_constants(l);
    program_collect_files(l);
}

/* -- loading ----------------------------------------------------------------------- */

static CUresult
program_result_of(emu_load_failure failure)
{
    static const CUresult results[] = {
        [EMU_LOAD_NO_FAILURE] = CUDA_SUCCESS,
        [EMU_LOAD_INVALID_PTX] = CUDA_ERROR_INVALID_PTX,
        [EMU_LOAD_UNSUPPORTED_VERSION] = CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        [EMU_LOAD_NO_MEMORY] = CUDA_ERROR_OUT_OF_MEMORY};

    return results[failure];
}

/* Builds the program. emu_load_fail jumps back here. */
static CUresult
program_try_build(loader *l, CUcontext context, const emu_source *sources, size_t count)
{
    if (setjmp(l->load.failed) != 0) {
        return program_result_of(l->load.failure);
    }
    program_build(l, context, sources, count);
    return CUDA_SUCCESS;
}

/* Describes the kernels in the log, in the words of an H200's driver. The log is cut
 * where its room ends. */
static void
program_describe_kernels(const emu_program *program, emu_load_options *options)
{
    size_t size = 0;

    for (size_t i = 0; i < program->kernel_count && size < options->info_log_room;
         i++) {
        const emu_kernel_info *info = &program->kernels[i].info;
        const int more = snprintf(
            options->info_log + size, options->info_log_room - size,
            "info    : Function properties for '%s':\ninfo    : used %u registers, "
            "%zu stack, %zu bytes smem, %zu bytes cmem[0]\n",
            info->name, info->registers, info->local_size, info->shared_size,
            info->params_size);

        if (more > 0) {
            size += (size_t)more;
        }
    }
    options->info_log_size = strlen(options->info_log);
}

/* Reports the sizes of the logs, which end in a zero byte. */
static void
program_finish_logs(const loader *l, const emu_program *program,
                    emu_load_options *options)
{
    if (options == NULL) {
        return;
    }
    options->error_log_size = l->load.error_size;
    options->info_log_size = 0;
    if (options->info_log != NULL && options->info_log_room > 0) {
        options->info_log[0] = 0;
        if (options->verbose && program != NULL) {
            program_describe_kernels(program, options);
        }
    }
}

/* The most memory that the load may take: a fixed part and 256 bytes for each byte of
 * the texts, of which each counts as 16 MiB at most. */
static size_t
program_memory_limit(const emu_source *sources, size_t count)
{
    const size_t fixed = (size_t)1 << 28, largest = (size_t)1 << 24;
    size_t limit = fixed;

    for (size_t i = 0; i < count; i++) {
        size_t size = sources[i].size;

        if (size > largest) {
            size = largest;
        }
        limit += 256 * size;
    }
    return limit;
}

static void
program_read_options(loader *l, const emu_load_options *options)
{
    if (options == NULL) {
        return;
    }
    l->max_registers = options->max_registers;
    l->load.error_room = options->error_log_room;
    if (options->error_log != NULL && options->error_log_room > 0) {
        l->load.error_log = options->error_log;
        l->load.error_log[0] = 0;
    }
}

CUresult
emu_program_load(CUcontext context, const emu_source *sources, size_t count,
                 emu_load_options *options, const emu_handler_set *handlers,
                 emu_program **out)
{
    loader *l = calloc(1, sizeof *l);
    CUresult status;

    *out = NULL;
    if (l == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    l->modules_tail = &l->modules;
    l->handlers = handlers;
    l->dump = emu_dump_flags();
    l->load.limit = program_memory_limit(sources, count);
    program_read_options(l, options);
    status = program_try_build(l, context, sources, count);
    if (status == CUDA_SUCCESS) {
        l->program->memory = l->load.keep.first;
        *out = l->program;
    }
    else {
        if (l->program != NULL) {
            program_release_variables(l->program);
        }
        emu_arena_free(&l->load.keep);
    }
    program_finish_logs(l, *out, options);
    emu_arena_free(&l->load.scratch);
    emu_arena_free(&l->load.parsed);
    free(l);
    return status;
}

void
emu_program_free(emu_program *program)
{
    if (program == NULL) {
        return;
    }
    emu_arena arena = {.first = program->memory}; /* also has the record itself */

    program_release_variables(program);
    emu_arena_free(&arena);
}
