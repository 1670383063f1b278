/* Unit test of driver/argument_buffer. Linked with --wrap for malloc and realloc, so
 * that it can let allocations fail. */
#include "driver/argument_buffer.h"

#include <stdint.h>
#include <stdlib.h>

#include "check.h"

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

static int allocations;
static int fail_allocations;

void *
__wrap_malloc(size_t size)
{
    allocations++;
    return fail_allocations ? NULL : __real_malloc(size);
}

void *
__wrap_realloc(void *old, size_t size)
{
    allocations++;
    return fail_allocations ? NULL : __real_realloc(old, size);
}

/* Append a copy of size bytes. Return 0, or -1 when out of memory. */
static int
put(pcu_argument_buffer *ab, const void *src, size_t size, size_t align)
{
    void *place = pcu_argument_buffer_reserve(ab, size, align);

    if (place == NULL) {
        return -1;
    }
    if (size != 0) {
        memcpy(place, src, size);
    }
    return 0;
}

static void
test_starts_empty(void)
{
    pcu_argument_buffer ab;

    pcu_argument_buffer_init(&ab);
    CHECK_EQ(ab.used, 0);
    CHECK(ab.data == ab.store);
    CHECK_EQ((uintptr_t)ab.data % 16, 0);
    pcu_argument_buffer_free(&ab);
    CHECK_EQ(ab.used, 0);
}

/* (char, int, short, double, float4-like, char, pointer): as a C structure has them. */
static void
test_packs_as_a_structure(void)
{
    struct {
        char a;
        int b;
        short c;
        double d;
        _Alignas(16) float e[4];
        char f;
        void *g;
    } all = {1, 2, 3, 4.0, {5, 6, 7, 8}, 9, &all};
    pcu_argument_buffer ab;

    pcu_argument_buffer_init(&ab);
    memset(ab.store, 0xAA, sizeof(ab.store));
    CHECK_EQ(put(&ab, &all.a, 1, 1), 0);
    CHECK_EQ(put(&ab, &all.b, 4, 4), 0);
    CHECK_EQ(put(&ab, &all.c, 2, 2), 0);
    CHECK_EQ(put(&ab, &all.d, 8, 8), 0);
    CHECK_EQ(put(&ab, &all.e, 16, 16), 0);
    CHECK_EQ(put(&ab, &all.f, 1, 1), 0);
    CHECK_EQ(put(&ab, &all.g, 8, 8), 0);
    CHECK_EQ(ab.used, offsetof(__typeof__(all), g) + 8);
    CHECK(memcmp(ab.data + offsetof(__typeof__(all), b), &all.b, 4) == 0);
    CHECK(memcmp(ab.data + offsetof(__typeof__(all), c), &all.c, 2) == 0);
    CHECK(memcmp(ab.data + offsetof(__typeof__(all), d), &all.d, 8) == 0);
    CHECK(memcmp(ab.data + offsetof(__typeof__(all), e), &all.e, 16) == 0);
    CHECK(memcmp(ab.data + offsetof(__typeof__(all), g), &all.g, 8) == 0);
    /* The gap between a and b, and the byte behind the end. */
    CHECK(ab.data[1] == 0 && ab.data[2] == 0 && ab.data[3] == 0);
    CHECK_EQ(ab.data[ab.used], 0xAA);
    pcu_argument_buffer_free(&ab);
}

static void
test_nothing_to_put(void)
{
    pcu_argument_buffer ab;

    pcu_argument_buffer_init(&ab);
    CHECK_EQ(put(&ab, NULL, 0, 1), 0);
    CHECK_EQ(ab.used, 0);
    CHECK(pcu_argument_buffer_reserve(&ab, 0, 16) == ab.data);
    CHECK_EQ(put(&ab, "x", 1, 1), 0);
    /* Nothing at an alignment still moves the end, as an empty structure would. */
    CHECK(pcu_argument_buffer_reserve(&ab, 0, 8) == ab.data + 8);
    CHECK_EQ(ab.used, 8);
    CHECK_EQ(ab.data[7], 0);
    pcu_argument_buffer_free(&ab);
}

