/* The bodies of executable graphs. See exec_body.h. */
#define _GNU_SOURCE
#include "device/api/graph/exec_body.h"

#include <stdlib.h>
#include <string.h>

#include "device/machine/warp/wait.h"
#include "device/api/memory/graph_memory.h"

/* -- making and freeing ------------------------------------------------------------ */

bool
emu_exec_node_set_payload(emu_exec_node *node, const void *payload, size_t size)
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
    if (node->payload.data != NULL && node->work->drop != NULL) {
        node->work->drop(node->payload.data);
    }
    free(node->payload.data);
    node->payload = (emu_payload){copy, size};
    return true;
}

static void
exec_node_clear(emu_exec_node *node)
{
    if (node->payload.data != NULL && node->work->drop != NULL) {
        node->work->drop(node->payload.data);
    }
    free(node->payload.data);
    free(node->after);
    free(node->edges);
    for (size_t i = 0; i < node->body_count; i++) {
        emu_exec_body_release(node->bodies[i]);
    }
    free(node->bodies);
}

void
emu_exec_body_release(emu_exec_body *body)
{
    if (body == NULL || --body->holders > 0) {
        return;
    }
    for (size_t i = 0; i < body->count; i++) {
        exec_node_clear(&body->nodes[i]);
    }
    free(body->nodes);
    free(body->order);
    emu_user_references_drop(&body->references);
    emu_conditionals_drop(&body->conditionals);
    free(body);
}

/* A body with room for nodes, all zero. */
static emu_exec_body *
body_open(size_t count)
{
    emu_exec_body *body = calloc(1, sizeof(*body));

    if (body == NULL) {
        return NULL;
    }
    body->holders = 1;
    body->nodes = calloc(count + 1, sizeof(*body->nodes));
    body->order = calloc(count + 1, sizeof(*body->order));
    if (body->nodes == NULL || body->order == NULL) {
        emu_exec_body_release(body);
        return NULL;
    }
    return body;
}

/* Make room for the edges and bodies of a node. */
static bool
exec_node_open(emu_exec_node *node, size_t after, size_t bodies)
{
    node->after = malloc((after + 1) * sizeof(*node->after));
    node->edges = malloc((after + 1) * sizeof(*node->edges));
    node->bodies = calloc(bodies + 1, sizeof(emu_exec_body *));
    return node->after != NULL && node->edges != NULL && node->bodies != NULL;
}

