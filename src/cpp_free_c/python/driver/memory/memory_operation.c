/* Operations on values in memory, as programs give them. See memory.h. */
#include "python/driver/memory/memory.h"

#include "python/support/convert.h"
#include "python/support/enums.h"

enum { OPERATIONS_MOST = 256 }; /* of one call of the driver */

int
pcu_memory_value_read(PyObject *value, unsigned int width, unsigned long long *bits)
{
    if (width == 8) {
        return pcu_as_integer(value, LLONG_MIN, ULLONG_MAX, bits, "value");
    }
    if (width == 4) {
        int rc = pcu_as_integer(value, INT_MIN, UINT_MAX, bits, "value");
        *bits &= UINT_MAX;
        return rc;
    }
    PyErr_Format(PyExc_ValueError, "width must be 4 or 8 bytes, not %u", width);
    return -1;
}

int
pcu_memory_value_address(pcu_state *st, PyObject *memory,
                         pcu_graph_resources *resources, CUdeviceptr *address)
{
    if (pcu_as_pointer(st, memory, address, "memory") < 0) {
        return -1;
    }
    if (resources == NULL) {
        if (pcu_captured_object(memory) < 0) {
            return -1;
        }
        return pcu_captured_address(*address);
    }
    if (!PyLong_Check(memory) && pcu_graph_resources_keep(resources, memory) < 0) {
        return -1;
    }
    return pcu_graph_resources_keep_word(resources, *address);
}

/* Read (WAIT_... or WRITE_..., memory, value[, flags]). */
static int
operation_read_value(pcu_state *st, PyObject *item, pcu_graph_resources *resources,
                     CUstreamBatchMemOpParams *p)
{
    Py_ssize_t n = PyTuple_GET_SIZE(item);
    unsigned int width = 4;
    if (p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
        p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
        width = 8;
    }
    if (n != 3 && n != 4) {
        PyErr_Format(PyExc_TypeError,
                     "an operation must be (stream_mem_op, memory, value) or "
                     "(stream_mem_op, memory, value, flags), not %R",
                     item);
        return -1;
    }
    if (pcu_memory_value_address(st, PyTuple_GET_ITEM(item, 1), resources,
                                 &p->waitValue.address) < 0 ||
        pcu_memory_value_read(PyTuple_GET_ITEM(item, 2), width, &p->waitValue.value64) <
            0) {
        return -1;
    }
    if (n == 4) {
        return pcu_as_uint(st, PyTuple_GET_ITEM(item, 3), &p->waitValue.flags, "flags");
    }
    return 0;
}

/* Read one operation. Those on values have their fields at the same places. */
static int
operation_read(pcu_state *st, PyObject *item, pcu_graph_resources *resources,
               CUstreamBatchMemOpParams *p)
{
    memset(p, 0, sizeof(*p));
    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) == 0) {
        PyErr_Format(PyExc_TypeError,
                     "an operation must be a tuple that begins with a stream_mem_op, "
                     "not %R",
                     item);
        return -1;
    }
    if (pcu_enum_value(st->enum_stream_mem_op, PyTuple_GET_ITEM(item, 0), &p->operation,
                       "the first item of an operation") < 0) {
        return -1;
    }
    if (p->operation != CU_STREAM_MEM_OP_BARRIER &&
        p->operation != CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES) {
        return operation_read_value(st, item, resources, p);
    }
    if (PyTuple_GET_SIZE(item) > 2) {
        PyErr_Format(PyExc_TypeError, "this operation takes flags only, not %R", item);
        return -1;
    }
    if (PyTuple_GET_SIZE(item) == 2) {
        return pcu_as_uint(st, PyTuple_GET_ITEM(item, 1), &p->memoryBarrier.flags,
                           "flags");
    }
    return 0;
}

int
pcu_memory_operations_read(pcu_state *st, PyObject *operations,
                           pcu_graph_resources *resources,
                           CUstreamBatchMemOpParams **list, unsigned int *count)
{
    *list = NULL;
    *count = 0;
    PyObject *items = PySequence_Tuple(operations);
    if (items == NULL) {
        return -1;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    int rc = -1;
    if (n > OPERATIONS_MOST) {
        PyErr_Format(PyExc_ValueError, "a batch has at most %d operations, not %zd",
                     OPERATIONS_MOST, n);
        goto done;
    }
    if (n == 0 && resources != NULL) {
        PyErr_SetString(PyExc_ValueError,
                        "a node of a graph needs at least one operation");
        goto done;
    }
    *list = PyMem_Calloc((size_t)n + 1, sizeof(**list));
    if (*list == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    rc = 0;
    for (Py_ssize_t i = 0; i < n && rc == 0; i++) {
        rc = operation_read(st, PyTuple_GET_ITEM(items, i), resources, &(*list)[i]);
    }
    *count = (unsigned int)n;
done:
    Py_DECREF(items);
    return rc;
}
