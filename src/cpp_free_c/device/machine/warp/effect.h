/* The effect of each operation, as far as observers of a running kernel need it: the
 * watch (watch.h) and the checks (checked.h). */
#ifndef DEVICE_MACHINE_WARP_EFFECT_H
#define DEVICE_MACHINE_WARP_EFFECT_H

#include "device/compile/code.h"
#include "device/compile/operations.h"

enum {
    EMU_EFFECT_PLAIN,
    EMU_EFFECT_PREFIX, /* runs the next operation */
    EMU_EFFECT_READ,   /* loads */
    EMU_EFFECT_WRITE,  /* stores */
    EMU_EFFECT_UPDATE, /* loads and stores */
    EMU_EFFECT_CLOCK,  /* reads special registers, the clock among them */
    EMU_EFFECT_SPIN,   /* has no effect; loops that wait contain it */
    EMU_EFFECT_ACT     /* has effects that cannot be observed */
};

typedef struct {
    uint8_t kind;
    uint8_t size; /* bytes of an access; 0: operand e has them */
    uint8_t wide; /* bytes of the register of an access */
} emu_effect;

extern const emu_effect emu_effects[EMU_OP_COUNT];

/* The bytes that each lane accesses. */
static inline unsigned
emu_effect_size(const emu_insn *insn)
{
    const unsigned size = emu_effects[insn->op].size;

    if (size == 0) { /* a vector: count and bytes of its elements */
        return (insn->e >> 16 & 0xff) * (insn->e >> 8 & 0xff);
    }
    return size;
}

#endif
