/* How the threads of a grid run: groups of lanes, warps, blocks and clusters, and the
 * proofs that a block or a grid waits for ever. See machine.h for the records. */
#ifndef DEVICE_MACHINE_WARP_WARP_H
#define DEVICE_MACHINE_WARP_WARP_H

#include "device/compile/encoding.h"
#include "device/compile/operations.h"
#include "device/machine/warp/machine.h"

/* -- groups of lanes --------------------------------------------------------------- */

/* Invariant: between two instructions every live lane is in exactly one group, the
 * current one or a waiting one. */

/* The value of merge_at if no waiting group has the depth of the current group. */
#define EMU_NO_MERGE ((const emu_insn *)UINTPTR_MAX)

/* Append the current group to the waiting groups. */
static inline emu_group *
emu_group_save(emu_warp *warp, const emu_insn *pc, emu_state state)
{
    emu_group *group = &warp->groups[warp->group_count++];

    group->pc = pc;
    group->frame = warp->frame;
    group->mask = warp->mask;
    group->state = state;
    group->stamp = warp->stamp;
    return group;
}

/* Continue the current group in another activation. */
static inline void
emu_group_enter(emu_warp *warp, emu_frame *frame)
{
    warp->frame = frame;
    warp->base[0] = frame->regs;
}

/* Make the next group to run current and return its instruction. If no group can run,
 * set `stop` and return NULL. */
const emu_insn *emu_group_switch(emu_warp *warp);

/* -- turns of a warp --------------------------------------------------------------- */

/* A warp yields after a few back-edges, so that all warps of a block make progress.
 * block.c chooses the warp that runs next. */

enum {
    /* A warp yields to the next one after EMU_TURNS + 1 back-edges, so that warps which
     * stride over memory together stay together (three times as fast as one after the
     * other). */
    EMU_TURNS = 1,
    /* The groups of a warp change after EMU_SPINS of effort: a back-edge counts 1, an
     * operation of loops that wait counts EMU_SPIN_STEP. This lets spin locks make
     * progress, but lanes converge less. */
    EMU_SPINS = 1 << 20,
    EMU_SPIN_STEP = 1 << 14,
    /* The only warp of a block yields every EMU_STAYS times. */
    EMU_STAYS = 1 << 8
};

/* Run a warp until it stops. */
void emu_warp_run(emu_warp *warp);

/* Start the next turns of a warp. True: it is time to rotate its groups. */
static inline bool
emu_warp_renew_turns(emu_warp *warp)
{
    warp->turns = EMU_TURNS;
    warp->spins += EMU_TURNS + 1;
    if (warp->spins < EMU_SPINS) {
        return false;
    }
    warp->spins = 0;
    warp->rotate = true;
    return true;
}

/* Called when the turns of the warp are used up: yield before the instruction `next`.
 * Returns `next` if the warp may continue, else NULL. */
static inline const emu_insn *
emu_warp_yield(emu_warp *warp, const emu_insn *next)
{
    const bool rotates = emu_warp_renew_turns(warp);

    if (!rotates && warp->block->warp_count == 1) {
        warp->stays++;
        if (warp->stays % EMU_STAYS != 0 && warp->block->watch == NULL) {
            return next; /* the block has no other warp */
        }
    }
    (void)emu_group_save(warp, next, EMU_RUNNABLE);
    warp->stop = EMU_STOP_YIELD;
    return NULL;
}

/* -- warps that give way ----------------------------------------------------------- */

/* On a GPU the warps of a block run side by side. Kernels with a missing barrier after
 * loads of shared memory often give the expected values there, because all warps have
 * loaded before one stores. Here a warp runs to the next barrier. So if a kernel has
 * such a race, each warp yields before a store that may follow loads
 * (EMU_AT_AFTER_LOADS). Kernels without a race are run by other loops, except in their
 * first launch. */

/* Whether a warp gives way before the instruction. */
static inline bool
emu_warp_gives_way_at(const emu_insn *insn)
{
    while (emu_op_effect(insn->op) == EMU_EFFECT_GUARD ||
           emu_op_effect(insn->op) == EMU_EFFECT_COUNT) {
        insn++; /* they run the next one */
    }
    return emu_op_effect(insn->op) == EMU_EFFECT_WRITE &&
           insn->aux & EMU_AT_AFTER_LOADS;
}

