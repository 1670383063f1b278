/* The memory of a GPUArray: see memory.h. */

#include "python/array/memory.h"

#include "python/array/layout.h"
#include "python/array/recording.h"
#include "python/driver/context.h"
#include "python/driver/exchange/dlpack.h"
#include "python/driver/graph_resources.h"
#include "python/driver/memory/pool.h"
#include "driver/shape.h"
#include "python/driver/memory/memory.h"
#include "python/support/convert.h"
#include "python/support/errors.h"
#include "python/support/settings.h"

/* The bytes that a GPU's driver gives for an allocation: until there, no other one
 * begins, and an access does not fail. Seen on an H200 with driver 580: small
 * allocations, and those of a pool of the driver, begin at multiples of 512; others
 * over 2 MiB have pages of 2 MiB, behind which the next access fails. */
static size_t
memory_rounded_size(size_t size, bool is_of_pool)
{
    const size_t page = (size_t)2 << 20;
    size_t unit = 512;
    if (size > page && !is_of_pool) {
        unit = page;
    }
    return (size + unit - 1) / unit * unit;
}

bool
pcu_memory_allocated(CUdeviceptr pointer, CUdeviceptr *begin, CUdeviceptr *end)
{
    CUmemoryPool pool = NULL;
    size_t size = 0;
    if (drv.MemGetAddressRange(begin, &size, pointer) != CUDA_SUCCESS) {
        return false;
    }
    /* A driver that has no such attribute has no pools of its own. */
    (void)drv.PointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer);
    *end = *begin + memory_rounded_size(size, pool != NULL);
    return true;
}

void
pcu_memory_use_rest(CUdeviceptr pointer)
{
    CUdeviceptr base = 0;
    size_t size = 0;
    if (pcu_drv_info.device != NULL &&
        drv.MemGetAddressRange(&base, &size, pointer) == CUDA_SUCCESS) {
        pcu_drv_info.device->use_rest(base);
    }
}

/* Whether the object is an allocation of ours, which knows its context and whether it
 * is alive. */
static bool
memory_is_allocation(pcu_state *st, PyObject *memory)
{
    return Py_IS_TYPE(memory, st->DeviceAllocation) ||
           Py_IS_TYPE(memory, st->PooledDeviceAllocation) ||
           PyObject_TypeCheck(memory, st->DeviceAllocation) ||
           PyObject_TypeCheck(memory, st->PooledDeviceAllocation);
}

pcu_resource *
pcu_gpuarray_allocation(const pcu_gpuarray *self)
{
    if (self->memory != NULL && memory_is_allocation(self->st, self->memory)) {
        return (pcu_resource *)self->memory;
    }
    return NULL;
}

/* The memory belongs to another context. PyCUDA passes the address: a copy is right
 * where the driver finds the memory, and so is a kernel that does not use the array. */
static int
memory_wrong_context(pcu_gpuarray *self, const pcu_resource *memory)
{
    static const char text[] =
        "the memory of an array of shape %S and dtype %S belongs to another context "
        "(device %d) than the current one";
    PyObject *shape = pcu_shape_tuple_new(self->ndim, self->shape);
    PyObject *dtype = (PyObject *)self->dtype;
    int device = (int)pcu_context_rec(memory->ctx)->device;
    int rc = -1;
    if (shape == NULL) {
        return -1;
    }
    if (pcu_setting_is_strict()) {
        rc = pcu_raise_detail(self->st, "cuLaunchKernel", CUDA_ERROR_INVALID_CONTEXT,
                              text, shape, dtype, device);
    }
    else {
        rc = pcu_forgive(self->st->exc_LogicError, text, shape, dtype, device);
    }
    Py_DECREF(shape);
    return rc;
}

/* Find the range of memory that an object owns. False if its size is not known. */
static bool
memory_range(pcu_state *st, PyObject *memory, CUdeviceptr *start, size_t *size)
{
    if (memory == NULL) {
        return false;
    }
    if (Py_IS_TYPE(memory, st->ForeignAllocation)) {
        const pcu_dlpack *tensor = pcu_foreign_allocation_tensor(memory);
        ptrdiff_t low = 0;
        ptrdiff_t high = 0;
        if (pcu_extent(tensor->ndim, tensor->shape, tensor->strides,
                       (size_t)PyDataType_ELSIZE(tensor->dtype), &low, &high) < 0) {
            return false;
        }
        *start = tensor->pointer + (CUdeviceptr)low;
        *size = (size_t)high - (size_t)low;
        return true;
    }
    const pcu_resource *resource = (const pcu_resource *)memory;
    if (!memory_is_allocation(st, memory) || !resource->has_size) {
        return false;
    }
    *start = resource->handle.memory;
    *size = resource->size;
    return true;
}

