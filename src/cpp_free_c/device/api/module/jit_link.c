/* nvJitLink: links of PTX without a driver. See jit_link.h. */
#define _GNU_SOURCE
#include "device/api/module/jit_link.h"

#include <stdlib.h>
#include <string.h>

#include "device/api/module/image.h"
#include "device/api/module/link_inputs.h"

enum { JIT_LINK_LOG = 8192 };

struct nvJitLink {
    emu_link_inputs inputs;
    emu_device device;   /* only with the capability of -arch */
    emu_context scratch; /* where the texts are loaded once, as a check */
    void *image;         /* the result; NULL before */
    size_t size;
    char error_log[JIT_LINK_LOG], info_log[JIT_LINK_LOG];
};

nvJitLinkResult
nvJitLinkVersion(unsigned int *major, unsigned int *minor)
{
    if (major == NULL || minor == NULL) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    *major = 12;
    *minor = 2;
    return NVJITLINK_SUCCESS;
}

/* -- options ----------------------------------------------------------------------- */

/* The options that change nothing here. A value may follow the sign = or the O. */
static const char *const jit_link_ignored[] = {"-time",
                                               "-lto",
                                               "-ptx",
                                               "-O",
                                               "-g",
                                               "-lineinfo",
                                               "-ftz=",
                                               "-prec-div=",
                                               "-prec-sqrt=",
                                               "-fma=",
                                               "-kernels-used=",
                                               "-Xptxas=",
                                               "-variables-used=",
                                               "-nvvm-latest",
                                               "-optimize-unused-variables",
                                               "-r",
                                               "-split-compile=",
                                               "-Ofc=",
                                               "-split-compile-extended=",
                                               "-no-cache",
                                               "-jump-table-density=",
                                               "-device-stack-protector"};

static bool
jit_link_is_ignored(const char *option)
{
    for (size_t i = 0; i < sizeof jit_link_ignored / sizeof *jit_link_ignored; i++) {
        const char *known = jit_link_ignored[i];
        const size_t size = strlen(known);

        if (strcmp(option, known) == 0 ||
            ((known[size - 1] == '=' || known[size - 1] == 'O') &&
             strncmp(option, known, size) == 0)) {
            return true;
        }
    }
    return false;
}

/* The text behind the beginning of an option, or NULL. */
static const char *
jit_link_value(const char *option, const char *beginning)
{
    const size_t size = strlen(beginning);

    if (strncmp(option, beginning, size) != 0) {
        return NULL;
    }
    return option + size;
}

/* Read sm_90, sm_90a or compute_90. */
static bool
jit_link_read_arch(const char *arch, emu_device *device)
{
    const char *digits = strchr(arch, '_');
    char *end;

    if (digits == NULL) {
        return false;
    }
    const long number = strtol(digits + 1, &end, 10);
    if (number < 10 || number > 999 || (*end != 0 && end[1] != 0)) {
        return false;
    }
    device->major = (int)(number / 10);
    device->minor = (int)(number % 10);
    return true;
}

