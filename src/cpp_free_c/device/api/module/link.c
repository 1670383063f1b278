/* Linking: texts are gathered, loaded together once as a check, and packed into an
 * image.
 *
 * cuLinkComplete returns the image where a GPU's driver returns machine code, and
 * cuModuleLoadData reads it. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "device/machine/warp/handlers.h"
#include "device/api/entry/entry.h"
#include "device/api/module/image.h"
#include "device/api/module/module.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/users.h"

enum {
    INPUT_CUBIN = 0,
    INPUT_PTX = 1,
    INPUT_FATBINARY = 2,
    INPUT_OBJECT = 3,
    INPUT_LIBRARY = 4,
    INPUT_NVVM = 5
};

typedef struct CUlinkState_st {
    emu_object object;
    emu_jit jit; /* of cuLinkCreate: the program keeps its logs until cuLinkDestroy */
    emu_source *texts; /* copies, with copies of their names */
    size_t count, room;
    char *problem; /* of a library whose code may not be needed, or NULL */
    void *image;   /* the result of cuLinkComplete; NULL before */
} link_state;

static void
link_destroy(emu_object *object)
{
    link_state *link = (link_state *)object;

    for (size_t i = 0; i < link->count; i++) {
        free((void *)(uintptr_t)link->texts[i].text); /* const for readers only */
        free((void *)(uintptr_t)link->texts[i].name);
    }
    free(link->texts);
    free(link->problem);
    free(link->image);
    emu_object_free(object);
}

static bool
link_grow(link_state *link)
{
    size_t room = link->room * 2 + 8;
    emu_source *texts = realloc(link->texts, room * sizeof(*texts));

    if (texts == NULL) {
        return false;
    }
    link->texts = texts;
    link->room = room;
    return true;
}

