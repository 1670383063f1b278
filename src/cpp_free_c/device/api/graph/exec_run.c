/* Executable graphs: the order of their nodes, and how they run. See exec.h. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "device/machine/warp/wait.h"
#include "device/api/graph/exec.h"
#include "device/api/memory/graph_memory.h"

/* -- making and freeing ------------------------------------------------------------ */

/* Find an order in which each node comes after those that it waits for: visit them
 * first, from the first node to the last. `state`: 0 unseen, 1 on the path, 2 placed.
 * False: there is a circle, and *wrong is on it. */
static bool
order_visit(const emu_graph *graph, uint32_t first, unsigned char *state,
            uint32_t *path, size_t *next, uint32_t *order, size_t *placed,
            emu_node **wrong)
{
    size_t depth = 1;

    path[0] = first;
    next[0] = 0;
    state[first] = 1;
    while (depth > 0) {
        const uint32_t at = path[depth - 1];
        const emu_edges *after = &graph->nodes[at]->after;

        if (next[depth - 1] == after->count) {
            state[at] = 2;
            order[(*placed)++] = at;
            depth--;
            continue;
        }
        emu_node *const from = after->nodes[next[depth - 1]++];
        const uint32_t number = (uint32_t)from->number;

        if (state[number] == 1) {
            *wrong = from;
            return false;
        }
        if (state[number] == 0) {
            state[number] = 1;
            path[depth] = number;
            next[depth++] = 0;
        }
    }
    return true;
}

