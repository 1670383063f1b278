/* The memory of one side of a copy. See copy.h.
 *
 * A host buffer that is too small for the rectangle is found here, before the driver is
 * called: the driver would read and write past its end. */
#include "python/driver/memory/copy.h"

#include "python/support/buffer.h"
#include "python/support/convert.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/memory/texture_array.h"

/* Host memory of a Python object. */
typedef struct {
    PyObject *owner; /* new reference, keeps the memory alive */
    char *start;
    size_t size; /* bytes from start to the end of the memory */
} side_memory;

/* One past the last byte of an array in memory. */
static char *
side_end(char *data, int ndim, const Py_ssize_t *shape, const Py_ssize_t *strides,
         Py_ssize_t itemsize)
{
    char *end = data + itemsize;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0) {
            return data;
        }
        if (strides[i] > 0) {
            end += (shape[i] - 1) * strides[i];
        }
    }
    return end;
}

static char *
side_array_end(PyArrayObject *array)
{
    return side_end(PyArray_BYTES(array), PyArray_NDIM(array), PyArray_DIMS(array),
                    PyArray_STRIDES(array), PyArray_ITEMSIZE(array));
}

/* The memory of a view extends to the end of the array that it is a view of: with a
 * pitch, a copy may go past the end of the view itself. */
static int
side_hold_array(PyArrayObject *array, bool writable, side_memory *out)
{
    if (writable && !PyArray_ISWRITEABLE(array)) {
        PyErr_SetString(PyExc_ValueError, "buffer is read-only");
        return -1;
    }
    if (PyDataType_REFCHK(PyArray_DESCR(array))) {
        PyErr_SetString(PyExc_TypeError,
                        "buffer holds Python objects, which no GPU can read");
        return -1;
    }
    char *end = side_array_end(array);
    PyObject *base = PyArray_BASE(array);
    while (base != NULL && PyArray_Check(base)) {
        char *other = side_array_end((PyArrayObject *)base);
        if (other > end) {
            end = other;
        }
        base = PyArray_BASE((PyArrayObject *)base);
    }
    *out = (side_memory){.owner = Py_NewRef((PyObject *)array),
                         .start = PyArray_BYTES(array),
                         .size = (size_t)(end - PyArray_BYTES(array))};
    return 0;
}

static int
side_hold_buffer(PyObject *object, bool writable, side_memory *out)
{
    if (!PyObject_CheckBuffer(object)) {
        PyErr_Format(PyExc_TypeError, "buffer must be an array or a buffer, not %s",
                     Py_TYPE(object)->tp_name);
        return -1;
    }
    PyObject *owner = PyMemoryView_FromObject(object);
    if (owner == NULL) {
        return -1;
    }
    const Py_buffer *view = PyMemoryView_GET_BUFFER(owner);
    const char *problem = NULL;
    if (writable && view->readonly) {
        problem = "buffer is read-only";
    }
    else if (view->suboffsets != NULL) {
        problem = "buffer is a table of pointers, not one piece of memory";
    }
    if (problem != NULL) {
        PyErr_SetString(PyExc_ValueError, problem);
        Py_DECREF(owner);
        return -1;
    }
    char *start = view->buf;
    char *end = side_end(start, view->ndim, view->shape, view->strides, view->itemsize);
    *out = (side_memory){.owner = owner, .start = start, .size = (size_t)(end - start)};
    return 0;
}

static int
side_hold(PyObject *object, bool writable, side_memory *out)
{
    if (PyArray_Check(object)) {
        return side_hold_array((PyArrayObject *)object, writable, out);
    }
    return side_hold_buffer(object, writable, out);
}

/* Replace the memory of a side. Takes over memory's reference. */
static void
side_replace(pcu_copy_side *side, CUmemorytype type, side_memory memory)
{
    PyObject *old = side->owner;
    if (side->start != NULL && side->device == (uintptr_t)side->start) {
        side->device = 0;
    }
    side->type = type;
    side->host = NULL;
    if (type == CU_MEMORYTYPE_HOST) {
        side->host = memory.start;
    }
    side->array = NULL;
    side->owner = memory.owner;
    side->start = memory.start;
    side->size = memory.size;
    Py_XDECREF(old); /* last: this may run code that reads the side */
}

int
pcu_copy_side_set_host(pcu_state *st, pcu_copy_side *side, PyObject *value)
{
    side_memory memory = {0};
    if (pcu_host_array_check(st, value, "cuMemcpy", "buffer") < 0 ||
        side_hold(value, side->writable, &memory) < 0) {
        return -1;
    }
    side_replace(side, CU_MEMORYTYPE_HOST, memory);
    return 0;
}

int
pcu_copy_side_set_device(pcu_state *st, pcu_copy_side *side, PyObject *value)
{
    CUdeviceptr pointer = 0;
    if (pcu_as_pointer(st, value, &pointer, "devptr") < 0) {
        return -1;
    }
    side_replace(side, CU_MEMORYTYPE_DEVICE, (side_memory){0});
    side->device = pointer;
    return 0;
}

int
pcu_copy_side_set_array(pcu_state *st, pcu_copy_side *side, PyObject *value)
{
    CUarray array = NULL;
    if (pcu_as_texture_array(st, value, &value, "array") < 0 ||
        pcu_texture_array_handle(value, "array", &array) < 0) {
        return -1;
    }
    side_replace(side, CU_MEMORYTYPE_ARRAY, (side_memory){.owner = Py_NewRef(value)});
    side->array = array;
    return 0;
}

