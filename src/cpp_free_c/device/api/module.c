/* Modules: loading from every kind of image, looking names up, unloading. */
#include "device/api/module.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/api/entry.h"
#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/stream.h"
#include "device/machine/execution.h"

static void
destroy_function(emu_object *object)
{
    emu_function *function = (emu_function *)object;
    emu_function **link = &function->module->functions;

    while (*link != function) {
        link = &(*link)->next;
    }
    *link = function->next;
    emu_object_free(object);
}

static void
destroy_module(emu_object *object)
{
    emu_module *module = (emu_module *)object;

    while (module->functions) {
        destroy_function(&module->functions->object);
    }
    emu_references_close(module);
    emu_program_free(module->program);
    emu_object_free(object);
}

/* A context lists its newest object first, so a function goes before its module. */

static int
capability_of(const emu_context *context)
{
    return context->device->major * 10 + context->device->minor;
}

/* Parses an image into a program. Called without the API lock. */
static CUresult
load_program(emu_context *context, const void *data, size_t size, emu_jit *jit,
             emu_program **program)
{
    emu_image image;
    int capability = capability_of(context);
    CUresult status = emu_image_open(data, size, capability, &image);

    *program = NULL;
    if (status != CUDA_SUCCESS) {
        emu_jit_complain(jit, image.problem);
        return status;
    }
    status = emu_program_load(context, image.texts, image.count, &jit->load, emu_ops(),
                              program);
    emu_image_close(&image);
    if (status == CUDA_SUCCESS && emu_program_kernel_count(*program) > 0) {
        const emu_kernel_info *info =
            emu_kernel_get_info(emu_program_kernel_at(*program, 0));

        if (info->target > (unsigned)capability) {
            char sentence[160];

            (void)snprintf(sentence, sizeof(sentence),
                           "This PTX is for compute capability %u.%u, the device has "
                           "%d.%d: see PYCUDA_EMULATOR_CAPABILITY.",
                           info->target / 10, info->target % 10, capability / 10,
                           capability % 10);
            emu_jit_complain(jit, sentence);
            emu_program_free(*program);
            *program = NULL;
            status = CUDA_ERROR_NO_BINARY_FOR_GPU;
        }
    }
    return status;
}

/* Loads with the API lock given back meanwhile: parsing may take a while. */
static CUresult
load(emu_context *context, const void *data, size_t size, emu_jit *jit, CUmodule *out)
{
    double start = emu_seconds();
    emu_program *program;
    emu_module *module;
    emu_call call;
    CUresult status;

    emu_use(&context->object);
    call = emu_pause();
    status = load_program(context, data, size, jit, &program);
    emu_resume(call);
    emu_done(&context->object);
    emu_jit_finish(jit, emu_seconds() - start);
    if (status != CUDA_SUCCESS) {
        if (jit->load.error_log_size) {
            emu_message_set("%.*s", (int)jit->load.error_log_size, jit->load.error_log);
        }
        return status;
    }
    module = emu_object_new(EMU_MODULE, sizeof(*module), context, destroy_module);
    if (!module) {
        emu_program_free(program);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->program = program;
    *out = module;
    return CUDA_SUCCESS;
}

/* Loads where the caller gave no log: the error goes to emu_last_message alone. */
static CUresult
load_plain(emu_context *context, const void *data, size_t size, CUmodule *out)
{
    char log[1024] = "";
    emu_jit jit = {.load = {.error_log = log, .error_log_room = sizeof(log)}};

    return load(context, data, size, &jit, out);
}

/* The whole file with a zero byte behind it; NULL and why. */
static char *
read_file(const char *path, size_t *size, CUresult *status)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    long length;

    if (!file) {
        *status =
            errno == ENOENT ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
        return NULL;
    }
    *status = CUDA_ERROR_INVALID_IMAGE;
    /* a folder can be opened, too, and has no end */
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0 &&
        length < LONG_MAX && fseek(file, 0, SEEK_SET) == 0) {
        data = malloc((size_t)length + 1);
        *status = CUDA_ERROR_OUT_OF_MEMORY;
        if (data && fread(data, 1, (size_t)length, file) != (size_t)length) {
            free(data);
            data = NULL;
            *status = CUDA_ERROR_INVALID_IMAGE;
        }
        if (data) {
            data[length] = 0;
            *size = (size_t)length;
            *status = CUDA_SUCCESS;
        }
    }
    (void)fclose(file); /* read only: nothing is lost */
    return data;
}

CUresult
emu_cuModuleLoad(CUmodule *module, const char *fname)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(ModuleLoad, &context);

    if (status == CUDA_SUCCESS && (!module || !fname)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        size_t size = 0;
        char *data = read_file(fname, &size, &status);

        if (data) {
            status = load_plain(context, data, size, module);
            free(data);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuModuleLoadData(CUmodule *module, const void *image)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(ModuleLoadData, &context);

    if (status == CUDA_SUCCESS && (!module || !image)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = load_plain(context, image, EMU_IMAGE_SIZE_UNKNOWN, module);
    }
    return emu_leave(status);
}

CUresult
emu_cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(ModuleLoadFatBinary, &context);

    if (status == CUDA_SUCCESS && (!module || !fatCubin)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = load_plain(context, fatCubin, EMU_IMAGE_SIZE_UNKNOWN, module);
    }
    return emu_leave(status);
}

