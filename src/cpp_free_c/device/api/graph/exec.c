/* Executable graphs: instantiating, launching, destroying. See exec.h. */
#define _GNU_SOURCE
#include "device/api/graph/exec.h"

#include <stdlib.h>

#include "device/sync_check/stream_check.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"
#include "device/api/graph/node_kinds.h"
#include "device/api/stream/stream.h"
#include "device/api/entry/users.h"

enum {
    INSTANTIATE_FLAGS = 15 /* all flags */
};

emu_graph_exec *
emu_graph_exec_get(CUgraphExec handle)
{
    return emu_object_get(handle, EMU_GRAPH_EXEC);
}

emu_graph *
emu_graph_exec_change(emu_graph_exec *exec)
{
    if (exec->body->holders > 1) { /* a launch runs it */
        emu_graph *copy = emu_graph_copy_executable(exec->body);

        if (copy == NULL) {
            return NULL;
        }
        emu_exec_body_release(exec->body);
        exec->body = copy;
    }
    return exec->body;
}

/* -- making and destroying --------------------------------------------------------- */

static void
graph_exec_destroy(emu_object *object)
{
    emu_graph_exec *exec = (emu_graph_exec *)object;
    emu_graph *graph = emu_object_get_same(exec->graph, EMU_GRAPH, exec->source);

    if (graph != NULL) {
        graph->instances--;
    }
    emu_event_clock_close(&exec->clock);
    emu_exec_body_release(exec->body);
    emu_object_free(object);
}

/* Find a conditional handle of the graph that no node uses. */
static bool
graph_has_unused_handle(const emu_graph *graph)
{
    for (size_t i = 0; i < graph->conditionals.count; i++) {
        if (!emu_conditional_is_bound(graph->conditionals.handles[i])) {
            return true;
        }
    }
    return false;
}

