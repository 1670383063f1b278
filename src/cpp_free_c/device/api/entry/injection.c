/* Fault injection. See injection.h. */
#include "device/api/entry/injection.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/api/entry/lock.h"
#include "device/api/entry/message.h"
#include "abi/results.h"

#define FAULTS 32

typedef struct {
    unsigned int remaining; /* calls until it fires; 0: the slot is free */
    int call;               /* EMU_CALLS: any */
    int code;
} fault;

static struct {
    fault faults[FAULTS];
    size_t armed; /* the slots from here on are free */
    unsigned long long fired;
    CUresult environment;
} state;

static pthread_once_t injection_opened = PTHREAD_ONCE_INIT;

static int
fault_set_locked(const char *name, unsigned int nth, int code)
{
    int call = emu_call_find(name);

    if (call < 0 || nth == 0 || code <= 0) {
        return -1;
    }
    for (size_t i = 0; i < FAULTS; i++) {
        if (state.faults[i].remaining == 0) {
            state.faults[i] = (fault){nth, call, code};
            if (i >= state.armed) {
                state.armed = i + 1;
            }
            return 0;
        }
    }
    return -1;
}

/* -- PYCUDA_EMULATOR_FAULT --------------------------------------------------------- */

/* Read a code, given by number or by its CUDA_ERROR_ name. Return -1 for neither. */
static int
fault_parse_code(const char *text)
{
#define CODE_NAME(name, code, exception, words) {#name, code},
    static const struct {
        const char *name;
        int code;
    } codes[] = {PCU_RESULTS(CODE_NAME)};
#undef CODE_NAME
    char *end;
    long value = strtol(text, &end, 10);

    if (end != text && *end == 0 && value > 0 && value < 10000) {
        return (int)value;
    }
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (strcmp(text, codes[i].name) == 0 && codes[i].code != 0) {
            return codes[i].code;
        }
    }
    return -1;
}

/* Set one fault, written as name:n:code. Overwrites the colons. */
static bool
fault_parse_item(char *item)
{
    char *nth = strchr(item, ':');
    char *code, *end;
    unsigned long count;

    if (nth == NULL) {
        return false;
    }
    *nth++ = 0;
    code = strchr(nth, ':');
    if (code == NULL) {
        return false;
    }
    *code++ = 0;
    count = strtoul(nth, &end, 10);
    if (end == nth || *end != 0 || count == 0 || count > 1000000000) {
        return false;
    }
    return fault_set_locked(item, (unsigned int)count, fault_parse_code(code)) == 0;
}

/* Set all faults of a list with commas between them. */
static CUresult
fault_parse(const char *text)
{
    const char *at = text;

    while (*at != 0) {
        size_t length = strcspn(at, ",");
        char item[160];

        if (length >= sizeof(item)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        memcpy(item, at, length);
        item[length] = 0;
        if (!fault_parse_item(item)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        at += length;
        if (*at == ',') {
            at++;
        }
    }
    return CUDA_SUCCESS;
}

static void
fault_read_environment(void)
{
    const char *faults = getenv("PYCUDA_EMULATOR_FAULT");

    if (faults == NULL) {
        return;
    }
    state.environment = fault_parse(faults);
    if (state.environment != CUDA_SUCCESS) {
        emu_message_set(
            "PYCUDA_EMULATOR_FAULT is \"%s\"; it must be name:n:code, as in "
            "cuMemAlloc:2:CUDA_ERROR_OUT_OF_MEMORY.",
            faults);
    }
}

void
emu_injection_open(void)
{
    pthread_once(&injection_opened, fault_read_environment);
}

CUresult
emu_injection_environment(void)
{
    return state.environment;
}

CUresult
emu_injection_check(emu_call call)
{
    CUresult status = CUDA_SUCCESS;

    for (size_t i = 0; i < state.armed; i++) {
        fault *f = &state.faults[i];

        if (f->remaining > 0 && (f->call == EMU_CALLS || f->call == (int)call) &&
            --f->remaining == 0 && status == CUDA_SUCCESS) {
            status = (CUresult)f->code;
            state.fired++;
        }
    }
    return status;
}

/* -- exported ---------------------------------------------------------------------- */

int
emu_fault_set(const char *name, unsigned int nth, int code)
{
    int result;

    emu_injection_open();
    emu_lock();
    result = fault_set_locked(name, nth, code);
    emu_unlock();
    return result;
}

void
emu_fault_clear(void)
{
    emu_injection_open();
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