/* Store the order of a graph in its copy. */
static CUresult
order_find(const emu_graph *graph, emu_graph *copy, emu_node **wrong)
{
    unsigned char *state = calloc(graph->count + 1, 1);
    uint32_t *path = malloc((graph->count + 1) * sizeof(*path));
    size_t *next = malloc((graph->count + 1) * sizeof(*next));
    CUresult status = CUDA_SUCCESS;
    size_t placed = 0;

    copy->order = malloc((graph->count + 1) * sizeof(*copy->order));
    if (state == NULL || path == NULL || next == NULL || copy->order == NULL) {
        status = CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; status == CUDA_SUCCESS && i < graph->count; i++) {
        if (state[i] == 0 &&
            !order_visit(graph, i, state, path, next, copy->order, &placed, wrong)) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    free(state);
    free(path);
    free(next);
    return status;
}

/* The same for the bodies of its nodes, first. */
static CUresult
order_find_all(const emu_graph *graph, emu_graph *copy, emu_node **wrong)
{
    for (size_t i = 0; i < graph->count; i++) {
        const emu_node *node = graph->nodes[i];

        for (size_t k = 0; k < node->body_count; k++) {
            CUresult status =
                order_find_all(node->bodies[k], copy->nodes[i]->bodies[k], wrong);

            if (status != CUDA_SUCCESS) {
                return status;
            }
        }
    }
    return order_find(graph, copy, wrong);
}

CUresult
emu_exec_body_new(const emu_graph *graph, emu_graph **out, emu_node **wrong)
{
    emu_graph *body = emu_graph_copy_executable(graph);

    if (body == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult status = order_find_all(graph, body, wrong);

    if (status != CUDA_SUCCESS) {
        emu_exec_body_release(body);
        return status;
    }
    *out = body;
    return CUDA_SUCCESS;
}

void
emu_exec_body_release(emu_graph *body)
{
    if (body != NULL && --body->holders == 0) {
        emu_graph_destroy(&body->object);
    }
}

emu_node *
emu_exec_body_find(const emu_graph *body, uint64_t source)
{
    for (size_t i = 0; i < body->count; i++) {
        emu_node *node = body->nodes[i];

        if (node->original == source) {
            return node;
        }
        for (size_t k = 0; k < node->body_count; k++) {
            emu_node *inner = emu_exec_body_find(node->bodies[k], source);

            if (inner != NULL) {
                return inner;
            }
        }
    }
    return NULL;
}

/* -- running ----------------------------------------------------------------------- */

void
emu_exec_body_use(const emu_graph *body, emu_operation *operation)
{
    for (size_t i = 0; i < body->count; i++) {
        const emu_node *node = body->nodes[i];

        if (!node->disabled && node->work->use != NULL) {
            node->work->use(node->payload.data, operation);
        }
        for (size_t k = 0; k < node->body_count; k++) {
            emu_exec_body_use(node->bodies[k], operation);
        }
    }
}

static void
exec_node_end(const emu_node *node)
{
    if (!node->disabled && node->work->end != NULL) {
        node->work->end(node->payload.data);
    }
    for (size_t i = 0; i < node->body_count; i++) {
        emu_exec_body_end(node->bodies[i]);
    }
}

/* End the first `count` nodes. */
static void
body_end_first(const emu_graph *body, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        exec_node_end(body->nodes[i]);
    }
}

static CUresult
exec_node_begin(const emu_node *node, bool frees)
{
    CUresult status = CUDA_SUCCESS;

    if (frees && node->work == &emu_alloc_work) {
        emu_graph_memory_free_left(node->payload.data);
    }
    if (!node->disabled && node->work->begin != NULL) {
        status = node->work->begin(node->payload.data);
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < node->body_count; i++) {
        status = emu_exec_body_begin(node->bodies[i], frees);
        if (status != CUDA_SUCCESS) {
            while (i-- > 0) {
                emu_exec_body_end(node->bodies[i]);
            }
            if (!node->disabled && node->work->end != NULL) {
                node->work->end(node->payload.data);
            }
            return status;
        }
    }
    return status;
}

CUresult
emu_exec_body_begin(const emu_graph *body, bool frees)
{
    for (size_t i = 0; i < body->count; i++) {
        const CUresult status = exec_node_begin(body->nodes[i], frees);

        if (status != CUDA_SUCCESS) {
            body_end_first(body, i);
            return status;
        }
    }
    emu_conditionals_begin(&body->conditionals);
    return CUDA_SUCCESS;
}

void
emu_exec_body_end(const emu_graph *body)
{
    emu_conditionals_end(&body->conditionals);
    body_end_first(body, body->count);
}

/* Whether all nodes that a node waits for are done. */
static bool
exec_node_is_ready(const emu_node *node, const bool *done)
{
    for (size_t k = 0; k < node->after.count; k++) {
        if (!done[node->after.nodes[k]->number]) {
            return false;
        }
    }
    return true;
}

/* Another valid order, which depends on the seed; to be freed with free. NULL: out of
 * memory. Each step takes the first ready node from a random one on. There is always
 * one, because the nodes have an order. */
static uint32_t *
body_shuffle(const emu_graph *body, uint64_t seed)
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
        while (done[at] || !exec_node_is_ready(body->nodes[at], done)) {
            at = (at + 1) % body->count;
        }
        done[at] = true;
        order[placed] = (uint32_t)at;
    }
    free(done);
    return order;
}

/* A run of a body, which may rest at a node. */
typedef struct {
    const emu_graph *body;
    uint64_t seed;
    uint32_t *other; /* the order; NULL: that of the body */
    emu_node_check *check;
    size_t at;      /* the present node, in the order */
    uint64_t round; /* of the bodies of that node */
    void *left;     /* at rest: what the node, or the body that it ran, has left; NULL:
                       the node has not begun */
} body_run;

static const emu_node *
body_run_node(const body_run *run)
{
    return run->body
        ->nodes[run->other != NULL ? run->other[run->at] : run->body->order[run->at]];
}

/* Run the bodies of a node as often as its kind says, from a round on. */
static CUresult
exec_node_run_bodies(body_run *run, const emu_node *node, emu_context *context,
                     emu_report *report)
{
    CUresult status = CUDA_SUCCESS;

    while (status == CUDA_SUCCESS) {
        const int chosen = node->work->choose(node->payload.data, run->round);

        if (chosen < 0) {
            break;
        }
        status = emu_exec_body_run(node->bodies[chosen], run->seed, context, report);
        if (status == CUDA_SUCCESS) {
            run->round++;
        }
        if (status == CUDA_SUCCESS && emu_wait_poll_due()) {
            status = EMU_INTERRUPTED;
        }
    }
    return status;
}

