/* Stream.capture, and the type StreamCapture: the context manager that records the work
 * of a stream as a Graph.
 *
 * The mode of the capture is relaxed, so that work may load kernels, allocate memory
 * and make plans of libraries while it is captured. What the driver would let pass in
 * that mode and the graph would not repeat, such as a copy without a stream, this
 * package refuses itself: see python/driver/graph_resources.h.
 *
 * Invariant: while `active` is 1, the stream is being captured, it is the current
 * stream of the thread that entered, and the resources of the graph take releases. */
#include "python/driver/graph/graph.h"

#include "driver/stream_use.h"
#include "python/support/args.h"
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/pool.h"
#include "python/support/driver_call.h"

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *stream; /* strong */
    pcu_graph *graph; /* strong: the target; NULL until __enter__ makes one */
    PyObject *after;  /* strong: the nodes of the target that the work follows */
    bool into;        /* the program gave the graph */
    bool early;       /* small operations may be launched early */
    bool active;
} stream_capture;

/* -- begin ------------------------------------------------------------------------- */

/* The Context of the stream, which must be current. Borrowed. */
static PyObject *
capture_context(stream_capture *self)
{
    static const char *const routine = "cuStreamBeginCapture";
    pcu_resource *stream = (pcu_resource *)self->stream;
    if (pcu_resource_check(stream, routine) < 0 ||
        pcu_current_context_ready(self->st) < 0) {
        return NULL;
    }
    if ((uintptr_t)stream->handle.stream <= (uintptr_t)CU_STREAM_PER_THREAD) {
        pcu_raise_detail(self->st, routine, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                         "a default stream cannot be captured; capture a Stream()");
        return NULL;
    }
    CUcontext current = NULL;
    int rc;
    PCU_CALL(rc, self->st, CtxGetCurrent, (&current));
    if (rc < 0) {
        return NULL;
    }
    if (current != pcu_context_rec(stream->ctx)->handle) {
        pcu_raise_detail(self->st, routine, CUDA_ERROR_INVALID_CONTEXT,
                         "the stream belongs to another context than the current one");
        return NULL;
    }
    return stream->ctx;
}

