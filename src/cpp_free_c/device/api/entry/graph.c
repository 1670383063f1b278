/* Graphs. See graph.h. */
#include "device/api/entry/graph.h"

#include <stdlib.h>
#include <string.h>

/* -- edges ------------------------------------------------------------------------- */

static bool
edges_make_room(emu_edges *edges)
{
    const size_t room = edges->room == 0 ? 2 : 2 * edges->room;
    emu_node **nodes;
    CUgraphEdgeData *data;

    if (edges->count < edges->room) {
        return true;
    }
    nodes = realloc(edges->nodes, room * sizeof(*nodes));
    if (nodes == NULL) {
        return false;
    }
    edges->nodes = nodes;
    data = realloc(edges->data, room * sizeof(*data));
    if (data == NULL) {
        return false;
    }
    edges->data = data;
    edges->room = room;
    return true;
}

bool
emu_edges_add(emu_edges *edges, emu_node *node, const CUgraphEdgeData *data)
{
    if (!edges_make_room(edges)) {
        return false;
    }
    edges->nodes[edges->count] = node;
    edges->data[edges->count] = (CUgraphEdgeData){0};
    if (data != NULL) {
        edges->data[edges->count] = *data;
    }
    edges->count++;
    return true;
}

size_t
emu_edges_find(const emu_edges *edges, const emu_node *node)
{
    size_t place = 0;

    while (place < edges->count && edges->nodes[place] != node) {
        place++;
    }
    return place;
}

void
emu_edges_remove(emu_edges *edges, size_t place)
{
    const size_t behind = edges->count - place - 1;

    memmove(&edges->nodes[place], &edges->nodes[place + 1],
            behind * sizeof(edges->nodes[0]));
    memmove(&edges->data[place], &edges->data[place + 1],
            behind * sizeof(edges->data[0]));
    edges->count--;
}

bool
emu_edges_copy(emu_edges *to, const emu_edges *from)
{
    for (size_t i = 0; i < from->count; i++) {
        if (!emu_edges_add(to, from->nodes[i], &from->data[i])) {
            emu_edges_clear(to);
            return false;
        }
    }
    return true;
}

void
emu_edges_clear(emu_edges *edges)
{
    free(edges->nodes);
    free(edges->data);
    *edges = (emu_edges){0};
}

bool
emu_edge_is_plain(const CUgraphEdgeData *data)
{
    static const CUgraphEdgeData plain;

    return memcmp(data, &plain, sizeof(plain)) == 0;
}

/* -- places of captures ------------------------------------------------------------ */

void
emu_capture_place_leave(emu_capture_place *place)
{
    place->captured = false;
    if (place->capture == NULL) {
        return;
    }
    if (place->previous != NULL) {
        place->previous->next = place->next;
    }
    else {
        *place->places = place->next;
    }
    if (place->next != NULL) {
        place->next->previous = place->previous;
    }
    emu_edges_clear(&place->after);
    place->capture = NULL;
    place->places = NULL;
    place->next = place->previous = NULL;
}

bool
emu_capture_place_join(emu_capture_place *place, struct emu_capture *capture,
                       emu_capture_place **places, const emu_edges *after)
{
    emu_edges copy = {0};

    if (!emu_edges_copy(&copy, after)) {
        return false;
    }
    emu_capture_place_leave(place);
    place->capture = capture;
    place->places = places;
    place->after = copy;
    place->next = *places;
    if (place->next != NULL) {
        place->next->previous = place;
    }
    *places = place;
    return true;
}

bool
emu_capture_place_wait(emu_capture_place *place, const emu_edges *after)
{
    for (size_t i = 0; i < after->count; i++) {
        emu_node *node = after->nodes[i];

        if (emu_edges_find(&place->after, node) == place->after.count &&
            !emu_edges_add(&place->after, node, &after->data[i])) {
            return false;
        }
    }
    return true;
}

/* -- nodes ------------------------------------------------------------------------- */

emu_graph *
emu_graph_get(CUgraph handle)
{
    return emu_object_get(handle, EMU_GRAPH);
}

emu_node *
emu_node_get(CUgraphNode handle)
{
    return emu_object_get(handle, EMU_GRAPH_NODE);
}

static void
node_drop_payload(emu_node *node)
{
    if (node->payload.data != NULL && node->work->drop != NULL) {
        node->work->drop(node->payload.data);
    }
    free(node->payload.data);
}

