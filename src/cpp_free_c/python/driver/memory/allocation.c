/* Device memory: the types DeviceAllocation and PointerHolderBase; mem_alloc,
 * mem_alloc_like, mem_alloc_pitch, to_device and queries.
 *
 * Invariant: a DeviceAllocation is a pcu_resource; int() of it stays valid after
 * free(). Callers: Python; arrays and In/Out arguments allocate without a Python call.
 */
#include "python/driver/memory/memory.h"

#include "python/support/buffer.h"
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/type.h"
#include "python/support/setup.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/gpuarray.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

/* -- docstrings -------------------------------------------------------------------- */

#define ALLOCATION_DOC_VIEW    \
    "size : int\n"             \
    "    Bytes of the view.\n" \
    "offset : int, optional\n" \
    "    Bytes from the address to the first byte of the view.\n"

/* -- allocation -------------------------------------------------------------------- */

PyObject *
pcu_allocation_new(pcu_state *st, size_t size)
{
    pcu_handle handle = {0};
    PyObject *self = NULL;
    CUresult status;
    PyObject *ctx = pcu_context_require(st, "cuMemAlloc");
    if (ctx == NULL) {
        return NULL;
    }
    PCU_ALLOCATE(status, MemAlloc, (&handle.memory, size));
    if (status == CUDA_SUCCESS) {
        self = pcu_resource_with_size(
            pcu_resource_new(st, st->DeviceAllocation, ctx, PCU_HANDLE_memory, handle),
            size);
        pcu_memory_noted(self, PCU_MEMORY_DEVICE, size);
    }
    else {
        pcu_out_of_memory_raise(st, "cuMemAlloc", status, size);
    }
    Py_DECREF(ctx);
    return self;
}

PyDoc_STRVAR(allocation_mem_alloc_doc,
             "mem_alloc($module, bytes, /)\n--\n\n"
             "Allocate device memory in the current context.\n"
             "\nParameters\n----------\n"
             "bytes : int\n"
             "    Bytes to allocate, at least 1.\n"
             "\nReturns\n-------\n"
             "DeviceAllocation\n"
             "    The memory. Its contents are undefined.\n"
             "\nRaises\n------\n"
             "MemoryError\n"
             "    If memory is short, also after a collection of garbage. The text\n"
             "    has the sizes.\n"
             "LogicError\n"
             "    For 0 bytes.\n"
             "\nSee Also\n--------\n"
             "mem_alloc_like : Allocate the bytes of an array.\n"
             "mem_alloc_async : Allocate in the order of a stream.\n"
             "DeviceMemoryPool : Reuse freed memory.\n"
             "\nNotes\n-----\n"
             "The memory is released when the object is deleted.\n"
             "\nExamples\n--------\n"
             ">>> memory = drv.mem_alloc(16)\n"
             ">>> drv.memcpy_htod(memory, np.arange(4, dtype=np.int32))\n"
             ">>> drv.from_device(memory, 4, np.int32)\n"
             "array([0, 1, 2, 3], dtype=int32)");

static PyObject *
allocation_mem_alloc(PyObject *m, PyObject *bytes)
{
    pcu_state *st = pcu_state_of_module(m);
    size_t size = 0;
    if (pcu_as_size(st, bytes, &size, "bytes") < 0) {
        return NULL;
    }
    return pcu_allocation_new(st, size);
}

/* The bytes of an array. The attribute nbytes is used only for arrays of other
 * libraries: programs may assign it to a GPUArray, and a subclass of ndarray may
 * redefine it. */
static int
allocation_nbytes(pcu_state *st, PyObject *array, size_t *size)
{
    if (PyArray_Check(array)) {
        *size = (size_t)PyArray_NBYTES((PyArrayObject *)array);
        return 0;
    }
    if (pcu_is_array(st, array) && pcu_gpuarray_ready((pcu_gpuarray *)array) == 0) {
        *size = pcu_gpuarray_nbytes((pcu_gpuarray *)array);
        return 0;
    }
    if (PyErr_Occurred()) {
        return -1;
    }
    PyObject *nbytes = PyObject_GetAttr(array, st->str_nbytes);
    int rc = -1;
    if (nbytes != NULL) {
        rc = pcu_as_size(st, nbytes, size, "nbytes");
    }
    Py_XDECREF(nbytes);
    return rc;
}

