/* Managed memory: advice, prefetching, and what the driver knows about a range.
 *
 * CUDA 12.2 changed how places are passed. The new functions are used where the driver
 * has them, since only they know the NUMA nodes of the host.
 *
 * Invariant: none. Callers: Python. */
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/current_context.h"
#include "python/driver/context.h"
#include "python/driver/memory/gpuarray.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

#include <numpy/arrayobject.h>

/* -- docstrings -------------------------------------------------------------------- */

#define MANAGED_DOC_MEMORY                        \
    "memory : ndarray, DeviceAllocation or int\n" \
    "    Array of ``managed_empty``, its base, or an address.\n"

#define MANAGED_DOC_LOCATION                                                   \
    "location : Device, int, str, tuple or None, optional\n"                   \
    "    A device or its number, ``\"host\"``, ``\"host_numa_current\"`` or\n" \
    "    ``(\"host_numa\", node)``. The default is the current device.\n"

#define MANAGED_DOC_SIZE             \
    "size : int or None, optional\n" \
    "    Bytes of the range. The default is all bytes of the memory.\n"

#define MANAGED_DOC_NO_SIZE \
    "TypeError\n"           \
    "    If an address is given without a size.\n"

#define MANAGED_DOC_NOT_MANAGED                                           \
    "LogicError\n"                                                        \
    "    If the range is not in managed memory, or if the place is not\n" \
    "    supported.\n"

enum { OLD_HOST = -1, OLD_NONE = -2 }; /* devices in the functions before CUDA 12.2 */

typedef struct {
    CUdeviceptr address;
    size_t size;
} managed_range;

/* The bytes of an object that holds managed memory. */
static int
managed_range_bytes(pcu_state *st, PyObject *memory, size_t *size)
{
    if (PyArray_Check(memory)) {
        *size = (size_t)PyArray_NBYTES((PyArrayObject *)memory);
        return 0;
    }
    if (PyObject_TypeCheck(memory, st->DeviceAllocation) &&
        ((pcu_resource *)memory)->has_size) {
        *size = ((pcu_resource *)memory)->size;
        return 0;
    }
    PyObject *nbytes = PyObject_GetAttr(memory, st->str_nbytes);
    int rc = -1;
    if (nbytes != NULL) {
        rc = pcu_as_size(st, nbytes, size, "nbytes");
        Py_DECREF(nbytes);
    }
    else if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Format(PyExc_TypeError, "size must be given, because %s has no nbytes",
                     Py_TYPE(memory)->tp_name);
    }
    return rc;
}

static int
managed_range_parse(pcu_state *st, PyObject *memory, PyObject *size,
                    managed_range *range)
{
    if (pcu_as_pointer(st, memory, &range->address, "memory") < 0) {
        return -1;
    }
    if (size != Py_None) {
        return pcu_as_size(st, size, &range->size, "size");
    }
    return managed_range_bytes(st, memory, &range->size);
}

/* The number of a place in the functions before CUDA 12.2. */
static int
managed_old_place(pcu_state *st, const CUmemLocation *place, const char *routine,
                  CUdevice *device)
{
    *device = place->id;
    if (place->type == CU_MEM_LOCATION_TYPE_HOST) {
        *device = OLD_HOST;
    }
    else if (place->type != CU_MEM_LOCATION_TYPE_DEVICE) {
        return pcu_raise_detail(st, routine, CUDA_ERROR_NOT_SUPPORTED,
                                "a NUMA node of the host needs a driver for CUDA 12.2");
    }
    return 0;
}

/* -- advice ------------------------------------------------------------------------ */

/* The arguments of the functions here; objects are borrowed. */
typedef struct {
    PyObject *memory;
    unsigned int advice;
    PyObject *location;
    PyObject *size;
    CUstream stream;
    PyObject *memories;
    unsigned int attribute;
} managed_args;

static const pcu_word managed_words[] = {
    PCU_WORD("memory", pcu_as_object, managed_args, memory),
    PCU_WORD("advice", pcu_as_uint, managed_args, advice),
    PCU_WORD("location", pcu_as_object, managed_args, location),
    PCU_WORD("size", pcu_as_object, managed_args, size),
    PCU_WORD("stream", pcu_as_stream, managed_args, stream),
    PCU_WORD("memories", pcu_as_object, managed_args, memories),
    PCU_WORD("attribute", pcu_as_uint, managed_args, attribute),
};

