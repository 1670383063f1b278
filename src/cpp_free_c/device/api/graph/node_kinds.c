/* The table of the kinds of graph nodes. See node_kinds.h. */
#include "device/api/graph/node_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "device/api/memory/copy.h"
#include "device/api/memory/graph_memory.h"
#include "device/api/module/launch_work.h"
#include "device/api/stream/stream.h"

/* -- kinds that consist of other graphs -------------------------------------------- */

typedef struct {
    CUgraphConditionalHandle handle;
    CUgraphConditionalNodeType type;
    unsigned int size;
    CUcontext context;
} conditional_payload;

/* An empty payload must not be of 0 bytes: malloc may return NULL for it. */
static CUresult
node_make_empty(emu_context *context, const CUgraphNodeParams *params, emu_payload *out)
{
    (void)context;
    (void)params;
    *out = (emu_payload){malloc(1), 0};
    if (out->data == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

static CUresult
node_make_child(emu_context *context, const CUgraphNodeParams *params, emu_payload *out)
{
    const unsigned int owned_elsewhere = EMU_NODES_MEMORY | EMU_NODES_CONDITIONAL;
    const emu_graph *child = emu_graph_get(params->graph.graph);

    if (child == NULL ||
        params->graph.ownership > CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (params->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
        if (child->owner != NULL || child->instances > 0 ||
            emu_graph_is_captured(child)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    else if (emu_graph_has(child, owned_elsewhere)) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return node_make_empty(context, params, out);
}

static int
child_choose(const void *payload, uint64_t round)
{
    (void)payload;
    if (round == 0) {
        return 0;
    }
    return -1;
}

/* The sizes that a conditional node of each type may have. */
static bool
conditional_has_size(CUgraphConditionalNodeType type, unsigned int size)
{
    switch (type) {
        case CU_GRAPH_COND_TYPE_IF:
            return size == 1 || size == 2;
        case CU_GRAPH_COND_TYPE_WHILE:
            return size == 1;
        case CU_GRAPH_COND_TYPE_SWITCH:
            return size > 0;
        default:
            return false;
    }
}

static CUresult
node_make_conditional(emu_context *context, const CUgraphNodeParams *params,
                      emu_payload *out)
{
    const CUDA_CONDITIONAL_NODE_PARAMS *p = &params->conditional;
    const CUcontext owner = emu_conditional_context(p->handle);
    conditional_payload *made;

    (void)context;
    if (p->ctx == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (owner == NULL || p->ctx != owner || !conditional_has_size(p->type, p->size) ||
        emu_conditional_is_bound(p->handle)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    made = malloc(sizeof(*made));
    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = (conditional_payload){p->handle, p->type, p->size, owner};
    *out = (emu_payload){made, sizeof(*made)};
    return CUDA_SUCCESS;
}

static int
conditional_choose(const void *payload, uint64_t round)
{
    const conditional_payload *p = payload;
    const unsigned int value = emu_conditional_value(p->handle);

    if (p->type == CU_GRAPH_COND_TYPE_WHILE) {
        return value != 0 ? 0 : -1;
    }
    if (round > 0) {
        return -1;
    }
    if (p->type == CU_GRAPH_COND_TYPE_SWITCH) {
        return value < p->size ? (int)value : -1;
    }
    if (value != 0) {
        return 0;
    }
    return p->size == 2 ? 1 : -1;
}

static void
conditional_describe(void *payload, CUgraphNodeParams *params)
{
    const conditional_payload *p = payload;

    params->conditional = (CUDA_CONDITIONAL_NODE_PARAMS){
        .handle = p->handle, .type = p->type, .size = p->size, .ctx = p->context};
}

static CUgraphExecUpdateResult
conditional_compare(const void *payload, const void *other, bool wide)
{
    const conditional_payload *old = payload, *wish = other;

    if (!wide || old->type != wish->type || old->size != wish->size ||
        old->context != wish->context) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static void
conditional_draw(const void *payload, FILE *file)
{
    static const char *const types[] = {"if", "while", "switch"};
    const conditional_payload *p = payload;

    (void)fprintf(file, "\\n%s, %u graphs", types[p->type], p->size);
}

static const emu_work child_work = {.type = CU_GRAPH_NODE_TYPE_GRAPH,
                                    .choose = child_choose};
static const emu_work empty_work = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
static const emu_work conditional_work = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                                          .choose = conditional_choose,
                                          .describe = conditional_describe,
                                          .compare = conditional_compare,
                                          .draw = conditional_draw};

/* -- the table --------------------------------------------------------------------- */

/* By type. `make` is NULL for the kinds whose payload depends on the graph or that
 * return parameters. */
static const struct {
    const char *name;
    const emu_work *work;
    CUresult (*make)(emu_context *context, const CUgraphNodeParams *params,
                     emu_payload *out);
} kinds[] = {
    {"KERNEL", &emu_launch_work, emu_kernel_node_from_params},
    {"MEMCPY", &emu_copy_work, emu_copy_node_make},
    {"MEMSET", &emu_fill_work, emu_fill_node_make},
    {"HOST", &emu_host_work, emu_host_node_make},
    {"GRAPH", &child_work, node_make_child},
    {"EMPTY", &empty_work, node_make_empty},
    {"WAIT_EVENT", &emu_event_wait_work, emu_event_node_make},
    {"EVENT_RECORD", &emu_event_record_work, emu_event_node_make},
    {"EXT_SEMAS_SIGNAL", NULL, NULL},
    {"EXT_SEMAS_WAIT", NULL, NULL},
    {"MEM_ALLOC", &emu_alloc_work, NULL},
    {"MEM_FREE", &emu_free_work, NULL},
    {"BATCH_MEM_OP", &emu_batch_work, emu_batch_node_make},
    {"CONDITIONAL", &conditional_work, node_make_conditional},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

const emu_work *
emu_node_kind(CUgraphNodeType type)
{
    if (type >= KINDS) {
        return NULL;
    }
    return kinds[type].work;
}

const char *
emu_node_kind_name(CUgraphNodeType type)
{
    return kinds[type].name; /* of a node that exists */
}

CUresult
emu_node_make(emu_context *context, const emu_graph *graph, CUgraphNodeParams *params,
              emu_payload *out)
{
    if (params->type >= KINDS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (kinds[params->type].work == NULL) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        return emu_alloc_node_make(graph->object.context, params, out);
    }
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
        return emu_free_node_make(graph, params, out);
    }
    return kinds[params->type].make(context, params, out);
}

void
emu_node_discard(const emu_work *work, emu_payload payload)
{
    if (work->drop != NULL) {
        work->drop(payload.data);
    }
    free(payload.data);
}

/* -- adding nodes ------------------------------------------------------------------ */

bool
emu_graph_is_in_branch(const emu_graph *graph)
{
    while (graph->owner != NULL && graph->owner->work != &conditional_work) {
        graph = graph->owner->graph;
    }
    return graph->owner != NULL;
}

/* Whether a graph may get a node of a type, at the place where the graph is. A branch
 * of a conditional node is checked when it is instantiated. */
static CUresult
node_check_place(const emu_graph *graph, CUgraphNodeType type)
{
    if (type < KINDS && (1u << type & EMU_NODES_MEMORY) != 0 && graph->owner != NULL &&
        !emu_graph_is_in_branch(graph)) {
        return CUDA_ERROR_NOT_SUPPORTED; /* the graph around it would own the memory */
    }
    return CUDA_SUCCESS;
}

/* Let a child node take over a graph of the program. */
static bool
node_take_child(emu_node *node, emu_graph *child)
{
    node->bodies = malloc(sizeof(*node->bodies));
    if (node->bodies == NULL) {
        return false;
    }
    node->bodies[0] = child;
    node->body_count = 1;
    child->owner = node;
    return true;
}

/* Find the graph that a new child node gets: the given one, or a copy of it as it is
 * before the node is added, since the node may be inside the given graph. */
static CUresult
child_prepare(const emu_graph *graph, const CUDA_CHILD_GRAPH_NODE_PARAMS *params,
              emu_graph **child)
{
    if (params->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
        *child = params->graph;
        if (emu_graph_holds(*child, graph)) {
            return CUDA_ERROR_INVALID_VALUE; /* a graph cannot be inside itself */
        }
        return CUDA_SUCCESS;
    }
    *child = emu_graph_copy(graph->object.context, params->graph, NULL);
    if (*child == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

/* The node was not added: destroy its graph, unless it belongs to the program. */
static void
child_discard(const CUDA_CHILD_GRAPH_NODE_PARAMS *params, emu_graph *child)
{
    if (child != NULL && params->ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
        emu_graph_destroy(&child->object);
    }
}

/* Give a node what belongs to its kind beyond the payload. `child`: the graph of a
 * child node. */
static bool
node_complete(emu_node *node, CUgraphNodeParams *params, emu_graph *child)
{
    if (child != NULL) {
        return node_take_child(node, child);
    }
    if (node->work == &conditional_work) {
        if (!emu_node_add_bodies(node, params->conditional.size)) {
            return false;
        }
        emu_conditional_bind(params->conditional.handle);
        params->conditional.phGraph_out = node->bodies;
    }
    emu_memory_node_added(node);
    return true;
}

CUresult
emu_node_add(emu_context *context, emu_graph *graph, const emu_edges *after,
             CUgraphNodeParams *params, emu_node **out)
{
    emu_graph *child = NULL;
    emu_payload payload;
    CUresult status = node_check_place(graph, params->type);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_node_make(context, graph, params, &payload);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (params->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        status = child_prepare(graph, &params->graph, &child);
        if (status != CUDA_SUCCESS) {
            emu_node_discard(emu_node_kind(params->type), payload);
            return status;
        }
    }
    emu_node *node =
        emu_graph_add(graph, emu_node_kind(params->type), payload.data, payload.size);
    emu_node_discard(emu_node_kind(params->type), payload);
    if (node != NULL &&
        (!emu_edges_copy(&node->after, after) || !node_complete(node, params, child))) {
        emu_graph_remove(node);
        node = NULL;
    }
    if (node == NULL) {
        child_discard(&params->graph, child);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = node;
    return CUDA_SUCCESS;
}

void
emu_node_release_handle(const emu_node *node)
{
    if (node->work == &conditional_work) {
        const conditional_payload *p = node->payload.data;

        emu_conditional_unbind(p->handle);
    }
}

/* -- branches of conditional nodes ------------------------------------------------- */

/* Whether a branch may have a node, and why not. */
static CUgraphInstantiateResult
branch_check_node(const emu_node *node)
{
    if ((1u << node->work->type & EMU_NODES_IN_BRANCH) == 0) {
        return CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
    }
    if (node->work == &emu_copy_work && !emu_copy_is_reachable(node->payload.data)) {
        return CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED; /* as an H200 says */
    }
    return CUDA_GRAPH_INSTANTIATE_SUCCESS;
}

CUresult
emu_graph_check_branches(const emu_graph *graph, CUgraphInstantiateResult *result,
                         CUgraphNode *wrong)
{
    const bool branch = emu_graph_is_in_branch(graph);

    for (size_t i = 0; i < graph->count; i++) {
        emu_node *node = graph->nodes[i];

        if (branch) {
            const CUgraphInstantiateResult found = branch_check_node(node);

            if (found != CUDA_GRAPH_INSTANTIATE_SUCCESS) {
                *result = found;
                *wrong = node;
                return CUDA_ERROR_INVALID_VALUE;
            }
        }
        for (size_t k = 0; k < node->body_count; k++) {
            CUresult status = emu_graph_check_branches(node->bodies[k], result, wrong);

            if (status != CUDA_SUCCESS) {
                return status;
            }
        }
    }
    return CUDA_SUCCESS;
}
