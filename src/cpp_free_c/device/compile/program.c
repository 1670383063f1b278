/* Loading of programs. See program.h.
 *
 * program_build() has the passes in order; those over one function are in
 * program_compile_function(). */
#include "device/compile/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/base/device.h"
#include "device/compile/lower.h"
#include "device/compile/runtime.h"
#include "device/memory/memory.h"
#include "device/ptx/ir.h"
#include "device/ptx/words.h"

/* -- what the driver reports about a kernel ---------------------------------------- */

enum {
    MAX_REGISTERS = 255,
    REGISTERS_PER_BLOCK = 65536,
    MAX_THREADS = 1024,
    MAX_PARAMETER_BYTES = 1 << 16,
    MAX_SHARED_BYTES = 48 << 10, /* of the static variables of a kernel */
    MAX_CONST_BYTES = 64 << 10,  /* of the variables of a text */
    EXTRA_REGISTERS = 8          /* for what a compiler adds, such as addresses */
};

/* -- sizes that NVIDIA's assembler refuses, in its words --------------------------- */

static void
limit_shared(emu_load *load, const ptx_function *kernel, uint64_t bytes)
{
    if (bytes > MAX_SHARED_BYTES) {
        emu_load_fail(load, EMU_LOAD_INVALID_PTX, 0,
                      "Entry function '%s' uses too much shared data (0x%llx bytes, "
                      "0x%x max)",
                      kernel->name->text, (unsigned long long)bytes, MAX_SHARED_BYTES);
    }
}

static void
limit_const(emu_load *load, const ptx_module *module)
{
    uint64_t bytes = 0;

    for (const ptx_var *var = module->vars; var != NULL; var = var->next) {
        if (var->space == PTX_SPACE_CONST && !var->is_extern) {
            bytes = (bytes + var->align - 1) & ~((uint64_t)var->align - 1);
            bytes += var->size;
        }
    }
    if (bytes > MAX_CONST_BYTES) {
        load->source_name = module->source_name;
        emu_load_fail(
            load, EMU_LOAD_INVALID_PTX, 0,
            "File uses too much global constant data (0x%llx bytes, 0x%x max)",
            (unsigned long long)bytes, MAX_CONST_BYTES);
    }
}

/* -- parameters -------------------------------------------------------------------- */

/* Places the parameters of a kernel in the packed block and describes them. Lowering
 * needs the places. */
static void
kernel_place_parameters(emu_load *load, ptx_function *function, emu_kernel_info *info)
{
    emu_param *params;
    size_t count = 0, top = 0;

    for (const ptx_var *var = function->params; var != NULL; var = var->next) {
        count++;
    }
    params = emu_arena_get(load, &load->keep, count, sizeof *params);
    info->params = params;
    info->param_count = count;
    for (ptx_var *var = function->params; var != NULL; var = var->next, params++) {
        if (var->space != PTX_SPACE_PARAM) {
            emu_load_fail(load, EMU_LOAD_INVALID_PTX, function->line,
                          "a parameter of the kernel %s is a register",
                          function->name->text);
        }
        top = (top + var->align - 1) & ~((size_t)var->align - 1);
        var->address = top;
        params->offset = top;
        params->size = (size_t)var->size;
        params->align = var->align;
        top += (size_t)var->size;
        if (top > MAX_PARAMETER_BYTES) {
            emu_load_fail(load, EMU_LOAD_INVALID_PTX, function->line,
                          "the parameters of %s are too large", function->name->text);
        }
    }
    info->params_size = top;
}

/* -- limits ------------------------------------------------------------------------ */

/* The block size that the text names; all zeros if it names none. */
static const unsigned *
kernel_block_bound(const ptx_function *function)
{
    if (function->req_ntid[0] != 0) {
        return function->req_ntid;
    }
    return function->max_ntid;
}

/* The threads of a block of this size, at most MAX_THREADS. */
static unsigned
kernel_block_threads(const unsigned size[3])
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
kernel_lesser(unsigned a, unsigned b)
{
    if (a < b) {
        return a;
    }
    return b;
}

/* The number of registers to report: what a compiler would need, within all limits. The
 * software device has no shortage of registers. A block of `threads` threads must
 * therefore be able to run, if `threads` is not 0. */
static unsigned
kernel_count_registers(const ptx_function *function, unsigned max_registers,
                       unsigned threads)
{
    unsigned count = function->code->registers + EXTRA_REGISTERS;

    if (threads > 0) {
        count = kernel_lesser(count, REGISTERS_PER_BLOCK / threads);
    }
    if (function->max_nreg > 0) {
        count = kernel_lesser(count, function->max_nreg);
    }
    if (max_registers > 0) {
        count = kernel_lesser(count, max_registers);
    }
    return kernel_lesser(count, MAX_REGISTERS);
}

/* Sets the name, the limits and the sizes of a kernel whose code is complete, except
 * shared_size and const_size. `max_registers` is the limit of the load, or 0. */
static void
kernel_describe(const ptx_function *function, unsigned max_registers,
                emu_kernel_info *info)
{
    const unsigned *bound = kernel_block_bound(function);

    info->name = function->code->name;
    memcpy(info->max_ntid, function->max_ntid, sizeof info->max_ntid);
    memcpy(info->req_ntid, function->req_ntid, sizeof info->req_ntid);
    memcpy(info->req_cluster, function->req_cluster, sizeof info->req_cluster);
    info->max_threads = MAX_THREADS;
    if (bound[0] != 0) {
        info->max_threads = kernel_block_threads(bound);
    }
    info->registers =
        kernel_count_registers(function, max_registers, info->max_threads);
    if (function->code->local_size > EMU_LOCAL_START) {
        info->local_size = function->code->local_size - EMU_LOCAL_START;
    }
    info->ptx_version = function->module->version;
    info->target = function->module->target;
}

