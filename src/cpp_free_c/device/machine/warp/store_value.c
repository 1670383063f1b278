/* The values that a store writes. See store_value.h. */
#include "device/machine/warp/store_value.h"

#include <string.h>

#include "device/machine/warp/effect.h"

void
emu_store_value(const emu_warp *warp, const emu_insn *insn, unsigned lane,
                unsigned size, uint8_t value[EMU_MOST_STORED])
{
    const unsigned wide = emu_effects[insn->op].wide;
    const unsigned count = insn->e >> 16 & 0xff, bytes = insn->e >> 8 & 0xff;

    if (insn->op != EMU_OP_st_vector) {
        memcpy(value, EMU_SOURCE(uint8_t, insn->b) + (size_t)lane * wide, size);
        return;
    }
    for (unsigned i = 0; i < count && (i + 1) * bytes <= EMU_MOST_STORED; i++) {
        memcpy(value + (size_t)i * bytes,
               EMU_SOURCE(uint8_t, insn->x[i]) + (size_t)lane * (insn->e & 0xff),
               bytes);
    }
}
