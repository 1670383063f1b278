/* Unit test of driver/virtual_range. The driver's table is the test's own; linked with
 * --wrap for calloc and realloc, so that it can let allocations fail. */
#include "driver/virtual_range.h"

#include <stdlib.h>
#include <string.h>

#include "driver/status.h"

#include "check.h"

enum { BASE = 0x10000, PIECE = 0x1000, PIECES = 40 };

struct pcu_drv drv;

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int fail_allocations;
static int waits, unmapped, freed;
static int fail_wait, fail_unmap, fail_free; /* codes */
static CUdeviceptr last;

void *
__wrap_calloc(size_t count, size_t size)
{
    return fail_allocations ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *old, size_t size)
{
    return fail_allocations ? NULL : __real_realloc(old, size);
}

bool
pcu_status_is_sticky(CUresult status)
{
    return status == CUDA_ERROR_ILLEGAL_ADDRESS;
}

static CUresult
wait_for_context(void)
{
    waits++;
    return (CUresult)fail_wait;
}

static CUresult
unmap(CUdeviceptr address, size_t size)
{
    if (fail_unmap != 0) {
        return (CUresult)fail_unmap;
    }
    last = address;
    unmapped += size == PIECE;
    return CUDA_SUCCESS;
}

static CUresult
free_addresses(CUdeviceptr address, size_t size)
{
    if (fail_free != 0) {
        return (CUresult)fail_free;
    }
    freed += address == BASE && size == PIECES * PIECE;
    return CUDA_SUCCESS;
}

/* A range with so many mappings. */
static pcu_virtual_range *
make(size_t count)
{
    pcu_virtual_range *range = pcu_virtual_range_new();
    range->base = BASE;
    range->size = PIECES * PIECE;
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(pcu_virtual_range_make_room(range), 0);
        pcu_virtual_range_add(range, i * PIECE, PIECE);
    }
    waits = unmapped = freed = 0;
    CHECK_EQ(range->count, count);
    CHECK(range->room >= count);
    return range;
}

static void
check_mappings(void)
{
    pcu_virtual_range *range = make(PIECES);

    CHECK_EQ(range->mappings[PIECES - 1].offset, (PIECES - 1) * PIECE);
    pcu_virtual_range_remove(range, 0);
    CHECK_EQ(range->count, PIECES - 1);
    CHECK_EQ(range->mappings[0].offset, (PIECES - 1) * PIECE);
    pcu_virtual_range_remove(range, PIECES - 2);
    CHECK_EQ(range->count, PIECES - 2);
    pcu_virtual_range_free(range);
    pcu_virtual_range_free(NULL);
}

static void
check_the_end(void)
{
    const char *routine = "";
    pcu_virtual_range *range = make(3);

    CHECK_EQ(pcu_virtual_range_end(range, 1, &routine), CUDA_SUCCESS);
    CHECK_EQ(waits, 1);
    CHECK_EQ(unmapped, 3);
    CHECK_EQ(last, BASE);
    CHECK_EQ(freed, 1);
    pcu_virtual_range_free(range);

    range = make(2); /* its context has ended */
    CHECK_EQ(pcu_virtual_range_end(range, 0, &routine), CUDA_SUCCESS);
    CHECK_EQ(waits, 0);
    CHECK_EQ(unmapped, 2);
    pcu_virtual_range_free(range);

    range = make(0); /* no kernel can use it */
    CHECK_EQ(pcu_virtual_range_end(range, 1, &routine), CUDA_SUCCESS);
    CHECK_EQ(waits, 0);
    CHECK_EQ(freed, 1);
    pcu_virtual_range_free(range);
}

static void
check_failures_of_the_driver(void)
{
    const char *routine = "";
    pcu_virtual_range *range = make(2);

    fail_wait = CUDA_ERROR_INVALID_VALUE;
    CHECK_EQ(pcu_virtual_range_end(range, 1, &routine), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQ(strcmp(routine, "cuCtxSynchronize"), 0);
    CHECK_EQ(range->count, 2);
    fail_wait = CUDA_ERROR_ILLEGAL_ADDRESS; /* then no kernel runs */
    fail_unmap = CUDA_ERROR_INVALID_VALUE;
    CHECK_EQ(pcu_virtual_range_end(range, 1, &routine), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQ(strcmp(routine, "cuMemUnmap"), 0);
    CHECK_EQ(range->count, 2);
    fail_unmap = 0;
    fail_free = CUDA_ERROR_INVALID_VALUE;
    CHECK_EQ(pcu_virtual_range_end(range, 1, &routine), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQ(strcmp(routine, "cuMemAddressFree"), 0);
    CHECK_EQ(range->count, 0);
    fail_free = fail_wait = 0;
    CHECK_EQ(pcu_virtual_range_end(range, 1, &routine), CUDA_SUCCESS);
    CHECK_EQ(freed, 1);
    CHECK_EQ(unmapped, 2);
    pcu_virtual_range_free(range);
}

static void
check_a_lack_of_memory(void)
{
    pcu_virtual_range *range = make(4);

    fail_allocations = 1;
    CHECK(pcu_virtual_range_new() == NULL);
    CHECK_EQ(pcu_virtual_range_make_room(range), -1);
    CHECK_EQ(range->count, 4);
    CHECK_EQ(range->room, 4);
    fail_allocations = 0;
    CHECK_EQ(pcu_virtual_range_make_room(range), 0);
    CHECK(range->room > 4);
    CHECK_EQ(range->mappings[3].offset, 3 * PIECE);
    pcu_virtual_range_free(range);
}

static void
test_search(void)
{
    pcu_virtual_range *low = pcu_virtual_range_new();
    pcu_virtual_range *high = pcu_virtual_range_new();
    CHECK(pcu_virtual_range_at(0) == NULL); /* neither has addresses */
    low->base = BASE;
    low->size = PIECE;
    high->base = BASE + PIECE;
    high->size = 2 * PIECE;
    CHECK(pcu_virtual_range_at(BASE - 1) == NULL);
    CHECK(pcu_virtual_range_at(BASE) == low);
    CHECK(pcu_virtual_range_at(BASE + PIECE - 1) == low);
    CHECK(pcu_virtual_range_at(BASE + PIECE) == high);
    CHECK(pcu_virtual_range_at(BASE + 3 * PIECE - 1) == high);
    CHECK(pcu_virtual_range_at(BASE + 3 * PIECE) == NULL);
    pcu_virtual_range_free(low);
    CHECK(pcu_virtual_range_at(BASE) == NULL);
    CHECK(pcu_virtual_range_at(BASE + PIECE) == high);
    pcu_virtual_range_free(high);
    CHECK(pcu_virtual_range_at(BASE + PIECE) == NULL);
}

int
main(void)
{
    drv.CtxSynchronize = wait_for_context;
    drv.MemUnmap = unmap;
    drv.MemAddressFree = free_addresses;
    check_mappings();
    check_the_end();
    check_failures_of_the_driver();
    check_a_lack_of_memory();
    test_search();
    return check_report();
}
