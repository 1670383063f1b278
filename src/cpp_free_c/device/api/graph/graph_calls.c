/* The calls on graphs: making, copying, destroying, user objects and conditional
 * handles. The graph itself, its nodes and edges (emu_graph_add) are in entry/graph.c,
 * because captures add to them. */
#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/users.h"
#include "device/api/graph/node_kinds.h"

CUresult
emu_cuGraphCreate(emu_context *context, CUgraph *phGraph, unsigned int flags)
{
    if (phGraph == NULL || flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_graph *graph = emu_graph_new(context, NULL);

    if (graph == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phGraph = graph;
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphClone(emu_context *context, CUgraph *phGraphClone, CUgraph originalGraph)
{
    const emu_graph *graph = emu_graph_get(originalGraph);

    if (graph == NULL || phGraphClone == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_graph_has(graph, EMU_NODES_MEMORY | EMU_NODES_CONDITIONAL) ||
        emu_graph_is_in_branch(graph)) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    emu_graph *copy = emu_graph_copy(context, graph, NULL);

    if (copy == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phGraphClone = copy;
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphDestroy(emu_graph *graph)
{
    if (graph->owner != NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_graph_is_captured(graph)) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    emu_count_free(graph->object.context);
    emu_graph_destroy(&graph->object);
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphChildGraphNodeGetGraph(emu_node *node, CUgraph *phGraph)
{
    if (phGraph == NULL || node->work->type != CU_GRAPH_NODE_TYPE_GRAPH) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *phGraph = node->bodies[0];
    return CUDA_SUCCESS;
}

/* -- conditional handles ----------------------------------------------------------- */

CUresult
emu_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out,
                                   emu_graph *graph, CUcontext ctx,
                                   unsigned int defaultLaunchValue, unsigned int flags)
{
    emu_context *context = emu_context_get(ctx);

    if (pHandle_out == NULL || flags > CU_GRAPH_COND_ASSIGN_DEFAULT) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *pHandle_out =
        emu_conditional_new(&graph->conditionals, context, defaultLaunchValue,
                            flags == CU_GRAPH_COND_ASSIGN_DEFAULT);
    if (*pHandle_out == 0) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
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
    if (object_out == NULL || destroy == NULL ||
        !references_are_valid(initialRefcount) ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_user_object *object = emu_user_object_new(ptr, destroy, initialRefcount);

    if (object == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *object_out = object;
    return CUDA_SUCCESS;
}

CUresult
emu_cuUserObjectRetain(emu_user_object *object, unsigned int count)
{
    if (!references_are_valid(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    object->count += count;
    return CUDA_SUCCESS;
}

CUresult
emu_cuUserObjectRelease(emu_user_object *object, unsigned int count)
{
    if (!references_are_valid(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_user_object_release(object, count);
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                            unsigned int flags)
{
    emu_graph *owner = emu_graph_get(graph);
    emu_user_object *found = emu_user_object_get(object);

    if (owner == NULL || found == NULL || !references_are_valid(count) ||
        flags > CU_GRAPH_USER_OBJECT_MOVE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!emu_user_references_add(&owner->references, found, count,
                                 flags != CU_GRAPH_USER_OBJECT_MOVE)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    emu_graph *owner = emu_graph_get(graph);
    emu_user_object *found = emu_user_object_get(object);

    if (owner == NULL || found == NULL || !references_are_valid(count) ||
        !emu_user_references_remove(&owner->references, found, count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
