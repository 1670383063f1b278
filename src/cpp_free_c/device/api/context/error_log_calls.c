/* The driver's calls on the log of failed calls. The flags are reserved; an H200
 * ignores them, and logs nothing before cuInit. */
#include <stdio.h>
#include <stdlib.h>

#include "device/api/entry/entry.h"
#include "device/api/entry/message.h"
#include "device/api/entry/lock.h"

CUresult
emu_cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData,
                           CUlogsCallbackHandle *callback_out)
{
    if (callbackFunc == NULL) {
        emu_error_log_say("The callback must not be NULL.");
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_error_log_is_delivering()) {
        emu_error_log_say("A callback of the log cannot register callbacks.");
        return CUDA_ERROR_NOT_PERMITTED;
    }
    const emu_call call = emu_lock_pause();
    const CUlogsCallbackHandle callback =
        emu_error_log_register(callbackFunc, userData);

    emu_lock_resume(call);
    if (callback == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (callback_out != NULL) {
        *callback_out = callback;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
    if (emu_error_log_is_delivering()) {
        emu_error_log_say("A callback of the log cannot unregister callbacks.");
        return CUDA_ERROR_NOT_PERMITTED;
    }
    const emu_call call = emu_lock_pause();
    const bool is_found = emu_error_log_unregister(callback);

    emu_lock_resume(call);
    if (!is_found) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* The line at which a dump begins: the oldest one without an iterator. */
static unsigned int
log_begin(const CUlogIterator *iterator)
{
    if (iterator == NULL) {
        return emu_error_log_first();
    }
    return *iterator;
}

/* The next dump with this iterator begins behind the lines of this one. */
static void
log_advance(CUlogIterator *iterator, unsigned int next)
{
    if (iterator != NULL) {
        *iterator = next;
    }
}

CUresult
emu_cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags)
{
    (void)flags;
    if (iterator_out == NULL) {
        emu_error_log_say("The place for the iterator must not be NULL.");
        return CUDA_ERROR_INVALID_VALUE;
    }
    *iterator_out = emu_error_log_next();
    return CUDA_SUCCESS;
}

/* Write the lines to a file. False: it cannot be written. */
static bool
log_write_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "w");
    bool good;

    if (file == NULL) {
        return false;
    }
    good = fwrite(text, 1, length, file) == length;
    return fclose(file) == 0 && good;
}

CUresult
emu_cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile,
                     unsigned int flags)
{
    const size_t room = 2 * (size_t)EMU_ERROR_LOG_ROOM;
    unsigned int next;

    (void)flags;
    if (pathToFile == NULL) {
        emu_error_log_say("The path of the file must not be NULL.");
        return CUDA_ERROR_INVALID_VALUE;
    }
    char *text = malloc(room);
    if (text == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const size_t length = emu_error_log_read(log_begin(iterator), text, room, &next);
    const bool good = log_write_file(pathToFile, text, length);

    free(text);
    if (!good) {
        emu_error_log_say("The file \"%.200s\" cannot be written.", pathToFile);
        return CUDA_ERROR_INVALID_VALUE;
    }
    log_advance(iterator, next);
    return CUDA_SUCCESS;
}

CUresult
emu_cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size,
                       unsigned int flags)
{
    unsigned int next;

    (void)flags;
    if (buffer == NULL || size == NULL || *size == 0) {
        emu_error_log_say("There must be a buffer, and its size must be at least 1.");
        return CUDA_ERROR_INVALID_VALUE;
    }
    const size_t room = *size;

    *size = emu_error_log_read(log_begin(iterator), buffer, room, &next);
    if (*size == room) {
        emu_error_log_say("No message fits into the buffer of %zu bytes.", room);
        *size = 0;
        return CUDA_ERROR_INVALID_VALUE;
    }
    log_advance(iterator, next);
    return CUDA_SUCCESS;
}
