/* Changes of executable graphs: of one node, and of all nodes as another graph has
 * them. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/graph/exec.h"
#include "device/api/graph/node_kinds.h"
#include "device/api/module/launch_work.h"

/* -- one node ---------------------------------------------------------------------- */

/* Whether a node may get a payload, as a code of the calls on one node. */
static CUresult
exec_node_check(const emu_node *node, const void *payload)
{
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;

    if (node->work->compare != NULL) {
        result = node->work->compare(node->payload.data, payload, false);
    }
    if (result == CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* Find the copy of a node in an executable graph. A launch may use it. */
static CUresult
exec_find_node(CUgraphExec handle, CUgraphNode node_handle, emu_graph_exec **exec,
               emu_node **source, emu_node **node)
{
    *exec = emu_graph_exec_get(handle);
    *source = emu_node_get(node_handle);
    if (*exec == NULL || *source == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *node = emu_exec_body_find((*exec)->body, (*source)->object.serial);
    if (*node == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* Find it for a change. */
static CUresult
exec_change_node(emu_graph_exec *exec, const emu_node *source, emu_node **node)
{
    emu_graph *body = emu_graph_exec_change(exec);

    if (body == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *node = emu_exec_body_find(body, source->object.serial);
    return CUDA_SUCCESS;
}

/* Give a node the payload, if its kind allows that. A kernel node keeps its attributes.
 */
static CUresult
exec_node_replace(emu_graph_exec *exec, const emu_node *source, emu_node *node,
                  emu_payload payload)
{
    CUresult status = CUDA_SUCCESS;

    if (node->work->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        status = emu_kernel_node_copy_attributes(payload.data, node->payload.data);
        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    status = exec_node_check(node, payload.data);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = exec_change_node(exec, source, &node);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (!emu_node_set_payload(node, payload.data, payload.size)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

static CUresult exec_update_child(emu_graph_exec *exec, const emu_node *source,
                                  const emu_graph *graph);

CUresult
emu_exec_set(emu_context *context, CUgraphExec handle, CUgraphNode node_handle,
             CUgraphNodeParams *params)
{
    const unsigned int fixed =
        EMU_NODES_MEMORY | EMU_NODES_CONDITIONAL | 1u << CU_GRAPH_NODE_TYPE_EMPTY;
    emu_graph_exec *exec;
    emu_node *source;
    emu_node *node;
    emu_payload payload;
    CUresult status = exec_find_node(handle, node_handle, &exec, &source, &node);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (node->work->type != params->type) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((1u << params->type & fixed) != 0) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (params->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        return exec_update_child(exec, source, emu_graph_get(params->graph.graph));
    }
    status = emu_node_make(context, source->graph, params, &payload);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = exec_node_replace(exec, source, node, payload);
    emu_node_discard(emu_node_kind(params->type), payload);
    return status;
}

/* -- all nodes --------------------------------------------------------------------- */

static bool
update_refuse(CUgraphExecUpdateResultInfo *info, CUgraphExecUpdateResult result,
              emu_node *node, emu_node *from)
{
    *info = (CUgraphExecUpdateResultInfo){result, node, from};
    return false;
}

static bool update_check(const emu_graph *body, const emu_graph *graph,
                         CUgraphExecUpdateResultInfo *info);

/* Whether a node may become like its pair. */
static bool
update_check_node(const emu_node *node, emu_node *wish,
                  CUgraphExecUpdateResultInfo *info)
{
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;

    if (node->work != wish->work) {
        return update_refuse(info, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, wish,
                             NULL);
    }
    if (node->work->compare != NULL) {
        result = node->work->compare(node->payload.data, wish->payload.data, true);
    }
    if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
        return update_refuse(info, result, wish, NULL);
    }
    for (size_t i = 0; i < node->body_count; i++) {
        if (!update_check(node->bodies[i], wish->bodies[i], info)) {
            return false;
        }
    }
    return true;
}

/* Whether an executable graph may become like a graph. */
static bool
update_check(const emu_graph *body, const emu_graph *graph,
             CUgraphExecUpdateResultInfo *info)
{
    uint32_t *pairs = emu_exec_pair(body, graph, info);
    bool good = pairs != NULL;

    for (size_t i = 0; good && i < body->count; i++) {
        good = update_check_node(body->nodes[i], graph->nodes[pairs[i]], info);
    }
    free(pairs);
    return good;
}

static bool update_copy(emu_graph *body, const emu_graph *graph);

static bool
update_copy_node(emu_node *node, const emu_node *wish)
{
    if (!emu_node_set_payload(node, wish->payload.data, wish->payload.size)) {
        return false;
    }
    for (size_t i = 0; i < node->body_count; i++) {
        if (!update_copy(node->bodies[i], wish->bodies[i])) {
            return false;
        }
    }
    return true;
}

/* Copy the payloads of a graph that was checked. Conditional nodes get its handles,
 * which its kernels set. */
static bool
update_copy(emu_graph *body, const emu_graph *graph)
{
    CUgraphExecUpdateResultInfo ignored; /* the graph was checked */
    uint32_t *pairs = emu_exec_pair(body, graph, &ignored);
    bool good = pairs != NULL;

    for (size_t i = 0; good && i < body->count; i++) {
        good = update_copy_node(body->nodes[i], graph->nodes[pairs[i]]);
    }
    free(pairs);
    emu_user_references_drop(&body->references);
    emu_conditionals_drop(&body->conditionals);
    return good && emu_user_references_copy(&body->references, &graph->references) &&
           emu_conditionals_copy(&body->conditionals, &graph->conditionals);
}

/* Copy the payloads into a new body, so that a failure changes nothing. */
static CUresult
update_apply(emu_graph_exec *exec, const emu_node *child, const emu_graph *graph)
{
    emu_graph *copy = emu_graph_copy_executable(exec->body);
    emu_graph *inner = copy;

    if (copy != NULL && child != NULL) {
        inner = emu_exec_body_find(copy, child->object.serial)->bodies[0];
    }
    if (copy == NULL || !update_copy(inner, graph)) {
        emu_exec_body_release(copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    emu_exec_body_release(exec->body);
    exec->body = copy;
    return CUDA_SUCCESS;
}

/* Make the graph of a child node like another graph. */
static CUresult
exec_update_child(emu_graph_exec *exec, const emu_node *source, const emu_graph *graph)
{
    CUgraphExecUpdateResultInfo info;
    emu_node *node = emu_exec_body_find(exec->body, source->object.serial);

    if (graph == NULL || !update_check(node->bodies[0], graph, &info)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return update_apply(exec, source, graph);
}

static CUresult
exec_update(CUgraphExec handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo *info)
{
    emu_graph_exec *exec = emu_graph_exec_get(handle);
    const emu_graph *graph = emu_graph_get(graph_handle);

    *info = (CUgraphExecUpdateResultInfo){CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL};
    if (exec == NULL || graph == NULL || graph->owner != NULL ||
        emu_graph_is_captured(graph)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!update_check(exec->body, graph, info)) {
        if (info->result == CU_GRAPH_EXEC_UPDATE_ERROR) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    CUresult status = update_apply(exec, NULL, graph);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
                      CUgraphExecUpdateResultInfo *resultInfo)
{
    CUgraphExecUpdateResultInfo own;

    if (resultInfo == NULL) {
        resultInfo = &own;
    }
    return exec_update(hGraphExec, hGraph, resultInfo);
}

/* -- switching nodes off ----------------------------------------------------------- */

enum {
    CAN_BE_DISABLED = 1u << CU_GRAPH_NODE_TYPE_KERNEL |
                      1u << CU_GRAPH_NODE_TYPE_MEMCPY | 1u << CU_GRAPH_NODE_TYPE_MEMSET
};

CUresult
emu_cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                          unsigned int isEnabled)
{
    emu_graph_exec *exec = NULL;
    emu_node *source = NULL;
    emu_node *node = NULL;
    CUresult status = exec_find_node(hGraphExec, hNode, &exec, &source, &node);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if ((1u << node->work->type & CAN_BE_DISABLED) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    status = exec_change_node(exec, source, &node);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    node->disabled = isEnabled == 0;
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                          unsigned int *isEnabled)
{
    emu_graph_exec *exec = NULL;
    emu_node *source = NULL;
    emu_node *node = NULL;
    CUresult status = exec_find_node(hGraphExec, hNode, &exec, &source, &node);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (isEnabled == NULL || (1u << node->work->type & CAN_BE_DISABLED) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *isEnabled = !node->disabled;
    return CUDA_SUCCESS;
}
