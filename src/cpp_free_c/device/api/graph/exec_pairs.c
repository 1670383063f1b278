/* Pairing the nodes of two graphs. See exec.h. */
#include "device/api/graph/exec.h"

#include <stdlib.h>
#include <string.h>

#define NO_PAIR UINT32_MAX

typedef struct {
    const emu_graph *body;
    const emu_graph *graph;
    uint32_t *pairs;            /* of the nodes of the body */
    uint32_t *others;           /* of the nodes of the graph */
    uint32_t *list;             /* nodes of the body whose edges are not compared yet */
    bool *inner, *others_inner; /* another node waits for it */
    size_t count, listed;
    CUgraphExecUpdateResultInfo *info;
} pairing;

static bool
pairing_refuse(pairing *p, emu_node *node, emu_node *from)
{
    *p->info = (CUgraphExecUpdateResultInfo){
        CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, from};
    return false;
}

/* Mark the nodes that a node waits for. */
static void
pairing_mark(bool *inner, const emu_edges *after)
{
    for (size_t k = 0; k < after->count; k++) {
        inner[after->nodes[k]->number] = true;
    }
}

static bool
pairing_open(pairing *p)
{
    const size_t count = p->body->count;

    p->count = count;
    p->pairs = malloc((count + 1) * sizeof(*p->pairs));
    p->others = malloc((count + 1) * sizeof(*p->others));
    p->list = malloc((count + 1) * sizeof(*p->list));
    p->inner = calloc(count + 1, sizeof(*p->inner));
    p->others_inner = calloc(count + 1, sizeof(*p->others_inner));
    if (p->pairs == NULL || p->others == NULL || p->list == NULL || p->inner == NULL ||
        p->others_inner == NULL) {
        *p->info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
        return false;
    }
    memset(p->pairs, 0xff, count * sizeof(*p->pairs)); /* NO_PAIR */
    memset(p->others, 0xff, count * sizeof(*p->others));
    for (size_t i = 0; i < count; i++) {
        pairing_mark(p->inner, &p->body->nodes[i]->after);
        pairing_mark(p->others_inner, &p->graph->nodes[i]->after);
    }
    return true;
}

static void
pairing_add(pairing *p, uint32_t node, uint32_t other)
{
    p->pairs[node] = other;
    p->others[other] = node;
    p->list[p->listed++] = node;
}

/* The last place below `end` whose node is not marked; `end` counts down to 0. */
static size_t
pairing_last(const bool *inner, size_t end)
{
    while (end > 0 && inner[end - 1]) {
        end--;
    }
    return end;
}

/* Pair the nodes for which no other waits, the last ones first. */
static bool
pairing_ends(pairing *p)
{
    size_t a = pairing_last(p->inner, p->count);
    size_t b = pairing_last(p->others_inner, p->count);

    while (a > 0 && b > 0) {
        pairing_add(p, (uint32_t)(a - 1), (uint32_t)(b - 1));
        a = pairing_last(p->inner, a - 1);
        b = pairing_last(p->others_inner, b - 1);
    }
    if (b > 0) {
        return pairing_refuse(p, p->graph->nodes[b - 1], NULL);
    }
    if (a > 0) {
        return pairing_refuse(p, NULL, NULL);
    }
    return true;
}

/* Pair the nodes that two paired nodes wait for. */
static bool
pairing_edges(pairing *p, uint32_t number)
{
    const emu_edges *after = &p->body->nodes[number]->after;
    emu_node *other = p->graph->nodes[p->pairs[number]];

    if (after->count != other->after.count) {
        return pairing_refuse(p, other, NULL);
    }
    for (size_t k = 0; k < after->count; k++) {
        emu_node *from = other->after.nodes[k];
        const uint32_t a = (uint32_t)after->nodes[k]->number;
        const uint32_t b = (uint32_t)from->number;

        if (memcmp(&after->data[k], &other->after.data[k], sizeof(after->data[k])) !=
            0) {
            return pairing_refuse(p, other, from);
        }
        if (p->pairs[a] == NO_PAIR && p->others[b] == NO_PAIR) {
            pairing_add(p, a, b);
        }
        else if (p->pairs[a] != b) {
            return pairing_refuse(p, other, from);
        }
    }
    return true;
}

static bool
pairing_find(pairing *p)
{
    bool good;

    if (p->body->count != p->graph->count) {
        return pairing_refuse(p, NULL, NULL);
    }
    good = pairing_open(p) && pairing_ends(p);
    for (size_t i = 0; good && i < p->listed; i++) {
        good = pairing_edges(p, p->list[i]);
    }
    if (good && p->listed < p->count) {
        good = pairing_refuse(p, NULL, NULL); /* nodes of the graph form a circle */
    }
    return good;
}

uint32_t *
emu_exec_pair(const emu_graph *body, const emu_graph *graph,
              CUgraphExecUpdateResultInfo *info)
{
    pairing p = {.body = body, .graph = graph, .info = info};

    if (!pairing_find(&p)) {
        free(p.pairs);
        p.pairs = NULL;
    }
    free(p.others);
    free(p.list);
    free(p.inner);
    free(p.others_inner);
    return p.pairs;
}
