/* Unit test of driver/shape: the corners. test_core_c.py compares random shapes and
 * slices with NumPy besides. */
#include "driver/shape.h"

#include <string.h>

#include "check.h"

#define HUGE_LENGTH ((size_t)1 << 62)

static void
test_arithmetic(void)
{
    size_t out;

    CHECK_EQ(pcu_mul_size(3, 5, &out), 0);
    CHECK_EQ(out, 15);
    CHECK_EQ(pcu_mul_size(SIZE_MAX, 1, &out), 0);
    CHECK(out == SIZE_MAX);
    CHECK_EQ(pcu_mul_size(SIZE_MAX / 2 + 1, 2, &out), -1);
    CHECK_EQ(pcu_mul_size(0, SIZE_MAX, &out), 0);
    CHECK_EQ(out, 0);
    CHECK_EQ(pcu_add_size(SIZE_MAX - 1, 1, &out), 0);
    CHECK(out == SIZE_MAX);
    CHECK_EQ(pcu_add_size(SIZE_MAX, 1, &out), -1);
}

static void
test_counts(void)
{
    size_t out = 99;

    CHECK_EQ(pcu_shape_count(0, NULL, &out), 0);
    CHECK_EQ(out, 1);
    CHECK_EQ(pcu_shape_count(3, (size_t[]){2, 3, 4}, &out), 0);
    CHECK_EQ(out, 24);
    CHECK_EQ(pcu_shape_count(3, (size_t[]){HUGE_LENGTH, HUGE_LENGTH, 0}, &out), 0);
    CHECK_EQ(out, 0);
    CHECK_EQ(pcu_shape_count(2, (size_t[]){HUGE_LENGTH, HUGE_LENGTH}, &out), -1);
    /* Fits a size_t, not an offset. */
    CHECK_EQ(pcu_shape_count(2, (size_t[]){HUGE_LENGTH, 2}, &out), -1);
    CHECK_EQ(pcu_shape_count(1, (size_t[]){PTRDIFF_MAX}, &out), 0);
    CHECK(out == PTRDIFF_MAX);
}

static void
test_strides(void)
{
    size_t shape[] = {2, 3, 4};
    ptrdiff_t s[3] = {0};

    CHECK_EQ(pcu_strides_c(3, shape, 8, s), 0);
    CHECK(s[0] == 96 && s[1] == 32 && s[2] == 8);
    CHECK(pcu_is_c_contiguous(3, shape, s, 8));
    CHECK(!pcu_is_f_contiguous(3, shape, s, 8));
    CHECK(!pcu_is_c_contiguous(3, shape, s, 4));
    CHECK_EQ(pcu_strides_f(3, shape, 8, s), 0);
    CHECK(s[0] == 8 && s[1] == 16 && s[2] == 48);
    CHECK(pcu_is_f_contiguous(3, shape, s, 8));
    CHECK(!pcu_is_c_contiguous(3, shape, s, 8));
    CHECK_EQ(pcu_strides_c(0, NULL, 8, NULL), 0);
    CHECK_EQ(pcu_strides_f(0, NULL, 8, NULL), 0);

    /* An empty axis counts as one item. */
    CHECK_EQ(pcu_strides_c(3, (size_t[]){2, 0, 4}, 8, s), 0);
    CHECK(s[0] == 32 && s[1] == 32 && s[2] == 8);
    CHECK_EQ(pcu_strides_c(3, (size_t[]){4, HUGE_LENGTH, HUGE_LENGTH}, 8, s), -1);
    CHECK_EQ(pcu_strides_f(3, (size_t[]){4, HUGE_LENGTH, 2}, 8, s), -1);
    /* The slowest stride would fit, what lies behind it would not. */
    CHECK_EQ(pcu_strides_c(1, (size_t[]){HUGE_LENGTH}, 2, s), -1);
    CHECK_EQ(pcu_strides_f(1, (size_t[]){HUGE_LENGTH}, 2, s), -1);
}

