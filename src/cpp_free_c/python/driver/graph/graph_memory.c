/* The methods of Graph that add nodes for memory: batches of operations on values, and
 * memory of the graph itself.
 *
 * Memory that a node allocates belongs to the driver's graph: its address never
 * changes, and the memory exists from the node that allocates it to the node that frees
 * it. Different launches, and different graphs, may use the same physical memory.
 *
 * Invariant: see graph_add.c. Python is the only caller. */
#include "python/driver/graph/graph.h"

#include "python/support/args.h"
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/errors.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/memory/memory.h"

typedef struct {
    PyObject *what;
    size_t bytes;
    PyObject *after;
} graph_memory_args;

/* -- operations on values ---------------------------------------------------------- */

static const pcu_word graph_memory_words[] = {
    PCU_WORD("operations", pcu_as_object, graph_memory_args, what),
    PCU_WORD("after", pcu_as_object, graph_memory_args, after),
    PCU_WORD("bytes", pcu_as_size, graph_memory_args, bytes),
    PCU_WORD("node", pcu_as_object, graph_memory_args, what),
};

PCU_SIGNATURE(graph_add_batch, graph_memory_words,
              "add_batch($self, /, operations, after=())\n"
              "--\n\n"
              "Add waits for values in memory and writes of values as one node.\n"
              "\nParameters\n----------\n"
              "operations : sequence of tuple\n"
              "    1 to 256 operations, as for "
              "``Stream.batch_memory_operations``.\n" PCU_DOC_AFTER
              "\nReturns\n-------\n" PCU_DOC_NEW_NODE
              "\nRaises\n------\n" PCU_DOC_NOT_ADDED
              "\nSee Also\n--------\n"
              "Stream.batch_memory_operations : The same in a stream.")

