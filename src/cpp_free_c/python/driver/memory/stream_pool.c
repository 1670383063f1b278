/* MemoryPool: a pool of the driver, whose memory is allocated and freed in the order of
 * streams.
 *
 * The object is a pool as DeviceMemoryPool is, with blocks from
 * cuMemAllocFromPoolAsync. It holds a few freed blocks, so that a program which frees
 * and allocates the same size in a loop makes no driver calls. All other blocks return
 * to the driver at once, in the order of the stream that used them.
 *
 * Invariant: a pool that this object made is destroyed after its last allocation was
 * freed, since allocations hold the pool. Pools of the device are never destroyed.
 * Callers: Python. */
#include "python/driver/memory/pool_struct.h"

#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/device.h"
#include "python/driver/memory/location.h"
#include "python/driver/memory/pointer.h"
#include "python/driver/memory/stream_allocation.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

/* The bytes that a pool holds by default. */
enum { STREAM_POOL_HOLDS = 32 << 20 };

typedef struct {
    pcu_memory_pool base;
    CUdevice device; /* that has the memory */
    int owned;       /* this object destroys the pool */
} stream_pool;

static stream_pool *
stream_pool_new(PyTypeObject *type)
{
    stream_pool *self = (stream_pool *)PyType_GenericAlloc(type, 0);
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
    return (PyObject *)stream_pool_new(type);
}

static void
stream_pool_adopt(stream_pool *self, CUmemoryPool handle, CUdevice device)
{
    pcu_handle_created(PCU_HANDLE_pool);
    self->base.source = handle;
    self->device = device;
    self->owned = 1;
}

/* Raise unless __init__ has made the pool. */
static int
stream_pool_check(stream_pool *self, const char *routine)
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
    int ipc;
} stream_pool_args;

static int
stream_pool_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {
        {"device", pcu_as_device, offsetof(stream_pool_args, device)},
        {"max_size", pcu_as_size, offsetof(stream_pool_args, max_size)},
        {"ipc", pcu_as_bool, offsetof(stream_pool_args, ipc)},
    };
    static const pcu_argtable table = {"MemoryPool", specs, 3, 0, 0};
    stream_pool *self = (stream_pool *)op;
    pcu_state *st = self->base.st;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    stream_pool_args a = {.device = -1};
    CUmemoryPool handle = NULL;
    int rc = pcu_args_parse_tuple(st, &table, args, kwargs, &a);
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
        stream_pool_adopt(self, handle, a.device);
    }
    return rc;
}

/* The driver's pool belongs to the device, so it is destroyed even if the context of
 * this object has ended. */
static void
stream_pool_dealloc(PyObject *op)
{
    stream_pool *self = (stream_pool *)op;
    pcu_handle handle = {.pool = self->base.source};
    if (self->owned) {
        PyObject_GC_UnTrack(op);
        pcu_pool_free_held_noraise(&self->base);
        if (pcu_pool_is_usable(&self->base)) {
            pcu_release_noraise(self->base.st, PCU_HANDLE_pool, handle, self->base.ctx);
        }
        else {
            CUresult status;
            PCU_STATUS(status, MemPoolDestroy, (handle.pool));
            (void)status; /* the driver may be shutting down */
            pcu_handle_abandon(PCU_HANDLE_pool);
        }
        PyObject_GC_Track(op); /* pcu_pool_dealloc untracks it */
    }
    pcu_pool_dealloc(op);
}

/* -- the pools of a device --------------------------------------------------------- */

typedef CUresult (*stream_pool_getter)(CUmemoryPool *pool, CUdevice device);

