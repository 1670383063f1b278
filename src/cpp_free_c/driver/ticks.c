/* The conversion of ticks to nanoseconds: see ticks.h. */

#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include "driver/ticks.h"

#include <time.h>

uint64_t
pcu_nanoseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

pcu_ticks_pair
pcu_ticks_now(void)
{
    pcu_ticks_pair pair = {pcu_ticks(), pcu_nanoseconds()};
    return pair;
}

uint64_t
pcu_ticks_convert(uint64_t ticks, const pcu_ticks_pair *first,
                  const pcu_ticks_pair *second)
{
    double rate = 1.0;
    if (second->ticks > first->ticks && second->nanoseconds > first->nanoseconds) {
        rate = (double)(second->nanoseconds - first->nanoseconds) /
               (double)(second->ticks - first->ticks);
    }
    double distance = (double)(int64_t)(ticks - second->ticks);
    return second->nanoseconds + (uint64_t)(int64_t)(distance * rate);
}
