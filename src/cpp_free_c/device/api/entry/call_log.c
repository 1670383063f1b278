/* The call log. See call_log.h. */
#include "device/api/entry/call_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/api/entry/lock.h"
#include "device/api/entry/message.h"

#define LOG_ENTRIES 4096

static struct {
    unsigned long long counts[EMU_CALLS], total;
    struct {
        unsigned short call;
        unsigned short code;
    } ring[LOG_ENTRIES];
    size_t next, count;
    FILE *file; /* of PYCUDA_EMULATOR_LOG; never closed */
    CUresult environment;
} call_log;

void
emu_call_log_open(void)
{
    const char *path = getenv("PYCUDA_EMULATOR_LOG");

    if (path == NULL || *path == 0) {
        return;
    }
    call_log.file = fopen(path, "a");
    if (call_log.file == NULL) {
        call_log.environment = CUDA_ERROR_INVALID_VALUE;
        emu_message_set("PYCUDA_EMULATOR_LOG names \"%s\", which cannot be written.",
                        path);
    }
}

CUresult
emu_call_log_environment(void)
{
    return call_log.environment;
}

void
emu_call_log_begin(emu_call call)
{
    call_log.counts[call]++;
    call_log.total++;
}

void
emu_call_log_end(emu_call call, CUresult status)
{
    call_log.ring[call_log.next].call = (unsigned short)call;
    call_log.ring[call_log.next].code = (unsigned short)status;
    call_log.next = (call_log.next + 1) % LOG_ENTRIES;
    if (call_log.count < LOG_ENTRIES) {
        call_log.count++;
    }
    if (call_log.file != NULL) {
        /* A failure to write the log must not fail the call. */
        (void)fprintf(call_log.file, "%s %d\n", emu_call_name(call), (int)status);
        (void)fflush(call_log.file);
    }
}

/* -- exported ---------------------------------------------------------------------- */

unsigned long long
emu_call_count(const char *name)
{
    int call = emu_call_find(name);
    unsigned long long count = 0;

    emu_lock();
    if (call == EMU_CALLS) {
        count = call_log.total;
    }
    else if (call >= 0) {
        count = call_log.counts[call];
    }
    emu_unlock();
    return count;
}

size_t
emu_call_log(char *buffer, size_t room)
{
    size_t needed = 1, written = 0;

    emu_lock();
    for (size_t i = 0; i < call_log.count; i++) {
        size_t at = (call_log.next + LOG_ENTRIES - call_log.count + i) % LOG_ENTRIES;
        char line[96];
        int length = snprintf(line, sizeof(line), "%s %d\n",
                              emu_call_name((emu_call)call_log.ring[at].call),
                              call_log.ring[at].code);

        needed += (size_t)length;
        if (buffer != NULL && needed <= room) {
            memcpy(buffer + written, line, (size_t)length);
            written += (size_t)length;
        }
    }
    emu_unlock();
    if (buffer != NULL && room > 0) {
        buffer[written] = 0;
    }
    return needed;
}

void
emu_call_log_clear(void)
{
    emu_lock();
    call_log.count = 0;
    emu_unlock();
}
