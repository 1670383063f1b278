/* The queue of warnings. See warnings.h. */
#define _GNU_SOURCE
#include "device/base/warnings.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/base/checks.h"

typedef struct warning {
    struct warning *next;
    emu_ptx_place place;
    char text[];
} warning;

static struct {
    pthread_mutex_t mutex; /* guards the rest */
    emu_warned warned;
    void *argument;
    warning *first, **end;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER, .end = &queue.first};

void
emu_set_warned(emu_warned warned, void *argument)
{
    pthread_mutex_lock(&queue.mutex);
    queue.warned = warned;
    queue.argument = argument;
    pthread_mutex_unlock(&queue.mutex);
}

/* Keep a text and tell the host. False: there is no host, or no memory. */
static bool
warning_keep(const char *text, emu_ptx_place place)
{
    const size_t bytes = strlen(text) + 1;
    warning *added = malloc(sizeof(*added) + bytes);
    bool has_host;

    if (added == NULL) {
        return false;
    }
    added->next = NULL;
    added->place = place;
    memcpy(added->text, text, bytes);
    pthread_mutex_lock(&queue.mutex);
    has_host = queue.warned != NULL;
    if (has_host) {
        *queue.end = added;
        queue.end = &added->next;
        queue.warned(queue.argument);
    }
    pthread_mutex_unlock(&queue.mutex);
    if (!has_host) {
        free(added);
    }
    return has_host;
}

void
emu_warning_add(const char *kind, const char *text, emu_ptx_place place)
{
    if (kind != NULL) {
        (void)emu_report_log(kind, text);
    }
    if (!warning_keep(text, place)) {
        (void)fprintf(stderr, "pycuda: %s", text);
    }
}

static warning *
warning_remove_first(void)
{
    warning *first;

    pthread_mutex_lock(&queue.mutex);
    first = queue.first;
    if (first != NULL) {
        queue.first = first->next;
        if (queue.first == NULL) {
            queue.end = &queue.first;
        }
    }
    pthread_mutex_unlock(&queue.mutex);
    return first;
}

size_t
emu_warning_take(char *text, size_t room, unsigned long long *hash, unsigned lines[2])
{
    warning *first = warning_remove_first();

    if (first == NULL) {
        return 0;
    }
    (void)snprintf(text, room, "%s", first->text);
    *hash = first->place.hash;
    memcpy(lines, first->place.lines, sizeof(first->place.lines));
    free(first);
    return strlen(text);
}

/* What the program has not read is not lost. */
__attribute__((destructor)) static void
warning_write_last(void)
{
    for (warning *w = warning_remove_first(); w != NULL; w = warning_remove_first()) {
        (void)fprintf(stderr, "pycuda: %s", w->text);
        free(w);
    }
}
