/* The order of the nodes of a graph: the argument `after`, and the methods of Graph
 * that add and remove edges.
 *
 * Invariant: see graph.h. Callers: Python, and see graph.h. */
#include "python/driver/graph/graph.h"

#include "python/support/args.h"
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/current_context.h"

/* The node among the nodes of this graph. */
static pcu_graph_node *
graph_own_node(pcu_graph *self, PyObject *value, const char *name)
{
    if (!PyObject_TypeCheck(value, self->head.st->GraphNode)) {
        PyErr_Format(PyExc_TypeError, "%s must be a GraphNode, not %s", name,
                     Py_TYPE(value)->tp_name);
        return NULL;
    }
    pcu_graph_node *node = (pcu_graph_node *)value;
    if (node->graph->head.handle.graph != self->head.handle.graph) {
        PyErr_Format(PyExc_ValueError, "%s is a node of another graph", name);
        return NULL;
    }
    if (pcu_graph_node_check(node, "cuGraphAddDependencies") < 0) {
        return NULL;
    }
    return node;
}

int
pcu_graph_nodes_read(pcu_graph *graph, PyObject *after, CUgraphNode **nodes,
                     size_t *count)
{
    *nodes = NULL;
    *count = 0;
    if (after == NULL || after == Py_None) {
        return 0;
    }
    if (PyObject_TypeCheck(after, graph->head.st->GraphNode)) {
        after = PyTuple_Pack(1, after);
    }
    else {
        after = PySequence_Tuple(after);
    }
    if (after == NULL) {
        return -1;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(after);
    CUgraphNode *found = PyMem_Calloc((size_t)n + 1, sizeof(*found));
    int rc = 0;
    if (found == NULL) {
        PyErr_NoMemory();
        rc = -1;
    }
    for (Py_ssize_t i = 0; rc == 0 && i < n; i++) {
        pcu_graph_node *node =
            graph_own_node(graph, PyTuple_GET_ITEM(after, i), "after");
        if (node == NULL) {
            rc = -1;
        }
        else {
            found[i] = node->handle;
        }
    }
    Py_DECREF(after);
    if (rc < 0 || n == 0) {
        PyMem_Free(found);
        return rc;
    }
    *nodes = found;
    *count = (size_t)n;
    return 0;
}

typedef struct {
    PyObject *before;
    PyObject *after;
    bool programmatic;
} graph_edge_args;

/* Read the two nodes of an edge. */
static int
graph_read_edge(pcu_graph *self, const pcu_signature *signature, PyObject *const *args,
                Py_ssize_t nargs, PyObject *kwnames, graph_edge_args *a,
                CUgraphNode ends[2])
{
    if (pcu_args_parse(self->head.st, signature, args, nargs, kwnames, a) < 0 ||
        pcu_graph_check(self, "cuGraphAddDependencies") < 0) {
        return -1;
    }
    const pcu_graph_node *before = graph_own_node(self, a->before, "before");
    const pcu_graph_node *after = NULL;
    if (before != NULL) {
        after = graph_own_node(self, a->after, "after");
    }
    if (after == NULL) {
        return -1;
    }
    ends[0] = before->handle;
    ends[1] = after->handle;
    return 0;
}

static const pcu_word graph_edge_words[] = {
    PCU_WORD("before", pcu_as_object, graph_edge_args, before),
    PCU_WORD("after", pcu_as_object, graph_edge_args, after),
    PCU_WORD("programmatic", pcu_as_bool, graph_edge_args, programmatic),
};

PCU_SIGNATURE(graph_add_edge, graph_edge_words,
              "add_edge($self, /, before, after, programmatic=False)\n"
              "--\n\n"
              "Let one node wait for another one.\n"
              "\nParameters\n----------\n"
              "before : GraphNode\n"
              "    The node that runs first.\n"
              "after : GraphNode\n"
              "    The node that waits.\n"
              "programmatic : bool, optional\n"
              "    If true, both are kernels, and the second one may be launched\n"
              "    before the first one has ended: it waits itself, by\n"
              "    ``griddepcontrol.wait``.\n"
              "\nRaises\n------\n"
              "ValueError\n"
              "    If a node belongs to another graph.\n" PCU_DOC_NO_GRAPH
              "\nSee Also\n--------\n"
              "Graph.remove_edge : Remove the edge.")

static PyObject *
graph_add_edge(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const CUgraphEdgeData early = {
        .from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
        .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    pcu_graph *self = (pcu_graph *)op;
    graph_edge_args a = {0};
    const CUgraphEdgeData *data = NULL;
    CUgraphNode ends[2];
    int rc;
    if (graph_read_edge(self, &graph_add_edge_signature, args, nargs, kwnames, &a,
                        ends) < 0) {
        return NULL;
    }
    if (a.programmatic) {
        data = &early;
    }
    PCU_CALL_CURRENT(rc, self->head.st, GraphAddDependencies,
                     (self->head.handle.graph, &ends[0], &ends[1], data, 1));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE(graph_remove_edge, graph_edge_words,
              "remove_edge($self, /, before, after)\n"
              "--\n\n"
              "Remove the edge between two nodes.\n"
              "\nParameters\n----------\n"
              "before : GraphNode\n"
              "    The node that runs first.\n"
              "after : GraphNode\n"
              "    The node that waits.\n"
              "\nRaises\n------\n"
              "ValueError\n"
              "    If a node belongs to another graph.\n"
              "LogicError\n"
              "    If there is no such edge.\n"
              "\nSee Also\n--------\n"
              "Graph.add_edge : Add an edge.")

static PyObject *
graph_remove_edge(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_graph *self = (pcu_graph *)op;
    graph_edge_args a = {0};
    CUgraphNode ends[2];
    int rc;
    if (graph_read_edge(self, &graph_remove_edge_signature, args, nargs, kwnames, &a,
                        ends) < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, self->head.st, GraphRemoveDependencies,
                     (self->head.handle.graph, &ends[0], &ends[1], NULL, 1));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef graph_edge_methods[] = {
    PCU_METHOD("add_edge", graph_add_edge),
    PCU_METHOD("remove_edge", graph_remove_edge),
    {NULL, NULL, 0, NULL},
};

int
pcu_graph_edges_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    return pcu_add_methods(st->Graph, graph_edge_methods);
}
