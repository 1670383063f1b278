/* Reports of the race check. Called by race_check.c. */
#ifndef DEVICE_MACHINE_WARP_RACE_REPORT_H
#define DEVICE_MACHINE_WARP_RACE_REPORT_H

#include "device/machine/warp/race_state.h"

/* The access of a lane to a host address is a race with the access of a stamp. Returns
 * false. */
bool emu_race_fault(const emu_race_try *a, unsigned lane, uint64_t address,
                    uint32_t stamp);
/* Two lanes write different values to an address in one instruction. Returns false. */
bool emu_race_fault_instruction(const emu_race_try *a, unsigned lane, unsigned other,
                                uint64_t address);

#endif
