/* The type StreamAllocation, and mem_alloc_async: memory that is allocated and freed in
 * the order of a stream.
 *
 * Invariant: a StreamAllocation is a DeviceAllocation. It keeps its stream alive and is
 * freed in it, behind the work of all other streams that may use the memory
 * (driver/stream_use.h). Callers: Python, and stream_pool.c. */
#include "python/driver/memory/memory.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "driver/stream_use.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"
#include "python/driver/stream.h"

typedef struct {
    pcu_resource head;
    PyObject *stream; /* keeps it alive; NULL: the default stream */
    PyObject *pool;   /* keeps the driver's pool alive, or NULL */
    CUstream handle;
    pcu_stream_life life;
} stream_allocation;

static pcu_context_record *
stream_allocation_rec(const stream_allocation *self)
{
    return &((pcu_context *)self->head.ctx)->rec;
}

/* Let the stream wait for the other streams that may use the memory. */
static CUresult
stream_allocation_order(stream_allocation *self, CUstream stream, const char **routine)
{
    pcu_context_record *rec = stream_allocation_rec(self);
    pcu_stream_table *table = NULL;
    pcu_scope scope;
    if (pcu_context_record_usable(rec)) {
        table = pcu_stream_table_tracking(rec);
    }
    if (table == NULL) {
        return CUDA_SUCCESS;
    }
    CUresult status = pcu_scope_enter(&scope, rec);
    *routine = scope.routine;
    if (status != CUDA_SUCCESS) {
        return status;
    }
    pcu_stream_life_end(&self->life, table);
    status = pcu_stream_life_order(&self->life, table, stream, routine);
    CUresult left = pcu_scope_leave(&scope);
    if (status == CUDA_SUCCESS && left != CUDA_SUCCESS) {
        *routine = "cuCtxPopCurrent";
        status = left;
    }
    return status;
}

/* Free the memory in the order of the stream. */
static CUresult
stream_allocation_release(stream_allocation *self, CUstream stream,
                          const char **routine)
{
    bool ended = false;
    if (pcu_release_is_taken(PCU_HANDLE_ordered, self->head.handle, self->head.ctx)) {
        self->head.live = false;
        return CUDA_SUCCESS;
    }
    self->head.live = false; /* no other thread releases it during the calls */
    CUresult status = stream_allocation_order(self, stream, routine);
    if (status == CUDA_SUCCESS) {
        status = pcu_release_async(PCU_HANDLE_ordered, self->head.handle, stream,
                                   self->head.ctx, routine, &ended);
    }
    self->head.live = !ended;
    return status;
}

PCU_SIGNATURE_OF_ONE(
    stream_allocation_free, "stream", pcu_as_object,
    "free($self, /, stream=None)\n--\n\n"
    "Free the memory in the order of a stream.\n"
    "\nParameters\n----------\n"
    "stream : Stream or None, optional\n"
    "    Stream behind whose work the memory is freed. The default is the\n"
    "    stream of the allocation.\n"
    "\nRaises\n------\n" PCU_DOC_RELEASED
    "\nSee Also\n--------\n"
    "mem_alloc_async : Allocate such memory.\n"
    "\nNotes\n-----\n"
    "The call does not wait. The stream waits for the work of other streams\n"
    "that may use the memory.")

static PyObject *
stream_allocation_free(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    stream_allocation *self = (stream_allocation *)op;
    PyObject *given = Py_None;
    CUstream stream = self->handle;
    const char *routine = "";
    if (pcu_args_parse(self->head.st, &stream_allocation_free_signature, args, nargs,
                       kwnames, PCU_ONLY(stream_allocation_free, &given)) < 0 ||
        (given != Py_None &&
         pcu_as_stream(self->head.st, given, &stream, "stream") < 0)) {
        return NULL;
    }
    if (!self->head.live) {
        pcu_resource_check_slow(&self->head, "cuMemFreeAsync");
        return NULL;
    }
    CUresult status = stream_allocation_release(self, stream, &routine);
    if (status != CUDA_SUCCESS) {
        pcu_raise(self->head.st, routine, status);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* If the order of the stream cannot be kept, for example during a capture, the memory
 * is freed behind all work of the device. */
static void
stream_allocation_dealloc(PyObject *op)
{
    stream_allocation *self = (stream_allocation *)op;
    PyObject *stream = self->stream;
    PyObject *pool = self->pool;
    const char *routine = "";
    PyObject_GC_UnTrack(op);
    if (self->head.live) {
        /* If this fails, pcu_resource_dealloc frees the memory. */
        (void)stream_allocation_release(self, self->handle, &routine);
    }
    pcu_stream_followers -= self->head.ctx != NULL;
    PyObject_GC_Track(op); /* pcu_resource_dealloc untracks it */
    self->stream = NULL;
    self->pool = NULL;
    pcu_resource_dealloc(op);
    Py_XDECREF(stream);
    Py_XDECREF(pool);
}

static int
stream_allocation_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((stream_allocation *)op)->stream);
    Py_VISIT(((stream_allocation *)op)->pool);
    return pcu_resource_traverse(op, visit, arg);
}

static PyObject *
stream_allocation_get_stream(PyObject *op, void *Py_UNUSED(closure))
{
    PyObject *stream = ((stream_allocation *)op)->stream;
    if (stream == NULL) {
        Py_RETURN_NONE;
    }
    return Py_NewRef(stream);
}

