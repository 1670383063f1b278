/* The type Graph: work of the device and the order of its parts, which can be launched
 * again and again.
 *
 * graph_node.c has the nodes, graph_add.c adds them, graph_edges.c changes their order,
 * graph_exec.c has the executable graph, stream_capture.c records the work of a stream,
 * graph_memory.c has nodes that allocate, user_object.c objects that a graph keeps.
 *
 * Invariant: see graph.h. Callers: Python, and see graph.h. */
#include "python/driver/graph/graph.h"

#include "python/support/args.h"
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"

/* -- making ------------------------------------------------------------------------ */

pcu_graph *
pcu_graph_blank_new(pcu_state *st, PyObject *ctx)
{
    pcu_graph *self = (pcu_graph *)st->Graph->tp_alloc(st->Graph, 0);
    if (self == NULL) {
        return NULL;
    }
    self->head.st = st;
    self->head.ctx = Py_NewRef(ctx);
    self->head.kind = PCU_HANDLE_graph;
    self->resources = pcu_graph_resources_new(st, ctx);
    if (self->resources == NULL) {
        Py_CLEAR(self);
    }
    return self;
}

PyObject *
pcu_graph_body_new(pcu_graph *owner, CUgraph handle)
{
    pcu_state *st = owner->head.st;
    pcu_graph *self = (pcu_graph *)st->Graph->tp_alloc(st->Graph, 0);
    if (self == NULL) {
        return NULL;
    }
    self->head.st = st;
    self->head.ctx = Py_NewRef(owner->head.ctx);
    self->head.kind = PCU_HANDLE_graph;
    self->head.handle.graph = handle;
    self->head.live = true;
    self->parent = Py_NewRef((PyObject *)owner);
    self->resources = (pcu_graph_resources *)Py_NewRef((PyObject *)owner->resources);
    return (PyObject *)self;
}

PCU_SIGNATURE(graph, pcu_no_words,
              "Graph()\n"
              "--\n\n"
              "Work of the device as nodes and edges, to be launched many times.\n"
              "\nRaises\n------\n" PCU_DOC_NO_CONTEXT
              "\nSee Also\n--------\n"
              "Stream.capture : Make a graph of the work of a stream.\n"
              "Graph.instantiate : Make what is launched.\n"
              "GraphExec : The executable graph.\n"
              "\nNotes\n-----\n"
              "The methods ``add_...`` add single nodes. The graph, and each\n"
              "``GraphExec`` made from it, keeps the memory that its nodes use.\n"
              "\nExamples\n--------\n"
              ">>> x = gpuarray.zeros(3, np.uint8)\n"
              ">>> graph = drv.Graph()\n"
              ">>> first = graph.add_set(x, 1)\n"
              ">>> second = graph.add_copy(x[1:], x[:2], after=first)\n"
              ">>> graph.instantiate().launch()\n"
              ">>> x\n"
              "array([1, 1, 1], dtype=uint8)")

static int
graph_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_graph *self = (pcu_graph *)op;
    pcu_state *st = self->head.st;
    pcu_handle handle = {0};
    int rc;
    if (pcu_args_parse_tuple(st, &graph_signature, args, kwargs, NULL) < 0) {
        return -1;
    }
    if (self->resources != NULL) {
        return pcu_raise_detail(st, "cuGraphCreate", CUDA_ERROR_INVALID_VALUE,
                                "__init__ of this Graph was called before");
    }
    PyObject *ctx = pcu_context_require(st, "cuGraphCreate");
    if (ctx == NULL) {
        return -1;
    }
    pcu_graph_resources *resources = pcu_graph_resources_new(st, ctx);
    if (resources == NULL) {
        Py_DECREF(ctx);
        return -1;
    }
    PCU_CALL_CURRENT(rc, st, GraphCreate, (&handle.graph, 0));
    if (rc == 0) {
        self->resources = resources;
        resources = NULL;
        pcu_resource_adopt(&self->head, ctx, PCU_HANDLE_graph, handle);
    }
    Py_XDECREF(resources);
    Py_DECREF(ctx);
    return rc;
}