PCU_SIGNATURE_OF_ONE(allocation_mem_alloc_like, "ary", pcu_as_object,
                     "mem_alloc_like($module, /, ary)\n--\n\n"
                     "Allocate device memory of the size of an array.\n"
                     "\nParameters\n----------\n"
                     "ary : array_like\n"
                     "    NumPy array, GPUArray, or another object with the attribute\n"
                     "    ``nbytes``.\n"
                     "\nReturns\n-------\n"
                     "DeviceAllocation\n"
                     "    The memory. Its contents are undefined.\n"
                     "\nRaises\n------\n" PCU_DOC_NO_MEMORY
                     "LogicError\n"
                     "    For an empty array.\n"
                     "\nSee Also\n--------\n"
                     "mem_alloc : Allocate a number of bytes.\n"
                     "to_device : Allocate and copy.\n"
                     "\nExamples\n--------\n"
                     ">>> a = np.arange(4, dtype=np.int32)\n"
                     ">>> memory = drv.mem_alloc_like(a)\n"
                     ">>> drv.mem_get_address_range(memory)[1]\n"
                     "16")

static PyObject *
allocation_mem_alloc_like(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    PyObject *ary = NULL;
    size_t size = 0;
    if (pcu_args_parse(st, &allocation_mem_alloc_like_signature, args, nargs, kwnames,
                       PCU_ONLY(allocation_mem_alloc_like, &ary)) < 0) {
        return NULL;
    }
    if (allocation_nbytes(st, ary, &size) < 0) {
        return NULL;
    }
    return pcu_allocation_new(st, size);
}

typedef struct {
    size_t width;
    size_t height;
    unsigned int access_size;
} allocation_pitch_args;

static const pcu_word allocation_pitch_words[] = {
    PCU_WORD("width", pcu_as_size, allocation_pitch_args, width),
    PCU_WORD("height", pcu_as_size, allocation_pitch_args, height),
    PCU_WORD("access_size", pcu_as_uint, allocation_pitch_args, access_size),
};

PCU_SIGNATURE(
    allocation_mem_alloc_pitch, allocation_pitch_words,
    "mem_alloc_pitch($module, /, width, height, access_size)\n--\n\n"
    "Allocate rows of device memory, each aligned for fast access.\n"
    "\nParameters\n----------\n"
    "width : int\n"
    "    Bytes of a row that are used.\n"
    "height : int\n"
    "    Number of rows.\n"
    "access_size : int\n"
    "    Bytes that a thread accesses at once: 4, 8 or 16.\n"
    "\nReturns\n-------\n"
    "DeviceAllocation\n"
    "    The memory of all rows.\n"
    "int\n"
    "    The pitch: bytes from the start of a row to the start of the next.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    For another ``access_size``, or without a byte.\n" PCU_DOC_NO_MEMORY
    "\nSee Also\n--------\n"
    "Memcpy2D : Copy rows between memory of different pitches.\n"
    "memset_d2d8 : Fill rows.\n"
    "\nExamples\n--------\n"
    ">>> memory, pitch = drv.mem_alloc_pitch(width=100, height=4, access_size=4)\n"
    ">>> pitch >= 100\n"
    "True")

