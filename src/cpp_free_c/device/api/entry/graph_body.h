/* Graph bodies: nodes of work and the nodes that each waits for.
 *
 * Invariant: a node waits only for nodes with lower numbers, so running the nodes by
 * number is a valid order. A capture builds a body; once a graph owns it, it no longer
 * changes. Call all functions with the API lock held, except that a run reads the
 * nodes without it. */
#ifndef DEVICE_API_ENTRY_GRAPH_BODY_H
#define DEVICE_API_ENTRY_GRAPH_BODY_H

#include "device/api/entry/work.h"

typedef struct CUgraphNode_st {
    CUgraphNodeType type;
    const emu_work *work;
    uint32_t *after; /* the nodes that it waits for */
    size_t after_count;
    size_t size; /* of the payload */
    _Alignas(16) char payload[];
} emu_node;

typedef struct emu_graph_body {
    size_t count, room;
    emu_node **nodes;
} emu_graph_body;

/* An empty body; NULL: out of memory. */
emu_graph_body *emu_graph_body_new(void);
/* A copy of a body; NULL: out of memory. */
emu_graph_body *emu_graph_body_copy(const emu_graph_body *from);
/* Free a body; NULL is allowed. */
void emu_graph_body_release(emu_graph_body *body);

/* Add a node that waits for `count` nodes, given by number, and store its own number.
 * False: out of memory. */
bool emu_graph_body_add(emu_graph_body *body, const emu_work *work, const void *payload,
                        size_t size, const uint32_t *after, size_t count,
                        uint32_t *number);

/* Whether every node is one of those given, or one that they wait for. False if there
 * is no memory for the search, too. */
bool emu_graph_body_joined(const emu_graph_body *body, const uint32_t *last,
                           size_t count);

/* Call `begin` of each node. If one fails, call `end` of those before it. */
CUresult emu_graph_body_begin(const emu_graph_body *body);
/* Call `end` of each node. */
void emu_graph_body_end(const emu_graph_body *body);

/* Another valid order, which depends on the seed; to be freed with free. NULL: out of
 * memory. */
uint32_t *emu_graph_body_shuffled(const emu_graph_body *body, uint64_t seed);

#endif