int
pcu_graph_check(pcu_graph *self, const char *routine)
{
    if (self->state == PCU_GRAPH_CAPTURING) {
        return pcu_raise_detail(
            self->head.st, routine, CUDA_ERROR_ILLEGAL_STATE,
            "the graph is being captured; end the with block first");
    }
    if (self->state == PCU_GRAPH_FAILED) {
        return pcu_raise_detail(self->head.st, routine, CUDA_ERROR_INVALID_HANDLE,
                                "the capture of this Graph failed");
    }
    if (self->parent != NULL &&
        pcu_graph_check((pcu_graph *)self->parent, routine) < 0) {
        return -1;
    }
    return pcu_resource_check(&self->head, routine);
}

/* -- nodes and edges --------------------------------------------------------------- */

PyObject *
pcu_graph_nodes_new(pcu_graph *self)
{
    size_t count = 0;
    int rc;
    if (pcu_graph_check(self, "cuGraphGetNodes") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, self->head.st, GraphGetNodes,
                     (self->head.handle.graph, NULL, &count));
    if (rc < 0) {
        return NULL;
    }
    CUgraphNode *handles = PyMem_Calloc(count + 1, sizeof(*handles));
    if (handles == NULL) {
        return PyErr_NoMemory();
    }
    if (count > 0) {
        PCU_CALL(rc, self->head.st, GraphGetNodes,
                 (self->head.handle.graph, handles, &count));
    }
    PyObject *nodes = NULL;
    if (rc == 0) {
        nodes = PyList_New((Py_ssize_t)count);
    }
    for (size_t i = 0; nodes != NULL && i < count; i++) {
        PyObject *node = pcu_graph_node_new(self, handles[i]);
        if (node == NULL) {
            Py_CLEAR(nodes);
            break;
        }
        PyList_SET_ITEM(nodes, (Py_ssize_t)i, node);
    }
    PyMem_Free(handles);
    return nodes;
}

static PyObject *
graph_get_nodes(PyObject *op, void *Py_UNUSED(closure))
{
    PyObject *nodes = pcu_graph_nodes_new((pcu_graph *)op);
    PyObject *tuple = NULL;
    if (nodes != NULL) {
        tuple = PyList_AsTuple(nodes);
        Py_DECREF(nodes);
    }
    return tuple;
}

/* The nodes for which no node waits. */
static PyObject *
graph_get_leaves(PyObject *op, void *Py_UNUSED(closure))
{
    PyObject *nodes = pcu_graph_nodes_new((pcu_graph *)op);
    PyObject *leaves = NULL;
    PyObject *tuple = NULL;
    int rc = -1;
    if (nodes != NULL) {
        leaves = PyList_New(0);
    }
    if (leaves != NULL) {
        rc = 0;
    }
    for (Py_ssize_t i = 0; rc == 0 && i < PyList_GET_SIZE(nodes); i++) {
        pcu_graph_node *node = (pcu_graph_node *)PyList_GET_ITEM(nodes, i);
        size_t count = 0;
        PCU_CALL(rc, node->st, GraphNodeGetDependentNodes,
                 (node->handle, NULL, NULL, &count));
        if (rc == 0 && count == 0) {
            rc = PyList_Append(leaves, (PyObject *)node);
        }
    }
    if (rc == 0) {
        tuple = PyList_AsTuple(leaves);
    }
    Py_XDECREF(leaves);
    Py_XDECREF(nodes);
    return tuple;
}

/* The pairs of nodes of `count` edges. */
static PyObject *
graph_pairs_new(pcu_graph *self, const CUgraphNode *from, const CUgraphNode *to,
                size_t count)
{
    PyObject *pairs = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; pairs != NULL && i < count; i++) {
        PyObject *before = pcu_graph_node_new(self, from[i]);
        PyObject *after = NULL;
        PyObject *pair = NULL;
        if (before != NULL) {
            after = pcu_graph_node_new(self, to[i]);
        }
        if (after != NULL) {
            pair = PyTuple_Pack(2, before, after);
        }
        Py_XDECREF(before);
        Py_XDECREF(after);
        if (pair == NULL) {
            Py_CLEAR(pairs);
            break;
        }
        PyTuple_SET_ITEM(pairs, (Py_ssize_t)i, pair);
    }
    return pairs;
}

