/* Fault injection, counters, call log and last message; all guarded by the API lock. */
#include "device/api/faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/api/context.h"
#include "device/api/pool.h"

#define FAULTS 32
#define LOG_ENTRIES 4096
#define MESSAGE_ROOM 2048

enum { ANY_CALL = EMU_CALLS };

typedef struct {
    unsigned int remaining; /* 0: free */
    int call;
    int code;
} fault;

static struct {
    fault faults[FAULTS];
    size_t armed; /* those from here on are free */
    unsigned long long fired;
    unsigned long long abandoned, foreign;
    unsigned long long counts[EMU_CALLS], total;
    struct {
        unsigned short call;
        unsigned short code;
    } log[LOG_ENTRIES];
    size_t log_next, log_count;
    FILE *file; /* PYCUDA_EMULATOR_LOG; never closed */
    char message[MESSAGE_ROOM];
    CUresult environment;
} state;

static _Thread_local char message_copy[MESSAGE_ROOM];

#define CALL_NAME(name, version, need, blocking, parameters) "cu" #name,
static const char *const call_names[EMU_CALLS] = {PCU_DRV_SYMBOLS(CALL_NAME)};
#undef CALL_NAME

/* ANY_CALL, a number, or -1. */
static int
find_call(const char *name)
{
    if (!name || !*name || strcmp(name, "*") == 0) {
        return ANY_CALL;
    }
    for (int i = 0; i < EMU_CALLS; i++) {
        if (strcmp(name, call_names[i]) == 0 || strcmp(name, call_names[i] + 2) == 0) {
            return i;
        }
    }
    return -1;
}

static int
set_locked(const char *name, unsigned int nth, int code)
{
    int call = find_call(name);

    if (call < 0 || nth == 0 || code <= 0) {
        return -1;
    }
    for (size_t i = 0; i < FAULTS; i++) {
        if (!state.faults[i].remaining) {
            state.faults[i] = (fault){nth, call, code};
            state.armed = i >= state.armed ? i + 1 : state.armed;
            return 0;
        }
    }
    return -1;
}

/* A code by number or by its CUDA_ERROR_ name; -1 for neither. */
static int
parse_code(const char *text)
{
#define CODE_NAME(name, code, exception, words) {#name, code},
    static const struct {
        const char *name;
        int code;
    } codes[] = {PCU_RESULTS(CODE_NAME)};
#undef CODE_NAME
    char *end;
    long value = strtol(text, &end, 10);

    if (end != text && !*end && value > 0 && value < 10000) {
        return (int)value;
    }
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (strcmp(text, codes[i].name) == 0 && codes[i].code) {
            return codes[i].code;
        }
    }
    return -1;
}

