/* The device's runtime: functions that kernels compiled with -rdc=true call, most of
 * all to launch kernels. Linking finds them here, so the toolkit's own library of them
 * is not needed. Called by services.c. */
#ifndef DEVICE_MACHINE_DYNAMIC_PARALLELISM_H
#define DEVICE_MACHINE_DYNAMIC_PARALLELISM_H

#include "device/machine/child_work.h"
#include "device/machine/machine.h"

/* Calls the service that the instruction names, for all active lanes. */
const emu_insn *emu_cdp_call(emu_warp *warp, const emu_insn *insn);

#endif
