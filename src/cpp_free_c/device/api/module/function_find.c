/* From the handle of a function, or of a library's kernel, to the function. */
#include "device/api/entry/context_stack.h"
#include "device/api/module/module.h"

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