/* Add a copy of a text. */
static CUresult
link_add_text(link_state *link, const emu_source *text, const char *name)
{
    char *copy, *name_copy;

    if (link->count == link->room && !link_grow(link)) {
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
    link->texts[link->count] = *text;
    link->texts[link->count].text = copy;
    link->texts[link->count].name = name_copy;
    link->count++;
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
link_open_input(const link_state *link, CUjitInputType type, const char *data,
                size_t size, const char *name, emu_image *image)
{
    const emu_device *device = link->object.context->device;
    const int capability = device->major * 10 + device->minor;

    switch (type) {
        case INPUT_OBJECT:
            return emu_image_open_object(data, size, capability, name, image);
        case INPUT_LIBRARY:
            return emu_image_open_library(data, size, capability, name, image);
        case INPUT_NVVM:
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

/* The limit of registers for an input: that of its own options, else that of the link.
 */
static unsigned
link_max_registers(const link_state *link, const emu_jit *jit)
{
    if (jit->load.max_registers > 0) {
        return jit->load.max_registers;
    }
    return link->jit.load.max_registers;
}

/* Add the texts of an image. Its problem is told if the link fails. */
static CUresult
link_add_image(link_state *link, const emu_image *image, const emu_jit *jit,
               const char *name)
{
    for (size_t i = 0; i < image->count; i++) {
        emu_source text = image->texts[i];

        if (text.max_registers == 0) {
            text.max_registers = link_max_registers(link, jit);
        }
        CUresult status = link_add_text(link, &text, name);
        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    if (image->problem[0] != 0 && link->problem == NULL) {
        link->problem = strdup(image->problem); /* without memory, it is not told */
    }
    return CUDA_SUCCESS;
}

static CUresult
link_add_data(link_state *link, CUjitInputType type, const char *data, size_t size,
              const char *name, const emu_jit *jit)
{
    emu_image image;
    CUresult status;

    if (type > INPUT_NVVM || data == NULL || size == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (type == INPUT_LIBRARY && link_is_device_runtime(name)) {
        return CUDA_SUCCESS;
    }
    if (name == NULL) {
        name = "input";
    }
    status = link_open_input(link, type, data, size, name, &image);
    if (status != CUDA_SUCCESS) {
        emu_jit_complain(&link->jit, image.problem);
        return status;
    }
    status = link_add_image(link, &image, jit, name);
    emu_image_close(&image);
    return status;
}

/* Finish the logs if an input could not be added. */
static CUresult
link_failed(link_state *link, CUresult status)
{
    if (status != CUDA_SUCCESS) {
        emu_jit_finish(&link->jit, 0);
    }
    return status;
}

CUresult
emu_cuLinkCreate(emu_context *context, unsigned int numOptions, CUjit_option *options,
                 void **optionValues, CUlinkState *stateOut)
{
    emu_jit jit;

    if (stateOut == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_jit_read(&jit, numOptions, options, optionValues);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    link_state *link = emu_object_new(EMU_LINK, sizeof(*link), context, link_destroy);

    if (link == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    link->jit = jit;
    *stateOut = link;
    return CUDA_SUCCESS;
}

CUresult
emu_cuLinkAddData(link_state *link, CUjitInputType type, void *data, size_t size,
                  const char *name, unsigned int numOptions, CUjit_option *options,
                  void **optionValues)
{
    emu_jit jit;
    CUresult status = emu_jit_read(&jit, numOptions, options, optionValues);

    if (status != CUDA_SUCCESS) {
        return link_failed(link, status);
    }
    return link_failed(link, link_add_data(link, type, data, size, name, &jit));
}

/* Add a file. Any file that cannot be opened is FILE_NOT_FOUND. */
static CUresult
link_add_file(link_state *link, CUjitInputType type, const char *path,
              const emu_jit *jit)
{
    char *data;
    size_t size;
    CUresult status = emu_image_read_file(path, &data, &size);

    if (status == CUDA_ERROR_INVALID_VALUE) {
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = link_add_data(link, type, data, size, path, jit);
    free(data);
    return status;
}

CUresult
emu_cuLinkAddFile(link_state *link, CUjitInputType type, const char *path,
                  unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    emu_jit jit;

    if (path == NULL) {
        return link_failed(link, CUDA_ERROR_INVALID_VALUE);
    }
    CUresult status = emu_jit_read(&jit, numOptions, options, optionValues);
    if (status != CUDA_SUCCESS) {
        return link_failed(link, status);
    }
    if (type == INPUT_LIBRARY && link_is_device_runtime(path)) {
        return CUDA_SUCCESS;
    }
    return link_failed(link, link_add_file(link, type, path, &jit));
}

/* Load the texts together, so that an undefined symbol is found here and not later. */
static CUresult
link_try(link_state *link)
{
    emu_context *context = link->object.context;
    emu_program *program;
    double start = emu_jit_now();
    emu_call call;
    CUresult status;

    emu_users_add(&context->object);
    emu_users_add(&link->object);
    call = emu_lock_pause();
    status = emu_program_load(context, link->texts, link->count, &link->jit.load,
                              emu_handlers(), &program);
    if (status == CUDA_SUCCESS) {
        emu_program_free(program);
    }
    else if (link->problem != NULL) {
        emu_jit_complain_too(&link->jit, link->problem);
    }
    emu_lock_resume(call);
    emu_users_remove(&link->object);
    emu_users_remove(&context->object);
    emu_jit_finish(&link->jit, emu_jit_now() - start);
    return status;
}

CUresult
emu_cuLinkComplete(link_state *link, void **cubinOut, size_t *sizeOut)
{
    if (cubinOut == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (link->count == 0 || link->image != NULL) {
        return CUDA_ERROR_INVALID_IMAGE; /* nothing to link, or linked already */
    }
    CUresult status = link_try(link);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    size_t size;

    link->image = emu_image_pack(link->texts, link->count, &size);
    if (link->image == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *cubinOut = link->image;
    if (sizeOut != NULL) {
        *sizeOut = size;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuLinkDestroy(link_state *link)
{
    return emu_users_destroy(&link->object);
}
