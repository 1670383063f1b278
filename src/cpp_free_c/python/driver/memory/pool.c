/* Memory pools: DeviceMemoryPool and PageLockedMemoryPool over driver/bins, and the
 * allocations that they hand out.
 *
 * A block is memory of the driver and its place in the pool's bins, made together. An
 * allocation is the Python object that has a block until it is freed or goes; the block
 * then returns to the pool, or to the driver if the pool has stopped holding or the
 * context is gone. An allocation holds its pool, so a pool that a program dropped lives
 * until its last block is back.
 *
 * A device pool belongs to the context it was made in. A page-locked pool takes the
 * context that is current when it first needs one, and another when that has gone.
 *
 * Not locked: the interpreter lock is held. Collecting garbage and warnings run Python
 * code, so everything is looked at anew after them. */
#include "python/driver/memory/pool.h"

#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context_stack.h"
#include "python/driver/memory/allocation.h"
#include "python/driver/resource.h"

#include "driver/bins.h"

typedef struct {
    pcu_bins_block base;
    pcu_res_handle handle;
} mempool_block;

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *ctx; /* strong, of the held blocks; NULL: a host pool before its first */
    PyObject *dict;
    PyObject *weakrefs;
    pcu_res_kind kind;  /* memory or host */
    unsigned int flags; /* of cuMemHostAlloc */
    pcu_bins bins;
} mempool;

/* PooledDeviceAllocation and PooledHostAllocation. The head is live while block is
 * there; its handle stays readable, and its size is the number of bytes asked for. */
typedef struct {
    pcu_resource head;
    mempool *pool; /* strong */
    mempool_block *block;
} pooled;

/* 1 if the pool's blocks are there: it has a context, and that may be used. */
static inline int
mempool_is_usable(const mempool *self)
{
    return self->ctx != NULL && pcu_ctxrec_usable(pcu_context_rec(self->ctx));
}

/* -- blocks ------------------------------------------------------------------------ */

static const char *
mempool_routine(const mempool *self)
{
    return self->kind == PCU_RES_memory ? "cuMemAlloc" : "cuMemHostAlloc";
}

/* End a block that is counted in no pool any more. */
static void
mempool_release_noraise(mempool *self, mempool_block *block, PyObject *ctx)
{
    pcu_res_handle handle = block->handle;
    PyMem_Free(block);
    pcu_release_noraise(self->st, self->kind, handle, ctx);
}

/* Releasing may warn, which may run code that uses the pool: look anew each time. */
static void
mempool_free_held_noraise(mempool *self)
{
    pcu_bins_block *block;
    if (self->ctx == NULL) {
        return;
    }
    PyObject *ctx = Py_NewRef(self->ctx);
    while (self->ctx == ctx && (block = pcu_bins_evict(&self->bins)) != NULL) {
        mempool_release_noraise(self, (mempool_block *)block, ctx);
    }
    Py_DECREF(ctx);
}

/* One call of the driver in the pool's context. *routine names the call that failed. */
static CUresult
mempool_ask_driver(mempool *self, size_t bytes, pcu_res_handle *handle,
                   const char **routine)
{
    pcu_scope scope;
    *routine = "cuCtxPushCurrent";
    CUresult status = pcu_scope_enter(&scope, pcu_context_rec(self->ctx));
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *routine = mempool_routine(self);
    if (self->kind == PCU_RES_memory) {
        PCU_STATUS(status, MemAlloc, (&handle->memory, bytes));
    }
    else {
        PCU_STATUS(status, MemHostAlloc, (&handle->host, bytes, self->flags));
    }
    CUresult left = pcu_scope_leave(&scope);
    if (status == CUDA_SUCCESS) {
        pcu_res_created(self->kind);
        if (left != CUDA_SUCCESS) {
            pcu_release_noraise(self->st, self->kind, *handle, self->ctx);
            *routine = "cuCtxPopCurrent";
            status = left;
        }
    }
    return status;
}

