/* Graph bodies. See graph_body.h. */
#include "device/api/entry/graph_body.h"

#include <stdlib.h>
#include <string.h>

emu_graph_body *
emu_graph_body_new(void)
{
    return calloc(1, sizeof(emu_graph_body));
}

void
emu_graph_body_release(emu_graph_body *body)
{
    if (body == NULL) {
        return;
    }
    for (size_t i = 0; i < body->count; i++) {
        free(body->nodes[i]->after);
        free(body->nodes[i]);
    }
    free(body->nodes);
    free(body);
}

static bool
body_make_room(emu_graph_body *body)
{
    size_t room = body->room * 2;
    emu_node **nodes;

    if (body->count < body->room) {
        return true;
    }
    if (room == 0) {
        room = 8;
    }
    if (room > UINT32_MAX) {
        return false;
    }
    nodes = realloc(body->nodes, room * sizeof(*nodes));
    if (nodes == NULL) {
        return false;
    }
    body->nodes = nodes;
    body->room = room;
    return true;
}

bool
emu_graph_body_add(emu_graph_body *body, const emu_work *work, const void *payload,
                   size_t size, const uint32_t *after, size_t count, uint32_t *number)
{
    emu_node *node = calloc(1, sizeof(*node) + size);
    uint32_t *numbers = malloc((count + 1) * sizeof(*numbers)); /* never of 0 bytes */

    if (node == NULL || numbers == NULL || !body_make_room(body)) {
        free(node);
        free(numbers);
        return false;
    }
    node->type = work->type;
    node->work = work;
    node->after = numbers;
    node->after_count = count;
    if (count > 0) {
        memcpy(numbers, after, count * sizeof(*numbers));
    }
    node->size = size;
    if (size > 0) {
        memcpy(node->payload, payload, size);
    }
    *number = (uint32_t)body->count;
    body->nodes[body->count++] = node;
    return true;
}

emu_graph_body *
emu_graph_body_copy(const emu_graph_body *from)
{
    emu_graph_body *to = emu_graph_body_new();

    for (size_t i = 0; to != NULL && i < from->count; i++) {
        const emu_node *node = from->nodes[i];
        uint32_t number;

        if (!emu_graph_body_add(to, node->work, node->payload, node->size, node->after,
                                node->after_count, &number)) {
            emu_graph_body_release(to);
            to = NULL;
        }
    }
    return to;
}

bool
emu_graph_body_joined(const emu_graph_body *body, const uint32_t *last, size_t count)
{
    bool *reached = calloc(body->count + 1, sizeof(*reached));
    bool all = reached != NULL;

    for (size_t i = 0; reached != NULL && i < count; i++) {
        reached[last[i]] = true;
    }
    for (size_t i = body->count; all && i-- > 0;) {
        const emu_node *node = body->nodes[i];

        all = reached[i];
        for (size_t k = 0; k < node->after_count; k++) {
            reached[node->after[k]] = true;
        }
    }
    free(reached);
    return all;
}

/* Call `end` of the first `count` nodes. */
static void
body_end_first(const emu_graph_body *body, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const emu_node *node = body->nodes[i];

        if (node->work->end != NULL) {
            node->work->end(node->payload);
        }
    }
}

CUresult
emu_graph_body_begin(const emu_graph_body *body)
{
    for (size_t i = 0; i < body->count; i++) {
        const emu_node *node = body->nodes[i];
        CUresult status = CUDA_SUCCESS;

        if (node->work->begin != NULL) {
            status = node->work->begin(node->payload);
        }
        if (status != CUDA_SUCCESS) {
            body_end_first(body, i);
            return status;
        }
    }
    return CUDA_SUCCESS;
}

void
emu_graph_body_end(const emu_graph_body *body)
{
    body_end_first(body, body->count);
}

/* Whether all nodes that a node waits for are done. */
static bool
body_is_ready(const emu_node *node, const bool *done)
{
    for (size_t k = 0; k < node->after_count; k++) {
        if (!done[node->after[k]]) {
            return false;
        }
    }
    return true;
}

/* Each step takes the first ready node from a random one on. There is always one: the
 * node with the lowest number that is left. */
uint32_t *
emu_graph_body_shuffled(const emu_graph_body *body, uint64_t seed)
{
    uint32_t *order = malloc((body->count + 1) * sizeof(*order));
    bool *done = calloc(body->count + 1, sizeof(*done));
    uint64_t state = seed;

    if (order == NULL || done == NULL) {
        free(order);
        free(done);
        return NULL;
    }
    for (size_t placed = 0; placed < body->count; placed++) {
        size_t at;

        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        at = (size_t)(state >> 33) % body->count;
        while (done[at] || !body_is_ready(body->nodes[at], done)) {
            at = (at + 1) % body->count;
        }
        done[at] = true;
        order[placed] = (uint32_t)at;
    }
    free(done);
    return order;
}
