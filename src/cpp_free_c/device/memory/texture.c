/* Texture and surface objects. See texture.h. */
#include "device/memory/texture.h"

#include <string.h>

#define SLOT_BITS 16
#define SLOTS ((size_t)1 << SLOT_BITS)

/* Unused slots take no memory, since their pages are never written. Slot 0 stays
 * empty, so that no handle is 0. */
static emu_texture slots[SLOTS];
static size_t used_slots =
    1; /* this and the next variable are guarded by the API lock */
static emu_texture *free_slots;

static emu_texture_object *owners[SLOTS]; /* by slot; NULL: free */

const emu_texture *
emu_texture_find(uint64_t handle)
{
    emu_texture *slot = &slots[handle & (SLOTS - 1)];

    if (!handle ||
        atomic_load_explicit(&slot->handle, memory_order_acquire) != handle) {
        return NULL;
    }
    return slot;
}

static void
texture_destroy(emu_object *object)
{
    emu_texture_object *texture = (emu_texture_object *)object;
    emu_texture *slot = texture->slot;

    atomic_store_explicit(&slot->handle, 0, memory_order_release);
    owners[slot - slots] = NULL;
    slot->next = free_slots;
    free_slots = slot;
    emu_object_free(object);
}

static emu_texture *
texture_take_slot(void)
{
    emu_texture *slot = free_slots;

    if (slot) {
        free_slots = slot->next;
    }
    else if (used_slots < SLOTS) {
        slot = &slots[used_slots++];
    }
    return slot;
}

/* -- reading descriptors ----------------------------------------------------------- */

static void
texture_set_level(emu_texture *t, const emu_array *array)
{
    emu_texture_level *level = &t->levels[t->level_count++];

    *level = (emu_texture_level){.base = array->base,
                                 .width = array->width,
                                 .height = array->height,
                                 .depth = array->depth,
                                 .pitch = array->pitch,
                                 .slice = array->slice,
                                 .serial = array->memory->serial};
}

static void
texture_set_shape(emu_texture *t, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    bool stacked = (descriptor->Flags & (EMU_ARRAY_LAYERED | EMU_ARRAY_CUBEMAP)) != 0;

    t->format = descriptor->Format;
    t->channels = descriptor->NumChannels;
    t->flags = descriptor->Flags;
    t->dimensions = 1;
    if (descriptor->Height) {
        t->dimensions = 2;
    }
    if (descriptor->Depth && !stacked) {
        t->dimensions = 3;
    }
}

