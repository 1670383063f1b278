/* Nodes and edges of graphs: listing, adding, removing. */
#include "device/api/entry/entry.h"
#include "device/api/graph/node_kinds.h"

/* -- checks ------------------------------------------------------------------------ */

bool
emu_edge_is_valid(const emu_node *from, const emu_node *to, const CUgraphEdgeData *data)
{
    const bool kernels = from->work->type == CU_GRAPH_NODE_TYPE_KERNEL &&
                         (to == NULL || to->work->type == CU_GRAPH_NODE_TYPE_KERNEL);

    for (size_t i = 0; i < sizeof(data->reserved); i++) {
        if (data->reserved[i] != 0) {
            return false;
        }
    }
    if (data->to_port != 0) {
        return false;
    }
    if (data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) {
        return kernels && data->from_port != CU_GRAPH_KERNEL_NODE_PORT_DEFAULT &&
               data->from_port <= CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
    }
    if (data->type != CU_GRAPH_DEPENDENCY_TYPE_DEFAULT) {
        return false;
    }
    return data->from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT ||
           (from->work->type == CU_GRAPH_NODE_TYPE_KERNEL &&
            data->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER);
}

/* Append one edge that a call names. */
static CUresult
edge_read(const emu_graph *graph, CUgraphNode handle, const CUgraphEdgeData *data,
          bool once, emu_edges *out)
{
    emu_node *node = emu_node_get(handle);

    if (node == NULL || node->graph != graph ||
        (data != NULL && !emu_edge_is_valid(node, NULL, data))) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_edges_find(out, node) < out->count) {
        return once ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    }
    if (!emu_edges_add(out, node, data)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_edges_read(const emu_graph *graph, const CUgraphNode *nodes,
               const CUgraphEdgeData *data, size_t count, bool once, emu_edges *out)
{
    if (count > 0 && nodes == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) {
        const CUgraphEdgeData *one = NULL;

        if (data != NULL) {
            one = &data[i];
        }
        CUresult status = edge_read(graph, nodes[i], one, once, out);
        if (status != CUDA_SUCCESS) {
            emu_edges_clear(out);
            return status;
        }
    }
    return CUDA_SUCCESS;
}

/* -- lists of nodes ---------------------------------------------------------------- */

/* A list that a call fills: as much as there is room for, NULL in the rest of the room.
 * Without an array it only counts. */
typedef struct {
    CUgraphNode *nodes, *others; /* others: the ends of edges, or NULL */
    CUgraphEdgeData *data;
    size_t room, count;
    bool lossy; /* an edge has data for which there is no room */
} node_list;

static bool
list_open(node_list *list, CUgraphNode *nodes, CUgraphNode *others,
          CUgraphEdgeData *data, const size_t *count)
{
    *list = (node_list){.nodes = nodes, .others = others, .data = data};
    if (count == NULL || (nodes == NULL && data != NULL)) {
        return false;
    }
    if (nodes != NULL) {
        list->room = *count;
    }
    return nodes == NULL || *count > 0;
}

static void
list_add(node_list *list, CUgraphNode node, CUgraphNode other,
         const CUgraphEdgeData *data)
{
    const size_t place = list->count++;

    if (data != NULL && list->data == NULL && !emu_edge_is_plain(data)) {
        list->lossy = true;
    }
    if (place >= list->room) {
        return;
    }
    list->nodes[place] = node;
    if (list->others != NULL) {
        list->others[place] = other;
    }
    if (list->data != NULL && data != NULL) {
        list->data[place] = *data;
    }
}

static CUresult
list_close(const node_list *list, size_t *count)
{
    if (list->lossy && list->nodes != NULL) {
        return CUDA_ERROR_LOSSY_QUERY;
    }
    if (list->nodes == NULL || list->count < *count) {
        *count = list->count;
    }
    for (size_t i = list->count; i < list->room; i++) {
        list->nodes[i] = NULL;
        if (list->others != NULL) {
            list->others[i] = NULL;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult
graph_list_nodes(const emu_graph *graph, CUgraphNode *nodes, size_t *count, bool roots)
{
    node_list list;

    if (!list_open(&list, nodes, NULL, NULL, count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < graph->count; i++) {
        if (!roots || graph->nodes[i]->after.count == 0) {
            list_add(&list, graph->nodes[i], NULL, NULL);
        }
    }
    return list_close(&list, count);
}

CUresult
emu_cuGraphGetNodes(emu_graph *graph, CUgraphNode *nodes, size_t *numNodes)
{
    return graph_list_nodes(graph, nodes, numNodes, false);
}

CUresult
emu_cuGraphGetRootNodes(emu_graph *graph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    return graph_list_nodes(graph, rootNodes, numRootNodes, true);
}

static CUresult
graph_list_edges(const emu_graph *graph, CUgraphNode *from, CUgraphNode *to,
                 CUgraphEdgeData *data, size_t *count)
{
    node_list list;

    if ((from == NULL) != (to == NULL) || !list_open(&list, from, to, data, count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < graph->count; i++) {
        const emu_edges *after = &graph->nodes[i]->after;

        for (size_t k = 0; k < after->count; k++) {
            list_add(&list, after->nodes[k], graph->nodes[i], &after->data[k]);
        }
    }
    return list_close(&list, count);
}

CUresult
emu_cuGraphGetEdges(emu_graph *graph, CUgraphNode *from, CUgraphNode *to,
                    CUgraphEdgeData *edgeData, size_t *numEdges)
{
    return graph_list_edges(graph, from, to, edgeData, numEdges);
}

static CUresult
node_list_dependencies(const emu_node *node, CUgraphNode *nodes, CUgraphEdgeData *data,
                       size_t *count)
{
    node_list list;

    if (!list_open(&list, nodes, NULL, data, count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t k = 0; k < node->after.count; k++) {
        list_add(&list, node->after.nodes[k], NULL, &node->after.data[k]);
    }
    return list_close(&list, count);
}

CUresult
emu_cuGraphNodeGetDependencies(emu_node *node, CUgraphNode *dependencies,
                               CUgraphEdgeData *edgeData, size_t *numDependencies)
{
    return node_list_dependencies(node, dependencies, edgeData, numDependencies);
}

static CUresult
node_list_dependents(const emu_node *node, CUgraphNode *nodes, CUgraphEdgeData *data,
                     size_t *count)
{
    node_list list;

    if (!list_open(&list, nodes, NULL, data, count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < node->graph->count; i++) {
        emu_node *other = node->graph->nodes[i];
        const size_t place = emu_edges_find(&other->after, node);

        if (place < other->after.count) {
            list_add(&list, other, NULL, &other->after.data[place]);
        }
    }
    return list_close(&list, count);
}

CUresult
emu_cuGraphNodeGetDependentNodes(emu_node *node, CUgraphNode *dependentNodes,
                                 CUgraphEdgeData *edgeData, size_t *numDependentNodes)
{
    return node_list_dependents(node, dependentNodes, edgeData, numDependentNodes);
}

CUresult
emu_cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
                           CUgraph hClonedGraph)
{
    const emu_node *node = emu_node_get(hOriginalNode);
    const emu_graph *clone = emu_graph_get(hClonedGraph);

    if (phNode == NULL || node == NULL || clone == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < clone->count; i++) {
        if (clone->nodes[i]->original == node->object.serial) {
            *phNode = clone->nodes[i];
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

EMU_GETTER(emu_cuGraphNodeGetType, (emu_node * node, CUgraphNodeType *type), type,
           node->work->type)

/* -- changes ----------------------------------------------------------------------- */

/* Find the nodes of one edge that a call names. False: they are not of the graph. */
static bool
edge_find_nodes(const emu_graph *graph, CUgraphNode from, CUgraphNode to,
                emu_node **source, emu_node **target)
{
    *source = emu_node_get(from);
    *target = emu_node_get(to);
    return *source != NULL && *target != NULL && *source != *target &&
           (*source)->graph == graph && (*target)->graph == graph;
}

static CUresult
edge_add(const emu_graph *graph, CUgraphNode from, CUgraphNode to,
         const CUgraphEdgeData *data)
{
    static const CUgraphEdgeData plain;
    emu_node *source, *target;

    if (data == NULL) {
        data = &plain;
    }
    if (!edge_find_nodes(graph, from, to, &source, &target) ||
        emu_edges_find(&target->after, source) < target->after.count ||
        !emu_edge_is_valid(source, target, data)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!emu_edges_add(&target->after, source, data)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

/* As the driver of an H200, and unlike the manual, ignore the data of the edge. */
static CUresult
edge_remove(const emu_graph *graph, CUgraphNode from, CUgraphNode to)
{
    emu_node *source, *target;
    size_t place;

    if (!edge_find_nodes(graph, from, to, &source, &target)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    place = emu_edges_find(&target->after, source);
    if (place == target->after.count) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_edges_remove(&target->after, place);
    source->detached = true;
    return CUDA_SUCCESS;
}

/* Add or remove edges. If one fails, those before it stay changed. */
static CUresult
graph_change_edges(const emu_graph *graph, const CUgraphNode *from,
                   const CUgraphNode *to, const CUgraphEdgeData *data, size_t count,
                   bool add)
{
    if (count > 0 && (from == NULL || to == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!add && emu_graph_has(graph, EMU_NODES_MEMORY)) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    for (size_t i = 0; i < count; i++) {
        const CUgraphEdgeData *one = data;
        CUresult status;

        if (data != NULL) {
            one = &data[i];
        }
        if (add) {
            status = edge_add(graph, from[i], to[i], one);
        }
        else {
            status = edge_remove(graph, from[i], to[i]);
        }
        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphAddDependencies(emu_graph *graph, const CUgraphNode *from,
                           const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                           size_t numDependencies)
{
    return graph_change_edges(graph, from, to, edgeData, numDependencies, true);
}

CUresult
emu_cuGraphRemoveDependencies(emu_graph *graph, const CUgraphNode *from,
                              const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                              size_t numDependencies)
{
    return graph_change_edges(graph, from, to, edgeData, numDependencies, false);
}

CUresult
emu_cuGraphDestroyNode(emu_node *node)
{
    if (emu_graph_is_captured(node->graph)) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    if (emu_graph_has(node->graph, EMU_NODES_MEMORY)) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    emu_node_release_handle(node);
    emu_graph_remove(node);
    return CUDA_SUCCESS;
}
