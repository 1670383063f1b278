/* The values that a store writes. See store_value.h. */
#include "device/machine/warp/store_value.h"

#include <stdio.h>
#include <string.h>

void
emu_store_value(const emu_warp *warp, const emu_insn *insn, unsigned lane,
                unsigned size, uint8_t value[EMU_MOST_STORED])
{
    const unsigned wide = emu_op_rows[insn->op].widths[EMU_B];
    const unsigned count = emu_vector_count(insn), bytes = emu_vector_bytes(insn);

    if (emu_op_rows[insn->op].bytes != EMU_BYTES_IN_E) {
        memcpy(value, EMU_SOURCE(uint8_t, insn->b) + (size_t)lane * wide, size);
        return;
    }
    for (unsigned i = 0; i < count && (i + 1) * bytes <= EMU_MOST_STORED; i++) {
        memcpy(value + (size_t)i * bytes,
               EMU_SOURCE(uint8_t, insn->x[i]) + (size_t)lane * (insn->e & 0xff),
               bytes);
    }
}

void
emu_store_value_line(const emu_warp *warp, const emu_insn *insn, unsigned lane,
                     unsigned size, const void *present, char line[EMU_VALUE_LINE])
{
    uint8_t value[EMU_MOST_STORED];
    char written[EMU_VALUE_ROOM] = "", before[EMU_VALUE_ROOM] = "";

    line[0] = 0;
    if (emu_op_rows[insn->op].effect == EMU_EFFECT_WRITE && size <= EMU_VALUE_MOST) {
        emu_store_value(warp, insn, lane, size, value);
        emu_value_text(value, size, written);
    }
    if (present != NULL) {
        emu_value_text(present, size, before);
    }
    if (written[0] != 0 && before[0] != 0) {
        (void)snprintf(line, EMU_VALUE_LINE,
                       "\n  value: the thread writes %s, the memory has %s", written,
                       before);
    }
    else if (written[0] != 0) {
        (void)snprintf(line, EMU_VALUE_LINE, "\n  value: the thread writes %s",
                       written);
    }
    else if (before[0] != 0) {
        (void)snprintf(line, EMU_VALUE_LINE, "\n  value: the memory has %s", before);
    }
}