/* name:n:code, several with commas between. */
static CUresult
parse_environment(const char *text)
{
    const char *at = text;

    while (*at) {
        size_t length = strcspn(at, ",");
        char item[160];
        char *nth, *code, *end;
        unsigned long count;

        if (length >= sizeof(item)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        memcpy(item, at, length);
        item[length] = 0;
        nth = strchr(item, ':');
        code = nth ? strchr(nth + 1, ':') : NULL;
        if (!code) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *nth++ = 0;
        *code++ = 0;
        count = strtoul(nth, &end, 10);
        if (end == nth || *end || count == 0 || count > 1000000000 ||
            set_locked(item, (unsigned int)count, parse_code(code)) < 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        at += length;
        at += *at == ',';
    }
    return CUDA_SUCCESS;
}

void
emu_fault_open(void)
{
    const char *faults = getenv("PYCUDA_EMULATOR_FAULT");
    const char *path = getenv("PYCUDA_EMULATOR_LOG");

    state.environment = faults ? parse_environment(faults) : CUDA_SUCCESS;
    if (state.environment != CUDA_SUCCESS) {
        emu_message_set(
            "PYCUDA_EMULATOR_FAULT is \"%s\"; it must be name:n:code, as in "
            "cuMemAlloc:2:CUDA_ERROR_OUT_OF_MEMORY.",
            faults);
    }
    if (path && *path) {
        state.file = fopen(path, "a");
        if (!state.file) {
            state.environment = CUDA_ERROR_INVALID_VALUE;
            emu_message_set(
                "PYCUDA_EMULATOR_LOG names \"%s\", which cannot be written.", path);
        }
    }
}

CUresult
emu_fault_environment(void)
{
    return state.environment;
}

CUresult
emu_fault_check(emu_call call)
{
    CUresult status = CUDA_SUCCESS;

    state.counts[call]++;
    state.total++;
    for (size_t i = 0; i < state.armed; i++) {
        fault *f = &state.faults[i];

        if (f->remaining && (f->call == ANY_CALL || f->call == (int)call) &&
            --f->remaining == 0 && status == CUDA_SUCCESS) {
            status = (CUresult)f->code;
            state.fired++;
        }
    }
    return status;
}

void
emu_fault_log(emu_call call, CUresult status)
{
    state.log[state.log_next].call = (unsigned short)call;
    state.log[state.log_next].code = (unsigned short)status;
    state.log_next = (state.log_next + 1) % LOG_ENTRIES;
    if (state.log_count < LOG_ENTRIES) {
        state.log_count++;
    }
    if (state.file) {
        /* A log that cannot be written must not fail the call that it tells of. */
        (void)fprintf(state.file, "%s %d\n", call_names[call], (int)status);
        (void)fflush(state.file);
    }
}

void
emu_message_set(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(state.message, sizeof(state.message), format, arguments);
    va_end(arguments);
}

void
emu_count_abandoned(size_t count)
{
    state.abandoned += count;
}

void
emu_count_free(const emu_context *owner)
{
    if (owner && emu_context_peek() != owner) {
        state.foreign++;
    }
}

/* -- exported ---------------------------------------------------------------------- */

int
emu_fault_set(const char *name, unsigned int nth, int code)
{
    int result;

    emu_lock();
    result = set_locked(name, nth, code);
    emu_unlock();
    return result;
}

void
emu_fault_clear(void)
{
    emu_lock();
    memset(state.faults, 0, sizeof(state.faults));
    state.armed = 0;
    emu_unlock();
}

unsigned long long
emu_fault_fired(void)
{
    unsigned long long fired;

    emu_lock();
    fired = state.fired;
    emu_unlock();
    return fired;
}

unsigned long long
emu_abandoned_count(void)
{
    unsigned long long count;

    emu_lock();
    count = state.abandoned;
    emu_unlock();
    return count;
}

unsigned long long
emu_foreign_free_count(void)
{
    unsigned long long count;

    emu_lock();
    count = state.foreign;
    emu_unlock();
    return count;
}

static long long
count_locked(const char *kind)
{
    static const struct {
        const char *name;
        emu_kind kind;
    } kinds[] = {{"context", EMU_CONTEXT},
                 {"module", EMU_MODULE},
                 {"array", EMU_ARRAY},
                 {"mipmap", EMU_MIPMAP},
                 {"stream", EMU_STREAM},
                 {"event", EMU_EVENT},
                 {"texture", EMU_TEXTURE},
                 {"surface", EMU_SURFACE},
                 {"link", EMU_LINK},
                 {"graph", EMU_GRAPH},
                 {"graph_exec", EMU_GRAPH_EXEC},
                 {"graphics", EMU_GRAPHICS}};
    static const struct {
        const char *name;
        emu_memory_kind kind;
    } memory[] = {{"memory", EMU_MEMORY_DEVICE},
                  {"memory", EMU_MEMORY_PITCHED},
                  {"memory", EMU_MEMORY_POOLED},
                  {"host", EMU_MEMORY_HOST},
                  {"registered", EMU_MEMORY_REGISTERED},
                  {"managed", EMU_MEMORY_MANAGED},
                  {"ipc", EMU_MEMORY_IPC},
                  {"global", EMU_MEMORY_GLOBAL},
                  {"heap", EMU_MEMORY_HEAP}};
    long long count = -1;

    if (kind && strcmp(kind, "pool") == 0) {
        return (long long)emu_pool_count();
    }
    if (!kind || emu_is_forked()) {
        return kind ? 0
                    : -1; /* a child owns nothing, and its memory's lock may be held */
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kind, kinds[i].name) == 0) {
            return (long long)emu_object_count(kinds[i].kind);
        }
    }
    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
        if (strcmp(kind, memory[i].name) == 0) {
            count =
                (count < 0 ? 0 : count) + (long long)emu_memory_count(memory[i].kind);
        }
    }
    return count;
}

long long
emu_live_count(const char *kind)
{
    long long count;

    emu_lock();
    count = count_locked(kind);
    emu_unlock();
    return count;
}

unsigned long long
emu_call_count(const char *name)
{
    int call = find_call(name);
    unsigned long long count = 0;

    emu_lock();
    if (call == ANY_CALL) {
        count = state.total;
    }
    else if (call >= 0) {
        count = state.counts[call];
    }
    emu_unlock();
    return count;
}

size_t
emu_call_log(char *buffer, size_t room)
{
    size_t needed = 1, written = 0;

    emu_lock();
    for (size_t i = 0; i < state.log_count; i++) {
        size_t at = (state.log_next + LOG_ENTRIES - state.log_count + i) % LOG_ENTRIES;
        char line[96];
        int length = snprintf(line, sizeof(line), "%s %d\n",
                              call_names[state.log[at].call], state.log[at].code);

        needed += (size_t)length;
        if (buffer && needed <= room) {
            memcpy(buffer + written, line, (size_t)length);
            written += (size_t)length;
        }
    }
    emu_unlock();
    if (buffer && room) {
        buffer[written] = 0;
    }
    return needed;
}

void
emu_call_log_clear(void)
{
    emu_lock();
    state.log_count = 0;
    emu_unlock();
}

const char *
emu_last_message(void)
{
    emu_lock();
    memcpy(message_copy, state.message, sizeof(message_copy));
    emu_unlock();
    return message_copy;
}

void
emu_message_clear(void)
{
    emu_lock();
    state.message[0] = 0;
    emu_unlock();
}
