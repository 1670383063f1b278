/* The bins of a memory pool: the mapping from sizes to bins, one free list a bin, and
 * the counters.
 *
 * The bin of a size is its leading bit and the four bits below it, so a block is less
 * than 1/16 larger than the request. All blocks of a bin have the largest size of the
 * bin, so each of them serves every request of the bin.
 *
 * Invariant: a block is either held (in the free list of its bin) or active (in use),
 * and counted as such; managed_bytes counts both. A block outside the pool is not
 * counted. No function allocates or fails, so a destructor may return a block.
 *
 * Pure: no driver, no Python, no lock. The caller ensures that one thread at a time
 * uses the bins of a pool. python/driver/memory/pool.c is the caller. */
#ifndef DRIVER_BINS_H
#define DRIVER_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/visibility.h"

enum {
    PCU_BINS_MANTISSA = 4, /* bits kept below the leading one */
    PCU_BINS_COUNT = 64 << PCU_BINS_MANTISSA
};

/* The part of a block that the bins use. The pool puts it at the start of its own
 * struct. */
typedef struct pcu_bins_block {
    struct pcu_bins_block *next; /* in the free list */
    int bin;
} pcu_bins_block;

/* A struct of zeros is a pool without blocks. */
typedef struct {
    size_t held_blocks;
    size_t active_blocks;
    size_t held_bytes;                      /* sizes of the held blocks */
    size_t managed_bytes;                   /* sizes of all blocks */
    size_t active_bytes;                    /* requested sizes of the active blocks */
    bool stopped;                           /* returned blocks are no longer held */
    uint64_t occupied[PCU_BINS_COUNT / 64]; /* bit i: the list of bin i is not empty */
    pcu_bins_block *lists[PCU_BINS_COUNT];
} pcu_bins;

/* floor(log2(value)), and 0 for 0. */
static inline int
pcu_bitlog2(uint64_t value)
{
    if (value == 0) {
        return 0;
    }
    return 63 - __builtin_clzll(value);
}

/* The bin of a size. Size 0 shares bin 0 with size 1. */
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
PCU_HIDDEN size_t pcu_bins_size(int bin);

/* Make a held block of the bin active for a request of `size` bytes. Return NULL if the
 * bin holds none. */
PCU_HIDDEN pcu_bins_block *pcu_bins_take(pcu_bins *self, int bin, size_t size);

/* Make the block active that follows `before` in the list of its bin; NULL: the first
 * one. */
PCU_HIDDEN pcu_bins_block *pcu_bins_take_after(pcu_bins *self, int bin,
                                               pcu_bins_block *before, size_t size);

/* Add a new block as active for a request of `size` bytes. Its bin is set. */
PCU_HIDDEN void pcu_bins_admit(pcu_bins *self, pcu_bins_block *block, size_t size);

/* Hold an active block that served a request of `size` bytes. */
PCU_HIDDEN void pcu_bins_hold(pcu_bins *self, pcu_bins_block *block, size_t size);

/* Remove an active block, which served a request of `size` bytes, from the pool. */
PCU_HIDDEN void pcu_bins_dismiss(pcu_bins *self, pcu_bins_block *block, size_t size);

/* Remove one of the largest held blocks from the pool. Return NULL if none is held. */
PCU_HIDDEN pcu_bins_block *pcu_bins_evict(pcu_bins *self);

#endif
