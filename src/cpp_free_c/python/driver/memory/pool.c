/* DeviceMemoryPool, and the part that both kinds of memory pools share: blocks and
 * pooled allocations. The bins are in driver/bins.c; page_locked_pool.c has the pool of
 * host memory.
 *
 * A block is memory of the driver together with its entry in the bins. An allocation is
 * the Python object that owns a block until it is freed or deleted. The block then
 * returns to the pool, or to the driver if the pool has stopped holding blocks or the
 * context has ended. An allocation holds a reference to its pool, so a pool lives until
 * its last block has returned.
 *
 * Invariant: a device pool belongs to the context in which it was made. The interpreter
 * lock protects all fields. Collecting garbage and warnings may run Python code that
 * uses the pool, so all fields are read again afterwards. Callers: see pool.h. */
#include "python/driver/memory/pool.h"

#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/out_of_memory.h"
#include "python/driver/memory/pool_struct.h"
#include "python/driver/resource.h"

#include "driver/graph_record.h"

typedef struct {
    pcu_bins_block base;
    pcu_handle handle;
} pool_block;

/* PooledDeviceAllocation and PooledHostAllocation. head.live is 1 while block is not
 * NULL; head.handle stays readable afterwards; head.size is the requested size. */
typedef struct {
    pcu_resource head;
    pcu_memory_pool *pool; /* strong */
    pool_block *block;
} pooled;

/* 1 if the pool's blocks are valid: its context is set and may be used. */
static inline int
pool_is_usable(const pcu_memory_pool *self)
{
    return self->ctx != NULL && pcu_context_record_usable(pcu_context_rec(self->ctx));
}

/* -- blocks ------------------------------------------------------------------------ */

static const char *
pool_routine(const pcu_memory_pool *self)
{
    return self->kind == PCU_HANDLE_memory ? "cuMemAlloc" : "cuMemHostAlloc";
}

/* Release a block that is no longer counted in a pool. */
static void
pool_release_noraise(pcu_memory_pool *self, pool_block *block, PyObject *ctx)
{
    pcu_handle handle = block->handle;
    PyMem_Free(block);
    pcu_release_noraise(self->st, self->kind, handle, ctx);
}

/* A release may warn, and that may run code that uses the pool: read the fields again
 * in each round. */
void
pcu_pool_free_held_noraise(pcu_memory_pool *self)
{
    pcu_bins_block *block;
    if (self->ctx == NULL) {
        return;
    }
    PyObject *ctx = Py_NewRef(self->ctx);
    while (self->ctx == ctx && (block = pcu_bins_evict(&self->bins)) != NULL) {
        pool_release_noraise(self, (pool_block *)block, ctx);
    }
    Py_DECREF(ctx);
}

/* Allocate a block from the driver in the pool's context. *routine names the driver
 * call that failed. */
static CUresult
pool_ask_driver(pcu_memory_pool *self, size_t bytes, pcu_handle *handle,
                const char **routine)
{
    pcu_scope scope;
    *routine = "cuCtxPushCurrent";
    CUresult status = pcu_scope_enter(&scope, pcu_context_rec(self->ctx));
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *routine = pool_routine(self);
    if (self->kind == PCU_HANDLE_memory) {
        PCU_STATUS(status, MemAlloc, (&handle->memory, bytes));
    }
    else {
        PCU_STATUS(status, MemHostAlloc, (&handle->host, bytes, self->flags));
    }
    CUresult left = pcu_scope_leave(&scope);
    if (status == CUDA_SUCCESS) {
        pcu_handle_created(self->kind);
        if (left != CUDA_SUCCESS) {
            pcu_release_noraise(self->st, self->kind, *handle, self->ctx);
            *routine = "cuCtxPopCurrent";
            status = left;
        }
    }
    return status;
}

/* The pool's context cannot be used. Raise for a device pool; a page-locked pool takes
 * the current context. */
static int
pool_enter_context(pcu_memory_pool *self)
{
    if (pcu_drv_info.state != PCU_DRV_READY) {
        return pcu_raise(self->st, pool_routine(self),
                         pcu_drv_state_status(pcu_drv_info.state));
    }
    if (self->kind == PCU_HANDLE_memory) {
        return pcu_raise_detail(
            self->st, pool_routine(self), CUDA_ERROR_INVALID_CONTEXT,
            "the context of this %s was detached", Py_TYPE(self)->tp_name);
    }
    PyObject *ctx = pcu_context_require(self->st, pool_routine(self));
    if (ctx == NULL) {
        return -1;
    }
    pcu_pool_free_held_noraise(self); /* their context ended and took them with it */
    Py_XSETREF(self->ctx, ctx);
    return 0;
}

