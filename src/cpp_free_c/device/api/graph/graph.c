/* Graphs: making, copying, destroying, user objects and conditional handles. */
#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/release_count.h"
#include "device/api/graph/node_kinds.h"

CUresult
emu_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphCreate, &context);

    if (status == CUDA_SUCCESS && (phGraph == NULL || flags != 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        emu_graph *graph = emu_graph_new(context, NULL);

        if (graph != NULL) {
            *phGraph = graph;
        }
        else {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    emu_context *context;
    const emu_graph *graph = NULL;
    CUresult status = EMU_ENTER_CONTEXT(GraphClone, &context);

    if (status == CUDA_SUCCESS) {
        graph = emu_graph_get(originalGraph);
        if (graph == NULL || phGraphClone == NULL) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else if (emu_graph_has(graph, EMU_NODES_MEMORY | EMU_NODES_CONDITIONAL) ||
                 emu_graph_is_in_branch(graph)) {
            status = CUDA_ERROR_NOT_SUPPORTED;
        }
    }
    if (status == CUDA_SUCCESS) {
        emu_graph *copy = emu_graph_copy(context, graph, NULL);

        if (copy != NULL) {
            *phGraphClone = copy;
        }
        else {
            status = CUDA_ERROR_OUT_OF_MEMORY;
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
        emu_graph *graph = emu_graph_get(hGraph);

        if (graph == NULL || graph->owner != NULL) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else if (emu_graph_is_captured(graph)) {
            status = CUDA_ERROR_ILLEGAL_STATE;
        }
        else {
            emu_count_free(graph->object.context);
            emu_graph_destroy(&graph->object);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(GraphChildGraphNodeGetGraph, &context);

    if (status == CUDA_SUCCESS) {
        const emu_node *node = emu_node_get(hNode);

        if (node == NULL || phGraph == NULL ||
            node->work->type != CU_GRAPH_NODE_TYPE_GRAPH) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            *phGraph = node->bodies[0];
        }
    }
    return emu_leave(status);
}

/* -- conditional handles ----------------------------------------------------------- */

CUresult
emu_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out,
                                   CUgraph hGraph, CUcontext ctx,
                                   unsigned int defaultLaunchValue, unsigned int flags)
{
    emu_context *context;
    emu_graph *graph = NULL;
    CUresult status = EMU_ENTER_CONTEXT(GraphConditionalHandleCreate, &context);

    if (status == CUDA_SUCCESS) {
        graph = emu_graph_get(hGraph);
        context = emu_context_get(ctx);
        if (graph == NULL || pHandle_out == NULL ||
            flags > CU_GRAPH_COND_ASSIGN_DEFAULT) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else if (context == NULL) {
            status = CUDA_ERROR_INVALID_CONTEXT;
        }
    }
    if (status == CUDA_SUCCESS) {
        *pHandle_out =
            emu_conditional_new(&graph->conditionals, context, defaultLaunchValue,
                                flags == CU_GRAPH_COND_ASSIGN_DEFAULT);
        if (*pHandle_out == 0) {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return emu_leave(status);
}

/* -- user objects ------------------------------------------------------------------ */

enum { MOST_REFERENCES = 0x7fffffff };

static bool
references_are_valid(unsigned int count)
{
    return count > 0 && count <= MOST_REFERENCES;
}

CUresult
emu_cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
                       unsigned int initialRefcount, unsigned int flags)
{
    CUresult status = EMU_ENTER(UserObjectCreate);

    if (status == CUDA_SUCCESS && (object_out == NULL || destroy == NULL ||
                                   !references_are_valid(initialRefcount) ||
                                   flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        emu_user_object *object = emu_user_object_new(ptr, destroy, initialRefcount);

        if (object != NULL) {
            *object_out = object;
        }
        else {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    CUresult status = EMU_ENTER(UserObjectRetain);

    if (status == CUDA_SUCCESS) {
        emu_user_object *found = emu_user_object_get(object);

        if (found == NULL || !references_are_valid(count)) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            found->count += count;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    CUresult status = EMU_ENTER(UserObjectRelease);

    if (status == CUDA_SUCCESS) {
        emu_user_object *found = emu_user_object_get(object);

        if (found == NULL || !references_are_valid(count)) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            emu_user_object_release(found, count);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                            unsigned int flags)
{
    CUresult status = EMU_ENTER(GraphRetainUserObject);

    if (status == CUDA_SUCCESS) {
        emu_graph *owner = emu_graph_get(graph);
        emu_user_object *found = emu_user_object_get(object);

        if (owner == NULL || found == NULL || !references_are_valid(count) ||
            flags > CU_GRAPH_USER_OBJECT_MOVE) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else if (!emu_user_references_add(&owner->references, found, count,
                                          flags != CU_GRAPH_USER_OBJECT_MOVE)) {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    CUresult status = EMU_ENTER(GraphReleaseUserObject);

    if (status == CUDA_SUCCESS) {
        emu_graph *owner = emu_graph_get(graph);
        emu_user_object *found = emu_user_object_get(object);

        if (owner == NULL || found == NULL || !references_are_valid(count) ||
            !emu_user_references_remove(&owner->references, found, count)) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return emu_leave(status);
}