static void
test_fills_the_store_without_heap(void)
{
    pcu_argument_buffer ab;

    allocations = 0;
    pcu_argument_buffer_init(&ab);
    for (int i = 0; i < PCU_ARGUMENT_BUFFER_INLINE / 8; i++) {
        uint64_t value = (uint64_t)i * 0x0101010101010101u;
        CHECK_EQ(put(&ab, &value, 8, 8), 0);
    }
    CHECK_EQ(ab.used, PCU_ARGUMENT_BUFFER_INLINE);
    CHECK(ab.data == ab.store);
    CHECK(pcu_argument_buffer_reserve(&ab, 0, 16) ==
          ab.data + PCU_ARGUMENT_BUFFER_INLINE);
    CHECK_EQ(allocations, 0);
    pcu_argument_buffer_free(&ab);
}

static void
test_grows_and_keeps_what_it_has(void)
{
    pcu_argument_buffer ab;
    int wrong = 0;

    allocations = 0;
    pcu_argument_buffer_init(&ab);
    for (uint32_t i = 0; i < 10000; i++) {
        unsigned char byte = (unsigned char)i;
        CHECK_EQ(put(&ab, &byte, 1, 1), 0);
        CHECK_EQ(put(&ab, &i, 4, 4), 0);
    }
    CHECK_EQ(ab.used, 80000);
    CHECK(ab.data != ab.store);
    CHECK_EQ((uintptr_t)ab.data % 16, 0);
    for (uint32_t i = 0; i < 10000; i++) {
        unsigned char wanted[8] = {(unsigned char)i};
        memcpy(wanted + 4, &i, 4);
        wrong += memcmp(ab.data + (size_t)8 * i, wanted, 8) != 0;
    }
    CHECK_EQ(wrong, 0);
    /* 8, 16, 32, 64, 128 KB: doubling, not one move a parameter. */
    CHECK_EQ(allocations, 5);
    pcu_argument_buffer_free(&ab);
    CHECK(ab.data == ab.store);
    CHECK_EQ(ab.capacity, PCU_ARGUMENT_BUFFER_INLINE);
    CHECK_EQ(put(&ab, "again", 5, 1), 0);
    pcu_argument_buffer_free(&ab);
}

static void
test_one_large_parameter(void)
{
    pcu_argument_buffer ab;
    void *place;

    pcu_argument_buffer_init(&ab);
    CHECK_EQ(put(&ab, "x", 1, 1), 0);
    place = pcu_argument_buffer_reserve(&ab, 100000, 16);
    CHECK(place != NULL && place == ab.data + 16);
    memset(place, 7, 100000);
    CHECK_EQ(ab.used, 100016);
    CHECK(ab.capacity >= ab.used);
    CHECK_EQ(ab.data[0], 'x');
    for (int i = 1; i < 16; i++) {
        CHECK_EQ(ab.data[i], 0);
    }
    pcu_argument_buffer_free(&ab);
}

/* A gap which itself does not fit any more: the aligned start is behind the store. */
static void
test_gap_across_the_end(void)
{
    pcu_argument_buffer ab;

    pcu_argument_buffer_init(&ab);
    CHECK(pcu_argument_buffer_reserve(&ab, PCU_ARGUMENT_BUFFER_INLINE - 1, 1) ==
          ab.store);
    memset(ab.store, 1, PCU_ARGUMENT_BUFFER_INLINE - 1);
    CHECK_EQ(put(&ab, "12345678", 8, 256), 0);
    CHECK_EQ(ab.used, PCU_ARGUMENT_BUFFER_INLINE + 8);
    CHECK_EQ(ab.data[PCU_ARGUMENT_BUFFER_INLINE - 2], 1);
    CHECK_EQ(ab.data[PCU_ARGUMENT_BUFFER_INLINE - 1], 0);
    pcu_argument_buffer_free(&ab);

    pcu_argument_buffer_init(&ab);
    CHECK(pcu_argument_buffer_reserve(&ab, 1, 1) != NULL);
    ab.data[0] = 3;
    CHECK(pcu_argument_buffer_reserve(&ab, 1, 2 * PCU_ARGUMENT_BUFFER_INLINE) ==
          ab.data + 2 * PCU_ARGUMENT_BUFFER_INLINE);
    CHECK_EQ(ab.data[2 * PCU_ARGUMENT_BUFFER_INLINE - 1], 0);
    pcu_argument_buffer_free(&ab);
}