static int
pool_raise(pcu_memory_pool *self, const char *routine, CUresult status, size_t size,
           int bin, size_t released)
{
    if (status != CUDA_ERROR_OUT_OF_MEMORY) {
        return pcu_raise(self->st, routine, status);
    }
    return pcu_raise_detail(
        self->st, routine, status,
        "%zu bytes were asked for, a block of %zu; the pool released the %zu bytes it "
        "held and now holds %zu; %zu bytes in %zu blocks are in use",
        size, pcu_bins_size(bin), released, self->bins.held_bytes,
        self->bins.active_bytes, self->bins.active_blocks);
}

/* Allocate a block from the driver. If memory is short, collect garbage, try the bin
 * again, then release held blocks, the largest first. The block is counted as active.
 */
static pool_block *
pool_obtain_fresh(pcu_memory_pool *self, int bin, size_t size)
{
    const char *routine = "";
    size_t bytes = pcu_bins_size(bin);
    size_t released = 0;
    if (pcu_current_context_ready(self->st) <
        0) { /* the pool's context may be this thread's */
        return NULL;
    }
    pool_block *block = PyMem_Calloc(1, sizeof(*block));
    if (block == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    block->base.bin = bin;
    CUresult status = pool_ask_driver(self, bytes, &block->handle, &routine);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) {
        pcu_collect_garbage();
        pcu_bins_block *found = NULL;
        if (pool_is_usable(self)) {
            found = pcu_bins_take(&self->bins, bin, size);
        }
        if (found != NULL) {
            PyMem_Free(block);
            return (pool_block *)found;
        }
        status = pool_ask_driver(self, bytes, &block->handle, &routine);
    }
    while (status == CUDA_ERROR_OUT_OF_MEMORY) {
        pcu_bins_block *victim = pcu_bins_evict(&self->bins);
        if (victim == NULL) {
            break;
        }
        released += pcu_bins_size(victim->bin);
        pool_release_noraise(self, (pool_block *)victim, self->ctx);
        status = pool_ask_driver(self, bytes, &block->handle, &routine);
    }
    if (status != CUDA_SUCCESS) {
        PyMem_Free(block);
        pool_raise(self, routine, status, size, bin, released);
        return NULL;
    }
    pcu_bins_admit(&self->bins, &block->base, size);
    return block;
}

/* A block of the pool's context, counted as active. */
static inline pool_block *
pool_obtain(pcu_memory_pool *self, size_t size)
{
    int bin = pcu_bins_number(size);
    if (!pool_is_usable(self) && pool_enter_context(self) < 0) {
        return NULL;
    }
    pool_block *block = (pool_block *)pcu_bins_take(&self->bins, bin, size);
    if (block != NULL) {
        return block;
    }
    return pool_obtain_fresh(self, bin, size);
}

/* -- allocations ------------------------------------------------------------------- */

/* 1 if a graph uses the block, so that the pool must not hand it out again. */
static int
pooled_is_captured(const pooled *self)
{
    const pcu_memory_pool *pool = self->pool;
    if (pool->of_graph || self->head.ctx == NULL) {
        return 0;
    }
    return pcu_graph_record_user(pool->kind, self->head.handle,
                                 pcu_context_rec(self->head.ctx)->handle,
                                 PyThread_get_thread_ident()) != NULL;
}

/* Return the block of an allocation to the pool, or to the driver. */
static void
pooled_give_back_noraise(pooled *self)
{
    pcu_memory_pool *pool = self->pool;
    pool_block *block = self->block;
    self->block = NULL;
    self->head.live = 0;
    if (!pool->bins.stopped && self->head.ctx == pool->ctx && pool_is_usable(pool) &&
        !(pcu_graph_records != NULL && pooled_is_captured(self))) {
        pcu_bins_hold(&pool->bins, &block->base, self->head.size);
    }
    else {
        pcu_bins_dismiss(&pool->bins, &block->base, self->head.size);
        pool_release_noraise(pool, block, self->head.ctx);
    }
}

/* Creating the object may collect garbage, so this is done before the pool is read. */
PyObject *
pcu_pooled_new(pcu_memory_pool *pool, PyTypeObject *type, size_t size)
{
    pooled *self = (pooled *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->head.st = pool->st;
    self->head.kind = pool->kind;
    self->pool = (pcu_memory_pool *)Py_NewRef((PyObject *)pool);
    pcu_resource_with_size((PyObject *)self, size);
    pool_block *block = pool_obtain(pool, size);
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
    pcu_memory_pool *self = (pcu_memory_pool *)pool;
    return pcu_pooled_new(self, self->st->PooledDeviceAllocation, size);
}

static int
pooled_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((pooled *)op)->pool);
    return pcu_resource_traverse(op, visit, arg);
}

