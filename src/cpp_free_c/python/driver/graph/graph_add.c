/* The methods of Graph that add single nodes.
 *
 * Each method fills the driver's parameters of a node, lets the graph keep what the
 * node uses, and calls cuGraphAddNode.
 *
 * Invariant: a node is added only after the graph keeps what the node uses. Callers:
 * Python, and graph_memory.c for more nodes. */
#include "python/driver/graph/graph.h"

#include "python/support/args.h"
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/current_context.h"
#include "python/driver/launch/launch.h"

PyObject *
pcu_graph_add_node(pcu_graph *self, PyObject *after, CUgraphNodeParams *params)
{
    CUgraphNode *nodes = NULL;
    size_t count = 0;
    int rc;
    if (pcu_graph_check(self, "cuGraphAddNode") < 0 ||
        pcu_graph_nodes_read(self, after, &nodes, &count) < 0) {
        return NULL;
    }
    pcu_graph_node *node = pcu_graph_node_blank_new(self);
    if (node == NULL) {
        PyMem_Free(nodes);
        return NULL;
    }
    node->type = params->type;
    PCU_CALL_CURRENT(
        rc, self->head.st, GraphAddNode,
        (&node->handle, self->head.handle.graph, nodes, NULL, count, params));
    PyMem_Free(nodes);
    if (rc < 0) {
        Py_CLEAR(node);
    }
    return (PyObject *)node;
}

/* -- kernels ----------------------------------------------------------------------- */

PyDoc_STRVAR(
    graph_add_kernel_doc,
    "add_kernel($self, function, /, *args, block, grid=(1, 1, 1), shared=0, "
    "after=())\n"
    "--\n\n"
    "Add the launch of a kernel.\n"
    "\nParameters\n----------\n"
    "function : Function\n"
    "    The kernel.\n"
    "*args : object\n"
    "    Arguments, as in a call of the function. In, Out and InOut are not\n"
    "    possible.\n"
    "block : int or tuple of int\n"
    "    Threads of a block.\n"
    "grid : int or tuple of int, optional\n"
    "    Blocks. The default is one.\n"
    "shared : int, optional\n"
    "    Dynamic shared memory of a block in bytes. The default is 0.\n" PCU_DOC_AFTER
    "\nReturns\n-------\n" PCU_DOC_NEW_NODE
    "\nRaises\n------\n"
    "TypeError\n"
    "    If an argument does not fit its parameter.\n" PCU_DOC_NOT_ADDED
    "\nSee Also\n--------\n"
    "GraphExec.update_node : Change the arguments.\n"
    "Stream.capture : Record launches.\n"
    "\nExamples\n--------\n"
    ">>> from pycuda.compiler import SourceModule\n"
    ">>> add = SourceModule('''\n"
    "... __global__ void add(int *x, int n) { x[threadIdx.x] += n; }\n"
    "... ''').get_function(\"add\")\n"
    ">>> x = gpuarray.zeros(3, np.int32)\n"
    ">>> graph = drv.Graph()\n"
    ">>> node = graph.add_kernel(add, x, np.int32(2), block=3)\n"
    ">>> run = graph.instantiate()\n"
    ">>> run.launch()\n"
    ">>> run.update_node(node, x, np.int32(5))\n"
    ">>> run.launch()\n"
    ">>> x\n"
    "array([7, 7, 7], dtype=int32)");

