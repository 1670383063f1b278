/* Executable graphs: instantiating, launching, destroying.
 *
 * An executable graph has its own copy of the graph's body, which never changes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "device/machine/warp/wait.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/entry.h"
#include "device/api/stream/graph.h"
#include "device/api/entry/message.h"
#include "device/api/stream/stream.h"
#include "device/api/entry/users.h"

enum {
    INSTANTIATE_DEVICE_LAUNCH = 4,
    INSTANTIATE_FLAGS = 15 /* all flags */
};

typedef struct CUgraphExec_st {
    emu_object object;
    emu_graph_body *body;
    pthread_mutex_t turn; /* one run at a time; taken after the stream's */
    uint64_t runs;        /* guarded by turn */
} graph_exec;

static void
graph_exec_destroy(emu_object *object)
{
    graph_exec *exec = (graph_exec *)object;

    pthread_mutex_destroy(&exec->turn);
    emu_graph_body_release(exec->body);
    emu_object_free(object);
}

static CUresult
graph_exec_new(emu_context *context, const emu_graph *graph, CUgraphExec *out)
{
    emu_graph_body *body = emu_graph_body_copy(graph->body);
    graph_exec *exec = NULL;

    if (body != NULL) {
        exec =
            emu_object_new(EMU_GRAPH_EXEC, sizeof(*exec), context, graph_exec_destroy);
    }
    if (exec == NULL) {
        emu_graph_body_release(body);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    exec->body = body;
    pthread_mutex_init(&exec->turn, NULL);
    *out = exec;
    return CUDA_SUCCESS;
}

/* -- running ----------------------------------------------------------------------- */

/* The order by number hides a dependency that the program forgot, so a seed asks for
 * another order in each run. */
static CUresult
graph_exec_run_nodes(graph_exec *exec, emu_context *context, emu_report *report)
{
    const emu_graph_body *body = exec->body;
    uint32_t *order = NULL;
    CUresult status = CUDA_SUCCESS;

    exec->runs++;
    if (emu_seed != 0) {
        order = emu_graph_body_shuffled(
            body, emu_seed * UINT64_C(0x9E3779B97F4A7C15) + exec->runs);
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < body->count; i++) {
        const emu_node *node = body->nodes[order != NULL ? order[i] : i];

        if (node->work->run != NULL) {
            status = node->work->run(node->payload, context, report);
        }
    }
    free(order);
    return status;
}

/* Run the nodes when no other thread runs them. */
static CUresult
graph_exec_run(graph_exec *exec, emu_context *context, emu_report *report)
{
    CUresult status;

    if (!emu_wait_mutex(&exec->turn)) {
        return emu_wait_status();
    }
    status = (CUresult)atomic_load(&context->sticky);
    if (status == CUDA_SUCCESS) {
        status = graph_exec_run_nodes(exec, context, report);
    }
    pthread_mutex_unlock(&exec->turn);
    return status;
}

static CUresult
graph_exec_launch(emu_context *context, graph_exec *exec, emu_stream *stream)
{
    emu_report report = {.text = ""};
    CUresult status;
    int token;

    status =
        emu_capture_refuse(stream); /* a GPU does not nest graphs like that either */
    if (status == CUDA_SUCCESS) {
        status = emu_graph_body_begin(exec->body);
    }
    if (status != CUDA_SUCCESS) {
        return status;
    }
    emu_users_add(&exec->object);
    token = emu_stream_begin(stream);
    if (token < 0) {
        status = emu_wait_status();
    }
    else {
        status = graph_exec_run(exec, context, &report);
        emu_stream_end(stream, token);
    }
    emu_graph_body_end(exec->body);
    emu_users_remove(&exec->object);
    if (report.text[0] != 0) {
        emu_message_set("%s", report.text);
    }
    if (atomic_load(&context->sticky) != 0) {
        return CUDA_SUCCESS; /* as on a GPU, the next call reports the fault */
    }
    return status;
}

/* -- entry points ------------------------------------------------------------------ */

CUresult
emu_cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                unsigned long long flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphInstantiateWithFlags, &context);

    if (status == CUDA_SUCCESS) {
        const emu_graph *graph = emu_object_get(hGraph, EMU_GRAPH);

        if (graph == NULL || phGraphExec == NULL || flags > INSTANTIATE_FLAGS) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else if ((flags & INSTANTIATE_DEVICE_LAUNCH) != 0) {
            status = CUDA_ERROR_NOT_SUPPORTED;
        }
        else {
            status = graph_exec_new(context, graph, phGraphExec);
        }
    }
    return emu_leave(status);
}

/* Find the graph and the stream of a call. */
static CUresult
graph_exec_find(emu_context *context, CUgraphExec handle, CUstream stream_handle,
                graph_exec **exec, emu_stream **stream)
{
    *exec = emu_object_get(handle, EMU_GRAPH_EXEC);
    if (*exec == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_stream_find(context, stream_handle, stream);
}

/* The graph already is where it will run, so there is nothing to upload. */
CUresult
emu_cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    emu_context *context;
    graph_exec *exec;
    emu_stream *stream;
    CUresult status = EMU_ENTER_CONTEXT(GraphUpload, &context);

    if (status == CUDA_SUCCESS) {
        status = graph_exec_find(context, hGraph, hStream, &exec, &stream);
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
        status = graph_exec_find(context, hGraph, hStream, &exec, &stream);
    }
    if (status == CUDA_SUCCESS) {
        status = graph_exec_launch(context, exec, stream);
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

        if (exec == NULL) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            status = emu_users_destroy(&exec->object);
        }
    }
    return emu_leave(status);
}
