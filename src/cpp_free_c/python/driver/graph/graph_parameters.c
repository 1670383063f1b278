/* The driver's parameters of nodes. See graph.h. */
#include "python/driver/graph/graph.h"

#include "python/support/buffer.h"
#include "python/support/convert.h"
#include "python/support/driver_thread.h"
#include "python/driver/launch/launch.h"
#include "python/driver/memory/gpuarray.h"
#include "python/driver/memory/memory.h"

/* -- kernels ----------------------------------------------------------------------- */

/* Read one keyword. Return 1 if it is not known. */
static int
shape_keyword(pcu_state *st, PyObject *name, PyObject *value, pcu_launch_shape *shape,
              bool *has_block, PyObject **after)
{
    if (PyUnicode_CompareWithASCIIString(name, "block") == 0) {
        *has_block = value != Py_None;
        if (value == Py_None) {
            return 0;
        }
        return pcu_as_dims(st, value, shape->block, "block");
    }
    if (PyUnicode_CompareWithASCIIString(name, "grid") == 0) {
        if (value == Py_None) {
            return 0;
        }
        return pcu_as_dims(st, value, shape->grid, "grid");
    }
    if (PyUnicode_CompareWithASCIIString(name, "shared") == 0) {
        if (value == Py_None) {
            return 0;
        }
        return pcu_as_uint(st, value, &shape->shared, "shared");
    }
    if (after != NULL && PyUnicode_CompareWithASCIIString(name, "after") == 0) {
        *after = value;
        return 0;
    }
    return 1;
}

int
pcu_graph_read_shape(pcu_state *st, const char *function, PyObject *const *values,
                     PyObject *kwnames, pcu_launch_shape *shape, bool *has_block,
                     PyObject **after)
{
    Py_ssize_t n = 0;
    if (kwnames != NULL) {
        n = PyTuple_GET_SIZE(kwnames);
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        int rc = shape_keyword(st, name, values[i], shape, has_block, after);
        if (rc == 1) {
            PyErr_Format(PyExc_TypeError,
                         "%s() takes block, grid and shared by keyword, not '%U'",
                         function, name);
        }
        if (rc != 0) {
            return -1;
        }
    }
    return 0;
}

/* In and Out copy at each call; a node of a graph is not a call. */
static int
kernel_refuse_handlers(pcu_function *function, PyObject **memory, Py_ssize_t nargs)
{
    if (memory == NULL) {
        return 0;
    }
    pcu_handlers_release(memory, nargs);
    PyErr_Format(PyExc_TypeError,
                 "In, Out and InOut are no arguments of a node of %U; add copies of "
                 "your own by add_copy()",
                 function->name);
    return -1;
}

void
pcu_kernel_node_describe(const pcu_function *function, const pcu_launch_shape *shape,
                         void *data, size_t *size, void *extra[PCU_KERNEL_EXTRA],
                         CUDA_KERNEL_NODE_PARAMS *params)
{
    extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    extra[1] = data;
    extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    extra[3] = size;
    extra[4] = CU_LAUNCH_PARAM_END;
    memset(params, 0, sizeof(*params));
    params->func = function->handle;
    params->gridDimX = shape->grid[0];
    params->gridDimY = shape->grid[1];
    params->gridDimZ = shape->grid[2];
    params->blockDimX = shape->block[0];
    params->blockDimY = shape->block[1];
    params->blockDimZ = shape->block[2];
    params->sharedMemBytes = shape->shared;
    if (*size != 0) {
        params->extra = extra;
    }
}

int
pcu_kernel_parameters(pcu_function *function, PyObject *const *args, Py_ssize_t nargs,
                      const pcu_launch_shape *shape, pcu_argument_buffer *buffer,
                      void *extra[PCU_KERNEL_EXTRA], CUDA_KERNEL_NODE_PARAMS *params)
{
    PyObject **memory = NULL;
    if ((!function->described && pcu_function_describe(function) < 0) ||
        pcu_launch_check(function, shape) < 0) {
        return -1;
    }
    int rc = pcu_arguments_pack(function, args, nargs, NULL, buffer, &memory);
    if (memory != NULL) {
        if (rc == 0) {
            rc = kernel_refuse_handlers(function, memory, nargs);
        }
        else {
            pcu_handlers_release(memory, nargs);
        }
    }
    if (rc < 0) {
        return -1;
    }
    pcu_kernel_node_describe(function, shape, buffer->data, &buffer->used, extra,
                             params);
    return 0;
}

/* -- copies ------------------------------------------------------------------------ */

/* One side of a copy: memory of the host or of the device, and its bytes if known. */
typedef struct {
    bool is_host;
    void *host;
    CUdeviceptr device;
    bool has_size;
    size_t size;
} copy_end;

