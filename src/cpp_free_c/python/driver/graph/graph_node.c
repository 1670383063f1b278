/* The type GraphNode: one piece of work of a Graph.
 *
 * Two GraphNodes of one node are equal. graph_add.c and graph_memory.c make nodes,
 * graph_update.c changes the nodes of executable graphs.
 *
 * Invariant: see graph.h. Callers: Python, and see graph.h. */
#include "python/driver/graph/graph.h"

#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/current_context.h"

/* The names of the types, by the driver's numbers. */
static const char *const node_types[] = {
    "kernel",         "copy",         "set",
    "host",           "child",        "empty",
    "event_wait",     "event_record", "semaphore_signal",
    "semaphore_wait", "alloc",        "free",
    "batch",          "conditional",
};

/* -- making ------------------------------------------------------------------------ */

/* Read the function and the shape of a kernel node. */
static int
node_read_kernel(pcu_graph_node *self)
{
    CUDA_KERNEL_NODE_PARAMS params = {0};
    int rc;
    PCU_CALL(rc, self->st, GraphKernelNodeGetParams, (self->handle, &params));
    if (rc < 0) {
        return -1;
    }
    self->shape.grid[0] = params.gridDimX;
    self->shape.grid[1] = params.gridDimY;
    self->shape.grid[2] = params.gridDimZ;
    self->shape.block[0] = params.blockDimX;
    self->shape.block[1] = params.blockDimY;
    self->shape.block[2] = params.blockDimZ;
    self->shape.shared = params.sharedMemBytes;
    self->function =
        Py_XNewRef(pcu_graph_resources_function(self->graph->resources, params.func));
    if (self->function == NULL && PyErr_Occurred()) {
        return -1;
    }
    return 0;
}

/* Read the address of a node that allocates or frees memory. */
static int
node_read_address(pcu_graph_node *self)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {0};
    int rc;
    if (self->type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
        PCU_CALL(rc, self->st, GraphMemFreeNodeGetParams,
                 (self->handle, &self->address));
        return rc;
    }
    PCU_CALL(rc, self->st, GraphMemAllocNodeGetParams, (self->handle, &params));
    self->address = params.dptr;
    return rc;
}

pcu_graph_node *
pcu_graph_node_blank_new(pcu_graph *graph)
{
    pcu_state *st = graph->head.st;
    pcu_graph_node *self = (pcu_graph_node *)st->GraphNode->tp_alloc(st->GraphNode, 0);
    if (self != NULL) {
        self->st = st;
        self->graph = (pcu_graph *)Py_NewRef((PyObject *)graph);
    }
    return self;
}