static int
managed_advise_run(pcu_state *st, const managed_range *range, unsigned int advice,
                   const CUmemLocation *place)
{
    CUdevice device;
    CUresult status;
    int rc = pcu_current_context_ready(st);
    if (rc < 0) {
        return -1;
    }
    PCU_STATUS(status, MemAdvise_v2, (range->address, range->size, advice, *place));
    const char *routine = "cuMemAdvise_v2";
    if (status == CUDA_ERROR_NOT_FOUND) {
        routine = "cuMemAdvise";
        if (managed_old_place(st, place, routine, &device) < 0) {
            return -1;
        }
        PCU_STATUS(status, MemAdvise, (range->address, range->size, advice, device));
    }
    if (status != CUDA_SUCCESS) {
        return pcu_raise(st, routine, status);
    }
    return 0;
}

PCU_SIGNATURE(mem_advise, managed_words,
              "mem_advise($module, /, memory, advice, location=None, size=None)\n"
              "--\n\n"
              "Advise the driver how managed memory will be used.\n"
              "\nParameters\n----------\n" MANAGED_DOC_MEMORY
              "advice : mem_advice\n"
              "    The advice, such as ``SET_READ_MOSTLY``.\n" MANAGED_DOC_LOCATION
                  MANAGED_DOC_SIZE
              "\nRaises\n------\n" MANAGED_DOC_NO_SIZE MANAGED_DOC_NOT_MANAGED
              "\nSee Also\n--------\n"
              "mem_prefetch : Move the memory.\n"
              "mem_range_get_attribute : Read the advice.\n"
              "\nNotes\n-----\n"
              "NUMA nodes need a driver for CUDA 12.2.\n"
              "\nExamples\n--------\n"
              ">>> a = drv.managed_zeros(4, np.float32)\n"
              ">>> drv.mem_advise(a, drv.mem_advice.SET_READ_MOSTLY)")