static nvJitLinkResult
jit_link_read_option(nvJitLinkHandle handle, const char *option)
{
    const char *arch = jit_link_value(option, "-arch=");
    const char *registers = jit_link_value(option, "-maxrregcount=");

    if (arch != NULL) {
        if (!jit_link_read_arch(arch, &handle->device)) {
            return NVJITLINK_ERROR_UNRECOGNIZED_ARCH;
        }
    }
    else if (registers != NULL) {
        handle->inputs.jit.load.max_registers = (unsigned)strtoul(registers, NULL, 10);
    }
    else if (strcmp(option, "-verbose") == 0) {
        handle->inputs.jit.load.verbose = true;
    }
    else if (!jit_link_is_ignored(option)) {
        return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
    }
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult
jit_link_read_options(nvJitLinkHandle handle, uint32_t count, const char **options)
{
    for (uint32_t i = 0; i < count; i++) {
        nvJitLinkResult result = NVJITLINK_ERROR_INVALID_INPUT;

        if (options != NULL && options[i] != NULL) {
            result = jit_link_read_option(handle, options[i]);
        }
        if (result != NVJITLINK_SUCCESS) {
            return result;
        }
    }
    if (handle->device.major == 0) {
        return NVJITLINK_ERROR_MISSING_ARCH;
    }
    return NVJITLINK_SUCCESS;
}

/* -- links ------------------------------------------------------------------------- */

nvJitLinkResult
nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t numOptions, const char **options)
{
    if (handle == NULL) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    nvJitLinkHandle made = calloc(1, sizeof *made);

    *handle = NULL;
    if (made == NULL) {
        return NVJITLINK_ERROR_INTERNAL;
    }
    made->scratch.device = &made->device;
    made->inputs.jit.load.error_log = made->error_log;
    made->inputs.jit.load.error_log_room = sizeof made->error_log;
    made->inputs.jit.load.info_log = made->info_log;
    made->inputs.jit.load.info_log_room = sizeof made->info_log;
    nvJitLinkResult result = jit_link_read_options(made, numOptions, options);
    if (result != NVJITLINK_SUCCESS) {
        free(made);
        return result;
    }
    *handle = made;
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult
nvJitLinkDestroy(nvJitLinkHandle *handle)
{
    if (handle == NULL || *handle == NULL) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    emu_link_inputs_free(&(*handle)->inputs);
    free((*handle)->image);
    free(*handle);
    *handle = NULL;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult
jit_link_result_of(CUresult status)
{
    switch (status) {
        case CUDA_SUCCESS:
            return NVJITLINK_SUCCESS;
        case CUDA_ERROR_INVALID_VALUE:
        case CUDA_ERROR_FILE_NOT_FOUND:
            return NVJITLINK_ERROR_INVALID_INPUT;
        case CUDA_ERROR_INVALID_IMAGE:
        case CUDA_ERROR_NO_BINARY_FOR_GPU:
            return NVJITLINK_ERROR_UNRECOGNIZED_INPUT;
        case CUDA_ERROR_INVALID_PTX:
        case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
            return NVJITLINK_ERROR_PTX_COMPILE;
        default:
            return NVJITLINK_ERROR_INTERNAL;
    }
}

/* The driver's number of a type of input; one above all of them if it has none. */
static CUjitInputType
jit_link_driver_type(nvJitLinkInputType type)
{
    switch (type) {
        case NVJITLINK_INPUT_CUBIN:
            return EMU_INPUT_CUBIN;
        case NVJITLINK_INPUT_PTX:
        case NVJITLINK_INPUT_ANY: /* the image says what it is */
            return EMU_INPUT_PTX;
        case NVJITLINK_INPUT_LTOIR:
            return EMU_INPUT_NVVM;
        case NVJITLINK_INPUT_FATBIN:
            return EMU_INPUT_FATBINARY;
        case NVJITLINK_INPUT_OBJECT:
            return EMU_INPUT_OBJECT;
        case NVJITLINK_INPUT_LIBRARY:
            return EMU_INPUT_LIBRARY;
        case NVJITLINK_INPUT_INDEX:
            break;
    }
    return EMU_INPUT_NVVM + 1;
}

nvJitLinkResult
nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType inputType, const void *data,
                 size_t size, const char *name)
{
    if (handle == NULL || handle->image != NULL) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    return jit_link_result_of(emu_link_add_data(&handle->inputs, &handle->device,
                                                jit_link_driver_type(inputType), data,
                                                size, name, 0));
}

nvJitLinkResult
nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType inputType,
                 const char *fileName)
{
    if (handle == NULL || handle->image != NULL || fileName == NULL) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    return jit_link_result_of(emu_link_add_file(&handle->inputs, &handle->device,
                                                jit_link_driver_type(inputType),
                                                fileName, 0));
}

nvJitLinkResult
nvJitLinkComplete(nvJitLinkHandle handle)
{
    if (handle == NULL || handle->image != NULL || handle->inputs.count == 0) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    CUresult status = emu_link_try(&handle->inputs, &handle->scratch);
    if (status != CUDA_SUCCESS) {
        return jit_link_result_of(status);
    }
    handle->image =
        emu_image_pack(handle->inputs.texts, handle->inputs.count, &handle->size);
    if (handle->image == NULL) {
        return NVJITLINK_ERROR_INTERNAL;
    }
    return NVJITLINK_SUCCESS;
}

/* -- results ----------------------------------------------------------------------- */

nvJitLinkResult
nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t *size)
{
    if (handle == NULL || handle->image == NULL || size == NULL) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    *size = handle->size;
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult
nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin)
{
    if (handle == NULL || handle->image == NULL || cubin == NULL) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    memcpy(cubin, handle->image, handle->size);
    return NVJITLINK_SUCCESS;
}