PyObject *
pcu_graph_node_new(pcu_graph *graph, CUgraphNode handle)
{
    pcu_state *st = graph->head.st;
    pcu_graph_node *self = pcu_graph_node_blank_new(graph);
    int rc;
    if (self == NULL) {
        return NULL;
    }
    self->handle = handle;
    PCU_CALL_CURRENT(rc, st, GraphNodeGetType, (handle, &self->type));
    if (rc == 0 && self->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        rc = node_read_kernel(self);
    }
    else if (rc == 0 && (self->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
                         self->type == CU_GRAPH_NODE_TYPE_MEM_FREE)) {
        rc = node_read_address(self);
    }
    if (rc < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

int
pcu_graph_node_check(pcu_graph_node *self, const char *routine)
{
    if (self->removed) {
        return pcu_raise_detail(self->st, routine, CUDA_ERROR_INVALID_HANDLE,
                                "this GraphNode was removed from its graph");
    }
    return pcu_graph_check(self->graph, routine);
}

/* -- attributes -------------------------------------------------------------------- */

static PyObject *
node_get_type(PyObject *op, void *Py_UNUSED(closure))
{
    CUgraphNodeType type = ((pcu_graph_node *)op)->type;
    if (type < Py_ARRAY_LENGTH(node_types)) {
        return PyUnicode_FromString(node_types[type]);
    }
    return PyUnicode_FromFormat("type %u", type);
}

static PyObject *
node_get_graph(PyObject *op, void *Py_UNUSED(closure))
{
    return Py_NewRef((PyObject *)((pcu_graph_node *)op)->graph);
}

static PyObject *
node_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr((void *)((pcu_graph_node *)op)->handle);
}

static PyObject *
node_get_function(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_graph_node *self = (pcu_graph_node *)op;
    if (self->function == NULL) {
        Py_RETURN_NONE;
    }
    return Py_NewRef(self->function);
}

/* The type and the bodies of a conditional node, see graph_resources.h. NULL without an
 * exception for other nodes. Borrowed. */
static PyObject *
node_condition_borrow(pcu_graph_node *self)
{
    PyObject *key = PyLong_FromVoidPtr((void *)self->handle);
    PyObject *found = NULL;
    if (self->type == CU_GRAPH_NODE_TYPE_CONDITIONAL && key != NULL) {
        found = PyDict_GetItemWithError(self->graph->resources->bodies, key);
    }
    Py_XDECREF(key);
    return found;
}

/* "if", "while" or "switch"; the type of the node if that is not known. */
static PyObject *
node_condition_name(pcu_graph_node *self)
{
    static const char *const names[] = {"if", "while", "switch"};
    PyObject *condition = node_condition_borrow(self);
    if (condition == NULL) {
        if (PyErr_Occurred()) {
            return NULL;
        }
        return PyUnicode_FromString("conditional");
    }
    size_t type = PyLong_AsSize_t(PyTuple_GET_ITEM(condition, 0));
    return PyUnicode_FromString(names[type % Py_ARRAY_LENGTH(names)]);
}

/* What a label of the node shows: the kernel's name, or the type. */
static PyObject *
node_get_name(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_graph_node *self = (pcu_graph_node *)op;
    CUDA_KERNEL_NODE_PARAMS params = {0};
    const char *name = NULL;
    if (self->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
        return node_condition_name(self);
    }
    if (self->function != NULL) {
        return Py_NewRef(((pcu_function *)self->function)->name);
    }
    if (self->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        if (pcu_graph_node_check(self, "cuGraphKernelNodeGetParams") < 0) {
            return NULL;
        }
        if (drv.GraphKernelNodeGetParams(self->handle, &params) == CUDA_SUCCESS &&
            drv.FuncGetName(&name, params.func) == CUDA_SUCCESS && name != NULL) {
            return PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
        }
    }
    return node_get_type(op, NULL);
}

/* The closure is 0 for the grid, 1 for the block. None: the node is no kernel. */
static PyObject *
node_get_dims(PyObject *op, void *closure)
{
    const pcu_graph_node *self = (pcu_graph_node *)op;
    const unsigned int *dims = self->shape.grid;
    if (closure != NULL) {
        dims = self->shape.block;
    }
    if (self->type != CU_GRAPH_NODE_TYPE_KERNEL) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(III)", dims[0], dims[1], dims[2]);
}

static PyObject *
node_get_shared(PyObject *op, void *Py_UNUSED(closure))
{
    const pcu_graph_node *self = (pcu_graph_node *)op;
    if (self->type != CU_GRAPH_NODE_TYPE_KERNEL) {
        Py_RETURN_NONE;
    }
    return PyLong_FromUnsignedLong(self->shape.shared);
}

static PyObject *
node_get_address(PyObject *op, void *Py_UNUSED(closure))
{
    const pcu_graph_node *self = (pcu_graph_node *)op;
    if (self->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
        self->type != CU_GRAPH_NODE_TYPE_MEM_FREE) {
        Py_RETURN_NONE;
    }
    return PyLong_FromUnsignedLongLong(self->address);
}

/* The graph of a child node. */
static PyObject *
node_child_new(pcu_graph_node *self)
{
    CUgraph child = NULL;
    int rc;
    PCU_CALL_CURRENT(rc, self->st, GraphChildGraphNodeGetGraph, (self->handle, &child));
    if (rc < 0) {
        return NULL;
    }
    PyObject *graph = pcu_graph_body_new(self->graph, child);
    PyObject *bodies = NULL;
    if (graph != NULL) {
        bodies = PyTuple_Pack(1, graph);
        Py_DECREF(graph);
    }
    return bodies;
}

static PyObject *
node_get_bodies(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_graph_node *self = (pcu_graph_node *)op;
    if (pcu_graph_node_check(self, "cuGraphChildGraphNodeGetGraph") < 0) {
        return NULL;
    }
    if (self->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        return node_child_new(self);
    }
    PyObject *handles = node_condition_borrow(self);
    if (handles == NULL) {
        if (PyErr_Occurred()) {
            return NULL;
        }
        return PyTuple_New(0);
    }
    Py_ssize_t n = PyTuple_GET_SIZE(handles) - 1;
    PyObject *bodies = PyTuple_New(n);
    for (Py_ssize_t i = 0; bodies != NULL && i < n; i++) {
        CUgraph handle = PyLong_AsVoidPtr(PyTuple_GET_ITEM(handles, i + 1));
        PyObject *body = pcu_graph_body_new(self->graph, handle);
        if (body == NULL) {
            Py_CLEAR(bodies);
            break;
        }
        PyTuple_SET_ITEM(bodies, i, body);
    }
    return bodies;
}

/* The nodes at the other ends of the node's edges. */
static PyObject *
node_neighbours(pcu_graph_node *self, bool dependents)
{
    CUgraphNode *handles = NULL;
    CUgraphEdgeData *data = NULL;
    PyObject *nodes = NULL;
    size_t count = 0;
    int rc;
    if (pcu_graph_node_check(self, "cuGraphNodeGetDependencies") < 0) {
        return NULL;
    }
    for (int round = 0; round < 2; round++) {
        if (dependents) {
            PCU_CALL_CURRENT(rc, self->st, GraphNodeGetDependentNodes,
                             (self->handle, handles, data, &count));
        }
        else {
            PCU_CALL_CURRENT(rc, self->st, GraphNodeGetDependencies,
                             (self->handle, handles, data, &count));
        }
        if (rc < 0 || count == 0 || round == 1) {
            break;
        }
        handles = PyMem_Calloc(count, sizeof(*handles));
        data = PyMem_Calloc(count, sizeof(*data));
        if (handles == NULL || data == NULL) {
            PyErr_NoMemory();
            rc = -1;
            break;
        }
    }
    if (rc == 0) {
        nodes = PyTuple_New((Py_ssize_t)count);
    }
    for (size_t i = 0; nodes != NULL && i < count; i++) {
        PyObject *node = pcu_graph_node_new(self->graph, handles[i]);
        if (node == NULL) {
            Py_CLEAR(nodes);
            break;
        }
        PyTuple_SET_ITEM(nodes, (Py_ssize_t)i, node);
    }
    PyMem_Free(handles);
    PyMem_Free(data);
    return nodes;
}

static PyObject *
node_get_dependencies(PyObject *op, void *Py_UNUSED(closure))
{
    return node_neighbours((pcu_graph_node *)op, false);
}

static PyObject *
node_get_dependents(PyObject *op, void *Py_UNUSED(closure))
{
    return node_neighbours((pcu_graph_node *)op, true);
}

/* -- methods ----------------------------------------------------------------------- */

PyDoc_STRVAR(node_remove_doc,
             "remove($self, /)\n"
             "--\n\n"
             "Remove the node and its edges from the graph.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the node was removed before, or if the driver does not allow it,\n"
             "    as for nodes of ``Graph.add_alloc``.\n"
             "\nSee Also\n--------\n"
             "Graph.remove_edge : Remove an edge only.");

static PyObject *
node_remove(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_graph_node *self = (pcu_graph_node *)op;
    int rc;
    if (pcu_graph_node_check(self, "cuGraphDestroyNode") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, self->st, GraphDestroyNode, (self->handle));
    if (rc < 0) {
        return NULL;
    }
    self->removed = true;
    Py_RETURN_NONE;
}

static PyObject *
node_repr(PyObject *op)
{
    PyObject *name = node_get_name(op, NULL);
    PyObject *type = node_get_type(op, NULL);
    PyObject *text = NULL;
    if (name == NULL) {
        PyErr_Clear(); /* the graph cannot be asked any more */
        name = Py_XNewRef(type);
    }
    if (name != NULL && type != NULL) {
        text = PyUnicode_FromFormat("<GraphNode %U: %U>", type, name);
    }
    Py_XDECREF(name);
    Py_XDECREF(type);
    return text;
}

static PyObject *
node_compare(PyObject *op, PyObject *other, int operation)
{
    if (!Py_IS_TYPE(other, Py_TYPE(op)) || (operation != Py_EQ && operation != Py_NE)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    bool equal = ((pcu_graph_node *)op)->handle == ((pcu_graph_node *)other)->handle;
    return PyBool_FromLong(equal == (operation == Py_EQ));
}

static Py_hash_t
node_hash(PyObject *op)
{
    return (Py_hash_t)((uintptr_t)((pcu_graph_node *)op)->handle >> 4);
}

static int
node_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((pcu_graph_node *)op)->graph);
    Py_VISIT(((pcu_graph_node *)op)->function);
    return 0;
}