static PyObject *
graph_add_batch(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    pcu_graph *self = (pcu_graph *)op;
    pcu_state *st = self->head.st;
    graph_memory_args a = {0};
    CUgraphNodeParams params;
    PyObject *node = NULL;
    if (pcu_args_parse(st, &graph_add_batch_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_graph_check(self, "cuGraphAddNode") < 0) {
        return NULL;
    }
    memset(&params, 0, sizeof(params));
    params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    params.memOp.ctx = pcu_context_rec(self->head.ctx)->handle;
    if (pcu_memory_operations_read(st, a.what, self->resources,
                                   &params.memOp.paramArray,
                                   &params.memOp.count) == 0) {
        node = pcu_graph_add_node(self, a.after, &params);
    }
    PyMem_Free(params.memOp.paramArray);
    return node;
}

/* -- memory of the graph ----------------------------------------------------------- */

PCU_SIGNATURE(graph_add_alloc, graph_memory_words,
              "add_alloc($self, /, bytes, after=())\n"
              "--\n\n"
              "Add a node that allocates device memory.\n"
              "\nParameters\n----------\n"
              "bytes : int\n"
              "    Size of the memory.\n" PCU_DOC_AFTER
              "\nReturns\n-------\n"
              "GraphNode\n"
              "    The new node. Its ``address`` is the same at each launch.\n"
              "\nRaises\n------\n" PCU_DOC_NOT_ADDED PCU_DOC_NO_MEMORY
              "\nSee Also\n--------\n"
              "Graph.add_free : Free the memory, which is needed in the same graph.\n"
              "\nNotes\n-----\n"
              "The nodes that use the memory must wait for this node, and the node\n"
              "that frees it for them. Graphs that run one after the other can share\n"
              "the physical memory. The driver does not clone such a graph, does not\n"
              "accept it as a child, and instantiates it once at a time.\n"
              "\nExamples\n--------\n"
              ">>> graph = drv.Graph()\n"
              ">>> memory = graph.add_alloc(16)\n"
              ">>> fill = graph.add_set(memory.address, 0, 16, after=memory)\n"
              ">>> free = graph.add_free(memory, after=fill)\n"
              ">>> graph.instantiate().launch()")

static PyObject *
graph_add_alloc(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    enum { PINNED = 1, ON_DEVICE = 1 }; /* CUmemAllocationType, CUmemLocationType */
    pcu_graph *self = (pcu_graph *)op;
    graph_memory_args a = {0};
    CUgraphNodeParams params;
    if (pcu_args_parse(self->head.st, &graph_add_alloc_signature, args, nargs, kwnames,
                       &a) < 0 ||
        pcu_graph_check(self, "cuGraphAddNode") < 0) {
        return NULL;
    }
    if (a.bytes == 0) {
        pcu_raise_detail(self->head.st, "cuGraphAddNode", CUDA_ERROR_INVALID_VALUE,
                         "0 bytes were asked for");
        return NULL;
    }
    memset(&params, 0, sizeof(params));
    params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    params.alloc.poolProps.allocType = PINNED;
    params.alloc.poolProps.location.type = ON_DEVICE;
    params.alloc.poolProps.location.id = pcu_context_rec(self->head.ctx)->device;
    params.alloc.bytesize = a.bytes;
    PyObject *node = pcu_graph_add_node(self, a.after, &params);
    if (node != NULL) {
        ((pcu_graph_node *)node)->address = params.alloc.dptr;
        self->resources->allocates = true;
    }
    return node;
}

PCU_SIGNATURE(graph_add_free, graph_memory_words,
              "add_free($self, /, node, after=())\n"
              "--\n\n"
              "Add a node that frees the memory of a node of this graph.\n"
              "\nParameters\n----------\n"
              "node : GraphNode\n"
              "    A node of ``add_alloc``.\n"
              "after : GraphNode or sequence of GraphNode, default ()\n"
              "    Last nodes that use the memory.\n"
              "\nReturns\n-------\n" PCU_DOC_NEW_NODE
              "\nRaises\n------\n"
              "TypeError\n"
              "    If ``node`` is no node of ``add_alloc``.\n" PCU_DOC_NOT_ADDED
              "\nSee Also\n--------\n"
              "Graph.add_alloc : Allocate the memory.")

static PyObject *
graph_add_free(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_graph *self = (pcu_graph *)op;
    graph_memory_args a = {0};
    CUgraphNodeParams params;
    if (pcu_args_parse(self->head.st, &graph_add_free_signature, args, nargs, kwnames,
                       &a) < 0 ||
        pcu_graph_check(self, "cuGraphAddNode") < 0) {
        return NULL;
    }
    const pcu_graph_node *alloc = (const pcu_graph_node *)a.what;
    if (!PyObject_TypeCheck(a.what, self->head.st->GraphNode) ||
        alloc->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        PyErr_Format(PyExc_TypeError, "node must be a node of add_alloc(), not %R",
                     a.what);
        return NULL;
    }
    memset(&params, 0, sizeof(params));
    params.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    params.free.dptr = alloc->address;
    PyObject *node = pcu_graph_add_node(self, a.after, &params);
    if (node != NULL) {
        ((pcu_graph_node *)node)->address = alloc->address;
    }
    return node;
}

/* -- the check before an instantiation --------------------------------------------- */

/* Whether one of the nodes frees the memory at an address. */
static bool
graph_frees(PyObject *nodes, CUdeviceptr address)
{
    bool found = false;
    for (Py_ssize_t i = 0; !found && i < PyList_GET_SIZE(nodes); i++) {
        const pcu_graph_node *node = (pcu_graph_node *)PyList_GET_ITEM(nodes, i);
        found = node->type == CU_GRAPH_NODE_TYPE_MEM_FREE && node->address == address;
    }
    return found;
}

int
pcu_graph_check_memory(pcu_graph *self)
{
    int rc = 0;
    if (!self->resources->allocates) {
        return 0;
    }
    PyObject *nodes = pcu_graph_nodes_new(self);
    if (nodes == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; rc == 0 && i < PyList_GET_SIZE(nodes); i++) {
        const pcu_graph_node *node = (pcu_graph_node *)PyList_GET_ITEM(nodes, i);
        if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
            !graph_frees(nodes, node->address)) {
            rc = pcu_raise_detail(
                self->head.st, "cuGraphInstantiateWithParams", CUDA_ERROR_INVALID_VALUE,
                "no node frees the memory that a node allocates at %p, so a second "
                "launch would fail; add add_free(node)",
                (void *)(uintptr_t)node->address);
        }
    }
    Py_DECREF(nodes);
    return rc;
}

/* -- the methods ------------------------------------------------------------------- */

static PyMethodDef graph_memory_methods[] = {
    PCU_METHOD("add_batch", graph_add_batch),
    PCU_METHOD("add_alloc", graph_add_alloc),
    PCU_METHOD("add_free", graph_add_free),
    {NULL, NULL, 0, NULL},
};

int
pcu_graph_memory_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    return pcu_add_methods(st->Graph, graph_memory_methods);
}
