/* Graphs: nodes of work and the nodes that each waits for; and the data of programs
 * that graphs keep alive.
 *
 * A graph owns its nodes, and a node owns the graphs that are its bodies: the graph of
 * a child node, the branches of a conditional node. Programs and captures add nodes and
 * edges at any time. Nothing here runs work. An executable graph has a copy of the
 * graph and an order of its nodes (graph/exec.h). Call all functions with the API lock
 * held. */
#ifndef DEVICE_API_ENTRY_GRAPH_H
#define DEVICE_API_ENTRY_GRAPH_H

#include <stdbool.h>

#include "abi/graph_abi.h"
#include "device/base/object.h"
#include "device/api/entry/work.h"
#include "device/machine/services/services.h"

/* -- user objects ------------------------------------------------------------------ */

/* A user object has a destructor of the program, and counts references: those that the
 * program owns, those of graphs and those of executable graphs. The destructor runs
 * when the last one goes, in the thread of that call, after the API lock has been
 * released and before the call returns. On a GPU a thread of the driver runs it. */

typedef struct CUuserObject_st {
    emu_object object; /* of no context */
    void *data;
    CUhostFn destroy;
    uint64_t count;               /* references */
    struct CUuserObject_st *next; /* of those to be destroyed */
} emu_user_object;

/* References that a graph or an executable graph owns. */
typedef struct {
    struct emu_user_reference {
        emu_user_object *object;
        uint64_t count;
    } * items;
    size_t count;
} emu_user_references;

/* A new object; NULL: out of memory. */
emu_user_object *emu_user_object_new(void *data, CUhostFn destroy, uint64_t count);
/* The live object of a handle, or NULL. */
emu_user_object *emu_user_object_get(CUuserObject handle);
/* Give references back. More than there are count as all of them. */
void emu_user_object_release(emu_user_object *object, uint64_t count);

/* Add references to a list. False: out of memory. The object counts them only if
 * `create`; otherwise the caller gives away its own. */
bool emu_user_references_add(emu_user_references *list, emu_user_object *object,
                             uint64_t count, bool create);
/* Take references out of a list and release them. False: the list has fewer. */
bool emu_user_references_remove(emu_user_references *list, emu_user_object *object,
                                uint64_t count);
/* Add new references to all objects of another list. False: out of memory. */
bool emu_user_references_copy(emu_user_references *to, const emu_user_references *from);
/* Release all references of a list and empty it. */
void emu_user_references_drop(emu_user_references *list);

/* -- destructors ------------------------------------------------------------------- */

/* Take the objects to be destroyed, as a list; NULL: none. */
emu_user_object *emu_user_objects_take(void);
/* Run the destructors of the list and free it. Call it without the API lock. */
void emu_user_objects_destroy(emu_user_object *first);

/* -- nodes and graphs -------------------------------------------------------------- */

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
    bool disabled;     /* of an executable graph: a launch does not run it */
};

struct CUgraph_st {
    emu_object object;
    emu_node **nodes; /* in the order in which they were added */
    size_t count, room;
    emu_node *owner;       /* the node whose body it is, or NULL */
    emu_graph **capturing; /* where a capture keeps this graph, or NULL */
    uint64_t original;     /* serial of the graph that it is a copy of, or 0 */
    bool is_executable; /* it belongs to an executable graph: no handle leads to it */
    uint32_t *order;    /* in which its nodes run; NULL: not known */
    int holders;        /* the executable graph, and the launches that run it */
    size_t instances;   /* executable graphs made from it that exist */
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

/* -- places of captures ------------------------------------------------------------ */

/* A stream that is captured has a place in the graph: the nodes that its next work
 * waits for. So has an event that was recorded in the capture. Invariant: a place is in
 * the list of its capture exactly while its `capture` is set. */
struct emu_capture;

typedef struct emu_capture_place {
    struct emu_capture *capture;               /* NULL: in none */
    struct emu_capture_place **places;         /* the list of the capture's places */
    struct emu_capture_place *next, *previous; /* in that list */
    struct CUstream_st *stream;                /* whose place it is; NULL: an event's */
    emu_edges after;                           /* what the next work waits for */
    bool captured; /* an event: its last record was in a capture, active or ended */
} emu_capture_place;

/* Put a place into a capture, after the nodes given. False: out of memory. */
bool emu_capture_place_join(emu_capture_place *place, struct emu_capture *capture,
                            emu_capture_place **places, const emu_edges *after);

/* Make the next work of a place wait for more nodes. False: out of memory. */
bool emu_capture_place_wait(emu_capture_place *place, const emu_edges *after);

/* Take a place out of its capture, if it is in one, and forget that it was captured. */
void emu_capture_place_leave(emu_capture_place *place);

/* -- graphs ------------------------------------------------------------------------ */

/* An empty graph. `owner` is the node whose body it is, or NULL. NULL: out of memory.
 */
emu_graph *emu_graph_new(emu_context *context, emu_node *owner);
/* Destroy a graph with all its nodes and their bodies. */
void emu_graph_destroy(emu_object *graph);
/* A copy of a graph with all bodies; NULL: out of memory. */
emu_graph *emu_graph_copy(emu_context *context, const emu_graph *from, emu_node *owner);

/* A copy for an executable graph, with one holder. The originals of its nodes are those
 * of the nodes that the program added. NULL: out of memory. */
emu_graph *emu_graph_copy_executable(const emu_graph *from);

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