static PyObject *
mem_advise(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    managed_args a = {.location = Py_None, .size = Py_None};
    managed_range range = {0};
    CUmemLocation place;
    if (pcu_args_parse(st, &mem_advise_signature, args, nargs, kwnames, &a) < 0 ||
        managed_range_parse(st, a.memory, a.size, &range) < 0 ||
        pcu_as_location(st, a.location, &place, "location") < 0 ||
        managed_advise_run(st, &range, a.advice, &place) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- prefetching ------------------------------------------------------------------- */

static int
managed_prefetch_run(pcu_state *st, const managed_range *range,
                     const CUmemLocation *place, CUstream stream)
{
    CUdevice device;
    CUresult status;
    int rc = pcu_current_context_ready(st);
    if (rc < 0) {
        return -1;
    }
    PCU_STATUS(status, MemPrefetchAsync_v2,
               (range->address, range->size, *place, 0, stream));
    const char *routine = "cuMemPrefetchAsync_v2";
    if (status == CUDA_ERROR_NOT_FOUND) {
        routine = "cuMemPrefetchAsync";
        if (managed_old_place(st, place, routine, &device) < 0) {
            return -1;
        }
        PCU_STATUS(status, MemPrefetchAsync,
                   (range->address, range->size, device, stream));
    }
    if (status != CUDA_SUCCESS) {
        return pcu_raise(st, routine, status);
    }
    return 0;
}

PCU_SIGNATURE(
    mem_prefetch, managed_words,
    "mem_prefetch($module, /, memory, location=None, stream=None, size=None)\n"
    "--\n\n"
    "Move managed memory to a place, in the order of a stream.\n"
    "\nParameters\n----------\n" MANAGED_DOC_MEMORY MANAGED_DOC_LOCATION PCU_DOC_STREAM
        MANAGED_DOC_SIZE
    "\nRaises\n------\n" MANAGED_DOC_NO_SIZE MANAGED_DOC_NOT_MANAGED
    "\nSee Also\n--------\n"
    "mem_prefetch_batch : Move several arrays.\n"
    "mem_advise : Advise the driver.\n"
    "\nNotes\n-----\n" PCU_DOC_NO_WAIT
    "NUMA nodes need a driver for CUDA 12.2.\n"
    "\nExamples\n--------\n"
    ">>> a = drv.managed_zeros(4, np.float32)\n"
    ">>> drv.mem_prefetch(a)")

static PyObject *
mem_prefetch(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    managed_args a = {
        .location = Py_None, .stream = pcu_stream_current(), .size = Py_None};
    managed_range range = {0};
    CUmemLocation place;
    if (pcu_args_parse(st, &mem_prefetch_signature, args, nargs, kwnames, &a) < 0 ||
        managed_range_parse(st, a.memory, a.size, &range) < 0 ||
        pcu_as_location(st, a.location, &place, "location") < 0 ||
        managed_prefetch_run(st, &range, &place, a.stream) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* The operands of a batch: four arrays in one piece of memory. */
typedef struct {
    size_t count;
    CUdeviceptr *addresses;
    size_t *sizes;
    size_t *indices;
    CUmemLocation *places;
} managed_batch;

static int
managed_batch_new(managed_batch *batch, size_t count)
{
    size_t each = sizeof(*batch->addresses) + sizeof(*batch->sizes) +
                  sizeof(*batch->indices) + sizeof(*batch->places);
    batch->count = count;
    batch->addresses = PyMem_Calloc(count + 1, each);
    if (batch->addresses == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    batch->sizes = (size_t *)(batch->addresses + count);
    batch->indices = batch->sizes + count;
    batch->places = (CUmemLocation *)(batch->indices + count);
    return 0;
}

/* Read the arrays and their places: a list, or one place for all. */
static int
managed_batch_fill(pcu_state *st, managed_batch *batch, PyObject *memories,
                   PyObject *locations)
{
    bool separate = PyList_Check(locations);
    if (separate && (size_t)PyList_GET_SIZE(locations) != batch->count) {
        PyErr_Format(PyExc_ValueError, "there are %zu arrays, but %zd locations",
                     batch->count, PyList_GET_SIZE(locations));
        return -1;
    }
    for (size_t i = 0; i < batch->count; i++) {
        managed_range range = {0};
        PyObject *place = locations;
        if (separate) {
            place = PyList_GET_ITEM(locations, i);
        }
        Py_INCREF(place);
        int rc =
            managed_range_parse(st, PyTuple_GET_ITEM(memories, i), Py_None, &range);
        if (rc == 0) {
            rc = pcu_as_location(st, place, &batch->places[i], "location");
        }
        Py_DECREF(place);
        if (rc < 0) {
            return -1;
        }
        if (separate && (size_t)PyList_GET_SIZE(locations) != batch->count) {
            PyErr_SetString(PyExc_RuntimeError, "locations changed during the call");
            return -1;
        }
        batch->addresses[i] = range.address;
        batch->sizes[i] = range.size;
        batch->indices[i] = i;
    }
    return 0;
}

/* One call, or one for each range: in the default stream, which the batch call refuses,
 * and with older drivers. */
static int
managed_batch_run(pcu_state *st, managed_batch *batch, CUstream stream)
{
    CUresult status = CUDA_ERROR_NOT_FOUND;
    int rc = pcu_current_context_ready(st);
    if (rc == 0 && stream != NULL && batch->count != 0) {
        PCU_STATUS(status, MemPrefetchBatchAsync,
                   (batch->addresses, batch->sizes, batch->count, batch->places,
                    batch->indices, batch->count, 0, stream));
    }
    if (status == CUDA_SUCCESS || rc < 0) {
        return rc;
    }
    if (status != CUDA_ERROR_NOT_FOUND) {
        return pcu_raise(st, "cuMemPrefetchBatchAsync", status);
    }
    for (size_t i = 0; rc == 0 && i < batch->count; i++) {
        const managed_range range = {batch->addresses[i], batch->sizes[i]};
        rc = managed_prefetch_run(st, &range, &batch->places[i], stream);
    }
    return rc;
}

PCU_SIGNATURE(mem_prefetch_batch, managed_words,
              "mem_prefetch_batch($module, /, memories, location=None, stream=None)\n"
              "--\n\n"
              "Move several arrays of managed memory, in the order of a stream.\n"
              "\nParameters\n----------\n"
              "memories : iterable of ndarray or DeviceAllocation\n"
              "    Arrays of ``managed_empty``, or their bases.\n"
              "location : Device, int, str, tuple, list or None, optional\n"
              "    One place for all, as in ``mem_advise``, or a list with a place\n"
              "    for each. The default is the current device.\n" PCU_DOC_STREAM
              "\nRaises\n------\n"
              "ValueError\n"
              "    If the list of places has another length.\n" MANAGED_DOC_NOT_MANAGED
              "\nSee Also\n--------\n"
              "mem_prefetch : Move one array.\n"
              "\nNotes\n-----\n"
              "The call does not wait. It is one call of the driver; there is one for\n"
              "each array in the default stream, and with a driver before CUDA 13.")

static PyObject *
mem_prefetch_batch(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    managed_args a = {.location = Py_None, .stream = pcu_stream_current()};
    managed_batch batch = {0};
    PyObject *memories = NULL;
    int rc =
        pcu_args_parse(st, &mem_prefetch_batch_signature, args, nargs, kwnames, &a);
    if (rc == 0) {
        memories = PySequence_Tuple(a.memories);
        rc = memories == NULL ? -1 : 0;
    }
    if (rc == 0) {
        rc = managed_batch_new(&batch, (size_t)PyTuple_GET_SIZE(memories));
    }
    if (rc == 0) {
        rc = managed_batch_fill(st, &batch, memories, a.location);
    }
    if (rc == 0) {
        rc = managed_batch_run(st, &batch, a.stream);
    }
    PyMem_Free(batch.addresses);
    Py_XDECREF(memories);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- attributes -------------------------------------------------------------------- */

/* A device's number of the driver as a Device, "host" or None. */
static PyObject *
managed_place_new(pcu_state *st, int device)
{
    if (device == OLD_HOST) {
        return PyUnicode_FromString("host");
    }
    if (device == OLD_NONE) {
        Py_RETURN_NONE;
    }
    return pcu_device_new(st, device);
}

static PyObject *
managed_accessors(pcu_state *st, const managed_range *range)
{
    enum { MOST = 64 };
    int devices[MOST];
    int count = 0;
    int rc;
    PCU_CALL(rc, st, DeviceGetCount, (&count));
    count += 1; /* the host too */
    if (count > MOST) {
        count = MOST;
    }
    if (rc == 0) {
        PCU_CALL(rc, st, MemRangeGetAttribute,
                 (devices, sizeof(int) * (size_t)count,
                  CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, range->address, range->size));
    }
    PyObject *list = NULL;
    if (rc == 0) {
        list = PyList_New(0);
    }
    for (int i = 0; list != NULL && i < count; i++) {
        if (devices[i] == OLD_NONE) {
            continue;
        }
        PyObject *place = managed_place_new(st, devices[i]);
        if (place == NULL || PyList_Append(list, place) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(place);
    }
    return list;
}

PCU_SIGNATURE(
    mem_range_get_attribute, managed_words,
    "mem_range_get_attribute($module, /, memory, attribute, size=None)\n"
    "--\n\n"
    "Return an attribute of managed memory.\n"
    "\nParameters\n----------\n" MANAGED_DOC_MEMORY
    "attribute : mem_range_attribute\n"
    "    The attribute.\n" MANAGED_DOC_SIZE
    "\nReturns\n-------\n"
    "bool, list, Device, str, int or None\n"
    "    ``READ_MOSTLY``: a bool. ``ACCESSED_BY``: a list of devices and\n"
    "    ``\"host\"``. ``PREFERRED_LOCATION`` and ``LAST_PREFETCH_LOCATION``:\n"
    "    a Device, ``\"host\"`` or None. Others: the driver's number.\n"
    "\nRaises\n------\n" MANAGED_DOC_NO_SIZE
    "LogicError\n"
    "    If the range is not in managed memory.\n"
    "\nSee Also\n--------\n"
    "mem_advise : Set the advice.\n"
    "\nExamples\n--------\n"
    ">>> a = drv.managed_zeros(4, np.float32)\n"
    ">>> drv.mem_advise(a, drv.mem_advice.SET_READ_MOSTLY)\n"
    ">>> drv.mem_range_get_attribute(a, drv.mem_range_attribute.READ_MOSTLY)\n"
    "True")

static PyObject *
mem_range_get_attribute(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    managed_args a = {.size = Py_None};
    managed_range range = {0};
    int value = 0;
    int rc;
    if (pcu_args_parse(st, &mem_range_get_attribute_signature, args, nargs, kwnames,
                       &a) < 0 ||
        managed_range_parse(st, a.memory, a.size, &range) < 0 ||
        pcu_current_context_ready(st) < 0) {
        return NULL;
    }
    if (a.attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
        return managed_accessors(st, &range);
    }
    PCU_CALL(rc, st, MemRangeGetAttribute,
             (&value, sizeof(value), a.attribute, range.address, range.size));
    if (rc < 0) {
        return NULL;
    }
    switch (a.attribute) {
        case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
            return PyBool_FromLong(value);
        case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
            return managed_place_new(st, value);
        default:
            return PyLong_FromLong(value);
    }
}

#define MANAGED_FUNCTION(name)                                                   \
    {                                                                            \
#        name, (PyCFunction)(void (*)(void))name, METH_FASTCALL | METH_KEYWORDS, \
            name##_doc                                                           \
    }

static PyMethodDef managed_functions[] = {
    MANAGED_FUNCTION(mem_advise),
    MANAGED_FUNCTION(mem_prefetch),
    MANAGED_FUNCTION(mem_prefetch_batch),
    MANAGED_FUNCTION(mem_range_get_attribute),
    {NULL, NULL, 0, NULL},
};

int
pcu_managed_range_setup(PyObject *m, pcu_state *st)
{
    (void)st;
    return PyModule_AddFunctions(m, managed_functions);
}