CUresult
emu_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                       CUjit_option *options, void **optionValues)
{
    emu_context *context;
    emu_jit jit;
    CUresult status = EMU_ENTER_CONTEXT(ModuleLoadDataEx, &context);

    if (status == CUDA_SUCCESS && (!module || !image)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_jit_read(&jit, numOptions, options, optionValues);
    }
    if (status == CUDA_SUCCESS) {
        char log[1024] = "";

        if (!jit.load.error_log) {
            jit.load.error_log = log;
            jit.load.error_log_room = sizeof(log);
        }
        status = load(context, image, EMU_IMAGE_SIZE_UNKNOWN, &jit, module);
    }
    return emu_leave(status);
}

CUresult
emu_cuModuleUnload(CUmodule hmod)
{
    emu_context *context;
    CUresult status = EMU_ENTER_MODULE(ModuleUnload, hmod, &context);

    if (status == CUDA_SUCCESS) {
        emu_module *module = emu_object_get(hmod, EMU_MODULE);

        if (module && !emu_can_wait_unused(&module->object)) {
            status = CUDA_ERROR_NOT_PERMITTED;
        }
        else if (module) {
            emu_context *owner = module->object.context;

            emu_count_free(owner);
            emu_object_unlist(&module->object); /* no new launches */
            emu_use(&owner->object);
            emu_wait_unused(&module->object);
            destroy_module(&module->object);
            emu_done(&owner->object);
        }
        else {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
    }
    return emu_leave(status);
}

/* -- names ------------------------------------------------------------------------- */

/* The function record of a kernel, made when it is first asked for. */
static emu_function *
function_of(emu_module *module, const emu_kernel *kernel)
{
    const emu_device_limits *limits = &module->object.context->device->limits;
    emu_function *function = module->functions;

    while (function && function->kernel != kernel) {
        function = function->next;
    }
    if (!function) {
        size_t fixed = emu_kernel_get_info(kernel)->shared_size;

        function = emu_object_new(EMU_FUNCTION, sizeof(*function),
                                  module->object.context, destroy_function);
        if (function) {
            function->module = module;
            function->kernel = kernel;
            function->dynamic_shared = fixed < (size_t)limits->shared_per_block
                                           ? limits->shared_per_block - (int)fixed
                                           : 0;
            function->carveout = -1;
            function->next = module->functions;
            module->functions = function;
        }
    }
    return function;
}

CUresult
emu_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    emu_context *context;
    emu_module *module = NULL;
    CUresult status = EMU_ENTER_MODULE(ModuleGetFunction, hmod, &context);

    if (status == CUDA_SUCCESS && (!hfunc || !name)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        module = emu_object_get(hmod, EMU_MODULE);
        status = module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    if (status == CUDA_SUCCESS) {
        const emu_kernel *kernel = emu_program_kernel(module->program, name);

        if (!kernel) {
            status = CUDA_ERROR_NOT_FOUND;
        }
        else {
            emu_function *function = function_of(module, kernel);

            if (function) {
                *hfunc = function;
            }
            else {
                status = CUDA_ERROR_OUT_OF_MEMORY;
            }
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    emu_context *context;
    emu_module *module = NULL;
    CUresult status = EMU_ENTER_MODULE(ModuleGetGlobal, hmod, &context);

    if (status == CUDA_SUCCESS && (!name || (!dptr && !bytes))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        module = emu_object_get(hmod, EMU_MODULE);
        status = module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    if (status == CUDA_SUCCESS) {
        uint64_t address;
        size_t size;

        if (emu_program_variable(module->program, name, &address, &size)) {
            if (dptr) {
                *dptr = address;
            }
            if (bytes) {
                *bytes = size;
            }
        }
        else { /* an H200 tells the names of references from unknown ones */
            status = emu_program_reference(module->program, name, 0, &address) ||
                             emu_program_reference(module->program, name, 1, &address)
                         ? CUDA_ERROR_INVALID_VALUE
                         : CUDA_ERROR_NOT_FOUND;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuModuleGetFunctionCount(unsigned int *count, CUmodule hmod)
{
    emu_context *context;
    CUresult status = EMU_ENTER_MODULE(ModuleGetFunctionCount, hmod, &context);

    if (status == CUDA_SUCCESS) {
        const emu_module *module = emu_object_get(hmod, EMU_MODULE);

        if (!module) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else if (!count) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            *count = (unsigned int)emu_program_kernel_count(module->program);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
                               CUmodule mod)
{
    emu_context *context;
    emu_module *module = NULL;
    CUresult status = EMU_ENTER_MODULE(ModuleEnumerateFunctions, mod, &context);

    if (status == CUDA_SUCCESS) {
        module = emu_object_get(mod, EMU_MODULE);
        status = module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    if (status == CUDA_SUCCESS && !functions && numFunctions > 0) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; status == CUDA_SUCCESS && i < numFunctions; i++) {
        const emu_kernel *kernel = emu_program_kernel_at(module->program, i);

        if (!kernel) {
            break;
        }
        functions[i] = function_of(module, kernel);
        if (!functions[i]) {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    CUresult status = EMU_ENTER(ModuleGetLoadingMode);

    if (status == CUDA_SUCCESS && !mode) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *mode = 1; /* eager */
    }
    return emu_leave(status);
}
