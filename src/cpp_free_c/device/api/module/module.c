/* Modules: loading from every kind of image, looking names up, unloading. */
#include "device/api/module/module.h"

#include <stdio.h>
#include <stdlib.h>

#include "device/machine/warp/handlers.h"
#include "device/api/entry/entry.h"
#include "device/api/module/image.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/message.h"
#include "device/api/entry/users.h"

static void
function_destroy(emu_object *object)
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
module_leave_library(const emu_module *module)
{
    emu_module **link = &module->library->modules;

    while (*link != module) {
        link = &(*link)->next;
    }
    *link = module->next;
}

/* A context destroys its newest object first, so functions and references go before
 * their module there. */
static void
module_destroy(emu_object *object)
{
    emu_module *module = (emu_module *)object;

    while (module->functions != NULL) {
        function_destroy(&module->functions->object);
    }
    while (module->references != NULL) {
        emu_object *reference = (emu_object *)module->references;

        reference->destroy(reference); /* takes itself out of the list */
    }
    if (module->library != NULL) {
        module_leave_library(module);
    }
    emu_program_free(module->program);
    emu_object_free(object);
}

/* -- loading ----------------------------------------------------------------------- */

static unsigned
module_capability(const emu_context *context)
{
    return (unsigned)(context->device->major * 10 + context->device->minor);
}

