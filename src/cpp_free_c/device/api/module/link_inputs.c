/* Gathering the inputs of a link, and loading them together. See link_inputs.h. */
#define _GNU_SOURCE
#include "device/api/module/link_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "device/machine/warp/handlers.h"
#include "device/api/module/image.h"

static bool
link_grow(emu_link_inputs *inputs)
{
    size_t room = inputs->room * 2 + 8;
    emu_source *texts = realloc(inputs->texts, room * sizeof(*texts));

    if (texts == NULL) {
        return false;
    }
    inputs->texts = texts;
    inputs->room = room;
    return true;
}

/* Add a copy of a text. */
static CUresult
link_add_text(emu_link_inputs *inputs, const emu_source *text, const char *name)
{
    char *copy, *name_copy;

    if (inputs->count == inputs->room && !link_grow(inputs)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    copy = malloc(text->size + 1);
    name_copy = strdup(name);
    if (copy == NULL || name_copy == NULL) {
        free(copy);
        free(name_copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(copy, text->text, text->size);
    copy[text->size] = 0;
    inputs->texts[inputs->count] = *text;
    inputs->texts[inputs->count].text = copy;
    inputs->texts[inputs->count].name = name_copy;
    inputs->count++;
    return CUDA_SUCCESS;
}

/* Whether a file is the device runtime library, which the compiler names for dynamic
 * parallelism. Its functions are built into the device, so the file is not needed. */
static bool
link_is_device_runtime(const char *path)
{
    const char *slash;

    if (path == NULL) {
        return false;
    }
    slash = strrchr(path, '/');
    if (slash != NULL) {
        path = slash + 1;
    }
    return strstr(path, "cudadevrt") != NULL;
}

/* Find the PTX in the data of an input. */
static CUresult
link_open_input(const emu_device *device, CUjitInputType type, const char *data,
                size_t size, const char *name, emu_image *image)
{
    const int capability = device->major * 10 + device->minor;

    switch (type) {
        case EMU_INPUT_OBJECT:
            return emu_image_open_object(data, size, capability, name, image);
        case EMU_INPUT_LIBRARY:
            return emu_image_open_library(data, size, capability, name, image);
        case EMU_INPUT_NVVM:
            memset(image, 0, sizeof(*image));
            return emu_image_refuse(
                image, CUDA_ERROR_NO_BINARY_FOR_GPU,
                "%.200s is LTO code, which only NVIDIA's compiler can translate: link "
                "PTX.",
                name);
        default:
            return emu_image_open(data, size, capability, image);
    }
}

/* Add the texts of an image. What is wrong with it is reported when the link fails. */
static CUresult
link_add_image(emu_link_inputs *inputs, const emu_image *image, unsigned max_registers,
               const char *name)
{
    if (max_registers == 0) {
        max_registers = inputs->jit.load.max_registers;
    }
    for (size_t i = 0; i < image->count; i++) {
        emu_source text = image->texts[i];

        if (text.max_registers == 0) {
            text.max_registers = max_registers;
        }
        CUresult status = link_add_text(inputs, &text, name);
        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    if (image->problem[0] != 0 && inputs->problem == NULL) {
        inputs->problem = strdup(image->problem); /* without memory, it is not told */
    }
    return CUDA_SUCCESS;
}

CUresult
emu_link_add_data(emu_link_inputs *inputs, const emu_device *device,
                  CUjitInputType type, const char *data, size_t size, const char *name,
                  unsigned max_registers)
{
    emu_image image;
    CUresult status;

    if (type > EMU_INPUT_NVVM || data == NULL || size == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (type == EMU_INPUT_LIBRARY && link_is_device_runtime(name)) {
        return CUDA_SUCCESS;
    }
    if (name == NULL) {
        name = "input";
    }
    status = link_open_input(device, type, data, size, name, &image);
    if (status != CUDA_SUCCESS) {
        emu_jit_complain(&inputs->jit, image.problem);
        return status;
    }
    status = link_add_image(inputs, &image, max_registers, name);
    emu_image_close(&image);
    return status;
}

/* Any file that cannot be opened is FILE_NOT_FOUND. */
CUresult
emu_link_add_file(emu_link_inputs *inputs, const emu_device *device,
                  CUjitInputType type, const char *path, unsigned max_registers)
{
    char *data;
    size_t size;

    if (type == EMU_INPUT_LIBRARY && link_is_device_runtime(path)) {
        return CUDA_SUCCESS;
    }
    CUresult status = emu_image_read_file(path, &data, &size);
    if (status == CUDA_ERROR_INVALID_VALUE) {
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_link_add_data(inputs, device, type, data, size, path, max_registers);
    free(data);
    return status;
}

CUresult
emu_link_try(emu_link_inputs *inputs, emu_context *context)
{
    emu_program *program;
    double start = emu_jit_now();
    CUresult status = emu_program_load(context, inputs->texts, inputs->count,
                                       &inputs->jit.load, emu_handlers(), &program);

    if (status == CUDA_SUCCESS) {
        emu_program_free(program);
    }
    else if (inputs->problem != NULL) {
        emu_jit_complain_too(&inputs->jit, inputs->problem);
    }
    emu_jit_finish(&inputs->jit, emu_jit_now() - start);
    return status;
}

void
emu_link_inputs_free(emu_link_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        free((void *)(uintptr_t)inputs->texts[i].text); /* const for readers only */
        free((void *)(uintptr_t)inputs->texts[i].name);
    }
    free(inputs->texts);
    free(inputs->problem);
}
