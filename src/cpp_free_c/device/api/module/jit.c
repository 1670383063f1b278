/* Reading the options of loading and linking, and storing the results. See module.h. */
#define _GNU_SOURCE
#include "device/api/module/module.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    MAX_REGISTERS = 0,
    THREADS_PER_BLOCK = 1,
    WALL_TIME = 2,
    /* Options up to here are accepted. The newer ones ask for nothing that the device
     * could do. */
    LAST_OPTION = 64
};

double
emu_jit_now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time); /* cannot fail for this clock */
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Small values are passed in the pointer itself. */
static unsigned int
jit_number(const void *value)
{
    return (unsigned int)(uintptr_t)value;
}

/* Let no kernel need more registers than this. */
static void
jit_limit_registers(emu_jit *jit, unsigned int limit)
{
    if (limit > 0 &&
        (jit->load.max_registers == 0 || limit < jit->load.max_registers)) {
        jit->load.max_registers = limit;
    }
}

/* The registers of a thread in a block of this many threads; the hardware gives them
 * out in eights. 0: no limit. */
static unsigned int
jit_registers_for(unsigned int threads)
{
    const unsigned int registers = 1 << 16, unit = 8;

    if (threads == 0 || threads > registers / unit) {
        return 0;
    }
    return registers / threads / unit * unit;
}

/* Empty a log; a log without a buffer or without room is none. */
static void
jit_begin_log(char **log, size_t *room)
{
    if (*log == NULL || *room == 0) {
        *log = NULL;
        *room = 0;
    }
    else {
        (*log)[0] = 0;
    }
}

CUresult
emu_jit_read(emu_jit *jit, unsigned int count, const CUjit_option *options,
             void **values)
{
    memset(jit, 0, sizeof(*jit));
    if (count > 0 && (options == NULL || values == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; i < count; i++) {
        switch (options[i]) {
            case MAX_REGISTERS:
                jit_limit_registers(jit, jit_number(values[i]));
                break;
            case THREADS_PER_BLOCK:
                jit_limit_registers(jit, jit_registers_for(jit_number(values[i])));
                break;
            case WALL_TIME:
                jit->wall_time = &values[i];
                break;
            case CU_JIT_INFO_LOG_BUFFER:
                jit->load.info_log = values[i];
                break;
            case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
                jit->load.info_log_room = jit_number(values[i]);
                jit->info_size = &values[i];
                break;
            case CU_JIT_ERROR_LOG_BUFFER:
                jit->load.error_log = values[i];
                break;
            case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
                jit->load.error_log_room = jit_number(values[i]);
                jit->error_size = &values[i];
                break;
            case CU_JIT_LOG_VERBOSE:
                jit->load.verbose = jit_number(values[i]) != 0;
                break;
            default:
                if (options[i] > LAST_OPTION) {
                    return CUDA_ERROR_INVALID_VALUE;
                }
        }
    }
    jit_begin_log(&jit->load.info_log, &jit->load.info_log_room);
    jit_begin_log(&jit->load.error_log, &jit->load.error_log_room);
    return CUDA_SUCCESS;
}

void
emu_jit_complain(emu_jit *jit, const char *sentence)
{
    if (jit->load.error_log != NULL) {
        size_t room = jit->load.error_log_room;

        (void)snprintf(jit->load.error_log, room, "%s", sentence); /* cut to fit */
        jit->load.error_log_size = strlen(jit->load.error_log);
    }
}

void
emu_jit_complain_too(emu_jit *jit, const char *sentence)
{
    const size_t size = jit->load.error_log_size;

    if (jit->load.error_log != NULL && size < jit->load.error_log_room) {
        (void)snprintf(jit->load.error_log + size, jit->load.error_log_room - size,
                       "%s\n", sentence); /* cut to fit */
        jit->load.error_log_size = strlen(jit->load.error_log);
    }
}

void
emu_jit_finish(const emu_jit *jit, double seconds)
{
    float milliseconds = (float)(seconds * 1e3);
    uintptr_t bits = 0;

    if (jit->info_size != NULL) {
        *jit->info_size = (void *)jit->load.info_log_size;
    }
    if (jit->error_size != NULL) {
        *jit->error_size = (void *)jit->load.error_log_size;
    }
    if (jit->wall_time != NULL) {
        memcpy(&bits, &milliseconds, sizeof(milliseconds));
        *jit->wall_time = (void *)bits;
    }
}
