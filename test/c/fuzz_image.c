/* A target of fuzz_ptx.c: opens fat binaries, object files, libraries and results of
 * links.
 *
 * An image must give texts or be refused with a code and a sentence. Linked with the
 * files of device/api/module that read images. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/api/module/image.h"
#include "fuzz_target.h"

static unsigned long long opened, texts, bytes;

void
fuzz_open(void)
{
}

/* Sets a field near the start to a number that a size or an offset should not be. */
static void
change_field(uint8_t *data, size_t size)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       7,
                                       8,
                                       16,
                                       UINT16_MAX,
                                       UINT32_MAX,
                                       UINT64_MAX,
                                       SIZE_MAX / 2,
                                       (uint64_t)1 << 31,
                                       (uint64_t)1 << 40};
    static const size_t widths[] = {2, 4, 8};
    const size_t width = widths[fuzz_below(3)];
    size_t room = size;
    uint64_t number = numbers[fuzz_below(sizeof(numbers) / sizeof(*numbers))];

    if (room < width) {
        return;
    }
    if (room > 256) {
        room = 256;
    }
    if (fuzz_below(2)) {
        number = size - fuzz_below(room);
    }
    memcpy(data + fuzz_below(room / width) * width, &number, width);
}

/* Reads all bytes of the texts, so that a sanitizer sees the bad ones. */
static void
read_texts(const emu_image *image)
{
    for (size_t i = 0; i < image->count; i++) {
        const emu_source *source = &image->texts[i];
        volatile char sum = 0;

        for (size_t k = 0; k < source->size; k++) {
            sum = (char)(sum ^ source->text[k]);
        }
        bytes += source->size;
    }
    texts += image->count;
}

/* Packs the texts and opens the result, which must be the same texts. */
static void
pack_again(const emu_image *image)
{
    size_t size = 0;
    void *packed = emu_image_pack(image->texts, image->count, &size);
    emu_image again;

    if (packed == NULL) {
        return;
    }
    if (emu_image_open(packed, size, 90, &again) != CUDA_SUCCESS) {
        fuzz_fail("a packed image is refused");
    }
    if (again.count != image->count) {
        fuzz_fail("a packed image has another number of texts");
    }
    for (size_t i = 0; i < image->count; i++) {
        if (again.texts[i].size != image->texts[i].size ||
            memcmp(again.texts[i].text, image->texts[i].text, again.texts[i].size) !=
                0) {
            fuzz_fail("a packed text has changed");
        }
    }
    emu_image_close(&again);
    free(packed);
}

/* Whether an image has been opened that is not plain text: any bytes may be text. */
static bool
check(CUresult status, const uint8_t *data, emu_image *image)
{
    if (status == CUDA_SUCCESS) {
        const bool plain =
            image->count > 0 && image->texts[0].text == (const char *)data;

        opened += !plain;
        read_texts(image);
        pack_again(image);
        emu_image_close(image);
        return !plain;
    }
    if (image->texts != NULL || image->count != 0 || image->memory != NULL) {
        fuzz_fail("a refused image holds memory");
    }
    if (memchr(image->problem, 0, sizeof(image->problem)) == NULL ||
        image->problem[0] == 0) {
        fuzz_fail("an image was refused without a sentence");
    }
    return false;
}

/* A copy of the input with some fields changed, to be freed. */
static uint8_t *
changed_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = calloc(1, size > 0 ? size : 1);

    if (copy == NULL) {
        fuzz_fail("no memory");
    }
    else {
        memcpy(copy, data, size);
    }
    for (size_t n = fuzz_below(4); n > 0; n--) {
        change_field(copy, size);
    }
    return copy;
}

bool
fuzz_one(const uint8_t *data, size_t size)
{
    uint8_t *copy = changed_copy(data, size);
    const char *name = "input";
    emu_image image;
    bool good = false;

    good |= check(emu_image_open(copy, size, 90, &image), copy, &image);
    good |= check(emu_image_open_object(copy, size, 90, name, &image), copy, &image);
    good |= check(emu_image_open_library(copy, size, 90, name, &image), copy, &image);
    free(copy);
    return good;
}

void
fuzz_close(void)
{
    (void)printf("%llu opened, %llu texts, %llu bytes\n", opened, texts, bytes);
}