/* References to the pool and the context are dropped last: the block returns to them.
 */
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
             "Return the block to the pool now. LogicError the second time.");

static PyObject *
pooled_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pooled *self = (pooled *)op;
    if (self->block == NULL) {
        pcu_resource_check_slow(&self->head,
                                pcu_handle_release_routine(self->head.kind));
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

PyDoc_STRVAR(pooled_long_doc,
             "__long__($self, /)\n--\n\nReturn the address, as int() does.");

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
             "Device memory of a pool. It returns to the pool when the object is\n"
             "deleted.\n\n"
             "int() gives the address, also after free(); len() gives the requested\n"
             "bytes.");
PyDoc_STRVAR(pooled_host_doc,
             "Page-locked memory of a pool: the base of the arrays that it makes.\n\n"
             "len() gives the requested bytes.");

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

/* -- both kinds of pools ---------------------------------------------------------- */

int
pcu_pool_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((pcu_memory_pool *)op)->ctx);
    Py_VISIT(((pcu_memory_pool *)op)->dict);
    return 0;
}

int
pcu_pool_clear(PyObject *op)
{
    Py_CLEAR(((pcu_memory_pool *)op)->dict);
    return 0;
}

void
pcu_pool_dealloc(PyObject *op)
{
    pcu_memory_pool *self = (pcu_memory_pool *)op;
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    pcu_pool_free_held_noraise(self);
    pcu_pool_clear(op);
    Py_CLEAR(self->ctx);
    type->tp_free(op);
    Py_DECREF(type);
}

pcu_memory_pool *
pcu_pool_blank_new(PyTypeObject *type, pcu_handle_kind kind)
{
    pcu_state *st = pcu_state_of_type(type);
    pcu_memory_pool *self = NULL;
    if (st != NULL) {
        self = (pcu_memory_pool *)type->tp_alloc(type, 0);
    }
    if (self != NULL) {
        self->st = st;
        self->kind = kind;
    }
    return self;
}

PyDoc_STRVAR(pool_free_held_doc,
             "free_held($self, /)\n--\n\n"
             "Release all blocks that are not in use to the driver.");

static PyObject *
pool_free_held(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_pool_free_held_noraise((pcu_memory_pool *)op);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(pool_stop_holding_doc,
             "stop_holding($self, /)\n--\n\n"
             "Call free_held(), and release every block that is returned later.");

static PyObject *
pool_stop_holding(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    ((pcu_memory_pool *)op)->bins.stopped = 1;
    pcu_pool_free_held_noraise((pcu_memory_pool *)op);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(pool_bin_number_doc,
             "bin_number($self, size, /)\n--\n\n"
             "Return the number of the bin that serves size bytes.");

static PyObject *
pool_bin_number(PyObject *op, PyObject *value)
{
    size_t size = 0;
    if (pcu_as_size(((pcu_memory_pool *)op)->st, value, &size, "size") < 0) {
        return NULL;
    }
    return PyLong_FromLong(pcu_bins_number(size));
}

PyDoc_STRVAR(
    pool_alloc_size_doc,
    "alloc_size($self, bin, /)\n--\n\n"
    "Return the size of the blocks of a bin: the largest size that it serves.");

static PyObject *
pool_alloc_size(PyObject *Py_UNUSED(op), PyObject *value)
{
    unsigned long long bin = 0;
    if (pcu_as_integer(value, 0, PCU_BINS_COUNT - 1, &bin, "bin") < 0) {
        return NULL;
    }
    return PyLong_FromSize_t(pcu_bins_size((int)bin));
}

PyMethodDef pcu_pool_methods[] = {
    {"free_held", pool_free_held, METH_NOARGS, pool_free_held_doc},
    {"stop_holding", pool_stop_holding, METH_NOARGS, pool_stop_holding_doc},
    {"bin_number", pool_bin_number, METH_O, pool_bin_number_doc},
    {"alloc_size", pool_alloc_size, METH_O, pool_alloc_size_doc},
    {NULL, NULL, 0, NULL},
};

/* The closure is the counter's offset in pcu_bins. Blocks of a context that has ended
 * do not count as held. */
static PyObject *
pool_get_counter(PyObject *op, void *closure)
{
    pcu_memory_pool *self = (pcu_memory_pool *)op;
    if (self->bins.held_blocks != 0 && !pool_is_usable(self)) {
        pcu_pool_free_held_noraise(self);
    }
    return PyLong_FromSize_t(
        *(const size_t *)((const char *)&self->bins + (uintptr_t)closure));
}

#define POOL_COUNTER(name, doc)                         \
    {                                                   \
#        name, pool_get_counter, NULL, doc,             \
            (void *)(uintptr_t)offsetof(pcu_bins, name) \
    }

PyGetSetDef pcu_pool_getset[] = {
    POOL_COUNTER(held_blocks, "The number of blocks that are not in use."),
    POOL_COUNTER(active_blocks, "The number of blocks in use."),
    POOL_COUNTER(managed_bytes, "The bytes of all blocks, held and in use."),
    POOL_COUNTER(active_bytes, "The requested bytes of the blocks in use."),
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyMemberDef pcu_pool_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_memory_pool, dict), Py_READONLY,
     NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_memory_pool, weakrefs),
     Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

enum { POOL_FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE };

/* -- DeviceMemoryPool -------------------------------------------------------------- */

/* The context is taken in __new__, so that a derived class need not call __init__. */
static PyObject *
devicepool_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
               PyObject *Py_UNUSED(kwargs))
{
    pcu_memory_pool *self = pcu_pool_blank_new(type, PCU_HANDLE_memory);
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
    return pcu_args_parse_tuple(((pcu_memory_pool *)op)->st, &table, args, kwargs,
                                NULL);
}