static void
node_free(emu_node *node)
{
    for (size_t i = 0; i < node->body_count; i++) {
        if (node->bodies[i] != NULL) {
            emu_graph_destroy(&node->bodies[i]->object);
        }
    }
    free(node->bodies);
    emu_edges_clear(&node->after);
    node_drop_payload(node);
    emu_object_free(&node->object);
}

static bool
graph_make_room(emu_graph *graph)
{
    const size_t room = graph->room == 0 ? 8 : 2 * graph->room;
    emu_node **nodes;

    if (graph->count < graph->room) {
        return true;
    }
    if (room > UINT32_MAX) {
        return false;
    }
    nodes = realloc(graph->nodes, room * sizeof(*nodes));
    if (nodes == NULL) {
        return false;
    }
    graph->nodes = nodes;
    graph->room = room;
    return true;
}

bool
emu_node_set_payload(emu_node *node, const void *payload, size_t size)
{
    void *copy = malloc(size + 1); /* never of 0 bytes */

    if (copy == NULL) {
        return false;
    }
    if (size > 0) {
        memcpy(copy, payload, size);
    }
    if (node->work->hold != NULL) {
        node->work->hold(copy);
    }
    node_drop_payload(node);
    node->payload = (emu_payload){copy, size};
    return true;
}

emu_node *
emu_graph_add(emu_graph *graph, const emu_work *work, const void *payload, size_t size)
{
    emu_node *node = NULL;

    if (graph_make_room(graph)) {
        node = emu_object_new(EMU_GRAPH_NODE, sizeof(*node), NULL, NULL);
    }
    if (node == NULL) {
        return NULL;
    }
    node->graph = graph;
    node->work = work;
    if (!emu_node_set_payload(node, payload, size)) {
        node_free(node);
        return NULL;
    }
    node->number = graph->count;
    graph->nodes[graph->count++] = node;
    return node;
}

void
emu_graph_remove(emu_node *node)
{
    emu_graph *graph = node->graph;

    for (size_t i = node->number + 1; i < graph->count; i++) {
        graph->nodes[i]->number--;
        graph->nodes[i - 1] = graph->nodes[i];
    }
    graph->count--;
    for (size_t i = 0; i < graph->count; i++) {
        emu_edges *after = &graph->nodes[i]->after;
        const size_t place = emu_edges_find(after, node);

        if (place < after->count) {
            emu_edges_remove(after, place);
        }
    }
    node_free(node);
}

bool
emu_node_add_bodies(emu_node *node, size_t count)
{
    node->bodies = calloc(count, sizeof(*node->bodies));
    if (node->bodies == NULL) {
        return false;
    }
    node->body_count = count;
    for (size_t i = 0; i < count; i++) {
        node->bodies[i] = emu_graph_new(node->graph->object.context, node);
        if (node->bodies[i] == NULL) {
            return false; /* the caller removes the node, and so the other bodies */
        }
    }
    return true;
}

/* -- graphs ------------------------------------------------------------------------ */

emu_graph *
emu_graph_new(emu_context *context, emu_node *owner)
{
    emu_graph *graph =
        emu_object_new(EMU_GRAPH, sizeof(*graph), context, emu_graph_destroy);

    if (graph != NULL) {
        graph->owner = owner;
    }
    return graph;
}

void
emu_graph_destroy(emu_object *object)
{
    emu_graph *graph = (emu_graph *)object;

    if (graph->owner != NULL) { /* the context ends before the graph around this one */
        for (size_t i = 0; i < graph->owner->body_count; i++) {
            if (graph->owner->bodies[i] == graph) {
                graph->owner->bodies[i] = NULL;
            }
        }
    }
    if (graph->capturing != NULL) {
        *graph->capturing = NULL;
    }
    for (size_t i = 0; i < graph->count; i++) {
        node_free(graph->nodes[i]);
    }
    free(graph->nodes);
    free(graph->order);
    emu_user_references_drop(&graph->references);
    emu_conditionals_drop(&graph->conditionals);
    emu_object_free(object);
}

bool
emu_graph_is_owned(const emu_object *object)
{
    const emu_graph *graph = (const emu_graph *)object;

    return graph->owner != NULL || graph->capturing != NULL;
}

