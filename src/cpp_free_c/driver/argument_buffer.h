/* The bytes of a kernel's parameters, packed as the device lays them out.
 *
 * Each parameter starts at a multiple of its own alignment (a device pointer: 8 bytes,
 * 8), so that vector types and structures arrive whole. Offsets are aligned, and the
 * first byte is aligned to 16, which is as far as the device asks.
 *
 * Invariant: data[0 .. used) is initialised, gaps with zeros. pcu_argbuf_reserve counts
 * its bytes as used at once, so the caller writes all of them before anything reads the
 * buffer. data points into the structure itself until more than PCU_ARGBUF_INLINE bytes
 * are needed: a pcu_argbuf is never copied or moved.
 *
 * Pure: no Python, no driver, no process-wide state. Called by python/driver/launch/call.c and
 * python/driver/module/function.c; one buffer belongs to one thread. */
#ifndef DRIVER_ARGUMENT_BUFFER_H
#define DRIVER_ARGUMENT_BUFFER_H

#include <stddef.h>
#include <string.h>

/* What CUDA before 12.1 allows for all parameters together; most launches need 100
 * bytes. */
#define PCU_ARGBUF_INLINE 4096

typedef struct {
    unsigned char *data; /* the packed bytes: store, or heap that free() takes */
    size_t used;         /* bytes packed so far */
    size_t capacity;     /* bytes that data has room for */
    _Alignas(16) unsigned char store[PCU_ARGBUF_INLINE];
} pcu_argbuf;

/* Makes an empty buffer. Leaves the store alone: clearing 4 KB would cost more than a
 * launch has to spend. */
static inline void
pcu_argbuf_init(pcu_argbuf *ab)
{
    ab->data = ab->store;
    ab->used = 0;
    ab->capacity = PCU_ARGBUF_INLINE;
}

/* Releases what the buffer holds and leaves it empty, ready for use again. */
void pcu_argbuf_free(pcu_argbuf *ab);

/* pcu_argbuf_reserve for the case that the bytes do not fit, or that their end
 * overflows. */
void *pcu_argbuf_reserve_grow(pcu_argbuf *ab, size_t size, size_t align);

/* Appends size bytes at the next multiple of align, a power of two, and returns where
 * the caller must write them. NULL when out of memory or when the size overflows: the
 * buffer is then as before. The pointer is good until the next reserve. */
static inline void *
pcu_argbuf_reserve(pcu_argbuf *ab, size_t size, size_t align)
{
    size_t start = (ab->used + (align - 1)) & ~(align - 1);

    if (start < ab->used || start > ab->capacity || size > ab->capacity - start) {
        return pcu_argbuf_reserve_grow(ab, size, align);
    }
    if (start != ab->used) {
        memset(ab->data + ab->used, 0, start - ab->used);
    }
    ab->used = start + size;
    return ab->data + start;
}

/* Appends a copy of size bytes. 0, or -1 as pcu_argbuf_reserve's NULL. */
static inline int
pcu_argbuf_put(pcu_argbuf *ab, const void *src, size_t size, size_t align)
{
    void *place = pcu_argbuf_reserve(ab, size, align);

    if (place == NULL) {
        return -1;
    }
    if (size != 0) {
        memcpy(place, src, size);
    }
    return 0;
}

#endif