/* -- loading ----------------------------------------------------------------------- */

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
    low_counts counts; /* its record is NULL if nothing is counted */
    unsigned dump;     /* EMU_DUMP_ flags */
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
        limit_const(&l->load, module);
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
                  .counts = l->counts.record == NULL ? NULL : &l->counts,
                  .dump = l->dump};

    l->load.source_name = function->module->source_name;
    l->load.parsed = l->load.scratch;
    memset(&l->load.scratch, 0, sizeof l->load.scratch);
    if (l->dump & EMU_DUMP_PARSED) {
        emu_dump_parsed(function);
    }
    low_begin(&f);
    low_find_bounds(&f);
    low_instructions(&f);
    low_find_blocks(&f);
    low_find_meetings(&f);
    low_allocate(&f);
    low_find_exchanges(&f);
    if (l->dump & EMU_DUMP_REGISTERS) {
        emu_dump_registers(&f);
    }
    low_finish(&f, l->handlers, function->code);
    l->program->has_bounds |= f.bound_count > 0;
    if (l->dump & EMU_DUMP_CODE) {
        emu_dump_code(function->code);
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

    kernel_place_parameters(&l->load, function, &kernel->info);
    function->code->dynamic_shared = (uint32_t)emu_shared_place_kernel(
        &l->load, function, l->modules, &l->shared, &shared);
    limit_shared(&l->load, function, shared);
    program_compile_function(l, function);
    kernel->func = function->code;
    kernel->program = l->program;
    kernel->info.shared_size = (size_t)shared;
    kernel->info.const_size = l->const_size;
    kernel_describe(function, program_max_registers(l, function->module),
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

/* A number for a text without the zero bytes behind it, for number_of in
 * pycuda/_compile/recording.py, which computes the same: words of 8 bytes, the last one
 * filled with zeros. 10 kB take
 * a microsecond. */
static uint64_t
program_hash(const char *text, size_t size)
{
    while (size > 0 && text[size - 1] == 0) {
        size--;
    }
    uint64_t hash = size;

    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;

        memcpy(&word, text + at, size - at < 8 ? size - at : 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

/* Opens the record of counts for the texts, if the environment asks for one. */
static void
program_open_counts(loader *l, const emu_source *sources, size_t count)
{
    uint64_t hash = 0;

    l->counts.flags = emu_counts_wanted();
    if (l->counts.flags == 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        hash = hash * 31 + program_hash(sources[i].text, sources[i].size);
    }
    l->counts.record = emu_counts_open(hash, l->counts.flags, &l->counts.is_new);
    if (l->counts.record == NULL) {
        emu_load_fail(&l->load, EMU_LOAD_NO_MEMORY, 0, "no memory for counts");
    }
}

/* Keeps a new record of a program that is loaded, and frees that of another. */
static void
program_close_counts(const loader *l, bool is_loaded)
{
    if (l->counts.record == NULL || !l->counts.is_new) {
        return;
    }
    if (is_loaded) {
        emu_counts_keep(l->counts.record);
    }
    else {
        emu_counts_drop(l->counts.record);
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
    if (count == 1) {
        l->program->text_hash = program_hash(sources[0].text, sources[0].size);
    }
    program_open_counts(l, sources, count);
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
    program_close_counts(l, status == CUDA_SUCCESS);
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

/* -- lookups ----------------------------------------------------------------------- */

/* -- kernels ----------------------------------------------------------------------- */

const emu_kernel *
emu_program_kernel(const emu_program *program, const char *name)
{
    for (size_t i = 0; i < program->kernel_count; i++) {
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
    if (index >= program->kernel_count) {
        return NULL;
    }
    return &program->kernels[index];
}

const emu_kernel_info *
emu_kernel_get_info(const emu_kernel *kernel)
{
    return &kernel->info;
}

/* -- variables --------------------------------------------------------------------- */

/* The variable of a name and of a kind: `reference` is PTX_W_texref, PTX_W_surfref or
 * 0. A visible variable is preferred. Returns NULL if there is none. */
static const emu_variable *
lookup_variable(const emu_program *program, const char *name, unsigned reference)
{
    const emu_variable *found = NULL;

    for (size_t i = 0; i < program->variable_count; i++) {
        const emu_variable *variable = &program->variables[i];

        if (strcmp(variable->name, name) == 0 && variable->reference == reference &&
            (found == NULL || variable->is_visible)) {
            found = variable;
        }
    }
    return found;
}

bool
emu_program_variable(const emu_program *program, const char *name, uint64_t *address,
                     size_t *size)
{
    const emu_variable *found = lookup_variable(program, name, 0);

    if (found == NULL) {
        return false;
    }
    *address = found->address;
    *size = found->size;
    return true;
}

bool
emu_program_reference(const emu_program *program, const char *name, bool is_surface,
                      uint64_t *address)
{
    unsigned reference = PTX_W_texref;
    const emu_variable *found;

    if (is_surface) {
        reference = PTX_W_surfref;
    }
    found = lookup_variable(program, name, reference);
    if (found == NULL) {
        return false;
    }
    *address = found->address;
    return true;
}
