/* The bodies of executable graphs: copies of nodes in an order in which they can run.
 *
 * A body is shared by its executable graph and the launches that run it. A change of an
 * executable graph during a launch therefore changes a copy (emu_graph_exec_change in
 * exec.h). Call all functions with the API lock held, except emu_exec_body_run. */
#ifndef DEVICE_API_GRAPH_EXEC_BODY_H
#define DEVICE_API_GRAPH_EXEC_BODY_H

#include "device/api/entry/graph.h"

typedef struct emu_exec_body emu_exec_body;

typedef struct {
    uint64_t source; /* serial of the node that it is a copy of */
    const emu_work *work;
    emu_payload payload;
    uint32_t *after; /* places of the nodes that it waits for */
    CUgraphEdgeData *edges;
    size_t after_count;
    emu_exec_body **bodies;
    size_t body_count;
    bool enabled;
} emu_exec_node;

struct emu_exec_body {
    int holders;
    emu_exec_node *nodes; /* in the order of the graph */
    uint32_t *order;      /* in which they run */
    size_t count;
    emu_user_references references;
    emu_conditionals conditionals;
};

/* Copy a graph. INVALID_VALUE if nodes wait for each other in a circle; `*wrong` is
 * then one of them. */
CUresult emu_exec_body_new(const emu_graph *graph, emu_exec_body **out,
                           emu_node **wrong);
/* A copy; NULL: out of memory. */
emu_exec_body *emu_exec_body_copy(const emu_exec_body *body);
/* Drop a holder; the last one frees the body. NULL is allowed. */
void emu_exec_body_release(emu_exec_body *body);

/* The node that is a copy of a node of a graph, here or in the bodies of nodes; NULL:
 * none. */
emu_exec_node *emu_exec_body_find(emu_exec_body *body, uint64_t source);
/* Replace the payload of a node by a copy. False: out of memory. */
bool emu_exec_node_set_payload(emu_exec_node *node, const void *payload, size_t size);

/* Note the memory that the nodes may use. */
void emu_exec_body_use(const emu_exec_body *body, emu_operation *operation);
/* Prepare a run: check and keep alive what all nodes need. `frees`: free what
 * allocation nodes left live. If it fails, nothing is kept. */
CUresult emu_exec_body_begin(const emu_exec_body *body, bool frees);
/* Run all nodes in a stream's turn, without the API lock. `seed`: if not 0, it chooses
 * among the orders that the edges allow. */
CUresult emu_exec_body_run(const emu_exec_body *body, uint64_t seed,
                           emu_context *context, emu_report *report);
/* End what emu_exec_body_begin began. */
void emu_exec_body_end(const emu_exec_body *body);

#endif
