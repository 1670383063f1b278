/* The last message, and lines, callbacks and the file of the log. See message.h. */
#define _GNU_SOURCE
#include "device/api/entry/message.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device/api/entry/context_stack.h"
#include "device/api/entry/lock.h"
#include "device/base/checks.h"
#include "device/machine/warp/report.h"
#include "device/memory/memory.h"
#include "device/sync_check/stream_check.h"

/* -- the last message -------------------------------------------------------------- */

enum { MESSAGE_ROOM = 2048 };

static struct {
    char text[MESSAGE_ROOM];
    unsigned ptx_lines[2]; /* of its report, or 0 */
    uint64_t ptx_hash;
} last_message;
static _Thread_local char message_copy[MESSAGE_ROOM];

void
emu_message_set(const char *format, ...)
{
    va_list arguments;

    memset(last_message.ptx_lines, 0, sizeof(last_message.ptx_lines));
    last_message.ptx_hash = 0;
    va_start(arguments, format);
    (void)vsnprintf(last_message.text, sizeof(last_message.text), format,
                    arguments); /* cut to fit */
    va_end(arguments);
}

void
emu_message_set_report(const emu_report *report)
{
    if (report->text[0] == 0) {
        return;
    }
    emu_message_set("%s", report->text);
    memcpy(last_message.ptx_lines, report->ptx_lines, sizeof(last_message.ptx_lines));
    last_message.ptx_hash = report->ptx_hash;
    if (report->kind != NULL) {
        (void)emu_report_log(report->kind, report->text);
    }
}

const char *
emu_last_message(void)
{
    emu_lock();
    memcpy(message_copy, last_message.text, sizeof(message_copy));
    emu_finding_is_told();
    emu_unlock();
    return message_copy;
}

uint64_t
emu_last_ptx(unsigned lines[2])
{
    emu_lock();
    memcpy(lines, last_message.ptx_lines, sizeof(last_message.ptx_lines));
    uint64_t hash = last_message.ptx_hash;

    emu_unlock();
    return hash;
}

void
emu_message_clear(void)
{
    emu_lock();
    last_message.text[0] = 0;
    emu_unlock();
}

void
emu_recover(CUcontext handle)
{
    emu_lock();
    emu_context *context = emu_context_get(handle);

    if (context != NULL && atomic_exchange(&context->sticky, CUDA_SUCCESS) != 0) {
        context->lost_objects = emu_object_last_serial();
        context->lost_memory = emu_memory_last_serial();
    }
    last_message.text[0] = 0;
    (void)emu_finding_take();
    emu_finding_is_told();
    emu_unlock();
}

/* -- the log of failed calls ------------------------------------------------------- */

enum { REASON_ROOM = 400, LINE_ROOM = 512, PREFIX_ROOM = 64 };

typedef struct CUlogsCallbackEntry_st {
    CUlogsCallback function;
    void *data;
    struct CUlogsCallbackEntry_st *next;
} log_callback;

/* The lines lie one behind the other, each with its newline. The oldest go first. */
static struct {
    pthread_mutex_t mutex;
    pthread_rwlock_t delivering; /* held while callbacks run */
    log_callback *callbacks;     /* `delivering` guards them */
    char text[EMU_ERROR_LOG_ROOM];
    size_t length;
    unsigned int first, next; /* numbers of the oldest line, and behind the newest */
    FILE *file;               /* of CUDA_LOG_FILE; NULL: none */
} error_log = {.mutex = PTHREAD_MUTEX_INITIALIZER,
               .delivering = PTHREAD_RWLOCK_INITIALIZER};

static pthread_once_t messages_opened = PTHREAD_ONCE_INIT;
static _Thread_local char reason[REASON_ROOM];
static _Thread_local bool is_delivering; /* this thread runs a callback */

static void
log_open(void)
{
    const char *path = getenv("CUDA_LOG_FILE");

    if (path == NULL || path[0] == 0) {
        return;
    }
    if (strcmp(path, "stdout") == 0) {
        error_log.file = stdout;
    }
    else if (strcmp(path, "stderr") == 0) {
        error_log.file = stderr;
    }
    else {
        error_log.file = fopen(path, "a"); /* NULL: there is no log then */
    }
}

void
emu_error_log_say(const char *format, ...)
{
    va_list arguments;

    if (reason[0] != 0) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
}

/* -- lines ------------------------------------------------------------------------- */

/* "[22:21:32.099][25642][CUDA][E] ": the time, the thread, the source, the level. */
static void
line_prefix(char prefix[PREFIX_ROOM])
{
    struct timespec now;
    struct tm local;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (localtime_r(&now.tv_sec, &local) == NULL) {
        memset(&local, 0, sizeof(local));
    }
    (void)snprintf(prefix, PREFIX_ROOM, "[%02d:%02d:%02d.%03ld][%ld][CUDA][E] ",
                   local.tm_hour % 24, local.tm_min % 60, local.tm_sec % 61,
                   now.tv_nsec / 1000000, (long)gettid());
}

/* Remove the oldest line. The mutex is held. */
static void
log_forget_first(void)
{
    const char *end = memchr(error_log.text, '\n', error_log.length);
    const size_t used = (size_t)(end - error_log.text) + 1;

    error_log.length -= used;
    memmove(error_log.text, error_log.text + used, error_log.length);
    error_log.first++;
}

