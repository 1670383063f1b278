/* The bins of a memory pool: which sizes share a bin, the free list of each, the
 * counters.
 *
 * A size's bin is its leading bit and the four bits below it, so that a block is less
 * than 1/16 larger than what was asked for. Every block of a bin has the bin's largest
 * size, and any of them serves any request of the bin.
 *
 * Invariant: a block is either held (in the free list of its bin) or active (with a
 * user), and counted as such; managed_bytes counts both. A block that leaves the pool
 * is counted nowhere. Nothing here allocates or fails, so a destructor may return a
 * block.
 *
 * Pure: no driver, no Python, no lock. The caller sees to it that one thread at a time
 * is in here. */
#ifndef DRIVER_BINS_H
#define DRIVER_BINS_H

#include <stddef.h>
#include <stdint.h>

enum {
    PCU_BINS_MANTISSA = 4, /* bits kept below the leading one */
    PCU_BINS_COUNT = 64 << PCU_BINS_MANTISSA
};

/* What the bins know of a block: the head of the owner's own struct. */
typedef struct pcu_bins_block {
    struct pcu_bins_block *next; /* in the free list */
    int bin;
} pcu_bins_block;

/* All zero is a pool without blocks. */
typedef struct {
    size_t held_blocks;
    size_t active_blocks;
    size_t held_bytes;                      /* block sizes */
    size_t managed_bytes;                   /* block sizes, held and active */
    size_t active_bytes;                    /* sizes asked for */
    int stopped;                            /* returned blocks are not held any more */
    uint64_t occupied[PCU_BINS_COUNT / 64]; /* bit i: bin i holds a block */
    pcu_bins_block *lists[PCU_BINS_COUNT];
} pcu_bins;

#if defined(__GNUC__)
#    define PCU_BINS_API __attribute__((visibility("hidden")))
#else
#    define PCU_BINS_API
#endif

/* floor(log2(value)); 0 for 0. */
static inline int
pcu_bitlog2(uint64_t value)
{
    return value == 0 ? 0 : 63 - __builtin_clzll(value);
}

/* The bin of a size; size 0 shares bin 0 with size 1. */
static inline int
pcu_bins_number(size_t size)
{
    int exponent = pcu_bitlog2(size);
    int shift = exponent - PCU_BINS_MANTISSA;
    size_t head = shift >= 0 ? size >> shift : size << -shift;
    return exponent << PCU_BINS_MANTISSA | (int)(head & ((1 << PCU_BINS_MANTISSA) - 1));
}

/* The largest size of a bin, which is the size of its blocks. 0 <= bin <
 * PCU_BINS_COUNT. */
PCU_BINS_API size_t pcu_bins_size(int bin);

/* A held block of the bin, now active for a request of `size` bytes; NULL if the bin
 * holds none. */
PCU_BINS_API pcu_bins_block *pcu_bins_take(pcu_bins *self, int bin, size_t size);

/* Count a new block, whose bin is set, as active for a request of `size` bytes. */
PCU_BINS_API void pcu_bins_admit(pcu_bins *self, pcu_bins_block *block, size_t size);

/* The user of a block is done with its `size` bytes: hold it. */
PCU_BINS_API void pcu_bins_hold(pcu_bins *self, pcu_bins_block *block, size_t size);

/* The same for a block that leaves the pool. */
PCU_BINS_API void pcu_bins_dismiss(pcu_bins *self, pcu_bins_block *block, size_t size);

/* Take a held block of the largest size there is out of the pool; NULL if none is
 * held. */
PCU_BINS_API pcu_bins_block *pcu_bins_evict(pcu_bins *self);

#endif
