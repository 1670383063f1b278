/* Unit test of driver/bins: the bin rule over all exponents, the free lists, the
 * counters.
 */
#include "driver/bins.h"

#include <string.h>

#include "check.h"

static void
test_rule(void)
{
    CHECK_EQ(pcu_bitlog2(0), 0);
    CHECK_EQ(pcu_bitlog2(1), 0);
    CHECK_EQ(pcu_bitlog2(255), 7);
    CHECK_EQ(pcu_bitlog2(256), 8);
    CHECK_EQ(pcu_bitlog2(UINT64_MAX), 63);

    CHECK_EQ(pcu_bins_number(0), 0);
    CHECK_EQ(pcu_bins_number(1), 0);
    CHECK_EQ(pcu_bins_size(0), 1);
    CHECK_EQ(pcu_bins_number(1000), 159);
    CHECK_EQ(pcu_bins_size(159), 1023);
    CHECK_EQ(pcu_bins_number(SIZE_MAX), PCU_BINS_COUNT - 1);
    CHECK(pcu_bins_size(PCU_BINS_COUNT - 1) == SIZE_MAX);

    for (size_t size = 1; size < 5000; size++) {
        int bin = pcu_bins_number(size);
        size_t block = pcu_bins_size(bin);
        CHECK(block >= size && block - size <= size / 16);
        CHECK_EQ(pcu_bins_number(block), bin);
        CHECK(pcu_bins_number(block + 1) > bin);
    }
    /* Bins of small sizes leave gaps; from 16 bytes on every bin is some size's. */
    for (int bin = 4 << PCU_BINS_MANTISSA; bin < PCU_BINS_COUNT; bin++) {
        CHECK_EQ(pcu_bins_number(pcu_bins_size(bin)), bin);
    }
}

static pcu_bins bins;

static void
check_counters(size_t held, size_t active, size_t managed, size_t asked)
{
    CHECK_EQ(bins.held_blocks, held);
    CHECK_EQ(bins.active_blocks, active);
    CHECK_EQ(bins.managed_bytes, managed);
    CHECK_EQ(bins.active_bytes, asked);
}

static void
test_lists(void)
{
    pcu_bins_block blocks[4];
    static const size_t sizes[4] = {1000, 1023, 5, 100000};
    size_t large = pcu_bins_size(pcu_bins_number(100000));

    memset(&bins, 0, sizeof(bins));
    CHECK(pcu_bins_take(&bins, 159, 1) == NULL);
    CHECK(pcu_bins_evict(&bins) == NULL);
    for (int i = 0; i < 4; i++) {
        blocks[i].bin = pcu_bins_number(sizes[i]);
        pcu_bins_admit(&bins, &blocks[i], sizes[i]);
    }
    check_counters(0, 4, 2 * 1023 + 5 + large, 102028);
    for (int i = 0; i < 4; i++) {
        pcu_bins_hold(&bins, &blocks[i], sizes[i]);
    }
    check_counters(4, 0, 2 * 1023 + 5 + large, 0);
    CHECK_EQ(bins.held_bytes, 2 * 1023 + 5 + large);

    /* The last one in is the first one out. */
    CHECK(pcu_bins_take(&bins, 159, 999) == &blocks[1]);
    check_counters(3, 1, 2 * 1023 + 5 + large, 999);
    CHECK(pcu_bins_take(&bins, 159, 1) == &blocks[0]);
    CHECK(pcu_bins_take(&bins, 159, 1) == NULL);
    check_counters(2, 2, 2 * 1023 + 5 + large, 1000);
    pcu_bins_dismiss(&bins, &blocks[1], 999);
    check_counters(2, 1, 1023 + 5 + large, 1);
    pcu_bins_hold(&bins, &blocks[0], 1);

    /* The largest go first. */
    CHECK(pcu_bins_evict(&bins) == &blocks[3]);
    CHECK(pcu_bins_evict(&bins) == &blocks[0]);
    CHECK(pcu_bins_evict(&bins) == &blocks[2]);
    CHECK(pcu_bins_evict(&bins) == NULL);
    check_counters(0, 0, 0, 0);
    CHECK_EQ(bins.held_bytes, 0);
}

static void
test_blocks_from_the_middle_of_a_list(void)
{
    pcu_bins_block blocks[3];
    size_t each = 1023;

    memset(&bins, 0, sizeof(bins));
    for (int i = 0; i < 3; i++) {
        blocks[i].bin = pcu_bins_number(1000);
        pcu_bins_admit(&bins, &blocks[i], 1000);
        pcu_bins_hold(&bins, &blocks[i], 1000);
    }
    CHECK(pcu_bins_take_after(&bins, 159, &blocks[2], 999) == &blocks[1]);
    check_counters(2, 1, 3 * each, 999);
    CHECK_EQ(bins.held_bytes, 2 * each);
    CHECK(pcu_bins_take_after(&bins, 159, NULL, 1000) == &blocks[2]);
    CHECK(pcu_bins_take(&bins, 159, 1000) == &blocks[0]);
    CHECK(pcu_bins_take_after(&bins, 159, NULL, 1000) == NULL);
    check_counters(0, 3, 3 * each, 2999);
}

static void
test_largest_first_over_all_bins(void)
{
    static pcu_bins_block blocks[PCU_BINS_COUNT];

    memset(&bins, 0, sizeof(bins));
    for (int i = 0; i < PCU_BINS_COUNT; i++) {
        int bin = i * 389 % PCU_BINS_COUNT; /* every bin once, in no order */
        blocks[bin].bin = bin;
        pcu_bins_admit(&bins, &blocks[bin], 0);
        pcu_bins_hold(&bins, &blocks[bin], 0);
    }
    for (int bin = PCU_BINS_COUNT - 1; bin >= 0; bin--) {
        CHECK(pcu_bins_evict(&bins) == &blocks[bin]);
    }
    check_counters(0, 0, 0, 0);
}

int
main(void)
{
    test_rule();
    test_lists();
    test_blocks_from_the_middle_of_a_list();
    test_largest_first_over_all_bins();
    return check_report();
}