/* Whether the object has memory of the host. */
static bool
copy_is_host(pcu_state *st, PyObject *object)
{
    return !pcu_is_array(st, object) && !PyLong_Check(object) &&
           !PyObject_TypeCheck(object, st->DeviceAllocation) &&
           !PyObject_TypeCheck(object, st->PooledDeviceAllocation) &&
           PyObject_CheckBuffer(object) && !PyArray_IsScalar(object, Generic);
}

/* Device memory: the address, and the bytes that the object is known to have. */
static int
copy_read_device(pcu_state *st, PyObject *object, const char *name, copy_end *end)
{
    if (pcu_as_pointer(st, object, &end->device, name) < 0) {
        return -1;
    }
    if (pcu_is_array(st, object)) {
        const pcu_gpuarray *array = (pcu_gpuarray *)object;
        if (!array->contiguous) {
            PyErr_Format(PyExc_ValueError, "%s is an array with gaps; copy() packs it",
                         name);
            return -1;
        }
        end->has_size = true;
        end->size = pcu_gpuarray_nbytes(array);
        return st->check_array(object);
    }
    if (PyObject_TypeCheck(object, st->DeviceAllocation) ||
        PyObject_TypeCheck(object, st->PooledDeviceAllocation)) {
        const pcu_resource *memory = (const pcu_resource *)object;
        end->has_size = memory->has_size;
        end->size = memory->size;
    }
    return 0;
}

/* Read one side, and let the graph keep it. A buffer that is no array of NumPy is held
 * as a memoryview, so that its memory cannot move. */
static int
copy_read(pcu_state *st, PyObject *object, bool writable, const char *name,
          pcu_graph_resources *resources, copy_end *end)
{
    memset(end, 0, sizeof(*end));
    end->is_host = copy_is_host(st, object);
    if (!end->is_host) {
        if (copy_read_device(st, object, name, end) < 0 ||
            pcu_graph_resources_keep_word(resources, end->device) < 0) {
            return -1;
        }
        if (pcu_is_array(st, object)) {
            object = ((pcu_gpuarray *)object)->memory;
        }
        if (object == NULL || PyLong_Check(object) ||
            Py_IS_TYPE(object, st->DeviceAllocation) ||
            Py_IS_TYPE(object, st->PooledDeviceAllocation)) {
            return 0;
        }
        return pcu_graph_resources_keep(resources, object);
    }
    pcu_buffer buffer = {0};
    if (pcu_buffer_acquire(&buffer, object, writable, name) < 0) {
        return -1;
    }
    end->host = buffer.data;
    end->has_size = true;
    end->size = buffer.size;
    pcu_buffer_release(&buffer);
    if (PyArray_Check(object)) {
        return pcu_graph_resources_keep(resources, object);
    }
    PyObject *view = PyMemoryView_FromObject(object);
    int rc = -1;
    if (view != NULL) {
        rc = pcu_graph_resources_keep(resources, view);
        Py_DECREF(view);
    }
    return rc;
}

/* The bytes of the copy, which both sides must have. */
static int
copy_size(pcu_state *st, PyObject *size, const copy_end *dest, const copy_end *src,
          size_t *bytes)
{
    if (size != NULL && size != Py_None) {
        if (pcu_as_size(st, size, bytes, "size") < 0) {
            return -1;
        }
    }
    else if (!dest->has_size && !src->has_size) {
        PyErr_SetString(PyExc_TypeError,
                        "size must be given: both dest and src are addresses");
        return -1;
    }
    else {
        *bytes = SIZE_MAX;
        if (dest->has_size) {
            *bytes = dest->size;
        }
        if (src->has_size && src->size < *bytes) {
            *bytes = src->size;
        }
    }
    if ((dest->has_size && dest->size < *bytes) ||
        (src->has_size && src->size < *bytes)) {
        PyErr_Format(PyExc_ValueError,
                     "%zu bytes cannot be copied: dest has %zu and src has %zu bytes",
                     *bytes, dest->has_size ? dest->size : *bytes,
                     src->has_size ? src->size : *bytes);
        return -1;
    }
    return 0;
}

int
pcu_copy_parameters(pcu_state *st, PyObject *dest, PyObject *src, PyObject *size,
                    pcu_graph_resources *resources, CUDA_MEMCPY3D *copy)
{
    enum { HOST = 1, DEVICE = 2 }; /* CUmemorytype */
    copy_end to;
    copy_end from;
    memset(copy, 0, sizeof(*copy));
    if (copy_read(st, dest, 1, "dest", resources, &to) < 0 ||
        copy_read(st, src, 0, "src", resources, &from) < 0 ||
        copy_size(st, size, &to, &from, &copy->WidthInBytes) < 0) {
        return -1;
    }
    copy->Height = copy->Depth = 1;
    copy->dstMemoryType = DEVICE;
    copy->dstDevice = to.device;
    if (to.is_host) {
        copy->dstMemoryType = HOST;
        copy->dstHost = to.host;
    }
    copy->srcMemoryType = DEVICE;
    copy->srcDevice = from.device;
    if (from.is_host) {
        copy->srcMemoryType = HOST;
        copy->srcHost = from.host;
    }
    copy->dstPitch = copy->srcPitch = copy->WidthInBytes;
    copy->dstHeight = copy->srcHeight = 1;
    return 0;
}