/* Yield before the instruction. Returns NULL. */
const emu_insn *emu_warp_give_way(emu_warp *warp, const emu_insn *insn);
/* The same for warps in lockstep, if the block has other warps. Returns NULL, or `insn`
 * if all warps go on. */
const emu_insn *emu_lockstep_give_way(emu_warp *warp, const emu_insn *insn);

/* Run warps that give way from an instruction on, without checks; and as
 * emu_block.run_warp and run_lockstep. */
void emu_warp_continue_giving_way(emu_warp *warp, const emu_insn *insn);
void emu_warp_run_giving_way(emu_warp *warp);
void emu_lockstep_run_giving_way(emu_warp *warp, const emu_insn *insn);

/* -- operations of several lanes --------------------------------------------------- */

/* shfl, vote, match, mma and other operations with .sync. A group that arrives before
 * the other lanes waits as EMU_GROUP_AT_SYNC. When the last lane arrives, the operation
 * runs for all of them. */

/* A value of `members`: all 32 lanes, as one team. */
#define EMU_WHOLE_WARP UINT32_MAX

/* Run a .sync operation once all lanes that its operand `members` names have arrived.
 * If imm is 0, the current lanes are all members, as one team. */
const emu_insn *emu_sync(emu_warp *warp, const emu_insn *insn, uint32_t members,
                         emu_sync_phase phase);
/* Run the operations that waited only for lanes which have exited. */
void emu_sync_lanes_exited(emu_warp *warp);

/* -- barriers of a block ----------------------------------------------------------- */

/* The operations bar and barrier: see emu_barrier in machine.h. A group that arrives
 * waits as EMU_GROUP_AT_BARRIER until the barrier is complete. Until then its registers
 * keep the operands of a reduction. */

/* Complete the barriers that waited only for lanes of the warp which have exited. */
void emu_barrier_lanes_exited(emu_warp *warp);

/* -- the check of barriers --------------------------------------------------------- */

/* Threads of a block that wait for each other at different __syncthreads of the source,
 * and lanes that a .sync operation names and that pass it by. */

/* Called when the barrier is complete and its threads still wait. Fault if they wait
 * at different __syncthreads. The launch ends after the turn of the current warp. */
void emu_barrier_check(emu_block *block, uint32_t barrier);

/* All threads that the mask of an operation names must come to it, unless they have
 * ended. Threads that end where others go on, as by a guard at the beginning, mostly
 * end after the others have begun to wait: nothing orders that, and it is no fault. So
 * a lane counts as absent if it does what the waiting lanes do behind the operation.
 *
 * A group begins to wait for lanes: note some that are past the operation. */
void emu_absence_begin(const emu_warp *warp, emu_group *waiting);
/* The operation runs for the lanes in `all`. Fault if those that were past it have
 * ended and belong to its mask. The launch ends after the turn of the warp. */
void emu_absence_check(emu_warp *warp, const emu_group *waiting, uint32_t all);

/* Warn, once for each function, that threads of the block have ended before the
 * __syncthreads at which a group waits. */
void emu_ended_warn(emu_warp *warp, const emu_group *waiting);

/* -- warps in lockstep ------------------------------------------------------------- */

/* Warps of a block in lockstep: each instruction is run for all of them before the next
 * one, so that it is dispatched once and not once for each warp.
 *
 * Warps can run in lockstep if all of their lanes are at one instruction of the kernel
 * itself. They do so until they branch differently, wait, or reach an operation whose
 * effect depends on the order of the warps (emu_lockstep_separate). Then each of them
 * continues by itself until it yields. After a branch, it yields at the label to which
 * all paths lead (emu_warp.meet_at), so that they go on in lockstep from there. After a
 * barrier, the warp that has completed it yields for the same reason. emu_insn.lockstep
 * is the handler of an instruction for warps in lockstep: the first of them has their
 * number and the distance of their registers. Between two instructions none of them has
 * a waiting group. */

