/* MemoryPool: a pool of the driver, whose memory is allocated and freed in the order of
 * streams. Attributes and rights of access are in stream_pool_attributes.c, exchange
 * with other processes in stream_pool_sharing.c.
 *
 * The object is a pool as DeviceMemoryPool is, with blocks from
 * cuMemAllocFromPoolAsync. It holds a few freed blocks, so that a program which frees
 * and allocates the same size in a loop makes no driver calls. All other blocks return
 * to the driver at once, in the order of the stream that used them.
 *
 * Invariant: see pool.h. Callers: Python, and the other files of MemoryPool. */
#include "python/driver/memory/pool.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

/* The bytes that a pool holds by default. */
enum { STREAM_POOL_HOLDS = 32 << 20 };

pcu_stream_pool *
pcu_stream_pool_new(PyTypeObject *type)
{
    pcu_stream_pool *self = (pcu_stream_pool *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->base.st = pcu_state_of_type(type);
    self->base.kind = PCU_HANDLE_memory;
    self->base.hold_limit = STREAM_POOL_HOLDS;
    pcu_stream_followers++;
    self->base.ctx = pcu_context_require(self->base.st, "MemoryPool");
    if (self->base.ctx == NULL) {
        Py_CLEAR(self);
    }
    return self;
}

static PyObject *
stream_pool_blank_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
                      PyObject *Py_UNUSED(kwargs))
{
    return (PyObject *)pcu_stream_pool_new(type);
}

void
pcu_stream_pool_adopt(pcu_stream_pool *self, CUmemoryPool handle, CUdevice device)
{
    pcu_handle_created(PCU_HANDLE_pool);
    self->base.source = handle;
    self->device = device;
    self->owned = true;
}

int
pcu_stream_pool_check(pcu_stream_pool *self, const char *routine)
{
    if (self->base.source != NULL) {
        return 0;
    }
    return pcu_raise_detail(self->base.st, routine, CUDA_ERROR_INVALID_HANDLE,
                            "the __init__ of this %s was not called",
                            Py_TYPE(self)->tp_name);
}

typedef struct {
    CUdevice device;
    size_t max_size;
    bool ipc;
} stream_pool_args;

static const pcu_word stream_pool_words[] = {
    PCU_WORD("device", pcu_as_device, stream_pool_args, device),
    PCU_WORD("max_size", pcu_as_size, stream_pool_args, max_size),
    PCU_WORD("ipc", pcu_as_bool, stream_pool_args, ipc),
};

PCU_SIGNATURE(stream_pool, stream_pool_words,
              "MemoryPool(device=None, max_size=0, ipc=False)\n--\n\n"
              "Hold a pool of the driver, whose memory follows the order of streams.\n"
              "\n"
              "Give the pool to arrays as their allocator, or call ``allocate()``.\n"
              "\nParameters\n----------\n" PCU_DOC_DEVICE_OF_MEMORY
              "max_size : int, optional\n"
              "    Bytes that the pool may have. The default 0 is the driver's\n"
              "    choice.\n"
              "ipc : bool, optional\n"
              "    If true, other processes can open the pool.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If no context is current, or if the driver refuses the pool.\n"
              "\nSee Also\n--------\n"
              "DeviceMemoryPool : A pool of this package.\n"
              "mem_alloc_async : Allocate from the current pool.\n"
              "\nNotes\n-----\n"
              "An allocation belongs to the current stream. Freed memory is used\n"
              "again behind its last use. The object holds freed blocks of up to 32\n"
              "MiB, see ``hold_limit``.\n"
              "\nExamples\n--------\n"
              ">>> pool = drv.MemoryPool()\n"
              ">>> a = gpuarray.zeros(1000, np.float32, allocator=pool.allocate)\n"
              ">>> pool.active_bytes\n"
              "4000")

static int
stream_pool_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_stream_pool *self = (pcu_stream_pool *)op;
    pcu_state *st = self->base.st;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    stream_pool_args a = {.device = -1};
    CUmemoryPool handle = NULL;
    int rc = pcu_args_parse_tuple(st, &stream_pool_signature, args, kwargs, &a);
    if (rc == 0 && self->base.source != NULL) {
        rc = pcu_raise_detail(st, "cuMemPoolCreate", CUDA_ERROR_INVALID_VALUE,
                              "__init__ of this %s was called before; make a new one",
                              Py_TYPE(op)->tp_name);
    }
    if (rc == 0 && a.device == -1) {
        rc = pcu_as_device(st, Py_None, &a.device, "device");
    }
    if (rc < 0) {
        return -1;
    }
    props.location.id = a.device;
    props.maxSize = a.max_size;
    if (a.ipc) {
        props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    }
    PCU_CALL_CURRENT(rc, st, MemPoolCreate, (&handle, &props));
    if (rc == 0) {
        pcu_stream_pool_adopt(self, handle, a.device);
    }
    return rc;
}