static CUresult
exec_node_run(body_run *run, const emu_node *node, emu_context *context,
              emu_report *report)
{
    if (node->disabled) {
        return CUDA_SUCCESS;
    }
    if (node->work->choose != NULL) {
        run->round = 0;
        return exec_node_run_bodies(run, node, context, report);
    }
    if (node->work->run != NULL) {
        return node->work->run(node->payload.data, context, report);
    }
    return CUDA_SUCCESS;
}

/* -- the check of nodes that no edges order ---------------------------------------- */

/* Prepare it for a run of a body; NULL: nothing is checked. */
static emu_node_check *
body_check(const emu_graph *body)
{
    emu_node_check *check = emu_node_check_new(body->count);

    if (check == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < body->count; i++) {
        const emu_node *node = body->nodes[body->order[i]];

        for (size_t k = 0; k < node->after.count; k++) {
            emu_node_check_order(check, node->number, node->after.nodes[k]->number);
        }
    }
    return emu_node_check_ordered(check);
}

/* What a node is called in a finding, unless it is a kernel. */
static const char *
exec_node_word(const emu_node *node)
{
    switch (node->work->type) {
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return "a copy";
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return "a fill";
        case CU_GRAPH_NODE_TYPE_GRAPH:
            return "a child graph";
        case CU_GRAPH_NODE_TYPE_CONDITIONAL:
            return "a conditional node";
        default:
            return "a node";
    }
}

/* Go on with the node at which a run rests. */
static CUresult
body_run_node_on(body_run *run, emu_context *context, emu_report *report)
{
    const emu_node *node = body_run_node(run);
    CUresult status;

    if (run->left == NULL) {
        return exec_node_run(run, node, context, report);
    }
    if (node->work->choose == NULL) {
        return node->work->go_on(run->left, node->payload.data, context, report);
    }
    status = emu_exec_body_go_on(run->left, context, report);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    run->round++;
    return exec_node_run_bodies(run, node, context, report);
}

/* Whether a graph has run for so long that it leaves its thread before the next node.
 */
static bool
body_run_leaves(emu_report *report)
{
    uint64_t now;

    if (!report->may_leave) {
        return false;
    }
    now = emu_clock_coarse();
    if (report->leaves_at == 0) {
        report->leaves_at = now + EMU_LEAVE_NANOSECONDS;
    }
    report->left = NULL;
    return now >= report->leaves_at;
}

/* Run the nodes from the present one on. Without memory a run does not rest. */
static CUresult
body_run_nodes(body_run *run, CUresult status, emu_context *context, emu_report *report)
{
    while (status == CUDA_SUCCESS && run->at < run->body->count) {
        const emu_node *node = body_run_node(run);

        emu_node_check_begin(run->check, node->number);
        if (body_run_leaves(report)) {
            status = EMU_GOES_ON;
        }
        else {
            status = exec_node_run(run, node, context, report);
        }
        if (status == EMU_GOES_ON) {
            body_run *rest = malloc(sizeof(*rest));

            run->left = report->left;
            if (rest != NULL) {
                *rest = *run;
                report->left = rest;
                return status;
            }
            report->may_leave = false;
            status = body_run_node_on(run, context, report);
        }
        emu_node_check_end(run->check, node->number, exec_node_word(node),
                           node->object.site);
        run->at++;
    }
    emu_node_check_close(run->check);
    free(run->other);
    return status;
}

CUresult
emu_exec_body_run(const emu_graph *body, uint64_t seed, emu_context *context,
                  emu_report *report)
{
    body_run run = {.body = body, .seed = seed, .check = body_check(body)};

    if (seed != 0) {
        run.other = body_shuffle(body, seed);
    }
    return body_run_nodes(&run, CUDA_SUCCESS, context, report);
}

CUresult
emu_exec_body_go_on(void *left, emu_context *context, emu_report *report)
{
    body_run run = *(body_run *)left;

    free(left);
    const CUresult status = body_run_node_on(&run, context, report);

    run.at++;
    return body_run_nodes(&run, status, context, report);
}
