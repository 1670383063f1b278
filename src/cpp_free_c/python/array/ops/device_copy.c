/* Copies between GPUArrays, on the device: see device_copy.h.
 *
 * Arrays that are packed in the same order are copied in one piece by the driver. For
 * all others a kernel copies each element to the place of its indices. */

#include "python/array/ops/device_copy.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/operations.h"
#include "python/array/ops/overlap.h"
#include "python/array/recording.h"
#include "python/driver/memory/copy.h"
#include "driver/shape.h"

/* The type under which elements are moved without conversion: an integer of their size,
 * so that one kernel serves several dtypes. */
static int
device_copy_moved_type(const pcu_gpuarray *array)
{
    switch (array->type) {
        case PCU_T_BOOL:
        case PCU_T_INT8:
            return PCU_T_UINT8;
        case PCU_T_INT16:
        case PCU_T_FLOAT16:
        case PCU_T_BFLOAT16:
            return PCU_T_UINT16;
        case PCU_T_INT32:
        case PCU_T_FLOAT32:
            return PCU_T_UINT32;
        case PCU_T_INT64:
        case PCU_T_FLOAT64:
            return PCU_T_UINT64;
        default:
            return array->type;
    }
}

/* How many axes of length 1 to drop from the front of source, so that it has as many
 * axes as target; 0 if an axis in front is longer. */
static int
device_copy_extra_axes(const pcu_gpuarray *target, const pcu_gpuarray *source)
{
    int extra = source->ndim - target->ndim;
    for (int i = 0; i < extra; i++) {
        if (source->shape[i] != 1) {
            return 0;
        }
    }
    return Py_MAX(extra, 0);
}

static int
device_copy_enqueue(pcu_gpuarray *target, pcu_operand *input, CUstream stream)
{
    PyObject *copy = NULL;
    int rc = pcu_device_copy_conflicting(1, input, 1, &target, &copy, stream);
    if (rc == 0) {
        rc = pcu_elementwise_enqueue(target->st, PCU_OP_COPY, 1, input, 1, &target,
                                     PCU_T_RAW, stream);
    }
    Py_XDECREF(copy);
    return rc;
}

static int
device_copy_converted(pcu_gpuarray *target, pcu_gpuarray *source, CUstream stream)
{
    pcu_operand input = {.array = source, .type = source->type};
    if (!pcu_type_is_number(source->type) || !pcu_type_is_number(target->type)) {
        PyErr_Format(PyExc_TypeError, "elements of dtype %S cannot become dtype %S",
                     (PyObject *)source->dtype, (PyObject *)target->dtype);
        return -1;
    }
    return device_copy_enqueue(target, &input, stream);
}

/* Whether the driver can copy all bytes in one piece. It does not define a copy between
 * ranges that overlap. */
static bool
device_copy_is_one_piece(const pcu_gpuarray *target, const pcu_gpuarray *source)
{
    return (target->contiguous & source->contiguous) != 0 &&
           pcu_gpuarray_has_shape(source, target->ndim, target->shape) &&
           !pcu_gpuarray_conflicts(source, target);
}

static int
device_copy_in_one_piece(pcu_gpuarray *target, pcu_gpuarray *source, CUstream stream)
{
    int rc;
    if (pcu_gpuarray_check_current(target) < 0 ||
        pcu_gpuarray_check_current(source) < 0) {
        return -1;
    }
    CUdeviceptr to = target->address;
    CUdeviceptr from = source->address;
    size_t nbytes = pcu_gpuarray_nbytes(target);
    if (to == from) {
        return 0;
    }
    PCU_CALL_COPY(rc, target->st, MemcpyDtoDAsync, (to, from, nbytes, stream),
                  {"the target", to, nbytes}, {"the source", from, nbytes});
    return rc;
}

/* Copy elements of one dtype by their indices. The target's type is changed in a copy
 * of its struct: other threads may use the array while the kernel is compiled. */
static int
device_copy_by_index(pcu_gpuarray *target, pcu_gpuarray *source, CUstream stream)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    pcu_gpuarray moved = *target;
    pcu_operand input = {.array = source, .type = device_copy_moved_type(source)};
    moved.type = (unsigned char)input.type;
    moved.shape = memcpy(shape, target->shape, (size_t)target->ndim * sizeof(*shape));
    moved.strides =
        memcpy(strides, target->strides, (size_t)target->ndim * sizeof(*strides));
    return device_copy_enqueue(&moved, &input, stream);
}

/* Check the shape of elements that no kernel copies: the target has none, or the copy
 * is recorded. */