static PyObject *
stream_pool_of_device(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames, const char *routine, int current)
{
    static const pcu_argspec specs[] = {{"device", pcu_as_device, 0}};
    static const pcu_argtable table = {"get_current", specs, 1, 0, 0};
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    CUdevice device = -1;
    CUmemoryPool handle = NULL;
    CUresult status;
    if (st == NULL || pcu_args_parse(st, &table, args, nargs, kwnames, &device) < 0 ||
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
    stream_pool *self = stream_pool_new((PyTypeObject *)type);
    if (self != NULL) {
        self->base.source = handle;
        self->device = device;
    }
    return (PyObject *)self;
}

PyDoc_STRVAR(
    stream_pool_get_current_doc,
    "get_current($type, /, device=None)\n--\n\n"
    "Return the pool from which mem_alloc_async allocates. cuDeviceGetMemPool.");

static PyObject *
stream_pool_get_current(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames)
{
    return stream_pool_of_device(type, args, nargs, kwnames, "cuDeviceGetMemPool", 1);
}

PyDoc_STRVAR(stream_pool_get_default_doc,
             "get_default($type, /, device=None)\n--\n\n"
             "Return the pool that the device has from the beginning.\n\n"
             "cuDeviceGetDefaultMemPool.");

static PyObject *
stream_pool_get_default(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames)
{
    return stream_pool_of_device(type, args, nargs, kwnames,
                                 "cuDeviceGetDefaultMemPool", 0);
}

PyDoc_STRVAR(stream_pool_make_current_doc,
             "make_current($self, /)\n--\n\n"
             "Let mem_alloc_async of this process allocate from this pool.\n\n"
             "Keep the object: when it is deleted, the device uses its default pool\n"
             "again. cuDeviceSetMemPool.");

static PyObject *
stream_pool_make_current(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    stream_pool *self = (stream_pool *)op;
    int rc = stream_pool_check(self, "cuDeviceSetMemPool");
    if (rc == 0) {
        PCU_CALL(rc, self->base.st, DeviceSetMemPool,
                 (self->device, self->base.source));
    }
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- trimming and attributes ------------------------------------------------------- */

PyDoc_STRVAR(
    stream_pool_trim_doc,
    "trim($self, /, min_bytes=0)\n--\n\n"
    "Release the held blocks, and memory of the driver's pool beyond min_bytes.\n\n"
    "Memory that streams still use stays. cuMemPoolTrimTo.");

static PyObject *
stream_pool_trim(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    static const pcu_argspec specs[] = {{"min_bytes", pcu_as_size, 0}};
    static const pcu_argtable table = {"trim", specs, 1, 0, 0};
    stream_pool *self = (stream_pool *)op;
    size_t bytes = 0;
    int rc = pcu_args_parse(self->base.st, &table, args, nargs, kwnames, &bytes);
    if (rc == 0) {
        rc = stream_pool_check(self, "cuMemPoolTrimTo");
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

/* 1 for attributes that are an int of the driver; the others are 64-bit numbers. */
static int
stream_pool_is_flag(unsigned int attribute)
{
    return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
           attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

static PyObject *
stream_pool_read(stream_pool *self, unsigned int attribute)
{
    uint64_t number = 0;
    int flag = 0;
    void *value = &number;
    int rc = stream_pool_check(self, "cuMemPoolGetAttribute");
    if (stream_pool_is_flag(attribute)) {
        value = &flag;
    }
    if (rc == 0) {
        PCU_CALL(rc, self->base.st, MemPoolGetAttribute,
                 (self->base.source, attribute, value));
    }
    if (rc < 0) {
        return NULL;
    }
    if (stream_pool_is_flag(attribute)) {
        return PyBool_FromLong(flag);
    }
    return PyLong_FromUnsignedLongLong(number);
}

static int
stream_pool_write(stream_pool *self, unsigned int attribute, PyObject *given)
{
    unsigned long long number = 0;
    uint64_t wide;
    int flag;
    int rc = stream_pool_check(self, "cuMemPoolSetAttribute");
    if (rc == 0) {
        rc = pcu_as_integer(given, 0, UINT64_MAX, &number, "value");
    }
    if (rc < 0) {
        return -1;
    }
    wide = number;
    flag = number != 0;
    void *value = &wide;
    if (stream_pool_is_flag(attribute)) {
        value = &flag;
    }
    PCU_CALL(rc, self->base.st, MemPoolSetAttribute,
             (self->base.source, attribute, value));
    return rc;
}

PyDoc_STRVAR(stream_pool_get_attribute_doc,
             "get_attribute($self, attribute, /)\n--\n\n"
             "Return a mem_pool_attribute: a number of bytes, or a bool.\n\n"
             "Blocks that this object holds count as used. cuMemPoolGetAttribute.");

static PyObject *
stream_pool_get_attribute(PyObject *op, PyObject *attribute)
{
    stream_pool *self = (stream_pool *)op;
    unsigned int which = 0;
    if (pcu_as_uint(self->base.st, attribute, &which, "attribute") < 0) {
        return NULL;
    }
    return stream_pool_read(self, which);
}

typedef struct {
    unsigned int attribute;
    PyObject *value;
} stream_pool_set_args;

PyDoc_STRVAR(stream_pool_set_attribute_doc,
             "set_attribute($self, attribute, value, /)\n--\n\n"
             "Set a mem_pool_attribute.\n\n"
             "The high marks can be set to 0 only. cuMemPoolSetAttribute.");

static PyObject *
stream_pool_set_attribute(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    static const pcu_argspec specs[] = {
        {"attribute", pcu_as_uint, offsetof(stream_pool_set_args, attribute)},
        {"value", pcu_as_object, offsetof(stream_pool_set_args, value)},
    };
    static const pcu_argtable table = {"set_attribute", specs, 2, 2, 2};
    stream_pool *self = (stream_pool *)op;
    stream_pool_set_args a = {0};
    if (pcu_args_parse(self->base.st, &table, args, nargs, NULL, &a) < 0 ||
        stream_pool_write(self, a.attribute, a.value) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
stream_pool_get_number(PyObject *op, void *closure)
{
    return stream_pool_read((stream_pool *)op, (unsigned int)(uintptr_t)closure);
}

static int
stream_pool_set_number(PyObject *op, PyObject *value, void *closure)
{
    if (value == NULL) {
        PyErr_SetString(PyExc_AttributeError, "this attribute cannot be deleted");
        return -1;
    }
    return stream_pool_write((stream_pool *)op, (unsigned int)(uintptr_t)closure,
                             value);
}

static PyObject *
stream_pool_get_hold_limit(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromSize_t(((stream_pool *)op)->base.hold_limit);
}

static int
stream_pool_set_hold_limit(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    stream_pool *self = (stream_pool *)op;
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
    return pcu_device_new(((stream_pool *)op)->base.st, ((stream_pool *)op)->device);
}

static PyObject *
stream_pool_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((stream_pool *)op)->base.source);
}

/* -- access by other devices ------------------------------------------------------- */

typedef struct {
    CUdevice device;
    unsigned int flags;
} stream_pool_access_args;

PyDoc_STRVAR(
    stream_pool_set_access_doc,
    "set_access($self, /, device, flags=mem_access_flags.READWRITE)\n--\n\n"
    "Let kernels of another device use the memory of this pool, or forbid that.\n\n"
    "flags: READWRITE, READ or NONE. cuMemPoolSetAccess.");

static PyObject *
stream_pool_set_access(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"device", pcu_as_device, offsetof(stream_pool_access_args, device)},
        {"flags", pcu_as_uint, offsetof(stream_pool_access_args, flags)},
    };
    static const pcu_argtable table = {"set_access", specs, 2, 1, 0};
    stream_pool *self = (stream_pool *)op;
    stream_pool_access_args a = {.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    int rc = pcu_args_parse(self->base.st, &table, args, nargs, kwnames, &a);
    if (rc == 0) {
        rc = stream_pool_check(self, "cuMemPoolSetAccess");
    }
    if (rc == 0) {
        CUmemAccessDesc wish = {{CU_MEM_LOCATION_TYPE_DEVICE, a.device}, a.flags};
        PCU_CALL(rc, self->base.st, MemPoolSetAccess, (self->base.source, &wish, 1));
    }
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(stream_pool_get_access_doc,
             "get_access($self, /, device)\n--\n\n"
             "Return the mem_access_flags of a device. cuMemPoolGetAccess.");

static PyObject *
stream_pool_get_access(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    static const pcu_argspec specs[] = {{"device", pcu_as_device, 0}};
    static const pcu_argtable table = {"get_access", specs, 1, 1, 0};
    stream_pool *self = (stream_pool *)op;
    CUmemLocation place = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemAccess_flags flags = 0;
    int rc = pcu_args_parse(self->base.st, &table, args, nargs, kwnames, &place.id);
    if (rc == 0) {
        rc = stream_pool_check(self, "cuMemPoolGetAccess");
    }
    if (rc == 0) {
        PCU_CALL(rc, self->base.st, MemPoolGetAccess,
                 (&flags, self->base.source, &place));
    }
    if (rc < 0) {
        return NULL;
    }
    return pcu_enum_member_new(self->base.st->enum_mem_access_flags, (long)flags);
}

/* -- other processes --------------------------------------------------------------- */

PyDoc_STRVAR(
    stream_pool_export_handle_doc,
    "export_handle($self, /)\n--\n\n"
    "Return a new file descriptor that names this pool to another process.\n\n"
    "The pool must have been made with ipc=True. Send the descriptor through a\n"
    "Unix socket (multiprocessing.reduction.send_handle), and close it.\n"
    "cuMemPoolExportToShareableHandle.");

static PyObject *
stream_pool_export_handle(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    stream_pool *self = (stream_pool *)op;
    int file = -1;
    int rc = stream_pool_check(self, "cuMemPoolExportToShareableHandle");
    if (rc == 0) {
        PCU_CALL(
            rc, self->base.st, MemPoolExportToShareableHandle,
            (&file, self->base.source, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    }
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromLong(file);
}

typedef struct {
    int file;
    CUdevice device;
} stream_pool_import_args;

PyDoc_STRVAR(
    stream_pool_from_handle_doc,
    "from_handle($type, /, handle, device=None)\n--\n\n"
    "Open the pool of another process by its file descriptor.\n\n"
    "The pool gives access to memory of the other process (import_pointer); it\n"
    "allocates nothing. device: the one that has the memory. The caller closes the\n"
    "descriptor. cuMemPoolImportFromShareableHandle.");

static PyObject *
stream_pool_from_handle(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"handle", pcu_as_int, offsetof(stream_pool_import_args, file)},
        {"device", pcu_as_device, offsetof(stream_pool_import_args, device)},
    };
    static const pcu_argtable table = {"from_handle", specs, 2, 1, 0};
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    stream_pool_import_args a = {.device = -1};
    CUmemoryPool handle = NULL;
    int rc;
    if (st == NULL || pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        (a.device == -1 && pcu_as_device(st, Py_None, &a.device, "device") < 0)) {
        return NULL;
    }
    stream_pool *self = stream_pool_new((PyTypeObject *)type);
    if (self == NULL) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, st, MemPoolImportFromShareableHandle,
                     (&handle, (void *)(uintptr_t)(unsigned int)a.file,
                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    if (rc == 0) {
        stream_pool_adopt(self, handle, a.device);
    }
    else {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

PyDoc_STRVAR(stream_pool_export_pointer_doc,
             "export_pointer($self, memory, /)\n--\n\n"
             "Return bytes that name an allocation of this pool to another process.\n\n"
             "Call export_handle() of the pool before. Keep the memory allocated until\n"
             "the other process has freed its own allocation. cuMemPoolExportPointer.");

static PyObject *
stream_pool_export_pointer(PyObject *op, PyObject *memory)
{
    stream_pool *self = (stream_pool *)op;
    CUmemPoolPtrExportData data;
    CUdeviceptr pointer = 0;
    int rc = stream_pool_check(self, "cuMemPoolExportPointer");
    if (rc == 0) {
        rc = pcu_as_pointer(self->base.st, memory, &pointer, "memory");
    }
    if (rc == 0) {
        PCU_CALL_CURRENT(rc, self->base.st, MemPoolExportPointer, (&data, pointer));
    }
    if (rc < 0) {
        return NULL;
    }
    return PyBytes_FromStringAndSize((const char *)&data, sizeof(data));
}

PyDoc_STRVAR(
    stream_pool_import_pointer_doc,
    "import_pointer($self, data, /)\n--\n\n"
    "Return an allocation of another process: a StreamAllocation.\n\n"
    "data: the bytes of export_pointer. The pool must come from from_handle. The\n"
    "memory is freed in the default stream. cuMemPoolImportPointer.");

static PyObject *
stream_pool_import_pointer(PyObject *op, PyObject *given)
{
    stream_pool *self = (stream_pool *)op;
    CUmemPoolPtrExportData data;
    CUdeviceptr pointer = 0;
    Py_buffer view;
    int rc = stream_pool_check(self, "cuMemPoolImportPointer");
    if (rc < 0 || PyObject_GetBuffer(given, &view, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    if (view.len != sizeof(data)) {
        PyErr_Format(PyExc_ValueError,
                     "data must be the %zu bytes of export_pointer(), not %zd bytes",
                     sizeof(data), view.len);
        rc = -1;
    }
    else {
        memcpy(&data, view.buf, sizeof(data));
    }
    PyBuffer_Release(&view);
    if (rc == 0) {
        PCU_CALL_CURRENT(rc, self->base.st, MemPoolImportPointer,
                         (&pointer, self->base.source, &data));
    }
    if (rc < 0) {
        return NULL;
    }
    return pcu_stream_allocation_new(self->base.st, self->base.ctx, pointer, 0, NULL,
                                     NULL, op);
}

PyDoc_STRVAR(
    stream_pool_allocate_doc,
    "allocate($self, size, /)\n--\n\n"
    "Allocate size bytes for the current stream: a PooledDeviceAllocation.\n\n"
    "The memory is a held block or comes from the driver's pool. Work of\n"
    "another stream must wait for the current stream first. MemoryError, with\n"
    "the sizes, if memory is short. cuMemAllocFromPoolAsync.");

/* -- the type ---------------------------------------------------------------------- */

#define STREAM_POOL_NUMBER(name, attribute, set, doc)        \
    {                                                        \
        name, stream_pool_get_number, set, doc,              \
            (void *)(uintptr_t)(CU_MEMPOOL_ATTR_##attribute) \
    }

static PyGetSetDef stream_pool_getset[] = {
    STREAM_POOL_NUMBER(
        "release_threshold", RELEASE_THRESHOLD, stream_pool_set_number,
        "The bytes that the driver keeps reserved when it synchronises."),
    STREAM_POOL_NUMBER("reserved_bytes", RESERVED_MEM_CURRENT, NULL,
                       "The bytes that the driver's pool has reserved on the device."),
    STREAM_POOL_NUMBER("used_bytes", USED_MEM_CURRENT, NULL,
                       "The bytes of the driver's pool that are in use or held."),
    {"hold_limit", stream_pool_get_hold_limit, stream_pool_set_hold_limit,
     "The bytes of freed blocks that this object holds at most.", NULL},
    {"device", stream_pool_get_device, NULL, "The Device that has the memory.", NULL},
    {"handle", stream_pool_get_handle, NULL, "The CUmemoryPool as an int.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define STREAM_POOL_METHOD(name, flags)                                \
    {                                                                  \
#        name, (PyCFunction)(void (*)(void))stream_pool_##name, flags, \
            stream_pool_##name##_doc                                   \
    }

static PyMethodDef stream_pool_methods[] = {
    {"allocate", pcu_pool_allocate, METH_O, stream_pool_allocate_doc},
    STREAM_POOL_METHOD(get_current, METH_CLASS | METH_FASTCALL | METH_KEYWORDS),
    STREAM_POOL_METHOD(get_default, METH_CLASS | METH_FASTCALL | METH_KEYWORDS),
    STREAM_POOL_METHOD(from_handle, METH_CLASS | METH_FASTCALL | METH_KEYWORDS),
    STREAM_POOL_METHOD(make_current, METH_NOARGS),
    STREAM_POOL_METHOD(trim, METH_FASTCALL | METH_KEYWORDS),
    STREAM_POOL_METHOD(get_attribute, METH_O),
    STREAM_POOL_METHOD(set_attribute, METH_FASTCALL),
    STREAM_POOL_METHOD(set_access, METH_FASTCALL | METH_KEYWORDS),
    STREAM_POOL_METHOD(get_access, METH_FASTCALL | METH_KEYWORDS),
    STREAM_POOL_METHOD(export_handle, METH_NOARGS),
    STREAM_POOL_METHOD(export_pointer, METH_O),
    STREAM_POOL_METHOD(import_pointer, METH_O),
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    stream_pool_doc,
    "MemoryPool(device=None, max_size=0, ipc=False)\n--\n\n"
    "A pool of the driver. Its memory follows the order of streams.\n\n"
    "device: a Device or its number; by default the current one. max_size: the\n"
    "bytes that the pool may have; 0 is the driver's choice. ipc: other processes\n"
    "may open the pool. Use it as the allocator of arrays. An allocation belongs to\n"
    "the current stream; freed memory is used again behind its last use.");

static PyType_Slot stream_pool_slots[] = {
    {Py_tp_doc, (void *)stream_pool_doc}, {Py_tp_new, stream_pool_blank_new},
    {Py_tp_init, stream_pool_init},       {Py_tp_traverse, pcu_pool_traverse},
    {Py_tp_clear, pcu_pool_clear},        {Py_tp_dealloc, stream_pool_dealloc},
    {Py_tp_members, pcu_pool_members},    {Py_tp_getset, pcu_pool_getset},
    {Py_tp_methods, stream_pool_methods}, {0, NULL},
};

static PyType_Spec stream_pool_spec = {
    "pycuda._driver.MemoryPool", sizeof(stream_pool), 0,
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
