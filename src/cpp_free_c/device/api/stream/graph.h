/* Graphs: objects that own a body of nodes.
 *
 * The body of a graph never changes. The calls on graphs, on executable graphs and on
 * captures use this file. */
#ifndef DEVICE_API_STREAM_GRAPH_H
#define DEVICE_API_STREAM_GRAPH_H

#include "device/api/entry/graph_body.h"

typedef struct CUgraph_st {
    emu_object object;
    emu_graph_body *body;
    struct CUgraph_st *next, *previous; /* of all graphs */
} emu_graph;

/* Make a graph that owns the body. On failure, or if the body is NULL, the body is
 * freed and the result is OUT_OF_MEMORY. Call it with the API lock held. */
CUresult emu_graph_new(emu_context *context, emu_graph_body *body, CUgraph *out);

#endif