static PyObject *
graph_get_edges(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_graph *self = (pcu_graph *)op;
    CUgraph graph = self->head.handle.graph;
    size_t count = 0;
    int rc;
    if (pcu_graph_check(self, "cuGraphGetEdges") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, self->head.st, GraphGetEdges,
                     (graph, NULL, NULL, NULL, &count));
    if (rc < 0) {
        return NULL;
    }
    CUgraphNode *ends = PyMem_Calloc(2 * count + 1, sizeof(*ends));
    CUgraphEdgeData *data = PyMem_Calloc(count + 1, sizeof(*data));
    PyObject *pairs = NULL;
    if (ends == NULL || data == NULL) {
        PyErr_NoMemory();
        rc = -1;
    }
    if (rc == 0 && count > 0) {
        PCU_CALL(rc, self->head.st, GraphGetEdges,
                 (graph, ends, ends + count, data, &count));
    }
    if (rc == 0) {
        pairs = graph_pairs_new(self, ends, ends + count, count);
    }
    PyMem_Free(ends);
    PyMem_Free(data);
    return pairs;
}

/* -- the whole graph --------------------------------------------------------------- */

typedef struct {
    bool priorities;
    bool device_launch;
} graph_instantiate_args;

static const pcu_word graph_instantiate_words[] = {
    PCU_WORD("priorities", pcu_as_bool, graph_instantiate_args, priorities),
    PCU_WORD("device_launch", pcu_as_bool, graph_instantiate_args, device_launch),
};

PCU_SIGNATURE(
    graph_instantiate, graph_instantiate_words,
    "instantiate($self, /, priorities=False, device_launch=False)\n"
    "--\n\n"
    "Make an executable graph from the present state of the graph.\n"
    "\nParameters\n----------\n"
    "priorities : bool, optional\n"
    "    If true, kernels have their own priorities, not that of the stream\n"
    "    in which the graph is launched.\n"
    "device_launch : bool, optional\n"
    "    If true, kernels may launch the graph by ``cudaGraphLaunch()``,\n"
    "    with the handle of the result, after ``GraphExec.upload``. The\n"
    "    driver then allows kernels, copies and fills only.\n"
    "\nReturns\n-------\n"
    "GraphExec\n"
    "    The executable graph. Later changes of the graph do not change it.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    If the driver cannot run the graph, for example with a cycle, or if\n"
    "    no node frees the memory of a node of ``add_alloc``.\n"
    "\nSee Also\n--------\n"
    "GraphExec.launch : Run it.\n"
    "GraphExec.update : Take the parameters of another graph.\n"
    "\nExamples\n--------\n"
    ">>> stream = drv.Stream()\n"
    ">>> x = gpuarray.zeros(2, np.float32)\n"
    ">>> with stream.capture() as graph:\n"
    "...     x += 1\n"
    ">>> run = graph.instantiate()\n"
    ">>> for _ in range(3):\n"
    "...     run.launch(stream)\n"
    ">>> stream.synchronize()\n"
    ">>> x\n"
    "array([3., 3.], dtype=float32)")

static PyObject *
graph_instantiate(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_graph *self = (pcu_graph *)op;
    graph_instantiate_args a = {false, false};
    unsigned int flags = 0;
    if (pcu_args_parse(self->head.st, &graph_instantiate_signature, args, nargs,
                       kwnames, &a) < 0) {
        return NULL;
    }
    if (a.priorities) {
        flags |= CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    }
    if (a.device_launch) {
        flags |= CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    }
    return pcu_graph_exec_new(self, flags);
}

PyObject *
pcu_graph_copy_new(pcu_graph *self)
{
    pcu_handle handle = {0};
    int rc;
    if (pcu_graph_check(self, "cuGraphClone") < 0) {
        return NULL;
    }
    pcu_graph *copy = (pcu_graph *)Py_TYPE(self)->tp_alloc(Py_TYPE(self), 0);
    if (copy == NULL) {
        return NULL;
    }
    copy->head.st = self->head.st;
    copy->resources = (pcu_graph_resources *)Py_NewRef((PyObject *)self->resources);
    PCU_CALL_CURRENT(rc, self->head.st, GraphClone,
                     (&handle.graph, self->head.handle.graph));
    if (rc < 0) {
        Py_DECREF(copy);
        return NULL;
    }
    pcu_resource_adopt(&copy->head, self->head.ctx, PCU_HANDLE_graph, handle);
    return (PyObject *)copy;
}

PyDoc_STRVAR(graph_clone_doc,
             "clone($self, /)\n"
             "--\n\n"
             "Return a copy of the graph.\n"
             "\nReturns\n-------\n"
             "Graph\n"
             "    A new graph that uses the same memory. Its nodes are in the order\n"
             "    of the nodes of the graph.\n"
             "\nRaises\n------\n" PCU_DOC_NO_GRAPH
             "\nSee Also\n--------\n"
             "Graph.find : The node of a copy.");

