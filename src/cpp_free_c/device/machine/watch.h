/* Whether a block waits: a proof that it cannot go on unless memory changes.
 *
 * A watched block runs as always, but its steps are looked at. When the whole state of
 * the block (the places, registers and local memory of its threads, shared memory,
 * barriers) comes back and the block has changed nothing in global memory meanwhile,
 * it repeats the same steps for ever, as long as what it reads stays the same. That is
 * a proof, unless it has looked at the clock.
 *
 * Watching costs nothing in blocks that are not watched. It is much slower than
 * running, so it is done for a few turns at a time.
 *
 * Called by workers.c, by the thread that runs the block. */
#ifndef DEVICE_MACHINE_WATCH_H
#define DEVICE_MACHINE_WATCH_H

#include "device/machine/machine.h"

typedef enum {
    EMU_MOVES,         /* it has done something, or ended */
    EMU_SEEMS_TO_WAIT, /* it reads the same places again and again, like who waits */
    EMU_WAITS          /* proven */
} emu_watch_result;

/* A read of global memory in a loop that waits. */
typedef struct {
    emu_warp *warp;
    const emu_func *func;
    const emu_insn *insn;
    unsigned lane;    /* the first one that reads */
    uint64_t address; /* which it reads; 0: nothing is read, the loop is endless */
    uint64_t pattern; /* a hash of what all lanes read */
} emu_watch_read;

typedef struct emu_watch emu_watch;

/* NULL: out of memory. */
emu_watch *emu_watch_new(void);
void emu_watch_free(emu_watch *watch);

/* Runs a block for that many turns at most. *state: what the last turn returned. */
emu_watch_result emu_watch_block(emu_watch *watch, emu_block *block, uint32_t turns,
                                 emu_block_state *state);

/* After EMU_WAITS: what the block reads while it waits, and whether the host or another
 * process may write to some of it. */
unsigned emu_watch_reads(const emu_watch *watch, const emu_watch_read **reads);
bool emu_watch_reads_host_memory(const emu_watch *watch);

/* Runs a warp of a watched block until it stops. */
void emu_watch_run(emu_watch *watch, emu_warp *warp);

#endif
