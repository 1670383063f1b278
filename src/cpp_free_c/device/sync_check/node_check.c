/* Nodes of a graph that use the same bytes. See stream_check.h. */
#define _GNU_SOURCE
#include "device/sync_check/stream_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of larger graphs the nodes are not compared: for each pair there is a bit. */
enum { MOST_NODES = 2048, WORD = 64 };

typedef struct {
    char kernel[96]; /* "kernel scale", or "": it is none */
    emu_node_side side;
    emu_uses uses;
    size_t ordered; /* nodes before and behind it */
    bool has_run;
} node;

struct emu_node_check {
    node *nodes;
    uint64_t *before; /* for each node, a bit for each node before it */
    size_t count, words;
    emu_uses *outer; /* of the node whose body it is; NULL: of the operation */
};

static _Thread_local emu_uses *node_target;
static _Thread_local char *node_kernel; /* of the innermost node that runs */

emu_uses *
emu_node_check_target(void)
{
    return node_target;
}

void
emu_node_check_name(const char *kernel)
{
    if (node_kernel != NULL) {
        (void)snprintf(node_kernel, sizeof(((node *)0)->kernel), "kernel %s", kernel);
    }
}

/* -- the order of nodes ------------------------------------------------------------ */

static bool
node_is_before(const emu_node_check *check, size_t first, size_t second)
{
    return check->before[second * check->words + first / WORD] >> first % WORD & 1;
}

/* Whether no edges order the node and some other one. */
static bool
node_has_partner(const emu_node_check *check, size_t number)
{
    return check->nodes[number].ordered + 1 < check->count;
}

static void
node_check_free(emu_node_check *check)
{
    if (check != NULL) {
        free(check->nodes);
        free(check->before);
        free(check);
    }
}

emu_node_check *
emu_node_check_new(size_t count)
{
    emu_node_check *check;

    if (emu_operation_present() == NULL || count < 2 || count > MOST_NODES) {
        return NULL;
    }
    check = calloc(1, sizeof(*check));
    if (check == NULL) {
        return NULL;
    }
    check->count = count;
    check->words = (count + WORD - 1) / WORD;
    check->nodes = calloc(count, sizeof(*check->nodes));
    check->before = calloc(count * check->words, sizeof(*check->before));
    check->outer = node_target;
    if (check->nodes == NULL || check->before == NULL) {
        node_check_free(check);
        return NULL;
    }
    return check;
}

void
emu_node_check_order(emu_node_check *check, size_t number, size_t before)
{
    uint64_t *own = check->before + number * check->words;
    const uint64_t *others = check->before + before * check->words;

    for (size_t i = 0; i < check->words; i++) {
        own[i] |= others[i];
    }
    own[before / WORD] |= UINT64_C(1) << before % WORD;
}

emu_node_check *
emu_node_check_ordered(emu_node_check *check)
{
    bool has_partners = false;

    for (size_t i = 0; i < check->count; i++) {
        for (size_t k = 0; k < check->words; k++) {
            uint64_t left = check->before[i * check->words + k];

            check->nodes[i].ordered += (size_t)__builtin_popcountll(left);
            for (; left != 0; left &= left - 1) {
                check->nodes[k * WORD + (size_t)__builtin_ctzll(left)].ordered++;
            }
        }
    }
    for (size_t i = 0; i < check->count; i++) {
        has_partners |= node_has_partner(check, i);
    }
    if (!has_partners) {
        node_check_free(check);
        return NULL;
    }
    return check;
}

/* -- running ----------------------------------------------------------------------- */

void
emu_node_check_begin(emu_node_check *check, size_t number)
{
    node_kernel = NULL;
    if (check != NULL && node_has_partner(check, number)) {
        node_target = &check->nodes[number].uses;
        node_kernel = check->nodes[number].kernel;
    }
}

void
emu_node_check_end(emu_node_check *check, size_t number, const char *word,
                   const char *site)
{
    node_kernel = NULL;
    if (check == NULL || !node_has_partner(check, number)) {
        return;
    }
    node *ended = &check->nodes[number];

    node_target = check->outer;
    ended->side = (emu_node_side){ended->kernel[0] != 0 ? ended->kernel : word, site,
                                  emu_memory_last_serial(), &ended->uses};
    ended->has_run = true;
    for (size_t i = 0; i < check->count; i++) {
        if (i != number && check->nodes[i].has_run &&
            !node_is_before(check, i, number) && !node_is_before(check, number, i)) {
            emu_operation_compare(&check->nodes[i].side, &ended->side);
        }
    }
}

void
emu_node_check_close(emu_node_check *check)
{
    if (check == NULL) {
        return;
    }
    node_target = check->outer;
    for (size_t i = 0; i < check->count; i++) {
        emu_operation_join(check->outer, &check->nodes[i].uses);
        emu_uses_close(&check->nodes[i].uses);
    }
    node_check_free(check);
}
