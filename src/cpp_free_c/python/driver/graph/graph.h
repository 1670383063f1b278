/* Graphs and their nodes: the structs, and what the files of this room share.
 *
 * Invariant: the handle of a node is valid while its Graph has its handle and the node
 * was not removed. A Graph that is the body of a conditional node has the handle of the
 * driver but does not own it: `parent` does. Callers: the files of this room. */
#ifndef PYTHON_DRIVER_GRAPH_GRAPH_H
#define PYTHON_DRIVER_GRAPH_GRAPH_H

#include "python/support/base.h"

#include "python/driver/graph_resources.h"
#include "python/driver/launch/launch.h"
#include "python/driver/resource.h"

typedef enum {
    PCU_GRAPH_READY,     /* it may be used */
    PCU_GRAPH_CAPTURING, /* its capture has not ended */
    PCU_GRAPH_FAILED     /* its capture failed */
} pcu_graph_state;

typedef struct {
    pcu_resource head;
    pcu_graph_resources *resources; /* strong */
    PyObject *parent; /* strong: the Graph that owns the handle; NULL: this one */
    pcu_graph_state state;
} pcu_graph;

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    pcu_graph *graph; /* strong */
    CUgraphNode handle;
    CUgraphNodeType type;
    PyObject *function;     /* strong: the Function of a kernel node, or NULL */
    pcu_launch_shape shape; /* of a kernel node */
    CUdeviceptr address;    /* of a node that allocates or frees memory */
    int removed;
} pcu_graph_node;

/* A Graph without a handle, for a capture. */
PCU_HIDDEN PCU_NEWREF pcu_graph *pcu_graph_blank_new(pcu_state *st, PyObject *ctx);

/* A Graph of a handle that belongs to a node of `owner`. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_graph_body_new(pcu_graph *owner, CUgraph handle);

/* A Graph of the same type with a copy of the nodes. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_graph_copy_new(pcu_graph *self);

/* Check that the graph has a handle and is not being captured. */
PCU_HIDDEN PCU_RAISES int pcu_graph_check(pcu_graph *self, const char *routine);

/* A GraphNode whose handle and type the caller sets. */
PCU_HIDDEN PCU_NEWREF pcu_graph_node *pcu_graph_node_blank_new(pcu_graph *graph);

/* The GraphNode of a handle. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_graph_node_new(pcu_graph *graph,
                                                   CUgraphNode handle);

/* Check that the node is still in its graph. */
PCU_HIDDEN PCU_RAISES int pcu_graph_node_check(pcu_graph_node *self,
                                               const char *routine);

/* The nodes of an argument `after`: a GraphNode or a sequence of them, all of `graph`.
 * The result is to be freed with PyMem_Free; NULL on error and for no nodes. */
PCU_HIDDEN PCU_RAISES int pcu_graph_nodes_read(pcu_graph *graph, PyObject *after,
                                               CUgraphNode **nodes, size_t *count);

/* A list of the nodes of a graph. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_graph_nodes_new(pcu_graph *self);

/* After a capture: note what the kernels of libraries use. */
PCU_HIDDEN PCU_RAISES int pcu_graph_scan(pcu_graph *graph);

/* Check that the graph frees the memory that its nodes allocate. */
PCU_HIDDEN PCU_RAISES int pcu_graph_check_memory(pcu_graph *self);

/* Make the driver's executable graph of a graph, with the driver's flags. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_graph_exec_new(pcu_graph *graph,
                                                   unsigned int flags);

/* Read the keywords block, grid and shared of a kernel node into a shape, which has the
 * defaults. *has_block is set if block was given. */
PCU_HIDDEN PCU_RAISES int pcu_graph_read_shape(pcu_state *st, const char *function,
                                               PyObject *const *values,
                                               PyObject *kwnames,
                                               pcu_launch_shape *shape, int *has_block,
                                               PyObject **after);

#endif
