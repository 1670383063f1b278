/* Reports of uninitialised values. Called by init_check.c and init_follow.c. */
#ifndef DEVICE_MACHINE_WARP_INIT_REPORT_H
#define DEVICE_MACHINE_WARP_INIT_REPORT_H

#include "device/machine/warp/init_value.h"

/* The decisions that an unset value may not make. */
typedef enum {
    EMU_DECIDES_ADDRESS,
    EMU_DECIDES_BRANCH,
    EMU_DECIDES_ATOMIC,
    EMU_DECIDES_STORE,
    EMU_DECIDES_READ /* for the older check of shared memory */
} emu_unset_effect;

/* Fault: a lane uses in `insn` an unset value with this origin. */
void emu_init_fault(emu_warp *warp, const emu_insn *insn, unsigned lane,
                    uint32_t origin, emu_unset_effect use);

#endif
