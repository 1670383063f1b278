/* printf in kernels: a format and packed arguments in device memory become text.
 *
 * The text is collected in the services of the context, in order, and written when the
 * driver synchronises. Called by ops_service.c. */
#ifndef DEVICE_MACHINE_SERVICES_DEVICE_PRINTF_H
#define DEVICE_MACHINE_SERVICES_DEVICE_PRINTF_H

#include "device/machine/warp/machine.h"

/* The service vprintf: parameter 0 is the format, parameter 1 the arguments. */
const emu_insn *emu_device_printf(emu_warp *warp, const emu_insn *insn);

#endif
