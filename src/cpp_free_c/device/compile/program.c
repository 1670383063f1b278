/* Loading of programs: program_build() has the passes in order. See program.h. */
#include "device/compile/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/base/device.h"
#include "device/compile/dump.h"
#include "device/compile/finish.h"
#include "device/compile/lower.h"
#include "device/compile/registers.h"
#include "device/compile/symbols.h"
#include "device/memory/memory.h"
#include "device/ptx/parse_module.h"

enum {
    MAX_REGISTERS = 255,
    REGISTERS_PER_BLOCK = 65536,
    MAX_THREADS = 1024,
    NEWEST_VERSION = 99
};

/* The state of a load, which ends with it. */
typedef struct {
    emu_load load;
    ptx_names names;
    ptx_module *modules, **modules_tail;
    emu_program *program;
    low_constants constants;
    const emu_op *ops;
    size_t const_size;
    unsigned max_registers;
    unsigned dump; /* EMU_DUMP_ flags */
} loader;

/* -- variables --------------------------------------------------------------------- */

static bool
program_has_memory(const ptx_var *var)
{
    return !var->is_extern && !var->same &&
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
    const ptx_module *module;
    ptx_var *var;
    size_t count = 0;

    for (module = l->modules; module; module = module->next) {
        for (var = module->vars; var; var = var->next) {
            count += program_has_memory(var);
        }
    }
    l->program->variables =
        emu_arena_get(&l->load, &l->load.keep, count, sizeof(emu_variable));
    for (module = l->modules; module; module = module->next) {
        l->load.source_name = module->source_name;
        for (var = module->vars; var; var = var->next) {
            if (program_has_memory(var)) {
                program_create_variable(l, var);
            }
        }
    }
}

