/* The kinds of graph nodes: how each is made from what a program asks for.
 *
 * A kind is a row: its work (entry/work.h) and the function that makes its payload. The
 * calls of one kind (cuGraphAddKernelNode) and those of all kinds (cuGraphAddNode) use
 * the same rows. Call the functions with the API lock held. */
#ifndef DEVICE_API_GRAPH_NODE_KINDS_H
#define DEVICE_API_GRAPH_NODE_KINDS_H

#include "device/api/entry/graph.h"

/* Types of nodes, as sums of 1 << type. */
enum {
    EMU_NODES_MEMORY =
        1u << CU_GRAPH_NODE_TYPE_MEM_ALLOC | 1u << CU_GRAPH_NODE_TYPE_MEM_FREE,
    EMU_NODES_CONDITIONAL = 1u << CU_GRAPH_NODE_TYPE_CONDITIONAL,
    EMU_NODES_KERNEL = 1u << CU_GRAPH_NODE_TYPE_KERNEL,
    /* what the branches of a conditional node may hold */
    EMU_NODES_IN_BRANCH =
        1u << CU_GRAPH_NODE_TYPE_KERNEL | 1u << CU_GRAPH_NODE_TYPE_MEMCPY |
        1u << CU_GRAPH_NODE_TYPE_MEMSET | 1u << CU_GRAPH_NODE_TYPE_GRAPH |
        1u << CU_GRAPH_NODE_TYPE_EMPTY | 1u << CU_GRAPH_NODE_TYPE_CONDITIONAL
};

/* The work of a type of node, or NULL if the device lacks the type. */
const emu_work *emu_node_kind(CUgraphNodeType type);
/* The name of a type, as KERNEL. */
const char *emu_node_kind_name(CUgraphNodeType type);

/* Make the payload of a node of a graph from the parameters, and write those that the
 * call returns. NOT_SUPPORTED: the device lacks the type. */
CUresult emu_node_make(emu_context *context, const emu_graph *graph,
                       CUgraphNodeParams *params, emu_payload *out);
/* Free a payload that was not given to a node. */
void emu_node_discard(const emu_work *work, emu_payload payload);

/* Add a node. `after`: what it waits for. */
CUresult emu_node_add(emu_context *context, emu_graph *graph, const emu_edges *after,
                      CUgraphNodeParams *params, emu_node **out);

/* Whether the graph is in a branch of a conditional node. */
bool emu_graph_is_in_branch(const emu_graph *graph);
/* INVALID_VALUE: a branch of a conditional node has a node that it may not have. */
CUresult emu_graph_check_branches(const emu_graph *graph,
                                  CUgraphInstantiateResult *result, CUgraphNode *wrong);
/* The program removes a node: another one may use its conditional handle. */
void emu_node_release_handle(const emu_node *node);

/* -- edges that a program gives ---------------------------------------------------- */

/* Whether an edge between two nodes may have the data. `to` may be NULL: a node that
 * will be captured. */
bool emu_edge_is_valid(const emu_node *from, const emu_node *to,
                       const CUgraphEdgeData *data);

/* Read the nodes of a graph that a call names, and the data of their edges, into an
 * empty record. INVALID_VALUE if a node is not of the graph. A node that is named again
 * is INVALID_VALUE too if `once`, and ignored otherwise. */
CUresult emu_edges_read(const emu_graph *graph, const CUgraphNode *nodes,
                        const CUgraphEdgeData *data, size_t count, bool once,
                        emu_edges *out);

#endif
