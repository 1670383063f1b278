/* What the kernels of libraries use: read from the nodes of a captured graph.
 *
 * cuBLAS, cuFFT and other libraries launch kernels themselves, so no hook sees their
 * parameters. At the end of a capture that has more nodes than the hooks have seen, the
 * parameters of all kernels are read. The driver reports them since CUDA 12.4.
 *
 * A function of the host that was captured is noted as well: see graph_exec.h.
 *
 * Invariant: see graph.h. Caller: stream_capture.c. */
#include "python/driver/graph/graph.h"

#include "python/support/driver_call.h"

/* Note the words of one kernel. What the driver does not report is left out. */
static int
scan_kernel(pcu_graph_resources *resources, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS params = {0};
    size_t offset = 0;
    size_t size = 0;
    int rc = 0;
    if (drv.GraphKernelNodeGetParams(node, &params) != CUDA_SUCCESS ||
        params.kernelParams == NULL || params.func == NULL) {
        return 0;
    }
    for (size_t i = 0; rc == 0 && drv.FuncGetParamInfo(params.func, i, &offset,
                                                       &size) == CUDA_SUCCESS;
         i++) {
        rc = pcu_graph_resources_keep_words(resources, params.kernelParams[i], size);
    }
    return rc;
}

int
pcu_graph_scan(pcu_graph *graph)
{
    CUgraph handle = graph->head.handle.graph;
    pcu_state *st = graph->head.st;
    size_t count = 0;
    int rc;
    PCU_CALL(rc, st, GraphGetNodes, (handle, NULL, &count));
    if (rc < 0 || count <= graph->resources->seen) {
        return rc;
    }
    CUgraphNode *nodes = PyMem_Calloc(count, sizeof(*nodes));
    if (nodes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    PCU_CALL(rc, st, GraphGetNodes, (handle, nodes, &count));
    for (size_t i = 0; rc == 0 && i < count; i++) {
        CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
        PCU_CALL(rc, st, GraphNodeGetType, (nodes[i], &type));
        if (type == CU_GRAPH_NODE_TYPE_HOST || type == CU_GRAPH_NODE_TYPE_GRAPH) {
            graph->resources->calls_host = 1; /* a child may have such a node, too */
        }
        if (rc == 0 && type == CU_GRAPH_NODE_TYPE_KERNEL) {
            rc = scan_kernel(graph->resources, nodes[i]);
        }
    }
    PyMem_Free(nodes);
    return rc;
}