static void
program_release_variables(emu_program *program)
{
    size_t i;

    for (i = 0; i < program->variable_count; i++) {
        emu_variable *variable = &program->variables[i];

        /* the context may have freed it, and its record may be another one's now */
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

static void
program_create_functions(loader *l)
{
    ptx_module *module;
    ptx_function *function;
    const emu_func **funcs;
    size_t count = 0, kernels = 0;

    for (module = l->modules; module; module = module->next) {
        for (function = module->functions; function; function = function->next) {
            count += function->has_body;
            kernels += function->has_body && function->is_entry;
        }
    }
    funcs = emu_arena_get(&l->load, &l->load.keep, count, sizeof *funcs);
    l->program->funcs = funcs;
    l->program->kernels =
        emu_arena_get(&l->load, &l->load.keep, kernels, sizeof(emu_kernel));
    for (module = l->modules; module; module = module->next) {
        l->load.source_name = module->source_name;
        for (function = module->functions; function; function = function->next) {
            if (!function->has_body || function->same) {
                continue;
            }
            function->code =
                emu_arena_get(&l->load, &l->load.keep, 1, sizeof(emu_func));
            function->code->program = l->program;
            function->code->number = (uint32_t)l->program->func_count;
            low_declare(&l->load, function, function->code);
            /* calls must not reach a kernel */
            funcs[l->program->func_count++] =
                function->is_entry ? NULL : function->code;
        }
    }
}

/* Places the parameters of a kernel in the packed block, and describes them. */
static void
program_place_parameters(loader *l, ptx_function *function, emu_kernel_info *info)
{
    emu_param *params;
    size_t count = 0, top = 0;
    ptx_var *var;

    for (var = function->params; var; var = var->next) {
        count++;
    }
    params = emu_arena_get(&l->load, &l->load.keep, count, sizeof *params);
    info->params = params;
    info->param_count = count;
    for (var = function->params; var; var = var->next, params++) {
        if (var->space != PTX_SPACE_PARAM) {
            emu_load_fail(&l->load, EMU_LOAD_INVALID_PTX, function->line,
                          "a parameter of the kernel %s is a register",
                          function->name->text);
        }
        top = (top + var->align - 1) & ~((size_t)var->align - 1);
        var->address = top;
        params->offset = top;
        params->size = (size_t)var->size;
        params->align = var->align;
        top += (size_t)var->size;
        if (top > 1 << 16) {
            emu_load_fail(&l->load, EMU_LOAD_INVALID_PTX, function->line,
                          "the parameters of %s are too large", function->name->text);
        }
    }
    info->params_size = top;
}

/* The threads of a block of this size, at most MAX_THREADS. */
static unsigned
program_block_threads(const unsigned size[3])
{
    uint64_t count = (uint64_t)size[0] * size[1];

    if (count <= MAX_THREADS) {
        count *= size[2];
    }
    if (count > MAX_THREADS) {
        return MAX_THREADS;
    }
    return (unsigned)count;
}

static unsigned
program_lesser(unsigned a, unsigned b)
{
    if (a < b) {
        return a;
    }
    return b;
}

/* The registers that a compiler would use at most. There is no shortage of them here,
 * so a kernel without limits can be launched with as many threads as a block may have.
 */
static unsigned
program_count_registers(const loader *l, const ptx_function *function, unsigned threads)
{
    unsigned count = function->code->registers + 8;

    if (threads > 0) {
        count = program_lesser(count, REGISTERS_PER_BLOCK / threads);
    }
    if (function->max_nreg > 0) {
        count = program_lesser(count, function->max_nreg);
    }
    if (l->max_registers > 0) {
        count = program_lesser(count, l->max_registers);
    }
    return program_lesser(count, MAX_REGISTERS);
}

/* The size of blocks that the text names: all zeros if it names none. */
static const unsigned *
program_block_bound(const ptx_function *function)
{
    if (function->req_ntid[0] != 0) {
        return function->req_ntid;
    }
    return function->max_ntid;
}

static void
program_describe_kernel(loader *l, ptx_function *function, emu_kernel *kernel,
                        uint64_t shared)
{
    emu_kernel_info *info = &kernel->info;
    const unsigned *bound = program_block_bound(function);

    kernel->func = function->code;
    kernel->program = l->program;
    info->name = function->code->name;
    memcpy(info->max_ntid, function->max_ntid, sizeof info->max_ntid);
    memcpy(info->req_ntid, function->req_ntid, sizeof info->req_ntid);
    info->max_threads = MAX_THREADS;
    if (bound[0] != 0) {
        info->max_threads = program_block_threads(bound);
    }
    info->registers = program_count_registers(l, function, info->max_threads);
    info->shared_size = (size_t)shared;
    info->const_size = l->const_size;
    if (function->code->local_size > LOW_ENTRY_ROOM) {
        info->local_size = function->code->local_size - LOW_ENTRY_ROOM;
    }
    info->ptx_version = function->module->version;
    info->target = function->module->target;
}

/* Copies the constants to memory that lives as long as the program. An operand that is
 * absent is read at the end, whatever its width. */
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

/* -- files ------------------------------------------------------------------------- */

/* The files of the first text that has any: each text numbers its own. */
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
        if (file->index < 4096 && file->index + 1 > count) {
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

/* -- loading ----------------------------------------------------------------------- */

static void
program_parse_source(loader *l, const emu_source *source)
{
    size_t size = source->size;
    ptx_module *module;

    while (size && source->text[size - 1] == 0) {
        size--;
    }
    l->load.source_name = source->name;
    module = ptx_parse(&l->load, &l->names, source->text, size, source->name);
    if (module->version > NEWEST_VERSION) {
        emu_load_fail(&l->load, EMU_LOAD_UNSUPPORTED_VERSION, 0,
                      "PTX version %u.%u is newer than the software device knows",
                      module->version / 10, module->version % 10);
    }
    *l->modules_tail = module;
    l->modules_tail = &module->next;
}

/* -- the passes -------------------------------------------------------------------- */

/* The passes over one function. Its scratch memory is freed at once, because large
 * texts have thousands of functions. */
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
    low_finish(&f, l->ops, function->code);
    if (l->dump & EMU_DUMP_CODE) {
        emu_dump_code(function->code, l->ops);
    }
    emu_arena_free(&l->load.scratch);
    l->load.scratch = l->load.parsed;
    memset(&l->load.parsed, 0, sizeof l->load.parsed);
}

static void
program_compile_kernel(loader *l, ptx_function *function)
{
    emu_kernel *kernel = &l->program->kernels[l->program->kernel_count++];
    uint64_t shared = 0;

    program_place_parameters(l, function, &kernel->info);
    function->code->dynamic_shared =
        (uint32_t)emu_shared_place_kernel(&l->load, function, l->modules, &shared);
    program_compile_function(l, function);
    program_describe_kernel(l, function, kernel, shared);
}

static void
program_compile_module(loader *l, ptx_module *module)
{
    ptx_function *function;

    for (function = module->functions; function != NULL; function = function->next) {
        if (function->code != NULL && function->is_entry) {
            program_compile_kernel(l, function);
        }
        else if (function->code != NULL) {
            program_compile_function(l, function);
        }
    }
}

/* From texts to code, pass by pass. */
static void
program_build(loader *l, CUcontext context, const emu_source *sources, size_t count)
{
    ptx_module *module;

    l->program = emu_arena_get(&l->load, &l->load.keep, 1, sizeof(emu_program));
    l->program->context = context;
    ptx_names_open(&l->load, &l->names);
    for (size_t i = 0; i < count; i++) {
        program_parse_source(l, &sources[i]);
    }
    /* names -> definitions -> addresses */
    emu_symbols_link(&l->load, l->modules);
    program_create_variables(l);
    program_create_functions(l);
    for (module = l->modules; module != NULL; module = module->next) {
        emu_symbols_initialise(&l->load, module);
    }
    emu_shared_place_common(&l->load, l->modules);
    emu_stack_sizes(l->modules);
    /* PTX instructions -> machine instructions -> places of registers -> final code */
    for (module = l->modules; module != NULL; module = module->next) {
        program_compile_module(l, module);
    }
    program_keep_constants(l);
    program_collect_files(l);
}

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

/* emu_load_fail jumps here. */
static CUresult
program_try_build(loader *l, CUcontext context, const emu_source *sources, size_t count)
{
    if (setjmp(l->load.failed) != 0) {
        return program_result_of(l->load.failure);
    }
    program_build(l, context, sources, count);
    return CUDA_SUCCESS;
}

/* Reports the sizes of the logs, which end in a zero byte. */
static void
program_finish_logs(const loader *l, emu_load_options *options)
{
    if (options == NULL) {
        return;
    }
    options->error_log_size = l->load.error_size;
    options->info_log_size = 0;
    if (options->info_log && options->info_log_room) {
        options->info_log[0] = 0;
    }
}

CUresult
emu_program_load(CUcontext context, const emu_source *sources, size_t count,
                 emu_load_options *options, const emu_op *ops, emu_program **out)
{
    loader *l = calloc(1, sizeof *l);
    CUresult status;
    size_t i;

    *out = NULL;
    if (l == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    l->modules_tail = &l->modules;
    l->ops = ops;
    l->dump = emu_dump_flags();
    l->load.limit = (size_t)1 << 28;
    for (i = 0; i < count; i++) {
        l->load.limit += 256 * (sources[i].size < 1 << 24 ? sources[i].size : 1 << 24);
    }
    if (options) {
        l->max_registers = options->max_registers;
        l->load.error_log = options->error_log_room ? options->error_log : NULL;
        l->load.error_room = options->error_log_room;
        if (l->load.error_log) {
            l->load.error_log[0] = 0;
        }
    }
    status = program_try_build(l, context, sources, count);
    if (status == CUDA_SUCCESS) {
        l->program->memory = l->load.keep.first;
        *out = l->program;
    }
    else {
        if (l->program) {
            program_release_variables(l->program);
        }
        emu_arena_free(&l->load.keep);
    }
    program_finish_logs(l, options);
    emu_arena_free(&l->load.scratch);
    emu_arena_free(&l->load.parsed);
    free(l);
    return status;
}

void
emu_program_free(emu_program *program)
{
    if (program) {
        emu_arena arena = {.first = program->memory};

        program_release_variables(program);
        emu_arena_free(&arena);
    }
}

/* -- look-up ----------------------------------------------------------------------- */

const emu_kernel *
emu_program_kernel(const emu_program *program, const char *name)
{
    size_t i;

    for (i = 0; i < program->kernel_count; i++) {
        if (strcmp(program->kernels[i].info.name, name) == 0) {
            return &program->kernels[i];
        }
    }
    return NULL;
}

size_t
emu_program_kernel_count(const emu_program *program)
{
    return program->kernel_count;
}

const emu_kernel *
emu_program_kernel_at(const emu_program *program, size_t index)
{
    return index < program->kernel_count ? &program->kernels[index] : NULL;
}

const emu_kernel_info *
emu_kernel_get_info(const emu_kernel *kernel)
{
    return &kernel->info;
}

/* The variable of a name and kind, a visible one before others; NULL if there is none.
 */
static const emu_variable *
program_find_variable(const emu_program *program, const char *name, unsigned reference)
{
    const emu_variable *found = NULL;
    size_t i;

    for (i = 0; i < program->variable_count; i++) {
        const emu_variable *variable = &program->variables[i];

        if (strcmp(variable->name, name) == 0 && variable->reference == reference &&
            (!found || variable->is_visible)) {
            found = variable;
        }
    }
    return found;
}

int
emu_program_reference(const emu_program *program, const char *name, int surface,
                      uint64_t *address)
{
    const emu_variable *found =
        program_find_variable(program, name, surface ? PTX_W_surfref : PTX_W_texref);

    if (!found) {
        return 0;
    }
    *address = found->address;
    return 1;
}

int
emu_program_variable(const emu_program *program, const char *name, uint64_t *address,
                     size_t *size)
{
    const emu_variable *found = program_find_variable(program, name, 0);

    if (!found) {
        return 0;
    }
    *address = found->address;
    *size = found->size;
    return 1;
}
