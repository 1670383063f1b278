/* The clock of test programs, in place of driver/ticks.c. */
#ifndef PCU_TEST_C_CLOCK_H
#define PCU_TEST_C_CLOCK_H

#include "driver/ticks.h"

uint64_t
pcu_nanoseconds(void)
{
    return 0;
}

uint64_t
pcu_ticks_coarse(void)
{
    return 0;
}

pcu_ticks_source
pcu_ticks_cheapest(void)
{
    return PCU_TICKS_COUNTER;
}

pcu_ticks_pair
pcu_ticks_now(pcu_ticks_source source)
{
    pcu_ticks_pair pair = {source, pcu_ticks(source), 0};
    return pair;
}

#endif
