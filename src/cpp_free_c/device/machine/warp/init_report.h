/* Reports of uninitialised values. Called by init_check.c and init_follow.c. */
#ifndef DEVICE_MACHINE_WARP_INIT_REPORT_H
#define DEVICE_MACHINE_WARP_INIT_REPORT_H

#include "device/machine/warp/init_value.h"

/* The decisions that an unset value may not make. */
typedef enum {
    EMU_USE_ADDRESS,
    EMU_USE_BRANCH,
    EMU_USE_ATOMIC,
    EMU_USE_STORE,
    EMU_USE_READ /* for the older check of shared memory */
} emu_unset_use;

/* Fault: a lane uses in `insn` an unset value with this origin. */
void emu_init_fault(emu_warp *warp, const emu_insn *insn, unsigned lane,
                    uint32_t origin, emu_unset_use use);

#endif