static void
stream_pool_dealloc(PyObject *op)
{
    pcu_stream_pool *self = (pcu_stream_pool *)op;
    pcu_handle handle = {.pool = self->base.source};
    if (self->owned) {
        PyObject_GC_UnTrack(op);
        pcu_pool_free_held_noraise(&self->base);
        pcu_release_noraise(self->base.st, PCU_HANDLE_pool, handle, self->base.ctx);
        PyObject_GC_Track(op); /* pcu_pool_dealloc untracks it */
    }
    pcu_pool_dealloc(op);
}

/* -- the pools of a device --------------------------------------------------------- */

typedef CUresult (*stream_pool_getter)(CUmemoryPool *pool, CUdevice device);

PCU_SIGNATURE_OF_ONE(stream_pool_get_current, "device", pcu_as_device,
                     "get_current($type, /, device=None)\n--\n\n"
                     "Return the pool from which ``mem_alloc_async`` allocates.\n"
                     "\nParameters\n----------\n" PCU_DOC_DEVICE_OF_MEMORY
                     "\nReturns\n-------\n"
                     "MemoryPool\n"
                     "    The pool.\n"
                     "\nSee Also\n--------\n"
                     "MemoryPool.make_current : Set the pool.\n"
                     "\nExamples\n--------\n"
                     ">>> pool = drv.MemoryPool.get_current()\n"
                     ">>> 0 <= pool.used_bytes <= pool.reserved_bytes\n"
                     "True")

static PyObject *
stream_pool_of_device(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames, const char *routine, bool current)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    CUdevice device = -1;
    CUmemoryPool handle = NULL;
    CUresult status;
    if (st == NULL ||
        pcu_args_parse(st, &stream_pool_get_current_signature, args, nargs, kwnames,
                       PCU_ONLY(stream_pool_get_current, &device)) < 0 ||
        (device == -1 && pcu_as_device(st, Py_None, &device, "device") < 0)) {
        return NULL;
    }
    if (current) {
        status = drv.DeviceGetMemPool(&handle, device);
    }
    else {
        status = drv.DeviceGetDefaultMemPool(&handle, device);
    }
    if (status != CUDA_SUCCESS) {
        pcu_raise(st, routine, status);
        return NULL;
    }
    pcu_stream_pool *self = pcu_stream_pool_new((PyTypeObject *)type);
    if (self != NULL) {
        self->base.source = handle;
        self->device = device;
    }
    return (PyObject *)self;
}

static PyObject *
stream_pool_get_current(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames)
{
    return stream_pool_of_device(type, args, nargs, kwnames, "cuDeviceGetMemPool",
                                 true);
}

PyDoc_STRVAR(stream_pool_get_default_doc,
             "get_default($type, /, device=None)\n--\n\n"
             "Return the pool that the device has from the beginning.\n"
             "\nParameters\n----------\n" PCU_DOC_DEVICE_OF_MEMORY
             "\nReturns\n-------\n"
             "MemoryPool\n"
             "    The pool.\n"
             "\nSee Also\n--------\n"
             "MemoryPool.get_current : Return the pool in use.");

static PyObject *
stream_pool_get_default(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames)
{
    return stream_pool_of_device(type, args, nargs, kwnames,
                                 "cuDeviceGetDefaultMemPool", false);
}

PyDoc_STRVAR(stream_pool_make_current_doc,
             "make_current($self, /)\n--\n\n"
             "Let ``mem_alloc_async`` of this process allocate from this pool.\n"
             "\nSee Also\n--------\n"
             "MemoryPool.get_current : Return the pool in use.\n"
             "\nNotes\n-----\n"
             "Keep the object. When it is deleted, the device uses its default pool\n"
             "again.");