/* -- fills ------------------------------------------------------------------------- */

int
pcu_set_parameters(pcu_state *st, PyObject *dest, PyObject *value, PyObject *count,
                   unsigned int width, pcu_graph_resources *resources,
                   CUDA_MEMSET_NODE_PARAMS *fill)
{
    copy_end to;
    unsigned long long bits = 0;
    memset(fill, 0, sizeof(*fill));
    if (width != 1 && width != 2 && width != 4) {
        PyErr_Format(PyExc_ValueError, "width is %u bytes; 1, 2 and 4 are possible",
                     width);
        return -1;
    }
    if (pcu_as_integer(value, -(1LL << (8 * width - 1)), UINT64_MAX >> (64 - 8 * width),
                       &bits, "value") < 0) {
        return -1;
    }
    if (copy_is_host(st, dest)) {
        PyErr_Format(PyExc_TypeError, "dest must be device memory, not %s",
                     Py_TYPE(dest)->tp_name);
        return -1;
    }
    if (copy_read(st, dest, 1, "dest", resources, &to) < 0) {
        return -1;
    }
    fill->width = to.size / width;
    if (count != NULL && count != Py_None) {
        if (pcu_as_size(st, count, &fill->width, "count") < 0) {
            return -1;
        }
    }
    else if (!to.has_size) {
        PyErr_SetString(PyExc_TypeError, "count must be given: dest is an address");
        return -1;
    }
    if (to.has_size && fill->width > to.size / width) {
        PyErr_Format(PyExc_ValueError,
                     "%zu elements of %u bytes do not fit into dest, which has %zu "
                     "bytes",
                     fill->width, width, to.size);
        return -1;
    }
    fill->dst = to.device;
    fill->value = (unsigned int)(bits & (UINT64_MAX >> (64 - 8 * width)));
    fill->elementSize = width;
    fill->height = 1;
    fill->pitch = fill->width * width;
    return 0;
}

/* -- host functions, events, children ---------------------------------------------- */

/* Called by the driver, in a thread of its own, when the node runs. */
static void
host_node_run(void *function)
{
    pcu_driver_thread thread;
    if (!pcu_driver_thread_enter(&thread)) {
        return;
    }
    PyObject *result = PyObject_CallNoArgs((PyObject *)function);
    if (result == NULL) {
        PyErr_WriteUnraisable((PyObject *)function);
    }
    Py_XDECREF(result);
    pcu_driver_thread_leave(&thread);
}

int
pcu_host_parameters(PyObject *function, pcu_graph_resources *resources,
                    CUDA_HOST_NODE_PARAMS *host)
{
    if (!PyCallable_Check(function)) {
        PyErr_Format(PyExc_TypeError, "function must be callable, not %s",
                     Py_TYPE(function)->tp_name);
        return -1;
    }
    if (pcu_graph_resources_keep(resources, function) < 0) {
        return -1;
    }
    resources->calls_host = true;
    host->fn = host_node_run;
    host->userData = function;
    return 0;
}

int
pcu_event_parameter(pcu_state *st, PyObject *value, pcu_graph_resources *resources,
                    CUevent *event)
{
    if (!PyObject_TypeCheck(value, st->Event)) {
        PyErr_Format(PyExc_TypeError, "event must be an Event, not %s",
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    if (pcu_resource_check((pcu_resource *)value, "cuGraphAddNode") < 0 ||
        pcu_graph_resources_keep(resources, value) < 0) {
        return -1;
    }
    *event = ((pcu_resource *)value)->handle.event;
    return 0;
}

int
pcu_child_parameter(pcu_state *st, PyObject *value, pcu_graph_resources *resources,
                    CUgraph *child)
{
    if (!PyObject_TypeCheck(value, st->Graph)) {
        PyErr_Format(PyExc_TypeError, "graph must be a Graph, not %s",
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    pcu_graph *graph = (pcu_graph *)value;
    if (pcu_graph_check(graph, "cuGraphAddNode") < 0) {
        return -1;
    }
    if (graph->resources != resources &&
        pcu_graph_resources_keep(resources, (PyObject *)graph->resources) < 0) {
        return -1;
    }
    resources->calls_host |= graph->resources->calls_host;
    *child = graph->head.handle.graph;
    return 0;
}