static void
test_contiguity(void)
{
    /* Axes of length 1 may have any stride. */
    CHECK(pcu_is_c_contiguous(3, (size_t[]){1, 3, 1}, (ptrdiff_t[]){-5, 4, 77}, 4));
    CHECK(pcu_is_f_contiguous(3, (size_t[]){1, 3, 1}, (ptrdiff_t[]){-5, 4, 77}, 4));
    /* No items: both, whatever the strides. */
    CHECK(pcu_is_c_contiguous(2, (size_t[]){3, 0}, (ptrdiff_t[]){-1, 7}, 4));
    CHECK(pcu_is_f_contiguous(2, (size_t[]){3, 0}, (ptrdiff_t[]){-1, 7}, 4));
    CHECK(pcu_is_c_contiguous(0, NULL, NULL, 4) &&
          pcu_is_f_contiguous(0, NULL, NULL, 4));
    /* Reversed, repeated, gapped. */
    CHECK(!pcu_is_c_contiguous(1, (size_t[]){3}, (ptrdiff_t[]){-4}, 4));
    CHECK(!pcu_is_c_contiguous(1, (size_t[]){3}, (ptrdiff_t[]){0}, 4));
    CHECK(!pcu_is_c_contiguous(1, (size_t[]){3}, (ptrdiff_t[]){8}, 4));
    CHECK(!pcu_is_f_contiguous(2, (size_t[]){2, 2}, (ptrdiff_t[]){4, 16}, 4));
    /* A length no memory has: the next stride would wrap to 0. */
    CHECK(!pcu_is_c_contiguous(2, (size_t[]){2, HUGE_LENGTH}, (ptrdiff_t[]){0, 4}, 4));
}

static void
test_extent(void)
{
    ptrdiff_t low = 9;
    ptrdiff_t high = 9;

    CHECK_EQ(pcu_extent(0, NULL, NULL, 8, &low, &high), 0);
    CHECK(low == 0 && high == 8);
    CHECK_EQ(pcu_extent(2, (size_t[]){3, 4}, (ptrdiff_t[]){-32, 8}, 8, &low, &high), 0);
    CHECK(low == -64 && high == 32);
    CHECK_EQ(pcu_extent(2, (size_t[]){3, 0}, (ptrdiff_t[]){-32, 8}, 8, &low, &high), 0);
    CHECK(low == 0 && high == 0);
    CHECK_EQ(pcu_extent(1, (size_t[]){100}, (ptrdiff_t[]){0}, 4, &low, &high), 0);
    CHECK(low == 0 && high == 4);
    CHECK_EQ(pcu_extent(1, (size_t[]){3}, (ptrdiff_t[]){PTRDIFF_MAX}, 4, &low, &high),
             -1);
    CHECK_EQ(pcu_extent(1, (size_t[]){2}, (ptrdiff_t[]){PTRDIFF_MAX}, 4, &low, &high),
             -1);
    CHECK_EQ(pcu_extent(1, (size_t[]){2}, (ptrdiff_t[]){PTRDIFF_MIN}, 4, &low, &high),
             0);
    CHECK(low == PTRDIFF_MIN && high == 4);
    CHECK_EQ(pcu_extent(1, (size_t[]){SIZE_MAX}, (ptrdiff_t[]){0}, 4, &low, &high), -1);
    CHECK_EQ(pcu_extent(0, NULL, NULL, SIZE_MAX, &low, &high), -1);
}

static void
test_broadcast_shapes(void)
{
    size_t out[4] = {0};
    size_t inout[3] = {1, 4, 0};
    int ndim = -1;

    CHECK_EQ(pcu_broadcast_shapes(0, NULL, 0, NULL, &ndim, out), 0);
    CHECK_EQ(ndim, 0);
    CHECK_EQ(
        pcu_broadcast_shapes(2, (size_t[]){5, 1}, 3, (size_t[]){7, 1, 6}, &ndim, out),
        0);
    CHECK(ndim == 3 && out[0] == 7 && out[1] == 5 && out[2] == 6);
    CHECK_EQ(pcu_broadcast_shapes(1, (size_t[]){1}, 1, (size_t[]){0}, &ndim, out), 0);
    CHECK(ndim == 1 && out[0] == 0);
    CHECK_EQ(pcu_broadcast_shapes(1, (size_t[]){2}, 1, (size_t[]){3}, &ndim, out), -1);
    CHECK_EQ(pcu_broadcast_shapes(1, (size_t[]){2}, 1, (size_t[]){0}, &ndim, out), -1);
    /* Written over an input, the shorter one too. */
    CHECK_EQ(pcu_broadcast_shapes(2, inout, 3, (size_t[]){9, 3, 4}, &ndim, inout), 0);
    CHECK(ndim == 3 && inout[0] == 9 && inout[1] == 3 && inout[2] == 4);
}

