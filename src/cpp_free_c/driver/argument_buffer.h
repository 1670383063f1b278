/* The bytes of a kernel's parameters, packed as the device lays them out.
 *
 * Each parameter starts at a multiple of its own alignment (a device pointer has 8
 * bytes and alignment 8), so that vector types and structures arrive whole. The first
 * byte is aligned to 16, the largest alignment of a parameter.
 *
 * Invariant: data[0 .. used) is initialised; gaps are zero. pcu_argument_buffer_reserve
 * counts its bytes as used immediately, so the caller writes all of them before
 * anything reads the buffer. data points into the structure itself until more than
 * PCU_ARGUMENT_BUFFER_INLINE bytes are needed, so a pcu_argument_buffer is never copied
 * or moved.
 *
 * Pure: no Python, no driver, no process-wide state. The launch code of python/driver
 * calls it. One buffer belongs to one thread. */
#ifndef DRIVER_ARGUMENT_BUFFER_H
#define DRIVER_ARGUMENT_BUFFER_H

#include <stddef.h>
#include <string.h>

/* The limit of CUDA before 12.1 for all parameters together. Most launches need about
 * 100 bytes. */
#define PCU_ARGUMENT_BUFFER_INLINE 4096

typedef struct {
    unsigned char *data; /* the packed bytes: `store`, or memory from malloc */
    size_t used;         /* bytes packed so far */
    size_t capacity;     /* bytes that fit in data */
    _Alignas(16) unsigned char store[PCU_ARGUMENT_BUFFER_INLINE];
} pcu_argument_buffer;

/* Make an empty buffer. The store is not cleared: clearing 4 KB would cost more time
 * than a launch may take. */
static inline void
pcu_argument_buffer_init(pcu_argument_buffer *ab)
{
    ab->data = ab->store;
    ab->used = 0;
    ab->capacity = PCU_ARGUMENT_BUFFER_INLINE;
}

/* Free the heap memory, if any. The buffer is empty and usable afterwards. */
void pcu_argument_buffer_free(pcu_argument_buffer *ab);

/* pcu_argument_buffer_reserve where the bytes do not fit, or where their end overflows.
 */
void *pcu_argument_buffer_reserve_grow(pcu_argument_buffer *ab, size_t size,
                                       size_t align);

/* Append `size` bytes at the next multiple of `align`, a power of two. Return the
 * address where the caller must write them; it is valid until the next call. Return
 * NULL when out of memory or when the size overflows: the buffer is then unchanged. */
static inline void *
pcu_argument_buffer_reserve(pcu_argument_buffer *ab, size_t size, size_t align)
{
    size_t start = (ab->used + (align - 1)) & ~(align - 1);

    if (start < ab->used || start > ab->capacity || size > ab->capacity - start) {
        return pcu_argument_buffer_reserve_grow(ab, size, align);
    }
    if (start != ab->used) {
        memset(ab->data + ab->used, 0, start - ab->used);
    }
    ab->used = start + size;
    return ab->data + start;
}

#endif