/* An array whose elements are the bytes `first` to `last` of memory at `start`, which
 * has only `size` bytes. PyCUDA uses them. That does no harm where the driver gave them
 * to the allocation, and in a launch, where the kernel may use a part of the array. */
static int
memory_is_outside(pcu_gpuarray *self, CUdeviceptr start, long long first,
                  long long last, size_t size, bool is_launch)
{
    static const char text[] =
        "an array of shape %S, strides %S and dtype %S takes the bytes %lld to %lld of "
        "memory that has %zu bytes";
    PyObject *shape = pcu_shape_tuple_new(self->ndim, self->shape);
    PyObject *strides = pcu_numbers_tuple_new(self->ndim, self->strides);
    CUdeviceptr begin = 0;
    CUdeviceptr end = 0;
    int rc = -1;
    if (shape != NULL && strides != NULL) {
        bool is_given = pcu_context_launch_borrow(self->st) != NULL &&
                        pcu_memory_allocated(start, &begin, &end) &&
                        first >= (long long)(begin - start) &&
                        last <= (long long)(end - start);
        PyErr_Clear(); /* without a context the launch fails */
        if (is_given || is_launch) {
            rc = pcu_forgive(PyExc_ValueError, text, shape, strides,
                             (PyObject *)self->dtype, first, last, size);
        }
        else {
            PyErr_Format(PyExc_ValueError, text, shape, strides,
                         (PyObject *)self->dtype, first, last, size);
        }
        if (rc == 0 && is_given) {
            pcu_memory_use_rest(start);
        }
    }
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return rc;
}

static int
memory_check_inside(pcu_gpuarray *self, bool is_launch)
{
    CUdeviceptr start = 0;
    size_t size = 0;
    ptrdiff_t low = 0;
    ptrdiff_t high = 0;
    if (self->inside || self->count == 0 || pcu_gpuarray_itemsize(self) == 0) {
        return 0;
    }
    if (pcu_is_stand_in(self)) {
        return pcu_stand_in_refuse(self->st);
    }
    if (self->gpudata == Py_None) {
        PyErr_SetString(PyExc_ValueError,
                        "the array has elements but no memory: its gpudata is None");
        return -1;
    }
    if (pcu_extent(self->ndim, self->shape, self->strides, pcu_gpuarray_itemsize(self),
                   &low, &high) < 0) {
        PyErr_SetString(PyExc_ValueError, "an array with these strides is too big");
        return -1;
    }
    if (memory_range(self->st, self->memory, &start, &size)) {
        uint64_t offset =
            self->address - start; /* huge if the address is below start */
        if (offset > size || offset < (uint64_t)0 - (uint64_t)low ||
            size - offset < (uint64_t)high) {
            return memory_is_outside(self, start, (long long)offset + low,
                                     (long long)offset + high, size, is_launch);
        }
    }
    self->inside = 1; /* no further test until the layout or the memory changes */
    return 0;
}

int
pcu_gpuarray_check_inside(pcu_gpuarray *self)
{
    return memory_check_inside(self, false);
}

int
pcu_gpuarray_check_launch(pcu_gpuarray *self)
{
    return memory_check_inside(self, true);
}

/* A stream is captured, and its graph uses the array: note the memory. */
static int
memory_captured(pcu_gpuarray *self)
{
    const pcu_resource *memory = pcu_gpuarray_allocation(self);
    if (memory != NULL) {
        return pcu_captured_address(memory->handle.memory);
    }
    return pcu_captured_object(self->memory);
}

int
pcu_gpuarray_check(pcu_gpuarray *self, const pcu_context *ctx)
{
    pcu_state *st = self->st;
    if (self->dtype == NULL) {
        return pcu_gpuarray_ready(self);
    }
    if (self->memory != NULL && memory_is_allocation(st, self->memory)) {
        pcu_resource *memory = (pcu_resource *)self->memory;
        if (pcu_resource_check(memory, "cuLaunchKernel") < 0) {
            return -1;
        }
        if (ctx != NULL && pcu_context_rec(memory->ctx)->handle != ctx->rec.handle &&
            ctx->peers == 0 && memory_wrong_context(self, memory) < 0) {
            return -1;
        }
    }
    if (pcu_captures != NULL && memory_captured(self) < 0) {
        return -1;
    }
    if (self->inside) {
        return 0;
    }
    return pcu_gpuarray_check_inside(self);
}

int
pcu_gpuarray_check_current(pcu_gpuarray *self)
{
    const pcu_context *ctx = pcu_context_launch_borrow(self->st);
    if (ctx == NULL) {
        return -1;
    }
    return pcu_gpuarray_check(self, ctx);
}