static void
test_broadcast_strides(void)
{
    size_t shape[] = {3, 1};
    ptrdiff_t strides[] = {8, 4};
    ptrdiff_t out[3] = {9, 9, 9};

    CHECK_EQ(pcu_broadcast_strides(2, shape, strides, 3, (size_t[]){5, 3, 2}, out), 0);
    CHECK(out[0] == 0 && out[1] == 8 && out[2] == 0);
    CHECK_EQ(pcu_broadcast_strides(2, shape, strides, 2, (size_t[]){3, 1}, out), 0);
    CHECK(out[0] == 8 && out[1] == 4);
    CHECK_EQ(pcu_broadcast_strides(2, shape, strides, 2, (size_t[]){3, 0}, out), 0);
    CHECK(out[0] == 8 && out[1] == 0);
    CHECK_EQ(pcu_broadcast_strides(2, shape, strides, 2, (size_t[]){4, 2}, out), -1);
    CHECK_EQ(pcu_broadcast_strides(2, shape, strides, 1, (size_t[]){1}, out), -1);
    CHECK_EQ(pcu_broadcast_strides(0, NULL, NULL, 0, NULL, NULL), 0);
}

static void
test_slices(void)
{
    pcu_slice all = {.step = 1};
    pcu_slice back = {.step = -1};
    pcu_slice none = {.step = 0};
    pcu_slice inner = {1, 3, 1, 1, 1};
    pcu_slice far = {PTRDIFF_MIN, PTRDIFF_MAX, PTRDIFF_MAX, 1, 1};
    pcu_slice deep = {PTRDIFF_MAX, PTRDIFF_MIN, PTRDIFF_MIN, 1, 1};
    pcu_slice_range r;

    CHECK_EQ(pcu_slice_resolve(&all, 5, &r), 0);
    CHECK(r.first == 0 && r.step == 1 && r.count == 5);
    CHECK_EQ(pcu_slice_resolve(&back, 5, &r), 0);
    CHECK(r.first == 4 && r.step == -1 && r.count == 5);
    CHECK_EQ(pcu_slice_resolve(&back, 0, &r), 0);
    CHECK(r.first == 0 && r.step == 1 && r.count == 0);
    CHECK_EQ(pcu_slice_resolve(&inner, 5, &r), 0);
    CHECK(r.first == 1 && r.step == 1 && r.count == 2);
    CHECK_EQ(pcu_slice_resolve(&none, 5, &r), -1);
    CHECK_EQ(pcu_slice_resolve(&all, SIZE_MAX, &r), -1);
    CHECK_EQ(pcu_slice_resolve(&all, PTRDIFF_MAX, &r), 0);
    CHECK(r.count == PTRDIFF_MAX);
    CHECK_EQ(pcu_slice_resolve(&far, 5, &r), 0);
    CHECK(r.first == 0 && r.count == 1);
    CHECK_EQ(pcu_slice_resolve(&deep, 5, &r), 0);
    CHECK(r.first == 4 && r.count == 1);
}