PyDoc_STRVAR(
    devicepool_allocate_doc,
    "allocate($self, size, /)\n--\n\n"
    "Allocate size bytes of device memory: a PooledDeviceAllocation.\n\n"
    "The memory is a held block or a new block of the bin's size in the pool's\n"
    "context. MemoryError, with the sizes, if memory is short after garbage\n"
    "was collected and all held blocks were released.");

static PyObject *
devicepool_allocate(PyObject *op, PyObject *value)
{
    size_t size = 0;
    if (pcu_as_size(((pcu_memory_pool *)op)->st, value, &size, "size") < 0) {
        return NULL;
    }
    return pcu_pool_alloc(op, size);
}

static PyMethodDef devicepool_methods[] = {
    {"allocate", devicepool_allocate, METH_O, devicepool_allocate_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    devicepool_doc,
    "DeviceMemoryPool()\n--\n\n"
    "A pool that keeps freed device memory of the current context for reuse.\n\n"
    "A returned block may be handed out again immediately, although streams may\n"
    "still use it: the program must order work in other streams.");

static PyType_Slot devicepool_slots[] = {
    {Py_tp_doc, (void *)devicepool_doc}, {Py_tp_new, devicepool_new},
    {Py_tp_init, devicepool_init},       {Py_tp_traverse, pcu_pool_traverse},
    {Py_tp_clear, pcu_pool_clear},       {Py_tp_dealloc, pcu_pool_dealloc},
    {Py_tp_members, pcu_pool_members},   {Py_tp_getset, pcu_pool_getset},
    {Py_tp_methods, devicepool_methods}, {0, NULL},
};

static PyType_Spec devicepool_spec = {"pycuda._driver.DeviceMemoryPool",
                                      sizeof(pcu_memory_pool), 0, POOL_FLAGS,
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

int
pcu_allocator_is_ours(pcu_state *st, PyObject *allocator)
{
    return allocator == NULL || allocator == st->mem_alloc ||
           Py_IS_TYPE(allocator, st->DeviceMemoryPool) ||
           (PyCFunction_CheckExact(allocator) &&
            PyCFunction_GET_FUNCTION(allocator) == devicepool_allocate);
}

PyObject *
pcu_pool_of_graph_new(pcu_state *st, PyObject *ctx)
{
    pcu_memory_pool *self = pcu_pool_blank_new(st->DeviceMemoryPool, PCU_HANDLE_memory);
    if (self != NULL) {
        self->ctx = Py_NewRef(ctx);
        self->of_graph = 1;
    }
    return (PyObject *)self;
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

PyDoc_STRVAR(pool_bitlog2_doc,
             "bitlog2($module, value, /)\n--\n\n"
             "Return the floor of the base-2 logarithm of an unsigned integer, and 0\n"
             "for 0.");

static PyObject *
pool_bitlog2(PyObject *m, PyObject *value)
{
    size_t bits = 0;
    if (pcu_as_size(pcu_state_of_module(m), value, &bits, "value") < 0) {
        return NULL;
    }
    return PyLong_FromLong(pcu_bitlog2(bits));
}

static PyMethodDef pool_functions[] = {
    {"bitlog2", pool_bitlog2, METH_O, pool_bitlog2_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_pool_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->PooledDeviceAllocation, &pooled_device_spec, NULL) < 0 ||
        pcu_add_type(m, &st->PooledHostAllocation, &pooled_host_spec, NULL) < 0 ||
        pcu_add_type(m, &st->DeviceMemoryPool, &devicepool_spec, NULL) < 0 ||
        pcu_add_methods(st->DeviceMemoryPool, pcu_pool_methods) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, pool_functions);
}
