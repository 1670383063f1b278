/* Virtual memory: PhysicalMemory, which is memory without an address, and
 * VirtualMemory, a range of addresses into which memory is mapped.
 *
 * Invariant: a VirtualMemory knows its mappings and keeps no reference to the memory,
 * because the driver keeps mapped memory until it is unmapped. Neither object belongs
 * to its context in the driver, so both are released after the context has ended too.
 * Callers: Python. */

#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/location.h"
#include "python/driver/memory/out_of_memory.h"
#include "python/driver/resource.h"

static CUmemAllocationProp
virtual_properties(CUdevice device, int ipc)
{
    CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    if (ipc) {
        properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    }
    return properties;
}

/* Round the size up to what the device can map. */
static int
virtual_round(pcu_state *st, CUdevice device, int recommended, size_t *size)
{
    CUmemAllocationProp properties = virtual_properties(device, 0);
    size_t step = 0;
    int rc;
    PCU_CALL(rc, st, MemGetAllocationGranularity,
             (&step, &properties, (unsigned int)recommended));
    if (rc < 0) {
        return -1;
    }
    if (*size > SIZE_MAX - step) {
        PyErr_Format(PyExc_OverflowError, "size is %zu, which is too much", *size);
        return -1;
    }
    *size = (*size + step - 1) / step * step;
    return 0;
}

typedef struct {
    CUdevice device;
    int recommended;
} granularity_args;

PyDoc_STRVAR(
    virtual_granularity_doc,
    "mem_granularity($module, /, device=None, recommended=False)\n--\n\n"
    "Return the bytes of which virtual memory of a device has a multiple.\n\n"
    "recommended: the multiple for the best speed. cuMemGetAllocationGranularity.");

static PyObject *
virtual_granularity(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"device", pcu_as_device, offsetof(granularity_args, device)},
        {"recommended", pcu_as_bool, offsetof(granularity_args, recommended)},
    };
    static const pcu_argtable table = {"mem_granularity", specs, 2, 0, 0};
    pcu_state *st = pcu_state_of_module(m);
    granularity_args a = {.device = -1};
    size_t size = 1;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        (a.device == -1 && pcu_as_device(st, Py_None, &a.device, "device") < 0) ||
        virtual_round(st, a.device, a.recommended, &size) < 0) {
        return NULL;
    }
    return PyLong_FromSize_t(size);
}

/* -- PhysicalMemory ---------------------------------------------------------------- */

typedef struct {
    size_t size;
    CUdevice device;
    int ipc;
} physical_args;

static int
physical_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {
        {"size", pcu_as_size, offsetof(physical_args, size)},
        {"device", pcu_as_device, offsetof(physical_args, device)},
        {"ipc", pcu_as_bool, offsetof(physical_args, ipc)},
    };
    static const pcu_argtable table = {"PhysicalMemory", specs, 3, 1, 0};
    pcu_resource *self = (pcu_resource *)op;
    pcu_state *st = self->st;
    physical_args a = {.device = -1};
    pcu_handle handle = {0};
    CUresult status;
    if (pcu_args_parse_tuple(st, &table, args, kwargs, &a) < 0) {
        return -1;
    }
    PyObject *ctx = pcu_context_require(st, "cuMemCreate");
    int rc = -1;
    if (ctx == NULL ||
        (a.device == -1 && pcu_as_device(st, Py_None, &a.device, "device") < 0) ||
        virtual_round(st, a.device, 0, &a.size) < 0) {
        goto done;
    }
    CUmemAllocationProp properties = virtual_properties(a.device, a.ipc);
    PCU_ALLOCATE(status, MemCreate, (&handle.physical, a.size, &properties, 0));
    if (status == CUDA_SUCCESS) {
        pcu_resource_adopt(self, ctx, PCU_HANDLE_physical, handle);
        pcu_resource_with_size(op, a.size);
        rc = 0;
    }
    else {
        pcu_out_of_memory_raise(st, "cuMemCreate", status, a.size);
    }
done:
    Py_XDECREF(ctx);
    return rc;
}

/* The memory does not end with the context. */
static void
physical_dealloc(PyObject *op)
{
    pcu_resource *self = (pcu_resource *)op;
    if (self->live && !pcu_context_record_usable(pcu_context_rec(self->ctx))) {
        CUresult status;
        self->live = 0;
        PyObject_GC_UnTrack(op);
        PCU_STATUS(status, MemRelease, (self->handle.physical));
        (void)status; /* the driver may be shutting down */
        pcu_handle_abandon(PCU_HANDLE_physical);
        PyObject_GC_Track(op); /* pcu_resource_dealloc untracks it */
    }
    pcu_resource_dealloc(op);
}