static CUresult
texture_read_linear(emu_texture *t, uint64_t address, size_t width, size_t height,
                    size_t pitch, CUarray_format format, unsigned int channels)
{
    size_t element = emu_array_format_size(format) * channels;
    const emu_allocation *found;
    size_t row, extent;

    if (!element || (channels != 1 && channels != 2 && channels != 4) || width == 0 ||
        height == 0 || __builtin_mul_overflow(width, element, &row)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (height > 1 && (pitch < row || pitch > SIZE_MAX / height)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    extent = row;
    if (height > 1) {
        extent += pitch * (height - 1);
    }
    found = emu_memory_holding(address, extent);
    if (found == NULL || address % element) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    t->format = format;
    t->channels = channels;
    t->level_count = 1;
    t->levels[0] = (emu_texture_level){.base = address,
                                       .width = width,
                                       .height = height,
                                       .depth = 1,
                                       .pitch = pitch,
                                       .slice = pitch * height,
                                       .serial = found->serial};
    return CUDA_SUCCESS;
}

static CUresult
texture_read_resource(emu_texture *t, const CUDA_RESOURCE_DESC *resource)
{
    const emu_array *array;
    const emu_mipmap *mipmap;
    size_t element;

    switch (resource->resType) {
        case CU_RESOURCE_TYPE_ARRAY:
            array = emu_object_get(resource->res.array.hArray, EMU_ARRAY);
            if (array == NULL) {
                return CUDA_ERROR_INVALID_HANDLE;
            }
            texture_set_shape(t, &array->descriptor);
            texture_set_level(t, array);
            return CUDA_SUCCESS;
        case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
            mipmap = emu_object_get(resource->res.mipmap.hMipmappedArray, EMU_MIPMAP);
            if (mipmap == NULL) {
                return CUDA_ERROR_INVALID_HANDLE;
            }
            texture_set_shape(t, &mipmap->descriptor);
            for (unsigned int i = 0; i < mipmap->level_count; i++) {
                texture_set_level(t, mipmap->levels[i]);
            }
            return CUDA_SUCCESS;
        case CU_RESOURCE_TYPE_LINEAR:
            element = emu_array_format_size(resource->res.linear.format) *
                      resource->res.linear.numChannels;
            if (element == 0) {
                return CUDA_ERROR_INVALID_VALUE;
            }
            t->dimensions = 1;
            return texture_read_linear(t, resource->res.linear.devPtr,
                                       resource->res.linear.sizeInBytes / element, 1,
                                       resource->res.linear.sizeInBytes,
                                       resource->res.linear.format,
                                       resource->res.linear.numChannels);
        case CU_RESOURCE_TYPE_PITCH2D:
            t->dimensions = 2;
            return texture_read_linear(
                t, resource->res.pitch2D.devPtr, resource->res.pitch2D.width,
                resource->res.pitch2D.height, resource->res.pitch2D.pitchInBytes,
                resource->res.pitch2D.format, resource->res.pitch2D.numChannels);
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Apply the format of the resource view. The compressed formats are not supported. */
static CUresult
texture_read_view(emu_texture *t)
{
    static const CUarray_format formats[] = {0x01, 0x08, 0x02, 0x09,
                                             0x03, 0x0a, 0x10, 0x20};
    const unsigned int number = (unsigned int)t->view.format;
    const size_t kinds = sizeof(formats) / sizeof(*formats);
    CUarray_format format;
    unsigned int channels;

    if (!t->has_view || number == 0) {
        return CUDA_SUCCESS;
    }
    if (number > 3 * kinds) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    format = formats[(number - 1) / 3];
    channels = 1u << (number - 1) % 3;
    if (emu_array_format_size(format) * channels !=
        emu_array_format_size(t->format) * t->channels) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    t->format = format;
    t->channels = channels;
    return CUDA_SUCCESS;
}

/* -- objects ----------------------------------------------------------------------- */

CUresult
emu_texture_create(emu_context *context, emu_kind kind,
                   const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                   const CUDA_RESOURCE_VIEW_DESC *view, uint64_t *handle)
{
    emu_texture made;
    emu_texture_object *object;
    emu_texture *slot;
    uint64_t generation;
    CUresult status;

    memset(&made, 0, sizeof(made));
    made.surface = texture == NULL;
    made.device = context->device->ordinal;
    made.resource = *resource;
    if (texture) {
        made.texture = *texture;
    }
    if (view) {
        made.view = *view;
        made.has_view = true;
    }
    status = texture_read_resource(&made, resource);
    if (status == CUDA_SUCCESS) {
        status = texture_read_view(&made);
    }
    if (status != CUDA_SUCCESS) {
        return status;
    }
    made.element = emu_array_format_size(made.format) * made.channels;
    object = emu_object_new(kind, sizeof(*object), context, texture_destroy);
    if (object == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    slot = texture_take_slot();
    if (slot == NULL) {
        emu_object_free(&object->object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    generation = slot->generation + 1;
    memcpy(slot, &made, sizeof(made)); /* its handle is 0, so no kernel reads it yet */
    slot->generation = generation;
    object->slot = slot;
    owners[slot - slots] = object;
    *handle = generation << SLOT_BITS | (uint64_t)(slot - slots);
    atomic_store_explicit(&slot->handle, *handle, memory_order_release);
    return CUDA_SUCCESS;
}

emu_texture_object *
emu_texture_get(uint64_t handle, emu_kind kind)
{
    const emu_texture *slot = emu_texture_find(handle);

    if (slot == NULL || slot->surface != (kind == EMU_SURFACE)) {
        return NULL;
    }
    return owners[slot - slots];
}

CUresult
emu_texture_make_hidden(emu_context *context, const CUDA_RESOURCE_DESC *resource,
                        const CUDA_TEXTURE_DESC *texture, uint64_t *handle)
{
    return emu_texture_create(context, EMU_TEXREF, resource, texture, NULL, handle);
}

void
emu_texture_drop_hidden(uint64_t handle)
{
    const emu_texture *slot = emu_texture_find(handle);

    if (slot) {
        texture_destroy(&owners[slot - slots]->object);
    }
}
