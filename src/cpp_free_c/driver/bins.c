/* The bins of a memory pool. Invariant and callers: see bins.h. */

#include "driver/bins.h"

size_t
pcu_bins_size(int bin)
{
    int exponent = bin >> PCU_BINS_MANTISSA;
    int shift = exponent - PCU_BINS_MANTISSA;
    size_t leading = (size_t)1 << PCU_BINS_MANTISSA;
    size_t head = leading | ((size_t)bin & (leading - 1));
    if (shift < 0) {
        return head >> -shift;
    }
    return head << shift | (((size_t)1 << shift) - 1);
}

/* Remove the first block from the list of a bin. The list must not be empty. */
static pcu_bins_block *
bins_pop(pcu_bins *self, int bin)
{
    pcu_bins_block *block = self->lists[bin];
    self->lists[bin] = block->next;
    if (block->next == NULL) {
        self->occupied[bin / 64] &= ~((uint64_t)1 << bin % 64);
    }
    block->next = NULL;
    self->held_blocks--;
    self->held_bytes -= pcu_bins_size(bin);
    return block;
}

pcu_bins_block *
pcu_bins_take(pcu_bins *self, int bin, size_t size)
{
    if (self->lists[bin] == NULL) {
        return NULL;
    }
    self->active_blocks++;
    self->active_bytes += size;
    return bins_pop(self, bin);
}

pcu_bins_block *
pcu_bins_take_after(pcu_bins *self, int bin, pcu_bins_block *before, size_t size)
{
    if (before == NULL) {
        return pcu_bins_take(self, bin, size);
    }
    pcu_bins_block *block = before->next;
    before->next = block->next;
    block->next = NULL;
    self->active_blocks++;
    self->active_bytes += size;
    self->held_blocks--;
    self->held_bytes -= pcu_bins_size(bin);
    return block;
}

void
pcu_bins_admit(pcu_bins *self, pcu_bins_block *block, size_t size)
{
    block->next = NULL;
    self->active_blocks++;
    self->active_bytes += size;
    self->managed_bytes += pcu_bins_size(block->bin);
}

void
pcu_bins_hold(pcu_bins *self, pcu_bins_block *block, size_t size)
{
    int bin = block->bin;
    block->next = self->lists[bin];
    self->lists[bin] = block;
    self->occupied[bin / 64] |= (uint64_t)1 << bin % 64;
    self->held_blocks++;
    self->held_bytes += pcu_bins_size(bin);
    self->active_blocks--;
    self->active_bytes -= size;
}

void
pcu_bins_dismiss(pcu_bins *self, pcu_bins_block *block, size_t size)
{
    self->active_blocks--;
    self->active_bytes -= size;
    self->managed_bytes -= pcu_bins_size(block->bin);
}

pcu_bins_block *
pcu_bins_evict(pcu_bins *self)
{
    for (int word = PCU_BINS_COUNT / 64 - 1; word >= 0; word--) {
        if (self->occupied[word] != 0) {
            int bin = word * 64 + pcu_bitlog2(self->occupied[word]);
            self->managed_bytes -= pcu_bins_size(bin);
            return bins_pop(self, bin);
        }
    }
    return NULL;
}
