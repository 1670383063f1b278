/* Graphs: nodes of work and the nodes that each waits for.
 *
 * A graph owns its nodes, and a node owns the graphs that are its bodies: the graph of
 * a child node, the branches of a conditional node. Programs and captures add nodes and
 * edges at any time. Nothing here runs work: an executable graph copies what it needs
 * (graph/exec_body.h). Call all functions with the API lock held. */
#ifndef DEVICE_API_ENTRY_GRAPH_H
#define DEVICE_API_ENTRY_GRAPH_H

#include "device/api/entry/user_object.h"
#include "device/api/entry/work.h"
#include "device/machine/services/services.h"

typedef struct CUgraphNode_st emu_node;
typedef struct CUgraph_st emu_graph;

/* Nodes and the data of the edges that come from them, as programs get them. */
typedef struct {
    emu_node **nodes;
    CUgraphEdgeData *data;
    size_t count, room;
} emu_edges;

struct CUgraphNode_st {
    emu_object object; /* of no context: the graph frees it */
    emu_graph *graph;
    size_t number; /* its place in the graph */
    const emu_work *work;
    emu_payload payload;
    emu_edges after;    /* what it waits for */
    emu_graph **bodies; /* graphs of the node; NULL: none */
    size_t body_count;
    uint64_t original; /* serial of the node that it is a copy of, or 0 */
    uint64_t capture;  /* number of the capture that made it; 0: the program */
    bool detached;     /* the program took it out of the dependencies of a capture */
};

struct CUgraph_st {
    emu_object object;
    emu_node **nodes; /* in the order in which they were added */
    size_t count, room;
    emu_node *owner;       /* the node whose body it is, or NULL */
    emu_graph **capturing; /* where a capture keeps this graph, or NULL */
    uint64_t original;     /* serial of the graph that it is a copy of, or 0 */
    size_t instances;      /* executable graphs made from it that exist */
    emu_user_references references;
    emu_conditionals conditionals; /* whose handles were made for this graph */
};

/* -- edges ------------------------------------------------------------------------- */

/* Append an edge. `data` may be NULL: a plain edge. False: out of memory. */
bool emu_edges_add(emu_edges *edges, emu_node *node, const CUgraphEdgeData *data);
/* The place of a node's edge, or `count`. */
size_t emu_edges_find(const emu_edges *edges, const emu_node *node);
void emu_edges_remove(emu_edges *edges, size_t place);
/* Make a copy in an empty record. False: out of memory. */
bool emu_edges_copy(emu_edges *to, const emu_edges *from);
void emu_edges_clear(emu_edges *edges);

/* Whether an edge has the default data. */
bool emu_edge_is_plain(const CUgraphEdgeData *data);

/* -- graphs ------------------------------------------------------------------------ */

/* An empty graph. `owner` is the node whose body it is, or NULL. NULL: out of memory.
 */
emu_graph *emu_graph_new(emu_context *context, emu_node *owner);
/* Destroy a graph with all its nodes and their bodies. */
void emu_graph_destroy(emu_object *graph);
/* A copy of a graph with all bodies; NULL: out of memory. */
emu_graph *emu_graph_copy(emu_context *context, const emu_graph *from, emu_node *owner);

/* Whether a capture adds nodes to the graph or to a body of its nodes. */
bool emu_graph_is_captured(const emu_graph *graph);
/* Whether a node or a capture owns the graph, not the program. */
bool emu_graph_is_owned(const emu_object *graph);

/* The live graph of a handle, or NULL. */
emu_graph *emu_graph_get(CUgraph handle);
/* The live node of a handle, or NULL. */
emu_node *emu_node_get(CUgraphNode handle);

/* Add a node with a copy of the payload; NULL: out of memory. */
emu_node *emu_graph_add(emu_graph *graph, const emu_work *work, const void *payload,
                        size_t size);
/* Remove a node and all edges to and from it. */
void emu_graph_remove(emu_node *node);
/* Give a node `count` empty graphs as bodies. False: out of memory. */
bool emu_node_add_bodies(emu_node *node, size_t count);
/* Replace the payload of a node by a copy of the bytes. False: out of memory. */
bool emu_node_set_payload(emu_node *node, const void *payload, size_t size);

/* Whether the graph, or a body of its nodes, has a node of one of the types: a sum of
 * 1 << type. */
bool emu_graph_has(const emu_graph *graph, unsigned int types);
/* Whether the second graph is the first one or the body of a node in it. */
bool emu_graph_holds(const emu_graph *graph, const emu_graph *inner);

#endif