/* The pool's context cannot be used: raise, or take another if the pool may. */
static int
mempool_enter_context(mempool *self)
{
    if (pcu_drv_info.state != PCU_DRV_READY) {
        return pcu_raise(self->st, mempool_routine(self),
                         pcu_drv_state_status(pcu_drv_info.state));
    }
    if (self->kind == PCU_RES_memory) {
        return pcu_raise_detail(
            self->st, mempool_routine(self), CUDA_ERROR_INVALID_CONTEXT,
            "the context of this %s was detached", Py_TYPE(self)->tp_name);
    }
    PyObject *ctx = pcu_context_require(self->st, mempool_routine(self));
    if (ctx == NULL) {
        return -1;
    }
    mempool_free_held_noraise(self); /* their context is gone, and they with it */
    Py_XSETREF(self->ctx, ctx);
    return 0;
}

static int
mempool_raise(mempool *self, const char *routine, CUresult status, size_t size, int bin,
              size_t released)
{
    if (status != CUDA_ERROR_OUT_OF_MEMORY) {
        return pcu_raise(self->st, routine, status);
    }
    return pcu_raise_detail(
        self->st, routine, status,
        "%zu bytes were asked for, a block of %zu; the pool released the %zu bytes it "
        "held and now holds %zu, %zu bytes in %zu blocks are in use",
        size, pcu_bins_size(bin), released, self->bins.held_bytes,
        self->bins.active_bytes, self->bins.active_blocks);
}

/* A block that the driver has to give. When memory is short: collect garbage, look at
 * the bin again, release held blocks, the largest first. The block is counted active.
 */
static mempool_block *
mempool_obtain_fresh(mempool *self, int bin, size_t size)
{
    const char *routine = "";
    size_t bytes = pcu_bins_size(bin);
    size_t released = 0;
    if (pcu_context_ready(self->st) < 0) { /* the pool's context may be this thread's */
        return NULL;
    }
    mempool_block *block = PyMem_Calloc(1, sizeof(*block));
    if (block == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    block->base.bin = bin;
    CUresult status = mempool_ask_driver(self, bytes, &block->handle, &routine);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) {
        pcu_collect_garbage();
        pcu_bins_block *found =
            mempool_is_usable(self) ? pcu_bins_take(&self->bins, bin, size) : NULL;
        if (found != NULL) {
            PyMem_Free(block);
            return (mempool_block *)found;
        }
        status = mempool_ask_driver(self, bytes, &block->handle, &routine);
    }
    while (status == CUDA_ERROR_OUT_OF_MEMORY) {
        pcu_bins_block *victim = pcu_bins_evict(&self->bins);
        if (victim == NULL) {
            break;
        }
        released += pcu_bins_size(victim->bin);
        mempool_release_noraise(self, (mempool_block *)victim, self->ctx);
        status = mempool_ask_driver(self, bytes, &block->handle, &routine);
    }
    if (status != CUDA_SUCCESS) {
        PyMem_Free(block);
        mempool_raise(self, routine, status, size, bin, released);
        return NULL;
    }
    pcu_bins_admit(&self->bins, &block->base, size);
    return block;
}

/* A block of the pool's context, counted active. */
static inline mempool_block *
mempool_obtain(mempool *self, size_t size)
{
    int bin = pcu_bins_number(size);
    if (!mempool_is_usable(self) && mempool_enter_context(self) < 0) {
        return NULL;
    }
    mempool_block *block = (mempool_block *)pcu_bins_take(&self->bins, bin, size);
    return block != NULL ? block : mempool_obtain_fresh(self, bin, size);
}

/* -- allocations ------------------------------------------------------------------- */

/* Take the block from the allocation and put it where it belongs. */
static void
pooled_give_back_noraise(pooled *self)
{
    mempool *pool = self->pool;
    mempool_block *block = self->block;
    self->block = NULL;
    self->head.live = 0;
    if (!pool->bins.stopped && self->head.ctx == pool->ctx && mempool_is_usable(pool)) {
        pcu_bins_hold(&pool->bins, &block->base, self->head.size);
    }
    else {
        pcu_bins_dismiss(&pool->bins, &block->base, self->head.size);
        mempool_release_noraise(pool, block, self->head.ctx);
    }
}

