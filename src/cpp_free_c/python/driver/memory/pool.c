/* DeviceMemoryPool, the part that all kinds of memory pools share, and the allocations
 * that they give out. The blocks are in pool_block.c; page_locked_pool.c has the pool
 * of host memory, stream_pool.c the one of stream-ordered memory.
 *
 * An allocation is the Python object that owns a block until it is freed or deleted.
 * The block then returns to the pool, or to the driver if the pool has stopped holding
 * blocks or the context has ended. An allocation holds a reference to its pool, so a
 * pool lives until its last block has returned.
 *
 * Invariant: a device pool belongs to the context in which it was made. The interpreter
 * lock protects all fields. Collecting garbage and warnings may run Python code that
 * uses the pool, so all fields are read again afterwards. Callers: see pool.h. */
#include "python/driver/memory/pool.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/settings.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

/* PooledDeviceAllocation and PooledHostAllocation. head.live is 1 while block is not
 * NULL; head.handle stays readable afterwards; head.size is the requested size. */
typedef struct {
    pcu_resource head;
    pcu_memory_pool *pool; /* strong */
    pcu_pool_block *block;
} pooled;

/* -- allocations ------------------------------------------------------------------- */

static void
pooled_give_back_noraise(pooled *self)
{
    pcu_pool_block *block = self->block;
    pcu_memory_pool *pool = self->pool;
    self->block = NULL;
    self->head.live = false;
    if (pcu_pool_is_plain(pool) && !pool->bins.stopped && self->head.ctx == pool->ctx &&
        pcu_pool_is_usable(pool)) {
        pcu_pool_hold(pool, block, self->head.size);
        return;
    }
    pcu_pool_return_noraise(pool, block, self->head.ctx, self->head.size);
}

