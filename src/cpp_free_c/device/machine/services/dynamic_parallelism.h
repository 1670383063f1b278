/* Dynamic parallelism: functions of the device's runtime that kernels compiled with
 * -rdc=true call, above all to launch kernels.
 *
 * The device provides these functions itself, so programs do not link the toolkit's
 * library cudadevrt. The prefix emu_cdp_ is NVIDIA's abbreviation (CUDA dynamic
 * parallelism), which the names of the functions have too. Called by ops_service.c. */
#ifndef DEVICE_MACHINE_SERVICES_DYNAMIC_PARALLELISM_H
#define DEVICE_MACHINE_SERVICES_DYNAMIC_PARALLELISM_H

#include "device/machine/services/child_work.h"
#include "device/machine/warp/machine.h"

/* Call the service that the call site names, for all active lanes. */
const emu_insn *emu_cdp_call(emu_warp *warp, const emu_insn *insn);

#endif
