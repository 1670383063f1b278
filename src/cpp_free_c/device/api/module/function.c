/* The calls on functions: attributes, parameters, names. */
#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/module/module.h"

/* CUfunction_attribute values beyond those of the ABI header. */
enum {
    CONST_SIZE = 2,
    LOCAL_SIZE = 3,
    NUM_REGS = 4,
    PTX_VERSION = 5,
    BINARY_VERSION = 6,
    CACHE_MODE_CA = 7,
    CARVEOUT = 9,
    CLUSTER_SIZE_MUST_BE_SET = 10,
    REQUIRED_CLUSTER_WIDTH = 11,
    REQUIRED_CLUSTER_HEIGHT = 12,
    REQUIRED_CLUSTER_DEPTH = 13,
    NON_PORTABLE_CLUSTER = 14,
    CLUSTER_POLICY = 15
};

CUresult
emu_enter_function(emu_call call, CUfunction *function)
{
    CUresult status = emu_enter(call);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    const emu_object *object = emu_object_get(*function, EMU_FUNCTION);
    emu_context *context;

    if (object != NULL) {
        return emu_context_status(object->context);
    }
    status = emu_entered_current(&context);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_function_find_in(context, *function, function);
}

CUresult
emu_function_get_attribute(const emu_function *function, CUfunction_attribute attribute,
                           int *value)
{
    const emu_kernel_info *info = emu_kernel_get_info(function->kernel);
    const emu_device *device = function->object.context->device;

    switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *value = (int)info->max_threads;
            break;
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
            *value = (int)info->shared_size;
            break;
        case CONST_SIZE:
            *value = (int)info->const_size;
            break;
        case LOCAL_SIZE:
            *value = (int)info->local_size;
            break;
        case NUM_REGS:
            *value = (int)info->registers;
            break;
        case PTX_VERSION:
            *value = (int)info->target; /* of the PTX, as 75 */
            break;
        case BINARY_VERSION:
            *value = device->major * 10 + device->minor;
            break;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            *value = function->dynamic_shared;
            break;
        case CARVEOUT:
            *value = function->carveout;
            break;
        case NON_PORTABLE_CLUSTER:
            *value = function->non_portable_cluster;
            break;
        case CLUSTER_POLICY:
            *value = function->cluster_policy;
            break;
        case CACHE_MODE_CA:
            *value = 0;
            break;
        case CLUSTER_SIZE_MUST_BE_SET:
            *value = info->req_cluster[0] != 0;
            break;
        case REQUIRED_CLUSTER_WIDTH:
        case REQUIRED_CLUSTER_HEIGHT:
        case REQUIRED_CLUSTER_DEPTH:
            *value = (int)info->req_cluster[attribute - REQUIRED_CLUSTER_WIDTH];
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* Store a value that must be in a range. */
static CUresult
function_set_in_range(int *member, int value, int least, int most)
{
    if (value < least || value > most) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *member = value;
    return CUDA_SUCCESS;
}

CUresult
emu_function_set_attribute(emu_function *function, CUfunction_attribute attribute,
                           int value)
{
    const emu_kernel_info *info = emu_kernel_get_info(function->kernel);
    const emu_device_limits *limits = &function->object.context->device->limits;

    switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            if (value < 0 || (size_t)value + info->shared_size >
                                 (size_t)limits->shared_per_block_optin) {
                return CUDA_ERROR_INVALID_VALUE;
            }
            function->dynamic_shared = value;
            return CUDA_SUCCESS;
        case CARVEOUT:
            return function_set_in_range(&function->carveout, value, -1, 100);
        case NON_PORTABLE_CLUSTER:
            return function_set_in_range(&function->non_portable_cluster, value, 0, 1);
        case CLUSTER_POLICY:
            return function_set_in_range(&function->cluster_policy, value, 0, 2);
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult
emu_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, emu_function *function)
{
    if (pi == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_function_get_attribute(function, attrib, pi);
}

CUresult
emu_cuFuncSetAttribute(emu_function *function, CUfunction_attribute attrib, int value)
{
    return emu_function_set_attribute(function, attrib, value);
}

CUresult
emu_cuFuncSetCacheConfig(emu_function *function, CUfunc_cache config)
{
    if (config > 3) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    function->cache_config = config; /* without effect: there is no cache */
    return CUDA_SUCCESS;
}

CUresult
emu_cuFuncSetSharedMemConfig(emu_function *function, CUsharedconfig config)
{
    (void)function; /* without effect: there are no banks */
    if (config > 2) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

EMU_GETTER(emu_cuFuncGetModule, (CUmodule * hmod, emu_function *function), hmod,
           function->module)

EMU_GETTER(emu_cuFuncGetName, (const char **name, emu_function *function), name,
           emu_kernel_get_info(function->kernel)->name)

CUresult
emu_kernel_param_info(const emu_kernel_info *info, size_t index, size_t *offset,
                      size_t *size)
{
    if (offset == NULL || index >= info->param_count) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *offset = info->params[index].offset;
    if (size != NULL) {
        *size = info->params[index].size;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuFuncGetParamInfo(emu_function *function, size_t paramIndex, size_t *paramOffset,
                       size_t *paramSize)
{
    return emu_kernel_param_info(emu_kernel_get_info(function->kernel), paramIndex,
                                 paramOffset, paramSize);
}

CUresult
emu_cuFuncIsLoaded(CUfunctionLoadingState *state, emu_function *function)
{
    (void)function;
    if (state == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *state = 1; /* loaded, since its module was */
    return CUDA_SUCCESS;
}

CUresult
emu_cuFuncLoad(emu_function *function)
{
    (void)function; /* loaded, since its module was */
    return CUDA_SUCCESS;
}

/* -- finding a function ------------------------------------------------------------ */

CUresult
emu_function_find_in(emu_context *context, CUfunction handle, emu_function **function)
{
    emu_library_kernel *kernel;

    *function = emu_object_get(handle, EMU_FUNCTION);
    if (*function != NULL) {
        return CUDA_SUCCESS;
    }
    kernel = emu_object_get(handle, EMU_KERNEL);
    if (kernel == NULL || context == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return emu_kernel_function(kernel, context, function);
}

CUresult
emu_function_find(CUfunction handle, emu_function **function)
{
    emu_context *context = NULL;

    if (emu_object_get(handle, EMU_FUNCTION) == NULL) {
        CUresult status = emu_context_current(&context);

        if (status != CUDA_SUCCESS) {
            *function = NULL;
            return CUDA_ERROR_INVALID_HANDLE;
        }
    }
    return emu_function_find_in(context, handle, function);
}