static int
device_copy_check_shape(const pcu_gpuarray *target, const pcu_gpuarray *source)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    if (pcu_broadcast_strides(source->ndim, source->shape, source->strides,
                              target->ndim, target->shape, strides) < 0) {
        return pcu_raise_shapes(
            "%s: an operand of shape %S cannot be broadcast to shape %S", "copy",
            source->ndim, source->shape, target);
    }
    return 0;
}

/* The same for two arrays, neither of which has more axes than the target. */
static int
device_copy_elements(pcu_gpuarray *target, pcu_gpuarray *source, CUstream stream)
{
    bool is_recording = pcu_is_recording(target->st);
    if ((target->count == 0 || is_recording) &&
        device_copy_check_shape(target, source) < 0) {
        return -1;
    }
    if (!PyArray_EquivTypes(source->dtype, target->dtype)) {
        return device_copy_converted(target, source, stream);
    }
    if (target->count == 0 || is_recording) {
        pcu_operand input = {.array = source, .type = source->type};
        return device_copy_enqueue(target, &input, stream); /* checks both arrays */
    }
    if (device_copy_is_one_piece(target, source)) {
        return device_copy_in_one_piece(target, source, stream);
    }
    return device_copy_by_index(target, source, stream);
}

int
pcu_device_copy(pcu_gpuarray *target, pcu_gpuarray *source, CUstream stream)
{
    if (pcu_gpuarray_ready(source) < 0) {
        return -1;
    }
    int extra = device_copy_extra_axes(target, source);
    if (extra == 0) {
        return device_copy_elements(target, source, stream);
    }
    pcu_gpuarray *view =
        pcu_gpuarray_view_new(source, source->ndim - extra, source->shape + extra,
                              source->strides + extra, 0, NULL);
    if (view == NULL) {
        return -1;
    }
    int rc = device_copy_elements(target, view, stream);
    Py_DECREF(view);
    return rc;
}

/* A copy with these strides. NULL: those of C order. */
static PyObject *
device_copy_new(pcu_gpuarray *self, const ptrdiff_t *strides, PyObject *allocator,
                CUstream stream)
{
    PyObject *copy = pcu_gpuarray_new(self->st, NULL, self->ndim, self->shape, strides,
                                      self->dtype, allocator);
    if (copy == NULL) {
        return NULL;
    }
    if (pcu_device_copy((pcu_gpuarray *)copy, self, stream) < 0) {
        Py_DECREF(copy);
        return NULL;
    }
    ((pcu_gpuarray *)copy)->counts_as = self->counts_as;
    return copy;
}

PyObject *
pcu_gpuarray_copy_new(pcu_gpuarray *self, PyObject *allocator, CUstream stream)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    if ((!pcu_is_recording(self->st) && pcu_gpuarray_check_current(self) < 0) ||
        pcu_gpuarray_packed_strides(self, pcu_gpuarray_itemsize(self), strides) < 0) {
        return NULL;
    }
    return device_copy_new(self, strides, allocator, stream);
}

PyObject *
pcu_gpuarray_ordered_copy_new(pcu_gpuarray *self, bool f_order, CUstream stream)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    if (pcu_strides_in_order(f_order, self->ndim, self->shape,
                             pcu_gpuarray_itemsize(self), strides) < 0) {
        return NULL;
    }
    return device_copy_new(self, strides, self->allocator, stream);
}

PyObject *
pcu_gpuarray_in_c_order_new(pcu_gpuarray *self, PyObject *allocator, CUstream stream)
{
    if (self->contiguous & PCU_ARRAY_C) {
        return Py_NewRef((PyObject *)self);
    }
    return device_copy_new(self, NULL, allocator, stream);
}

static bool
device_copy_conflicts(const pcu_gpuarray *input, int nout, pcu_gpuarray *const *outputs)
{
    for (int i = 0; i < nout; i++) {
        if (pcu_gpuarray_conflicts(input, outputs[i])) {
            return true;
        }
    }
    return false;
}

int
pcu_device_copy_conflicting(int nin, pcu_operand *inputs, int nout,
                            pcu_gpuarray *const *outputs, PyObject **copies,
                            CUstream stream)
{
    if (outputs[0]->count == 0 || pcu_is_recording(outputs[0]->st)) {
        return 0; /* a record reads all inputs before it writes */
    }
    for (int i = 0; i < nin; i++) {
        pcu_gpuarray *input = inputs[i].array;
        if (input == NULL || !device_copy_conflicts(input, nout, outputs)) {
            continue;
        }
        copies[i] = pcu_gpuarray_copy_new(input, input->allocator, stream);
        if (copies[i] == NULL) {
            return -1;
        }
        inputs[i].array = (pcu_gpuarray *)copies[i];
    }
    return 0;
}
