/* The parts of an access to memory: ranges of consecutive elements, or one element for
 * several lanes. Most accesses of a whole warp have one part, or one for each half of
 * the warp. Checks look at a part as a whole. */
#ifndef DEVICE_MACHINE_WARP_ACCESS_PARTS_H
#define DEVICE_MACHINE_WARP_ACCESS_PARTS_H

#include "device/machine/warp/machine.h"

/* The checks note shared memory by words. */
enum { EMU_WORD = 4 /* bytes */, EMU_WORDS_OF_MASK = 64 };

typedef struct {
    uint64_t start; /* host address of its first element */
    unsigned first, lanes;
    bool same; /* all its lanes access one element */
} emu_part;

typedef struct {
    emu_part parts[2];
    unsigned count;
} emu_parts;

/* The bytes of a part, whose elements have `size` bytes. */
static inline uint64_t
emu_part_bytes(const emu_part *part, unsigned size)
{
    if (part->same) {
        return size;
    }
    return (uint64_t)size * part->lanes;
}

/* Find the parts of an access of all lanes to shared or global memory. False: it has no
 * such parts, or may not be legal. */
bool emu_parts_find(emu_warp *warp, const emu_insn *insn, unsigned size,
                    emu_parts *parts);

/* Find the parts of an access to shared memory by the shape of its address
 * (EMU_AT_SHAPE), which is the same in all blocks of a launch. The lanes that are
 * active do not matter. False as above. */
bool emu_parts_of_shape(emu_warp *warp, const emu_insn *insn, unsigned size,
                        emu_parts *parts);

/* The host address of the elements that all warps in lockstep access in global memory,
 * if they are consecutive. 0: they are not, or may not be legal. */
uint64_t emu_parts_of_warps(emu_warp *warp, const emu_insn *insn, unsigned size);

/* -- plans: shared memory that warps in lockstep load ------------------------------ */

/* The words of shared memory that all warps in lockstep load, where the shape of the
 * address says so (EMU_AT_SHAPE). They are the same in all blocks of a launch, so they
 * are found once and checked together. */

enum { EMU_PLAN_SETS = 16, EMU_PLANS = 64 };

/* A bit for each word of 64 words of shared memory, from word 64 * at on. */
typedef struct {
    uint32_t at;
    uint64_t bits;
} emu_word_set;

typedef struct emu_shared_plan {
    const emu_insn *insn;
    uint64_t launch;
    uint32_t first, warps; /* the warps in lockstep */
    uint32_t count;        /* of sets; 0: the access has another form */
    emu_word_set sets[EMU_PLAN_SETS];
} emu_shared_plan;

/* The plan of an access to elements of `size` bytes. NULL: it has another form, or the
 * system has no memory. */
const emu_shared_plan *emu_shared_plan_of(emu_warp *warp, const emu_insn *insn,
                                          unsigned size);

#endif