/* Making the object may collect garbage, so it comes before looking at the pool. */
static PyObject *
pooled_new(mempool *pool, PyTypeObject *type, size_t size)
{
    pooled *self = (pooled *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->head.st = pool->st;
    self->head.kind = pool->kind;
    self->pool = (mempool *)Py_NewRef((PyObject *)pool);
    pcu_resource_with_size((PyObject *)self, size);
    mempool_block *block = mempool_obtain(pool, size);
    if (block == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    self->block = block;
    self->head.ctx = Py_NewRef(pool->ctx);
    self->head.handle = block->handle;
    self->head.live = 1;
    return (PyObject *)self;
}

PyObject *
pcu_pool_alloc(PyObject *pool, size_t size)
{
    mempool *self = (mempool *)pool;
    return pooled_new(self, self->st->PooledDeviceAllocation, size);
}

static int
pooled_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((pooled *)op)->pool);
    return pcu_resource_traverse(op, visit, arg);
}

/* The pool stays, as the context does: the block goes back to it. */
static void
pooled_dealloc(PyObject *op)
{
    pooled *self = (pooled *)op;
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (self->head.weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    if (self->block != NULL) {
        pooled_give_back_noraise(self);
    }
    Py_CLEAR(self->head.dict);
    Py_CLEAR(self->pool);
    Py_CLEAR(self->head.ctx);
    type->tp_free(op);
    Py_DECREF(type);
}

PyDoc_STRVAR(pooled_free_doc,
             "free($self, /)\n--\n\n"
             "Give the block back to the pool now. LogicError the second time.");

static PyObject *
pooled_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pooled *self = (pooled *)op;
    if (self->block == NULL) {
        pcu_resource_check_slow(&self->head, pcu_res_ender(self->head.kind));
        return NULL;
    }
    pooled_give_back_noraise(self);
    Py_RETURN_NONE;
}

static Py_ssize_t
pooled_length(PyObject *op)
{
    return (Py_ssize_t)((pooled *)op)->head.size;
}

static PyObject *
pooled_int(PyObject *op)
{
    return PyLong_FromUnsignedLongLong(((pooled *)op)->head.handle.memory);
}

PyDoc_STRVAR(pooled_long_doc, "__long__($self, /)\n--\n\nThe address, as int() gives.");

static PyObject *
pooled_long(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return pooled_int(op);
}