static void
node_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    Py_CLEAR(((pcu_graph_node *)op)->function);
    Py_CLEAR(((pcu_graph_node *)op)->graph);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyGetSetDef node_getset[] = {
    {"type", node_get_type, NULL,
     "The kind of work: 'kernel', 'copy', 'set', 'host', 'child', 'empty',\n"
     "'event_wait', 'event_record', 'batch', 'alloc', 'free', 'conditional' and some\n"
     "that this package does not make.",
     NULL},
    {"name", node_get_name, NULL,
     "The name of the kernel; 'if', 'while' or 'switch'; else the type.", NULL},
    {"graph", node_get_graph, NULL, "The Graph of the node.", NULL},
    {"handle", node_get_handle, NULL, "The CUgraphNode as an int.", NULL},
    {"function", node_get_function, NULL,
     "The Function of a kernel node. None for generated kernels and other nodes.",
     NULL},
    {"grid", node_get_dims, NULL, "The grid of a kernel node, else None.", NULL},
    {"block", node_get_dims, NULL, "The block of a kernel node, else None.",
     (void *)node_types},
    {"shared", node_get_shared, NULL,
     "The bytes of dynamic shared memory of a kernel node, else None.", NULL},
    {"address", node_get_address, NULL,
     "The address of the memory that the node allocates or frees, else None.", NULL},
    {"bodies", node_get_bodies, NULL,
     "The graphs inside the node, a tuple: the bodies of a conditional node, the copy\n"
     "that a child node has of its graph.",
     NULL},
    {"dependencies", node_get_dependencies, NULL,
     "The nodes that this node waits for, a tuple.", NULL},
    {"dependents", node_get_dependents, NULL,
     "The nodes that wait for this node, a tuple.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef node_methods[] = {
    {"remove", node_remove, METH_NOARGS, node_remove_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(node_doc,
             "A piece of work of a graph.\n"
             "\nSee Also\n--------\n"
             "Graph.nodes : All nodes of a graph.\n"
             "\nNotes\n-----\n"
             "The methods ``add_...`` of ``Graph`` return nodes. Two objects of the\n"
             "same node are equal.");

static PyType_Slot node_slots[] = {
    {Py_tp_doc, (void *)node_doc},
    {Py_tp_traverse, node_traverse},
    {Py_tp_dealloc, node_dealloc},
    {Py_tp_repr, node_repr},
    {Py_tp_richcompare, node_compare},
    {Py_tp_hash, node_hash},
    {Py_tp_getset, node_getset},
    {Py_tp_methods, node_methods},
    {0, NULL},
};

static PyType_Spec node_spec = {
    "pycuda._driver.GraphNode", sizeof(pcu_graph_node), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    node_slots};

int
pcu_graph_node_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->GraphNode, &node_spec, NULL);
}
