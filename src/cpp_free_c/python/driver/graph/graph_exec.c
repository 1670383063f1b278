/* The type GraphExec: the form of a graph that the device runs.
 *
 * Work of a launch may still run when the program changes or deletes the object. What
 * the old parameters used is therefore retired, and dropped once the last launch is
 * known to have finished. Deleting a GraphExec waits for its last launch, as releasing
 * memory does.
 *
 * Invariant: a GraphExec is a pcu_resource; `resources` are those of the graph it has
 * the form of. `last` is the stream of the last launch, NULL before the first.
 * Callers: Python, and see graph.h. */
#include "python/driver/graph/graph_parameters.h"

#include "python/support/args.h"
#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/launch/kept_arguments.h"
#include "python/driver/stream.h"

enum { EXEC_RETIRED_MAX = 64 };

typedef struct {
    pcu_resource head;
    pcu_graph_resources *resources; /* strong */
    PyObject *updates; /* {node: what its present arguments use}; NULL: no updates */
    PyObject *retired; /* a list: what earlier arguments used; NULL: none */
    CUstream last;     /* of the last launch, if `launched` */
    PyObject *stream;  /* strong: keeps `last` valid; NULL for streams of others */
    int launched;      /* a launch may still be running */
} graph_exec;

/* -- making ------------------------------------------------------------------------ */

/* The words of the driver for a graph that cannot be instantiated. */
static const char *
exec_explain(CUgraphInstantiateResult result)
{
    switch (result) {
        case CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE:
            return "the structure of the graph is not valid, for example a cycle";
        case CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED:
            return "a node cannot be used where it is, for example a host function in "
                   "the body of a conditional node";
        case CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED:
            return "the nodes belong to several contexts";
        case CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED:
            return "a condition of the graph is used by no conditional node";
        default:
            return "";
    }
}

/* Instantiate by the function that reports the node at fault, or on older drivers by
 * the other one. */
static int
exec_instantiate(pcu_graph *graph, CUgraphExec *exec)
{
    pcu_state *st = graph->head.st;
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUresult status;
    const char *routine = "cuGraphInstantiateWithParams";
    memset(&params, 0, sizeof(params));
    PCU_STATUS(status, GraphInstantiateWithParams,
               (exec, graph->head.handle.graph, &params));
    if (status == CUDA_ERROR_NOT_FOUND) {
        routine = "cuGraphInstantiateWithFlags";
        PCU_STATUS(status, GraphInstantiateWithFlags,
                   (exec, graph->head.handle.graph, 0));
    }
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    const char *why = exec_explain(params.result_out);
    if (*why == 0) {
        return pcu_raise(st, routine, status);
    }
    return pcu_raise_detail(st, routine, status, "%s", why);
}

