/* Graphs: bodies and nodes, and the driver's functions on graphs. See graph.h.
 *
 * No node is a graph: only captures make nodes, and a stream that is captured refuses
 * the launch of a graph. Nor does a node own memory, as one of a GPU's graph may: the
 * stream-ordered allocator refuses a stream that is captured. */
#define _GNU_SOURCE
#include "device/api/graph.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/api/entry.h"
#include "device/api/capture.h"
#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/stream.h"
#include "device/machine/wait.h"

enum {
    INSTANTIATE_DEVICE_LAUNCH = 4,
    INSTANTIATE_FLAGS = 15 /* all that there are */
};

struct CUgraphNode_st {
    CUgraphNodeType type;
    const emu_work *work;
    uint32_t *after;
    size_t after_count;
    size_t size;
    _Alignas(16) char payload[];
};

struct emu_graph_body {
    size_t count, room;
    emu_node **nodes;
};

struct CUgraph_st {
    emu_object object;
    emu_graph_body *body;
    emu_graph *next, *previous; /* of all graphs */
};

typedef struct CUgraphExec_st {
    emu_object object;
    emu_graph_body *body; /* its own copy */
    pthread_mutex_t turn; /* one run at a time; taken after the stream's */
    uint64_t runs;        /* guarded by turn */
} graph_exec;

static emu_graph *graphs; /* guarded by the API lock */

/* -- bodies ------------------------------------------------------------------------ */

emu_graph_body *
emu_graph_body_new(void)
{
    return calloc(1, sizeof(emu_graph_body));
}

void
emu_graph_body_release(emu_graph_body *body)
{
    if (!body) {
        return;
    }
    for (size_t i = 0; i < body->count; i++) {
        free(body->nodes[i]->after);
        free(body->nodes[i]);
    }
    free(body->nodes);
    free(body);
}

static bool
make_room(emu_graph_body *body)
{
    size_t room = body->room ? body->room * 2 : 8;
    emu_node **nodes;

    if (body->count < body->room) {
        return true;
    }
    nodes = room <= UINT32_MAX ? realloc(body->nodes, room * sizeof(*nodes)) : NULL;
    if (!nodes) {
        return false;
    }
    body->nodes = nodes;
    body->room = room;
    return true;
}

bool
emu_graph_body_add(emu_graph_body *body, const emu_work *work, const void *payload,
                   size_t size, const uint32_t *after, size_t count, uint32_t *number)
{
    emu_node *node = calloc(1, sizeof(*node) + size);
    uint32_t *numbers = malloc((count + 1) * sizeof(*numbers)); /* never of 0 bytes */

    if (!node || !numbers || !make_room(body)) {
        free(node);
        free(numbers);
        return false;
    }
    node->type = work->type;
    node->work = work;
    node->after = numbers;
    node->after_count = count;
    if (count) {
        memcpy(numbers, after, count * sizeof(*numbers));
    }
    node->size = size;
    if (size) {
        memcpy(node->payload, payload, size);
    }
    *number = (uint32_t)body->count;
    body->nodes[body->count++] = node;
    return true;
}

bool
emu_graph_body_joined(const emu_graph_body *body, const uint32_t *last, size_t count)
{
    bool *reached = calloc(body->count + 1, sizeof(*reached));
    bool all = reached != NULL;

    for (size_t i = 0; reached && i < count; i++) {
        reached[last[i]] = true;
    }
    for (size_t i = body->count; all && i-- > 0;) {
        const emu_node *node = body->nodes[i];

        all = reached[i];
        for (size_t k = 0; k < node->after_count; k++) {
            reached[node->after[k]] = true;
        }
    }
    free(reached);
    return all;
}

static emu_graph_body *
copy_body(const emu_graph_body *from)
{
    emu_graph_body *to = emu_graph_body_new();

    for (size_t i = 0; to && i < from->count; i++) {
        const emu_node *node = from->nodes[i];
        uint32_t number;

        if (!emu_graph_body_add(to, node->work, node->payload, node->size, node->after,
                                node->after_count, &number)) {
            emu_graph_body_release(to);
            return NULL;
        }
    }
    return to;
}

/* -- running ----------------------------------------------------------------------- */

static void
end_nodes(const emu_graph_body *body, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const emu_node *node = body->nodes[i];

        if (node->work->end) {
            node->work->end(node->payload);
        }
    }
}