static PyObject *
graph_add_kernel(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_graph *self = (pcu_graph *)op;
    pcu_state *st = self->head.st;
    CUgraphNodeParams params;
    pcu_launch_shape shape = {.grid = {1, 1, 1}};
    pcu_argument_buffer buffer;
    PyObject *after = NULL;
    PyObject *node = NULL;
    bool has_block = false;
    if (nargs < 1 || !PyObject_TypeCheck(args[0], st->Function)) {
        PyErr_SetString(PyExc_TypeError,
                        "add_kernel() takes a Function first, then its arguments");
        return NULL;
    }
    pcu_function *function = (pcu_function *)args[0];
    if (pcu_graph_read_shape(st, "add_kernel", args + nargs, kwnames, &shape,
                             &has_block, &after) < 0) {
        return NULL;
    }
    if (!has_block) {
        PyErr_Format(PyExc_TypeError,
                     "add_kernel() of %U needs block=, as in block=(256, 1, 1)",
                     function->name);
        return NULL;
    }
    pcu_argument_buffer_init(&buffer);
    memset(&params, 0, sizeof(params));
    params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    void *extra[PCU_KERNEL_EXTRA];
    if (pcu_graph_check(self, "cuGraphAddNode") == 0 &&
        pcu_kernel_parameters(function, args + 1, nargs - 1, &shape, &buffer, extra,
                              &params.kernel) == 0 &&
        pcu_arguments_keep(self->resources, args + 1, nargs - 1) == 0 &&
        pcu_graph_resources_keep_words(self->resources, buffer.data, buffer.used) ==
            0 &&
        pcu_graph_resources_keep_function(self->resources, function->handle,
                                          (PyObject *)function) == 0) {
        node = pcu_graph_add_node(self, after, &params);
    }
    if (node != NULL) {
        ((pcu_graph_node *)node)->function = Py_NewRef((PyObject *)function);
        ((pcu_graph_node *)node)->shape = shape;
    }
    pcu_argument_buffer_free(&buffer);
    return node;
}

/* -- copies and fills -------------------------------------------------------------- */

/* The arguments of the methods; objects are borrowed. */
typedef struct {
    PyObject *dest;
    PyObject *src;
    PyObject *size;
    PyObject *after;
    PyObject *value;
    PyObject *count;
    unsigned int width;
    PyObject *what;
} graph_add_args;

static const pcu_word graph_add_words[] = {
    PCU_WORD("dest", pcu_as_object, graph_add_args, dest),
    PCU_WORD("src", pcu_as_object, graph_add_args, src),
    PCU_WORD("size", pcu_as_object, graph_add_args, size),
    PCU_WORD("after", pcu_as_object, graph_add_args, after),
    PCU_WORD("value", pcu_as_object, graph_add_args, value),
    PCU_WORD("count", pcu_as_object, graph_add_args, count),
    PCU_WORD("width", pcu_as_uint, graph_add_args, width),
    PCU_WORD("function", pcu_as_object, graph_add_args, what),
    PCU_WORD("graph", pcu_as_object, graph_add_args, what),
    PCU_WORD("event", pcu_as_object, graph_add_args, what),
};

PCU_SIGNATURE(
    graph_add_copy, graph_add_words,
    "add_copy($self, /, dest, src, size=None, after=())\n"
    "--\n\n"
    "Add a copy of memory.\n"
    "\nParameters\n----------\n"
    "dest : GPUArray, device memory, int or buffer\n"
    "    Where to copy to: an array on the device or the host, or an address\n"
    "    on the device.\n"
    "src : GPUArray, device memory, int or buffer\n"
    "    What to copy.\n"
    "size : int, optional\n"
    "    Bytes. The default is the size of the smaller one.\n" PCU_DOC_AFTER
    "\nReturns\n-------\n" PCU_DOC_NEW_NODE
    "\nRaises\n------\n"
    "TypeError\n"
    "    If ``size`` is missing and both sides are addresses.\n" PCU_DOC_NOT_ADDED
    "\nSee Also\n--------\n"
    "Graph.add_set : A fill.\n"
    "\nNotes\n-----\n"
    "The graph keeps memory of the host alive, and reads and writes it at\n"
    "each launch. Arrays with gaps are refused.")