static PyMethodDef stream_allocation_methods[] = {
    PCU_METHOD("free", stream_allocation_free),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef stream_allocation_getset[] = {
    {"stream", stream_allocation_get_stream, NULL,
     "The stream in which the memory is freed; None: the default stream.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(stream_allocation_doc,
             "Device memory that is allocated and freed in the order of a stream.\n"
             "\n"
             "``mem_alloc_async()`` and ``MemoryPool.import_pointer()`` make it. It\n"
             "is freed with the object.\n"
             "\nSee Also\n--------\n"
             "mem_alloc_async : Allocate such memory.\n"
             "MemoryPool : A pool of such memory.");

static PyType_Slot stream_allocation_slots[] = {
    {Py_tp_doc, (void *)stream_allocation_doc},
    {Py_tp_traverse, stream_allocation_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, stream_allocation_dealloc},
    {Py_tp_getset, stream_allocation_getset},
    {Py_tp_methods, stream_allocation_methods},
    {0, NULL},
};

static PyType_Spec stream_allocation_spec = {
    "pycuda._driver.StreamAllocation", sizeof(stream_allocation), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    stream_allocation_slots};

PyObject *
pcu_stream_allocation_new(pcu_state *st, PyObject *ctx, CUdeviceptr memory, size_t size,
                          PyObject *stream, CUstream handle, PyObject *pool)
{
    pcu_handle made = {.ordered = memory};
    stream_allocation *self = (stream_allocation *)pcu_resource_with_size(
        pcu_resource_new(st, st->StreamAllocation, ctx, PCU_HANDLE_ordered, made),
        size);
    if (self == NULL) {
        return NULL;
    }
    if (pool == NULL) { /* memory of another process has its owner there */
        pcu_memory_noted((PyObject *)self, PCU_MEMORY_STREAM, size);
    }
    pcu_stream_followers++;
    self->stream = Py_XNewRef(stream);
    self->pool = Py_XNewRef(pool);
    self->handle = handle;
    pcu_stream_table *table = pcu_stream_table_tracking(stream_allocation_rec(self));
    if (table != NULL) {
        pcu_stream_life_begin(&self->life, table);
    }
    return (PyObject *)self;
}

typedef struct {
    size_t bytes;
    PyObject *stream;
} stream_allocation_args;

static const pcu_word stream_allocation_words[] = {
    PCU_WORD("bytes", pcu_as_size, stream_allocation_args, bytes),
    PCU_WORD("stream", pcu_as_object, stream_allocation_args, stream),
};

PCU_SIGNATURE(mem_alloc_async, stream_allocation_words,
              "mem_alloc_async($module, /, bytes, stream=None)\n--\n\n"
              "Allocate device memory in the order of a stream.\n"
              "\nParameters\n----------\n"
              "bytes : int\n"
              "    Bytes to allocate, at least 1.\n" PCU_DOC_STREAM
              "\nReturns\n-------\n"
              "StreamAllocation\n"
              "    The memory; a DeviceAllocation while the thread captures a stream.\n"
              "\nRaises\n------\n"
              "MemoryError\n"
              "    If memory is short, also after a collection of garbage.\n"
              "LogicError\n"
              "    For 0 bytes.\n"
              "\nSee Also\n--------\n"
              "MemoryPool.get_current : Find the pool of the memory.\n"
              "mem_alloc : Allocate without a stream.\n"
              "\nNotes\n-----\n"
              "The call does not wait. The memory comes from the current pool of the\n"
              "device. Work of another stream must wait for the stream before it uses\n"
              "the memory.\n"
              "\nExamples\n--------\n"
              ">>> stream = drv.Stream()\n"
              ">>> memory = drv.mem_alloc_async(16, stream)\n"
              ">>> drv.memset_d8_async(memory, 0, 16, stream)\n"
              ">>> memory.free()")

static PyObject *
mem_alloc_async(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    stream_allocation_args a = {.stream = Py_None};
    CUstream handle = NULL;
    CUdeviceptr memory = 0;
    PyObject *result = NULL;
    CUresult status;
    if (pcu_args_parse(st, &mem_alloc_async_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_as_stream(st, a.stream, &handle, "stream") < 0) {
        return NULL;
    }
    if (a.bytes == 0) { /* some drivers return the address 0 */
        pcu_raise_detail(st, "cuMemAllocAsync", CUDA_ERROR_INVALID_VALUE,
                         "0 bytes were asked for");
        return NULL;
    }
    if (a.stream == Py_None) {
        a.stream = (PyObject *)pcu_stream_find_borrow();
    }
    if (pcu_captured_pool() != NULL) {
        /* A graph would allocate at each launch, and the object is older than that. */
        return pcu_allocation_new(st, a.bytes);
    }
    PyObject *stream = Py_XNewRef(a.stream);
    PyObject *ctx = pcu_context_require(st, "cuMemAllocAsync");
    if (ctx == NULL) {
        goto done;
    }
    PCU_ALLOCATE(status, MemAllocAsync, (&memory, a.bytes, handle));
    if (status == CUDA_SUCCESS) {
        result =
            pcu_stream_allocation_new(st, ctx, memory, a.bytes, stream, handle, NULL);
    }
    else {
        pcu_out_of_memory_raise(st, "cuMemAllocAsync", status, a.bytes);
    }
done:
    Py_XDECREF(ctx);
    Py_XDECREF(stream);
    return result;
}

static PyMethodDef stream_allocation_functions[] = {
    PCU_METHOD("mem_alloc_async", mem_alloc_async),
    {NULL, NULL, 0, NULL},
};

int
pcu_stream_allocation_setup(PyObject *m, pcu_state *st)
{
    PyObject *bases = PyTuple_Pack(1, (PyObject *)st->DeviceAllocation);
    int rc = -1;
    if (bases != NULL) {
        rc = pcu_add_type(m, &st->StreamAllocation, &stream_allocation_spec, bases);
    }
    Py_XDECREF(bases);
    if (rc < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, stream_allocation_functions);
}