static CUresult
begin_nodes(const emu_graph_body *body)
{
    for (size_t i = 0; i < body->count; i++) {
        const emu_node *node = body->nodes[i];
        CUresult status = CUDA_SUCCESS;

        if (node->work->begin) {
            status = node->work->begin(node->payload);
        }
        if (status != CUDA_SUCCESS) {
            end_nodes(body, i);
            return status;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult
run_node(const emu_node *node, emu_context *context, emu_report *report)
{
    return node->work->run ? node->work->run(node->payload, context, report)
                           : CUDA_SUCCESS;
}

/* The order of numbers hides a dependency that the program forgot; a seed asks for
 * another order that the graph allows. Each node takes a place before which all that it
 * waits for has run. */
static uint32_t *
shuffled(const emu_graph_body *body, uint64_t seed)
{
    uint32_t *order = malloc((body->count + 1) * sizeof(*order));
    bool *done = calloc(body->count + 1, sizeof(*done));
    uint64_t state = seed;

    for (size_t placed = 0; order && done && placed < body->count;) {
        size_t at;

        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        at = (size_t)(state >> 33) % body->count;
        for (size_t tries = 0;; tries++, at = (at + 1) % body->count) {
            const emu_node *node = body->nodes[at];
            bool ready = !done[at];

            for (size_t k = 0; ready && k < node->after_count; k++) {
                ready = done[node->after[k]];
            }
            if (ready) {
                break;
            }
        }
        done[at] = true;
        order[placed++] = (uint32_t)at;
    }
    if (!done) {
        free(order);
        order = NULL;
    }
    free(done);
    return order;
}

static CUresult
run_body(graph_exec *exec, emu_context *context, emu_report *report)
{
    const emu_graph_body *body = exec->body;
    uint32_t *order = NULL;
    CUresult status = CUDA_SUCCESS;

    exec->runs++;
    if (emu_seed) {
        order = shuffled(body, emu_seed * UINT64_C(0x9E3779B97F4A7C15) + exec->runs);
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < body->count; i++) {
        status = run_node(body->nodes[order ? order[i] : i], context, report);
    }
    free(order);
    return status;
}

/* Runs the nodes once no other thread runs them. */
static CUresult
run_in_turn(graph_exec *exec, emu_context *context, emu_report *report)
{
    CUresult status;

    if (!emu_wait_mutex(&exec->turn)) {
        return emu_wait_status();
    }
    status = (CUresult)atomic_load(&context->sticky);
    if (status == CUDA_SUCCESS) {
        status = run_body(exec, context, report);
    }
    pthread_mutex_unlock(&exec->turn);
    return status;
}

static CUresult
launch(emu_context *context, graph_exec *exec, emu_stream *stream)
{
    emu_report report = {.text = ""};
    CUresult status;
    int token;

    status = emu_capture_refuse(stream); /* a GPU does not nest graphs so either */
    if (status == CUDA_SUCCESS) {
        status = begin_nodes(exec->body);
    }
    if (status != CUDA_SUCCESS) {
        return status;
    }
    emu_use(&exec->object);
    token = emu_stream_begin(stream);
    if (token < 0) {
        status = emu_wait_status();
    }
    else {
        status = run_in_turn(exec, context, &report);
        emu_stream_end(stream, token);
    }
    end_nodes(exec->body, exec->body->count);
    emu_done(&exec->object);
    if (report.text[0]) {
        emu_message_set("%s", report.text);
    }
    /* a fault is the context's, and seen by the next call, as on a GPU */
    return atomic_load(&context->sticky) ? CUDA_SUCCESS : status;
}

/* -- graphs ------------------------------------------------------------------------ */

static void
destroy_graph(emu_object *object)
{
    emu_graph *graph = (emu_graph *)object;

    if (graph->previous) {
        graph->previous->next = graph->next;
    }
    else {
        graphs = graph->next;
    }
    if (graph->next) {
        graph->next->previous = graph->previous;
    }
    emu_graph_body_release(graph->body);
    emu_object_free(object);
}

emu_graph *
emu_graph_new(emu_context *context, emu_graph_body *body)
{
    emu_graph *graph =
        emu_object_new(EMU_GRAPH, sizeof(*graph), context, destroy_graph);

    if (graph) {
        graph->body = body;
        graph->next = graphs;
        if (graphs) {
            graphs->previous = graph;
        }
        graphs = graph;
    }
    return graph;
}

/* The node of a live graph that a handle names, or NULL. */
static const emu_node *
find_node(CUgraphNode handle)
{
    for (const emu_graph *g = graphs; g && handle; g = g->next) {
        for (size_t i = 0; i < g->body->count; i++) {
            if (g->body->nodes[i] == handle) {
                return handle;
            }
        }
    }
    return NULL;
}

/* Makes a graph of a body that is the caller's, who loses it either way. */
static CUresult
give_graph(emu_context *context, emu_graph_body *body, CUgraph *out)
{
    emu_graph *graph = body ? emu_graph_new(context, body) : NULL;

    if (!graph) {
        emu_graph_body_release(body);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = graph;
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphCreate, &context);

    if (status == CUDA_SUCCESS && (!phGraph || flags != 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = give_graph(context, emu_graph_body_new(), phGraph);
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

        status = graph && phGraphClone
                     ? give_graph(context, copy_body(graph->body), phGraphClone)
                     : CUDA_ERROR_INVALID_VALUE;
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

        if (graph) {
            emu_count_free(graph->object.context);
            destroy_graph(&graph->object);
        }
        else {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphGetNodes, &context);

    if (status == CUDA_SUCCESS) {
        const emu_graph *graph = emu_object_get(hGraph, EMU_GRAPH);

        if (!graph || !numNodes || (nodes && *numNodes == 0)) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            const emu_graph_body *body = graph->body;

            for (size_t i = 0; nodes && i < *numNodes; i++) {
                nodes[i] = i < body->count ? body->nodes[i] : NULL;
            }
            if (!nodes || *numNodes > body->count) {
                *numNodes = body->count;
            }
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
        const emu_node *node = find_node(hNode);

        if (node && type) {
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
node_name(const emu_node *node)
{
    static const char *const types[] = {"KERNEL",     "MEMCPY",      "MEMSET",
                                        "HOST",       "GRAPH",       "EMPTY",
                                        "WAIT_EVENT", "EVENT_RECORD"};

    return node->work->name ? node->work->name(node->payload) : types[node->type];
}

static bool
draw(const emu_graph_body *body, FILE *file)
{
    bool good = fprintf(file, "digraph dot {\n") > 0;

    for (size_t i = 0; i < body->count; i++) {
        const emu_node *node = body->nodes[i];

        good &= fprintf(file, "    \"node_%zu\" [shape=\"box\" label=\"%zu\\n%s\"];\n",
                        i, i, node_name(node)) > 0;
        for (size_t k = 0; k < node->after_count; k++) {
            good &= fprintf(file, "    \"node_%u\" -> \"node_%zu\";\n", node->after[k],
                            i) > 0;
        }
    }
    return fprintf(file, "}\n") > 0 && good;
}

CUresult
emu_cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphDebugDotPrint, &context);

    (void)flags; /* what to write more of a node: there is no more */
    if (status == CUDA_SUCCESS) {
        const emu_graph *graph = emu_object_get(hGraph, EMU_GRAPH);
        FILE *file = graph && path ? fopen(path, "w") : NULL;

        if (!graph || !path) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else if (!file) {
            status = CUDA_ERROR_OPERATING_SYSTEM;
        }
        else {
            bool written = draw(graph->body, file);

            if (fclose(file) != 0 || !written) {
                status = CUDA_ERROR_OPERATING_SYSTEM;
            }
        }
    }
    return emu_leave(status);
}

/* -- executable graphs ------------------------------------------------------------- */

static void
destroy_exec(emu_object *object)
{
    graph_exec *exec = (graph_exec *)object;

    pthread_mutex_destroy(&exec->turn);
    emu_graph_body_release(exec->body);
    emu_object_free(object);
}

static CUresult
instantiate(emu_context *context, const emu_graph *graph, CUgraphExec *out)
{
    emu_graph_body *body = copy_body(graph->body);
    graph_exec *exec =
        body ? emu_object_new(EMU_GRAPH_EXEC, sizeof(*exec), context, destroy_exec)
             : NULL;

    if (!exec) {
        emu_graph_body_release(body);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    exec->body = body;
    pthread_mutex_init(&exec->turn, NULL);
    *out = exec;
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                unsigned long long flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphInstantiateWithFlags, &context);

    if (status == CUDA_SUCCESS) {
        const emu_graph *graph = emu_object_get(hGraph, EMU_GRAPH);

        if (!graph || !phGraphExec || flags > INSTANTIATE_FLAGS) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else if (flags & INSTANTIATE_DEVICE_LAUNCH) {
            status = CUDA_ERROR_NOT_SUPPORTED;
        }
        else {
            status = instantiate(context, graph, phGraphExec);
        }
    }
    return emu_leave(status);
}

/* The graph and stream of a call. */
static CUresult
find(emu_context *context, CUgraphExec handle, CUstream stream_handle,
     graph_exec **exec, emu_stream **stream)
{
    *exec = emu_object_get(handle, EMU_GRAPH_EXEC);
    *stream = emu_stream_get(context, stream_handle);
    if (!*exec) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* There is nothing to upload: the graph is where it will run. */
CUresult
emu_cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    emu_context *context;
    graph_exec *exec;
    emu_stream *stream;
    CUresult status = EMU_ENTER_CONTEXT(GraphUpload, &context);

    if (status == CUDA_SUCCESS) {
        status = find(context, hGraph, hStream, &exec, &stream);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_capture_refuse(stream);
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
    emu_context *context;
    graph_exec *exec;
    emu_stream *stream;
    CUresult status = EMU_ENTER_STREAM(GraphLaunch, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = find(context, hGraph, hStream, &exec, &stream);
    }
    if (status == CUDA_SUCCESS) {
        status = launch(context, exec, stream);
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphExecDestroy, &context);

    if (status == CUDA_SUCCESS) {
        graph_exec *exec = emu_object_get(hGraphExec, EMU_GRAPH_EXEC);

        if (exec && !emu_can_wait_unused(&exec->object)) {
            status = CUDA_ERROR_NOT_PERMITTED;
        }
        else if (exec) {
            emu_count_free(exec->object.context);
            emu_object_unlist(&exec->object); /* no new run */
            emu_wait_unused(&exec->object);
            destroy_exec(&exec->object);
        }
        else {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}