PyObject *
pcu_graph_exec_new(pcu_graph *graph)
{
    pcu_state *st = graph->head.st;
    pcu_handle handle = {0};
    if (pcu_graph_check(graph, "cuGraphInstantiateWithParams") < 0 ||
        pcu_current_context_ready(st) < 0) {
        return NULL;
    }
    graph_exec *self = (graph_exec *)st->GraphExec->tp_alloc(st->GraphExec, 0);
    if (self == NULL) {
        return NULL;
    }
    self->head.st = st;
    self->resources = (pcu_graph_resources *)Py_NewRef((PyObject *)graph->resources);
    if (exec_instantiate(graph, &handle.graph_exec) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    pcu_resource_adopt(&self->head, graph->head.ctx, PCU_HANDLE_graph_exec, handle);
    return (PyObject *)self;
}

/* -- calls of the driver ----------------------------------------------------------- */

/* Calls on a graph with functions of the host may wait for these functions, which need
 * the interpreter lock. So the calls are made without it, as if another call waited. */
#define EXEC_STATUS(status, self, name, args)            \
    do {                                                 \
        int calls_host_ = (self)->resources->calls_host; \
        pcu_calls_waiting += (unsigned int)calls_host_;  \
        PCU_STATUS(status, name, args);                  \
        pcu_calls_waiting -= (unsigned int)calls_host_;  \
    } while (0)

/* The same, with the exception of a failure. After a failure in another context than
 * the thread's, the call is repeated. */
#define EXEC_CALL(rc, self, name, args)                                       \
    do {                                                                      \
        CUresult exec_status_;                                                \
        (rc) = 0;                                                             \
        do {                                                                  \
            EXEC_STATUS(exec_status_, self, name, args);                      \
        } while (exec_status_ != CUDA_SUCCESS &&                              \
                 pcu_current_context_repair((self)->head.st, exec_status_) && \
                 (self)->head.live);                                          \
        if (exec_status_ != CUDA_SUCCESS) {                                   \
            (rc) = pcu_raise((self)->head.st, "cu" #name, exec_status_);      \
        }                                                                     \
    } while (0)

/* 1 if the stream is being captured. */
static int
exec_is_captured(CUstream stream)
{
    CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
    return pcu_captures_active != 0 &&
           (uintptr_t)stream > (uintptr_t)CU_STREAM_PER_THREAD &&
           drv.StreamIsCapturing(stream, &state) == CUDA_SUCCESS &&
           state != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* -- launching --------------------------------------------------------------------- */

/* Read the argument of a function that takes a stream or None. *owner is the Stream. */
static int
exec_read_stream(graph_exec *self, const pcu_argtable *table, PyObject *const *args,
                 Py_ssize_t nargs, PyObject *kwnames, CUstream *stream,
                 PyObject **owner)
{
    pcu_state *st = self->head.st;
    *owner = Py_None;
    if (nargs == 1 && kwnames == NULL) {
        *owner = args[0]; /* most calls: without the parser */
    }
    else if (pcu_args_parse(st, table, args, nargs, kwnames, owner) < 0) {
        return -1;
    }
    if (Py_IS_TYPE(*owner, st->Stream) && ((pcu_resource *)*owner)->live) {
        *stream = ((pcu_resource *)*owner)->handle.stream;
        return pcu_resource_check((pcu_resource *)*owner, table->function);
    }
    if (pcu_as_stream(st, *owner, stream, "stream") < 0) {
        return -1;
    }
    if (*owner == Py_None) {
        *owner = (PyObject *)pcu_stream_find_borrow();
    }
    return 0;
}

static const pcu_argspec exec_stream_specs[] = {{"stream", pcu_as_object, 0}};

PyDoc_STRVAR(exec_launch_doc,
             "launch($self, /, stream=None)\n--\n\n"
             "Enqueue the whole graph in a stream (cuGraphLaunch).\n\n"
             "A launch runs after the previous launches of the same GraphExec. A "
             "stream that is\n"
             "being captured refuses it: add the graph by Graph.add_child.");

static PyObject *
exec_launch(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argtable table = {"launch", exec_stream_specs, 1, 0, 0};
    graph_exec *self = (graph_exec *)op;
    pcu_state *st = self->head.st;
    CUstream stream = NULL;
    PyObject *owner = NULL;
    CUresult status;
    if (exec_read_stream(self, &table, args, nargs, kwnames, &stream, &owner) < 0 ||
        pcu_resource_check(&self->head, "cuGraphLaunch") < 0) {
        return NULL;
    }
    if (!exec_is_captured(stream)) { /* else the driver refuses the launch */
        if (owner != self->stream) {
            Py_XSETREF(self->stream, Py_XNewRef(owner));
        }
        self->last = stream;
        self->launched = 1;
    }
    do {
        EXEC_STATUS(status, self, GraphLaunch, (self->head.handle.graph_exec, stream));
    } while (status != CUDA_SUCCESS && pcu_current_context_repair(st, status) &&
             self->head.live);
    if (status != CUDA_SUCCESS) {
        pcu_raise(st, "cuGraphLaunch", status);
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    exec_upload_doc,
    "upload($self, /, stream=None)\n--\n\n"
    "Move the graph to the device now, so that the first launch is as fast as\n"
    "the others (cuGraphUpload). The work is not run.");

static PyObject *
exec_upload(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argtable table = {"upload", exec_stream_specs, 1, 0, 0};
    graph_exec *self = (graph_exec *)op;
    CUstream stream = NULL;
    PyObject *owner = NULL;
    int rc;
    if (exec_read_stream(self, &table, args, nargs, kwnames, &stream, &owner) < 0 ||
        pcu_resource_check(&self->head, "cuGraphUpload") < 0) {
        return NULL;
    }
    EXEC_CALL(rc, self, GraphUpload, (self->head.handle.graph_exec, stream));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- what earlier launches use ----------------------------------------------------- */

/* If the stream of the last launch is being captured, nothing may wait for it: leave
 * what the launch uses to the captured graph. Return 1 if so. */
static int
exec_keep_captured(graph_exec *self)
{
    if (!self->launched || !exec_is_captured(self->last)) {
        return 0;
    }
    pcu_saved_error pending;
    pcu_error_save(&pending);
    if (pcu_captured_object((PyObject *)self->resources) < 0 ||
        pcu_captured_object(self->updates) < 0 ||
        pcu_captured_object(self->retired) < 0) {
        PyErr_Clear(); /* without memory the launch may read released memory */
    }
    pcu_error_restore(&pending);
    return 1;
}

/* Wait until the last launch has finished. A failure means that nothing runs. */
static void
exec_wait_noraise(graph_exec *self)
{
    pcu_scope scope;
    if (exec_keep_captured(self)) {
        return;
    }
    if (!self->launched || self->head.ctx == NULL ||
        !pcu_context_record_usable(pcu_context_rec(self->head.ctx)) ||
        (self->stream != NULL && !((pcu_resource *)self->stream)->live)) {
        self->launched = 0; /* destroying a stream waits for its work */
        return;
    }
    if (pcu_scope_enter(&scope, pcu_context_rec(self->head.ctx)) != CUDA_SUCCESS) {
        return;
    }
    CUresult status = drv.StreamQuery(self->last);
    if (status == CUDA_ERROR_NOT_READY) {
        PCU_STATUS(status, StreamSynchronize, (self->last));
    }
    self->launched = 0;
    (void)pcu_scope_leave(&scope); /* an error shows up in the next call */
}

/* Retire what earlier arguments used. Steals the reference. */
static int
exec_retire(graph_exec *self, PyObject *used)
{
    int rc = -1;
    if (used == NULL || !self->launched) {
        Py_XDECREF(used);
        return 0;
    }
    if (self->retired == NULL) {
        self->retired = PyList_New(0);
    }
    if (self->retired != NULL) {
        if (PyList_GET_SIZE(self->retired) >= EXEC_RETIRED_MAX) {
            exec_wait_noraise(self);
            rc = PyList_SetSlice(self->retired, 0, PY_SSIZE_T_MAX, NULL);
        }
        else {
            rc = 0;
        }
    }
    if (rc == 0 && self->retired != NULL) {
        rc = PyList_Append(self->retired, used);
    }
    Py_DECREF(used);
    return rc;
}

/* -- update ------------------------------------------------------------------------ */

/* Why a graph cannot replace the one from which the executable graph was made. */
static const char *
exec_explain_update(CUgraphExecUpdateResult result)
{
    static const char *const why[] = {
        "",
        "the driver gives no reason",
        "the two graphs differ in their nodes or edges",
        "a node has another type",
        "the kernel of a node belongs to another context, or uses other features",
        "the parameters of a node cannot be changed in this way",
        "a node cannot be updated",
        "the kernel of a node is not compatible with the earlier one",
        "the attributes of a node differ",
    };
    if (result < Py_ARRAY_LENGTH(why)) {
        return why[result];
    }
    return why[1];
}

/* The object that an argument of a node uses; None: a number. Borrowed. */
static PyObject *
exec_used_borrow(pcu_state *st, PyObject *arg)
{
    PyObject *memory = pcu_argument_memory(st, arg);
    if (memory == NULL) {
        return Py_None;
    }
    return memory;
}

/* What the arguments of a node use, as a tuple: the function, then an object for each.
 */
static PyObject *
exec_used_new(pcu_state *st, PyObject *const *args, Py_ssize_t nargs,
              PyObject *function)
{
    PyObject *used = PyTuple_New(nargs + 1);
    Py_ssize_t n = 0;
    if (used == NULL) {
        return NULL;
    }
    PyTuple_SET_ITEM(used, n++, Py_NewRef(function));
    for (Py_ssize_t i = 0; i < nargs; i++) {
        PyTuple_SET_ITEM(used, n++, Py_NewRef(exec_used_borrow(st, args[i])));
    }
    return used;
}

/* 1 if the node's present arguments use the same objects as these. */
static int
exec_uses_same(pcu_state *st, PyObject *old, PyObject *const *args, Py_ssize_t nargs)
{
    if (old == NULL || PyTuple_GET_SIZE(old) != nargs + 1) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (PyTuple_GET_ITEM(old, i + 1) != exec_used_borrow(st, args[i])) {
            return 0;
        }
    }
    return 1;
}

/* Hold what the node's new arguments use, in place of what the old ones used. */
static int
exec_hold(graph_exec *self, PyObject *node, PyObject *used)
{
    if (self->updates == NULL) {
        self->updates = PyDict_New();
        if (self->updates == NULL) {
            return -1;
        }
    }
    PyObject *old = PyDict_GetItemWithError(self->updates, node);
    if (old == NULL && PyErr_Occurred()) {
        return -1;
    }
    Py_XINCREF(old);
    if (PyDict_SetItem(self->updates, node, used) < 0) {
        Py_XDECREF(old);
        return -1;
    }
    return exec_retire(self, old);
}

PyDoc_STRVAR(
    exec_update_doc,
    "update($self, graph, /)\n--\n\n"
    "Take the parameters of all nodes from another graph of the same structure.\n\n"
    "Launches before the update are not changed (cuGraphExecUpdate). LogicError, with\n"
    "the reason, if the graphs differ in more than parameters.");

static PyObject *
exec_update(PyObject *op, PyObject *value)
{
    graph_exec *self = (graph_exec *)op;
    pcu_state *st = self->head.st;
    CUgraphExecUpdateResultInfo info;
    CUresult status;
    if (!PyObject_TypeCheck(value, st->Graph)) {
        PyErr_Format(PyExc_TypeError, "graph must be a Graph, not %s",
                     Py_TYPE(value)->tp_name);
        return NULL;
    }
    pcu_graph *graph = (pcu_graph *)value;
    if (pcu_resource_check(&self->head, "cuGraphExecUpdate") < 0 ||
        pcu_graph_check(graph, "cuGraphExecUpdate") < 0 ||
        pcu_current_context_ready(st) < 0) {
        return NULL;
    }
    memset(&info, 0, sizeof(info));
    /* Some nodes may be changed although the call fails: hold both. */
    PyObject *used = PyTuple_Pack(1, (PyObject *)graph->resources);
    if (used == NULL || exec_hold(self, (PyObject *)graph->resources, used) < 0) {
        Py_XDECREF(used);
        return NULL;
    }
    Py_DECREF(used);
    EXEC_STATUS(status, self, GraphExecUpdate,
                (self->head.handle.graph_exec, graph->head.handle.graph, &info));
    if (status != CUDA_SUCCESS) {
        pcu_raise_detail(st, "cuGraphExecUpdate", status, "%s",
                         exec_explain_update(info.result));
        return NULL;
    }
    PyObject *old = (PyObject *)self->resources;
    PyObject *updates = self->updates;
    self->resources = (pcu_graph_resources *)Py_NewRef((PyObject *)graph->resources);
    self->updates = NULL;
    if (exec_retire(self, old) < 0) {
        Py_XDECREF(updates);
        return NULL;
    }
    if (exec_retire(self, updates) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* The node among the arguments of an update. */
static pcu_graph_node *
exec_read_node(graph_exec *self, PyObject *const *args, Py_ssize_t nargs,
               const char *routine)
{
    if (nargs < 1 || !Py_IS_TYPE(args[0], self->head.st->GraphNode)) {
        PyErr_SetString(PyExc_TypeError,
                        "the first argument must be a GraphNode of the graph");
        return NULL;
    }
    pcu_graph_node *node = (pcu_graph_node *)args[0];
    if (pcu_graph_node_check(node, routine) < 0 ||
        pcu_resource_check(&self->head, routine) < 0) {
        return NULL;
    }
    return node;
}

/* Hold what the arguments of a kernel node use. Most updates change numbers only. */
static int
exec_hold_arguments(graph_exec *self, pcu_graph_node *node, PyObject *const *args,
                    Py_ssize_t nargs)
{
    PyObject *old = NULL;
    if (self->updates != NULL) {
        old = PyDict_GetItemWithError(self->updates, (PyObject *)node);
        if (old == NULL && PyErr_Occurred()) {
            return -1;
        }
    }
    if (exec_uses_same(self->head.st, old, args, nargs)) {
        return 0;
    }
    PyObject *used = exec_used_new(self->head.st, args, nargs, node->function);
    int rc = -1;
    if (used != NULL) {
        rc = exec_hold(self, (PyObject *)node, used);
        Py_DECREF(used);
    }
    return rc;
}

/* Change the arguments and the shape of a kernel. */
static int
exec_update_kernel(graph_exec *self, pcu_graph_node *node, PyObject *const *args,
                   Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = self->head.st;
    pcu_launch_shape shape = node->shape;
    pcu_argument_buffer buffer;
    CUDA_KERNEL_NODE_PARAMS params;
    void *extra[PCU_KERNEL_EXTRA];
    int has_block = 0;
    if (node->function == NULL) {
        PyErr_SetString(PyExc_TypeError,
                        "the kernel of this node is not a Function of the program; "
                        "capture again, and use update(graph)");
        return -1;
    }
    if (kwnames != NULL &&
        pcu_graph_read_shape(st, "update_node", args + nargs, kwnames, &shape,
                             &has_block, NULL) < 0) {
        return -1;
    }
    pcu_argument_buffer_init(&buffer);
    int rc = pcu_kernel_parameters((pcu_function *)node->function, args + 1, nargs - 1,
                                   &shape, &buffer, extra, &params);
    if (rc == 0) {
        rc = exec_hold_arguments(self, node, args + 1, nargs - 1);
    }
    if (rc == 0) {
        EXEC_CALL(rc, self, GraphExecKernelNodeSetParams,
                  (self->head.handle.graph_exec, node->handle, &params));
    }
    pcu_argument_buffer_free(&buffer);
    return rc;
}

typedef struct {
    PyObject *node;
    PyObject *dest;
    PyObject *src; /* or the value of a fill */
    PyObject *size;
    unsigned int width;
} exec_copy_args;

/* Let the resources of new parameters replace those that the node used. */
static int
exec_hold_resources(graph_exec *self, pcu_graph_node *node,
                    pcu_graph_resources *resources)
{
    PyObject *used = PyTuple_Pack(1, (PyObject *)resources);
    int rc = -1;
    if (used != NULL) {
        rc = exec_hold(self, (PyObject *)node, used);
        Py_DECREF(used);
    }
    return rc;
}

static int
exec_update_copy(graph_exec *self, pcu_graph_node *node, PyObject *const *args,
                 Py_ssize_t nargs, PyObject *kwnames, pcu_graph_resources *resources)
{
    static const pcu_argspec specs[] = {
        {"node", pcu_as_object, offsetof(exec_copy_args, node)},
        {"dest", pcu_as_object, offsetof(exec_copy_args, dest)},
        {"src", pcu_as_object, offsetof(exec_copy_args, src)},
        {"size", pcu_as_object, offsetof(exec_copy_args, size)},
    };
    static const pcu_argtable table = {"update_node", specs, 4, 3, 1};
    pcu_state *st = self->head.st;
    exec_copy_args a = {0};
    CUDA_MEMCPY3D copy;
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_copy_parameters(st, a.dest, a.src, a.size, resources, &copy) < 0 ||
        exec_hold_resources(self, node, resources) < 0) {
        return -1;
    }
    EXEC_CALL(rc, self, GraphExecMemcpyNodeSetParams,
              (self->head.handle.graph_exec, node->handle, &copy,
               pcu_context_rec(self->head.ctx)->handle));
    return rc;
}

static int
exec_update_set(graph_exec *self, pcu_graph_node *node, PyObject *const *args,
                Py_ssize_t nargs, PyObject *kwnames, pcu_graph_resources *resources)
{
    static const pcu_argspec specs[] = {
        {"node", pcu_as_object, offsetof(exec_copy_args, node)},
        {"dest", pcu_as_object, offsetof(exec_copy_args, dest)},
        {"value", pcu_as_object, offsetof(exec_copy_args, src)},
        {"count", pcu_as_object, offsetof(exec_copy_args, size)},
        {"width", pcu_as_uint, offsetof(exec_copy_args, width)},
    };
    static const pcu_argtable table = {"update_node", specs, 5, 3, 1};
    pcu_state *st = self->head.st;
    exec_copy_args a = {.width = 1};
    CUDA_MEMSET_NODE_PARAMS fill;
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_set_parameters(st, a.dest, a.src, a.size, a.width, resources, &fill) < 0 ||
        exec_hold_resources(self, node, resources) < 0) {
        return -1;
    }
    EXEC_CALL(rc, self, GraphExecMemsetNodeSetParams,
              (self->head.handle.graph_exec, node->handle, &fill,
               pcu_context_rec(self->head.ctx)->handle));
    return rc;
}

/* Copies and fills: their new resources are an object of their own. */
static int
exec_update_other(graph_exec *self, pcu_graph_node *node, PyObject *const *args,
                  Py_ssize_t nargs, PyObject *kwnames)
{
    if (node->type != CU_GRAPH_NODE_TYPE_MEMCPY &&
        node->type != CU_GRAPH_NODE_TYPE_MEMSET) {
        PyErr_SetString(PyExc_TypeError,
                        "only kernels, copies and fills can be updated one by one; use "
                        "update(graph) for other nodes");
        return -1;
    }
    pcu_graph_resources *resources =
        pcu_graph_resources_new(self->head.st, self->head.ctx);
    int rc = -1;
    if (resources == NULL) {
        return -1;
    }
    if (node->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        rc = exec_update_copy(self, node, args, nargs, kwnames, resources);
    }
    else {
        rc = exec_update_set(self, node, args, nargs, kwnames, resources);
    }
    Py_DECREF(resources);
    return rc;
}

PyDoc_STRVAR(
    exec_update_node_doc,
    "update_node($self, node, /, *args, **kwargs)\n--\n\n"
    "Change the arguments of one node for the launches that follow.\n\n"
    "node: a GraphNode of the graph that was instantiated; the graph itself is not\n"
    "changed. For a kernel give its arguments, and if they change the keywords block,\n"
    "grid and shared. For a copy give dest, src and if needed size, for a fill dest,\n"
    "value, count and width, as for Graph.add_copy and Graph.add_set.");

static PyObject *
exec_update_node(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    graph_exec *self = (graph_exec *)op;
    int rc;
    pcu_graph_node *node =
        exec_read_node(self, args, nargs, "cuGraphExecKernelNodeSetParams");
    if (node == NULL) {
        return NULL;
    }
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        rc = exec_update_kernel(self, node, args, nargs, kwnames);
    }
    else {
        rc = exec_update_other(self, node, args, nargs, kwnames);
    }
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

typedef struct {
    PyObject *node;
    int enabled;
} exec_enable_args;

PyDoc_STRVAR(exec_enable_doc,
             "enable($self, /, node, enabled=True)\n--\n\n"
             "Switch a kernel, copy or fill on or off for the launches that follow.\n\n"
             "A node that is off does nothing; its order is kept.");

static PyObject *
exec_enable(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"node", pcu_as_object, offsetof(exec_enable_args, node)},
        {"enabled", pcu_as_bool, offsetof(exec_enable_args, enabled)},
    };
    static const pcu_argtable table = {"enable", specs, 2, 1, 0};
    graph_exec *self = (graph_exec *)op;
    exec_enable_args a = {NULL, 1};
    int rc;
    if (pcu_args_parse(self->head.st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    const pcu_graph_node *node =
        exec_read_node(self, &a.node, 1, "cuGraphNodeSetEnabled");
    if (node == NULL) {
        return NULL;
    }
    EXEC_CALL(
        rc, self, GraphNodeSetEnabled,
        (self->head.handle.graph_exec, node->handle, (unsigned int)(a.enabled != 0)));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- the type ---------------------------------------------------------------------- */

static PyObject *
exec_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    if (pcu_resource_check((pcu_resource *)op, "GraphExec.handle") < 0) {
        return NULL;
    }
    return PyLong_FromVoidPtr((void *)((pcu_resource *)op)->handle.graph_exec);
}

static int
exec_traverse(PyObject *op, visitproc visit, void *arg)
{
    graph_exec *self = (graph_exec *)op;
    Py_VISIT(self->resources);
    Py_VISIT(self->updates);
    Py_VISIT(self->retired);
    Py_VISIT(self->stream);
    return pcu_resource_traverse(op, visit, arg);
}

/* Wait for the last launch, end the driver's graph, then drop what it uses. */
static int
exec_clear(PyObject *op)
{
    graph_exec *self = (graph_exec *)op;
    if (self->head.live) {
        exec_wait_noraise(self);
        self->head.live = 0;
        pcu_release_noraise(self->head.st, PCU_HANDLE_graph_exec, self->head.handle,
                            self->head.ctx);
    }
    Py_CLEAR(self->resources);
    Py_CLEAR(self->updates);
    Py_CLEAR(self->retired);
    Py_CLEAR(self->stream);
    return pcu_resource_clear(op);
}

static void
exec_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    exec_clear(op);
    PyObject_GC_Track(op); /* pcu_resource_dealloc untracks it again */
    pcu_resource_dealloc(op);
}

static PyGetSetDef exec_getset[] = {
    {"handle", exec_get_handle, NULL, "The CUgraphExec as an int.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define EXEC_METHOD(name)                                    \
    {                                                        \
#        name, (PyCFunction)(void (*)(void))exec_##name,     \
            METH_FASTCALL | METH_KEYWORDS, exec_##name##_doc \
    }

static PyMethodDef exec_methods[] = {
    EXEC_METHOD(launch),
    EXEC_METHOD(upload),
    EXEC_METHOD(update_node),
    EXEC_METHOD(enable),
    {"update", exec_update, METH_O, exec_update_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    exec_doc,
    "A graph in the form that the device runs. Graph.instantiate() makes it.\n\n"
    "It keeps what the nodes use, also if the program deletes the graph and its "
    "arrays.\n"
    "Deleting a GraphExec waits for its last launch.");

static PyType_Slot exec_slots[] = {
    {Py_tp_doc, (void *)exec_doc},
    {Py_tp_traverse, exec_traverse},
    {Py_tp_clear, exec_clear},
    {Py_tp_dealloc, exec_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, exec_getset},
    {Py_tp_methods, exec_methods},
    {0, NULL},
};

static PyType_Spec exec_spec = {
    "pycuda._driver.GraphExec", sizeof(graph_exec), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    exec_slots};

int
pcu_graph_exec_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->GraphExec, &exec_spec, NULL);
}
