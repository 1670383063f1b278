/* Unset values in the registers of a warp: which lanes of which registers have no
 * value, and where it was read.
 *
 * Only registers of the kernel itself are followed, not those of functions that it
 * calls. Called by init_check.c alone. */
#ifndef DEVICE_MACHINE_WARP_INIT_VALUE_H
#define DEVICE_MACHINE_WARP_INIT_VALUE_H

#include "device/machine/warp/machine.h"

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
    uint64_t at[EMU_LANES]; /* host addresses; of a shuffle: lanes */
} emu_unset_origin;

/* A register. The lanes in `copied` have an unset value as it was read, those in `used`
 * one that was computed with unset values. */
typedef struct {
    uint32_t copied, used;
    uint32_t origin; /* a number of the warp's origins */
} emu_unset;

enum { EMU_UNSET_ORIGINS = 32 };

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

#endif