/* The object that keeps the memory at a bare address alive, found through the base.
 *
 * The base may be any object that the program wants to keep alive, and a program may
 * assign an address of other memory to gpudata after __init__. So a base whose memory
 * is known is used only if the address lies in that memory. There is one exception: in
 * __init__ (is_new) an array as the base always owns the address. */
static PyObject *
memory_of_base(pcu_gpuarray *self, CUdeviceptr address, bool is_new)
{
    CUdeviceptr start = 0;
    size_t size = 0;
    PyObject *memory = self->base;
    if (self->base == NULL) {
        return NULL;
    }
    bool is_array = pcu_is_array(self->st, self->base);
    if (is_array) {
        memory = ((pcu_gpuarray *)self->base)->memory;
    }
    if (memory_range(self->st, memory, &start, &size)) {
        if ((is_array && is_new) || address - start <= size) {
            return memory;
        }
        return NULL;
    }
    if (is_array) {
        return memory;
    }
    return NULL;
}

int
pcu_gpuarray_adopt(pcu_gpuarray *self, PyObject *gpudata, bool is_new)
{
    CUdeviceptr address = 0;
    PyObject *memory = NULL;
    if (gpudata != Py_None) {
        if (pcu_as_pointer(self->st, gpudata, &address, "gpudata") < 0) {
            return -1;
        }
        if (PyLong_Check(gpudata)) {
            memory = memory_of_base(self, address, is_new);
        }
        else if (pcu_is_array(self->st, gpudata)) {
            memory = ((pcu_gpuarray *)gpudata)->memory;
        }
        else {
            memory = gpudata;
        }
    }
    Py_XINCREF(memory);
    self->address = address;
    self->inside = 0;
    Py_XSETREF(self->gpudata, Py_NewRef(gpudata));
    Py_XSETREF(self->memory, memory);
    return 0;
}

void
pcu_gpuarray_forget_memory(pcu_gpuarray *self)
{
    self->address = 0;
    self->inside = 0;
    Py_XSETREF(self->gpudata, Py_NewRef(Py_None));
    Py_CLEAR(self->memory);
}

/* The address of memory that an allocator returned. It may be any object with __int__.
 */
static int
memory_allocated_address(pcu_state *st, PyObject *memory, CUdeviceptr *address)
{
    if (memory_is_allocation(st, memory)) {
        *address = ((pcu_resource *)memory)->handle.memory;
        return 0;
    }
    return pcu_as_address(memory, address, "what the allocator returned");
}

int
pcu_gpuarray_allocate(pcu_gpuarray *self)
{
    ptrdiff_t low = 0;
    ptrdiff_t high = 0;
    pcu_state *st = self->st;
    if (self->count == 0 || pcu_gpuarray_itemsize(self) == 0) {
        Py_XSETREF(self->gpudata, Py_NewRef(Py_None));
        return 0;
    }
    if (self->contiguous) {
        high = (ptrdiff_t)pcu_gpuarray_nbytes(self);
    }
    else if (pcu_extent(self->ndim, self->shape, self->strides,
                        pcu_gpuarray_itemsize(self), &low, &high) < 0) {
        PyErr_SetString(PyExc_ValueError, "an array with these strides is too big");
        return -1;
    }
    size_t size = (size_t)high - (size_t)low;
    PyObject *allocator = self->allocator;
    PyObject *memory;
    if (allocator == NULL) {
        allocator = st->default_allocator;
    }
    PyObject *pool = pcu_captured_pool();
    if (pcu_is_recording(st)) {
        allocator = pcu_recorder_item(st, PCU_RECORDER_MEMORY);
        memory = PyObject_CallFunction(allocator, "n", (Py_ssize_t)size);
    }
    else if (pool != NULL && pcu_allocator_is_ours(st, allocator)) {
        memory = pcu_pool_alloc(pool, size);
        allocator = pool;
    }
    else if (allocator == NULL || allocator == st->mem_alloc) {
        memory = pcu_allocation_new(st, size);
    }
    else {
        memory = pcu_allocate(st, allocator, size);
    }
    CUdeviceptr address = 0;
    if (memory == NULL || memory_allocated_address(st, memory, &address) < 0) {
        Py_XDECREF(memory);
        return -1;
    }
    self->address = address + (CUdeviceptr)(-low);
    self->inside = allocator == NULL || allocator == st->mem_alloc;
    if (low == 0) {
        Py_XSETREF(self->gpudata, Py_NewRef(memory));
    }
    else {
        Py_CLEAR(self->gpudata);
    }
    Py_XSETREF(self->memory, memory);
    return 0;
}
