/* The calls that add nodes of each kind, and read and write their parameters.
 *
 * Each call converts its parameters to CUgraphNodeParams, which all kinds share. */
#include <stdlib.h>
#include <string.h>

#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/graph/exec.h"
#include "device/api/graph/node_kinds.h"
#include "device/api/module/launch_work.h"

/* -- steps of all calls ------------------------------------------------------------ */

/* Add a node after those that the call names. */
static CUresult
node_add(emu_context *context, CUgraphNode *out, CUgraph handle,
         const CUgraphNode *dependencies, const CUgraphEdgeData *data, size_t count,
         CUgraphNodeParams *params)
{
    emu_graph *graph = emu_graph_get(handle);
    emu_edges after = {0};
    emu_node *node;
    CUresult status;

    if (graph == NULL || out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    status = emu_edges_read(graph, dependencies, data, count, true, &after);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_node_add(context, graph, &after, params, &node);
    emu_edges_clear(&after);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *out = node;
    return CUDA_SUCCESS;
}

/* Describe a node, which must be of a type. */
static CUresult
node_describe(const emu_node *node, CUgraphNodeType type, CUgraphNodeParams *params)
{
    if (node->work->type != type) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    node->work->describe(node->payload.data, params);
    return CUDA_SUCCESS;
}

/* Give a node a copy of a payload. A kernel node keeps its attributes. */
static CUresult
node_replace(emu_node *node, emu_payload payload)
{
    if (node->work->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        CUresult status =
            emu_kernel_node_copy_attributes(payload.data, node->payload.data);

        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    if (!emu_node_set_payload(node, payload.data, payload.size)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

/* Give a node new parameters. */
static CUresult
node_set(emu_context *context, CUgraphNode handle, CUgraphNodeParams *params)
{
    const unsigned int fixed = EMU_NODES_MEMORY | EMU_NODES_CONDITIONAL |
                               1u << CU_GRAPH_NODE_TYPE_GRAPH |
                               1u << CU_GRAPH_NODE_TYPE_EMPTY;
    emu_node *node = emu_node_get(handle);
    emu_payload payload;

    if (node == NULL || node->work->type != params->type) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((1u << params->type & fixed) != 0) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    CUresult status = emu_node_make(context, node->graph, params, &payload);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = node_replace(node, payload);
    emu_node_discard(node->work, payload);
    return status;
}

/* The context that a call names, or that of the thread for NULL. */
static CUresult
node_context(CUcontext handle, emu_context **context)
{
    if (handle != NULL) {
        *context = emu_context_get(handle);
    }
    if (*context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return CUDA_SUCCESS;
}

/* -- all kinds --------------------------------------------------------------------- */

/* Whether the bytes that the program must set to 0 are 0. */
static bool
params_are_clean(const CUgraphNodeParams *params)
{
    static const int zeros[3];

    return params != NULL && memcmp(params->reserved0, zeros, sizeof(zeros)) == 0 &&
           params->reserved2 == 0;
}

CUresult
emu_cuGraphAddNode(emu_context *context, CUgraphNode *phGraphNode, CUgraph hGraph,
                   const CUgraphNode *dependencies,
                   const CUgraphEdgeData *dependencyData, size_t numDependencies,
                   CUgraphNodeParams *nodeParams)
{
    if (!params_are_clean(nodeParams)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return node_add(context, phGraphNode, hGraph, dependencies, dependencyData,
                    numDependencies, nodeParams);
}

CUresult
emu_cuGraphNodeSetParams(emu_context *context, CUgraphNode hNode,
                         CUgraphNodeParams *nodeParams)
{
    if (!params_are_clean(nodeParams)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return node_set(context, hNode, nodeParams);
}

CUresult
emu_cuGraphExecNodeSetParams(emu_context *context, CUgraphExec hGraphExec,
                             CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    if (!params_are_clean(nodeParams)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_exec_set(context, hGraphExec, hNode, nodeParams);
}

/* -- one kind ---------------------------------------------------------------------- */

#define DEPENDENCIES                                                \
    emu_context *context, CUgraphNode *phGraphNode, CUgraph hGraph, \
        const CUgraphNode *dependencies, size_t numDependencies

/* A call that adds a node. `good`: whether the arguments may be read; `target`: the
 * context that the call names, or NULL. */
#define ADD_NODE(name, parameters, kind, good, target, ...)               \
    CUresult emu_cuGraph##name parameters                                 \
    {                                                                     \
        CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_##kind};   \
                                                                          \
        if (!(good)) {                                                    \
            return CUDA_ERROR_INVALID_VALUE;                              \
        }                                                                 \
        CUresult status = node_context(target, &context);                 \
        if (status != CUDA_SUCCESS) {                                     \
            return status;                                                \
        }                                                                 \
        __VA_ARGS__;                                                      \
        return node_add(context, phGraphNode, hGraph, dependencies, NULL, \
                        numDependencies, &params);                        \
    }

/* A call that stores the parameters of a node of a kind. */
#define GET_PARAMS(name, Type, kind, value)                                        \
    CUresult emu_cuGraph##name(emu_node *node, Type *out)                          \
    {                                                                              \
        CUgraphNodeParams params;                                                  \
                                                                                   \
        if (out == NULL) {                                                         \
            return CUDA_ERROR_INVALID_VALUE;                                       \
        }                                                                          \
        CUresult status = node_describe(node, CU_GRAPH_NODE_TYPE_##kind, &params); \
        if (status != CUDA_SUCCESS) {                                              \
            return status;                                                         \
        }                                                                          \
        *out = value;                                                              \
        return CUDA_SUCCESS;                                                       \
    }

/* The calls that change the parameters of a node of a kind, in a graph and in an
 * executable graph. */
#define SET_PARAMS(name, Type, kind, good, ...)       \
    SET_IN_GRAPH(name, Type, kind, good, __VA_ARGS__) \
    SET_IN_EXEC(name, (CHANGED_NODE, Type given), kind, good, __VA_ARGS__)

#define SET_IN_GRAPH(name, Type, kind, good, ...)                                   \
    CUresult emu_cuGraph##name(emu_context *context, CUgraphNode hNode, Type given) \
    {                                                                               \
        CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_##kind};             \
                                                                                    \
        if (!(good)) {                                                              \
            return CUDA_ERROR_INVALID_VALUE;                                        \
        }                                                                           \
        __VA_ARGS__;                                                                \
        return node_set(context, hNode, &params);                                   \
    }

#define SET_IN_EXEC(name, parameters, kind, good, ...)                  \
    CUresult emu_cuGraphExec##name parameters                           \
    {                                                                   \
        CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_##kind}; \
                                                                        \
        if (!(good)) {                                                  \
            return CUDA_ERROR_INVALID_VALUE;                            \
        }                                                               \
        __VA_ARGS__;                                                    \
        return emu_exec_set(context, hGraphExec, hNode, &params);       \
    }

#define CHANGED_NODE emu_context *context, CUgraphExec hGraphExec, CUgraphNode hNode

/* The parameters of fills in the two forms that the calls have. */
static CUDA_MEMSET_NODE_PARAMS_v2
fill_params_widen(const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
    return (CUDA_MEMSET_NODE_PARAMS_v2){p->dst,   p->pitch,  p->value, p->elementSize,
                                        p->width, p->height, context};
}

static CUDA_MEMSET_NODE_PARAMS
fill_params_narrow(const CUDA_MEMSET_NODE_PARAMS_v2 *p)
{
    return (CUDA_MEMSET_NODE_PARAMS){p->dst,         p->pitch, p->value,
                                     p->elementSize, p->width, p->height};
}

/* clang-format off */
ADD_NODE(AddKernelNode, (DEPENDENCIES, const CUDA_KERNEL_NODE_PARAMS *nodeParams),
         KERNEL, nodeParams != NULL, NULL, params.kernel = *nodeParams)
GET_PARAMS(KernelNodeGetParams, CUDA_KERNEL_NODE_PARAMS, KERNEL, params.kernel)
SET_PARAMS(KernelNodeSetParams, const CUDA_KERNEL_NODE_PARAMS *, KERNEL, given != NULL,
           params.kernel = *given)

ADD_NODE(AddMemcpyNode, (DEPENDENCIES, const CUDA_MEMCPY3D *copyParams, CUcontext ctx),
         MEMCPY, copyParams != NULL, ctx, params.memcpy.copyParams = *copyParams)
GET_PARAMS(MemcpyNodeGetParams, CUDA_MEMCPY3D, MEMCPY, params.memcpy.copyParams)
SET_IN_GRAPH(MemcpyNodeSetParams, const CUDA_MEMCPY3D *, MEMCPY, given != NULL,
             params.memcpy.copyParams = *given)
SET_IN_EXEC(MemcpyNodeSetParams,
            (CHANGED_NODE, const CUDA_MEMCPY3D *given, CUcontext ctx), MEMCPY,
            given != NULL && (ctx == NULL || emu_context_get(ctx) != NULL),
            params.memcpy.copyParams = *given)

ADD_NODE(AddMemsetNode,
         (DEPENDENCIES, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx),
         MEMSET, memsetParams != NULL, ctx,
         params.memset = fill_params_widen(memsetParams, ctx))
GET_PARAMS(MemsetNodeGetParams, CUDA_MEMSET_NODE_PARAMS, MEMSET,
           fill_params_narrow(&params.memset))
SET_IN_GRAPH(MemsetNodeSetParams, const CUDA_MEMSET_NODE_PARAMS *, MEMSET,
             given != NULL, params.memset = fill_params_widen(given, NULL))
SET_IN_EXEC(MemsetNodeSetParams,
            (CHANGED_NODE, const CUDA_MEMSET_NODE_PARAMS *given, CUcontext ctx), MEMSET,
            given != NULL && (ctx == NULL || emu_context_get(ctx) != NULL),
            params.memset = fill_params_widen(given, NULL))

ADD_NODE(AddHostNode, (DEPENDENCIES, const CUDA_HOST_NODE_PARAMS *nodeParams), HOST,
         nodeParams != NULL, NULL, params.host = *nodeParams)
GET_PARAMS(HostNodeGetParams, CUDA_HOST_NODE_PARAMS, HOST, params.host)
SET_PARAMS(HostNodeSetParams, const CUDA_HOST_NODE_PARAMS *, HOST, given != NULL,
           params.host = *given)

ADD_NODE(AddChildGraphNode, (DEPENDENCIES, CUgraph childGraph), GRAPH, true, NULL,
         params.graph.graph = childGraph)
SET_IN_EXEC(ChildGraphNodeSetParams, (CHANGED_NODE, CUgraph given), GRAPH, true,
            params.graph.graph = given)
ADD_NODE(AddEmptyNode, (DEPENDENCIES), EMPTY, true, NULL, (void)params)

ADD_NODE(AddEventRecordNode, (DEPENDENCIES, CUevent event), EVENT_RECORD, true, NULL,
         params.eventRecord.event = event)
GET_PARAMS(EventRecordNodeGetEvent, CUevent, EVENT_RECORD, params.eventRecord.event)
SET_PARAMS(EventRecordNodeSetEvent, CUevent, EVENT_RECORD, true,
           params.eventRecord.event = given)

ADD_NODE(AddEventWaitNode, (DEPENDENCIES, CUevent event), WAIT_EVENT, true, NULL,
         params.eventWait.event = event)
GET_PARAMS(EventWaitNodeGetEvent, CUevent, WAIT_EVENT, params.eventWait.event)
SET_PARAMS(EventWaitNodeSetEvent, CUevent, WAIT_EVENT, true,
           params.eventWait.event = given)

ADD_NODE(AddBatchMemOpNode,
         (DEPENDENCIES, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams), BATCH_MEM_OP,
         nodeParams != NULL, nodeParams->ctx, params.memOp = *nodeParams)
GET_PARAMS(BatchMemOpNodeGetParams, CUDA_BATCH_MEM_OP_NODE_PARAMS, BATCH_MEM_OP,
           params.memOp)
SET_PARAMS(BatchMemOpNodeSetParams, const CUDA_BATCH_MEM_OP_NODE_PARAMS *, BATCH_MEM_OP,
           given != NULL, params.memOp = *given)

ADD_NODE(AddMemFreeNode, (DEPENDENCIES, CUdeviceptr dptr), MEM_FREE, true, NULL,
         params.free.dptr = dptr)
GET_PARAMS(MemAllocNodeGetParams, CUDA_MEM_ALLOC_NODE_PARAMS, MEM_ALLOC, params.alloc)
GET_PARAMS(MemFreeNodeGetParams, CUdeviceptr, MEM_FREE, params.free.dptr)
/* clang-format on */

CUresult
emu_cuGraphAddMemAllocNode(DEPENDENCIES, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    if (nodeParams == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                                .alloc = *nodeParams};
    CUresult status = node_add(context, phGraphNode, hGraph, dependencies, NULL,
                               numDependencies, &params);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    nodeParams->dptr = params.alloc.dptr;
    return CUDA_SUCCESS;
}

/* -- attributes of kernel nodes ---------------------------------------------------- */

static bool
node_is_kernel(const emu_node *node)
{
    return node != NULL && node->work->type == CU_GRAPH_NODE_TYPE_KERNEL;
}

CUresult
emu_cuGraphKernelNodeCopyAttributes(emu_node *to, CUgraphNode src)
{
    const emu_node *from = emu_node_get(src);

    if (!node_is_kernel(to) || !node_is_kernel(from)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_kernel_node_copy_attributes(to->payload.data, from->payload.data);
}

CUresult
emu_cuGraphKernelNodeGetAttribute(emu_node *node, CUlaunchAttributeID attr,
                                  CUlaunchAttributeValue *value_out)
{
    if (!node_is_kernel(node) || value_out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_kernel_node_get_attribute(node->payload.data, attr, value_out);
}

CUresult
emu_cuGraphKernelNodeSetAttribute(emu_node *node, CUlaunchAttributeID attr,
                                  const CUlaunchAttributeValue *value)
{
    if (!node_is_kernel(node) || value == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_kernel_node_set_attribute(node->payload.data, attr, value);
}
