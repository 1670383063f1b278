/* CUDA arrays and mipmapped arrays. See texture.h. */
#include "device/memory/texture.h"

#define LARGEST_SIDE ((size_t)1 << 28)

size_t
emu_array_format_size(CUarray_format format)
{
    switch (format) {
        case 0x01:
        case 0x08:
            return 1;
        case 0x02:
        case 0x09:
        case 0x10:
            return 2;
        case 0x03:
        case 0x0a:
        case 0x20:
            return 4;
        default:
            return 0;
    }
}

/* The function `destroy` in the header of an array. */
static void
array_destroy(emu_object *object)
{
    emu_array *array = (emu_array *)object;

    if (array->parent) {
        array->parent->levels[array->level] = NULL;
    }
    if (array->keeper) {
        *array->keeper = NULL;
    }
    (void)emu_memory_free(
        array->memory); /* only the array frees this memory, so it is live */
    emu_object_free(object);
}

static bool
array_has_valid_sides(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return d->Width > 0 && d->Width <= LARGEST_SIDE && d->Height <= LARGEST_SIDE &&
           d->Depth <= LARGEST_SIDE;
}

static bool
array_is_valid(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const bool cubemap = (d->Flags & EMU_ARRAY_CUBEMAP) != 0;
    const bool layered = (d->Flags & EMU_ARRAY_LAYERED) != 0;

    if (!emu_array_format_size(d->Format) || !array_has_valid_sides(d) ||
        (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4)) {
        return false;
    }
    if (cubemap && layered) {
        return d->Width == d->Height && d->Depth % 6 == 0 && d->Depth > 0;
    }
    if (cubemap) {
        return d->Width == d->Height && d->Depth == 6;
    }
    if (layered) {
        return d->Depth > 0;
    }
    return d->Depth == 0 || d->Height > 0;
}

static size_t
array_at_least_one(size_t value)
{
    if (value == 0) {
        return 1;
    }
    return value;
}

static void
array_set_shape(emu_array *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    array->descriptor = *descriptor;
    array->element =
        emu_array_format_size(descriptor->Format) * descriptor->NumChannels;
    array->width = descriptor->Width;
    array->height = array_at_least_one(descriptor->Height);
    array->depth = array_at_least_one(descriptor->Depth);
    array->pitch = array->width * array->element;
    array->slice = array->pitch * array->height; /* no overflow: sides are below 2^28 */
}

static CUresult
array_allocate(emu_context *context, size_t size, emu_allocation **memory)
{
    emu_memory_request request = {.kind = EMU_MEMORY_ARRAY,
                                  .size = size,
                                  .device = context->device->ordinal,
                                  .context = context};

    return emu_memory_allocate(&request, memory);
}

CUresult
emu_array_create(emu_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                 emu_array **out)
{
    emu_array *array;
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;

    if (!array_is_valid(descriptor)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    array = emu_object_new(EMU_ARRAY, sizeof(*array), context, array_destroy);
    if (array == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    array_set_shape(array, descriptor);
    if (array->slice <= emu_memory_tables.size &&
        array->depth <= emu_memory_tables.size / array->slice) {
        status = array_allocate(context, array->slice * array->depth, &array->memory);
    }
    if (status != CUDA_SUCCESS) {
        emu_object_free(&array->object);
        return status;
    }
    array->base = array->memory->base;
    array->memory->owner = array;
    *out = array;
    return CUDA_SUCCESS;
}

/* -- mipmapped --------------------------------------------------------------------- */

static void
mipmap_destroy(emu_object *object)
{
    emu_mipmap *mipmap = (emu_mipmap *)object;

    /* The context may have destroyed some levels already: it owns them too. */
    for (unsigned int i = 0; i < mipmap->level_count; i++) {
        if (mipmap->levels[i]) {
            array_destroy(&mipmap->levels[i]->object);
        }
    }
    emu_object_free(object);
}

static size_t
array_halve_side(size_t side)
{
    if (side <= 1) {
        return side;
    }
    return side / 2;
}

static CUresult
mipmap_create_levels(emu_context *context, emu_mipmap *mipmap, unsigned int count)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor = mipmap->descriptor;
    bool stacked = (descriptor.Flags & (EMU_ARRAY_LAYERED | EMU_ARRAY_CUBEMAP)) != 0;

    for (unsigned int i = 0; i < count; i++) {
        CUresult status = emu_array_create(context, &descriptor, &mipmap->levels[i]);

        if (status != CUDA_SUCCESS) {
            return status;
        }
        emu_object_make_part(&mipmap->levels[i]->object);
        mipmap->levels[i]->parent = mipmap;
        mipmap->levels[i]->level = i;
        mipmap->level_count++;
        descriptor.Width = array_halve_side(descriptor.Width);
        descriptor.Height = array_halve_side(descriptor.Height);
        if (!stacked) {
            descriptor.Depth = array_halve_side(descriptor.Depth);
        }
    }
    return CUDA_SUCCESS;
}

/* The number of levels asked for, at least 1 and at most as many as halving the longest
 * side allows. */
static unsigned int
mipmap_clamp_levels(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int asked)
{
    bool stacked = (d->Flags & (EMU_ARRAY_LAYERED | EMU_ARRAY_CUBEMAP)) != 0;
    size_t side = d->Width;
    unsigned int most = 1;

    if (d->Height > side) {
        side = d->Height;
    }
    if (!stacked && d->Depth > side) {
        side = d->Depth;
    }
    while (side > 1) {
        side /= 2;
        most++;
    }
    if (most > EMU_ARRAY_LEVELS) {
        most = EMU_ARRAY_LEVELS;
    }
    if (asked == 0) {
        return 1;
    }
    if (asked > most) {
        return most;
    }
    return asked;
}

CUresult
emu_mipmap_create(emu_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                  unsigned int level_count, emu_mipmap **out)
{
    emu_mipmap *mipmap;
    CUresult status;

    if (!array_is_valid(descriptor)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    mipmap = emu_object_new(EMU_MIPMAP, sizeof(*mipmap), context, mipmap_destroy);
    if (mipmap == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mipmap->descriptor = *descriptor;
    status = mipmap_create_levels(context, mipmap,
                                  mipmap_clamp_levels(descriptor, level_count));
    if (status != CUDA_SUCCESS) {
        mipmap_destroy(&mipmap->object);
        return status;
    }
    *out = mipmap;
    return CUDA_SUCCESS;
}