/* Take a held block if that is simple, else ask pool_block.c. */
static inline pcu_pool_block *
pooled_obtain(pcu_memory_pool *pool, size_t size)
{
    pcu_bins_block *block = NULL;
    if (pcu_pool_is_plain(pool) && pcu_pool_is_usable(pool)) {
        block = pcu_bins_take(&pool->bins, pcu_bins_number(size), size);
    }
    if (block != NULL) {
        return (pcu_pool_block *)block;
    }
    return pcu_pool_obtain(pool, size);
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
    pcu_pool_block *block = pooled_obtain(pool, size);
    if (block == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    if (pcu_drv_info.device != NULL && pool->kind == PCU_HANDLE_memory) {
        pcu_drv_info.device->lend(block->handle.memory, size == 0 ? 1 : size);
    }
    pcu_memory_block_taken(block->note, size, pcu_memory_site(pool->st));
    self->block = block;
    self->head.ctx = Py_NewRef(pool->ctx);
    self->head.handle = block->handle;
    self->head.live = true;
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

PCU_SIGNATURE_OF_ONE(
    pooled_free, "stream", pcu_as_stream,
    "free($self, /, stream=None)\n--\n\n"
    "Return the block to the pool now.\n"
    "\nParameters\n----------\n"
    "stream : Stream or None, optional\n"
    "    Stream whose work uses the memory although this package did not\n"
    "    enqueue that work.\n"
    "\nRaises\n------\n" PCU_DOC_RELEASED
    "\nSee Also\n--------\n"
    "DeviceMemoryPool.free_held : Return held memory to the driver.\n"
    "\nNotes\n-----\n"
    "The call does not wait. The pool gives the block out again when the\n"
    "present work of streams can no longer use it.")

static PyObject *
pooled_free(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pooled *self = (pooled *)op;
    CUstream stream = NULL;
    if ((nargs != 0 || kwnames != NULL) &&
        pcu_args_parse(self->head.st, &pooled_free_signature, args, nargs, kwnames,
                       PCU_ONLY(pooled_free, &stream)) < 0) {
        return NULL;
    }
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
    PCU_METHOD("free", pooled_free),
    {"__long__", pooled_long, METH_NOARGS, pooled_long_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(pooled_free_host_doc,
             "free($self, /)\n--\n\n"
             "Return the block to the pool now.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED
             "\nNotes\n-----\n"
             "The pool may use the block again at once: wait for copies before.");

static PyObject *
pooled_free_host(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return pooled_free(op, NULL, 0, NULL);
}

static PyMethodDef pooled_host_methods[] = {
    {"free", pooled_free_host, METH_NOARGS, pooled_free_host_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef pooled_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(pooled_device_doc,
             "Device memory of a pool, which returns to the pool with the object.\n"
             "\n"
             "A pool's ``allocate()`` makes it. ``int()`` gives the address, also\n"
             "after ``free()``; ``len()`` gives the requested bytes.\n"
             "\nSee Also\n--------\n"
             "DeviceMemoryPool : A pool.\n"
             "MemoryPool : A pool of the driver.\n"
             "DeviceAllocation : Memory without a pool.");
PyDoc_STRVAR(pooled_host_doc,
             "Page-locked (pinned) memory of a pool.\n"
             "\n"
             "It is the base of the arrays that the pool makes. ``len()`` gives the\n"
             "requested bytes.\n"
             "\nSee Also\n--------\n"
             "PageLockedMemoryPool : The pool.");

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
    pcu_pool_unfollow(self);
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
        pcu_stream_followers += kind == PCU_HANDLE_memory;
    }
    return self;
}

PyDoc_STRVAR(pool_free_held_doc,
             "free_held($self, /)\n--\n\n"
             "Release all blocks that are not in use to the driver.\n"
             "\nNotes\n-----\n"
             "Blocks in use stay in the pool.\n"
             "\nExamples\n--------\n"
             ">>> pool = drv.DeviceMemoryPool()\n"
             ">>> pool.allocate(100).free()\n"
             ">>> pool.held_blocks\n"
             "1\n"
             ">>> pool.free_held()\n"
             ">>> pool.held_blocks\n"
             "0");

static PyObject *
pool_free_held(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_pool_free_held_noraise((pcu_memory_pool *)op);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(pool_stop_holding_doc,
             "stop_holding($self, /)\n--\n\n"
             "Release the held blocks, and every block that is returned later.\n"
             "\nNotes\n-----\n"
             "Allocation goes on, without reuse.");

static PyObject *
pool_stop_holding(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    ((pcu_memory_pool *)op)->bins.stopped = true;
    pcu_pool_free_held_noraise((pcu_memory_pool *)op);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(pool_bin_number_doc,
             "bin_number($self, size, /)\n--\n\n"
             "Return the number of the bin that serves a size.\n"
             "\nParameters\n----------\n"
             "size : int\n"
             "    Bytes of a request.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    Number of the bin, from 0.\n"
             "\nNotes\n-----\n"
             "The sizes of a bin differ by less than a sixteenth.\n"
             "\nExamples\n--------\n"
             ">>> pool = drv.DeviceMemoryPool()\n"
             ">>> pool.alloc_size(pool.bin_number(1000))\n"
             "1023");

static PyObject *
pool_bin_number(PyObject *op, PyObject *value)
{
    size_t size = 0;
    if (pcu_as_size(((pcu_memory_pool *)op)->st, value, &size, "size") < 0) {
        return NULL;
    }
    return PyLong_FromLong(pcu_bins_number(size));
}

PyDoc_STRVAR(pool_alloc_size_doc,
             "alloc_size($self, bin, /)\n--\n\n"
             "Return the size of the blocks of a bin.\n"
             "\nParameters\n----------\n"
             "bin : int\n"
             "    Number of the bin, from 0 to 1023.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    Bytes of a block: the largest size that the bin serves.\n"
             "\nRaises\n------\n"
             "OverflowError\n"
             "    If there is no such bin.");

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
    if (self->bins.held_blocks != 0 && !pcu_pool_is_usable(self)) {
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

PCU_SIGNATURE(devicepool, pcu_no_words,
              "DeviceMemoryPool()\n--\n\n"
              "Keep freed device memory of the current context for reuse.\n"
              "\n"
              "Give the pool to arrays as their allocator, or call ``allocate()``.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If no context is current.\n"
              "\nSee Also\n--------\n"
              "MemoryPool : Use a pool of the driver.\n"
              "PageLockedMemoryPool : Do the same for page-locked memory.\n"
              "pycuda.tools.set_default_allocator : Use the pool for all arrays.\n"
              "\nNotes\n-----\n"
              "A returned block is given out again at once to work that runs behind\n"
              "its last use, such as work in the same stream; otherwise when the\n"
              "streams that used it have finished that work.\n"
              "\nExamples\n--------\n"
              ">>> pool = drv.DeviceMemoryPool()\n"
              ">>> a = gpuarray.zeros(1000, np.float32, allocator=pool.allocate)\n"
              ">>> pool.active_bytes\n"
              "4000")

static int
devicepool_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    return pcu_args_parse_tuple(((pcu_memory_pool *)op)->st, &devicepool_signature,
                                args, kwargs, NULL);
}

PyDoc_STRVAR(devicepool_allocate_doc,
             "allocate($self, size, /)\n--\n\n"
             "Allocate device memory from the pool.\n" PCU_DOC_POOL_ALLOCATE
             "\nSee Also\n--------\n"
             "mem_alloc : Allocate without a pool.\n"
             "DeviceMemoryPool.free_held : Return held memory to the driver.\n"
             "\nNotes\n-----\n"
             "A held block of the same bin is used again. If there is none, a new\n"
             "block is allocated in the pool's context; it is less than a sixteenth\n"
             "larger than ``size``.\n"
             "\nExamples\n--------\n"
             ">>> pool = drv.DeviceMemoryPool()\n"
             ">>> memory = pool.allocate(1000)\n"
             ">>> len(memory), pool.active_blocks\n"
             "(1000, 1)\n"
             ">>> memory.free()\n"
             ">>> pool.active_blocks, pool.held_blocks\n"
             "(0, 1)");

PyObject *
pcu_pool_allocate(PyObject *op, PyObject *value)
{
    size_t size = 0;
    if (pcu_as_size(((pcu_memory_pool *)op)->st, value, &size, "size") < 0) {
        return NULL;
    }
    return pcu_pool_alloc(op, size);
}

static PyMethodDef devicepool_methods[] = {
    {"allocate", pcu_pool_allocate, METH_O, devicepool_allocate_doc},
    {NULL, NULL, 0, NULL},
};

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

static bool
pool_is_allocator(pcu_state *st, PyObject *value)
{
    return PyObject_TypeCheck(value, st->DeviceMemoryPool) ||
           PyObject_TypeCheck(value, st->MemoryPool);
}

int
pcu_as_allocator(pcu_state *st, PyObject *value, void *out, const char *name)
{
    if (value != Py_None && !PyCallable_Check(value) && !pool_is_allocator(st, value)) {
        static const char text[] =
            "%s must be None, a DeviceMemoryPool, a MemoryPool, or a function of a "
            "number of bytes such as pycuda.driver.mem_alloc, not %s";
        if (pcu_forgive(PyExc_TypeError, text, name, Py_TYPE(value)->tp_name) < 0) {
            return -1;
        }
        value = Py_None; /* in PyCUDA it fails as soon as memory is needed */
    }
    *(PyObject **)out = value;
    return 0;
}

bool
pcu_allocator_is_ours(pcu_state *st, PyObject *allocator)
{
    return allocator == NULL || allocator == st->mem_alloc ||
           Py_IS_TYPE(allocator, st->DeviceMemoryPool) ||
           Py_IS_TYPE(allocator, st->MemoryPool) ||
           (PyCFunction_CheckExact(allocator) &&
            PyCFunction_GET_FUNCTION(allocator) == pcu_pool_allocate);
}

PyObject *
pcu_pool_of_graph_new(pcu_state *st, PyObject *ctx)
{
    pcu_memory_pool *self = pcu_pool_blank_new(st->DeviceMemoryPool, PCU_HANDLE_memory);
    if (self != NULL) {
        self->ctx = Py_NewRef(ctx);
        self->of_graph = true;
        pcu_stream_followers--; /* the order of the graph is that of its memory */
    }
    return (PyObject *)self;
}

PyObject *
pcu_allocate(pcu_state *st, PyObject *allocator, size_t size)
{
    if (PyCFunction_CheckExact(allocator) &&
        PyCFunction_GET_FUNCTION(allocator) == pcu_pool_allocate) {
        return pcu_pool_alloc(PyCFunction_GET_SELF(allocator), size);
    }
    if (Py_IS_TYPE(allocator, st->DeviceMemoryPool) ||
        Py_IS_TYPE(allocator, st->MemoryPool)) {
        return pcu_pool_alloc(allocator, size);
    }
    PyObject *bytes = PyLong_FromSize_t(size);
    PyObject *result = NULL;
    if (bytes != NULL) {
        result = pool_is_allocator(st, allocator)
                     ? PyObject_CallMethodOneArg(allocator, st->str_allocate, bytes)
                     : PyObject_CallOneArg(allocator, bytes);
        Py_DECREF(bytes);
    }
    return result;
}

PyDoc_STRVAR(pool_bitlog2_doc,
             "bitlog2($module, value, /)\n--\n\n"
             "Return the floor of the base-2 logarithm of an unsigned integer.\n"
             "\nParameters\n----------\n"
             "value : int\n"
             "    A number from 0 to 2**64 - 1.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    The logarithm, and 0 for 0.\n"
             "\nExamples\n--------\n"
             ">>> drv.bitlog2(1000)\n"
             "9");

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