static PyObject *
graph_add_copy(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_graph *self = (pcu_graph *)op;
    pcu_state *st = self->head.st;
    graph_add_args a = {0};
    CUgraphNodeParams params;
    if (pcu_args_parse(st, &graph_add_copy_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_graph_check(self, "cuGraphAddNode") < 0) {
        return NULL;
    }
    memset(&params, 0, sizeof(params));
    params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    params.memcpy.copyCtx = pcu_context_rec(self->head.ctx)->handle;
    if (pcu_copy_parameters(st, a.dest, a.src, a.size, self->resources,
                            &params.memcpy.copyParams) < 0) {
        return NULL;
    }
    return pcu_graph_add_node(self, a.after, &params);
}

PCU_SIGNATURE(
    graph_add_set, graph_add_words,
    "add_set($self, /, dest, value, count=None, width=1, after=())\n"
    "--\n\n"
    "Add a fill of device memory.\n"
    "\nParameters\n----------\n"
    "dest : GPUArray, device memory or int\n"
    "    Memory, or its address.\n"
    "value : int\n"
    "    Value of an element.\n"
    "count : int, optional\n"
    "    Number of elements. The default is all of the array ``dest``.\n"
    "width : {1, 2, 4}, optional\n"
    "    Bytes of an element. The default is 1.\n" PCU_DOC_AFTER
    "\nReturns\n-------\n" PCU_DOC_NEW_NODE
    "\nRaises\n------\n"
    "TypeError\n"
    "    If ``count`` is missing and ``dest`` is an address.\n" PCU_DOC_NOT_ADDED
    "\nSee Also\n--------\n"
    "Graph.add_copy : A copy.")

static PyObject *
graph_add_set(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_graph *self = (pcu_graph *)op;
    pcu_state *st = self->head.st;
    graph_add_args a = {.width = 1};
    CUDA_MEMSET_NODE_PARAMS fill;
    CUgraphNodeParams params;
    if (pcu_args_parse(st, &graph_add_set_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_graph_check(self, "cuGraphAddNode") < 0 ||
        pcu_set_parameters(st, a.dest, a.value, a.count, a.width, self->resources,
                           &fill) < 0) {
        return NULL;
    }
    memset(&params, 0, sizeof(params));
    params.type = CU_GRAPH_NODE_TYPE_MEMSET;
    params.memset.dst = fill.dst;
    params.memset.value = fill.value;
    params.memset.elementSize = fill.elementSize;
    params.memset.width = fill.width;
    params.memset.height = fill.height;
    params.memset.ctx = pcu_context_rec(self->head.ctx)->handle;
    return pcu_graph_add_node(self, a.after, &params);
}

/* -- host functions ---------------------------------------------------------------- */

/* Parse (what, after=()). */
static int
graph_read_one(pcu_graph *self, const pcu_signature *signature, PyObject *const *args,
               Py_ssize_t nargs, PyObject *kwnames, graph_add_args *a)
{
    if (pcu_args_parse(self->head.st, signature, args, nargs, kwnames, a) < 0) {
        return -1;
    }
    return pcu_graph_check(self, "cuGraphAddNode");
}

PCU_SIGNATURE(graph_add_host, graph_add_words,
              "add_host($self, /, function, after=())\n"
              "--\n\n"
              "Add a call of a Python function.\n"
              "\nParameters\n----------\n" PCU_DOC_HOST_FUNCTION PCU_DOC_AFTER
              "\nReturns\n-------\n" PCU_DOC_NEW_NODE
              "\nRaises\n------\n" PCU_DOC_NOT_CALLABLE PCU_DOC_NOT_ADDED
              "\nSee Also\n--------\n"
              "Stream.add_callback : A call in a stream.\n"
              "\nNotes\n-----\n"
              "A thread of the driver calls it at each launch; nodes that wait for it\n"
              "run after its return. An exception goes to ``sys.unraisablehook``.")

static PyObject *
graph_add_host(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_graph *self = (pcu_graph *)op;
    graph_add_args a = {0};
    CUgraphNodeParams params;
    if (graph_read_one(self, &graph_add_host_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    memset(&params, 0, sizeof(params));
    params.type = CU_GRAPH_NODE_TYPE_HOST;
    if (pcu_host_parameters(a.what, self->resources, &params.host) < 0) {
        return NULL;
    }
    return pcu_graph_add_node(self, a.after, &params);
}

/* -- empty nodes, events, children ------------------------------------------------- */

PCU_SIGNATURE(graph_add_empty, graph_add_words,
              "add_empty($self, /, after=())\n"
              "--\n\n"
              "Add a node without work, at which others can meet.\n"
              "\nParameters\n----------\n" PCU_DOC_AFTER
              "\nReturns\n-------\n" PCU_DOC_NEW_NODE
              "\nRaises\n------\n" PCU_DOC_NOT_ADDED
              "\nSee Also\n--------\n"
              "Graph.add_edge : Let a node wait for it.")

static PyObject *
graph_add_empty(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    graph_add_args a = {0};
    CUgraphNodeParams params;
    if (pcu_args_parse(((pcu_graph *)op)->head.st, &graph_add_empty_signature, args,
                       nargs, kwnames, &a) < 0) {
        return NULL;
    }
    memset(&params, 0, sizeof(params));
    params.type = CU_GRAPH_NODE_TYPE_EMPTY;
    return pcu_graph_add_node((pcu_graph *)op, a.after, &params);
}

/* Add a node that records an event or waits for it. */
static PyObject *
graph_add_event(PyObject *op, const pcu_signature *signature, CUgraphNodeType type,
                PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_graph *self = (pcu_graph *)op;
    graph_add_args a = {0};
    CUgraphNodeParams params;
    if (graph_read_one(self, signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    memset(&params, 0, sizeof(params));
    params.type = type;
    if (pcu_event_parameter(self->head.st, a.what, self->resources,
                            &params.eventRecord.event) < 0) {
        return NULL;
    }
    return pcu_graph_add_node(self, a.after, &params);
}

PCU_SIGNATURE(graph_add_event_record, graph_add_words,
              "add_event_record($self, /, event, after=())\n"
              "--\n\n"
              "Add a node that records an event.\n"
              "\nParameters\n----------\n"
              "event : Event\n"
              "    The event, which is recorded at each launch.\n" PCU_DOC_AFTER
              "\nReturns\n-------\n" PCU_DOC_NEW_NODE
              "\nRaises\n------\n" PCU_DOC_NO_EVENT PCU_DOC_NOT_ADDED
              "\nSee Also\n--------\n"
              "Graph.add_event_wait : Wait for an event.")

static PyObject *
graph_add_event_record(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    return graph_add_event(op, &graph_add_event_record_signature,
                           CU_GRAPH_NODE_TYPE_EVENT_RECORD, args, nargs, kwnames);
}

PCU_SIGNATURE(graph_add_event_wait, graph_add_words,
              "add_event_wait($self, /, event, after=())\n"
              "--\n\n"
              "Add a node that waits for an event.\n"
              "\nParameters\n----------\n"
              "event : Event\n"
              "    The event.\n" PCU_DOC_AFTER "\nReturns\n-------\n" PCU_DOC_NEW_NODE
              "\nRaises\n------\n" PCU_DOC_NO_EVENT PCU_DOC_NOT_ADDED
              "\nSee Also\n--------\n"
              "Graph.add_event_record : Record an event.")

static PyObject *
graph_add_event_wait(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames)
{
    return graph_add_event(op, &graph_add_event_wait_signature,
                           CU_GRAPH_NODE_TYPE_WAIT_EVENT, args, nargs, kwnames);
}

PCU_SIGNATURE(
    graph_add_child, graph_add_words,
    "add_child($self, /, graph, after=())\n"
    "--\n\n"
    "Add a copy of another graph as one node.\n"
    "\nParameters\n----------\n"
    "graph : Graph\n"
    "    The other graph. Later changes of it do not change the node.\n" PCU_DOC_AFTER
    "\nReturns\n-------\n" PCU_DOC_NEW_NODE
    "\nRaises\n------\n" PCU_DOC_NOT_A_GRAPH PCU_DOC_NOT_ADDED
    "\nSee Also\n--------\n"
    "Graph.clone : A copy as a graph of its own.")

static PyObject *
graph_add_child(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    pcu_graph *self = (pcu_graph *)op;
    graph_add_args a = {0};
    CUgraphNodeParams params;
    if (graph_read_one(self, &graph_add_child_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    memset(&params, 0, sizeof(params));
    params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    if (pcu_child_parameter(self->head.st, a.what, self->resources,
                            &params.graph.graph) < 0) {
        return NULL;
    }
    PyObject *copy = NULL;
    if (((pcu_graph *)a.what)->resources == self->resources) {
        /* The graph itself, or one that has it in a node: driver 580 crashes if a graph
         * becomes a part of itself. */
        copy = pcu_graph_copy_new((pcu_graph *)a.what);
        if (copy == NULL) {
            return NULL;
        }
        params.graph.graph = ((pcu_graph *)copy)->head.handle.graph;
    }
    PyObject *node = pcu_graph_add_node(self, a.after, &params);
    Py_XDECREF(copy);
    return node;
}

/* -- conditions -------------------------------------------------------------------- */

#define DOC_CONDITION            \
    "condition : numpy.uint64\n" \
    "    The result of ``Graph.condition``.\n"

#define DOC_FILL_BODIES \
    "Add nodes to a body, or capture into it by ``Stream.capture``.\n"

typedef struct {
    PyObject *condition;
    unsigned int count; /* of the bodies */
    bool otherwise;
    PyObject *after;
} graph_add_conditional_args;

/* Remember the type of a conditional node, and the bodies that the driver made. */
static int
graph_keep_bodies(pcu_graph *self, PyObject *node,
                  const CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    PyObject *key = PyLong_FromVoidPtr((void *)((pcu_graph_node *)node)->handle);
    PyObject *handles = PyTuple_New((Py_ssize_t)params->size + 1);
    int rc = -1;
    for (size_t i = 0; handles != NULL && i <= params->size; i++) {
        PyObject *item = NULL;
        if (i == 0) {
            item = PyLong_FromUnsignedLong(params->type);
        }
        else {
            item = PyLong_FromVoidPtr((void *)params->phGraph_out[i - 1]);
        }
        if (item == NULL) {
            Py_CLEAR(handles);
            break;
        }
        PyTuple_SET_ITEM(handles, (Py_ssize_t)i, item);
    }
    if (key != NULL && handles != NULL) {
        rc = PyDict_SetItem(self->resources->bodies, key, handles);
    }
    Py_XDECREF(key);
    Py_XDECREF(handles);
    return rc;
}

static PyObject *
graph_add_conditional(pcu_graph *self, const graph_add_conditional_args *a,
                      CUgraphConditionalNodeType type)
{
    unsigned long long handle = 0;
    CUgraphNodeParams params;
    if (pcu_as_integer(a->condition, 0, UINT64_MAX, &handle, "condition") < 0 ||
        pcu_graph_check(self, "cuGraphAddNode") < 0) {
        return NULL;
    }
    memset(&params, 0, sizeof(params));
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = a->count;
    params.conditional.ctx = pcu_context_rec(self->head.ctx)->handle;
    PyObject *node = pcu_graph_add_node(self, a->after, &params);
    if (node != NULL && graph_keep_bodies(self, node, &params.conditional) < 0) {
        CUresult status;
        PCU_STATUS(status, GraphDestroyNode, (((pcu_graph_node *)node)->handle));
        (void)status; /* the first error is the one to report */
        Py_CLEAR(node);
    }
    return node;
}

static const pcu_word graph_add_conditional_words[] = {
    PCU_WORD("condition", pcu_as_object, graph_add_conditional_args, condition),
    PCU_WORD("otherwise", pcu_as_bool, graph_add_conditional_args, otherwise),
    PCU_WORD("after", pcu_as_object, graph_add_conditional_args, after),
    PCU_WORD("count", pcu_as_uint, graph_add_conditional_args, count),
};

PCU_SIGNATURE(graph_add_if, graph_add_conditional_words,
              "add_if($self, /, condition, otherwise=False, after=())\n"
              "--\n\n"
              "Add a node that runs its body if a condition is not 0.\n"
              "\nParameters\n----------\n" DOC_CONDITION
              "otherwise : bool, optional\n"
              "    If true, there is a second body, which runs if the condition is 0.\n"
              "    It needs CUDA 12.8.\n" PCU_DOC_AFTER
              "\nReturns\n-------\n"
              "GraphNode\n"
              "    The new node. Its ``bodies`` are the graphs to fill.\n"
              "\nRaises\n------\n" PCU_DOC_NOT_ADDED
              "\nSee Also\n--------\n"
              "Graph.condition : Make the condition.\n"
              "Graph.add_while : Repeat a body.\n"
              "\nNotes\n-----\n" DOC_FILL_BODIES
              "\nExamples\n--------\n"
              ">>> x = gpuarray.zeros(2, np.uint8)\n"
              ">>> graph = drv.Graph()\n"
              ">>> node = graph.add_if(graph.condition(1))\n"
              ">>> inner = node.bodies[0].add_set(x, 9)\n"
              ">>> graph.instantiate().launch()\n"
              ">>> x\n"
              "array([9, 9], dtype=uint8)")

static PyObject *
graph_add_if(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    graph_add_conditional_args a = {.count = 1};
    if (pcu_args_parse(((pcu_graph *)op)->head.st, &graph_add_if_signature, args, nargs,
                       kwnames, &a) < 0) {
        return NULL;
    }
    if (a.otherwise) {
        a.count = 2;
    }
    return graph_add_conditional((pcu_graph *)op, &a, CU_GRAPH_COND_TYPE_IF);
}

PCU_SIGNATURE(graph_add_while, graph_add_conditional_words,
              "add_while($self, /, condition, after=())\n"
              "--\n\n"
              "Add a node that repeats its body while a condition is not 0.\n"
              "\nParameters\n----------\n" DOC_CONDITION PCU_DOC_AFTER
              "\nReturns\n-------\n"
              "GraphNode\n"
              "    The new node. Its ``bodies`` has one graph to fill.\n"
              "\nRaises\n------\n" PCU_DOC_NOT_ADDED
              "\nSee Also\n--------\n"
              "Graph.condition : Make the condition.\n"
              "Graph.add_if : Run a body once.\n"
              "\nNotes\n-----\n"
              "The condition is read before each turn; a kernel of the body sets "
              "it.\n" DOC_FILL_BODIES)

static PyObject *
graph_add_while(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    graph_add_conditional_args a = {.count = 1};
    if (pcu_args_parse(((pcu_graph *)op)->head.st, &graph_add_while_signature, args,
                       nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return graph_add_conditional((pcu_graph *)op, &a, CU_GRAPH_COND_TYPE_WHILE);
}

PCU_SIGNATURE(graph_add_switch, graph_add_conditional_words,
              "add_switch($self, /, condition, count, after=())\n"
              "--\n\n"
              "Add a node that runs one of several bodies.\n"
              "\nParameters\n----------\n" DOC_CONDITION
              "count : int\n"
              "    Number of the bodies.\n" PCU_DOC_AFTER
              "\nReturns\n-------\n"
              "GraphNode\n"
              "    The new node. The graph ``bodies[i]`` runs if the condition is\n"
              "    ``i``; none runs if it is ``count`` or more.\n"
              "\nRaises\n------\n" PCU_DOC_NOT_ADDED
              "\nSee Also\n--------\n"
              "Graph.condition : Make the condition.\n"
              "\nNotes\n-----\n"
              "It needs CUDA 12.8.\n" DOC_FILL_BODIES)

static PyObject *
graph_add_switch(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    graph_add_conditional_args a = {0};
    if (pcu_args_parse(((pcu_graph *)op)->head.st, &graph_add_switch_signature, args,
                       nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return graph_add_conditional((pcu_graph *)op, &a, CU_GRAPH_COND_TYPE_SWITCH);
}

/* -- the methods ------------------------------------------------------------------- */

static PyMethodDef graph_add_methods[] = {
    PCU_METHOD("add_kernel", graph_add_kernel),
    PCU_METHOD("add_copy", graph_add_copy),
    PCU_METHOD("add_set", graph_add_set),
    PCU_METHOD("add_host", graph_add_host),
    PCU_METHOD("add_empty", graph_add_empty),
    PCU_METHOD("add_event_record", graph_add_event_record),
    PCU_METHOD("add_event_wait", graph_add_event_wait),
    PCU_METHOD("add_child", graph_add_child),
    PCU_METHOD("add_if", graph_add_if),
    PCU_METHOD("add_while", graph_add_while),
    PCU_METHOD("add_switch", graph_add_switch),
    {NULL, NULL, 0, NULL},
};

int
pcu_graph_add_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    return pcu_add_methods(st->Graph, graph_add_methods);
}
