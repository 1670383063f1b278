/* The check of uninitialised values: what a kernel reads before anything has written
 * it.
 *
 * Each byte of global, shared and local memory has a mark that says whether it was
 * written (memory/memory.h for global memory). A load of an element of which no byte
 * was written gives a value that is unset; so does a register that is read before it is
 * written. Unset values may be moved and computed with: compilers copy the padding of
 * structures, and threads beyond the end of an array compute with what no thread has
 * written, and use it for nothing. A fault comes when such a value is the address of an
 * access, or an operand of an atomic operation; when it is stored to global memory,
 * unless it is a copy of global memory; and when a thread that has branched by it
 * stores to global memory.
 *
 * A warp without unset values (warp->unset is 0) costs nothing but the marks. Values of
 * functions that are called count as set, as do the results of matrix operations, votes
 * and textures.
 *
 * A checked block has an emu_init; a block without the check has NULL in block->init.
 * Called by block.c (blocks), checked.c (instructions), ops_bulk.c and
 * ops_tensor.c (copies). */
#ifndef DEVICE_MACHINE_WARP_INIT_CHECK_H
#define DEVICE_MACHINE_WARP_INIT_CHECK_H

#include "device/machine/warp/access_parts.h"
#include "device/machine/warp/machine.h"

/* Prepare a block to run with the check, or without it. False: out of memory. */
bool emu_init_begin(emu_block *block);
void emu_init_free(emu_block *block);

/* Check a legal access to memory; `at` has the host address of each lane. Called before
 * the instruction runs. False after a fault. */
bool emu_init_access(emu_warp *warp, const emu_insn *insn, unsigned size,
                     const uint64_t at[EMU_LANES]);
/* Check the parts of an access as a whole. False: the lanes must be checked one by one,
 * by emu_init_access. */
bool emu_init_parts(emu_warp *warp, const emu_insn *insn, unsigned size,
                    const emu_parts *parts);
/* Check bytes of shared or global memory that the warps in lockstep load or store.
 * False: the lanes must be checked one by one. The warps have no unset values. */
bool emu_init_range(emu_warp *warp, uint64_t start, uint64_t bytes, bool loads);
/* Whether all words of a plan were written for sure. */
bool emu_init_plan(const emu_block *block, const emu_shared_plan *plan);
/* Bytes of shared or global memory are written by other means than a store. Does
 * nothing without the check. */
void emu_init_write(const emu_block *block, uint64_t address, uint64_t bytes);

/* -- unset values in registers ----------------------------------------------------- */

/* Which lanes of which registers have no value, and where it was read. Only registers
 * of the kernel itself are followed, not those of functions that it calls. */

/* Where an unset value is from. */
typedef enum {
    EMU_UNSET_NOWHERE, /* a register, and it is not known yet where it was read */
    EMU_UNSET_REGISTER,
    EMU_UNSET_GLOBAL,
    EMU_UNSET_SHARED,
    EMU_UNSET_LOCAL,
    EMU_UNSET_SHUFFLE /* from a lane that does not take part */
} emu_unset_space;

typedef struct {
    const emu_insn *insn; /* that read it */
    emu_unset_space space;
    unsigned size;
    uint32_t lanes;         /* of memory: those that read it unset */
    uint64_t at[EMU_LANES]; /* host addresses; of a shuffle: lanes */
} emu_unset_origin;

/* How one lane came to an unset value. */
typedef struct {
    const emu_insn *insn;
    emu_unset_space space;
    unsigned size;
    uint64_t at;     /* host address, or lane */
    unsigned thread; /* of the block, that read it */
} emu_unset_read;

/* An unset value that was stored, so that a report names where it was read, not where
 * it went through. */
typedef struct {
    uint64_t to; /* host address; 0: none */
    emu_unset_read read;
} emu_unset_pass;

/* A register. The lanes in `copied` have an unset value as it was read, those in `used`
 * one that was computed with unset values. */
