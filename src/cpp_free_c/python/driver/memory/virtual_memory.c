/* VirtualMemory: a range of addresses, into which memory is mapped.
 *
 * Invariant: a VirtualMemory is a DeviceAllocation that owns a pcu_virtual_range, which
 * knows the mappings. It keeps no reference to the memory, because the driver keeps
 * mapped memory until it is unmapped. While the driver runs without the interpreter
 * lock, other threads may use the object: its fields are read again afterwards.
 * Callers: Python. */
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_call.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "driver/virtual_range.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/memory.h"

/* -- docstrings -------------------------------------------------------------------- */

#define VIRTUAL_DOC_OFFSET     \
    "offset : int, optional\n" \
    "    First byte, counted from the first address.\n"

#define VIRTUAL_DOC_SIZE             \
    "size : int or None, optional\n" \
    "    Bytes of the range. The default is all up to the end.\n"

#define VIRTUAL_DOC_BEYOND \
    "ValueError\n"         \
    "    If the bytes are beyond the range.\n"

/* head.handle.memory is the first address, head.size the reserved bytes. */
typedef struct {
    pcu_resource head;
    pcu_virtual_range *range; /* owned; NULL after the release */
    CUdevice device;          /* of the context */
} virtual_memory;

typedef struct {
    size_t size;
    size_t alignment;
} virtual_args;

/* Reserve the addresses. */
static pcu_virtual_range *
virtual_reserve(pcu_state *st, const virtual_args *a)
{
    CUresult status;
    pcu_virtual_range *range = pcu_virtual_range_new();
    if (range == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    range->size = a->size;
    PCU_STATUS(status, MemAddressReserve, (&range->base, a->size, a->alignment, 0, 0));
    if (status != CUDA_SUCCESS) {
        pcu_virtual_range_free(range);
        pcu_raise_detail(st, "cuMemAddressReserve", status,
                         "%zu bytes of addresses were asked for", a->size);
        return NULL;
    }
    return range;
}

static const pcu_word virtual_words[] = {
    PCU_WORD("size", pcu_as_size, virtual_args, size),
    PCU_WORD("alignment", pcu_as_size, virtual_args, alignment),
};

PCU_SIGNATURE(virtual, virtual_words,
              "VirtualMemory(size, alignment=0)\n--\n\n"
              "Hold a range of device addresses into which memory is mapped.\n"
              "\n"
              "Functions and kernels take the object as a DeviceAllocation.\n"
              "\nParameters\n----------\n"
              "size : int\n"
              "    Bytes, which are rounded up to ``mem_granularity()``.\n"
              "alignment : int, optional\n"
              "    Bytes of which the first address is a multiple, a power of 2. The\n"
              "    default 0 is the driver's choice.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the driver has no such range of addresses.\n"
              "\nSee Also\n--------\n"
              "PhysicalMemory : Memory to map.\n"
              "mem_granularity : Return the multiple of sizes.\n"
              "\nNotes\n-----\n"
              "The range needs no memory until some is mapped.\n"
              "\nExamples\n--------\n"
              ">>> step = drv.mem_granularity()\n"
              ">>> space = drv.VirtualMemory(4 * step)\n"
              ">>> space.map(drv.PhysicalMemory(step))\n"
              ">>> space.mappings == [(0, step)]\n"
              "True\n"
              ">>> drv.memset_d8(space, 0, step)\n"
              ">>> space.unmap()")

static int
virtual_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    virtual_memory *self = (virtual_memory *)op;
    pcu_state *st = self->head.st;
    virtual_args a = {0};
    int rc = pcu_args_parse_tuple(st, &virtual_signature, args, kwargs, &a);
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
        rc = pcu_physical_round(st, self->device, 0, &a.size);
    }
    pcu_virtual_range *range = NULL;
    if (rc == 0) {
        range = virtual_reserve(st, &a);
    }
    if (range == NULL) {
        Py_DECREF(ctx);
        return -1;
    }
    pcu_handle_created(PCU_HANDLE_range);
    (void)pcu_memory_add(range->base, pcu_context_rec(ctx)); /* or it has no note */
    self->head.ctx = ctx;
    self->head.handle.memory = range->base;
    self->head.live = true;
    self->range = range;
    pcu_resource_with_size(op, a.size);
    return 0;
}