/* Let the driver begin. */
static int
capture_begin_call(stream_capture *self, CUstream stream)
{
    CUgraphNode *nodes = NULL;
    size_t count = 0;
    int rc;
    if (!self->into) {
        PCU_CALL(rc, self->st, StreamBeginCapture,
                 (stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        return rc;
    }
    if (pcu_graph_nodes_read(self->graph, self->after, &nodes, &count) < 0) {
        return -1;
    }
    PCU_CALL(rc, self->st, StreamBeginCaptureToGraph,
             (stream, self->graph->head.handle.graph, nodes, NULL, count,
              CU_STREAM_CAPTURE_MODE_RELAXED));
    PyMem_Free(nodes);
    return rc;
}

/* The number of nodes that a given graph has before the capture. */
static size_t
capture_nodes_before(const stream_capture *self)
{
    size_t count = 0;
    if (self->into && drv.GraphGetNodes(self->graph->head.handle.graph, NULL, &count) !=
                          CUDA_SUCCESS) {
        count = 0; /* then the nodes are read once more than needed */
    }
    return count;
}

/* Make the stream current, and begin. */
static int
capture_begin_current(stream_capture *self, PyObject *pool)
{
    PyObject *entered = PyObject_CallMethod(self->stream, "__enter__", NULL);
    if (entered == NULL) {
        return -1;
    }
    Py_DECREF(entered);
    /* First the record: another thread, or the collector, may release handles as soon
     * as the driver has begun. */
    int rc = pcu_graph_resources_begin(self->graph->resources, pool, self->early);
    if (rc == 0) {
        rc = capture_begin_call(self, ((pcu_resource *)self->stream)->handle.stream);
    }
    if (rc == 0) {
        self->active = true;
        self->graph->resources->seen = capture_nodes_before(self);
    }
    else {
        pcu_saved_error pending;
        pcu_error_save(&pending);
        pcu_graph_resources_end(self->graph->resources);
        PyObject *left = PyObject_CallMethod(self->stream, "__exit__", NULL);
        PyErr_Clear(); /* the first error is the one to report */
        Py_XDECREF(left);
        pcu_error_restore(&pending);
    }
    return rc;
}

/* Make the pool, fence the work so far, begin, and make the stream current. */
static int
capture_begin(stream_capture *self, PyObject *ctx)
{
    pcu_context_record *rec = &((pcu_context *)ctx)->rec;
    CUstream stream = ((pcu_resource *)self->stream)->handle.stream;
    const char *routine = "";
    int rc = -1;
    PyObject *pool = pcu_pool_of_graph_new(self->st, ctx);
    if (pool == NULL) {
        return -1;
    }
    CUresult status = pcu_stream_table_fence_capture(rec, stream, &routine);
    if (status == CUDA_SUCCESS) {
        rc = capture_begin_current(self, pool);
    }
    else {
        pcu_raise(self->st, routine, status);
    }
    if (self->active) {
        pcu_stream_table_begin_capture(rec, stream);
    }
    else {
        pcu_stream_table_end_capture(rec, stream);
    }
    Py_DECREF(pool);
    return rc;
}

/* -- what the kernels of libraries use --------------------------------------------- */

/* cuBLAS, cuFFT and other libraries launch kernels themselves, so no hook sees their
 * parameters. At the end of a capture that has more nodes than the hooks have seen, the
 * parameters of all kernels are read. The driver reports them since CUDA 12.4.
 *
 * A function of the host that was captured is noted as well: see PCU_EXEC_STATUS. */

/* Note the words of one kernel. What the driver does not report is left out. */
static int
capture_scan_kernel(pcu_graph_resources *resources, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS params = {0};
    size_t offset = 0;
    size_t size = 0;
    int rc = 0;
    if (drv.GraphKernelNodeGetParams(node, &params) != CUDA_SUCCESS ||
        params.kernelParams == NULL || params.func == NULL) {
        return 0;
    }
    for (size_t i = 0; rc == 0 && drv.FuncGetParamInfo(params.func, i, &offset,
                                                       &size) == CUDA_SUCCESS;
         i++) {
        rc = pcu_graph_resources_keep_words(resources, params.kernelParams[i], size);
    }
    return rc;
}

static int
capture_scan(pcu_graph *graph)
{
    CUgraph handle = graph->head.handle.graph;
    pcu_state *st = graph->head.st;
    size_t count = 0;
    int rc;
    PCU_CALL(rc, st, GraphGetNodes, (handle, NULL, &count));
    if (rc < 0 || count <= graph->resources->seen) {
        return rc;
    }
    CUgraphNode *nodes = PyMem_Calloc(count, sizeof(*nodes));
    if (nodes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    PCU_CALL(rc, st, GraphGetNodes, (handle, nodes, &count));
    for (size_t i = 0; rc == 0 && i < count; i++) {
        CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
        PCU_CALL(rc, st, GraphNodeGetType, (nodes[i], &type));
        if (type == CU_GRAPH_NODE_TYPE_HOST || type == CU_GRAPH_NODE_TYPE_GRAPH) {
            graph->resources->calls_host = true; /* a child may have such a node, too */
        }
        if (rc == 0 && type == CU_GRAPH_NODE_TYPE_KERNEL) {
            rc = capture_scan_kernel(graph->resources, nodes[i]);
        }
    }
    PyMem_Free(nodes);
    return rc;
}

/* -- end --------------------------------------------------------------------------- */

/* cuStreamEndCapture failed. If the stream is still being captured, try again, and drop
 * the graph: the stream must be usable. */
static void
capture_end_again(const stream_capture *self, CUstream stream)
{
    CUgraph graph = NULL;
    CUresult status;
    if (!pcu_is_captured(stream)) {
        return;
    }
    PCU_STATUS(status, StreamEndCapture, (stream, &graph));
    if (status == CUDA_SUCCESS && graph != NULL && !self->into) {
        PCU_STATUS(status, GraphDestroy, (graph));
    }
    (void)status; /* the first error is the one to report */
}

/* A capture that fails takes its graph along, also one of the program, but not the
 * graph inside of a node. */
static void
capture_lose_graph(pcu_graph *graph, CUresult status)
{
    if ((status == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
         status == CUDA_ERROR_STREAM_CAPTURE_UNJOINED) &&
        graph->parent == NULL && graph->head.live) {
        graph->head.live = false;
        pcu_handle_abandon(PCU_HANDLE_graph);
    }
}

/* End the capture in the context of the stream. *graph is NULL unless it succeeded. */
static CUresult
capture_end_call(stream_capture *self, CUgraph *graph, const char **routine)
{
    pcu_scope scope;
    pcu_resource *stream = (pcu_resource *)self->stream;
    self->active = false;
    pcu_stream_table_end_capture(&((pcu_context *)stream->ctx)->rec,
                                 stream->handle.stream);
    *graph = NULL;
    *routine = "cuStreamEndCapture";
    if (!stream->live || !pcu_context_record_usable(pcu_context_rec(stream->ctx))) {
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    CUresult status = pcu_scope_enter(&scope, pcu_context_rec(stream->ctx));
    if (status != CUDA_SUCCESS) {
        *routine = scope.routine;
        return status;
    }
    PCU_STATUS(status, StreamEndCapture, (stream->handle.stream, graph));
    if (status != CUDA_SUCCESS) {
        capture_end_again(self, stream->handle.stream);
        capture_lose_graph(self->graph, status);
    }
    CUresult left = pcu_scope_leave(&scope);
    if (status == CUDA_SUCCESS) {
        *routine = "cuCtxPopCurrent";
        status = left;
    }
    return status;
}

/* End the capture: 0 if the graph is complete. `failed`: the block raised. */
static int
capture_end(stream_capture *self, bool failed)
{
    CUgraph handle = NULL;
    const char *routine = "";
    pcu_graph *graph = self->graph;
    pcu_state *st = self->st;
    int rc = 0;
    CUresult status = capture_end_call(self, &handle, &routine);
    if (handle != NULL && !self->into) {
        pcu_handle owned = {.graph = handle};
        pcu_resource_adopt(&graph->head, ((pcu_resource *)self->stream)->ctx,
                           PCU_HANDLE_graph, owned);
    }
    graph->state = PCU_GRAPH_FAILED;
    if (status != CUDA_SUCCESS && !failed) {
        if (st->capture_fault != NULL &&
            status == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) {
            rc = pcu_raise_detail(st, routine, status, "the first refused call: %U",
                                  st->capture_fault);
        }
        else {
            rc = pcu_raise(st, routine, status);
        }
    }
    if (rc == 0 && !failed) {
        rc = capture_scan(graph);
    }
    pcu_saved_error pending;
    pcu_error_save(&pending);
    pcu_graph_resources_end(graph->resources);
    pcu_error_restore(&pending);
    if (rc == 0 && !failed) {
        graph->state = PCU_GRAPH_READY;
    }
    Py_CLEAR(st->capture_fault);
    return rc;
}

/* -- the type ---------------------------------------------------------------------- */

PyDoc_STRVAR(capture_enter_doc,
             "__enter__($self, /)\n--\n\n"
             "Begin the capture, make the stream current, and return the Graph.");

static PyObject *
capture_enter(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    stream_capture *self = (stream_capture *)op;
    if (self->active || (self->graph != NULL && !self->into)) {
        pcu_raise_detail(self->st, "cuStreamBeginCapture", CUDA_ERROR_INVALID_VALUE,
                         "this StreamCapture was entered before; call "
                         "Stream.capture() again");
        return NULL;
    }
    PyObject *ctx = capture_context(self);
    if (ctx == NULL ||
        (self->into &&
         pcu_graph_check(self->graph, "cuStreamBeginCaptureToGraph") < 0)) {
        return NULL;
    }
    if (!self->into) {
        self->graph = pcu_graph_blank_new(self->st, ctx);
        if (self->graph == NULL) {
            return NULL;
        }
    }
    Py_CLEAR(self->st->capture_fault);
    if (capture_begin(self, ctx) < 0) {
        if (self->active) {
            pcu_saved_error pending;
            pcu_error_save(&pending);
            (void)capture_end(self, true); /* it raises nothing */
            pcu_error_restore(&pending);
        }
        if (!self->into) {
            Py_CLEAR(self->graph);
        }
        return NULL;
    }
    self->graph->state = PCU_GRAPH_CAPTURING;
    return Py_NewRef((PyObject *)self->graph);
}

PyDoc_STRVAR(
    capture_exit_doc,
    "__exit__($self, /, *exc_info)\n--\n\n"
    "End the capture.\n\n"
    "If the block raised, the captured work is discarded. LogicError if a call\n"
    "made the capture invalid; the message names the call and its line.");

static PyObject *
capture_exit(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    stream_capture *self = (stream_capture *)op;
    if (!self->active) {
        pcu_raise_detail(self->st, "cuStreamEndCapture", CUDA_ERROR_INVALID_VALUE,
                         "this StreamCapture was not entered");
        return NULL;
    }
    bool failed = nargs > 0 && args[0] != Py_None;
    int rc = capture_end(self, failed);
    pcu_saved_error pending;
    pcu_error_save(&pending);
    PyObject *left = PyObject_CallMethod(self->stream, "__exit__", NULL);
    if (left == NULL && rc == 0) {
        return NULL;
    }
    PyErr_Clear(); /* the first error is the one to report */
    Py_XDECREF(left);
    pcu_error_restore(&pending);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_FALSE;
}

static int
capture_traverse(PyObject *op, visitproc visit, void *arg)
{
    stream_capture *self = (stream_capture *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->stream);
    Py_VISIT(self->graph);
    Py_VISIT(self->after);
    return 0;
}

static int
capture_clear(PyObject *op)
{
    stream_capture *self = (stream_capture *)op;
    if (self->active) {
        pcu_saved_error pending;
        pcu_error_save(&pending);
        (void)capture_end(self, true); /* it raises nothing */
        pcu_error_restore(&pending);
    }
    Py_CLEAR(self->graph);
    Py_CLEAR(self->stream);
    Py_CLEAR(self->after);
    return 0;
}

static void
capture_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    capture_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyMethodDef capture_methods[] = {
    {"__enter__", capture_enter, METH_NOARGS, capture_enter_doc},
    {"__exit__", (PyCFunction)(void (*)(void))capture_exit, METH_FASTCALL,
     capture_exit_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(capture_doc,
             "The context manager that ``Stream.capture`` returns.\n"
             "\nSee Also\n--------\n"
             "Stream.capture : How to use it.\n"
             "\nNotes\n-----\n"
             "``with`` returns the ``Graph``. In the block the stream is the current\n"
             "one. If the block raises, the captured work is discarded.");

static PyType_Slot capture_slots[] = {
    {Py_tp_doc, (void *)capture_doc}, {Py_tp_traverse, capture_traverse},
    {Py_tp_clear, capture_clear},     {Py_tp_dealloc, capture_dealloc},
    {Py_tp_methods, capture_methods}, {0, NULL},
};

static PyType_Spec capture_spec = {
    "pycuda._driver.StreamCapture", sizeof(stream_capture), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    capture_slots};

/* -- Stream.capture ---------------------------------------------------------------- */

typedef struct {
    PyObject *graph;
    PyObject *after;
    bool early;
} capture_args;

static const pcu_word capture_words[] = {
    PCU_WORD("graph", pcu_as_object, capture_args, graph),
    PCU_WORD("after", pcu_as_object, capture_args, after),
    PCU_WORD("early", pcu_as_bool, capture_args, early),
};

PCU_SIGNATURE(
    capture_capture, capture_words,
    "capture($self, /, graph=None, after=(), early=True)\n"
    "--\n\n"
    "Record the work of a ``with`` block as a graph.\n"
    "\nParameters\n----------\n"
    "graph : Graph, optional\n"
    "    Graph to which the work is added, such as the body of a conditional\n"
    "    node. The default is a new one.\n"
    "after : GraphNode or sequence of GraphNode, default ()\n"
    "    Nodes of ``graph`` for which the work waits.\n"
    "early : bool, optional\n"
    "    If true, which is the default, operations of small arrays may be\n"
    "    launched before the one ahead has ended, on devices of compute\n"
    "    capability 9.0. That depends on the sizes and changes the edges;\n"
    "    with False, ``GraphExec.update`` takes captures of all sizes.\n"
    "\nReturns\n-------\n"
    "StreamCapture\n"
    "    The context manager. ``with`` returns the ``Graph``.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    From the ``with`` statement, if the stream is a default one, or if\n"
    "    the block made a call that cannot be captured. The message names\n"
    "    the call and its line.\n" PCU_DOC_NOT_A_GRAPH
    "\nSee Also\n--------\n"
    "Graph.instantiate : Make what is launched.\n"
    "\nNotes\n-----\n"
    "In the block this stream is the current one, and its work is not\n"
    "executed. Arrays that are made in the block have memory of the graph.\n"
    "All memory that the work uses lives as long as the graph and the\n"
    "executable graphs made from it.\n"
    "\nExamples\n--------\n"
    ">>> x = gpuarray.to_gpu(np.arange(3.0))\n"
    ">>> stream = drv.Stream()\n"
    ">>> with stream.capture() as graph:\n"
    "...     y = x * 2\n"
    ">>> graph.instantiate().launch(stream)\n"
    ">>> stream.synchronize()\n"
    ">>> y\n"
    "array([0., 2., 4.])")

static PyObject *
capture_capture(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    pcu_state *st = ((pcu_resource *)op)->st;
    capture_args a = {.early = true};
    if (pcu_args_parse(st, &capture_capture_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (a.graph == Py_None) {
        a.graph = NULL;
    }
    if (a.graph != NULL && !PyObject_TypeCheck(a.graph, st->Graph)) {
        PyErr_Format(PyExc_TypeError, "graph must be a Graph or None, not %s",
                     Py_TYPE(a.graph)->tp_name);
        return NULL;
    }
    stream_capture *self =
        (stream_capture *)st->StreamCapture->tp_alloc(st->StreamCapture, 0);
    if (self == NULL) {
        return NULL;
    }
    self->st = st;
    self->stream = Py_NewRef(op);
    self->graph = (pcu_graph *)Py_XNewRef(a.graph);
    self->after = Py_XNewRef(a.after);
    self->into = a.graph != NULL;
    self->early = a.early;
    return (PyObject *)self;
}

static PyMethodDef capture_stream_methods[] = {
    PCU_METHOD("capture", capture_capture),
    {NULL, NULL, 0, NULL},
};

int
pcu_stream_capture_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->StreamCapture, &capture_spec, NULL) < 0) {
        return -1;
    }
    return pcu_add_methods(st->Stream, capture_stream_methods);
}
