/* The table of declared names. See opengl.h. */
#include "device/api/texture/opengl.h"

#include "device/memory/texture.h"
#include "device/api/entry/lock.h"

enum { DECLARED_MOST = 64 };

static emu_gl_name declared[DECLARED_MOST]; /* guarded by the API lock */

static emu_gl_name *
gl_find_name(unsigned int name, bool image)
{
    for (size_t i = 0; i < DECLARED_MOST; i++) {
        if (declared[i].used && declared[i].name == name &&
            declared[i].image == image) {
            return &declared[i];
        }
    }
    return NULL;
}

static emu_gl_name *
gl_find_unused(void)
{
    for (size_t i = 0; i < DECLARED_MOST; i++) {
        if (!declared[i].used) {
            return &declared[i];
        }
    }
    return NULL;
}

/* Declare a name, or forget it. -1: there is no room. */
static int
gl_declare(const emu_gl_name *new, bool keep)
{
    emu_gl_name *place;
    int result = 0;

    emu_lock();
    place = gl_find_name(new->name, new->image);
    if (place == NULL && keep) {
        place = gl_find_unused();
        if (place == NULL) {
            result = -1;
        }
    }
    if (place != NULL) {
        *place = *new;
        place->used = keep;
    }
    emu_unlock();
    return result;
}

int
emu_gl_buffer(unsigned int name, size_t bytes)
{
    emu_gl_name new = {.name = name, .bytes = bytes};

    return gl_declare(&new, bytes != 0);
}

int
emu_gl_image(unsigned int name, unsigned int target, size_t width, size_t height,
             size_t depth, unsigned int format, unsigned int channels)
{
    emu_gl_name new = {
        .image = true,
        .name = name,
        .target = target,
        .descriptor = {width, height, depth, format, channels, EMU_ARRAY_SURFACE}};

    return gl_declare(&new, width != 0);
}

CUresult
emu_gl_check_context(void)
{
    for (size_t i = 0; i < DECLARED_MOST; i++) {
        if (declared[i].used) {
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
}

const emu_gl_name *
emu_gl_find(unsigned int name, bool image)
{
    return gl_find_name(name, image);
}