static PyObject *
stream_pool_make_current(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_stream_pool *self = (pcu_stream_pool *)op;
    int rc = pcu_stream_pool_check(self, "cuDeviceSetMemPool");
    if (rc == 0) {
        PCU_CALL(rc, self->base.st, DeviceSetMemPool,
                 (self->device, self->base.source));
    }
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- trimming and holding ---------------------------------------------------------- */

PCU_SIGNATURE_OF_ONE(stream_pool_trim, "min_bytes", pcu_as_size,
                     "trim($self, /, min_bytes=0)\n--\n\n"
                     "Release the held blocks and unused memory of the driver's pool.\n"
                     "\nParameters\n----------\n"
                     "min_bytes : int, optional\n"
                     "    Bytes that the driver's pool may keep.\n"
                     "\nSee Also\n--------\n"
                     "MemoryPool.free_held : Release the held blocks only.\n"
                     "\nNotes\n-----\n"
                     "Memory that streams still use stays.")

static PyObject *
stream_pool_trim(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_stream_pool *self = (pcu_stream_pool *)op;
    size_t bytes = 0;
    int rc = pcu_args_parse(self->base.st, &stream_pool_trim_signature, args, nargs,
                            kwnames, PCU_ONLY(stream_pool_trim, &bytes));
    if (rc == 0) {
        rc = pcu_stream_pool_check(self, "cuMemPoolTrimTo");
    }
    if (rc == 0) {
        pcu_pool_free_held_noraise(&self->base);
        PCU_CALL(rc, self->base.st, MemPoolTrimTo, (self->base.source, bytes));
    }
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
stream_pool_get_hold_limit(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromSize_t(((pcu_stream_pool *)op)->base.hold_limit);
}

static int
stream_pool_set_hold_limit(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    pcu_stream_pool *self = (pcu_stream_pool *)op;
    size_t limit = 0;
    if (value == NULL) {
        PyErr_SetString(PyExc_AttributeError, "this attribute cannot be deleted");
        return -1;
    }
    if (pcu_as_size(self->base.st, value, &limit, "hold_limit") < 0) {
        return -1;
    }
    self->base.hold_limit = limit;
    if (self->base.bins.held_bytes > limit) {
        pcu_pool_free_held_noraise(&self->base);
    }
    return 0;
}

static PyObject *
stream_pool_get_device(PyObject *op, void *Py_UNUSED(closure))
{
    return pcu_device_new(((pcu_stream_pool *)op)->base.st,
                          ((pcu_stream_pool *)op)->device);
}

static PyObject *
stream_pool_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((pcu_stream_pool *)op)->base.source);
}

PyDoc_STRVAR(stream_pool_allocate_doc,
             "allocate($self, size, /)\n--\n\n"
             "Allocate device memory for the current stream.\n" PCU_DOC_POOL_ALLOCATE
             "\nSee Also\n--------\n"
             "mem_alloc_async : Allocate from the current pool.\n"
             "\nNotes\n-----\n"
             "A held block is used again; if there is none, the memory comes from\n"
             "the driver's pool. Work of another stream must wait for the current\n"
             "stream before it uses the memory.\n"
             "\nExamples\n--------\n"
             ">>> pool = drv.MemoryPool()\n"
             ">>> len(pool.allocate(100))\n"
             "100");

/* -- the type ---------------------------------------------------------------------- */

static PyGetSetDef stream_pool_getset[] = {
    {"hold_limit", stream_pool_get_hold_limit, stream_pool_set_hold_limit,
     "The bytes of freed blocks that this object holds at most.", NULL},
    {"device", stream_pool_get_device, NULL, "The Device that has the memory.", NULL},
    {"handle", stream_pool_get_handle, NULL, "The CUmemoryPool as an int.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef stream_pool_methods[] = {
    {"allocate", pcu_pool_allocate, METH_O, stream_pool_allocate_doc},
    STREAM_POOL_METHOD(get_current, METH_CLASS | METH_FASTCALL | METH_KEYWORDS),
    STREAM_POOL_METHOD(get_default, METH_CLASS | METH_FASTCALL | METH_KEYWORDS),
    STREAM_POOL_METHOD(make_current, METH_NOARGS),
    STREAM_POOL_METHOD(trim, METH_FASTCALL | METH_KEYWORDS),
    {NULL, NULL, 0, NULL},
};

static PyType_Slot stream_pool_slots[] = {
    {Py_tp_doc, (void *)stream_pool_doc}, {Py_tp_new, stream_pool_blank_new},
    {Py_tp_init, stream_pool_init},       {Py_tp_traverse, pcu_pool_traverse},
    {Py_tp_clear, pcu_pool_clear},        {Py_tp_dealloc, stream_pool_dealloc},
    {Py_tp_members, pcu_pool_members},    {Py_tp_getset, pcu_pool_getset},
    {Py_tp_methods, stream_pool_methods}, {0, NULL},
};

static PyType_Spec stream_pool_spec = {
    "pycuda._driver.MemoryPool", sizeof(pcu_stream_pool), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, stream_pool_slots};

int
pcu_stream_pool_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->MemoryPool, &stream_pool_spec, NULL) < 0 ||
        pcu_add_methods(st->MemoryPool, pcu_pool_methods) < 0) {
        return -1;
    }
    return pcu_add_getset(st->MemoryPool, stream_pool_getset);
}
