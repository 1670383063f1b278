/* Changes of executable graphs: of one node, and of all nodes as another graph has
 * them.
 *
 * Invariant: before the driver takes new parameters, the GraphExec holds what they use.
 * What the old ones used is retired. Python is the only caller. */
#include "python/driver/graph/graph.h"

#include "python/support/args.h"
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/launch/launch.h"
#include "python/driver/memory/memory.h"

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

/* Whether the node's present arguments use the same objects as these. */
static bool
exec_uses_same(pcu_state *st, PyObject *old, PyObject *const *args, Py_ssize_t nargs)
{
    if (old == NULL || PyTuple_GET_SIZE(old) != nargs + 1) {
        return false;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (PyTuple_GET_ITEM(old, i + 1) != exec_used_borrow(st, args[i])) {
            return false;
        }
    }
    return true;
}

/* Hold what the node's new arguments use. exec_settle() ends the old ones. */
static int
exec_hold(pcu_graph_exec *self, PyObject *node, PyObject *used)
{
    if (self->updates == NULL) {
        self->updates = PyDict_New();
        if (self->updates == NULL) {
            return -1;
        }
    }
    return PyDict_SetItem(self->updates, node, used);
}

/* What the present arguments of a node use, a new reference; NULL without an exception
 * if no update has changed it. */
static PyObject *
exec_held_new(pcu_graph_exec *self, PyObject *node)
{
    if (self->updates == NULL) {
        return NULL;
    }
    return Py_XNewRef(PyDict_GetItemWithError(self->updates, node));
}

/* The update of a node has ended. Retire what the old arguments used, or after a
 * failure hold that again: the node has not changed. Steals the reference. */
static int
exec_settle(pcu_graph_exec *self, PyObject *node, PyObject *old, int rc)
{
    PyObject *now = exec_held_new(self, node);
    Py_XDECREF(now); /* only compared */
    if (now == old) {
        Py_XDECREF(old);
        return rc;
    }
    if (rc == 0) {
        return pcu_graph_exec_retire(self, old);
    }
    pcu_saved_error pending;
    pcu_error_save(&pending);
    if (old == NULL) {
        rc = PyDict_DelItem(self->updates, node);
    }
    else {
        rc = PyDict_SetItem(self->updates, node, old);
    }
    if (rc < 0) {
        PyErr_Clear(); /* the key is there, so neither call can fail */
    }
    pcu_error_restore(&pending);
    Py_XDECREF(old);
    return -1;
}

PyDoc_STRVAR(exec_update_doc,
             "update($self, graph, /)\n"
             "--\n\n"
             "Take the parameters of all nodes from another graph.\n"
             "\nParameters\n----------\n"
             "graph : Graph\n"
             "    A graph of the same structure.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the graphs differ in more than parameters. The message has the\n"
             "    reason.\n" PCU_DOC_NOT_A_GRAPH
             "\nSee Also\n--------\n"
             "GraphExec.update_node : Change one node.\n"
             "Stream.capture : Has an option for arrays of other sizes.\n"
             "\nNotes\n-----\n"
             "Launches before the update are not changed.\n"
             "\nExamples\n--------\n"
             ">>> x = gpuarray.zeros(2, np.float32)\n"
             ">>> stream = drv.Stream()\n"
             ">>> with stream.capture() as graph:\n"
             "...     x += 1\n"
             ">>> run = graph.instantiate()\n"
             ">>> with stream.capture() as other:\n"
             "...     x += 5\n"
             ">>> run.update(other)\n"
             ">>> run.launch(stream)\n"
             ">>> stream.synchronize()\n"
             ">>> x\n"
             "array([5., 5.], dtype=float32)");