static PyObject *
allocation_mem_alloc_pitch(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    allocation_pitch_args a = {0};
    pcu_handle handle = {0};
    size_t pitch = 0;
    CUresult status;
    PyObject *memory = NULL;
    if (pcu_args_parse(st, &allocation_mem_alloc_pitch_signature, args, nargs, kwnames,
                       &a) < 0) {
        return NULL;
    }
    PyObject *ctx = pcu_context_require(st, "cuMemAllocPitch");
    if (ctx == NULL) {
        return NULL;
    }
    PCU_ALLOCATE(status, MemAllocPitch,
                 (&handle.memory, &pitch, a.width, a.height, a.access_size));
    if (status == CUDA_SUCCESS) {
        memory = pcu_resource_with_size(
            pcu_resource_new(st, st->DeviceAllocation, ctx, PCU_HANDLE_memory, handle),
            pitch * a.height);
        pcu_memory_noted(memory, PCU_MEMORY_DEVICE, pitch * a.height);
    }
    else {
        pcu_raise_detail(st, "cuMemAllocPitch", status,
                         "%zu rows of %zu bytes for accesses of %u bytes (4, 8 or 16 "
                         "are possible) were asked for",
                         a.height, a.width, a.access_size);
    }
    Py_DECREF(ctx);
    if (memory == NULL) {
        return NULL;
    }
    return Py_BuildValue("(Nn)", memory, (Py_ssize_t)pitch);
}

PyDoc_STRVAR(allocation_mem_get_info_doc,
             "mem_get_info($module, /)\n--\n\n"
             "Return the free and the total bytes of the current device.\n"
             "\nReturns\n-------\n"
             "tuple of int\n"
             "    The free bytes, and all bytes.\n"
             "\nSee Also\n--------\n"
             "pycuda.memory.snapshot : List the allocations of this process.\n"
             "\nNotes\n-----\n"
             "Other processes use the same memory. The free bytes may be in pieces.\n"
             "\nExamples\n--------\n"
             ">>> free, total = drv.mem_get_info()\n"
             ">>> 0 <= free <= total\n"
             "True");

static PyObject *
allocation_mem_get_info(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    size_t free_bytes = 0;
    size_t total = 0;
    int rc;
    PCU_CALL_CURRENT(rc, st, MemGetInfo, (&free_bytes, &total));
    if (rc < 0) {
        return NULL;
    }
    return Py_BuildValue("(nn)", (Py_ssize_t)free_bytes, (Py_ssize_t)total);
}

PyDoc_STRVAR(allocation_mem_get_address_range_doc,
             "mem_get_address_range($module, ptr, /)\n--\n\n"
             "Return the range of the allocation to which an address belongs.\n"
             "\nParameters\n----------\n"
             "ptr : DeviceAllocation, GPUArray or int\n"
             "    Device memory, or an address within it.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    First address of the allocation.\n"
             "int\n"
             "    Bytes of the allocation.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the address is in no allocation.\n"
             "\nSee Also\n--------\n"
             "mem_alloc : Allocate device memory.\n"
             "\nExamples\n--------\n"
             ">>> memory = drv.mem_alloc(1000)\n"
             ">>> base, size = drv.mem_get_address_range(int(memory) + 10)\n"
             ">>> base == int(memory), size\n"
             "(True, 1000)");

static PyObject *
allocation_mem_get_address_range(PyObject *m, PyObject *ptr)
{
    pcu_state *st = pcu_state_of_module(m);
    CUdeviceptr pointer = 0;
    CUdeviceptr base = 0;
    size_t size = 0;
    int rc = pcu_as_pointer(st, ptr, &pointer, "ptr");
    if (rc == 0) {
        PCU_CALL_CURRENT(rc, st, MemGetAddressRange, (&base, &size, pointer));
    }
    if (rc < 0) {
        return NULL;
    }
    return Py_BuildValue("(Kn)", base, (Py_ssize_t)size);
}

PCU_SIGNATURE_OF_ONE(
    allocation_to_device, "bf_obj", pcu_as_object,
    "to_device($module, /, bf_obj)\n--\n\n"
    "Copy a host buffer to new device memory.\n"
    "\nParameters\n----------\n"
    "bf_obj : array_like\n"
    "    NumPy array, or another buffer. One with gaps is copied in C\n"
    "    order.\n"
    "\nReturns\n-------\n"
    "DeviceAllocation\n"
    "    The memory, which has the bytes of the buffer.\n"
    "\nRaises\n------\n" PCU_DOC_NO_MEMORY
    "TypeError\n"
    "    If the object is no buffer, or holds Python objects.\n"
    "LogicError\n"
    "    For an empty buffer.\n"
    "\nSee Also\n--------\n"
    "from_device : Copy back.\n"
    "memcpy_htod : Copy to memory that exists.\n"
    "\nNotes\n-----\n"
    "The buffer can be changed when the call returns.\n"
    "\nExamples\n--------\n"
    ">>> memory = drv.to_device(np.arange(3, dtype=np.float32))\n"
    ">>> drv.from_device(memory, 3, np.float32)\n"
    "array([0., 1., 2.], dtype=float32)")