typedef struct {
    uint32_t copied, used;
    uint32_t origin; /* a number of the warp's origins */
} emu_unset;

enum { EMU_UNSET_ORIGINS = 32, EMU_UNSET_PASSES = 1024 };

struct emu_init {
    uint8_t *shared; /* 1 for each byte that was written */
    size_t shared_room;
    uint64_t
        *words; /* of shared memory: a bit for each word that was written as such */
    size_t word_room;
    uint8_t *local;
    size_t local_room;
    uint64_t local_launch; /* `local` is as at the start of a block of this launch */
    emu_unset *registers;  /* of all warps; NULL until a value is unset */
    size_t register_room;
    size_t each;     /* registers of a warp */
    bool has_unset;  /* some may not be zero */
    bool all_shared; /* other blocks may write to shared memory: no check there */
    emu_unset_origin *origins; /* EMU_UNSET_ORIGINS for each warp, NULL as above */
    emu_unset_pass *passes;    /* EMU_UNSET_PASSES by address, NULL as above */
};

/* Forget all unset values, for the next block. */
void emu_unset_clear(emu_block *block);
/* Mark the registers that the kernel may read before it writes them. */
void emu_unset_enter(emu_block *block);

/* The unset lanes of an operand. */
emu_unset emu_unset_of(const emu_warp *warp, uint32_t operand);
/* Set those of a register for the lanes in `mask`. */
void emu_unset_store(emu_warp *warp, uint32_t operand, uint32_t mask, emu_unset value);

/* Set *number to the number of the origin of what an instruction reads now. False: out
 * of memory; unset values are then not followed. */
bool emu_unset_from(emu_warp *warp, const emu_insn *insn, emu_unset_space space,
                    unsigned size, uint32_t *number);
emu_unset_origin *emu_unset_origin_of(const emu_warp *warp, uint32_t number);
/* Note the lanes that read unset memory, at their addresses and `offset` behind. */
void emu_unset_note_read(const emu_warp *warp, uint32_t number, uint32_t lanes,
                         const uint64_t at[EMU_LANES], unsigned offset);

/* Note that a lane stores an unset value with this origin. */
void emu_unset_note_pass(const emu_warp *warp, unsigned lane, uint32_t origin,
                         uint64_t to);
/* Where the unset value of a lane was read first, as far as that is known. */
emu_unset_read emu_unset_first_read(const emu_warp *warp, unsigned lane,
                                    uint32_t origin);

/* -- following unset values -------------------------------------------------------- */

/* Following unset values from register to register.
 *
 * An operation that moves bits gives a copy of an unset value; any other one, a value
 * that was computed with it. Results that do not depend on the unset operand are set:
 * the operand that a selection does not choose, or `x && y` where the other side is
 * false. */

/* Follow unset values through an instruction that does not access memory. Called before
 * it runs, if warp->unset is not 0. */
void emu_init_follow(emu_warp *warp, const emu_insn *insn);
/* Note the lanes whose branch or guard has an unset condition. */
void emu_init_branch(emu_warp *warp, const emu_insn *insn);
/* A lane takes the value of another lane in a shuffle; `is_there`: that lane takes part
 * in it. `before` has the unset lanes of the operand before the shuffle. */
void emu_init_shuffle(emu_warp *warp, const emu_insn *insn, unsigned lane,
                      unsigned source, bool is_there, const emu_unset *before);

/* -- reports ----------------------------------------------------------------------- */

/* The decisions that an unset value may not make. */
typedef enum {
    EMU_DECIDES_ADDRESS,
    EMU_DECIDES_BRANCH,
    EMU_DECIDES_ATOMIC,
    EMU_DECIDES_STORE,
    EMU_DECIDES_READ /* for the older check of shared memory */
} emu_unset_effect;

/* A lane uses in `insn` an unset value with this origin. Returns whether the warp goes
 * on, as emu_check_found. */
bool emu_init_finding(emu_warp *warp, const emu_insn *insn, unsigned lane,
                      uint32_t origin, emu_unset_effect use);

#endif
