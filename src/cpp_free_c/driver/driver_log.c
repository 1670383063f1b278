/* The driver's own messages about failed calls. See driver_log.h.
 *
 * For a failed call the driver logs what is wrong, if it knows. Since CUDA 13.0 a line
 * with the code and the name of the call ends its messages; before, each message has
 * the name. The text of a dump also begins with "[time][thread][source][level]". */
#include "driver/driver_log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LOG_MESSAGES = 16, LOG_LENGTH = 512 };

typedef struct {
    unsigned long thread; /* a number; 0: the place is free */
    char text[LOG_LENGTH];
} log_message;

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static log_message log_messages[LOG_MESSAGES]; /* a ring */
static unsigned int log_next;                  /* the oldest message of the ring */
static unsigned int log_pending;               /* places that are not free */
static unsigned long log_threads;              /* how many threads have numbers */
static PCU_THREAD unsigned long log_thread;    /* never used twice, as handles are */

/* The number of this thread. The lock is held. */
static unsigned long
log_thread_number(void)
{
    if (log_thread == 0) {
        log_thread = ++log_threads;
    }
    return log_thread;
}

/* -- keeping ----------------------------------------------------------------------- */

/* Keep a message. The driver calls this function in the thread of the failed call. */
static void
log_keep(void *data, CUlogLevel level, char *text, size_t length)
{
    (void)data;
    (void)level;
    if (length >= LOG_LENGTH) {
        length = LOG_LENGTH - 1;
    }
    pthread_mutex_lock(&log_lock);
    log_message *message = &log_messages[log_next];
    log_next = (log_next + 1) % LOG_MESSAGES;
    log_pending += message->thread == 0;
    message->thread = log_thread_number();
    memcpy(message->text, text, length);
    message->text[length] = '\0';
    pthread_mutex_unlock(&log_lock);
}

void
pcu_driver_log_begin(void)
{
    static bool begun; /* callers hold the lock of their interpreter */
    CUlogsCallbackHandle handle = NULL;
    if (!begun) {
        begun = drv.LogsRegisterCallback(log_keep, NULL, &handle) == CUDA_SUCCESS;
    }
}

/* -- reading ----------------------------------------------------------------------- */

/* The end of a word at the start of a text. */
static size_t
log_word(const char *text)
{
    return strcspn(text, " ]\n");
}

/* Whether the name is that of the routine, perhaps with the suffix of an ABI. */
static bool
log_names(const char *name, const char *routine)
{
    size_t length = strlen(routine);
    return log_word(name) >= length && strncmp(name, routine, length) == 0 &&
           (name[length] == '_' || log_word(name) == length);
}

/* The name of the call in a line that ends the messages of a call, else NULL. */
static const char *
log_ended_call(const char *text)
{
    static const char mark[] = " from ";
    const char *found = strstr(text, "Returning ");
    if (found != NULL) {
        found = strstr(found, mark);
    }
    if (found == NULL) {
        return NULL;
    }
    return found + sizeof(mark) - 1;
}

/* Skip the groups in brackets. *named becomes the last of them that names a call. */
static const char *
log_skip_prefix(const char *text, const char **named)
{
    *named = NULL;
    while (*text == '[') {
        const char *end = strchr(text, ']');
        if (end == NULL) {
            break;
        }
        if (strncmp(text, "[cu", 3) == 0) {
            *named = text + 1;
        }
        text = end + 1;
    }
    return text + strspn(text, " ");
}

typedef struct {
    const char *routine;
    char *text;
    size_t room;
    size_t length;
    bool ended; /* the messages so far are of a call that has ended */
} log_reader;

static void
log_reader_forget(log_reader *reader)
{
    reader->length = 0;
    reader->text[0] = '\0';
}

/* Add a message to the text if it is about the call; drop what is about earlier calls.
 */
static void
log_read(log_reader *reader, const char *text)
{
    const char *named = NULL;
    const char *ended = log_ended_call(text);
    if (reader->ended) {
        log_reader_forget(reader);
    }
    reader->ended = ended != NULL;
    if (ended != NULL) {
        if (!log_names(ended, reader->routine)) {
            log_reader_forget(reader);
        }
        return;
    }
    text = log_skip_prefix(text, &named);
    if (named != NULL && !log_names(named, reader->routine)) {
        return;
    }
    const char *newline = reader->length == 0 ? "" : "\n";
    size_t length = strcspn(text, "\n");
    int written = snprintf(reader->text + reader->length, reader->room - reader->length,
                           "%s%.*s", newline, (int)length, text);
    if (written > 0 && (size_t)written < reader->room - reader->length) {
        reader->length += (size_t)written;
    }
    else {
        reader->text[reader->length] = '\0'; /* no room: leave the message out */
    }
}

size_t
pcu_driver_log_take(const char *routine, char *text, size_t room)
{
    log_reader reader = {.routine = routine, .text = text, .room = room};
    text[0] = '\0';
    pthread_mutex_lock(&log_lock);
    for (unsigned int i = 0; log_pending != 0 && i < LOG_MESSAGES; i++) {
        log_message *message = &log_messages[(log_next + i) % LOG_MESSAGES];
        if (message->thread == log_thread_number()) {
            log_read(&reader, message->text);
            message->thread = 0;
            log_pending--;
        }
    }
    pthread_mutex_unlock(&log_lock);
    return reader.length;
}
