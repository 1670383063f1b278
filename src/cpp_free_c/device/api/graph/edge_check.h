/* Reading and checking the edges that a program gives. Call the functions with the API
 * lock held. */
#ifndef DEVICE_API_GRAPH_EDGE_CHECK_H
#define DEVICE_API_GRAPH_EDGE_CHECK_H

#include "device/api/entry/graph.h"

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
