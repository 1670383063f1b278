/* Calls with `size`: the block by occupancy, the grid so that its threads cover a
 * number of elements or a shape.
 *
 * Called by call.c and prepared_call.c. The kernel compares its index with the size, as
 * the last block usually has more threads than there are elements. */
#include "python/driver/launch/launch.h"

#include "python/support/convert.h"

enum {
    SIZE_USUAL =
        256, /* the threads of a block, if more do not keep more of them busy */
    SIZE_LEAST =
        64, /* few elements: blocks get smaller to reach more multiprocessors */
    SIZE_WARP = 32
};

PyObject *
pcu_launch_shape_keyword(PyObject *kwnames)
{
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        if (PyUnicode_CompareWithASCIIString(name, "block") == 0 ||
            PyUnicode_CompareWithASCIIString(name, "grid") == 0) {
            return name;
        }
    }
    return NULL;
}

/* Read the elements in x, y and z. A shape has x last. */
static int
size_read(PyObject *size, unsigned long long extent[3])
{
    extent[0] = extent[1] = extent[2] = 1;
    if (pcu_is_one_integer(size)) {
        return pcu_as_integer(size, 1, LLONG_MAX, &extent[0], "size");
    }
    PyObject *items = PySequence_Tuple(size);
    if (items == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Format(PyExc_TypeError,
                         "size is the number of elements or a shape of up to 3 axes, "
                         "not %s",
                         Py_TYPE(size)->tp_name);
        }
        return -1;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    int rc = 0;
    if (n < 1 || n > 3) {
        PyErr_Format(PyExc_ValueError,
                     "size has %zd axes; a grid covers 1 to 3: pass the number of "
                     "elements",
                     n);
        rc = -1;
    }
    for (Py_ssize_t i = 0; rc == 0 && i < n; i++) {
        rc = pcu_as_integer(PyTuple_GET_ITEM(items, i), 1, LLONG_MAX,
                            &extent[n - 1 - i], "size");
    }
    Py_DECREF(items);
    return rc;
}

/* Find the threads of a block by occupancy, and keep them for the next call. */
static int
size_describe(pcu_function *self, unsigned int shared)
{
    int threads = 0, blocks = 0, usual = 0, usual_blocks = 0;
    if (self->size_threads != 0 && self->size_shared == shared) {
        return 0;
    }
    if (pcu_occupancy_suggest(self, shared, 0, &threads, &blocks) < 0 ||
        pcu_occupancy_suggest(self, shared, SIZE_USUAL, &usual, &usual_blocks) < 0) {
        return -1;
    }
    if (usual > 0 && (long long)usual * usual_blocks >= (long long)threads * blocks) {
        threads = usual;
    }
    self->size_threads = Py_MAX(threads, 1);
    self->size_shared = shared;
    return 0;
}

static unsigned long long
size_blocks(unsigned long long extent, unsigned long long threads)
{
    return extent / threads + (extent % threads != 0);
}

/* The threads of one axis: doubled until they cover the extent or reach the limit. */
static unsigned int
size_axis(unsigned long long extent, unsigned int limit)
{
    unsigned int threads = 1;
    while (threads < extent && threads * 2 <= limit) {
        threads *= 2;
    }
    return threads;
}

/* Divide the threads of a block among the axes: warps along x. */
static void
size_divide(unsigned int threads, const unsigned long long extent[3],
            const pcu_device_limits *device, unsigned int block[3])
{
    block[0] = size_axis(extent[0], Py_MIN(threads, SIZE_WARP));
    block[1] = size_axis(
        extent[1], Py_MIN(threads / block[0], (unsigned int)device->max_block[1]));
    block[2] = size_axis(extent[2], Py_MIN(threads / block[0] / block[1],
                                           (unsigned int)device->max_block[2]));
    block[0] = size_axis(extent[0], Py_MIN(threads / block[1] / block[2],
                                           (unsigned int)device->max_block[0]));
}

int
pcu_launch_cover(pcu_function *self, PyObject *size, pcu_launch_shape *shape)
{
    unsigned long long extent[3];
    const pcu_device_limits *device = &self->ctx->limits;
    if (size_read(size, extent) < 0 || size_describe(self, shape->shared) < 0) {
        return -1;
    }
    unsigned int threads = (unsigned int)self->size_threads;
    if (extent[1] == 1 && extent[2] == 1) {
        while (threads / 2 >= SIZE_LEAST && threads / 2 % SIZE_WARP == 0 &&
               size_blocks(extent[0], threads) <
                   (unsigned long long)device->multiprocessors) {
            threads /= 2;
        }
        shape->block[0] = threads;
        shape->block[1] = shape->block[2] = 1;
    }
    else {
        size_divide(threads, extent, device, shape->block);
    }
    for (int i = 0; i < 3; i++) {
        unsigned long long blocks = size_blocks(extent[i], shape->block[i]);
        shape->grid[i] = (unsigned int)Py_MIN(blocks, UINT_MAX);
    }
    return 0;
}
