/* Pairing the nodes of an executable graph with those of a graph that it is to become
 * like. Call it with the API lock held. */
#ifndef DEVICE_API_GRAPH_EXEC_PAIRS_H
#define DEVICE_API_GRAPH_EXEC_PAIRS_H

#include "device/api/graph/exec_body.h"

/* For each node of the body, the place of its pair in the graph; to be freed with free.
 * NULL: the edges differ, and `info` says where; its result is ERROR if there is no
 * memory.
 *
 * As a GPU's driver does, this begins at the nodes for which no other waits, the last
 * one first, and follows the edges in their order. So graphs with the same edges pair
 * even if their nodes were added in another order. */
uint32_t *emu_exec_pair(const emu_exec_body *body, const emu_graph *graph,
                        CUgraphExecUpdateResultInfo *info);

#endif