static PyMethodDef pooled_device_methods[] = {
    {"free", pooled_free, METH_NOARGS, pooled_free_doc},
    {"__long__", pooled_long, METH_NOARGS, pooled_long_doc},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef pooled_host_methods[] = {
    {"free", pooled_free, METH_NOARGS, pooled_free_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef pooled_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(pooled_device_doc,
             "Device memory of a pool, which gets it back when the object goes.\n\n"
             "int() gives the address, also after free(); len() the bytes asked for.");
PyDoc_STRVAR(pooled_host_doc,
             "Page-locked memory of a pool: the base of the arrays that it makes.\n\n"
             "len() gives the bytes asked for.");

static PyType_Slot pooled_device_slots[] = {
    {Py_tp_doc, (void *)pooled_device_doc},
    {Py_tp_traverse, pooled_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, pooled_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, pooled_getset},
    {Py_tp_methods, pooled_device_methods},
    {Py_sq_length, pooled_length},
    {Py_nb_int, pooled_int},
    {Py_nb_index, pooled_int},
    {0, NULL},
};

static PyType_Slot pooled_host_slots[] = {
    {Py_tp_doc, (void *)pooled_host_doc},
    {Py_tp_traverse, pooled_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, pooled_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, pooled_getset},
    {Py_tp_methods, pooled_host_methods},
    {Py_sq_length, pooled_length},
    {0, NULL},
};

enum {
    POOLED_FLAGS =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION
};

static PyType_Spec pooled_device_spec = {"pycuda._driver.PooledDeviceAllocation",
                                         sizeof(pooled), 0, POOLED_FLAGS,
                                         pooled_device_slots};
static PyType_Spec pooled_host_spec = {"pycuda._driver.PooledHostAllocation",
                                       sizeof(pooled), 0, POOLED_FLAGS,
                                       pooled_host_slots};

/* -- what both pools have ---------------------------------------------------------- */

static int
mempool_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((mempool *)op)->ctx);
    Py_VISIT(((mempool *)op)->dict);
    return 0;
}

static int
mempool_clear(PyObject *op)
{
    Py_CLEAR(((mempool *)op)->dict);
    return 0;
}

static void
mempool_dealloc(PyObject *op)
{
    mempool *self = (mempool *)op;
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    mempool_free_held_noraise(self);
    mempool_clear(op);
    Py_CLEAR(self->ctx);
    type->tp_free(op);
    Py_DECREF(type);
}

static mempool *
mempool_blank_new(PyTypeObject *type, pcu_res_kind kind)
{
    pcu_state *st = pcu_state_of_type(type);
    mempool *self = st == NULL ? NULL : (mempool *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
        self->kind = kind;
    }
    return self;
}

PyDoc_STRVAR(mempool_free_held_doc,
             "free_held($self, /)\n--\n\n"
             "Release the blocks that nobody uses to the driver.");

static PyObject *
mempool_free_held(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    mempool_free_held_noraise((mempool *)op);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(mempool_stop_holding_doc,
             "stop_holding($self, /)\n--\n\n"
             "free_held(), and from now on release every block that is given back.");

static PyObject *
mempool_stop_holding(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    ((mempool *)op)->bins.stopped = 1;
    mempool_free_held_noraise((mempool *)op);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(mempool_bin_number_doc,
             "bin_number($self, size, /)\n--\n\nThe bin that serves size bytes.");

static PyObject *
mempool_bin_number(PyObject *op, PyObject *value)
{
    size_t size = 0;
    return pcu_as_size(((mempool *)op)->st, value, &size, "size") < 0
               ? NULL
               : PyLong_FromLong(pcu_bins_number(size));
}

PyDoc_STRVAR(mempool_alloc_size_doc,
             "alloc_size($self, bin, /)\n--\n\n"
             "The bytes of the blocks of a bin: the largest size that it serves.");

static PyObject *
mempool_alloc_size(PyObject *Py_UNUSED(op), PyObject *value)
{
    unsigned long long bin = 0;
    return pcu_as_integer(value, 0, PCU_BINS_COUNT - 1, &bin, "bin") < 0
               ? NULL
               : PyLong_FromSize_t(pcu_bins_size((int)bin));
}

/* The closure is the counter's offset in pcu_bins. Blocks of a context that has gone
 * are not held any more. */
static PyObject *
mempool_get_counter(PyObject *op, void *closure)
{
    mempool *self = (mempool *)op;
    if (self->bins.held_blocks != 0 && !mempool_is_usable(self)) {
        mempool_free_held_noraise(self);
    }
    return PyLong_FromSize_t(
        *(const size_t *)((const char *)&self->bins + (uintptr_t)closure));
}

#define MEMPOOL_COUNTER(name, doc)                      \
    {                                                   \
#        name, mempool_get_counter, NULL, doc,          \
            (void *)(uintptr_t)offsetof(pcu_bins, name) \
    }

static PyGetSetDef mempool_getset[] = {
    MEMPOOL_COUNTER(held_blocks, "The number of blocks that nobody uses."),
    MEMPOOL_COUNTER(active_blocks, "The number of blocks in use."),
    MEMPOOL_COUNTER(managed_bytes, "The bytes of all blocks, held and in use."),
    MEMPOOL_COUNTER(active_bytes, "The bytes that were asked for and are in use."),
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef mempool_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(mempool, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(mempool, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

enum { MEMPOOL_FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE };

/* -- DeviceMemoryPool -------------------------------------------------------------- */

/* The context is taken here, so that a derived class may leave __init__ out. */
static PyObject *
devicepool_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
               PyObject *Py_UNUSED(kwargs))
{
    mempool *self = mempool_blank_new(type, PCU_RES_memory);
    if (self != NULL) {
        self->ctx = pcu_context_require(self->st, "DeviceMemoryPool");
        if (self->ctx == NULL) {
            Py_CLEAR(self);
        }
    }
    return (PyObject *)self;
}

static int
devicepool_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argtable table = {"DeviceMemoryPool", NULL, 0, 0, 0};
    return pcu_args_parse_tuple(((mempool *)op)->st, &table, args, kwargs, NULL);
}

PyDoc_STRVAR(devicepool_allocate_doc,
             "allocate($self, size, /)\n--\n\n"
             "size bytes of device memory: a PooledDeviceAllocation.\n\n"
             "It is a held block, else a new one of the bin's size, in the pool's\n"
             "context. MemoryError, with the sizes, if memory is short after garbage\n"
             "was collected and all held blocks were released.");

static PyObject *
devicepool_allocate(PyObject *op, PyObject *value)
{
    size_t size = 0;
    return pcu_as_size(((mempool *)op)->st, value, &size, "size") < 0
               ? NULL
               : pcu_pool_alloc(op, size);
}

static PyMethodDef devicepool_methods[] = {
    {"allocate", devicepool_allocate, METH_O, devicepool_allocate_doc},
    {"free_held", mempool_free_held, METH_NOARGS, mempool_free_held_doc},
    {"stop_holding", mempool_stop_holding, METH_NOARGS, mempool_stop_holding_doc},
    {"bin_number", mempool_bin_number, METH_O, mempool_bin_number_doc},
    {"alloc_size", mempool_alloc_size, METH_O, mempool_alloc_size_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    devicepool_doc,
    "DeviceMemoryPool()\n--\n\n"
    "Keeps freed device memory of the current context for the next allocation.\n\n"
    "A block that is given back may be handed out again at once, whatever\n"
    "streams still use it: work in other streams is the program's to order.");

static PyType_Slot devicepool_slots[] = {
    {Py_tp_doc, (void *)devicepool_doc}, {Py_tp_new, devicepool_new},
    {Py_tp_init, devicepool_init},       {Py_tp_traverse, mempool_traverse},
    {Py_tp_clear, mempool_clear},        {Py_tp_dealloc, mempool_dealloc},
    {Py_tp_members, mempool_members},    {Py_tp_getset, mempool_getset},
    {Py_tp_methods, devicepool_methods}, {0, NULL},
};

static PyType_Spec devicepool_spec = {"pycuda._driver.DeviceMemoryPool",
                                      sizeof(mempool), 0, MEMPOOL_FLAGS,
                                      devicepool_slots};

int
pcu_as_allocator(pcu_state *st, PyObject *value, void *out, const char *name)
{
    if (value != Py_None && !PyCallable_Check(value) &&
        !PyObject_TypeCheck(value, st->DeviceMemoryPool)) {
        PyErr_Format(PyExc_TypeError,
                     "%s must be None, a DeviceMemoryPool, or a function of a number "
                     "of bytes such as pycuda.driver.mem_alloc, not %s",
                     name, Py_TYPE(value)->tp_name);
        return -1;
    }
    *(PyObject **)out = value;
    return 0;
}

PyObject *
pcu_allocate(pcu_state *st, PyObject *allocator, size_t size)
{
    if (PyCFunction_CheckExact(allocator) &&
        PyCFunction_GET_FUNCTION(allocator) == devicepool_allocate) {
        return pcu_pool_alloc(PyCFunction_GET_SELF(allocator), size);
    }
    if (Py_IS_TYPE(allocator, st->DeviceMemoryPool)) {
        return pcu_pool_alloc(allocator, size);
    }
    PyObject *bytes = PyLong_FromSize_t(size);
    PyObject *result = NULL;
    if (bytes != NULL) {
        result = PyObject_TypeCheck(allocator, st->DeviceMemoryPool)
                     ? PyObject_CallMethodOneArg(allocator, st->str_allocate, bytes)
                     : PyObject_CallOneArg(allocator, bytes);
        Py_DECREF(bytes);
    }
    return result;
}

/* -- PageLockedAllocator ----------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *dict;
    PyObject *weakrefs;
    unsigned int flags;
} hostallocator;

static int
hostallocator_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {{"flags", pcu_as_uint, 0}};
    static const pcu_argtable table = {"PageLockedAllocator", specs, 1, 0, 1};
    pcu_state *st = pcu_state_of_type(Py_TYPE(op));
    unsigned int flags = 0;
    if (st == NULL || pcu_args_parse_tuple(st, &table, args, kwargs, &flags) < 0) {
        return -1;
    }
    ((hostallocator *)op)->flags = flags;
    return 0;
}

static int
hostallocator_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((hostallocator *)op)->dict);
    return 0;
}

static int
hostallocator_clear(PyObject *op)
{
    Py_CLEAR(((hostallocator *)op)->dict);
    return 0;
}

static void
hostallocator_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (((hostallocator *)op)->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    hostallocator_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyMemberDef hostallocator_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(hostallocator, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(hostallocator, weakrefs),
     Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(hostallocator_doc,
             "PageLockedAllocator(flags=0, /)\n--\n\n"
             "How a PageLockedMemoryPool allocates: or-ed host_alloc_flags.");

static PyType_Slot hostallocator_slots[] = {
    {Py_tp_doc, (void *)hostallocator_doc}, {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, hostallocator_init},       {Py_tp_traverse, hostallocator_traverse},
    {Py_tp_clear, hostallocator_clear},     {Py_tp_dealloc, hostallocator_dealloc},
    {Py_tp_members, hostallocator_members}, {0, NULL},
};

static PyType_Spec hostallocator_spec = {"pycuda._driver.PageLockedAllocator",
                                         sizeof(hostallocator), 0, MEMPOOL_FLAGS,
                                         hostallocator_slots};

/* -- PageLockedMemoryPool ---------------------------------------------------------- */

static PyObject *
hostpool_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    return (PyObject *)mempool_blank_new(type, PCU_RES_host);
}

static int
hostpool_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {{"allocator", pcu_as_object, 0}};
    static const pcu_argtable table = {"PageLockedMemoryPool", specs, 1, 0, 1};
    mempool *self = (mempool *)op;
    PyObject *allocator = NULL;
    unsigned int flags = 0;
    if (pcu_args_parse_tuple(self->st, &table, args, kwargs, &allocator) < 0) {
        return -1;
    }
    if (allocator != NULL) {
        if (!PyObject_TypeCheck(allocator, self->st->PageLockedAllocator)) {
            PyErr_Format(PyExc_TypeError,
                         "allocator must be a PageLockedAllocator, not %s",
                         Py_TYPE(allocator)->tp_name);
            return -1;
        }
        flags = ((hostallocator *)allocator)->flags;
    }
    if (flags != self->flags) { /* a second __init__: no block of the old flags stays */
        mempool_free_held_noraise(self);
        self->flags = flags;
    }
    return 0;
}

typedef struct {
    pcu_shape shape;
    PyArray_Descr *dtype; /* new reference once parsed */
    PyObject *order;
} hostpool_args;

static int
hostpool_bytes(const hostpool_args *a, size_t *bytes)
{
    size_t shape[PCU_MAX_NDIM];
    if (PyDataType_REFCHK(a->dtype)) {
        return pcu_refuse_objects(a->dtype, "allocate");
    }
    for (int i = 0; i < a->shape.ndim; i++) {
        shape[i] = (size_t)a->shape.dims[i];
    }
    if (pcu_shape_nbytes(a->shape.ndim, shape, (size_t)PyDataType_ELSIZE(a->dtype),
                         bytes) < 0) {
        PyErr_SetString(PyExc_ValueError,
                        "shape and dtype make an array larger than the address space");
        return -1;
    }
    return 0;
}

/* The order of the array's flags. What is neither C nor F is the built-in RuntimeError,
 * as in PyCUDA. */
static int
hostpool_order(pcu_state *st, PyObject *value, int *flags)
{
    NPY_ORDER order = NPY_CORDER;
    if (value != NULL && pcu_as_order(st, value, &order, "order") < 0) {
        if (PyErr_ExceptionMatches(PyExc_ValueError)) {
            PyErr_Format(PyExc_RuntimeError, "order must be 'C' or 'F', not %R", value);
        }
        return -1;
    }
    *flags =
        NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE |
        (order == NPY_FORTRANORDER ? NPY_ARRAY_F_CONTIGUOUS : NPY_ARRAY_C_CONTIGUOUS);
    return 0;
}

PyDoc_STRVAR(
    hostpool_allocate_doc,
    "allocate($self, /, shape, dtype, order='C')\n--\n\n"
    "A new array in page-locked memory of the pool, uninitialised.\n\n"
    "Its base is a PooledHostAllocation: the pool gets the memory back when the\n"
    "last view of the array goes.");

static PyObject *
hostpool_allocate(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"shape", pcu_as_shape, offsetof(hostpool_args, shape)},
        {"dtype", pcu_as_dtype, offsetof(hostpool_args, dtype)},
        {"order", pcu_as_object, offsetof(hostpool_args, order)},
    };
    static const pcu_argtable table = {"allocate", specs, 3, 2, 0};
    mempool *self = (mempool *)op;
    hostpool_args a = {.order = NULL};
    PyObject *allocation = NULL;
    PyObject *array = NULL;
    size_t bytes = 0;
    int flags = 0;
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0 ||
        hostpool_order(self->st, a.order, &flags) < 0 ||
        hostpool_bytes(&a, &bytes) < 0) {
        goto done;
    }
    allocation = pooled_new(self, self->st->PooledHostAllocation, bytes);
    if (allocation == NULL) {
        goto done;
    }
    array = PyArray_NewFromDescr(
        &PyArray_Type, (PyArray_Descr *)Py_NewRef((PyObject *)a.dtype), a.shape.ndim,
        a.shape.dims, NULL, ((pcu_resource *)allocation)->handle.host, flags, NULL);
    if (array == NULL) {
        goto done;
    }
    int rc = PyArray_SetBaseObject((PyArrayObject *)array, allocation);
    allocation = NULL; /* taken over, also on failure */
    if (rc < 0) {
        Py_CLEAR(array);
    }
done:
    Py_XDECREF(allocation);
    Py_XDECREF(a.dtype);
    return array;
}

