/* The loop over the instructions of a warp. See warp.h. */
#include "device/machine/warp/warp.h"

void
emu_warp_run(emu_warp *warp)
{
    const emu_insn *insn = emu_group_switch(warp);

    while (insn != NULL) {
        insn = insn->run(warp, insn);
    }
}