static PyObject *
allocation_to_device(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    PyObject *source = NULL;
    PyObject *packed = NULL;
    PyObject *result = NULL;
    pcu_buffer buffer = {0};
    if (pcu_args_parse(st, &allocation_to_device_signature, args, nargs, kwnames,
                       PCU_ONLY(allocation_to_device, &source)) < 0) {
        return NULL;
    }
    if (PyArray_Check(source)) {
        packed = PyArray_FromAny(source, NULL, 0, 0, NPY_ARRAY_CARRAY_RO, NULL);
    }
    else {
        PyObject *view = PyMemoryView_FromObject(source);
        packed = NULL;
        if (view != NULL) {
            packed = PyMemoryView_GetContiguous(view, PyBUF_READ, 'C');
        }
        Py_XDECREF(view);
    }
    if (packed == NULL || pcu_buffer_acquire(&buffer, packed, false, "bf_obj") < 0) {
        goto done;
    }
    result = pcu_allocation_new(st, buffer.size);
    if (result != NULL) {
        int rc;
        PCU_CALL_CURRENT(
            rc, st, MemcpyHtoD,
            (((pcu_resource *)result)->handle.memory, buffer.data, buffer.size));
        if (rc < 0) {
            Py_CLEAR(result);
        }
    }
done:
    pcu_buffer_release(&buffer);
    Py_XDECREF(packed);
    return result;
}

/* -- access from the host ----------------------------------------------------- */

typedef struct {
    size_t size;
    size_t offset;
} allocation_view_args;

/* A writable memoryview of the address, for memory that the host can access. The array
 * in between lets the view hold a reference to the owner. */
static const pcu_word allocation_view_words[] = {
    PCU_WORD("size", pcu_as_size, allocation_view_args, size),
    PCU_WORD("offset", pcu_as_size, allocation_view_args, offset),
};

PCU_SIGNATURE(allocation_as_buffer, allocation_view_words,
              "as_buffer($self, /, size, offset=0)\n--\n\n"
              "Return a view of memory that the host can access.\n"
              "\nParameters\n----------\n" ALLOCATION_DOC_VIEW
              "\nReturns\n-------\n"
              "memoryview\n"
              "    Writable bytes. The view holds the allocation.\n"
              "\nRaises\n------\n" PCU_DOC_RELEASED
              "\nSee Also\n--------\n"
              "managed_empty : Memory that the host can access.\n"
              "\nNotes\n-----\n"
              "The host cannot access memory of ``mem_alloc``: use ``memcpy_dtoh``.")