/* Set how many warps of a block run in lockstep at most, for the blocks of a launch. */
void emu_lockstep_prepare(emu_block *block);

/* Whether all warps of a block that begins run in lockstep. Those of a cluster are set
 * at once, because other blocks read them. */
bool emu_lockstep_takes_all(const emu_block *block);

/* The number of warps from number `first` on that can run in lockstep now; 1 if it
 * cannot run together with the next one. */
unsigned emu_lockstep_count(const emu_block *block, unsigned first);

/* Whether a warp that runs by itself gives way where all warps can go on together. With
 * checks it does not: a race is reported where the second of two warps runs into it. */
bool emu_lockstep_waits(const emu_block *block);

/* Run `count` warps until they stop or separate. Return the warp that stopped with a
 * fault, or NULL. */
emu_warp *emu_lockstep_run(emu_block *block, unsigned first, unsigned count);

/* Run warps in lockstep from an instruction on: the emu_block.run_lockstep of a block
 * without checks. */
void emu_lockstep_run_warps(emu_warp *warp, const emu_insn *insn);

/* -- handlers ---------------------------------------------------------------------- */

/* Run the instruction of each warp by its ordinary handler, and separate the warps if
 * they do not all continue at one instruction. */
const emu_insn *emu_lockstep_each(emu_warp *warp, const emu_insn *insn);
/* The same, with a function that runs the instruction of one warp. */
const emu_insn *emu_lockstep_each_by(emu_warp *warp, const emu_insn *insn,
                                     emu_handler run);
/* Separate the warps before the instruction. */
const emu_insn *emu_lockstep_separate(emu_warp *warp, const emu_insn *insn);
/* The same for an atomic operation, unless nothing shows the order of the warps: its
 * old value is not used, and it is a sum of integers or the like. */
const emu_insn *emu_lockstep_update(emu_warp *warp, const emu_insn *insn);
const emu_insn *emu_lockstep_bar_sync(emu_warp *warp, const emu_insn *insn);
const emu_insn *emu_lockstep_exit(emu_warp *warp, const emu_insn *insn);
/* Of a label and of the entry. */
const emu_insn *emu_lockstep_label(emu_warp *warp, const emu_insn *insn);
const emu_insn *emu_lockstep_bra(emu_warp *warp, const emu_insn *insn);
const emu_insn *emu_lockstep_bra_if(emu_warp *warp, const emu_insn *insn);
/* Of the operations that count (ops_count.c). */
const emu_insn *emu_lockstep_count_block(emu_warp *warp, const emu_insn *insn);
const emu_insn *emu_lockstep_count_choice(emu_warp *warp, const emu_insn *insn);
const emu_insn *emu_lockstep_count_access(emu_warp *warp, const emu_insn *insn);

/* -- blocks ------------------------------------------------------------------------ */

/* A block stays allocated for the next one of its worker, with its buffers. */

typedef enum { EMU_BLOCK_DONE, EMU_BLOCK_MORE, EMU_BLOCK_FAILED } emu_block_state;

/* Allocate a block for a worker. NULL: out of memory. */
emu_block *emu_block_new(emu_worker *worker);
/* Prepare a block to run as the block with this number of a grid. False: out of memory.
 */
bool emu_block_begin(emu_block *block, emu_grid *grid, uint64_t number);
/* Set the warps of a block that has not run yet. Call it before reading them. */
void emu_block_settle(emu_block *block);
/* Give every warp of the block one turn. FAILED: the launch has failed. */
emu_block_state emu_block_turn(emu_block *block);
/* End the launch with what emu_cancel_look has returned, and report where a thread of
 * the block is. */
void emu_block_fault_early(emu_block *block, CUresult code);
/* Tell that the launch takes long, and where a thread of the block is. */
void emu_block_tell_long(const emu_block *block);
/* Free the activations of a block that will not continue. */
void emu_block_drop_frames(emu_block *block);
void emu_block_free(emu_block *block);

/* -- clusters ---------------------------------------------------------------------- */