/* PTX and LTO code are results of link-time optimisation only. */
static nvJitLinkResult
jit_link_no_lto(nvJitLinkHandle handle, const void *out)
{
    if (handle == NULL || out == NULL) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    return NVJITLINK_ERROR_LTO_NOT_ENABLED;
}

nvJitLinkResult
nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t *size)
{
    return jit_link_no_lto(handle, size);
}

nvJitLinkResult
nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char *ptx)
{
    return jit_link_no_lto(handle, ptx);
}

nvJitLinkResult
nvJitLinkGetLinkedLTOIRSize(nvJitLinkHandle handle, size_t *size)
{
    return jit_link_no_lto(handle, size);
}

nvJitLinkResult
nvJitLinkGetLinkedLTOIR(nvJitLinkHandle handle, void *ltoir)
{
    return jit_link_no_lto(handle, ltoir);
}

/* The bytes of a log with the zero byte; 0: it is empty. */
static size_t
jit_link_log_size(const char *log)
{
    if (*log == 0) {
        return 0;
    }
    return strlen(log) + 1;
}

nvJitLinkResult
nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t *size)
{
    if (handle == NULL || size == NULL) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    *size = jit_link_log_size(handle->error_log);
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult
nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log)
{
    if (handle == NULL || log == NULL) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    memcpy(log, handle->error_log, jit_link_log_size(handle->error_log));
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult
nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t *size)
{
    if (handle == NULL || size == NULL) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    *size = jit_link_log_size(handle->info_log);
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult
nvJitLinkGetInfoLog(nvJitLinkHandle handle, char *log)
{
    if (handle == NULL || log == NULL) {
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    memcpy(log, handle->info_log, jit_link_log_size(handle->info_log));
    return NVJITLINK_SUCCESS;
}

/* -- names with a version ---------------------------------------------------------- */

/* clang-format off */

/* The header of CUDA 12.4 calls __nvJitLinkCreate_12_4 where a program calls
 * nvJitLinkCreate, and so on: the library has the names of all minor versions. */
#define JIT_LINK_NAME(name, version)                                      \
    EMU_EXPORT extern __typeof__(name) name##_##version                   \
        __asm__("__" #name "_" #version) __attribute__((alias(#name)));
#define JIT_LINK_NAMES(name) \
    JIT_LINK_NAME(name, 12_0) JIT_LINK_NAME(name, 12_1) JIT_LINK_NAME(name, 12_2) \
    JIT_LINK_NAME(name, 12_3) JIT_LINK_NAME(name, 12_4) JIT_LINK_NAME(name, 12_5) \
    JIT_LINK_NAME(name, 12_6) JIT_LINK_NAME(name, 12_7) JIT_LINK_NAME(name, 12_8) \
    JIT_LINK_NAME(name, 12_9) JIT_LINK_NAME(name, 13_0) JIT_LINK_NAME(name, 13_1) \
    JIT_LINK_NAME(name, 13_2) JIT_LINK_NAME(name, 13_3) JIT_LINK_NAME(name, 13_4) \
    JIT_LINK_NAME(name, 13_5) JIT_LINK_NAME(name, 13_6) JIT_LINK_NAME(name, 13_7) \
    JIT_LINK_NAME(name, 13_8) JIT_LINK_NAME(name, 13_9)

JIT_LINK_NAMES(nvJitLinkCreate)
JIT_LINK_NAMES(nvJitLinkDestroy)
JIT_LINK_NAMES(nvJitLinkAddData)
JIT_LINK_NAMES(nvJitLinkAddFile)
JIT_LINK_NAMES(nvJitLinkComplete)
JIT_LINK_NAMES(nvJitLinkGetLinkedCubinSize)
JIT_LINK_NAMES(nvJitLinkGetLinkedCubin)
JIT_LINK_NAMES(nvJitLinkGetLinkedPtxSize)
JIT_LINK_NAMES(nvJitLinkGetLinkedPtx)
JIT_LINK_NAMES(nvJitLinkGetLinkedLTOIRSize)
JIT_LINK_NAMES(nvJitLinkGetLinkedLTOIR)
JIT_LINK_NAMES(nvJitLinkGetErrorLogSize)
JIT_LINK_NAMES(nvJitLinkGetErrorLog)
JIT_LINK_NAMES(nvJitLinkGetInfoLogSize)
JIT_LINK_NAMES(nvJitLinkGetInfoLog)
/* clang-format on */