static PyObject *
allocation_view_new(pcu_state *st, PyObject *owner, CUdeviceptr pointer,
                    PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    allocation_view_args a = {0};
    if (pcu_args_parse(st, &allocation_as_buffer_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    if (a.size > PY_SSIZE_T_MAX) {
        PyErr_Format(PyExc_OverflowError, "size is %zu; at most %zd is possible",
                     a.size, PY_SSIZE_T_MAX);
        return NULL;
    }
    npy_intp size = (npy_intp)a.size;
    char *address = (char *)(uintptr_t)pointer + a.offset;
    PyObject *bytes = PyArray_SimpleNewFromData(1, &size, NPY_UINT8, address);
    PyObject *view = NULL;
    if (bytes != NULL &&
        PyArray_SetBaseObject((PyArrayObject *)bytes, Py_NewRef(owner)) == 0) {
        view = PyMemoryView_FromObject(bytes);
    }
    Py_XDECREF(bytes);
    return view;
}

/* -- DeviceAllocation -------------------------------------------------------------- */

PCU_SIGNATURE_OF_ONE(
    allocation_free, "stream", pcu_as_object,
    "free($self, /, stream=None)\n--\n\n"
    "Release the memory now.\n"
    "\nParameters\n----------\n"
    "stream : Stream or None, optional\n"
    "    Stream behind whose work the memory is released, without waiting.\n"
    "    By default the call waits for the device.\n"
    "\nRaises\n------\n" PCU_DOC_RELEASED
    "\nSee Also\n--------\n"
    "mem_alloc : Allocate device memory.")

static PyObject *
allocation_free(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    pcu_resource *self = (pcu_resource *)op;
    PyObject *given = Py_None;
    CUstream stream = NULL;
    int rc;
    if ((nargs != 0 || kwnames != NULL) &&
        pcu_args_parse(self->st, &allocation_free_signature, args, nargs, kwnames,
                       PCU_ONLY(allocation_free, &given)) < 0) {
        return NULL;
    }
    if (given == Py_None) {
        rc = pcu_resource_free(self);
    }
    else {
        rc = pcu_as_stream(self->st, given, &stream, "stream");
        if (rc == 0) {
            rc = pcu_resource_free_async(self, stream);
        }
    }
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
allocation_int(PyObject *op)
{
    return PyLong_FromUnsignedLongLong(((pcu_resource *)op)->handle.memory);
}

static PyObject *
allocation_as_buffer(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames)
{
    pcu_resource *self = (pcu_resource *)op;
    if (pcu_resource_check(self, "as_buffer") < 0) {
        return NULL;
    }
    return allocation_view_new(self->st, op, self->handle.memory, args, nargs, kwnames);
}

PyDoc_STRVAR(allocation_long_doc,
             "__long__($self, /)\n--\n\nReturn the address, as int() does.");

static PyObject *
allocation_long(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return allocation_int(op);
}

static PyMethodDef allocation_methods[] = {
    PCU_METHOD("free", allocation_free),
    PCU_METHOD("as_buffer", allocation_as_buffer),
    {"__long__", allocation_long, METH_NOARGS, allocation_long_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef allocation_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(allocation_doc,
             "Device memory, which is released with the object.\n"
             "\n"
             "``mem_alloc`` and other functions make it. Functions and kernels take\n"
             "it as an address. ``int()`` gives the address, also after ``free()``.\n"
             "\nSee Also\n--------\n"
             "mem_alloc : Allocate device memory.\n"
             "PooledDeviceAllocation : Memory of a pool.\n"
             "\nNotes\n-----\n"
             "The memory is released in its own context. That waits for the device,\n"
             "unless a stream is given to ``free()``.");

static PyType_Slot allocation_slots[] = {
    {Py_tp_doc, (void *)allocation_doc},   {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},     {Py_tp_dealloc, pcu_resource_dealloc},
    {Py_tp_members, pcu_resource_members}, {Py_tp_getset, allocation_getset},
    {Py_tp_methods, allocation_methods},   {Py_nb_int, allocation_int},
    {Py_nb_index, allocation_int},         {0, NULL},
};

static PyType_Spec allocation_spec = {
    "pycuda._driver.DeviceAllocation", sizeof(pcu_resource), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    allocation_slots};

/* -- PointerHolderBase ------------------------------------------------------------- */

PyDoc_STRVAR(holder_get_pointer_doc,
             "get_pointer($self, /)\n--\n\n"
             "Return the address of the memory.\n"
             "\n"
             "A subclass overrides this method.\n"
             "\nReturns\n-------\n" PCU_DOC_ADDRESS
             "\nRaises\n------\n"
             "RuntimeError\n"
             "    In the base class.");

static PyObject *
holder_get_pointer(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    PyErr_Format(PyExc_RuntimeError, "%s does not define get_pointer()",
                 Py_TYPE(op)->tp_name);
    return NULL;
}

/* The pointer may be another holder, or even this one: limit the recursion. */
static PyObject *
holder_int(PyObject *op)
{
    if (Py_EnterRecursiveCall(" in get_pointer()")) {
        return NULL;
    }
    PyObject *pointer = PyObject_CallMethod(op, "get_pointer", NULL);
    PyObject *index = NULL;
    if (pointer != NULL) {
        index = PyNumber_Index(pointer);
    }
    Py_XDECREF(pointer);
    Py_LeaveRecursiveCall();
    return index;
}

PyDoc_STRVAR(holder_as_buffer_doc,
             "as_buffer($self, /, size, offset=0)\n--\n\n"
             "Return a view of memory that the host can access.\n"
             "\nParameters\n----------\n" ALLOCATION_DOC_VIEW
             "\nReturns\n-------\n"
             "memoryview\n"
             "    Writable bytes. The view holds this object.\n"
             "\nSee Also\n--------\n"
             "DeviceAllocation.as_buffer : The same for memory of this package.");

static PyObject *
holder_as_buffer(PyObject *op, PyTypeObject *defining, PyObject *const *args,
                 Py_ssize_t nargs, PyObject *kwnames)
{
    unsigned long long pointer = 0;
    if (pcu_as_integer(op, 0, UINT64_MAX, &pointer, "get_pointer()") < 0) {
        return NULL;
    }
    return allocation_view_new(pcu_state_of_type(defining), op, pointer, args, nargs,
                               kwnames);
}

PyDoc_STRVAR(holder_long_doc,
             "__long__($self, /)\n--\n\nReturn the address, as int() does.");

static PyObject *
holder_long(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return holder_int(op);
}

static PyMethodDef holder_methods[] = {
    {"get_pointer", holder_get_pointer, METH_NOARGS, holder_get_pointer_doc},
    {"as_buffer", (PyCFunction)(void (*)(void))holder_as_buffer,
     METH_METHOD | METH_FASTCALL | METH_KEYWORDS, holder_as_buffer_doc},
    {"__long__", holder_long, METH_NOARGS, holder_long_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(holder_doc,
             "PointerHolderBase()\n--\n\n"
             "Base class of objects that represent device memory.\n"
             "\n"
             "A subclass defines ``get_pointer()``. Functions and kernels then take\n"
             "its objects as an address.\n"
             "\nSee Also\n--------\n"
             "DeviceAllocation : Memory of this package.\n"
             "\nExamples\n--------\n"
             ">>> class Part(drv.PointerHolderBase):\n"
             "...     def __init__(self, memory, offset):\n"
             "...         self.memory, self.offset = memory, offset\n"
             "...     def get_pointer(self):\n"
             "...         return int(self.memory) + self.offset\n"
             ">>> part = Part(drv.to_device(np.arange(4, dtype=np.int32)), 8)\n"
             ">>> drv.from_device(part, 2, np.int32)\n"
             "array([2, 3], dtype=int32)");

static PyType_Slot holder_slots[] = {
    {Py_tp_doc, (void *)holder_doc},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_traverse, pcu_instance_traverse},
    {Py_tp_clear, pcu_instance_clear},
    {Py_tp_dealloc, pcu_instance_dealloc},
    {Py_tp_members, pcu_instance_members},
    {Py_tp_methods, holder_methods},
    {Py_nb_int, holder_int},
    {Py_nb_index, holder_int},
    {0, NULL},
};

static PyType_Spec holder_spec = {
    "pycuda._driver.PointerHolderBase", sizeof(pcu_instance), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, holder_slots};

static PyMethodDef allocation_functions[] = {
    {"mem_alloc", allocation_mem_alloc, METH_O, allocation_mem_alloc_doc},
    PCU_METHOD("mem_alloc_like", allocation_mem_alloc_like),
    PCU_METHOD("mem_alloc_pitch", allocation_mem_alloc_pitch),
    {"mem_get_address_range", allocation_mem_get_address_range, METH_O,
     allocation_mem_get_address_range_doc},
    {"mem_get_info", allocation_mem_get_info, METH_NOARGS, allocation_mem_get_info_doc},
    PCU_METHOD("to_device", allocation_to_device),
    {NULL, NULL, 0, NULL},
};

int
pcu_allocation_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->DeviceAllocation, &allocation_spec, NULL) < 0 ||
        pcu_add_type(m, &st->PointerHolderBase, &holder_spec, NULL) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, allocation_functions);
}