static void
test_out_of_memory_changes_nothing(void)
{
    pcu_argument_buffer ab;
    char large[6000] = {1};

    pcu_argument_buffer_init(&ab);
    CHECK_EQ(put(&ab, large, 100, 4), 0);
    fail_allocations = 1;
    CHECK_EQ(put(&ab, large, sizeof(large), 4), -1);
    CHECK_EQ(ab.used, 100);
    CHECK(ab.data == ab.store);
    fail_allocations = 0;
    CHECK_EQ(put(&ab, large, sizeof(large), 4), 0);
    fail_allocations = 1;
    CHECK_EQ(put(&ab, large, sizeof(large), 4), -1);
    CHECK_EQ(ab.used, 6100);
    CHECK_EQ(ab.data[100], 1);
    fail_allocations = 0;
    CHECK_EQ(put(&ab, large, sizeof(large), 4), 0);
    CHECK_EQ(ab.used, 12100);
    pcu_argument_buffer_free(&ab);
}

static void
test_overflow_is_noticed(void)
{
    pcu_argument_buffer ab;

    pcu_argument_buffer_init(&ab);
    CHECK_EQ(put(&ab, "x", 1, 1), 0);
    allocations = 0;
    /* 1 + SIZE_MAX wraps to 0; the aligned start 8 + (SIZE_MAX - 7) wraps as well. */
    CHECK(pcu_argument_buffer_reserve(&ab, SIZE_MAX, 1) == NULL);
    CHECK(pcu_argument_buffer_reserve(&ab, SIZE_MAX - 7, 8) == NULL);
    CHECK_EQ(allocations, 0);
    CHECK_EQ(ab.used, 1);

    /* As if nearly all of the address space were packed: aligning wraps. */
    ab.used = SIZE_MAX - 2;
    CHECK(pcu_argument_buffer_reserve(&ab, 1, 16) == NULL);
    CHECK_EQ(ab.used, SIZE_MAX - 2);
    CHECK_EQ(allocations, 0);
    ab.used = 1;
    pcu_argument_buffer_free(&ab);
}

/* Random sizes and alignments against offsets computed the plain way. */
static void
test_random_layouts(void)
{
    uint32_t seed = 12345;
    int wrong = 0;

    for (int round = 0; round < 300; round++) {
        static unsigned char model[1 << 20];
        size_t end = 0;
        pcu_argument_buffer ab;

        pcu_argument_buffer_init(&ab);
        for (int i = 0; i < 200; i++) {
            unsigned char bytes[64];
            size_t size, align;

            seed = seed * 1664525u + 1013904223u;
            size = (seed >> 8) % 65;
            align = (size_t)1 << ((seed >> 20) % 5);
            memset(bytes, (int)(seed >> 24), sizeof(bytes));
            while (end % align != 0) {
                model[end++] = 0;
            }
            memcpy(model + end, bytes, size);
            end += size;
            wrong += put(&ab, bytes, size, align) != 0;
            wrong += ab.used != end;
        }
        wrong += memcmp(ab.data, model, end) != 0;
        pcu_argument_buffer_free(&ab);
    }
    CHECK_EQ(wrong, 0);
}

int
main(void)
{
    test_starts_empty();
    test_packs_as_a_structure();
    test_nothing_to_put();
    test_fills_the_store_without_heap();
    test_grows_and_keeps_what_it_has();
    test_one_large_parameter();
    test_gap_across_the_end();
    test_out_of_memory_changes_nothing();
    test_overflow_is_noticed();
    test_random_layouts();
    return check_report();
}
