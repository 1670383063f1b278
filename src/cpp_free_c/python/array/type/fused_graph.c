/* Runs of recorded functions as CUDA graphs: see fused.h.
 *
 * The second call of a run captures its steps, and later calls launch the graph: one
 * call of the driver for all kernels, also those of libraries. Kernels of this package
 * get the addresses of the call's arrays before. Those of libraries cannot. They use
 * memory of the graph, into which it copies small arguments and out of which it copies
 * results; of each larger argument that they use, a graph serves one address.
 *
 * Invariant: a graph does not keep the arrays of a call. A call that launches it has
 * arrays at all addresses that the graph uses. A program whose larger arguments are
 * always elsewhere pays for few captures, and then enqueues the steps one by one.
 * Caller: fused_run.c. */
#include "python/array/type/fused.h"

#include "driver/capture.h"
#include "driver/shape.h"
#include "python/array/construction.h"
#include "python/driver/graph/graph.h"
#include "python/driver/graph_resources.h"
#include "python/driver/stream.h"
#include "python/support/errors.h"

enum {
    GRAPH_TRIALS = 16, /* captures that need no earlier hits */
    GRAPH_HITS = 8     /* hits that allow a capture more */
};

/* -- which graph ------------------------------------------------------------------- */

/* Note the addresses of the arrays that a call has. */
static int
graph_read_addresses(const pcu_fused_memory *memory, const pcu_context *ctx,
                     CUdeviceptr *addresses)
{
    int rc = 0;
    for (Py_ssize_t i = 0; rc == 0 && i < memory->count; i++) {
        pcu_gpuarray *array = (pcu_gpuarray *)memory->arrays[i];
        addresses[i] = 0;
        if (array != NULL) {
            rc = pcu_fused_address(array, ctx, &addresses[i]);
        }
    }
    return rc;
}

static bool
graph_serves(const pcu_fused_graph *self, PyObject *fixed, const CUdeviceptr *addresses)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fixed); i++) {
        Py_ssize_t block = pcu_fused_block(fixed, i);
        if (self->addresses[block] != addresses[block]) {
            return false;
        }
    }
    return true;
}

static pcu_fused_graph *
graph_find(pcu_fused_graphs *self, const CUdeviceptr *addresses)
{
    for (int k = 0; k < PCU_FUSED_GRAPHS && self->items[k].exec != NULL; k++) {
        if (graph_serves(&self->items[k], self->fixed, addresses)) {
            return &self->items[k];
        }
    }
    return NULL;
}

/* Whether a capture is likely to pay. */
static bool
graph_may_capture(const pcu_fused_graphs *self)
{
    return !self->capturing && self->made < GRAPH_TRIALS + self->hits / GRAPH_HITS;
}

/* -- changes ----------------------------------------------------------------------- */

/* Whether a kernel uses an array that the call has elsewhere than the graph. */
static bool
step_has_moved(const pcu_fused_step *step, const pcu_fused_graph *graph,
               const CUdeviceptr *addresses)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(step->pointers); i++) {
        Py_ssize_t block = pcu_fused_block(step->pointers, i);
        if (addresses[block] != 0 && addresses[block] != graph->addresses[block]) {
            return true;
        }
    }
    return false;
}

/* Give the node of a kernel the addresses of a call. */
static int
step_move(const pcu_fused_step *step, const pcu_fused_graph *graph, CUgraphNode node,
          const CUdeviceptr *addresses)
{
    pcu_graph_exec *exec = (pcu_graph_exec *)graph->exec;
    size_t size = step->plan->size;
    pcu_argument_buffer buffer;
    CUDA_KERNEL_NODE_PARAMS params;
    void *extra[PCU_KERNEL_EXTRA];
    int rc;
    pcu_argument_buffer_init(&buffer);
    unsigned char *bytes = pcu_argument_buffer_reserve(&buffer, size, 1);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(bytes, step->params, size);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(step->pointers); i++) {
        Py_ssize_t block = pcu_fused_block(step->pointers, i);
        CUdeviceptr address =
            addresses[block] != 0 ? addresses[block] : graph->addresses[block];
        address += (CUdeviceptr)pcu_fused_block(step->offsets, i);
        memcpy(bytes + step->plan->items[i].offset, &address, sizeof(address));
    }
    pcu_kernel_node_describe((pcu_function *)step->work, &step->shape, bytes, &size,
                             extra, &params);
    PCU_EXEC_CALL(rc, exec, GraphExecKernelNodeSetParams,
                  (exec->head.handle.graph_exec, node, &params));
    pcu_argument_buffer_free(&buffer);
    return rc;
}

