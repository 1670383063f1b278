/* The watch: a proof that a block waits, that is, makes no progress unless memory
 * changes.
 *
 * A watched block runs as always, but each step is observed. If the whole state of the
 * block (places, registers and local memory of its threads, shared memory, barriers)
 * recurs, and the block has changed nothing in global memory meanwhile, then it repeats
 * the same steps for ever, as long as the memory that it reads stays the same. That is
 * a proof, unless the block has read a clock.
 *
 * Watching has no cost for blocks that are not watched. It is much slower than running,
 * so it is done for a few turns at a time.
 *
 * Called by workers.c in the thread that runs the block. */
#ifndef DEVICE_MACHINE_WARP_WATCH_H
#define DEVICE_MACHINE_WARP_WATCH_H

#include "device/machine/warp/block.h"
#include "device/machine/warp/machine.h"

typedef enum {
    EMU_MOVES,         /* the block has made progress, or ended */
    EMU_SEEMS_TO_WAIT, /* it reads the same addresses again and again */
    EMU_WAITS          /* proven */
} emu_watch_result;

/* A read of global memory in a loop that waits. */
typedef struct {
    emu_warp *warp;
    const emu_func *func;
    const emu_insn *insn;
    unsigned lane;    /* the first one that reads */
    uint64_t address; /* that this lane reads; 0: the loop reads nothing */
    uint64_t pattern; /* a hash of the addresses of all lanes */
} emu_watch_read;

typedef struct emu_watch emu_watch;

/* NULL: out of memory. */
emu_watch *emu_watch_new(void);
void emu_watch_free(emu_watch *watch);

/* Run a block for at most `turns` turns. *state is the result of the last turn. */
emu_watch_result emu_watch_block(emu_watch *watch, emu_block *block, uint32_t turns,
                                 emu_block_state *state);

/* After EMU_WAITS: the reads of the waiting block, and whether the host or another
 * process may write to the memory of one of them. */
unsigned emu_watch_reads(const emu_watch *watch, const emu_watch_read **reads);
bool emu_watch_reads_host_memory(const emu_watch *watch);

#endif
