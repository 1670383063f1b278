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
    warning *notice;
    bool has_noticed;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER, .end = &queue.first};

void
emu_set_warned(emu_warned warned, void *argument)
{
    pthread_mutex_lock(&queue.mutex);
    queue.warned = warned;
    queue.argument = argument;
    pthread_mutex_unlock(&queue.mutex);
}

/* NULL: out of memory. */
static warning *
warning_new(const char *text, emu_ptx_place place)
{
    const size_t bytes = strlen(text) + 1;
    warning *made = malloc(sizeof(*made) + bytes);

    if (made != NULL) {
        made->next = NULL;
        made->place = place;
        memcpy(made->text, text, bytes);
    }
    return made;
}

/* Keep a text and tell the host. False: there is no host, or no memory. */
static bool
warning_keep(const char *text, emu_ptx_place place)
{
    warning *added = warning_new(text, place);
    bool has_host;

    if (added == NULL) {
        return false;
    }
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

/* Write a warning that no host shows any more. */
static void
warning_write(bool logs, const char *text)
{
    (void)fprintf(stderr, "pycuda: %s", text);
    if (logs) {
        (void)emu_report_log("warning", text);
    }
}

void
emu_warning_add(const char *kind, const char *text, emu_ptx_place place)
{
    if (kind != NULL) {
        (void)emu_report_log(kind, text);
    }
    if (!warning_keep(text, place)) {
        warning_write(kind == NULL, text);
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

/* Hand out a warning, which may be NULL, and free it. */
static size_t
warning_hand_out(warning *taken, char *text, size_t room, unsigned long long *hash,
                 unsigned lines[2])
{
    if (taken == NULL) {
        return 0;
    }
    (void)snprintf(text, room, "%s", taken->text);
    *hash = taken->place.hash;
    memcpy(lines, taken->place.lines, sizeof(taken->place.lines));
    free(taken);
    return strlen(text);
}

size_t
emu_warning_take(char *text, size_t room, unsigned long long *hash, unsigned lines[2])
{
    return warning_hand_out(warning_remove_first(), text, room, hash, lines);
}

static warning *
notice_exchange(warning *next)
{
    pthread_mutex_lock(&queue.mutex);
    warning *const last = queue.notice;
    queue.notice = next;
    pthread_mutex_unlock(&queue.mutex);
    return last;
}

bool
emu_notice_is_first(void)
{
    pthread_mutex_lock(&queue.mutex);
    const bool is_first = !queue.has_noticed;
    queue.has_noticed = true;
    pthread_mutex_unlock(&queue.mutex);
    return is_first;
}

void
emu_notice_add(const char *text, emu_ptx_place place)
{
    warning *next = NULL;

    pthread_mutex_lock(&queue.mutex);
    const bool has_host = queue.warned != NULL;
    pthread_mutex_unlock(&queue.mutex);
    if (has_host) {
        next = warning_new(text, place);
    }
    if (next == NULL) {
        (void)fprintf(stderr, "pycuda: %s", text);
        return;
    }
    free(notice_exchange(next));
}

size_t
emu_notice_take(char *text, size_t room, unsigned long long *hash, unsigned lines[2])
{
    return warning_hand_out(notice_exchange(NULL), text, room, hash, lines);
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