/* Let a node copy from or to an address. */
static int
copy_move(const pcu_fused_copy *self, const pcu_fused_graph *graph, CUdeviceptr address)
{
    pcu_graph_exec *exec = (pcu_graph_exec *)graph->exec;
    const CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = self->out ? self->own : address,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = self->out ? address : self->own,
        .WidthInBytes = self->size,
        .Height = 1,
        .Depth = 1,
    };
    int rc;
    PCU_EXEC_CALL(rc, exec, GraphExecMemcpyNodeSetParams,
                  (exec->head.handle.graph_exec, self->node, &copy,
                   pcu_context_rec(exec->head.ctx)->handle));
    return rc;
}

static Py_ssize_t
graphs_count_copies(const pcu_fused_graphs *self)
{
    return PyTuple_GET_SIZE(self->ins) + PyTuple_GET_SIZE(self->outs);
}

/* Let the kernels and copies of a graph use the arrays of a call. */
static int
graph_move(const pcu_fused_run *run, const pcu_fused_graph *self,
           CUdeviceptr *addresses)
{
    int rc = 0;
    for (Py_ssize_t i = 0; rc == 0 && i < graphs_count_copies(&run->graphs); i++) {
        pcu_fused_copy *copy = &self->copies[i];
        CUdeviceptr address = addresses[copy->block];
        if (copy->node != NULL && address != copy->address) {
            rc = copy_move(copy, self, address + (CUdeviceptr)copy->low);
            copy->address = rc < 0 ? 0 : address; /* 0: try again in the next call */
        }
        addresses[copy->block] = 0; /* no kernel uses it */
    }
    for (Py_ssize_t i = 0; rc == 0 && i < run->count; i++) {
        if (self->nodes[i] != NULL && step_has_moved(&run->items[i], self, addresses)) {
            rc = step_move(&run->items[i], self, self->nodes[i], addresses);
        }
    }
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_GET_SIZE(run->sources); i++) {
        if (addresses[i] != 0) {
            self->addresses[i] = addresses[i];
        }
    }
    return rc;
}

/* -- capture ----------------------------------------------------------------------- */

/* End a capture whose work raised: the exception stays. */
static void
capture_abandon(PyObject *capture)
{
    pcu_saved_error pending;
    pcu_error_save(&pending);
    PyObject *done = PyObject_CallMethod(capture, "__exit__", "OOO", PyExc_Exception,
                                         Py_None, Py_None);
    PyErr_Clear(); /* the first error is the one to report */
    Py_XDECREF(done);
    pcu_error_restore(&pending);
}

/* Enqueue a copy between an array of the call and one of the graph with the same
 * layout, bytes between the elements included. */
static int
capture_copy(const pcu_fused_run *run, pcu_fused_copy *self, const pcu_gpuarray *array,
             const pcu_gpuarray *own)
{
    const CUstream stream = ((pcu_resource *)run->graphs.stream)->handle.stream;
    Py_ssize_t low = 0;
    Py_ssize_t high = 0;
    if (array->count == 0) {
        return 0;
    }
    int rc = pcu_extent(array->ndim, array->shape, array->strides,
                        pcu_gpuarray_itemsize(array), &low, &high);
    if (rc < 0) {
        PyErr_SetString(PyExc_ValueError, "an array with these strides is too big");
        return -1;
    }
    self->size = (size_t)high - (size_t)low;
    self->low = low;
    self->own = own->address + (CUdeviceptr)low;
    self->address = array->address;
    CUdeviceptr address = array->address + (CUdeviceptr)low;
    PCU_CALL(rc, run->st, MemcpyDtoDAsync,
             (self->out ? address : self->own, self->out ? self->own : address,
              self->size, stream));
    self->node = rc < 0 ? NULL : pcu_captured_last(stream);
    return rc;
}