PyDoc_STRVAR(
    physical_free_doc,
    "free($self, /)\n--\n\n"
    "Release the memory as soon as it is mapped nowhere. LogicError the second\n"
    "time. cuMemRelease.");

static PyObject *
physical_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    if (pcu_resource_free((pcu_resource *)op) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    physical_export_doc,
    "export_handle($self, /)\n--\n\n"
    "Return a new file descriptor that names this memory to another process.\n\n"
    "The memory must have been made with ipc=True. Send the descriptor through a\n"
    "Unix socket, and close it. cuMemExportToShareableHandle.");

static PyObject *
physical_export(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    int file = -1;
    int rc = pcu_resource_check(self, "cuMemExportToShareableHandle");
    if (rc == 0) {
        PCU_CALL(rc, self->st, MemExportToShareableHandle,
                 (&file, self->handle.physical,
                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    }
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromLong(file);
}

typedef struct {
    int file;
    size_t size;
} physical_import_args;

PyDoc_STRVAR(
    physical_from_handle_doc,
    "from_handle($type, /, handle, size)\n--\n\n"
    "Open memory of another process by its file descriptor and size in bytes.\n\n"
    "The caller closes the descriptor. cuMemImportFromShareableHandle.");

static PyObject *
physical_from_handle(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"handle", pcu_as_int, offsetof(physical_import_args, file)},
        {"size", pcu_as_size, offsetof(physical_import_args, size)},
    };
    static const pcu_argtable table = {"from_handle", specs, 2, 2, 0};
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    physical_import_args a = {0};
    pcu_handle handle = {0};
    PyObject *result = NULL;
    int rc;
    if (st == NULL || pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    PyObject *ctx = pcu_context_require(st, "cuMemImportFromShareableHandle");
    if (ctx == NULL) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, st, MemImportFromShareableHandle,
                     (&handle.physical, (void *)(uintptr_t)(unsigned int)a.file,
                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    if (rc == 0) {
        result = pcu_resource_with_size(pcu_resource_new(st, (PyTypeObject *)type, ctx,
                                                         PCU_HANDLE_physical, handle),
                                        a.size);
    }
    Py_DECREF(ctx);
    return result;
}

static PyObject *
physical_get_size(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromSize_t(((pcu_resource *)op)->size);
}

static PyMethodDef physical_methods[] = {
    {"free", physical_free, METH_NOARGS, physical_free_doc},
    {"export_handle", physical_export, METH_NOARGS, physical_export_doc},
    {"from_handle", (PyCFunction)(void (*)(void))physical_from_handle,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, physical_from_handle_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef physical_getset[] = {
    {"size", physical_get_size, NULL, "The bytes of the memory.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    physical_doc,
    "PhysicalMemory(size, device=None, ipc=False)\n--\n\n"
    "Memory of a device that has no address until VirtualMemory.map() gives it one.\n\n"
    "size: the bytes, which are rounded up to mem_granularity(). device: a Device or\n"
    "its number; by default the current one. ipc: other processes may open it.\n"
    "cuMemCreate.");

static PyType_Slot physical_slots[] = {
    {Py_tp_doc, (void *)physical_doc},     {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, physical_init},           {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},     {Py_tp_dealloc, physical_dealloc},
    {Py_tp_members, pcu_resource_members}, {Py_tp_getset, physical_getset},
    {Py_tp_methods, physical_methods},     {0, NULL},
};

static PyType_Spec physical_spec = {
    "pycuda._driver.PhysicalMemory", sizeof(pcu_resource), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, physical_slots};

/* -- VirtualMemory ----------------------------------------------------------------- */

typedef struct {
    size_t offset;
    size_t size;
} virtual_mapping;

/* head.handle.memory is the first address, head.size the reserved bytes. */
typedef struct {
    pcu_resource head;
    virtual_mapping *mappings; /* in no order */
    size_t count;
    size_t room;
    CUdevice device; /* of the context */
} virtual_memory;

typedef struct {
    size_t size;
    size_t alignment;
} virtual_args;

static int
virtual_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {
        {"size", pcu_as_size, offsetof(virtual_args, size)},
        {"alignment", pcu_as_size, offsetof(virtual_args, alignment)},
    };
    static const pcu_argtable table = {"VirtualMemory", specs, 2, 1, 0};
    virtual_memory *self = (virtual_memory *)op;
    pcu_state *st = self->head.st;
    virtual_args a = {0};
    CUdeviceptr address = 0;
    int rc = pcu_args_parse_tuple(st, &table, args, kwargs, &a);
    if (rc == 0 && self->head.ctx != NULL) {
        rc = pcu_raise_detail(st, "cuMemAddressReserve", CUDA_ERROR_INVALID_VALUE,
                              "__init__ of this %s was called before; make a new one",
                              Py_TYPE(op)->tp_name);
    }
    if (rc < 0) {
        return -1;
    }
    PyObject *ctx = pcu_context_require(st, "cuMemAddressReserve");
    if (ctx == NULL) {
        return -1;
    }
    rc = pcu_as_device(st, Py_None, &self->device, "device");
    if (rc == 0) {
        rc = virtual_round(st, self->device, 0, &a.size);
    }
    if (rc == 0) {
        CUresult status;
        PCU_STATUS(status, MemAddressReserve, (&address, a.size, a.alignment, 0, 0));
        if (status != CUDA_SUCCESS) {
            rc = pcu_raise_detail(st, "cuMemAddressReserve", status,
                                  "%zu bytes of addresses were asked for", a.size);
        }
    }
    if (rc < 0) {
        Py_DECREF(ctx);
        return -1;
    }
    self->head.ctx = ctx;
    self->head.handle.memory = address;
    self->head.live = 1;
    pcu_resource_with_size(op, a.size);
    return 0;
}

/* Unmap everything and return the addresses. Kernels of the context finish first. */
static CUresult
virtual_release(virtual_memory *self, const char **routine)
{
    pcu_context_record *rec = &((pcu_context *)self->head.ctx)->rec;
    CUdeviceptr base = self->head.handle.memory;
    CUresult status = CUDA_SUCCESS;
    pcu_scope scope;
    if (pcu_drv_info.state != PCU_DRV_READY) {
        return CUDA_SUCCESS;
    }
    *routine = "cuCtxSynchronize";
    if (self->count != 0 && pcu_context_record_usable(rec)) {
        status = pcu_scope_enter(&scope, rec);
        if (status == CUDA_SUCCESS) {
            PCU_STATUS(status, CtxSynchronize, ());
            if (pcu_status_is_sticky(status)) {
                status = CUDA_SUCCESS; /* no kernel runs any more */
            }
            CUresult left = pcu_scope_leave(&scope);
            if (status == CUDA_SUCCESS && !pcu_status_is_sticky(left)) {
                status = left;
            }
        }
    }
    while (status == CUDA_SUCCESS && self->count > 0) {
        const virtual_mapping last = self->mappings[self->count - 1];
        *routine = "cuMemUnmap";
        PCU_STATUS(status, MemUnmap, (base + last.offset, last.size));
        self->count -= status == CUDA_SUCCESS;
    }
    if (status == CUDA_SUCCESS) {
        *routine = "cuMemAddressFree";
        PCU_STATUS(status, MemAddressFree, (base, self->head.size));
    }
    return status;
}

static void
virtual_dealloc(PyObject *op)
{
    virtual_memory *self = (virtual_memory *)op;
    const char *routine = "";
    PyObject_GC_UnTrack(op);
    if (self->head.live) {
        self->head.live = 0;
        CUresult status = virtual_release(self, &routine);
        if (status != CUDA_SUCCESS && status != CUDA_ERROR_DEINITIALIZED &&
            !pcu_status_is_sticky(status)) {
            pcu_report_cleanup(self->head.st, routine, self->head.handle.memory,
                               status);
        }
    }
    PyMem_Free(self->mappings);
    self->mappings = NULL;
    PyObject_GC_Track(op); /* pcu_resource_dealloc untracks it */
    pcu_resource_dealloc(op);
}

PyDoc_STRVAR(virtual_free_doc,
             "free($self, /)\n--\n\n"
             "Wait for the context, unmap all memory and return the addresses.\n\n"
             "LogicError the second time. cuMemUnmap, cuMemAddressFree.");

static PyObject *
virtual_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    virtual_memory *self = (virtual_memory *)op;
    const char *routine = "";
    if (!self->head.live) {
        pcu_resource_check_slow(&self->head, "cuMemAddressFree");
        return NULL;
    }
    self->head.live = 0; /* no other thread uses it during the calls */
    CUresult status = virtual_release(self, &routine);
    if (status != CUDA_SUCCESS) {
        self->head.live = 1;
        pcu_raise(self->head.st, routine, status);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- mapping ----------------------------------------------------------------------- */

typedef struct {
    PyObject *memory;
    size_t offset;
    size_t memory_offset;
    PyObject *size;
    unsigned int access;
} virtual_map_args;

/* Read a size that may be None. */
static int
virtual_size(pcu_state *st, PyObject *value, size_t otherwise, size_t *size)
{
    *size = otherwise;
    if (value == Py_None) {
        return 0;
    }
    return pcu_as_size(st, value, size, "size");
}

static int
virtual_check_range(virtual_memory *self, size_t offset, size_t size)
{
    if (offset <= self->head.size && size <= self->head.size - offset) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError,
                 "%zu bytes at offset %zu are beyond the %zu bytes of this %s", size,
                 offset, self->head.size, Py_TYPE(self)->tp_name);
    return -1;
}

static int
virtual_make_room(virtual_memory *self)
{
    if (self->count < self->room) {
        return 0;
    }
    size_t room = self->room * 2 + 4;
    virtual_mapping *mappings = PyMem_Realloc(self->mappings, room * sizeof(*mappings));
    if (mappings == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->mappings = mappings;
    self->room = room;
    return 0;
}

static int
virtual_give_access(virtual_memory *self, size_t offset, size_t size, CUdevice device,
                    unsigned int flags)
{
    CUmemAccessDesc wish = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
    int rc;
    PCU_CALL(rc, self->head.st, MemSetAccess,
             (self->head.handle.memory + offset, size, &wish, 1));
    return rc;
}

PyDoc_STRVAR(
    virtual_map_doc,
    "map($self, /, memory, offset=0, memory_offset=0, size=None,\n"
    "    access=mem_access_flags.READWRITE)\n--\n\n"
    "Map a PhysicalMemory at an offset from the first address.\n\n"
    "offset, memory_offset, size: bytes, multiples of mem_granularity(). size: by\n"
    "default all of the memory from memory_offset on. Drivers up to CUDA 13 accept\n"
    "0 as memory_offset only. access: the rights of the context's device; see\n"
    "set_access(). The memory stays as long as it is mapped.\n"
    "cuMemMap, cuMemSetAccess.");

static PyObject *
virtual_map(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"memory", pcu_as_object, offsetof(virtual_map_args, memory)},
        {"offset", pcu_as_size, offsetof(virtual_map_args, offset)},
        {"memory_offset", pcu_as_size, offsetof(virtual_map_args, memory_offset)},
        {"size", pcu_as_object, offsetof(virtual_map_args, size)},
        {"access", pcu_as_uint, offsetof(virtual_map_args, access)},
    };
    static const pcu_argtable table = {"map", specs, 5, 1, 0};
    virtual_memory *self = (virtual_memory *)op;
    pcu_state *st = self->head.st;
    virtual_map_args a = {.size = Py_None,
                          .access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    size_t size = 0;
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_resource_check(&self->head, "cuMemMap") < 0) {
        return NULL;
    }
    if (!PyObject_TypeCheck(a.memory, st->PhysicalMemory)) {
        PyErr_Format(PyExc_TypeError, "memory must be a PhysicalMemory, not %s",
                     Py_TYPE(a.memory)->tp_name);
        return NULL;
    }
    pcu_resource *memory = (pcu_resource *)a.memory;
    if (pcu_resource_check(memory, "cuMemMap") < 0) {
        return NULL;
    }
    if (a.memory_offset > memory->size) {
        PyErr_Format(PyExc_ValueError,
                     "memory_offset is %zu, but the memory has %zu bytes",
                     a.memory_offset, memory->size);
        return NULL;
    }
    if (virtual_size(st, a.size, memory->size - a.memory_offset, &size) < 0 ||
        virtual_check_range(self, a.offset, size) < 0 || virtual_make_room(self) < 0) {
        return NULL;
    }
    CUdeviceptr address = self->head.handle.memory + a.offset;
    PCU_CALL(rc, st, MemMap,
             (address, size, a.memory_offset, memory->handle.physical, 0));
    if (rc < 0) {
        return NULL;
    }
    if (a.access != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
        virtual_give_access(self, a.offset, size, self->device, a.access) < 0) {
        CUresult status;
        PCU_STATUS(status, MemUnmap, (address, size));
        if (status == CUDA_SUCCESS) {
            return NULL;
        }
        rc = -1; /* it stays mapped: remember that */
    }
    /* Another thread may have taken the room meanwhile. */
    if (self->count == self->room && virtual_make_room(self) < 0) {
        return NULL;
    }
    self->mappings[self->count++] = (virtual_mapping){a.offset, size};
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

typedef struct {
    size_t offset;
    PyObject *size;
} virtual_range_args;

PyDoc_STRVAR(
    virtual_unmap_doc,
    "unmap($self, /, offset=0, size=None)\n--\n\n"
    "Wait for the context, and unmap the memory in a range of bytes.\n\n"
    "The range must consist of whole mappings. size: by default up to the end. The\n"
    "addresses stay reserved. cuMemUnmap.");

static PyObject *
virtual_unmap(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"offset", pcu_as_size, offsetof(virtual_range_args, offset)},
        {"size", pcu_as_object, offsetof(virtual_range_args, size)},
    };
    static const pcu_argtable table = {"unmap", specs, 2, 0, 0};
    virtual_memory *self = (virtual_memory *)op;
    pcu_state *st = self->head.st;
    virtual_range_args a = {.size = Py_None};
    size_t size = 0;
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_resource_check(&self->head, "cuMemUnmap") < 0 ||
        virtual_check_range(self, a.offset, 0) < 0 ||
        virtual_size(st, a.size, self->head.size - a.offset, &size) < 0 ||
        virtual_check_range(self, a.offset, size) < 0) {
        return NULL;
    }
    size_t end = a.offset + size;
    for (size_t i = 0; i < self->count; i++) {
        const virtual_mapping *m = &self->mappings[i];
        if (m->offset < end && m->offset + m->size > a.offset &&
            (m->offset < a.offset || m->offset + m->size > end)) {
            PyErr_Format(PyExc_ValueError,
                         "the %zu bytes at offset %zu are one mapping, which can only "
                         "be unmapped as a whole",
                         m->size, m->offset);
            return NULL;
        }
    }
    PCU_CALL_CURRENT(rc, st, CtxSynchronize, ());
    for (size_t i = self->count; rc == 0 && i-- > 0;) {
        if (i >= self->count) { /* another thread has unmapped some */
            continue;
        }
        const virtual_mapping m = self->mappings[i];
        if (m.offset < a.offset || m.offset >= end) {
            continue;
        }
        self->mappings[i] = self->mappings[--self->count];
        PCU_CALL(rc, st, MemUnmap, (self->head.handle.memory + m.offset, m.size));
        if (rc < 0 && virtual_make_room(self) == 0) {
            self->mappings[self->count++] = m;
        }
    }
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

typedef struct {
    CUdevice device;
    unsigned int flags;
    size_t offset;
    PyObject *size;
} virtual_access_args;

PyDoc_STRVAR(
    virtual_set_access_doc,
    "set_access($self, /, device, flags=mem_access_flags.READWRITE, offset=0,\n"
    "           size=None)\n--\n\n"
    "Set the rights of a device to use the mapped memory in a range of bytes.\n\n"
    "flags: READWRITE, READ or NONE. size: by default up to the end. Memory that is\n"
    "mapped later has its own rights. cuMemSetAccess.");

static PyObject *
virtual_set_access(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"device", pcu_as_device, offsetof(virtual_access_args, device)},
        {"flags", pcu_as_uint, offsetof(virtual_access_args, flags)},
        {"offset", pcu_as_size, offsetof(virtual_access_args, offset)},
        {"size", pcu_as_object, offsetof(virtual_access_args, size)},
    };
    static const pcu_argtable table = {"set_access", specs, 4, 1, 0};
    virtual_memory *self = (virtual_memory *)op;
    virtual_access_args a = {.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                             .size = Py_None};
    size_t size = 0;
    if (pcu_args_parse(self->head.st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_resource_check(&self->head, "cuMemSetAccess") < 0 ||
        virtual_check_range(self, a.offset, 0) < 0 ||
        virtual_size(self->head.st, a.size, self->head.size - a.offset, &size) < 0 ||
        virtual_check_range(self, a.offset, size) < 0) {
        return NULL;
    }
    for (size_t i = 0; i < self->count; i++) {
        size_t first = self->mappings[i].offset;
        size_t end = first + self->mappings[i].size;
        first = first < a.offset ? a.offset : first;
        end = end > a.offset + size ? a.offset + size : end;
        if (first < end &&
            virtual_give_access(self, first, end - first, a.device, a.flags) < 0) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

typedef struct {
    CUdevice device;
    size_t offset;
} virtual_get_access_args;

PyDoc_STRVAR(virtual_get_access_doc,
             "get_access($self, /, device, offset=0)\n--\n\n"
             "Return the mem_access_flags of a device for the memory at an offset.\n\n"
             "cuMemGetAccess.");

static PyObject *
virtual_get_access(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"device", pcu_as_device, offsetof(virtual_get_access_args, device)},
        {"offset", pcu_as_size, offsetof(virtual_get_access_args, offset)},
    };
    static const pcu_argtable table = {"get_access", specs, 2, 1, 0};
    virtual_memory *self = (virtual_memory *)op;
    virtual_get_access_args a = {0};
    unsigned long long flags = 0;
    int rc = pcu_args_parse(self->head.st, &table, args, nargs, kwnames, &a);
    if (rc == 0) {
        rc = pcu_resource_check(&self->head, "cuMemGetAccess");
    }
    if (rc == 0) {
        CUmemLocation place = {CU_MEM_LOCATION_TYPE_DEVICE, a.device};
        PCU_CALL(rc, self->head.st, MemGetAccess,
                 (&flags, &place, self->head.handle.memory + a.offset));
    }
    if (rc < 0) {
        return NULL;
    }
    return pcu_enum_member_new(self->head.st->enum_mem_access_flags, (long)flags);
}

/* -- attributes -------------------------------------------------------------------- */

static PyObject *
virtual_get_mappings(PyObject *op, void *Py_UNUSED(closure))
{
    const virtual_memory *self = (virtual_memory *)op;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < self->count; i++) {
        PyObject *pair = Py_BuildValue("(nn)", (Py_ssize_t)self->mappings[i].offset,
                                       (Py_ssize_t)self->mappings[i].size);
        if (pair == NULL || PyList_Append(list, pair) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(pair);
    }
    if (list != NULL && PyList_Sort(list) < 0) {
        Py_CLEAR(list);
    }
    return list;
}

static PyMethodDef virtual_methods[] = {
    {"free", virtual_free, METH_NOARGS, virtual_free_doc},
    {"map", (PyCFunction)(void (*)(void))virtual_map, METH_FASTCALL | METH_KEYWORDS,
     virtual_map_doc},
    {"unmap", (PyCFunction)(void (*)(void))virtual_unmap, METH_FASTCALL | METH_KEYWORDS,
     virtual_unmap_doc},
    {"set_access", (PyCFunction)(void (*)(void))virtual_set_access,
     METH_FASTCALL | METH_KEYWORDS, virtual_set_access_doc},
    {"get_access", (PyCFunction)(void (*)(void))virtual_get_access,
     METH_FASTCALL | METH_KEYWORDS, virtual_get_access_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef virtual_getset[] = {
    {"size", physical_get_size, NULL, "The reserved bytes.", NULL},
    {"mappings", virtual_get_mappings, NULL,
     "The mapped parts: a sorted list of (offset, size) in bytes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    virtual_doc,
    "VirtualMemory(size, alignment=0)\n--\n\n"
    "A range of device addresses, into which PhysicalMemory is mapped.\n\n"
    "size: the bytes, which are rounded up to mem_granularity(). alignment: of the\n"
    "first address, a power of 2. The range itself needs no memory. Use the object\n"
    "wherever a DeviceAllocation can be used. cuMemAddressReserve.");

static PyType_Slot virtual_slots[] = {
    {Py_tp_doc, (void *)virtual_doc},
    {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, virtual_init},
    {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, virtual_dealloc},
    {Py_tp_getset, virtual_getset},
    {Py_tp_methods, virtual_methods},
    {0, NULL},
};

static PyType_Spec virtual_spec = {
    "pycuda._driver.VirtualMemory", sizeof(virtual_memory), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, virtual_slots};

static PyMethodDef virtual_functions[] = {
    {"mem_granularity", (PyCFunction)(void (*)(void))virtual_granularity,
     METH_FASTCALL | METH_KEYWORDS, virtual_granularity_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_virtual_memory_setup(PyObject *m, pcu_state *st)
{
    PyObject *bases = PyTuple_Pack(1, (PyObject *)st->DeviceAllocation);
    int rc = -1;
    if (bases != NULL) {
        rc = pcu_add_type(m, &st->VirtualMemory, &virtual_spec, bases);
    }
    Py_XDECREF(bases);
    if (rc < 0 || pcu_add_type(m, &st->PhysicalMemory, &physical_spec, NULL) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, virtual_functions);
}
