/* The device's runtime: functions that kernels compiled with -rdc=true call, most of
 * all to launch kernels. Linking finds them here, so the toolkit's own library of them
 * is not needed. Called by lowering, which numbers the functions, and services.c. */
#ifndef DEVICE_MACHINE_DYNAMIC_PARALLELISM_H
#define DEVICE_MACHINE_DYNAMIC_PARALLELISM_H

#include "device/machine/child_work.h"
#include "device/machine/machine.h"

/* The service number of a function's name, or EMU_SERVICE_NONE. */
unsigned emu_runtime_service(const char *name);
/* How many parameters it takes. */
unsigned emu_runtime_parameters(unsigned service);
/* Calls it, for all active lanes. */
const emu_insn *emu_runtime_call(emu_warp *warp, const emu_insn *insn);

void emu_runtime_forget_errors(emu_device_work *work);

#endif