/* Copy arguments into memory of the graph, which the steps use instead. */
static int
capture_copies_in(const pcu_fused_run *run, pcu_fused_memory *memory,
                  pcu_fused_copy *copies)
{
    int rc = 0;
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_GET_SIZE(run->graphs.ins); i++) {
        copies[i].block = pcu_fused_block(run->graphs.ins, i);
        PyObject **place = &memory->arrays[copies[i].block];
        const pcu_gpuarray *given = (const pcu_gpuarray *)*place;
        PyObject *own = pcu_gpuarray_new(run->st, NULL, given->ndim, given->shape,
                                         given->strides, given->dtype, NULL);
        if (own == NULL) {
            return -1;
        }
        ((pcu_gpuarray *)own)->counts_as = given->counts_as;
        rc = capture_copy(run, &copies[i], given, (const pcu_gpuarray *)own);
        Py_SETREF(*place, own);
    }
    return rc;
}

/* Let the steps give results memory of the graph. */
static void
capture_take_results(const pcu_fused_run *run, const pcu_fused_memory *memory)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(run->graphs.outs); i++) {
        Py_CLEAR(memory->arrays[pcu_fused_block(run->graphs.outs, i)]);
    }
}

/* Copy results from memory of the graph. `given` has the arrays of the call. */
static int
capture_copies_out(const pcu_fused_run *run, const pcu_fused_memory *memory,
                   PyObject *const *given, pcu_fused_copy *copies)
{
    int rc = 0;
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_GET_SIZE(run->graphs.outs); i++) {
        Py_ssize_t block = pcu_fused_block(run->graphs.outs, i);
        copies[i].block = block;
        copies[i].out = true;
        rc = capture_copy(run, &copies[i], (const pcu_gpuarray *)given[block],
                          (const pcu_gpuarray *)memory->arrays[block]);
    }
    return rc;
}

/* Capture the steps into the graph of a capture that has begun, and note the nodes. */
static int
capture_steps(const pcu_fused_run *self, pcu_fused_memory *memory,
              const pcu_context *ctx, CUgraphNode *nodes)
{
    const CUstream stream = ((pcu_resource *)self->graphs.stream)->handle.stream;
    int rc = 0;
    for (Py_ssize_t i = 0; rc == 0 && i < self->count; i++) {
        rc = pcu_fused_step_run(&self->items[i], memory, ctx);
        if (rc == 0 && self->items[i].plan != NULL) {
            nodes[i] = pcu_captured_last(stream);
            rc = nodes[i] == NULL ? -1 : 0;
        }
    }
    if (rc < 0 && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_RuntimeError, "a captured kernel has no node");
    }
    return rc;
}

/* Capture the copies and the steps. */
static int
capture_all(const pcu_fused_run *self, pcu_fused_memory *memory, PyObject *const *given,
            const pcu_context *ctx, pcu_fused_graph *graph)
{
    int rc = capture_copies_in(self, memory, graph->copies);
    if (rc == 0) {
        capture_take_results(self, memory);
        rc = capture_steps(self, memory, ctx, graph->nodes);
    }
    if (rc == 0) {
        rc = capture_copies_out(self, memory, given,
                                graph->copies + PyTuple_GET_SIZE(self->graphs.ins));
    }
    return rc;
}

/* Capture the steps: a new Graph. */
static PyObject *
capture_graph_new(const pcu_fused_run *self, pcu_fused_memory *memory,
                  PyObject *const *given, const pcu_context *ctx, pcu_fused_graph *made)
{
    PyObject *graph = NULL;
    PyObject *capture = PyObject_CallMethod(self->graphs.stream, "capture", NULL);
    if (capture != NULL) {
        graph = PyObject_CallMethod(capture, "__enter__", NULL);
    }
    if (graph != NULL && capture_all(self, memory, given, ctx, made) < 0) {
        capture_abandon(capture);
        Py_CLEAR(graph);
    }
    if (graph != NULL) {
        PyObject *done =
            PyObject_CallMethod(capture, "__exit__", "OOO", Py_None, Py_None, Py_None);
        if (done == NULL) {
            Py_CLEAR(graph);
        }
        Py_XDECREF(done);
    }
    Py_XDECREF(capture);
    return graph;
}

static void
graph_clear(pcu_fused_graph *self)
{
    pcu_fused_graph old = *self;
    memset(self, 0, sizeof(*self));
    PyMem_Free(old.addresses);
    PyMem_Free(old.nodes);
    PyMem_Free(old.copies);
    Py_XDECREF(old.exec);
    Py_XDECREF(old.graph);
}

/* Make the graph of a call, which does not keep the call's arrays. `given` are the
 * arrays that the call had before. */
