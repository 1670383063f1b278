/* Kernels of libraries: the functions of all contexts under one handle.
 *
 * Attributes are set for a device. They hold for the kernel's functions in all contexts
 * of the device, those to come included. */
#include <stdlib.h>

#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/module/library.h"

static CUresult
kernel_enter(emu_call call, CUkernel handle, emu_library_kernel **kernel)
{
    CUresult status = emu_enter(call);

    *kernel = NULL;
    if (status == CUDA_SUCCESS) {
        *kernel = emu_object_get(handle, EMU_KERNEL);
        if (*kernel == NULL) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
    }
    return status;
}

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
    const emu_kernel *found;
    emu_module *module;
    CUresult status = emu_library_module(kernel->library, context, &module);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    found = emu_program_kernel(module->program, kernel->name);
    for (*function = module->functions; *function != NULL;
         *function = (*function)->next) {
        if ((*function)->kernel == found) {
            return CUDA_SUCCESS;
        }
    }
    status = emu_module_function(module, found, function);
    if (status == CUDA_SUCCESS && kernel->settings != NULL) {
        const emu_function *set = &kernel->settings[context->device->ordinal];

        if (set->kernel != NULL) {
            settings_copy(*function, set);
        }
    }
    return status;
}

/* Make a function on a device that belongs to no context, with the kernel's settings
 * there. `context` is a record for it. */
static CUresult
kernel_on_device(emu_library_kernel *kernel, CUdevice ordinal, emu_context *context,
                 emu_function *function)
{
    const emu_program *program;
    CUresult status = emu_device_find(ordinal, &context->device);

    if (status == CUDA_SUCCESS) {
        status = emu_library_program(kernel->library, &program);
    }
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
emu_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    emu_library_kernel *found;
    emu_context *context;
    CUresult status = kernel_enter(EMU_CALL_KernelGetFunction, kernel, &found);

    if (status == CUDA_SUCCESS && pFunc == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_context_current(&context);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_kernel_function(found, context, pFunc);
    }
    return emu_leave(status);
}

CUresult
emu_cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    emu_library_kernel *found;
    CUresult status = kernel_enter(EMU_CALL_KernelGetLibrary, kernel, &found);

    if (status == CUDA_SUCCESS && pLib == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *pLib = found->library;
    }
    return emu_leave(status);
}

CUresult
emu_cuKernelGetName(const char **name, CUkernel hfunc)
{
    emu_library_kernel *found;
    CUresult status = kernel_enter(EMU_CALL_KernelGetName, hfunc, &found);

    if (status == CUDA_SUCCESS && name == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *name = found->name;
    }
    return emu_leave(status);
}

CUresult
emu_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel,
                         CUdevice dev)
{
    emu_library_kernel *found;
    emu_context context = {.id = 0};
    emu_function function;
    CUresult status = kernel_enter(EMU_CALL_KernelGetAttribute, kernel, &found);

    if (status == CUDA_SUCCESS && pi == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = kernel_on_device(found, dev, &context, &function);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_function_get_attribute(&function, attrib, pi);
    }
    return emu_leave(status);
}

CUresult
emu_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                         CUdevice dev)
{
    emu_library_kernel *found;
    emu_context context = {.id = 0};
    emu_function function;
    CUresult status = kernel_enter(EMU_CALL_KernelSetAttribute, kernel, &found);

    if (status == CUDA_SUCCESS) {
        status = kernel_on_device(found, dev, &context, &function);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_function_set_attribute(&function, attrib, val);
    }
    if (status == CUDA_SUCCESS) {
        status = kernel_set(found, context.device, &function);
    }
    return emu_leave(status);
}

CUresult
emu_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    emu_library_kernel *found;
    emu_context context = {.id = 0};
    emu_function function;
    CUresult status = kernel_enter(EMU_CALL_KernelSetCacheConfig, kernel, &found);

    if (status == CUDA_SUCCESS && config > 3) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = kernel_on_device(found, dev, &context, &function);
    }
    if (status == CUDA_SUCCESS) {
        function.cache_config = config; /* without effect: there is no cache */
        status = kernel_set(found, context.device, &function);
    }
    return emu_leave(status);
}

CUresult
emu_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                         size_t *paramSize)
{
    emu_library_kernel *found;
    const emu_program *program;
    CUresult status = kernel_enter(EMU_CALL_KernelGetParamInfo, kernel, &found);

    if (status == CUDA_SUCCESS) {
        status = emu_library_program(found->library, &program);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_kernel_param_info(
            emu_kernel_get_info(emu_program_kernel(program, found->name)), paramIndex,
            paramOffset, paramSize);
    }
    return emu_leave(status);
}
