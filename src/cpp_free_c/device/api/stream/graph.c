/* Graphs: making, copying, describing, drawing. See graph.h.
 *
 * No node is itself a graph: only captures make nodes, and a stream that is being
 * captured refuses to launch a graph. Nor does a node own memory, as a node of a GPU's
 * graph may: the stream-ordered allocator refuses a stream that is being captured. */
#define _GNU_SOURCE
#include "device/api/stream/graph.h"

#include <stdio.h>

#include "device/api/entry/entry.h"
#include "device/api/entry/release_count.h"

static emu_graph *graphs; /* guarded by the API lock */

static void
graph_destroy(emu_object *object)
{
    emu_graph *graph = (emu_graph *)object;

    if (graph->previous != NULL) {
        graph->previous->next = graph->next;
    }
    else {
        graphs = graph->next;
    }
    if (graph->next != NULL) {
        graph->next->previous = graph->previous;
    }
    emu_graph_body_release(graph->body);
    emu_object_free(object);
}

CUresult
emu_graph_new(emu_context *context, emu_graph_body *body, CUgraph *out)
{
    emu_graph *graph = NULL;

    if (body != NULL) {
        graph = emu_object_new(EMU_GRAPH, sizeof(*graph), context, graph_destroy);
    }
    if (graph == NULL) {
        emu_graph_body_release(body);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    graph->body = body;
    graph->next = graphs;
    if (graphs != NULL) {
        graphs->previous = graph;
    }
    graphs = graph;
    *out = graph;
    return CUDA_SUCCESS;
}

/* The node of a live graph that a handle names, or NULL. */
static const emu_node *
graph_find_node(CUgraphNode handle)
{
    for (const emu_graph *g = graphs; g != NULL && handle != NULL; g = g->next) {
        for (size_t i = 0; i < g->body->count; i++) {
            if (g->body->nodes[i] == handle) {
                return handle;
            }
        }
    }
    return NULL;
}

CUresult
emu_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphCreate, &context);

    if (status == CUDA_SUCCESS && (phGraph == NULL || flags != 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = emu_graph_new(context, emu_graph_body_new(), phGraph);
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphClone, &context);

    if (status == CUDA_SUCCESS) {
        const emu_graph *graph = emu_object_get(originalGraph, EMU_GRAPH);

        if (graph == NULL || phGraphClone == NULL) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            status =
                emu_graph_new(context, emu_graph_body_copy(graph->body), phGraphClone);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphDestroy(CUgraph hGraph)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphDestroy, &context);

    if (status == CUDA_SUCCESS) {
        emu_graph *graph = emu_object_get(hGraph, EMU_GRAPH);

        if (graph != NULL) {
            emu_count_free(graph->object.context);
            graph_destroy(&graph->object);
        }
        else {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}

/* Store the handles of as many nodes as there is room for and NULL in the rest of the
 * room. Without room, store how many nodes there are. */
static void
graph_list_nodes(const emu_graph_body *body, CUgraphNode *nodes, size_t *count)
{
    if (nodes == NULL) {
        *count = body->count;
        return;
    }
    for (size_t i = 0; i < *count; i++) {
        nodes[i] = NULL;
        if (i < body->count) {
            nodes[i] = body->nodes[i];
        }
    }
    if (*count > body->count) {
        *count = body->count;
    }
}

CUresult
emu_cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphGetNodes, &context);

    if (status == CUDA_SUCCESS) {
        const emu_graph *graph = emu_object_get(hGraph, EMU_GRAPH);

        if (graph == NULL || numNodes == NULL || (nodes != NULL && *numNodes == 0)) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            graph_list_nodes(graph->body, nodes, numNodes);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphNodeGetType, &context);

    if (status == CUDA_SUCCESS) {
        const emu_node *node = graph_find_node(hNode);

        if (node != NULL && type != NULL) {
            *type = node->type;
        }
        else {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}

/* -- drawings ---------------------------------------------------------------------- */

static const char *
graph_node_name(const emu_node *node)
{
    static const char *const types[] = {"KERNEL",     "MEMCPY",      "MEMSET",
                                        "HOST",       "GRAPH",       "EMPTY",
                                        "WAIT_EVENT", "EVENT_RECORD"};

    if (node->work->name == NULL) {
        return types[node->type];
    }
    return node->work->name(node->payload);
}

static bool
graph_draw(const emu_graph_body *body, FILE *file)
{
    bool good = fprintf(file, "digraph dot {\n") > 0;

    for (size_t i = 0; i < body->count; i++) {
        const emu_node *node = body->nodes[i];

        good &= fprintf(file, "    \"node_%zu\" [shape=\"box\" label=\"%zu\\n%s\"];\n",
                        i, i, graph_node_name(node)) > 0;
        for (size_t k = 0; k < node->after_count; k++) {
            good &= fprintf(file, "    \"node_%u\" -> \"node_%zu\";\n", node->after[k],
                            i) > 0;
        }
    }
    return fprintf(file, "}\n") > 0 && good;
}

static CUresult
graph_draw_to_file(const emu_graph *graph, const char *path)
{
    FILE *file = fopen(path, "w");
    bool drawn;

    if (file == NULL) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    drawn = graph_draw(graph->body, file);
    if (fclose(file) != 0 || !drawn) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphDebugDotPrint, &context);

    (void)flags; /* they ask for details that the nodes here do not have */
    if (status == CUDA_SUCCESS) {
        const emu_graph *graph = emu_object_get(hGraph, EMU_GRAPH);

        if (graph == NULL || path == NULL) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            status = graph_draw_to_file(graph, path);
        }
    }
    return emu_leave(status);
}
