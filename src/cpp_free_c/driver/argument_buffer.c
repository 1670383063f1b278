/* The rare cases of an argument buffer: parameters that outgrow the inline store, and
 * the release of the heap memory.
 *
 * Invariant and callers: see argument_buffer.h. */
#include "driver/argument_buffer.h"

#include <stdint.h>
#include <stdlib.h>

void
pcu_argument_buffer_free(pcu_argument_buffer *ab)
{
    if (ab->data != ab->store) {
        free(ab->data);
    }
    pcu_argument_buffer_init(ab);
}

/* Move the bytes to heap memory of at least `need` bytes. Return 0, or -1 when out of
 * memory. */
static int
argument_buffer_grow(pcu_argument_buffer *ab, size_t need)
{
    size_t capacity = need;
    unsigned char *data;

    /* At least double the capacity, so that many small parameters cost few copies. */
    if (ab->capacity <= SIZE_MAX / 2 && capacity < 2 * ab->capacity) {
        capacity = 2 * ab->capacity;
    }
    if (ab->data == ab->store) {
        data = malloc(capacity);
        if (data != NULL) {
            memcpy(data, ab->store, ab->used);
        }
    }
    else {
        data = realloc(ab->data, capacity);
    }
    if (data == NULL) {
        return -1;
    }
    ab->data = data;
    ab->capacity = capacity;
    return 0;
}

void *
pcu_argument_buffer_reserve_grow(pcu_argument_buffer *ab, size_t size, size_t align)
{
    size_t start = (ab->used + (align - 1)) & ~(align - 1);

    if (start < ab->used || size > SIZE_MAX - start ||
        argument_buffer_grow(ab, start + size) < 0) {
        return NULL;
    }
    memset(ab->data + ab->used, 0, start - ab->used);
    ab->used = start + size;
    return ab->data + start;
}
