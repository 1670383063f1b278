/* Executable graphs: a copy of a graph, its body, and an order of the nodes.
 *
 * A body is shared by its executable graph and the launches that run it. A change of an
 * executable graph during a launch therefore changes a copy (emu_graph_exec_change).
 * Call all functions with the API lock held, except emu_exec_body_run and go_on. */
#ifndef DEVICE_API_GRAPH_EXEC_H
#define DEVICE_API_GRAPH_EXEC_H

#include "device/sync_check/lane_clock.h"
#include "device/api/entry/graph.h"

typedef struct CUgraphExec_st {
    emu_object object;
    emu_graph *body;
    uint64_t flags;
    CUgraph graph; /* that it was made from, if its serial is still `source` */
    uint64_t source;
    bool is_running; /* one run at a time */
    bool is_orphan;  /* destroyed, but for the launches that it still has */
    uint64_t runs;
    emu_clock clock; /* of its last launch, for the check of streams */
} emu_graph_exec;

/* The live executable graph of a handle, or NULL. */
emu_graph_exec *emu_graph_exec_get(CUgraphExec handle);
/* The body of an executable graph, for a change: no launch reads it. NULL: out of
 * memory. */
emu_graph *emu_graph_exec_change(emu_graph_exec *exec);

/* -- bodies ------------------------------------------------------------------------ */

/* Copy a graph. INVALID_VALUE if nodes wait for each other in a circle; `*wrong` is
 * then one of them. */
CUresult emu_exec_body_new(const emu_graph *graph, emu_graph **out, emu_node **wrong);
/* Drop a holder; the last one frees the body. NULL is allowed. */
void emu_exec_body_release(emu_graph *body);

/* The node that is a copy of a node of a graph, here or in the bodies of nodes; NULL:
 * none. */
emu_node *emu_exec_body_find(const emu_graph *body, uint64_t source);

/* Note the memory that the nodes may use. */
void emu_exec_body_use(const emu_graph *body, emu_operation *operation);
/* Prepare a run: check and keep alive what all nodes need. `frees`: free what
 * allocation nodes left live. If it fails, nothing is kept. */
CUresult emu_exec_body_begin(const emu_graph *body, bool frees);
/* Run all nodes in a stream's turn, without the API lock. `seed`: if not 0, it chooses
 * among the orders that the edges allow. EMU_GOES_ON: see emu_work. */
CUresult emu_exec_body_run(const emu_graph *body, uint64_t seed, emu_context *context,
                           emu_report *report);
/* Go on with what emu_exec_body_run has left. */
CUresult emu_exec_body_go_on(void *left, emu_context *context, emu_report *report);
/* End what emu_exec_body_begin began. */
void emu_exec_body_end(const emu_graph *body);

/* -- updates ----------------------------------------------------------------------- */

/* Give a node of an executable graph new parameters. `node` is the node that it is a
 * copy of. */
CUresult emu_exec_set(emu_context *context, CUgraphExec exec, CUgraphNode node,
                      CUgraphNodeParams *params);

/* Pair the nodes of a body with those of a graph that it is to become like: for each
 * node of the body, the place of its pair in the graph; to be freed with free.
 * NULL: the edges differ, and `info` says where; its result is ERROR if there is no
 * memory.
 *
 * As a GPU's driver does, this begins at the nodes for which no other waits, the last
 * one first, and follows the edges in their order. So graphs with the same edges pair
 * even if their nodes were added in another order. */
uint32_t *emu_exec_pair(const emu_graph *body, const emu_graph *graph,
                        CUgraphExecUpdateResultInfo *info);

#endif
