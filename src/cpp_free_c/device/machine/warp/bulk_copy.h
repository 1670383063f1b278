/* What the asynchronous copies of ranges and tiles share: their places in shared
 * memory, the blocks of a multicast, and telling an mbarrier. Called by ops_bulk.c and
 * ops_tensor.c. */
#ifndef DEVICE_MACHINE_WARP_BULK_COPY_H
#define DEVICE_MACHINE_WARP_BULK_COPY_H

#include "device/machine/warp/machine.h"

/* A range of the shared memory of one block. */
typedef struct {
    const emu_block *owner;
    uint64_t offset; /* in the memory of the owner */
} emu_shared_place;

/* Find the range of `size` bytes at a generic address of shared memory; the address
 * must be a multiple of `align`. False after a fault. */
bool emu_bulk_place(emu_warp *warp, const emu_insn *insn, unsigned lane,
                    uint64_t address, uint64_t size, unsigned align, bool write,
                    emu_shared_place *out);

/* Tell the checks of an access to a part of a place. False after a fault. */
bool emu_bulk_note(emu_warp *warp, const emu_insn *insn, unsigned lane,
                   const emu_shared_place *place, uint64_t offset, uint64_t size,
                   bool write);

/* The blocks that a copy to shared memory fills. */
typedef struct {
    uint32_t blocks; /* of a multicast: a bit for each rank that is left */
    bool is_multicast;
    bool is_done;
} emu_bulk_targets;

emu_bulk_targets emu_bulk_begin(bool is_multicast, uint32_t blocks);
/* The address, in the next block, of what is at `address` in this one. Without a
 * multicast it is the address itself, once. False: there is no further block. */
bool emu_bulk_next(emu_bulk_targets *targets, uint64_t address, uint64_t mbarrier,
                   uint64_t *to, uint64_t *signal);

#endif