static int
graph_make(const pcu_fused_run *run, pcu_fused_memory *memory, PyObject *const *given,
           const pcu_context *ctx, pcu_fused_graph *self)
{
    self->nodes = PyMem_Calloc((size_t)run->count + 1, sizeof(*self->nodes));
    self->copies = PyMem_Calloc((size_t)graphs_count_copies(&run->graphs) + 1,
                                sizeof(*self->copies));
    if (self->nodes == NULL || self->copies == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memory->used = self->addresses;
    pcu_graph *graph = (pcu_graph *)capture_graph_new(run, memory, given, ctx, self);
    memory->used = NULL;
    self->graph = (PyObject *)graph;
    int rc = graph == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; rc == 0 && i < memory->count; i++) {
        const pcu_gpuarray *array = (const pcu_gpuarray *)given[i];
        if (array != NULL && array->count != 0) {
            rc = pcu_graph_resources_lend(graph->resources, array->memory,
                                          array->address);
        }
    }
    if (rc == 0) {
        self->exec = PyObject_CallMethod(self->graph, "instantiate", NULL);
        rc = self->exec == NULL ? -1 : 0;
    }
    return rc;
}

/* Let go of the arrays that a call did not have before. */
static void
capture_restore(pcu_fused_memory *memory, PyObject *const *given)
{
    for (Py_ssize_t i = 0; i < memory->count; i++) {
        if (memory->arrays[i] != given[i]) {
            Py_XSETREF(memory->arrays[i], Py_XNewRef(given[i]));
        }
    }
}

/* The place for a new graph: an empty one, or that of the graph which was launched the
 * longest time ago. NULL: other threads use all graphs. */
static pcu_fused_graph *
graph_place(pcu_fused_graphs *self)
{
    pcu_fused_graph *place = NULL;
    for (int k = 0; k < PCU_FUSED_GRAPHS; k++) {
        pcu_fused_graph *graph = &self->items[k];
        if (graph->exec == NULL) {
            return graph;
        }
        if (!graph->busy && (place == NULL || graph->used < place->used)) {
            place = graph;
        }
    }
    return place;
}

/* Keep a new graph; another one may lose its place, which waits for its last launch.
 * NULL: there is no place. */
static pcu_fused_graph *
graph_store(pcu_fused_graphs *self, pcu_fused_graph *made)
{
    pcu_fused_graph *place = graph_place(self);
    if (place == NULL) {
        graph_clear(made);
        return NULL;
    }
    pcu_fused_graph old = *place;
    *place = *made;
    graph_clear(&old);
    return place;
}

/* Capture a graph for the arrays of a call. NULL without an exception if the steps
 * cannot be captured, for example because a function waits for the device. */
static pcu_fused_graph *
graph_capture(pcu_fused_run *run, pcu_fused_memory *memory, const pcu_context *ctx,
              const CUdeviceptr *addresses)
{
    pcu_fused_graphs *self = &run->graphs;
    size_t count = (size_t)memory->count;
    PyObject **given = PyMem_Calloc(count + 1, sizeof(*given));
    pcu_fused_graph made = {.addresses =
                                PyMem_Calloc(count + 1, sizeof(*made.addresses))};
    pcu_fused_graph *kept = NULL;
    int rc = -1;
    self->capturing = true; /* no other thread may replace a graph meanwhile */
    for (size_t i = 0; given != NULL && i < count; i++) {
        given[i] = Py_XNewRef(memory->arrays[i]);
    }
    if (given != NULL && made.addresses != NULL) {
        memcpy(made.addresses, addresses, count * sizeof(*addresses));
        rc = graph_make(run, memory, given, ctx, &made);
        self->made++;
        capture_restore(memory, given);
    }
    for (size_t i = 0; given != NULL && i < count; i++) {
        Py_XDECREF(given[i]);
    }
    PyMem_Free(given);
    if (rc == 0) {
        kept = graph_store(self, &made);
    }
    else {
        graph_clear(&made);
    }
    if (rc < 0 && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_Exception))) {
        PyErr_Clear(); /* the steps raise what the program has to know */
        Py_CLEAR(self->stream);
    }
    self->capturing = false;
    return kept;
}

/* -- launch ------------------------------------------------------------------------ */

/* Give results memory now, which the steps would do later: graphs get its addresses. */
static int
graph_allocate_results(const pcu_fused_graphs *self, pcu_fused_memory *memory)
{
    int rc = 0;
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_GET_SIZE(self->blocks); i++) {
        rc = pcu_fused_memory_allocate(
            memory, pcu_fused_block(self->blocks, i),
            (const pcu_gpuarray *)PyTuple_GET_ITEM(self->layouts, i));
    }
    return rc;
}