/* Whether an executable graph may be made, and why not. */
static CUresult
graph_check_instance(const emu_graph *graph, uint64_t flags,
                     CUgraphInstantiateResult *result)
{
    const uint64_t both = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                          CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    const unsigned int once = EMU_NODES_MEMORY | EMU_NODES_CONDITIONAL;

    *result = CUDA_GRAPH_INSTANTIATE_ERROR;
    if (flags > INSTANTIATE_FLAGS || (flags & both) == both) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (graph->owner != NULL ||
        (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0 ||
        (graph->instances > 0 && emu_graph_has(graph, once))) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (graph_has_unused_handle(graph)) {
        *result = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult
graph_exec_new(emu_context *context, emu_graph *graph, uint64_t flags,
               CUDA_GRAPH_INSTANTIATE_PARAMS *said, CUgraphExec *out)
{
    emu_graph_exec *exec;
    emu_graph *body;

    said->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    CUresult status = emu_capture_graph_unsafe(graph);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = graph_check_instance(graph, flags, &said->result_out);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_graph_check_branches(graph, &said->result_out, &said->hErrNode_out);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_exec_body_new(graph, &body, &said->hErrNode_out);
    if (status == CUDA_ERROR_INVALID_VALUE) {
        said->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    }
    if (status != CUDA_SUCCESS) {
        return status;
    }
    exec = emu_object_new(EMU_GRAPH_EXEC, sizeof(*exec), context, graph_exec_destroy);
    if (exec == NULL) {
        emu_exec_body_release(body);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    exec->body = body;
    exec->flags = flags & ~(uint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    exec->graph = graph;
    exec->source = graph->object.serial;
    graph->instances++;
    said->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    *out = exec;
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphInstantiateWithFlags(emu_context *context, CUgraphExec *phGraphExec,
                                CUgraph hGraph, unsigned long long flags)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS said = {0};
    emu_graph *graph = emu_graph_get(hGraph);

    if (graph == NULL || phGraphExec == NULL ||
        (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return graph_exec_new(context, graph, flags, &said, phGraphExec);
}

CUresult
emu_cuGraphInstantiateWithParams(emu_context *context, CUgraphExec *phGraphExec,
                                 CUgraph hGraph,
                                 CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS *said = instantiateParams;
    emu_stream *stream;

    if (said == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_graph *graph = emu_graph_get(hGraph);

    said->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    said->hErrNode_out = NULL;
    if (graph == NULL || phGraphExec == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((said->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0) {
        CUresult status = emu_stream_find(context, said->hUploadStream, &stream);
        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    return graph_exec_new(context, graph, said->flags, said, phGraphExec);
}

EMU_GETTER(emu_cuGraphExecGetFlags, (emu_graph_exec * exec, cuuint64_t *flags), flags,
           exec->flags)

/* As on a GPU, this does not wait for the launches. */
CUresult
emu_cuGraphExecDestroy(emu_graph_exec *exec)
{
    if (exec->object.users == 0) {
        return emu_users_destroy(&exec->object);
    }
    emu_count_free(exec->object.context);
    emu_object_unlist(&exec->object);
    exec->is_orphan = true;
    return CUDA_SUCCESS;
}

/* -- launching --------------------------------------------------------------------- */

static void
graph_exec_end_body(const emu_graph *body)
{
    emu_lock();
    emu_exec_body_end(body);
    emu_unlock();
}

/* Run a body in a turn of the executable graph. What the nodes need is checked and kept
 * alive first, under the API lock. */
static CUresult
graph_exec_run_body(emu_graph_exec *exec, const emu_graph *body, emu_context *context,
                    emu_report *report)
{
    const bool frees =
        (exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
    uint64_t seed = 0;
    CUresult status;

    exec->runs++;
    if (emu_seed != 0) { /* the plain order hides a dependency that was forgotten */
        seed = emu_seed * UINT64_C(0x9E3779B97F4A7C15) + exec->runs;
    }
    emu_lock();
    status = emu_exec_body_begin(body, frees);
    emu_unlock();
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_exec_body_run(body, seed, context, report);
    if (status != EMU_GOES_ON) {
        graph_exec_end_body(body);
    }
    return status;
}

/* Wait until no other thread runs the executable graph, and take it. False: a nested
 * call, or a signal. */
static bool
graph_exec_take(emu_graph_exec *exec)
{
    bool ends = false;

    emu_lock();
    ends = exec->is_running && emu_wait_is_nested();
    emu_wait_set_stuck(exec->is_running && !ends);
    while (exec->is_running && !ends) {
        ends = emu_lock_wait();
    }
    emu_wait_set_stuck(false);
    exec->is_running |= !ends;
    emu_unlock();
    return !ends;
}

static void
graph_exec_give(emu_graph_exec *exec)
{
    emu_lock();
    exec->is_running = false;
    emu_lock_wake();
    emu_unlock();
}

/* Run the body when no other thread runs the executable graph. */
static CUresult
graph_exec_run(emu_graph_exec *exec, const emu_graph *body, emu_context *context,
               emu_report *report)
{
    CUresult status;

    if (!graph_exec_take(exec)) {
        return emu_wait_status();
    }
    status = emu_context_status(context);
    if (status == CUDA_SUCCESS) {
        status = graph_exec_run_body(exec, body, context, report);
    }
    if (status != EMU_GOES_ON) {
        graph_exec_give(exec);
    }
    return status;
}

/* A launch: changes of the executable graph during it are for later launches. */
typedef struct {
    emu_graph_exec *exec;
    emu_graph *body;
} exec_launch;

static CUresult
launch_begin(const void *payload)
{
    const exec_launch *launch = payload;

    emu_users_add(&launch->exec->object);
    launch->body->holders++;
    return CUDA_SUCCESS;
}

static void
launch_use(const void *payload, emu_operation *operation)
{
    const exec_launch *launch = payload;

    emu_exec_body_use(launch->body, operation);
}

static CUresult
launch_run(const void *payload, emu_context *context, emu_report *report)
{
    const exec_launch *launch = payload;

    emu_operation_record(emu_operation_present(), &launch->exec->clock);
    return graph_exec_run(launch->exec, launch->body, context, report);
}

static CUresult
launch_go_on(void *left, const void *payload, emu_context *context, emu_report *report)
{
    const exec_launch *launch = payload;
    const CUresult status = emu_exec_body_go_on(left, context, report);

    graph_exec_end_body(launch->body);
    graph_exec_give(launch->exec);
    return status;
}

static void
launch_end(const void *payload)
{
    const exec_launch *launch = payload;
    emu_object *exec = &launch->exec->object;

    emu_exec_body_release(launch->body);
    emu_users_remove(exec);
    if (launch->exec->is_orphan && exec->users == 0) {
        exec->destroy(exec);
    }
}

/* Whether no other stream runs it. */
static bool
launch_is_ready(const void *payload)
{
    const exec_launch *launch = payload;

    return !launch->exec->is_running;
}

static const emu_work launch_work = {.type = CU_GRAPH_NODE_TYPE_GRAPH,
                                     .begin = launch_begin,
                                     .use = launch_use,
                                     .run = launch_run,
                                     .go_on = launch_go_on,
                                     .end = launch_end,
                                     .is_ready = launch_is_ready};

/* The graph already is where it will run, so there is nothing to upload. */
CUresult
emu_cuGraphUpload(CUgraphExec hGraph, emu_stream *stream)
{
    if (emu_graph_exec_get(hGraph) == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_capture_refuse(stream);
}

CUresult
emu_cuGraphLaunch(CUgraphExec hGraph, emu_stream *stream)
{
    emu_graph_exec *exec = emu_graph_exec_get(hGraph);

    if (exec == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const exec_launch launch = {exec, exec->body};

    emu_lane_await(stream->lane, &exec->clock); /* it never runs twice at once */
    /* A GPU does not nest graphs by a capture either. */
    return emu_queue_submit(stream, &launch_work, &launch, sizeof(launch),
                            EMU_SUBMIT_PROMPTLY);
}