/* Check that the device has the capability that the PTX asks for. */
static CUresult
module_check_target(const emu_program *program, unsigned capability, emu_jit *jit)
{
    char sentence[160];
    unsigned target;

    if (emu_program_kernel_count(program) == 0) {
        return CUDA_SUCCESS;
    }
    target = emu_kernel_get_info(emu_program_kernel_at(program, 0))->target;
    if (target <= capability) {
        return CUDA_SUCCESS;
    }
    (void)snprintf(sentence, sizeof(sentence),
                   "This PTX is for compute capability %u.%u, the device has %u.%u: "
                   "see PYCUDA_EMULATOR_CAPABILITY.",
                   target / 10, target % 10, capability / 10, capability % 10);
    emu_jit_complain(jit, sentence);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* Parse an image into a program. Call it without the API lock. */
static CUresult
module_load_program(emu_context *context, const void *data, size_t size, emu_jit *jit,
                    emu_program **program)
{
    emu_image image;
    const unsigned capability = module_capability(context);
    CUresult status = emu_image_open(data, size, (int)capability, &image);

    *program = NULL;
    if (status != CUDA_SUCCESS) {
        emu_jit_complain(jit, image.problem);
        return status;
    }
    status = emu_program_load(context, image.texts, image.count, &jit->load,
                              emu_handlers(), program);
    emu_image_close(&image);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = module_check_target(*program, capability, jit);
    if (status != CUDA_SUCCESS) {
        emu_program_free(*program);
        *program = NULL;
    }
    return status;
}

/* Load a program, with the API lock released during the parsing, which may take long.
 */
static CUresult
module_load_paused(emu_context *context, const void *data, size_t size, emu_jit *jit,
                   emu_program **program)
{
    emu_call call;
    CUresult status;

    emu_users_add(&context->object);
    call = emu_lock_pause();
    status = module_load_program(context, data, size, jit, program);
    emu_lock_resume(call);
    emu_users_remove(&context->object);
    return status;
}

CUresult
emu_module_load(emu_context *context, const void *data, size_t size, emu_jit *jit,
                bool pause, emu_module **out)
{
    double start = emu_jit_now();
    emu_program *program;
    emu_module *module;
    CUresult status;

    if (pause) {
        status = module_load_paused(context, data, size, jit, &program);
    }
    else {
        status = module_load_program(context, data, size, jit, &program);
    }
    emu_jit_finish(jit, emu_jit_now() - start);
    if (status != CUDA_SUCCESS) {
        if (jit->load.error_log_size > 0) {
            emu_message_set("%.*s", (int)jit->load.error_log_size, jit->load.error_log);
        }
        return status;
    }
    module = emu_object_new(EMU_MODULE, sizeof(*module), context, module_destroy);
    if (module == NULL) {
        emu_program_free(program);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->program = program;
    *out = module;
    return CUDA_SUCCESS;
}

/* Load without a log of the caller: only emu_last_message tells the error. */
static CUresult
module_load_plain(emu_context *context, const void *data, size_t size, CUmodule *out)
{
    char log[1024] = "";
    emu_jit jit = {.load = {.error_log = log, .error_log_room = sizeof(log)}};

    return emu_module_load(context, data, size, &jit, true, out);
}

CUresult
emu_cuModuleLoad(emu_context *context, CUmodule *module, const char *fname)
{
    size_t size;
    char *data;

    if (module == NULL || fname == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_image_read_file(fname, &data, &size);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = CUDA_ERROR_INVALID_IMAGE;
    if (size > 0) {
        status = module_load_plain(context, data, size, module);
    }
    free(data);
    return status;
}

CUresult
emu_cuModuleLoadData(emu_context *context, CUmodule *module, const void *image)
{
    if (module == NULL || image == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return module_load_plain(context, image, EMU_IMAGE_SIZE_UNKNOWN, module);
}

CUresult
emu_cuModuleLoadFatBinary(emu_context *context, CUmodule *module, const void *fatCubin)
{
    if (module == NULL || fatCubin == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return module_load_plain(context, fatCubin, EMU_IMAGE_SIZE_UNKNOWN, module);
}

CUresult
emu_cuModuleLoadDataEx(emu_context *context, CUmodule *module, const void *image,
                       unsigned int numOptions, CUjit_option *options,
                       void **optionValues)
{
    emu_jit jit;

    if (module == NULL || image == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_jit_read(&jit, numOptions, options, optionValues);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    char log[1024] = "";

    if (jit.load.error_log == NULL) {
        jit.load.error_log = log;
        jit.load.error_log_room = sizeof(log);
    }
    return emu_module_load(context, image, EMU_IMAGE_SIZE_UNKNOWN, &jit, true, module);
}

CUresult
emu_cuModuleUnload(emu_module *module)
{
    if (module->library != NULL) {
        return CUDA_ERROR_NOT_PERMITTED; /* the library unloads it */
    }
    return emu_users_destroy(&module->object);
}

/* -- names ------------------------------------------------------------------------- */

void
emu_function_init(emu_function *function, const emu_kernel *kernel,
                  const emu_device *device)
{
    const emu_device_limits *limits = &device->limits;
    const size_t fixed = emu_kernel_get_info(kernel)->shared_size;

    function->kernel = kernel;
    if (fixed < (size_t)limits->shared_per_block) {
        function->dynamic_shared = limits->shared_per_block - (int)fixed;
    }
    function->carveout = -1;
}

CUresult
emu_module_function(emu_module *module, const emu_kernel *kernel, emu_function **out)
{
    emu_context *context = module->object.context;
    emu_function *function = module->functions;

    while (function != NULL && function->kernel != kernel) {
        function = function->next;
    }
    if (function == NULL) {
        function =
            emu_object_new(EMU_FUNCTION, sizeof(*function), context, function_destroy);
        if (function == NULL) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        emu_function_init(function, kernel, context->device);
        function->module = module;
        function->next = module->functions;
        module->functions = function;
    }
    *out = function;
    return CUDA_SUCCESS;
}

CUresult
emu_cuModuleGetFunction(CUfunction *hfunc, emu_module *module, const char *name)
{
    if (hfunc == NULL || name == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const emu_kernel *kernel = emu_program_kernel(module->program, name);

    if (kernel == NULL) {
        return CUDA_ERROR_NOT_FOUND;
    }
    return emu_module_function(module, kernel, hfunc);
}

/* Find a variable. As on an H200, the name of a texture or surface reference is
 * INVALID_VALUE and an unknown name is NOT_FOUND. */
CUresult
emu_module_variable(const emu_module *module, const char *name, uint64_t *address,
                    size_t *size)
{
    if (emu_program_variable(module->program, name, address, size)) {
        return CUDA_SUCCESS;
    }
    if (emu_program_reference(module->program, name, 0, address) ||
        emu_program_reference(module->program, name, 1, address)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult
emu_cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, emu_module *module,
                      const char *name)
{
    uint64_t address;
    size_t size;

    if (name == NULL || (dptr == NULL && bytes == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_module_variable(module, name, &address, &size);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (dptr != NULL) {
        *dptr = address;
    }
    if (bytes != NULL) {
        *bytes = size;
    }
    return CUDA_SUCCESS;
}

EMU_GETTER(emu_cuModuleGetFunctionCount, (unsigned int *count, emu_module *module),
           count, (unsigned int)emu_program_kernel_count(module->program))

CUresult
emu_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
                               emu_module *module)
{
    const size_t count = emu_program_kernel_count(module->program);

    if (functions == NULL && numFunctions > 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; i < numFunctions && i < count; i++) {
        CUresult status = emu_module_function(
            module, emu_program_kernel_at(module->program, i), &functions[i]);

        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    return CUDA_SUCCESS;
}

/* Modules are loaded eagerly. */
EMU_GETTER(emu_cuModuleGetLoadingMode, (CUmoduleLoadingMode * mode), mode, 1)