static void
virtual_dealloc(PyObject *op)
{
    virtual_memory *self = (virtual_memory *)op;
    pcu_handle handle = {.range = self->range};
    if (self->head.live) {
        self->head.live = false;
        self->range = NULL;
        PyObject_GC_UnTrack(op);
        pcu_release_noraise(self->head.st, PCU_HANDLE_range, handle, self->head.ctx);
        PyObject_GC_Track(op); /* pcu_resource_dealloc untracks it */
    }
    pcu_resource_dealloc(op);
}

PyDoc_STRVAR(virtual_free_doc,
             "free($self, /)\n--\n\n"
             "Unmap all memory and return the addresses.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED
             "\nSee Also\n--------\n"
             "VirtualMemory.unmap : Keep the addresses.\n"
             "\nNotes\n-----\n"
             "The call waits for the context.");

static PyObject *
virtual_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    virtual_memory *self = (virtual_memory *)op;
    pcu_handle handle = {.range = self->range};
    const char *routine = "";
    bool ended;
    if (!self->head.live) {
        pcu_resource_check_slow(&self->head, "cuMemAddressFree");
        return NULL;
    }
    self->head.live = false; /* no other thread uses it during the calls */
    CUresult status =
        pcu_release_handle(PCU_HANDLE_range, handle, self->head.ctx, &routine, &ended);
    self->head.live = !ended;
    if (ended) {
        self->range = NULL;
    }
    if (status != CUDA_SUCCESS) {
        pcu_raise(self->head.st, routine, status);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- mapping ----------------------------------------------------------------------- */

/* The arguments of the functions here; objects are borrowed. */
typedef struct {
    PyObject *memory;
    size_t offset;
    size_t memory_offset;
    PyObject *size;
    unsigned int access;
    CUdevice device;
    unsigned int flags;
} range_args;

static const pcu_word range_words[] = {
    PCU_WORD("memory", pcu_as_object, range_args, memory),
    PCU_WORD("offset", pcu_as_size, range_args, offset),
    PCU_WORD("memory_offset", pcu_as_size, range_args, memory_offset),
    PCU_WORD("size", pcu_as_object, range_args, size),
    PCU_WORD("access", pcu_as_uint, range_args, access),
    PCU_WORD("device", pcu_as_device, range_args, device),
    PCU_WORD("flags", pcu_as_uint, range_args, flags),
};

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
    if (pcu_virtual_range_make_room(self->range) < 0) {
        PyErr_NoMemory();
        return -1;
    }
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

/* Unmap what was just mapped: whether that succeeded. */
static bool
virtual_undo_map(virtual_memory *self, size_t offset, size_t size)
{
    CUresult status;
    PCU_STATUS(status, MemUnmap, (self->head.handle.memory + offset, size));
    return status == CUDA_SUCCESS;
}

/* Remember a mapping that was made. Other threads may have used the object meanwhile.
 */
static int
virtual_remember(virtual_memory *self, size_t offset, size_t size)
{
    if (self->head.live && pcu_virtual_range_make_room(self->range) == 0) {
        pcu_virtual_range_add(self->range, offset, size);
        return 0;
    }
    (void)virtual_undo_map(self, offset,
                           size); /* the error below is the one to report */
    if (self->head.live) {
        PyErr_NoMemory();
        return -1;
    }
    return pcu_resource_check_slow(&self->head, "cuMemMap");
}

PCU_SIGNATURE(virtual_map, range_words,
              "map($self, /, memory, offset=0, memory_offset=0, size=None,\n"
              "    access=3)\n"
              "--\n\n"
              "Map memory at an offset from the first address.\n"
              "\nParameters\n----------\n"
              "memory : PhysicalMemory\n"
              "    Memory to map, which stays as long as it is mapped.\n"
              "offset : int, optional\n"
              "    Bytes from the first address, a multiple of ``mem_granularity()``.\n"
              "memory_offset : int, optional\n"
              "    First byte of the memory to map. Drivers up to CUDA 13 accept 0\n"
              "    only.\n"
              "size : int or None, optional\n"
              "    Bytes to map. The default is all of the memory from\n"
              "    ``memory_offset`` on.\n"
              "access : mem_access_flags, optional\n"
              "    Rights of the context's device: READWRITE, READ or NONE. The\n"
              "    default is READWRITE.\n"
              "\nRaises\n------\n"
              "TypeError\n"
              "    If ``memory`` is no PhysicalMemory.\n" VIRTUAL_DOC_BEYOND
              "LogicError\n"
              "    If memory is mapped there, or if an object was released.\n"
              "\nSee Also\n--------\n"
              "VirtualMemory.unmap : End the mapping.\n"
              "VirtualMemory.set_access : Set the rights of a device.")

static PyObject *
virtual_map(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    virtual_memory *self = (virtual_memory *)op;
    pcu_state *st = self->head.st;
    range_args a = {.size = Py_None, .access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    size_t size = 0;
    int rc;
    if (pcu_args_parse(st, &virtual_map_signature, args, nargs, kwnames, &a) < 0 ||
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
    PCU_CALL(rc, st, MemMap,
             (self->head.handle.memory + a.offset, size, a.memory_offset,
              memory->handle.physical, 0));
    if (rc == 0 && a.access != CU_MEM_ACCESS_FLAGS_PROT_NONE) {
        rc = virtual_give_access(self, a.offset, size, self->device, a.access);
        if (rc < 0 && virtual_undo_map(self, a.offset, size)) {
            return NULL;
        }
    }
    else if (rc < 0) {
        return NULL;
    }
    if (virtual_remember(self, a.offset, size) < 0 || rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Refuse a range that contains a part of a mapping only. */
static int
virtual_check_whole(virtual_memory *self, size_t first, size_t end)
{
    for (size_t i = 0; i < self->range->count; i++) {
        const pcu_virtual_mapping *m = &self->range->mappings[i];
        if (m->offset < end && m->offset + m->size > first &&
            (m->offset < first || m->offset + m->size > end)) {
            PyErr_Format(PyExc_ValueError,
                         "the %zu bytes at offset %zu are one mapping, which can only "
                         "be unmapped as a whole",
                         m->size, m->offset);
            return -1;
        }
    }
    return 0;
}

/* Wait for the kernels of the memory's own context. */
static int
virtual_wait(virtual_memory *self)
{
    const char *routine;
    CUresult status = pcu_context_wait(pcu_context_rec(self->head.ctx), &routine);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise(self->head.st, routine, status);
}

/* Unmap the mappings in a range. Other threads may use the object during the calls, so
 * its fields are read again after each. */
static int
virtual_unmap_within(virtual_memory *self, size_t first, size_t end)
{
    size_t i = 0;
    while (self->head.live && i < self->range->count) {
        const pcu_virtual_mapping m = self->range->mappings[i];
        int rc;
        if (m.offset < first || m.offset >= end) {
            i++;
            continue;
        }
        pcu_virtual_range_remove(self->range, i);
        PCU_CALL(rc, self->head.st, MemUnmap,
                 (self->head.handle.memory + m.offset, m.size));
        if (rc < 0) {
            if (self->head.live && pcu_virtual_range_make_room(self->range) == 0) {
                pcu_virtual_range_add(self->range, m.offset, m.size);
            }
            return -1;
        }
        i = 0;
    }
    return 0;
}

PCU_SIGNATURE(
    virtual_unmap, range_words,
    "unmap($self, /, offset=0, size=None)\n--\n\n"
    "Unmap the memory in a range of bytes.\n"
    "\nParameters\n----------\n" VIRTUAL_DOC_OFFSET VIRTUAL_DOC_SIZE
    "\nRaises\n------\n"
    "ValueError\n"
    "    If the range has a part of a mapping only, or is too long.\n" PCU_DOC_RELEASED
    "\nSee Also\n--------\n"
    "VirtualMemory.map : Map memory.\n"
    "\nNotes\n-----\n"
    "The call waits for the context. The addresses stay reserved.")

static PyObject *
virtual_unmap(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    virtual_memory *self = (virtual_memory *)op;
    pcu_state *st = self->head.st;
    range_args a = {.size = Py_None};
    size_t size = 0;
    if (pcu_args_parse(st, &virtual_unmap_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_resource_check(&self->head, "cuMemUnmap") < 0 ||
        virtual_check_range(self, a.offset, 0) < 0 ||
        virtual_size(st, a.size, self->head.size - a.offset, &size) < 0 ||
        virtual_check_range(self, a.offset, size) < 0) {
        return NULL;
    }
    if (virtual_check_whole(self, a.offset, a.offset + size) < 0 ||
        virtual_wait(self) < 0 ||
        virtual_unmap_within(self, a.offset, a.offset + size) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE(
    virtual_set_access, range_words,
    "set_access($self, /, device, flags=3, offset=0,\n"
    "           size=None)\n"
    "--\n\n"
    "Set the rights of a device to use the mapped memory in a range of bytes.\n"
    "\nParameters\n----------\n" PCU_DOC_DEVICE PCU_DOC_ACCESS_FLAGS VIRTUAL_DOC_OFFSET
        VIRTUAL_DOC_SIZE "\nRaises\n------\n" VIRTUAL_DOC_BEYOND
    "LogicError\n"
    "    If the device cannot have the access, or if the object was\n"
    "    released.\n"
    "\nSee Also\n--------\n"
    "VirtualMemory.get_access : Return the rights.\n"
    "\nNotes\n-----\n"
    "Memory that is mapped later has its own rights.")

static PyObject *
virtual_set_access(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    virtual_memory *self = (virtual_memory *)op;
    range_args a = {.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE, .size = Py_None};
    size_t size = 0;
    if (pcu_args_parse(self->head.st, &virtual_set_access_signature, args, nargs,
                       kwnames, &a) < 0 ||
        pcu_resource_check(&self->head, "cuMemSetAccess") < 0 ||
        virtual_check_range(self, a.offset, 0) < 0 ||
        virtual_size(self->head.st, a.size, self->head.size - a.offset, &size) < 0 ||
        virtual_check_range(self, a.offset, size) < 0) {
        return NULL;
    }
    for (size_t i = 0; self->head.live && i < self->range->count; i++) {
        size_t first = self->range->mappings[i].offset;
        size_t end = first + self->range->mappings[i].size;
        first = first < a.offset ? a.offset : first;
        end = end > a.offset + size ? a.offset + size : end;
        if (first < end &&
            virtual_give_access(self, first, end - first, a.device, a.flags) < 0) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE(virtual_get_access, range_words,
              "get_access($self, /, device, offset=0)\n--\n\n"
              "Return the rights of a device to use the memory at an offset.\n"
              "\nParameters\n----------\n" PCU_DOC_DEVICE VIRTUAL_DOC_OFFSET
              "\nReturns\n-------\n"
              "mem_access_flags\n"
              "    The rights.\n"
              "\nRaises\n------\n" VIRTUAL_DOC_BEYOND
              "LogicError\n"
              "    If no memory is mapped there, or if the object was released.\n"
              "\nSee Also\n--------\n"
              "VirtualMemory.set_access : Set the rights.")

static PyObject *
virtual_get_access(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    virtual_memory *self = (virtual_memory *)op;
    range_args a = {0};
    unsigned long long flags = 0;
    int rc = pcu_args_parse(self->head.st, &virtual_get_access_signature, args, nargs,
                            kwnames, &a);
    if (rc == 0) {
        rc = pcu_resource_check(&self->head, "cuMemGetAccess");
    }
    if (rc == 0) {
        rc = virtual_check_range(self, a.offset, 1);
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
virtual_get_size(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromSize_t(((virtual_memory *)op)->head.size);
}

static PyObject *
virtual_get_mappings(PyObject *op, void *Py_UNUSED(closure))
{
    const virtual_memory *self = (virtual_memory *)op;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && self->head.live && i < self->range->count; i++) {
        const pcu_virtual_mapping *m = &self->range->mappings[i];
        PyObject *pair =
            Py_BuildValue("(nn)", (Py_ssize_t)m->offset, (Py_ssize_t)m->size);
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
    PCU_METHOD("map", virtual_map),
    PCU_METHOD("unmap", virtual_unmap),
    PCU_METHOD("set_access", virtual_set_access),
    PCU_METHOD("get_access", virtual_get_access),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef virtual_getset[] = {
    {"size", virtual_get_size, NULL, "The reserved bytes.", NULL},
    {"mappings", virtual_get_mappings, NULL,
     "The mapped parts: a sorted list of (offset, size) in bytes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

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

int
pcu_virtual_memory_setup(PyObject *m, pcu_state *st)
{
    PyObject *bases = PyTuple_Pack(1, (PyObject *)st->DeviceAllocation);
    int rc = -1;
    if (bases != NULL) {
        rc = pcu_add_type(m, &st->VirtualMemory, &virtual_spec, bases);
    }
    Py_XDECREF(bases);
    return rc;
}