/* Launch a graph with the arrays of a call. */
static int
graph_launch(const pcu_fused_run *run, pcu_fused_graph *self, CUdeviceptr *addresses)
{
    PyObject *exec = Py_NewRef(self->exec);
    PyObject *done = NULL;
    self->busy = true;
    if (graph_move(run, self, addresses) == 0) {
        done = PyObject_CallMethod(exec, "launch", NULL);
    }
    self->busy = false;
    Py_DECREF(exec);
    Py_XDECREF(done);
    return done == NULL ? -1 : 1;
}

/* Find or make the graph for a call, and launch it. */
static int
graphs_launch(pcu_fused_run *run, pcu_fused_memory *memory, const pcu_context *ctx,
              CUdeviceptr *addresses)
{
    pcu_fused_graphs *self = &run->graphs;
    if (graph_read_addresses(memory, ctx, addresses) < 0) {
        return -1;
    }
    pcu_fused_graph *graph = graph_find(self, addresses);
    if (graph != NULL) {
        self->hits++;
    }
    else if (graph_may_capture(self)) {
        graph = graph_capture(run, memory, ctx, addresses);
    }
    if (graph == NULL || graph->busy) {
        return PyErr_Occurred() ? -1 : 0;
    }
    graph->used = self->calls;
    return graph_launch(run, graph, addresses);
}

int
pcu_fused_graph_launch(pcu_fused_run *self, pcu_fused_memory *memory,
                       const pcu_context *ctx)
{
    CUdeviceptr few[64];
    CUdeviceptr *addresses = few;
    if (self->graphs.calls++ == 0 || pcu_captures != NULL) {
        return 0; /* the first call loads kernels and makes plans of libraries */
    }
    if (graph_allocate_results(&self->graphs, memory) < 0) {
        return -1;
    }
    if (memory->count > (Py_ssize_t)Py_ARRAY_LENGTH(few)) {
        addresses = PyMem_Calloc((size_t)memory->count, sizeof(*addresses));
        if (addresses == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    int rc = graphs_launch(self, memory, ctx, addresses);
    if (addresses != few) {
        PyMem_Free(addresses);
    }
    return rc;
}

/* -- the graphs of a run ----------------------------------------------------------- */

int
pcu_fused_graphs_read(const pcu_state *st, pcu_fused_graphs *self, PyObject *given)
{
    PyTypeObject *const tuple = &PyTuple_Type;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "graphs must be None or a tuple");
        return -1;
    }
    if (!PyArg_ParseTuple(given, "O!O!O!O!O!O!:_FusedRun", st->Stream, &self->stream,
                          tuple, &self->blocks, tuple, &self->layouts, tuple,
                          &self->fixed, tuple, &self->ins, tuple, &self->outs)) {
        self->stream = self->blocks = self->layouts = self->fixed = NULL;
        self->ins = self->outs = NULL;
        return -1;
    }
    Py_INCREF(self->ins);
    Py_INCREF(self->outs);
    Py_INCREF(self->stream);
    Py_INCREF(self->blocks);
    Py_INCREF(self->layouts);
    Py_INCREF(self->fixed);
    if (PyTuple_GET_SIZE(self->blocks) != PyTuple_GET_SIZE(self->layouts)) {
        PyErr_SetString(PyExc_ValueError, "results and layouts differ in number");
        return -1;
    }
    return 0;
}

int
pcu_fused_graphs_traverse(const pcu_fused_graphs *self, visitproc visit, void *arg)
{
    Py_VISIT(self->stream);
    Py_VISIT(self->layouts);
    for (int k = 0; k < PCU_FUSED_GRAPHS; k++) {
        Py_VISIT(self->items[k].exec);
        Py_VISIT(self->items[k].graph);
    }
    return 0;
}

void
pcu_fused_graphs_clear(pcu_fused_graphs *self)
{
    Py_CLEAR(self->stream);
    Py_CLEAR(self->blocks);
    Py_CLEAR(self->layouts);
    Py_CLEAR(self->fixed);
    Py_CLEAR(self->ins);
    Py_CLEAR(self->outs);
    for (int k = 0; k < PCU_FUSED_GRAPHS; k++) {
        graph_clear(&self->items[k]);
    }
}