static PyObject *
exec_update(PyObject *op, PyObject *value)
{
    pcu_graph_exec *self = (pcu_graph_exec *)op;
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
    PCU_EXEC_STATUS(status, self, GraphExecUpdate,
                    (self->head.handle.graph_exec, graph->head.handle.graph, &info));
    if (status != CUDA_SUCCESS) {
        const char *hint = "";
        if (info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED &&
            (self->resources->has_early || graph->resources->has_early)) {
            hint =
                "; captures of arrays of other sizes have the same edges with "
                "capture(early=False)";
        }
        pcu_raise_detail(st, "cuGraphExecUpdate", status, "%s%s",
                         exec_explain_update(info.result), hint);
        return NULL;
    }
    PyObject *old = (PyObject *)self->resources;
    PyObject *updates = self->updates;
    self->resources = (pcu_graph_resources *)Py_NewRef((PyObject *)graph->resources);
    self->updates = NULL;
    if (pcu_graph_exec_retire(self, old) < 0) {
        Py_XDECREF(updates);
        return NULL;
    }
    if (pcu_graph_exec_retire(self, updates) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* The node among the arguments of an update. */
static pcu_graph_node *
exec_read_node(pcu_graph_exec *self, PyObject *const *args, Py_ssize_t nargs,
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
exec_hold_arguments(pcu_graph_exec *self, pcu_graph_node *node, PyObject *const *args,
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
exec_update_kernel(pcu_graph_exec *self, pcu_graph_node *node, PyObject *const *args,
                   Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = self->head.st;
    pcu_launch_shape shape = node->shape;
    pcu_argument_buffer buffer;
    CUDA_KERNEL_NODE_PARAMS params;
    void *extra[PCU_KERNEL_EXTRA];
    bool has_block = false;
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
        PCU_EXEC_CALL(rc, self, GraphExecKernelNodeSetParams,
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
exec_hold_resources(pcu_graph_exec *self, pcu_graph_node *node,
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

static const pcu_word exec_copy_words[] = {
    PCU_WORD("node", pcu_as_object, exec_copy_args, node),
    PCU_WORD("dest", pcu_as_object, exec_copy_args, dest),
    PCU_WORD("src", pcu_as_object, exec_copy_args, src),
    PCU_WORD("size", pcu_as_object, exec_copy_args, size),
    PCU_WORD("value", pcu_as_object, exec_copy_args, src),
    PCU_WORD("count", pcu_as_object, exec_copy_args, size),
    PCU_WORD("width", pcu_as_uint, exec_copy_args, width),
};

/* The arguments for a copy. */
PCU_SIGNATURE(exec_update_copy, exec_copy_words,
              "update_node(node, /, dest, src, size=None)\n--\n\n")

static int
exec_update_copy(pcu_graph_exec *self, pcu_graph_node *node, PyObject *const *args,
                 Py_ssize_t nargs, PyObject *kwnames, pcu_graph_resources *resources)
{
    pcu_state *st = self->head.st;
    exec_copy_args a = {0};
    CUDA_MEMCPY3D copy;
    int rc;
    if (pcu_args_parse(st, &exec_update_copy_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_copy_parameters(st, a.dest, a.src, a.size, resources, &copy) < 0 ||
        exec_hold_resources(self, node, resources) < 0) {
        return -1;
    }
    PCU_EXEC_CALL(rc, self, GraphExecMemcpyNodeSetParams,
                  (self->head.handle.graph_exec, node->handle, &copy,
                   pcu_context_rec(self->head.ctx)->handle));
    return rc;
}

/* The arguments for a fill. */
PCU_SIGNATURE(exec_update_set, exec_copy_words,
              "update_node(node, /, dest, value, count=None, width=1)\n--\n\n")

static int
exec_update_set(pcu_graph_exec *self, pcu_graph_node *node, PyObject *const *args,
                Py_ssize_t nargs, PyObject *kwnames, pcu_graph_resources *resources)
{
    pcu_state *st = self->head.st;
    exec_copy_args a = {.width = 1};
    CUDA_MEMSET_NODE_PARAMS fill;
    int rc;
    if (pcu_args_parse(st, &exec_update_set_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_set_parameters(st, a.dest, a.src, a.size, a.width, resources, &fill) < 0 ||
        exec_hold_resources(self, node, resources) < 0) {
        return -1;
    }
    PCU_EXEC_CALL(rc, self, GraphExecMemsetNodeSetParams,
                  (self->head.handle.graph_exec, node->handle, &fill,
                   pcu_context_rec(self->head.ctx)->handle));
    return rc;
}

/* Read the one argument of a node that has one: (node, what). */
static PyObject *
exec_read_one(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
              const char *what)
{
    if (nargs != 2 || kwnames != NULL) {
        PyErr_Format(PyExc_TypeError, "update_node() of this node takes %s", what);
        return NULL;
    }
    return args[1];
}

static int
exec_update_host(pcu_graph_exec *self, pcu_graph_node *node, PyObject *function,
                 pcu_graph_resources *resources)
{
    CUDA_HOST_NODE_PARAMS host;
    int rc;
    if (pcu_host_parameters(function, resources, &host) < 0 ||
        exec_hold_resources(self, node, resources) < 0) {
        return -1;
    }
    PCU_EXEC_CALL(rc, self, GraphExecHostNodeSetParams,
                  (self->head.handle.graph_exec, node->handle, &host));
    return rc;
}

static int
exec_update_event(pcu_graph_exec *self, pcu_graph_node *node, PyObject *value,
                  pcu_graph_resources *resources)
{
    CUevent event = NULL;
    int rc;
    if (pcu_event_parameter(self->head.st, value, resources, &event) < 0 ||
        exec_hold_resources(self, node, resources) < 0) {
        return -1;
    }
    if (node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
        PCU_EXEC_CALL(rc, self, GraphExecEventRecordNodeSetEvent,
                      (self->head.handle.graph_exec, node->handle, event));
    }
    else {
        PCU_EXEC_CALL(rc, self, GraphExecEventWaitNodeSetEvent,
                      (self->head.handle.graph_exec, node->handle, event));
    }
    return rc;
}

static int
exec_update_child(pcu_graph_exec *self, pcu_graph_node *node, PyObject *value,
                  pcu_graph_resources *resources)
{
    CUgraph child = NULL;
    int rc;
    if (pcu_child_parameter(self->head.st, value, resources, &child) < 0 ||
        exec_hold_resources(self, node, resources) < 0) {
        return -1;
    }
    PCU_EXEC_CALL(rc, self, GraphExecChildGraphNodeSetParams,
                  (self->head.handle.graph_exec, node->handle, child));
    return rc;
}

static int
exec_update_batch(pcu_graph_exec *self, pcu_graph_node *node, PyObject *operations,
                  pcu_graph_resources *resources)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {.ctx =
                                               pcu_context_rec(self->head.ctx)->handle};
    int rc = pcu_memory_operations_read(self->head.st, operations, resources,
                                        &batch.paramArray, &batch.count);
    if (rc == 0) {
        rc = exec_hold_resources(self, node, resources);
    }
    if (rc == 0) {
        PCU_EXEC_CALL(rc, self, GraphExecBatchMemOpNodeSetParams,
                      (self->head.handle.graph_exec, node->handle, &batch));
    }
    PyMem_Free(batch.paramArray);
    return rc;
}

/* The types of nodes that update_node() changes by one argument. */
static const struct {
    CUgraphNodeType type;
    const char *argument;
    int (*update)(pcu_graph_exec *self, pcu_graph_node *node, PyObject *value,
                  pcu_graph_resources *resources);
} exec_updates[] = {
    {CU_GRAPH_NODE_TYPE_HOST, "a function", exec_update_host},
    {CU_GRAPH_NODE_TYPE_EVENT_RECORD, "an Event", exec_update_event},
    {CU_GRAPH_NODE_TYPE_WAIT_EVENT, "an Event", exec_update_event},
    {CU_GRAPH_NODE_TYPE_GRAPH, "a Graph", exec_update_child},
    {CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, "a sequence of operations", exec_update_batch},
};

static int
exec_update_one(pcu_graph_exec *self, pcu_graph_node *node, PyObject *const *args,
                Py_ssize_t nargs, PyObject *kwnames, pcu_graph_resources *resources)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(exec_updates); i++) {
        if (exec_updates[i].type == node->type) {
            PyObject *value =
                exec_read_one(args, nargs, kwnames, exec_updates[i].argument);
            if (value == NULL) {
                return -1;
            }
            return exec_updates[i].update(self, node, value, resources);
        }
    }
    PyErr_SetString(PyExc_TypeError,
                    "a node of this type has no parameters that can be changed one by "
                    "one; use update(graph)");
    return -1;
}

/* All nodes but kernels: their new resources are an object of their own. */
static int
exec_update_other(pcu_graph_exec *self, pcu_graph_node *node, PyObject *const *args,
                  Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_graph_resources *resources =
        pcu_graph_resources_new(self->head.st, self->head.ctx);
    int rc;
    if (resources == NULL) {
        return -1;
    }
    if (node->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        rc = exec_update_copy(self, node, args, nargs, kwnames, resources);
    }
    else if (node->type == CU_GRAPH_NODE_TYPE_MEMSET) {
        rc = exec_update_set(self, node, args, nargs, kwnames, resources);
    }
    else {
        rc = exec_update_one(self, node, args, nargs, kwnames, resources);
    }
    Py_DECREF(resources);
    return rc;
}

PyDoc_STRVAR(exec_update_node_doc,
             "update_node($self, node, /, *args, **kwargs)\n"
             "--\n\n"
             "Change the arguments of one node for the launches that follow.\n"
             "\nParameters\n----------\n"
             "node : GraphNode\n"
             "    A node of the graph that was instantiated; the graph is not\n"
             "    changed.\n"
             "*args : object\n"
             "    Arguments of the method that adds such a node, without ``after``:\n"
             "    those of a kernel, ``dest``, ``src`` and ``size`` of a copy,\n"
             "    ``dest``, ``value``, ``count`` and ``width`` of a fill, or the\n"
             "    function, event, graph or operations.\n"
             "**kwargs : object\n"
             "    The same by name; for a kernel ``block``, ``grid`` and ``shared``,\n"
             "    if they change.\n"
             "\nRaises\n------\n"
             "TypeError\n"
             "    If the arguments do not fit, or if a node of this type has none.\n"
             "LogicError\n"
             "    If the driver cannot change the node in this way.\n"
             "\nSee Also\n--------\n"
             "GraphExec.update : Change all nodes.\n"
             "GraphExec.enable : Switch a node off.\n"
             "\nNotes\n-----\n"
             "Launches before the call are not changed.");

static PyObject *
exec_update_node(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_graph_exec *self = (pcu_graph_exec *)op;
    int rc;
    pcu_graph_node *node =
        exec_read_node(self, args, nargs, "cuGraphExecKernelNodeSetParams");
    if (node == NULL) {
        return NULL;
    }
    PyObject *held = exec_held_new(self, args[0]);
    if (held == NULL && PyErr_Occurred()) {
        return NULL;
    }
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        rc = exec_update_kernel(self, node, args, nargs, kwnames);
    }
    else {
        rc = exec_update_other(self, node, args, nargs, kwnames);
    }
    if (exec_settle(self, args[0], held, rc) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

typedef struct {
    PyObject *node;
    bool enabled;
} exec_enable_args;

static const pcu_word exec_enable_words[] = {
    PCU_WORD("node", pcu_as_object, exec_enable_args, node),
    PCU_WORD("enabled", pcu_as_bool, exec_enable_args, enabled),
};

PCU_SIGNATURE(exec_enable, exec_enable_words,
              "enable($self, /, node, enabled=True)\n"
              "--\n\n"
              "Switch a kernel, copy or fill on or off for the launches that follow.\n"
              "\nParameters\n----------\n"
              "node : GraphNode\n"
              "    A node of the graph that was instantiated.\n"
              "enabled : bool, optional\n"
              "    False switches it off. The default is True.\n"
              "\nRaises\n------\n"
              "TypeError\n"
              "    If ``node`` is no ``GraphNode``.\n"
              "LogicError\n"
              "    If the node does other work.\n"
              "\nSee Also\n--------\n"
              "GraphExec.update_node : Change the arguments of a node.\n"
              "\nNotes\n-----\n"
              "A node that is off does nothing; its order is kept.")

static PyObject *
exec_enable(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_graph_exec *self = (pcu_graph_exec *)op;
    exec_enable_args a = {NULL, true};
    int rc;
    if (pcu_args_parse(self->head.st, &exec_enable_signature, args, nargs, kwnames,
                       &a) < 0) {
        return NULL;
    }
    const pcu_graph_node *node =
        exec_read_node(self, &a.node, 1, "cuGraphNodeSetEnabled");
    if (node == NULL) {
        return NULL;
    }
    PCU_EXEC_CALL(
        rc, self, GraphNodeSetEnabled,
        (self->head.handle.graph_exec, node->handle, (unsigned int)(a.enabled != 0)));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- the methods ------------------------------------------------------------------- */

static PyMethodDef exec_update_methods[] = {
    {"update", exec_update, METH_O, exec_update_doc},
    PCU_METHOD("update_node", exec_update_node),
    PCU_METHOD("enable", exec_enable),
    {NULL, NULL, 0, NULL},
};

int
pcu_graph_update_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    return pcu_add_methods(st->GraphExec, exec_update_methods);
}