static void
test_views(void)
{
    pcu_slice huge = {.step = PTRDIFF_MAX};
    pcu_slice two = {.step = 2};
    pcu_slice back = {.step = -2};
    pcu_slice none = {.step = 0};
    size_t length = 9;
    ptrdiff_t stride = 9;
    ptrdiff_t offset = 9;

    CHECK_EQ(pcu_view_slice(&two, 5, 8, &length, &stride, &offset), 0);
    CHECK(length == 3 && stride == 16 && offset == 0);
    CHECK_EQ(pcu_view_slice(&back, 5, -8, &length, &stride, &offset), 0);
    CHECK(length == 3 && stride == 16 && offset == -32);
    CHECK_EQ(pcu_view_slice(&none, 5, 8, &length, &stride, &offset), -1);
    /* One item: the stride of a step that is never taken may be anything. */
    CHECK_EQ(pcu_view_slice(&huge, 5, 8, &length, &stride, &offset), 0);
    CHECK(length == 1 && stride == 8 && offset == 0);
    /* Strides which no array in memory has. */
    CHECK_EQ(pcu_view_slice(&two, 5, PTRDIFF_MAX, &length, &stride, &offset), -1);
    CHECK_EQ(pcu_view_slice(&back, 5, PTRDIFF_MAX, &length, &stride, &offset), -1);

    CHECK_EQ(pcu_view_index(2, 5, 8, &offset), 0);
    CHECK_EQ(offset, 16);
    CHECK_EQ(pcu_view_index(-1, 5, 8, &offset), 0);
    CHECK_EQ(offset, 32);
    CHECK_EQ(pcu_view_index(-5, 5, -8, &offset), 0);
    CHECK_EQ(offset, 0);
    CHECK_EQ(pcu_view_index(-6, 5, 8, &offset), -1);
    CHECK_EQ(pcu_view_index(5, 5, 8, &offset), -1);
    CHECK_EQ(pcu_view_index(0, 0, 8, &offset), -1);
    CHECK_EQ(pcu_view_index(PTRDIFF_MIN, 5, 8, &offset), -1);
    CHECK_EQ(pcu_view_index(PTRDIFF_MAX, SIZE_MAX, 8, &offset), -1);
    CHECK_EQ(pcu_view_index(-1, SIZE_MAX, 1, &offset), -1);
}

static void
test_most_dimensions(void)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    ptrdiff_t wide[PCU_MAX_NDIM];
    size_t count;

    for (int i = 0; i < PCU_MAX_NDIM; i++) {
        shape[i] = i < 8 ? 3 : 1;
    }
    CHECK_EQ(pcu_shape_count(PCU_MAX_NDIM, shape, &count), 0);
    CHECK_EQ(count, 6561);
    CHECK_EQ(pcu_strides_c(PCU_MAX_NDIM, shape, 4, strides), 0);
    CHECK_EQ(strides[0], 8748);
    CHECK(pcu_is_c_contiguous(PCU_MAX_NDIM, shape, strides, 4));
    CHECK_EQ(
        pcu_broadcast_strides(PCU_MAX_NDIM, shape, strides, PCU_MAX_NDIM, shape, wide),
        0);
    CHECK(memcmp(wide, strides, sizeof(wide)) == 0);
}

static void
test_reshape(void)
{
    ptrdiff_t out[PCU_MAX_NDIM];

    for (int f_order = 0; f_order < 2; f_order++) { /* an array without items */
        CHECK_EQ(pcu_reshape_strides(2, (size_t[]){2, 0}, (ptrdiff_t[]){8, 8}, 4, 3,
                                     (size_t[]){5, 0, 3}, f_order, out),
                 0);
        CHECK_EQ(out[f_order ? 0 : 2], 4);
    }
    /* every second column of (4, 6): the rows cannot be joined, but they can be cut */
    CHECK_EQ(pcu_reshape_strides(2, (size_t[]){4, 3}, (ptrdiff_t[]){24, 8}, 4, 3,
                                 (size_t[]){2, 2, 3}, 0, out),
             0);
    CHECK_EQ(out[0], 48);
    CHECK_EQ(out[1], 24);
    CHECK_EQ(out[2], 8);
    CHECK_EQ(pcu_reshape_strides(2, (size_t[]){4, 3}, (ptrdiff_t[]){24, 8}, 4, 1,
                                 (size_t[]){12}, 0, out),
             0);
    CHECK_EQ(out[0], 8);
    CHECK_EQ(pcu_reshape_strides(2, (size_t[]){4, 3}, (ptrdiff_t[]){32, 8}, 4, 1,
                                 (size_t[]){12}, 0, out),
             -1);
    CHECK_EQ(pcu_reshape_strides(2, (size_t[]){4, 3}, (ptrdiff_t[]){32, 8}, 4, 2,
                                 (size_t[]){3, 4}, 0, out),
             -1);
    CHECK_EQ(pcu_reshape_strides(2, (size_t[]){4, 3}, (ptrdiff_t[]){32, 8}, 4, 3,
                                 (size_t[]){2, 2, 3}, 0, out),
             0);
    CHECK_EQ(out[0], 64);
    CHECK_EQ(out[1], 32);
    /* in F order the first axis is the fastest */
    CHECK_EQ(pcu_reshape_strides(2, (size_t[]){4, 3}, (ptrdiff_t[]){8, 32}, 4, 1,
                                 (size_t[]){12}, 1, out),
             0);
    CHECK_EQ(out[0], 8);
    /* axes of length 1 come and go */
    CHECK_EQ(pcu_reshape_strides(2, (size_t[]){1, 3}, (ptrdiff_t[]){99, 8}, 4, 3,
                                 (size_t[]){3, 1, 1}, 0, out),
             0);
    CHECK_EQ(out[0], 8);
    /* no items: the strides of a packed array */
    CHECK_EQ(pcu_reshape_strides(2, (size_t[]){2, 0}, (ptrdiff_t[]){24, 8}, 4, 1,
                                 (size_t[]){0}, 0, out),
             0);
    CHECK_EQ(out[0], 4);
    /* an array of one item: all axes of the new shape have length 1 */
    CHECK_EQ(pcu_reshape_strides(1, (size_t[]){1}, (ptrdiff_t[]){99}, 4, 2,
                                 (size_t[]){1, 1}, 0, out),
             0);
    CHECK(out[0] == 4 && out[1] == 4);
    CHECK_EQ(pcu_reshape_strides(1, (size_t[]){4}, (ptrdiff_t[]){PTRDIFF_MAX / 2}, 4, 2,
                                 (size_t[]){2, 2}, 0, out),
             -1); /* the step after the last one is no distance any more */
}

