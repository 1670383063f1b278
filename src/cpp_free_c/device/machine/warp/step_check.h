/* The check of lanes: values that lanes of one warp exchange through shared memory
 * without a __syncwarp between the write and the read.
 *
 * Since compute capability 7.0 the lanes of a warp need not run in step. Many programs
 * rely on it, and the compilers mostly keep lanes together that no branch has
 * separated. So a finding is a warning, never an error, and volatile accesses are not
 * looked at: code for older GPUs has them, and gives the expected results. It is part
 * of the check of races. Findings wait for the next barrier of the block: if there is a
 * race between warps, that is the fault to tell.
 *
 * The time of a warp is divided into intervals. An operation that waits for other lanes
 * or threads, a fence and an atomic operation begin the next one. Elements of less than
 * a word, and global memory, are not looked at. */
#ifndef DEVICE_MACHINE_WARP_STEP_CHECK_H
#define DEVICE_MACHINE_WARP_STEP_CHECK_H

#include "device/machine/warp/machine.h"

/* What lanes did with a word of shared memory in the last interval in which one did. */
typedef struct {
    uint32_t interval; /* 0: none */
    uint32_t lanes;
    const emu_insn *insn; /* of the last of them */
} emu_step_use;

typedef struct {
    emu_step_use write, read;
} emu_step_word;

/* A finding that waits. */
typedef struct {
    const emu_warp *warp;
    emu_frame frame;
    const emu_insn *insn;
    unsigned lane;
    uint64_t offset;
    const emu_insn *before;
    unsigned thread; /* of the access before */
} emu_step_finding;

enum { EMU_STEP_FINDINGS = 4 };

typedef struct {
    emu_step_word *cells; /* by word */
    size_t words;
    uint32_t intervals; /* so far, of all warps */
    uint32_t interval[EMU_MAX_WARPS];
    emu_step_finding findings[EMU_STEP_FINDINGS];
    unsigned finding_count;
    bool has_race; /* between warps, since the last barrier */
} emu_step_check;

/* Prepare a block with so many bytes of shared memory. False: out of memory. */
bool emu_step_begin(emu_step_check *check, size_t shared_size);
void emu_step_free(emu_step_check *check);

/* The next interval of a warp begins. */
static inline void
emu_step_meet(emu_step_check *check, const emu_warp *warp)
{
    check->interval[warp->number] = ++check->intervals;
}

/* Look at a load or store with EMU_AT_EXCHANGES, before it runs, and remember it. */
void emu_step_access(emu_step_check *check, const emu_warp *warp, const emu_insn *insn);

/* All threads of the block have met, or it has ended: warn, unless there was a race. */
void emu_step_tell(emu_step_check *check);

#endif
