/* Libraries: images that every context can use. See module.h.
 *
 * Loading copies the PTX of the image. If a context is current, the library is loaded
 * there at once, so that errors show; a further context loads it at its first use. */
#include "device/api/module/module.h"

#include <stdlib.h>
#include <string.h>

#include "device/machine/warp/handlers.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/message.h"
#include "device/api/entry/users.h"
#include "device/api/module/image.h"

/* -- records ----------------------------------------------------------------------- */

/* Free a library without modules. */
static void
library_destroy(emu_object *object)
{
    emu_library *library = (emu_library *)object;

    while (library->kernels != NULL) {
        emu_library_kernel *kernel = library->kernels;

        library->kernels = kernel->next;
        free(kernel->settings);
        emu_object_free(&kernel->object);
    }
    emu_program_free(library->unbound);
    free(library->scratch);
    free(library->image);
    emu_object_free(object);
}

static void
library_add_module(emu_library *library, emu_module *module)
{
    emu_object_make_part(&module->object);
    module->library = library;
    module->next = library->modules;
    library->modules = module;
}

static CUresult
library_find(CUlibrary handle, emu_library **library)
{
    *library = emu_object_get(handle, EMU_LIBRARY);
    if (*library == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_library_kernel_of(emu_library *library, const emu_kernel *kernel,
                      emu_library_kernel **out)
{
    const char *name = emu_kernel_get_info(kernel)->name;
    const size_t size = strlen(name) + 1;
    emu_library_kernel *found = library->kernels;

    while (found != NULL && strcmp(found->name, name) != 0) {
        found = found->next;
    }
    if (found == NULL) {
        found = emu_object_new(EMU_KERNEL, sizeof(*found) + size, NULL, NULL);
        if (found == NULL) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        memcpy(found->name, name, size);
        found->library = library;
        found->next = library->kernels;
        library->kernels = found;
    }
    *out = found;
    return CUDA_SUCCESS;
}

/* -- loading ----------------------------------------------------------------------- */

CUresult
emu_library_module(emu_library *library, emu_context *context, emu_module **module)
{
    char log[1024] = "";
    emu_jit jit = {.load = {.max_registers = library->max_registers,
                            .error_log = log,
                            .error_log_room = sizeof(log)}};

    for (*module = library->modules; *module != NULL; *module = (*module)->next) {
        if ((*module)->object.context == context) {
            return CUDA_SUCCESS;
        }
    }
    CUresult status =
        emu_module_load(context, library->image, library->size, &jit, false, module);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    library_add_module(library, *module);
    return CUDA_SUCCESS;
}

/* Load the program without a context: its variables are in a record that no program
 * sees, on the first device. */
static CUresult
library_load_unbound(emu_library *library, emu_jit *jit)
{
    emu_image image;
    CUresult status;

    if (library->scratch == NULL) {
        library->scratch = calloc(1, sizeof(*library->scratch));
    }
    if (library->scratch == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    library->scratch->device = &emu_devices[0];
    status = emu_image_open(library->image, library->size,
                            emu_devices[0].major * 10 + emu_devices[0].minor, &image);
    if (status != CUDA_SUCCESS) {
        emu_jit_complain(jit, image.problem);
        return status;
    }
    status = emu_program_load(library->scratch, image.texts, image.count, &jit->load,
                              emu_handlers(), &library->unbound);
    emu_image_close(&image);
    return status;
}

CUresult
emu_library_program(emu_library *library, const emu_program **program)
{
    emu_jit jit = {.load = {.max_registers = library->max_registers}};
    emu_context *context;
    emu_module *module;
    CUresult status = CUDA_SUCCESS;

    if (library->modules == NULL && library->unbound == NULL) {
        if (emu_context_current(&context) == CUDA_SUCCESS) {
            status = emu_library_module(library, context, &module);
        }
        else {
            status = library_load_unbound(library, &jit);
        }
    }
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (library->modules != NULL) {
        *program = library->modules->program;
    }
    else {
        *program = library->unbound;
    }
    return CUDA_SUCCESS;
}

/* Copy the PTX of an image into a new library. */
static CUresult
library_new(const void *code, size_t size, emu_jit *jit, emu_library **out)
{
    emu_image image;
    emu_library *library;
    CUresult status = emu_image_open(
        code, size, emu_devices[0].major * 10 + emu_devices[0].minor, &image);

    if (status != CUDA_SUCCESS) {
        emu_jit_complain(jit, image.problem);
        emu_message_set("%s", image.problem);
        return status;
    }
    library = emu_object_new(EMU_LIBRARY, sizeof(*library), NULL, library_destroy);
    if (library != NULL) {
        library->max_registers = jit->load.max_registers;
        library->image = emu_image_pack(image.texts, image.count, &library->size);
    }
    emu_image_close(&image);
    if (library == NULL || library->image == NULL) {
        if (library != NULL) {
            library_destroy(&library->object);
        }
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = library;
    return CUDA_SUCCESS;
}

/* Load a new library in the current context, otherwise in none. */
static CUresult
library_load_first(emu_library *library, emu_jit *jit)
{
    emu_context *context;
    emu_module *module;

    if (emu_context_current(&context) != CUDA_SUCCESS) {
        return library_load_unbound(library, jit);
    }
    CUresult status =
        emu_module_load(context, library->image, library->size, jit, true, &module);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    library_add_module(library, module);
    return CUDA_SUCCESS;
}

static CUresult
library_load(const void *code, size_t size, CUjit_option *options, void **values,
             unsigned int count, CUlibrary *out)
{
    char log[1024] = "";
    emu_library *library;
    emu_jit jit;
    CUresult status = emu_jit_read(&jit, count, options, values);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (jit.load.error_log == NULL) {
        jit.load.error_log = log;
        jit.load.error_log_room = sizeof(log);
    }
    status = library_new(code, size, &jit, &library);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = library_load_first(library, &jit);
    if (status != CUDA_SUCCESS) {
        library_destroy(&library->object);
        return status;
    }
    *out = library;
    return CUDA_SUCCESS;
}

/* The options of the library itself: tables of the host and a promise about the image
 * change nothing, since the image is copied. */
static CUresult
library_check_options(const CUlibraryOption *options, void **values, unsigned int count)
{
    if (count > 0 && (options == NULL || values == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; i < count; i++) {
        if (options[i] > CU_LIBRARY_BINARY_IS_PRESERVED) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                      void **jitOptionsValues, unsigned int numJitOptions,
                      CUlibraryOption *libraryOptions, void **libraryOptionValues,
                      unsigned int numLibraryOptions)
{
    if (library == NULL || code == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status =
        library_check_options(libraryOptions, libraryOptionValues, numLibraryOptions);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return library_load(code, EMU_IMAGE_SIZE_UNKNOWN, jitOptions, jitOptionsValues,
                        numJitOptions, library);
}

CUresult
emu_cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                          CUjit_option *jitOptions, void **jitOptionsValues,
                          unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                          void **libraryOptionValues, unsigned int numLibraryOptions)
{
    size_t size;
    char *data;

    if (library == NULL || fileName == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status =
        library_check_options(libraryOptions, libraryOptionValues, numLibraryOptions);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_image_read_file(fileName, &data, &size);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = CUDA_ERROR_INVALID_IMAGE;
    if (size > 0) {
        status = library_load(data, size, jitOptions, jitOptionsValues, numJitOptions,
                              library);
    }
    free(data);
    return status;
}

/* Unload the library's modules, after the work that uses them. */
static CUresult
library_unload(emu_library *library)
{
    const emu_module *module = library->modules;

    for (; module != NULL; module = module->next) {
        if (!emu_users_can_wait(&module->object)) {
            return CUDA_ERROR_NOT_PERMITTED;
        }
    }
    emu_object_unlist(&library->object); /* no new work finds it */
    while (library->modules != NULL) {
        emu_object *first = &library->modules->object;
        emu_object *context = &first->context->object;

        emu_object_unlist(first);
        emu_users_add(context);
        emu_users_wait(first);
        first->destroy(first); /* takes itself out of the list */
        emu_users_remove(context);
    }
    library_destroy(&library->object);
    return CUDA_SUCCESS;
}

CUresult
emu_cuLibraryUnload(emu_library *library)
{
    return library_unload(library);
}

/* -- what is in a library ---------------------------------------------------------- */

CUresult
emu_cuLibraryGetModule(emu_context *context, CUmodule *pMod, CUlibrary library)
{
    emu_library *found;
    CUresult status = library_find(library, &found);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (pMod == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_library_module(found, context, pMod);
}

CUresult
emu_cuLibraryGetKernel(CUkernel *pKernel, emu_library *library, const char *name)
{
    const emu_program *program;

    if (pKernel == NULL || name == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_library_program(library, &program);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    const emu_kernel *kernel = emu_program_kernel(program, name);
    if (kernel == NULL) {
        return CUDA_ERROR_NOT_FOUND;
    }
    return emu_library_kernel_of(library, kernel, pKernel);
}

CUresult
emu_cuLibraryGetKernelCount(unsigned int *count, emu_library *library)
{
    const emu_program *program;

    if (count == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_library_program(library, &program);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *count = (unsigned int)emu_program_kernel_count(program);
    return CUDA_SUCCESS;
}

CUresult
emu_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels,
                              emu_library *library)
{
    const emu_program *program;

    if (kernels == NULL && numKernels > 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_library_program(library, &program);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    const size_t count = emu_program_kernel_count(program);
    for (unsigned int i = 0; i < numKernels && i < count; i++) {
        status = emu_library_kernel_of(library, emu_program_kernel_at(program, i),
                                       &kernels[i]);
        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuLibraryGetGlobal(emu_context *context, CUdeviceptr *dptr, size_t *bytes,
                       CUlibrary library, const char *name)
{
    emu_library *found;
    emu_module *module = NULL;
    uint64_t address;
    size_t size;
    CUresult status = library_find(library, &found);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (name == NULL || (dptr == NULL && bytes == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    status = emu_library_module(found, context, &module);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_module_variable(module, name, &address, &size);
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

/* Managed variables and functions of the host need what a compiler adds for the runtime
 * library. PTX alone has neither. */
static CUresult
library_refuse(const void *out, const char *name)
{
    if (out == NULL || name == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult
emu_cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, emu_library *library,
                        const char *name)
{
    (void)bytes;
    (void)library;
    return library_refuse(dptr, name);
}

CUresult
emu_cuLibraryGetUnifiedFunction(void **fptr, emu_library *library, const char *symbol)
{
    (void)library;
    return library_refuse(fptr, symbol);
}