static CUresult
exec_node_fill(emu_exec_node *to, const emu_node *from, emu_node **wrong)
{
    CUresult status = CUDA_SUCCESS;

    to->source = from->object.serial;
    to->work = from->work;
    to->enabled = true;
    if (!exec_node_open(to, from->after.count, from->body_count) ||
        !emu_exec_node_set_payload(to, from->payload.data, from->payload.size)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    to->after_count = from->after.count;
    for (size_t i = 0; i < from->after.count; i++) {
        to->after[i] = (uint32_t)from->after.nodes[i]->number;
        to->edges[i] = from->after.data[i];
    }
    to->body_count = from->body_count;
    for (size_t i = 0; status == CUDA_SUCCESS && i < from->body_count; i++) {
        status = emu_exec_body_new(from->bodies[i], &to->bodies[i], wrong);
    }
    return status;
}

/* Find an order in which each node comes after those that it waits for: visit them
 * first, from the first node to the last. `state`: 0 unseen, 1 on the path, 2 placed.
 * False: there is a circle, and *wrong is on it. */
static bool
body_visit(emu_exec_body *body, uint32_t first, unsigned char *state, uint32_t *path,
           size_t *next, size_t *placed, uint32_t *wrong)
{
    size_t depth = 1;

    path[0] = first;
    next[0] = 0;
    state[first] = 1;
    while (depth > 0) {
        const uint32_t at = path[depth - 1];
        const emu_exec_node *node = &body->nodes[at];

        if (next[depth - 1] == node->after_count) {
            state[at] = 2;
            body->order[(*placed)++] = at;
            depth--;
            continue;
        }
        *wrong = node->after[next[depth - 1]++];
        if (state[*wrong] == 1) {
            return false;
        }
        if (state[*wrong] == 0) {
            state[*wrong] = 1;
            path[depth] = *wrong;
            next[depth++] = 0;
        }
    }
    return true;
}

static CUresult
body_put_in_order(emu_exec_body *body, uint32_t *wrong)
{
    unsigned char *state = calloc(body->count + 1, 1);
    uint32_t *path = malloc((body->count + 1) * sizeof(*path));
    size_t *next = malloc((body->count + 1) * sizeof(*next));
    CUresult status = CUDA_SUCCESS;
    size_t placed = 0;

    if (state == NULL || path == NULL || next == NULL) {
        status = CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; status == CUDA_SUCCESS && i < body->count; i++) {
        if (state[i] == 0 && !body_visit(body, i, state, path, next, &placed, wrong)) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    free(state);
    free(path);
    free(next);
    return status;
}

CUresult
emu_exec_body_new(const emu_graph *graph, emu_exec_body **out, emu_node **wrong)
{
    emu_exec_body *body = body_open(graph->count);
    CUresult status = CUDA_SUCCESS;
    uint32_t at = UINT32_MAX;

    if (body == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    while (status == CUDA_SUCCESS && body->count < graph->count) {
        const size_t place = body->count++;

        status = exec_node_fill(&body->nodes[place], graph->nodes[place], wrong);
    }
    if (status == CUDA_SUCCESS) {
        status = body_put_in_order(body, &at);
        if (status == CUDA_ERROR_INVALID_VALUE) {
            *wrong = graph->nodes[at];
        }
    }
    if (status == CUDA_SUCCESS &&
        (!emu_user_references_copy(&body->references, &graph->references) ||
         !emu_conditionals_copy(&body->conditionals, &graph->conditionals))) {
        status = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (status != CUDA_SUCCESS) {
        emu_exec_body_release(body);
        return status;
    }
    *out = body;
    return CUDA_SUCCESS;
}

static bool
exec_node_copy(emu_exec_node *to, const emu_exec_node *from)
{
    to->source = from->source;
    to->work = from->work;
    to->enabled = from->enabled;
    if (!exec_node_open(to, from->after_count, from->body_count) ||
        !emu_exec_node_set_payload(to, from->payload.data, from->payload.size)) {
        return false;
    }
    to->after_count = from->after_count;
    memcpy(to->after, from->after, from->after_count * sizeof(*to->after));
    memcpy(to->edges, from->edges, from->after_count * sizeof(*to->edges));
    for (size_t i = 0; i < from->body_count; i++) {
        to->bodies[i] = emu_exec_body_copy(from->bodies[i]);
        if (to->bodies[i] == NULL) {
            return false;
        }
        to->body_count++;
    }
    return true;
}

emu_exec_body *
emu_exec_body_copy(const emu_exec_body *from)
{
    emu_exec_body *to = body_open(from->count);
    bool good = to != NULL;

    while (good && to->count < from->count) {
        const size_t place = to->count++;

        to->order[place] = from->order[place];
        good = exec_node_copy(&to->nodes[place], &from->nodes[place]);
    }
    good = good && emu_user_references_copy(&to->references, &from->references) &&
           emu_conditionals_copy(&to->conditionals, &from->conditionals);
    if (!good) {
        emu_exec_body_release(to);
        return NULL;
    }
    return to;
}

emu_exec_node *
emu_exec_body_find(emu_exec_body *body, uint64_t source)
{
    for (size_t i = 0; i < body->count; i++) {
        emu_exec_node *node = &body->nodes[i];

        if (node->source == source) {
            return node;
        }
        for (size_t k = 0; k < node->body_count; k++) {
            emu_exec_node *inner = emu_exec_body_find(node->bodies[k], source);

            if (inner != NULL) {
                return inner;
            }
        }
    }
    return NULL;
}

/* -- running ----------------------------------------------------------------------- */

void
emu_exec_body_use(const emu_exec_body *body, emu_operation *operation)
{
    for (size_t i = 0; i < body->count; i++) {
        const emu_exec_node *node = &body->nodes[i];

        if (node->enabled && node->work->use != NULL) {
            node->work->use(node->payload.data, operation);
        }
        for (size_t k = 0; k < node->body_count; k++) {
            emu_exec_body_use(node->bodies[k], operation);
        }
    }
}

static void
exec_node_end(const emu_exec_node *node)
{
    if (node->enabled && node->work->end != NULL) {
        node->work->end(node->payload.data);
    }
    for (size_t i = 0; i < node->body_count; i++) {
        emu_exec_body_end(node->bodies[i]);
    }
}

/* End the first `count` nodes. */
static void
body_end_first(const emu_exec_body *body, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        exec_node_end(&body->nodes[i]);
    }
}

static CUresult
exec_node_begin(const emu_exec_node *node, bool frees)
{
    CUresult status = CUDA_SUCCESS;

    if (frees && node->work == &emu_alloc_work) {
        emu_graph_memory_free_left(node->payload.data);
    }
    if (node->enabled && node->work->begin != NULL) {
        status = node->work->begin(node->payload.data);
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < node->body_count; i++) {
        status = emu_exec_body_begin(node->bodies[i], frees);
        if (status != CUDA_SUCCESS) {
            while (i-- > 0) {
                emu_exec_body_end(node->bodies[i]);
            }
            if (node->enabled && node->work->end != NULL) {
                node->work->end(node->payload.data);
            }
            return status;
        }
    }
    return status;
}

CUresult
emu_exec_body_begin(const emu_exec_body *body, bool frees)
{
    for (size_t i = 0; i < body->count; i++) {
        const CUresult status = exec_node_begin(&body->nodes[i], frees);

        if (status != CUDA_SUCCESS) {
            body_end_first(body, i);
            return status;
        }
    }
    emu_conditionals_begin(&body->conditionals);
    return CUDA_SUCCESS;
}

void
emu_exec_body_end(const emu_exec_body *body)
{
    emu_conditionals_end(&body->conditionals);
    body_end_first(body, body->count);
}

/* Whether all nodes that a node waits for are done. */
static bool
exec_node_is_ready(const emu_exec_node *node, const bool *done)
{
    for (size_t k = 0; k < node->after_count; k++) {
        if (!done[node->after[k]]) {
            return false;
        }
    }
    return true;
}

/* Another valid order, which depends on the seed; to be freed with free. NULL: out of
 * memory. Each step takes the first ready node from a random one on. There is always
 * one, because the nodes have an order. */
static uint32_t *
body_shuffle(const emu_exec_body *body, uint64_t seed)
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
        while (done[at] || !exec_node_is_ready(&body->nodes[at], done)) {
            at = (at + 1) % body->count;
        }
        done[at] = true;
        order[placed] = (uint32_t)at;
    }
    free(done);
    return order;
}

/* Run the bodies of a node as often as its kind says. */
static CUresult
exec_node_run_bodies(const emu_exec_node *node, uint64_t seed, emu_context *context,
                     emu_report *report)
{
    CUresult status = CUDA_SUCCESS;

    for (uint64_t round = 0; status == CUDA_SUCCESS; round++) {
        const int chosen = node->work->choose(node->payload.data, round);

        if (chosen < 0) {
            break;
        }
        status = emu_exec_body_run(node->bodies[chosen], seed, context, report);
        if (status == CUDA_SUCCESS && emu_wait_poll_due()) {
            status = EMU_INTERRUPTED;
        }
    }
    return status;
}

static CUresult
exec_node_run(const emu_exec_node *node, uint64_t seed, emu_context *context,
              emu_report *report)
{
    if (!node->enabled) {
        return CUDA_SUCCESS;
    }
    if (node->work->choose != NULL) {
        return exec_node_run_bodies(node, seed, context, report);
    }
    if (node->work->run != NULL) {
        return node->work->run(node->payload.data, context, report);
    }
    return CUDA_SUCCESS;
}

CUresult
emu_exec_body_run(const emu_exec_body *body, uint64_t seed, emu_context *context,
                  emu_report *report)
{
    uint32_t *other = NULL;
    CUresult status = CUDA_SUCCESS;

    if (seed != 0) {
        other = body_shuffle(body, seed);
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < body->count; i++) {
        const uint32_t at = other != NULL ? other[i] : body->order[i];

        status = exec_node_run(&body->nodes[at], seed, context, report);
    }
    free(other);
    return status;
}
