/* Cheap clocks, and the conversion to nanoseconds: see ticks.h. */

#define _GNU_SOURCE /* CLOCK_MONOTONIC_COARSE */

#include "driver/ticks.h"

#include <time.h>

uint64_t
pcu_nanoseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t
pcu_ticks_coarse(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Nanoseconds of 64 reads. */
static uint64_t
ticks_cost(pcu_ticks_source source)
{
    uint64_t begin = pcu_nanoseconds();
    volatile uint64_t last = 0;
    for (int i = 0; i < 64; i++) {
        last = pcu_ticks(source);
    }
    (void)last;
    return pcu_nanoseconds() - begin;
}

pcu_ticks_source
pcu_ticks_cheapest(void)
{
    uint64_t counter = UINT64_MAX;
    uint64_t coarse = UINT64_MAX;
    for (int i = 0; i < 4; i++) {
        uint64_t cost = ticks_cost(PCU_TICKS_COUNTER);
        counter = cost < counter ? cost : counter;
        cost = ticks_cost(PCU_TICKS_COARSE);
        coarse = cost < coarse ? cost : coarse;
    }
    /* The counter is worth 4 ns more. */
    return coarse + UINT64_C(64) * 4 < counter ? PCU_TICKS_COARSE : PCU_TICKS_COUNTER;
}

pcu_ticks_pair
pcu_ticks_now(pcu_ticks_source source)
{
    pcu_ticks_pair pair = {source, pcu_ticks(source), pcu_nanoseconds()};
    return pair;
}

uint64_t
pcu_ticks_convert(uint64_t ticks, const pcu_ticks_pair *first,
                  const pcu_ticks_pair *second)
{
    double rate = 1.0;
    if (second->source == PCU_TICKS_COARSE) {
        return ticks;
    }
    if (second->ticks > first->ticks && second->nanoseconds > first->nanoseconds) {
        rate = (double)(second->nanoseconds - first->nanoseconds) /
               (double)(second->ticks - first->ticks);
    }
    double distance = (double)(int64_t)(ticks - second->ticks);
    return second->nanoseconds + (uint64_t)(int64_t)(distance * rate);
}