static bool graph_fill(emu_graph *to, const emu_graph *from);

/* Make an empty graph, which has just been made, a part of an executable graph. */
static void
graph_make_executable(emu_graph *graph)
{
    graph->is_executable = true;
    emu_object_unlist(&graph->object);
}

/* Give a node copies of the bodies of another one. */
static bool
node_copy_bodies(emu_node *to, const emu_node *from)
{
    if (from->body_count == 0) {
        return true;
    }
    if (!emu_node_add_bodies(to, from->body_count)) {
        return false;
    }
    for (size_t i = 0; i < from->body_count; i++) {
        if (to->graph->is_executable) {
            graph_make_executable(to->bodies[i]);
        }
        if (!graph_fill(to->bodies[i], from->bodies[i])) {
            return false;
        }
    }
    return true;
}

/* Add a copy of a node, without its edges. */
static bool
graph_add_copy(emu_graph *to, const emu_node *node)
{
    emu_node *made =
        emu_graph_add(to, node->work, node->payload.data, node->payload.size);

    if (made == NULL) {
        return false;
    }
    made->original = node->object.serial;
    made->object.site = node->object.site;
    if (to->is_executable) {
        emu_object_unlist(&made->object);
        made->disabled = node->disabled;
    }
    if (node->graph->is_executable) {
        made->original = node->original;
    }
    return node_copy_bodies(made, node);
}

/* Copy what only executable graphs have copies of. */
static bool
graph_fill_executable(emu_graph *to, const emu_graph *from)
{
    if (from->order != NULL) {
        to->order = malloc((from->count + 1) * sizeof(*to->order));
        if (to->order == NULL) {
            return false;
        }
        memcpy(to->order, from->order, from->count * sizeof(*to->order));
    }
    return emu_conditionals_copy(&to->conditionals, &from->conditionals);
}

/* Copy the nodes of a graph into an empty one. */
static bool
graph_fill(emu_graph *to, const emu_graph *from)
{
    to->original = from->object.serial;
    for (size_t i = 0; i < from->count; i++) {
        if (!graph_add_copy(to, from->nodes[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < from->count; i++) { /* an edge may lead to a later node */
        const emu_edges *after = &from->nodes[i]->after;

        for (size_t k = 0; k < after->count; k++) {
            if (!emu_edges_add(&to->nodes[i]->after, to->nodes[after->nodes[k]->number],
                               &after->data[k])) {
                return false;
            }
        }
    }
    if (to->is_executable && !graph_fill_executable(to, from)) {
        return false;
    }
    return emu_user_references_copy(&to->references, &from->references);
}

emu_graph *
emu_graph_copy(emu_context *context, const emu_graph *from, emu_node *owner)
{
    emu_graph *to = emu_graph_new(context, owner);

    if (to != NULL && !graph_fill(to, from)) {
        emu_graph_destroy(&to->object);
        to = NULL;
    }
    return to;
}

emu_graph *
emu_graph_copy_executable(const emu_graph *from)
{
    emu_graph *to = emu_graph_new(from->object.context, NULL);

    if (to == NULL) {
        return NULL;
    }
    graph_make_executable(to);
    to->holders = 1;
    if (!graph_fill(to, from)) {
        emu_graph_destroy(&to->object);
        return NULL;
    }
    return to;
}

bool
emu_graph_has(const emu_graph *graph, unsigned int types)
{
    for (size_t i = 0; i < graph->count; i++) {
        const emu_node *node = graph->nodes[i];

        if ((1u << node->work->type & types) != 0) {
            return true;
        }
        for (size_t k = 0; k < node->body_count; k++) {
            if (emu_graph_has(node->bodies[k], types)) {
                return true;
            }
        }
    }
    return false;
}

bool
emu_graph_is_captured(const emu_graph *graph)
{
    if (graph->capturing != NULL) {
        return true;
    }
    for (size_t i = 0; i < graph->count; i++) {
        const emu_node *node = graph->nodes[i];

        for (size_t k = 0; k < node->body_count; k++) {
            if (emu_graph_is_captured(node->bodies[k])) {
                return true;
            }
        }
    }
    return false;
}

bool
emu_graph_holds(const emu_graph *graph, const emu_graph *inner)
{
    while (inner != graph && inner->owner != NULL) {
        inner = inner->owner->graph;
    }
    return inner == graph;
}