/* Clusters: blocks that run together, wait for each other at barrier.cluster, and read
 * and write each other's shared memory.
 *
 * All blocks of a cluster belong to one worker and begin together. A grid without
 * clusters has no record: each block is a cluster of its own, with NULL in
 * block->cluster.
 *
 * An address in the shared memory of the block with rank r is the offset in that memory
 * plus (r + 1) * EMU_CLUSTER_STEP. An offset below EMU_CLUSTER_STEP is in the memory of
 * the block itself. A generic address adds EMU_SHARED_WINDOW, as for one's own memory.
 */

enum { EMU_CLUSTER_STEP = 1 << 24 };

struct emu_cluster {
    uint32_t live;                      /* blocks that have not ended */
    emu_block *blocks[EMU_MAX_CLUSTER]; /* by rank; NULL: has ended, or none */
};

/* NULL: out of memory. */
emu_cluster *emu_cluster_new(void);
/* Add a block that has begun. */
void emu_cluster_join(emu_cluster *cluster, emu_block *block, uint32_t rank);
/* Remove a block. True: it was the last one of its cluster, whose record is gone. */
bool emu_cluster_leave(emu_block *block);

/* The number of the block with this rank in a cluster of the grid. */
uint64_t emu_cluster_block_number(const emu_grid *grid, uint64_t cluster,
                                  uint32_t rank);

/* The block to whose shared memory an address of shared::cluster belongs; NULL: none.
 */
const emu_block *emu_cluster_owner(const emu_block *block, uint64_t address);
/* The host address of an address of shared::cluster outside the block's own memory.
 * NULL: not legal. */
uint8_t *emu_cluster_address(const emu_block *block, uint64_t address, size_t size);

/* -- blocks with checks ------------------------------------------------------------ */

/* The checks of uninitialised values and of races look at each instruction before it
 * runs: see init_check.h and race_check.h. */

/* Run a warp until it stops: the emu_block.run_warp of such a block. */
void emu_checked_run(emu_warp *warp);
/* Run one instruction with its checks. Returns the next one, NULL to stop the warp. */
const emu_insn *emu_checked_step(emu_warp *warp, const emu_insn *insn);
/* Check an access of the whole warp by its parts, and remember it. False: that is not
 * enough, the lanes must be checked. */
bool emu_checked_parts(emu_warp *warp, const emu_insn *insn);
/* Run warps in lockstep until they stop or separate: its emu_block.run_lockstep. */
void emu_checked_run_lockstep(emu_warp *warp, const emu_insn *insn);

/* The same for a block that has the checks as a trial. After emu_block.trial_left
 * instructions it runs without them, so a trial takes a few milliseconds at most. */
void emu_trial_run(emu_warp *warp);
void emu_trial_run_lockstep(emu_warp *warp, const emu_insn *insn);

/* -- the proof that a block waits -------------------------------------------------- */

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
 * so it is done for a few turns at a time. */

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

/* -- the proof that a grid cannot make progress ------------------------------------ */

/* An epoch is a time in which all workers only watch their blocks. A worker votes when
 * it has proven, within the epoch, that all of its blocks wait. If all workers have
 * voted, and nothing else can write to the memory that they wait for, the launch fails;
 * see execution.h. */

/* The part of one worker. */
typedef struct {
    bool is_still;  /* it only watches: counted in emu_proof.still */
    uint64_t voted; /* the last epoch in which it voted */
} emu_proof_part;

/* Record that this worker only watches from now on. Return the present epoch, or 0 if
 * other workers still run blocks. */
uint64_t emu_proof_join(emu_grid *grid, emu_proof_part *part);
/* Record that this worker has proven, within the epoch, that all of its blocks wait.
 * `host`: some wait for memory that the host can write to. */
void emu_proof_vote(emu_grid *grid, emu_proof_part *part, uint64_t epoch, bool host);
/* Record that this worker makes progress: the epoch ends. */
void emu_proof_leave(emu_grid *grid, emu_proof_part *part);
/* Decide whether the launch fails: set grid->stuck. Call in the thread that launched.
 */
void emu_proof_judge(emu_grid *grid);

#endif
