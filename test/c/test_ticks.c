/* Unit test of driver/ticks: both sources, and their conversion to nanoseconds. */
#define _POSIX_C_SOURCE 199309L

#include "driver/ticks.h"

#include <time.h>

#include "check.h"

enum { ROUNDS = 20, MILLISECOND = 1000000 };

static void
wait_a_millisecond(void)
{
    const struct timespec pause = {0, MILLISECOND};
    (void)nanosleep(&pause, NULL);
}

/* A moment between two pairs is between them in nanoseconds too. */
static void
test_moments(pcu_ticks_source source)
{
    for (int i = 0; i < ROUNDS; i++) {
        pcu_ticks_pair first = pcu_ticks_now(source);
        wait_a_millisecond();
        uint64_t before = pcu_nanoseconds();
        uint64_t moment = pcu_ticks(source);
        uint64_t after = pcu_nanoseconds();
        wait_a_millisecond();
        pcu_ticks_pair second = pcu_ticks_now(source);
        uint64_t found = pcu_ticks_convert(moment, &first, &second);
        uint64_t slack = 20 * MILLISECOND; /* the steps of the coarse clock */
        CHECK(second.ticks >= first.ticks);
        CHECK(before <= found + slack && found <= after + slack);
    }
}

static void
test_conversion(void)
{
    pcu_ticks_pair first = {PCU_TICKS_COUNTER, 1000, 5000};
    pcu_ticks_pair second = {PCU_TICKS_COUNTER, 3000, 6000};
    CHECK_EQ(pcu_ticks_convert(1000, &first, &second), 5000);
    CHECK_EQ(pcu_ticks_convert(2000, &first, &second), 5500);
    CHECK_EQ(pcu_ticks_convert(3000, &first, &second), 6000);
    CHECK_EQ(pcu_ticks_convert(5000, &first, &second), 7000);
    /* Two equal pairs give no rate: ticks count as nanoseconds. */
    CHECK_EQ(pcu_ticks_convert(2900, &second, &second), 5900);
    second.source = PCU_TICKS_COARSE;
    CHECK_EQ(pcu_ticks_convert(1234, &first, &second), 1234);
}

int
main(void)
{
    pcu_ticks_source cheapest = pcu_ticks_cheapest();
    CHECK(cheapest == PCU_TICKS_COUNTER || cheapest == PCU_TICKS_COARSE);
    test_moments(PCU_TICKS_COUNTER);
    test_moments(PCU_TICKS_COARSE);
    test_conversion();
    return check_report();
}
