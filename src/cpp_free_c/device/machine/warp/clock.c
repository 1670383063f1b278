/* The clocks of the device. See clock.h. */
#define _GNU_SOURCE
#include "device/machine/warp/clock.h"

#include <time.h>

static uint64_t
clock_read(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t
emu_clock_steady(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

uint64_t
emu_clock_of_day(void)
{
    return clock_read(CLOCK_REALTIME);
}
