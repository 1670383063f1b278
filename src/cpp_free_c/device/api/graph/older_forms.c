/* The first forms of calls on graphs and captures: without data of edges, with kernel
 * nodes that know no libraries. Each forwards to the present form. */
#include <string.h>

#include "device/api/entry/call.h"
#include "device/api/entry/turn.h"

CUresult
emu_cuGraphGetEdges_v1(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                       size_t *numEdges)
{
    return emu_cuGraphGetEdges(hGraph, from, to, NULL, numEdges);
}

CUresult
emu_cuGraphNodeGetDependencies_v1(CUgraphNode hNode, CUgraphNode *dependencies,
                                  size_t *numDependencies)
{
    return emu_cuGraphNodeGetDependencies(hNode, dependencies, NULL, numDependencies);
}

CUresult
emu_cuGraphNodeGetDependentNodes_v1(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                    size_t *numDependentNodes)
{
    return emu_cuGraphNodeGetDependentNodes(hNode, dependentNodes, NULL,
                                            numDependentNodes);
}

CUresult
emu_cuGraphAddDependencies_v1(CUgraph hGraph, const CUgraphNode *from,
                              const CUgraphNode *to, size_t numDependencies)
{
    return emu_cuGraphAddDependencies(hGraph, from, to, NULL, numDependencies);
}

CUresult
emu_cuGraphRemoveDependencies_v1(CUgraph hGraph, const CUgraphNode *from,
                                 const CUgraphNode *to, size_t numDependencies)
{
    return emu_cuGraphRemoveDependencies(hGraph, from, to, NULL, numDependencies);
}

CUresult
emu_cuGraphAddNode_v1(emu_context *context, CUgraphNode *phGraphNode, CUgraph hGraph,
                      const CUgraphNode *dependencies, size_t numDependencies,
                      CUgraphNodeParams *nodeParams)
{
    return emu_cuGraphAddNode(context, phGraphNode, hGraph, dependencies, NULL,
                              numDependencies, nodeParams);
}

/* The first form of a kernel's parameters is the beginning of the present one. */
static CUDA_KERNEL_NODE_PARAMS
kernel_params(const CUDA_KERNEL_NODE_PARAMS_v1 *old)
{
    CUDA_KERNEL_NODE_PARAMS params = {.func = NULL};

    memcpy(&params, old, sizeof(*old));
    return params;
}

CUresult
emu_cuGraphAddKernelNode_v1(emu_context *context, CUgraphNode *phGraphNode,
                            CUgraph hGraph, const CUgraphNode *dependencies,
                            size_t numDependencies,
                            const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    if (nodeParams == NULL) {
        return emu_cuGraphAddKernelNode(context, phGraphNode, hGraph, dependencies,
                                        numDependencies, NULL);
    }
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(nodeParams);
    return emu_cuGraphAddKernelNode(context, phGraphNode, hGraph, dependencies,
                                    numDependencies, &params);
}

CUresult
emu_cuGraphKernelNodeGetParams_v1(CUgraphNode hNode,
                                  CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;

    if (nodeParams == NULL) {
        return emu_cuGraphKernelNodeGetParams(hNode, NULL);
    }
    CUresult status = emu_cuGraphKernelNodeGetParams(hNode, &params);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    memcpy(nodeParams, &params, sizeof(*nodeParams));
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphKernelNodeSetParams_v1(emu_context *context, CUgraphNode hNode,
                                  const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    if (nodeParams == NULL) {
        return emu_cuGraphKernelNodeSetParams(context, hNode, NULL);
    }
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(nodeParams);
    return emu_cuGraphKernelNodeSetParams(context, hNode, &params);
}

CUresult
emu_cuGraphExecKernelNodeSetParams_v1(emu_context *context, CUgraphExec hGraphExec,
                                      CUgraphNode hNode,
                                      const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    if (nodeParams == NULL) {
        return emu_cuGraphExecKernelNodeSetParams(context, hGraphExec, hNode, NULL);
    }
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(nodeParams);
    return emu_cuGraphExecKernelNodeSetParams(context, hGraphExec, hNode, &params);
}

CUresult
emu_cuGraphInstantiate_v1(emu_context *context, CUgraphExec *phGraphExec,
                          CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                          size_t bufferSize)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = 0};
    CUresult status =
        emu_cuGraphInstantiateWithParams(context, phGraphExec, hGraph, &params);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (phErrorNode != NULL) {
        *phErrorNode = params.hErrNode_out;
    }
    if (logBuffer != NULL && bufferSize > 0) {
        logBuffer[0] = '\0';
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphExecUpdate_v1(CUgraphExec hGraphExec, CUgraph hGraph,
                         CUgraphNode *hErrorNode_out,
                         CUgraphExecUpdateResult *updateResult_out)
{
    CUgraphExecUpdateResultInfo info = {.result = 0};
    CUresult status = emu_cuGraphExecUpdate(hGraphExec, hGraph, &info);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (hErrorNode_out != NULL) {
        *hErrorNode_out = info.errorNode;
    }
    if (updateResult_out != NULL) {
        *updateResult_out = info.result;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamBeginCapture_v1(emu_stream *stream)
{
    return emu_cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult
emu_cuStreamGetCaptureInfo_v1(emu_stream *stream,
                              CUstreamCaptureStatus *captureStatus_out,
                              cuuint64_t *id_out)
{
    return emu_cuStreamGetCaptureInfo(stream, captureStatus_out, id_out, NULL, NULL,
                                      NULL, NULL);
}

CUresult
emu_cuStreamGetCaptureInfo_v2(emu_stream *stream,
                              CUstreamCaptureStatus *captureStatus_out,
                              cuuint64_t *id_out, CUgraph *graph_out,
                              const CUgraphNode **dependencies_out,
                              size_t *numDependencies_out)
{
    return emu_cuStreamGetCaptureInfo(stream, captureStatus_out, id_out, graph_out,
                                      dependencies_out, NULL, numDependencies_out);
}

CUresult
emu_cuStreamUpdateCaptureDependencies_v1(emu_stream *stream, CUgraphNode *dependencies,
                                         size_t numDependencies, unsigned int flags)
{
    return emu_cuStreamUpdateCaptureDependencies(stream, dependencies, NULL,
                                                 numDependencies, flags);
}