static PyMethodDef hostpool_methods[] = {
    {"allocate", (PyCFunction)(void (*)(void))hostpool_allocate,
     METH_FASTCALL | METH_KEYWORDS, hostpool_allocate_doc},
    {"free_held", mempool_free_held, METH_NOARGS, mempool_free_held_doc},
    {"stop_holding", mempool_stop_holding, METH_NOARGS, mempool_stop_holding_doc},
    {"bin_number", mempool_bin_number, METH_O, mempool_bin_number_doc},
    {"alloc_size", mempool_alloc_size, METH_O, mempool_alloc_size_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    hostpool_doc,
    "PageLockedMemoryPool(allocator=..., /)\n--\n\n"
    "Keeps freed page-locked memory for the next array.\n\n"
    "A block that is given back may be handed out again at once: wait for copies\n"
    "that still use an array before its last view goes.");

static PyType_Slot hostpool_slots[] = {
    {Py_tp_doc, (void *)hostpool_doc}, {Py_tp_new, hostpool_new},
    {Py_tp_init, hostpool_init},       {Py_tp_traverse, mempool_traverse},
    {Py_tp_clear, mempool_clear},      {Py_tp_dealloc, mempool_dealloc},
    {Py_tp_members, mempool_members},  {Py_tp_getset, mempool_getset},
    {Py_tp_methods, hostpool_methods}, {0, NULL},
};

static PyType_Spec hostpool_spec = {"pycuda._driver.PageLockedMemoryPool",
                                    sizeof(mempool), 0, MEMPOOL_FLAGS, hostpool_slots};

int
pcu_mempool_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->PooledDeviceAllocation, &pooled_device_spec, NULL) <
                       0 ||
                   pcu_add_type(m, &st->PooledHostAllocation, &pooled_host_spec, NULL) <
                       0 ||
                   pcu_add_type(m, &st->DeviceMemoryPool, &devicepool_spec, NULL) < 0 ||
                   pcu_add_type(m, &st->PageLockedAllocator, &hostallocator_spec,
                                NULL) < 0 ||
                   pcu_add_type(m, &st->PageLockedMemoryPool, &hostpool_spec, NULL) < 0
               ? -1
               : 0;
}
