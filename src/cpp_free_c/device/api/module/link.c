/* Linking: texts are gathered, loaded together once as a check, and packed into an
 * image.
 *
 * cuLinkComplete returns the image where a GPU's driver returns machine code, and
 * cuModuleLoadData reads it. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "device/api/entry/entry.h"
#include "device/api/module/image.h"
#include "device/api/module/link_inputs.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/users.h"

typedef struct CUlinkState_st {
    emu_object object;
    /* With the options of cuLinkCreate: the program keeps its logs until cuLinkDestroy.
     */
    emu_link_inputs inputs;
    void *image; /* the result of cuLinkComplete; NULL before */
} link_state;

static void
link_destroy(emu_object *object)
{
    link_state *link = (link_state *)object;

    emu_link_inputs_free(&link->inputs);
    free(link->image);
    emu_object_free(object);
}

/* Finish the logs if an input could not be added. */
static CUresult
link_failed(link_state *link, CUresult status)
{
    if (status != CUDA_SUCCESS) {
        emu_jit_finish(&link->inputs.jit, 0);
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
    link->inputs.jit = jit;
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
    status = emu_link_add_data(&link->inputs, link->object.context->device, type, data,
                               size, name, jit.load.max_registers);
    return link_failed(link, status);
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
    status = emu_link_add_file(&link->inputs, link->object.context->device, type, path,
                               jit.load.max_registers);
    return link_failed(link, status);
}

/* Load the texts with the API lock released. */
static CUresult
link_try(link_state *link)
{
    emu_context *context = link->object.context;
    emu_call call;
    CUresult status;

    emu_users_add(&context->object);
    emu_users_add(&link->object);
    call = emu_lock_pause();
    status = emu_link_try(&link->inputs, context);
    emu_lock_resume(call);
    emu_users_remove(&link->object);
    emu_users_remove(&context->object);
    return status;
}

CUresult
emu_cuLinkComplete(link_state *link, void **cubinOut, size_t *sizeOut)
{
    if (cubinOut == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (link->inputs.count == 0 || link->image != NULL) {
        return CUDA_ERROR_INVALID_IMAGE; /* nothing to link, or linked already */
    }
    CUresult status = link_try(link);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    size_t size;

    link->image = emu_image_pack(link->inputs.texts, link->inputs.count, &size);
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