static void
test_collapse(void)
{
    size_t shape[PCU_MAX_NDIM] = {2, 1, 3, 4};
    ptrdiff_t strides[2 * PCU_MAX_NDIM] = {48, 5, 16, 4};

    strides[PCU_MAX_NDIM] = 96;
    strides[PCU_MAX_NDIM + 1] = 7;
    strides[PCU_MAX_NDIM + 2] = 32;
    strides[PCU_MAX_NDIM + 3] = 8;
    CHECK_EQ(pcu_collapse(4, shape, 2, strides), 1);
    CHECK_EQ(shape[0], 24);
    CHECK_EQ(strides[0], 4);
    CHECK_EQ(strides[PCU_MAX_NDIM], 8);

    /* a transposed pair is one run, a transposed one beside a straight one is not */
    size_t turned[PCU_MAX_NDIM] = {3, 4};
    ptrdiff_t both[2 * PCU_MAX_NDIM] = {4, 12};

    both[PCU_MAX_NDIM] = 4;
    both[PCU_MAX_NDIM + 1] = 12;
    CHECK_EQ(pcu_collapse(2, turned, 2, both), 1);
    CHECK_EQ(turned[0], 12);
    turned[0] = 3;
    turned[1] = 4;
    both[0] = 16;
    both[1] = 4;
    CHECK_EQ(pcu_collapse(2, turned, 2, both), 2);
    CHECK_EQ(pcu_collapse(0, NULL, 1, both), 0);
    /* a negative stride orders the axes by its magnitude */
    turned[0] = 2;
    turned[1] = 3;
    both[0] = 8;
    both[1] = -64;
    CHECK_EQ(pcu_collapse(2, turned, 1, both), 2);
    CHECK(turned[0] == 3 && both[0] == -64 && both[1] == 8);

    /* the first two axes join, the third stays; so does one that nobody moves along */
    size_t three[PCU_MAX_NDIM] = {2, 3, 4};
    ptrdiff_t rows[2 * PCU_MAX_NDIM] = {48, 16, 4};

    rows[PCU_MAX_NDIM] = 24;
    rows[PCU_MAX_NDIM + 1] = 8;
    CHECK_EQ(pcu_collapse(3, three, 2, rows), 2);
    CHECK_EQ(three[0], 6);
    CHECK_EQ(three[1], 4);
    CHECK_EQ(rows[PCU_MAX_NDIM], 8);
    three[0] = 2;
    rows[0] = rows[1] = 0;
    CHECK_EQ(pcu_collapse(2, three, 1, rows), 1);
    CHECK_EQ(three[0], 8);
}

int
main(void)
{
    test_arithmetic();
    test_counts();
    test_strides();
    test_contiguity();
    test_extent();
    test_broadcast_shapes();
    test_broadcast_strides();
    test_slices();
    test_views();
    test_most_dimensions();
    test_reshape();
    test_collapse();
    return check_report();
}
