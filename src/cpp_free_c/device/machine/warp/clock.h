/* The clocks of the device, in nanoseconds. */
#ifndef DEVICE_MACHINE_WARP_CLOCK_H
#define DEVICE_MACHINE_WARP_CLOCK_H

#include <stdint.h>

/* The time since an arbitrary start; it never goes back. */
uint64_t emu_clock_steady(void);
/* The time of the day, for %globaltimer. */
uint64_t emu_clock_of_day(void);

#endif