static PyObject *
graph_clone(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return pcu_graph_copy_new((pcu_graph *)op);
}

PyDoc_STRVAR(graph_find_doc,
             "find($self, node, /)\n"
             "--\n\n"
             "Return the node of this copy that was made from a node of the original.\n"
             "\nParameters\n----------\n"
             "node : GraphNode\n"
             "    The node of the original graph.\n"
             "\nReturns\n-------\n"
             "GraphNode\n"
             "    The node of this graph.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the graph is no copy of the node's graph.\n"
             "TypeError\n"
             "    If ``node`` is no ``GraphNode``.\n"
             "\nSee Also\n--------\n"
             "Graph.clone : Make a copy.\n"
             "\nExamples\n--------\n"
             ">>> graph = drv.Graph()\n"
             ">>> node = graph.add_empty()\n"
             ">>> copy = graph.clone()\n"
             ">>> copy.find(node) == copy.nodes[0]\n"
             "True");

static PyObject *
graph_find(PyObject *op, PyObject *value)
{
    pcu_graph *self = (pcu_graph *)op;
    CUgraphNode handle = NULL;
    int rc;
    if (!PyObject_TypeCheck(value, self->head.st->GraphNode)) {
        PyErr_Format(PyExc_TypeError, "node must be a GraphNode, not %s",
                     Py_TYPE(value)->tp_name);
        return NULL;
    }
    if (pcu_graph_check(self, "cuGraphNodeFindInClone") < 0 ||
        pcu_graph_node_check((pcu_graph_node *)value, "cuGraphNodeFindInClone") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(
        rc, self->head.st, GraphNodeFindInClone,
        (&handle, ((pcu_graph_node *)value)->handle, self->head.handle.graph));
    if (rc < 0) {
        return NULL;
    }
    return pcu_graph_node_new(self, handle);
}

typedef struct {
    unsigned int value;
    bool reset;
} graph_condition_args;

static const pcu_word graph_condition_words[] = {
    PCU_WORD("value", pcu_as_uint, graph_condition_args, value),
    PCU_WORD("reset", pcu_as_bool, graph_condition_args, reset),
};

PCU_SIGNATURE(
    graph_condition, graph_condition_words,
    "condition($self, /, value=0, reset=True)\n"
    "--\n\n"
    "Make a condition of this graph, on which parts of it depend.\n"
    "\nParameters\n----------\n"
    "value : int, optional\n"
    "    Value at the beginning of each launch. The default is 0.\n"
    "reset : bool, optional\n"
    "    If false, launches do not begin with ``value``: their first value\n"
    "    is undefined.\n"
    "\nReturns\n-------\n"
    "numpy.uint64\n"
    "    The handle, to pass to kernels and to ``add_if``, ``add_while`` and\n"
    "    ``add_switch``.\n"
    "\nRaises\n------\n" PCU_DOC_NO_GRAPH
    "\nSee Also\n--------\n"
    "Graph.add_if : Use the condition.\n"
    "\nNotes\n-----\n"
    "A kernel sets the condition by ``cudaGraphSetConditional(handle,\n"
    "value)``; its parameter has the type ``cudaGraphConditionalHandle``.\n"
    "Conditions came with CUDA 12.3.")

static PyObject *
graph_condition(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    pcu_graph *self = (pcu_graph *)op;
    pcu_state *st = self->head.st;
    graph_condition_args a = {0, true};
    CUgraphConditionalHandle handle = 0;
    int rc;
    if (pcu_args_parse(st, &graph_condition_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_graph_check(self, "cuGraphConditionalHandleCreate") < 0) {
        return NULL;
    }
    unsigned int flags = 0;
    if (a.reset) {
        flags = CU_GRAPH_COND_ASSIGN_DEFAULT;
    }
    PCU_CALL_CURRENT(rc, st, GraphConditionalHandleCreate,
                     (&handle, self->head.handle.graph,
                      pcu_context_rec(self->head.ctx)->handle, a.value, flags));
    if (rc < 0) {
        return NULL;
    }
    PyArray_Descr *type = PyArray_DescrFromType(NPY_UINT64);
    PyObject *result = PyArray_Scalar(&handle, type, NULL);
    Py_DECREF(type);
    return result;
}

/* -- pictures ---------------------------------------------------------------------- */

/* Call a function of pycuda._graph_picture with the graph. */
static PyObject *
graph_draw(PyObject *op, const char *function)
{
    PyObject *module = NULL;
    PyObject *result = NULL;
    if (pcu_graph_check((pcu_graph *)op, "cuGraphGetNodes") < 0) {
        return NULL;
    }
    module = PyImport_ImportModule("pycuda._graph_picture");
    if (module != NULL) {
        result = PyObject_CallMethod(module, function, "O", op);
        Py_DECREF(module);
    }
    return result;
}

PyDoc_STRVAR(graph_to_dot_doc,
             "to_dot($self, /)\n"
             "--\n\n"
             "Return a description of nodes and edges in the language of Graphviz.\n"
             "\nReturns\n-------\n"
             "str\n"
             "    The description.\n"
             "\nRaises\n------\n" PCU_DOC_NO_GRAPH
             "\nSee Also\n--------\n"
             "Graph.nodes : The nodes as objects.\n"
             "\nNotes\n-----\n"
             "A notebook shows a picture of a graph without Graphviz.\n"
             "\nExamples\n--------\n"
             ">>> graph = drv.Graph()\n"
             ">>> node = graph.add_empty()\n"
             ">>> print(graph.to_dot().split()[0])\n"
             "digraph");

static PyObject *
graph_to_dot(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return graph_draw(op, "to_dot");
}

PyDoc_STRVAR(graph_repr_svg_doc,
             "_repr_svg_($self, /)\n--\n\n"
             "Return a picture of the graph as SVG. Notebooks show it.");

static PyObject *
graph_repr_svg(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return graph_draw(op, "to_svg");
}

/* -- the type ---------------------------------------------------------------------- */

static PyObject *
graph_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    if (pcu_graph_check((pcu_graph *)op, "Graph.handle") < 0) {
        return NULL;
    }
    return PyLong_FromVoidPtr((void *)((pcu_graph *)op)->head.handle.graph);
}

static int
graph_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((pcu_graph *)op)->resources);
    Py_VISIT(((pcu_graph *)op)->parent);
    return pcu_resource_traverse(op, visit, arg);
}

