/* Linking: texts are gathered, tried together once, and packed into one image.
 *
 * The image is what cuLinkComplete gives out as machine code; cuModuleLoadData reads
 * it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/api/entry.h"
#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/module.h"
#include "device/machine/execution.h"

enum {
    INPUT_CUBIN = 0,
    INPUT_PTX = 1,
    INPUT_FATBINARY = 2,
    INPUT_OBJECT = 3,
    INPUT_LIBRARY = 4
};

typedef struct CUlinkState_st {
    emu_object object;
    emu_jit jit; /* of cuLinkCreate: its logs must live until the state is destroyed */
    emu_source *texts; /* copies of ours, names too */
    size_t count, room;
    void *image; /* of cuLinkComplete */
} link_state;

static void
destroy(emu_object *object)
{
    link_state *link = (link_state *)object;

    for (size_t i = 0; i < link->count; i++) {
        free((void *)(uintptr_t)link->texts[i].text); /* ours, const for readers */
        free((void *)(uintptr_t)link->texts[i].name);
    }
    free(link->texts);
    free(link->image);
    emu_object_free(object);
}

static CUresult
add_text(link_state *link, const char *text, size_t size, const char *name)
{
    char *copy, *name_copy;

    if (link->count == link->room) {
        size_t room = link->room ? link->room * 2 : 8;
        emu_source *texts = realloc(link->texts, room * sizeof(*texts));

        if (!texts) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        link->texts = texts;
        link->room = room;
    }
    copy = malloc(size + 1);
    name_copy = strdup(name ? name : "input");
    if (!copy || !name_copy) {
        free(copy);
        free(name_copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(copy, text, size);
    copy[size] = 0;
    link->texts[link->count++] =
        (emu_source){.text = copy, .size = size, .name = name_copy};
    return CUDA_SUCCESS;
}

/* The device runtime library that the compiler names for dynamic parallelism: what it
 * offers is built into the device, so the file itself is not needed. */
static bool
is_device_runtime(const char *path)
{
    const char *base = path ? strrchr(path, '/') : NULL;

    base = base ? base + 1 : path;
    return base && strstr(base, "cudadevrt") != NULL;
}

static CUresult
add_data(link_state *link, CUjitInputType type, const char *data, size_t size,
         const char *name)
{
    const emu_device *device = link->object.context->device;
    emu_image image;
    CUresult status;

    if (type > INPUT_LIBRARY || !data || size == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (type == INPUT_LIBRARY && is_device_runtime(name)) {
        return CUDA_SUCCESS;
    }
    if (type == INPUT_OBJECT || type == INPUT_LIBRARY) {
        emu_jit_complain(
            &link->jit,
            "Object files and libraries hold machine code, which the software "
            "device cannot run: link PTX.");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    status = emu_image_open(data, size, device->major * 10 + device->minor, &image);
    if (status != CUDA_SUCCESS) {
        emu_jit_complain(&link->jit, image.problem);
        return status;
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < image.count; i++) {
        status = add_text(link, image.texts[i].text, image.texts[i].size, name);
    }
    emu_image_close(&image);
    return status;
}

/* An entry point's first steps: the current context and the live state. */
static CUresult
enter(emu_call call, CUlinkState handle, link_state **link)
{
    emu_context *context;
    CUresult status = emu_enter_context(call, &context);

    *link = NULL;
    if (status == CUDA_SUCCESS) {
        *link = emu_object_get(handle, EMU_LINK);
        status = *link ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    return status;
}

CUresult
emu_cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues,
                 CUlinkState *stateOut)
{
    emu_context *context;
    emu_jit jit;
    CUresult status = EMU_ENTER_CONTEXT(LinkCreate, &context);

    if (status == CUDA_SUCCESS && !stateOut) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_jit_read(&jit, numOptions, options, optionValues);
    }
    if (status == CUDA_SUCCESS) {
        link_state *link = emu_object_new(EMU_LINK, sizeof(*link), context, destroy);

        if (link) {
            link->jit = jit;
            *stateOut = link;
        }
        else {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                  const char *name, unsigned int numOptions, CUjit_option *options,
                  void **optionValues)
{
    link_state *link;
    emu_jit ignored;
    CUresult status = enter(EMU_CALL_LinkAddData, state, &link);

    if (status == CUDA_SUCCESS) {
        status = emu_jit_read(&ignored, numOptions, options, optionValues);
    }
    if (status == CUDA_SUCCESS) {
        status = add_data(link, type, data, size, name);
    }
    if (status != CUDA_SUCCESS && link) {
        emu_jit_finish(&link->jit, 0);
    }
    return emu_leave(status);
}

/* Reads a file into memory of ours; NULL and why. */
static char *
read_file(const char *path, size_t *size, CUresult *status)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    size_t room = 0;

    *size = 0;
    if (!file) {
        *status = CUDA_ERROR_FILE_NOT_FOUND;
        return NULL;
    }
    *status = CUDA_SUCCESS;
    for (;;) {
        size_t got;

        if (*size == room) {
            char *larger = realloc(data, room = room ? room * 2 : 65536);

            if (!larger) {
                *status = CUDA_ERROR_OUT_OF_MEMORY;
                break;
            }
            data = larger;
        }
        got = fread(data + *size, 1, room - *size, file);
        if (got == 0) {
            break;
        }
        *size += got;
    }
    if (ferror(file)) {
        *status = CUDA_ERROR_INVALID_IMAGE;
    }
    (void)fclose(file); /* read only: nothing is lost */
    if (*status != CUDA_SUCCESS) {
        free(data);
        data = NULL;
    }
    return data;
}

CUresult
emu_cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                  unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    link_state *link;
    emu_jit ignored;
    CUresult status = enter(EMU_CALL_LinkAddFile, state, &link);

    if (status == CUDA_SUCCESS && !path) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_jit_read(&ignored, numOptions, options, optionValues);
    }
    if (status == CUDA_SUCCESS && !(type == INPUT_LIBRARY && is_device_runtime(path))) {
        size_t size;
        char *data = read_file(path, &size, &status);

        if (data) {
            status = add_data(link, type, data, size, path);
            free(data);
        }
    }
    if (status != CUDA_SUCCESS && link) {
        emu_jit_finish(&link->jit, 0);
    }
    return emu_leave(status);
}

/* Loads the texts together, so that an undefined symbol is found here and not later. */
static CUresult
try_program(link_state *link)
{
    emu_context *context = link->object.context;
    emu_program *program;
    double start = emu_seconds();
    emu_call call;
    CUresult status;

    emu_use(&context->object);
    emu_use(&link->object);
    call = emu_pause();
    status =
        emu_program_load(context, link->texts, link->count, &link->jit.load,
                         emu_ops(), &program);
    if (status == CUDA_SUCCESS) {
        emu_program_free(program);
    }
    emu_resume(call);
    emu_done(&link->object);
    emu_done(&context->object);
    emu_jit_finish(&link->jit, emu_seconds() - start);
    return status;
}

CUresult
emu_cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    link_state *link;
    CUresult status = enter(EMU_CALL_LinkComplete, state, &link);

    if (status == CUDA_SUCCESS && !cubinOut) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && (link->count == 0 || link->image)) {
        status = CUDA_ERROR_INVALID_IMAGE; /* nothing to link, or linked already */
    }
    if (status == CUDA_SUCCESS) {
        status = try_program(link);
    }
    if (status == CUDA_SUCCESS) {
        size_t size;

        link->image = emu_image_pack(link->texts, link->count, &size);
        if (link->image) {
            *cubinOut = link->image;
            if (sizeOut) {
                *sizeOut = size;
            }
        }
        else {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuLinkDestroy(CUlinkState state)
{
    link_state *link;
    CUresult status = enter(EMU_CALL_LinkDestroy, state, &link);

    if (status == CUDA_SUCCESS && !emu_can_wait_unused(&link->object)) {
        status = CUDA_ERROR_NOT_PERMITTED;
    }
    if (status == CUDA_SUCCESS) {
        emu_count_free(link->object.context);
        emu_object_unlist(&link->object);
        emu_wait_unused(&link->object);
        destroy(&link->object);
    }
    return emu_leave(status);
}