static void
log_add_line(const char *text)
{
    char prefix[PREFIX_ROOM], line[LINE_ROOM];
    int length;

    line_prefix(prefix);
    length = snprintf(line, sizeof(line) - 1, "%s%s", prefix, text);
    if (length >= (int)sizeof(line) - 1) {
        length = (int)sizeof(line) - 2;
    }
    line[length++] = '\n';
    pthread_mutex_lock(&error_log.mutex);
    while (error_log.length + (size_t)length > sizeof(error_log.text)) {
        log_forget_first();
    }
    memcpy(error_log.text + error_log.length, line, (size_t)length);
    error_log.length += (size_t)length;
    error_log.next++;
    if (error_log.file != NULL) { /* a failure must not fail the call */
        (void)fwrite(line, 1, (size_t)length, error_log.file);
        (void)fflush(error_log.file);
    }
    pthread_mutex_unlock(&error_log.mutex);
}

/* -- calls that end ---------------------------------------------------------------- */

/* Hand a message to the log and to the callbacks. */
static void
log_message(char *text)
{
    log_add_line(text);
    if (is_delivering) {
        return; /* a call that a callback makes */
    }
    is_delivering = true;
    pthread_rwlock_rdlock(&error_log.delivering);
    for (const log_callback *c = error_log.callbacks; c != NULL; c = c->next) {
        c->function(c->data, CU_LOG_LEVEL_ERROR, text, strlen(text));
    }
    pthread_rwlock_unlock(&error_log.delivering);
    is_delivering = false;
}

void
emu_error_log_end(emu_call call, CUresult status)
{
    char why[REASON_ROOM], ended[REASON_ROOM];

    if (status == CUDA_SUCCESS || status == CUDA_ERROR_NOT_READY ||
        status == CUDA_ERROR_NOT_INITIALIZED) {
        reason[0] = 0;
        return;
    }
    pthread_once(&messages_opened, log_open);
    memcpy(why, reason, sizeof(why));
    reason[0] = 0; /* a callback may call the driver */
    if (why[0] != 0) {
        log_message(why);
    }
    (void)snprintf(ended, sizeof(ended), "Returning %d (%s) from %s", (int)status,
                   emu_code_name(status), emu_call_export(call));
    log_message(ended);
}

/* -- reading ----------------------------------------------------------------------- */

unsigned int
emu_error_log_first(void)
{
    unsigned int first;

    pthread_mutex_lock(&error_log.mutex);
    first = error_log.first;
    pthread_mutex_unlock(&error_log.mutex);
    return first;
}

unsigned int
emu_error_log_next(void)
{
    unsigned int next;

    pthread_mutex_lock(&error_log.mutex);
    next = error_log.next;
    pthread_mutex_unlock(&error_log.mutex);
    return next;
}

/* The lines from a number on. */
static const char *
log_lines_from(unsigned int first, size_t *length)
{
    const char *at = error_log.text;

    for (unsigned int number = error_log.first; number != error_log.next; number++) {
        if ((int)(number - first) >= 0) {
            break;
        }
        at = (const char *)memchr(at, '\n', error_log.length) + 1;
    }
    *length = error_log.length - (size_t)(at - error_log.text);
    return at;
}

size_t
emu_error_log_read(unsigned int first, char *text, size_t room, unsigned int *next)
{
    static const char mark[] = "Older messages were left out.\n";
    const size_t mark_length = sizeof(mark) - 1;
    size_t length, written = 0;
    const char *lines;
    bool is_cut;

    pthread_mutex_lock(&error_log.mutex);
    is_cut = (int)(error_log.first - first) > 0;
    lines = log_lines_from(first, &length);
    while (length > 0 && length + (is_cut ? mark_length : 0) >= room) {
        const char *end = memchr(lines, '\n', length);

        is_cut = true;
        length -= (size_t)(end - lines) + 1;
        lines = end + 1;
    }
    if (length == 0 && is_cut) {
        written = room;
    }
    else {
        if (is_cut) {
            memcpy(text, mark, mark_length);
            written = mark_length;
        }
        memcpy(text + written, lines, length);
        written += length;
        text[written] = 0;
    }
    *next = error_log.next;
    pthread_mutex_unlock(&error_log.mutex);
    return written;
}

/* -- callbacks --------------------------------------------------------------------- */

bool
emu_error_log_is_delivering(void)
{
    return is_delivering;
}

CUlogsCallbackHandle
emu_error_log_register(CUlogsCallback function, void *data)
{
    log_callback *callback = calloc(1, sizeof(*callback));

    if (callback == NULL) {
        return NULL;
    }
    callback->function = function;
    callback->data = data;
    pthread_rwlock_wrlock(&error_log.delivering);
    callback->next = error_log.callbacks;
    error_log.callbacks = callback;
    pthread_rwlock_unlock(&error_log.delivering);
    return callback;
}

bool
emu_error_log_unregister(CUlogsCallbackHandle callback)
{
    log_callback **at = &error_log.callbacks;

    pthread_rwlock_wrlock(&error_log.delivering);
    while (*at != NULL && *at != callback) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = callback->next;
    }
    else {
        callback = NULL;
    }
    pthread_rwlock_unlock(&error_log.delivering);
    if (callback == NULL) {
        return false;
    }
    free(callback);
    return true;
}
