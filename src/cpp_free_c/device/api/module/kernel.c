/* Kernels of libraries: the functions of all contexts under one handle.
 *
 * Attributes are set for a device. They hold for the kernel's functions in all contexts
 * of the device, those to come included. */
#include <stdlib.h>

#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/module/module.h"

/* Copy what can be set. */
static void
settings_copy(emu_function *to, const emu_function *from)
{
    to->dynamic_shared = from->dynamic_shared;
    to->carveout = from->carveout;
    to->non_portable_cluster = from->non_portable_cluster;
    to->cluster_policy = from->cluster_policy;
    to->cache_config = from->cache_config;
}

CUresult
emu_kernel_function(emu_library_kernel *kernel, emu_context *context,
                    emu_function **function)
{
    emu_module *module;
    CUresult status = emu_library_module(kernel->library, context, &module);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    const emu_kernel *found = emu_program_kernel(module->program, kernel->name);
    for (*function = module->functions; *function != NULL;
         *function = (*function)->next) {
        if ((*function)->kernel == found) {
            return CUDA_SUCCESS;
        }
    }
    status = emu_module_function(module, found, function);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (kernel->settings != NULL) {
        const emu_function *set = &kernel->settings[context->device->ordinal];

        if (set->kernel != NULL) {
            settings_copy(*function, set);
        }
    }
    return CUDA_SUCCESS;
}

/* Make a function on a device that belongs to no context, with the kernel's settings
 * there. `context` is a record for it. */
static CUresult
kernel_on_device(emu_library_kernel *kernel, CUdevice ordinal, emu_context *context,
                 emu_function *function)
{
    const emu_program *program;
    CUresult status = emu_device_find(ordinal, &context->device);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_library_program(kernel->library, &program);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *function = (emu_function){.object = {.context = context}};
    emu_function_init(function, emu_program_kernel(program, kernel->name),
                      context->device);
    if (kernel->settings != NULL && kernel->settings[ordinal].kernel != NULL) {
        settings_copy(function, &kernel->settings[ordinal]);
    }
    return CUDA_SUCCESS;
}

/* Keep settings for a device, and give them to the kernel's functions there. */
static CUresult
kernel_set(emu_library_kernel *kernel, const emu_device *device,
           const emu_function *settings)
{
    if (kernel->settings == NULL) {
        kernel->settings = calloc((size_t)emu_device_count, sizeof(*kernel->settings));
    }
    if (kernel->settings == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    kernel->settings[device->ordinal] = *settings;
    for (emu_module *m = kernel->library->modules; m != NULL; m = m->next) {
        const emu_kernel *found = emu_program_kernel(m->program, kernel->name);

        for (emu_function *f = m->functions; f != NULL; f = f->next) {
            if (f->kernel == found && f->object.context->device == device) {
                settings_copy(f, settings);
            }
        }
    }
    return CUDA_SUCCESS;
}

/* -- entry points ------------------------------------------------------------------ */

CUresult
emu_cuKernelGetFunction(CUfunction *pFunc, emu_library_kernel *kernel)
{
    emu_context *context;

    if (pFunc == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_context_current(&context);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_kernel_function(kernel, context, pFunc);
}

EMU_GETTER(emu_cuKernelGetLibrary, (CUlibrary * pLib, emu_library_kernel *kernel), pLib,
           kernel->library)

EMU_GETTER(emu_cuKernelGetName, (const char **name, emu_library_kernel *kernel), name,
           kernel->name)

CUresult
emu_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib,
                         emu_library_kernel *kernel, CUdevice dev)
{
    emu_context context = {.id = 0};
    emu_function function;

    if (pi == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = kernel_on_device(kernel, dev, &context, &function);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_function_get_attribute(&function, attrib, pi);
}

CUresult
emu_cuKernelSetAttribute(CUfunction_attribute attrib, int val,
                         emu_library_kernel *kernel, CUdevice dev)
{
    emu_context context = {.id = 0};
    emu_function function;
    CUresult status = kernel_on_device(kernel, dev, &context, &function);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_function_set_attribute(&function, attrib, val);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return kernel_set(kernel, context.device, &function);
}

CUresult
emu_cuKernelSetCacheConfig(emu_library_kernel *kernel, CUfunc_cache config,
                           CUdevice dev)
{
    emu_context context = {.id = 0};
    emu_function function;

    if (config > 3) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = kernel_on_device(kernel, dev, &context, &function);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    function.cache_config = config; /* without effect: there is no cache */
    return kernel_set(kernel, context.device, &function);
}

CUresult
emu_cuKernelGetParamInfo(emu_library_kernel *kernel, size_t paramIndex,
                         size_t *paramOffset, size_t *paramSize)
{
    const emu_program *program;
    CUresult status = emu_library_program(kernel->library, &program);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_kernel_param_info(
        emu_kernel_get_info(emu_program_kernel(program, kernel->name)), paramIndex,
        paramOffset, paramSize);
}