/* End the driver's graph, then drop what it uses. */
static int
graph_clear(PyObject *op)
{
    pcu_graph *self = (pcu_graph *)op;
    if (self->head.live) {
        self->head.live = false;
        if (self->parent == NULL) {
            pcu_release_noraise(self->head.st, PCU_HANDLE_graph, self->head.handle,
                                self->head.ctx);
        }
    }
    Py_CLEAR(self->resources);
    Py_CLEAR(self->parent);
    return pcu_resource_clear(op);
}

static void
graph_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    graph_clear(op);
    PyObject_GC_Track(op); /* pcu_resource_dealloc untracks it again */
    pcu_resource_dealloc(op);
}

static PyGetSetDef graph_getset[] = {
    {"handle", graph_get_handle, NULL, "The CUgraph as an int.", NULL},
    {"nodes", graph_get_nodes, NULL, "The nodes, a tuple of GraphNode.", NULL},
    {"leaves", graph_get_leaves, NULL,
     "The nodes for which no other node waits, a tuple.", NULL},
    {"edges", graph_get_edges, NULL,
     "The edges, a tuple of pairs of GraphNode: the second node waits for the first.",
     NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef graph_methods[] = {
    PCU_METHOD("condition", graph_condition),
    PCU_METHOD("instantiate", graph_instantiate),
    {"clone", graph_clone, METH_NOARGS, graph_clone_doc},
    {"find", graph_find, METH_O, graph_find_doc},
    {"to_dot", graph_to_dot, METH_NOARGS, graph_to_dot_doc},
    {"_repr_svg_", graph_repr_svg, METH_NOARGS, graph_repr_svg_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot graph_slots[] = {
    {Py_tp_doc, (void *)graph_doc},
    {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, graph_init},
    {Py_tp_traverse, graph_traverse},
    {Py_tp_clear, graph_clear},
    {Py_tp_dealloc, graph_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, graph_getset},
    {Py_tp_methods, graph_methods},
    {0, NULL},
};

static PyType_Spec graph_spec = {
    "pycuda._driver.Graph", sizeof(pcu_graph), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, graph_slots};

int
pcu_graph_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->Graph, &graph_spec, NULL);
}
