/* The texts of an image, and their memory. See image_texts.h. */
#include "device/api/module/image_texts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

CUresult
emu_image_refuse(emu_image *image, CUresult status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(image->problem, sizeof(image->problem), format, args);
    va_end(args);
    return status;
}

CUresult
emu_image_add(emu_image *image, emu_source text)
{
    if (image->count == image->room) {
        const size_t room = image->room * 2 + 4;
        emu_source *texts = realloc(image->texts, room * sizeof(*texts));

        if (texts == NULL) {
            return emu_image_refuse(image, CUDA_ERROR_OUT_OF_MEMORY, "Out of memory.");
        }
        image->texts = texts;
        image->room = room;
    }
    while (text.size > 0 && text.text[text.size - 1] == 0) {
        text.size--; /* padding */
    }
    image->texts[image->count++] = text;
    return CUDA_SUCCESS;
}

char *
emu_image_memory_new(emu_image *image, size_t size)
{
    emu_image_memory *memory = malloc(sizeof(*memory) + size);

    if (memory == NULL) {
        return NULL;
    }
    memory->next = image->memory;
    image->memory = memory;
    return memory->bytes;
}

void
emu_image_close(emu_image *image)
{
    while (image->memory != NULL) {
        emu_image_memory *next = image->memory->next;

        free(image->memory);
        image->memory = next;
    }
    free(image->texts);
    image->texts = NULL;
    image->count = image->room = 0;
}