int
pcu_copy_side_set_unified(pcu_state *st, pcu_copy_side *side, PyObject *value)
{
    side_memory memory = {0};
    CUdeviceptr pointer = 0;
    if (PyArray_Check(value) || PyObject_CheckBuffer(value)) {
        pcu_buffer buffer = {0}; /* acquired to check that it is contiguous */
        bool writable = side->writable;
        if (pcu_buffer_acquire(&buffer, value, writable, "buffer") < 0) {
            return -1;
        }
        pcu_buffer_release(&buffer);
        if (side_hold(value, writable, &memory) < 0) {
            return -1;
        }
        pointer = (uintptr_t)memory.start;
    }
    else if (pcu_as_pointer(st, value, &pointer, "buffer") < 0) {
        return -1;
    }
    side_replace(side, CU_MEMORYTYPE_UNIFIED, memory);
    side->device = pointer;
    return 0;
}

int
pcu_copy_side_set_context(pcu_state *st, pcu_copy_side *side, PyObject *value)
{
    PyObject *ctx = NULL;
    if (pcu_as_context_or_none(st, value, &ctx, "ctx") < 0) {
        return -1;
    }
    Py_XSETREF(side->ctx, Py_XNewRef(ctx));
    return 0;
}

void
pcu_copy_side_clear(pcu_copy_side *side)
{
    side_replace(side, 0, (side_memory){0});
    Py_CLEAR(side->ctx);
}

/* The bytes of host memory that a side needs, counted from its start; SIZE_MAX if the
 * number overflows. A pitch or height of 0 means rows or planes without gaps. */
static size_t
side_needed(const pcu_copy_extent *extent, const pcu_copy_side *side)
{
    size_t pitch = side->pitch;
    size_t rows = side->height;
    size_t planes = 0;
    size_t bytes = 0;
    if (extent->width == 0 || extent->height == 0 || extent->depth == 0) {
        return 0;
    }
    if ((pitch == 0 && pcu_add_size(side->x, extent->width, &pitch) < 0) ||
        (rows == 0 && pcu_add_size(side->y, extent->height, &rows) < 0) ||
        pcu_add_size(side->z, extent->depth - 1, &planes) < 0 ||
        pcu_mul_size(planes, rows, &rows) < 0 ||
        pcu_add_size(rows, side->y, &rows) < 0 ||
        pcu_add_size(rows, extent->height - 1, &rows) < 0 ||
        pcu_mul_size(rows, pitch, &bytes) < 0 ||
        pcu_add_size(bytes, side->x, &bytes) < 0 ||
        pcu_add_size(bytes, extent->width, &bytes) < 0) {
        return SIZE_MAX;
    }
    return bytes;
}

/* Whether the side lies in its owner's memory; *size is the number of bytes from its
 * address to the end. A program may have moved the address of unified memory inside its
 * owner. */
static bool
side_is_in_owner(const pcu_copy_side *side, size_t *size)
{
    size_t skipped = 0;
    if (side->start == NULL) {
        return false;
    }
    if (side->type == CU_MEMORYTYPE_UNIFIED) {
        skipped = (size_t)(side->device - (uintptr_t)side->start);
    }
    else if (side->type != CU_MEMORYTYPE_HOST) {
        return false;
    }
    *size = side->size - skipped;
    return skipped <= side->size;
}

int
pcu_copy_side_check(pcu_state *st, pcu_copy_side *side, const pcu_copy_extent *extent,
                    const char *routine)
{
    size_t size = 0;
    size_t needed = side_needed(extent, side);
    const char *what = side->writable ? "destination" : "source";
    if (side_is_in_owner(side, &size) && needed > size) {
        PyErr_Format(PyExc_ValueError,
                     "the copy needs %zu bytes of the %s buffer, which has %zu", needed,
                     what, size);
        return -1;
    }
    if (side->type == CU_MEMORYTYPE_HOST && side->host == NULL && needed != 0) {
        /* A program set the type after set_*_device. The driver would use address 0. */
        const char *name = side->writable ? "dst" : "src";
        const char *direction = side->writable ? "to" : "from";
        return pcu_raise_detail(st, routine, CUDA_ERROR_INVALID_VALUE,
                                "the copy is %s host memory, for %s_memory_type is "
                                "HOST, but no buffer was given: call "
                                "set_%s_host(buffer)",
                                direction, name, name);
    }
    if (side->type != CU_MEMORYTYPE_ARRAY || side->owner == NULL) {
        return 0;
    }
    if (PyObject_TypeCheck(side->owner, st->Array)) {
        what = routine;
    }
    return pcu_texture_array_handle(side->owner, what, &side->array);
}

int
pcu_copy_side_context(pcu_state *st, const pcu_copy_side *side, const char *routine,
                      CUcontext *context)
{
    int rc = 0;
    if (side->ctx != NULL) {
        const char *what = "the source's context";
        if (side->writable) {
            what = "the destination's context";
        }
        *context = pcu_context_handle(st, side->ctx, routine, what);
        if (*context == NULL) {
            return -1;
        }
        return 0;
    }
    PCU_CALL_CURRENT(rc, st, CtxGetCurrent, (context));
    return rc;
}
