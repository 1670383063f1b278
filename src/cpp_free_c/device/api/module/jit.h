/* The options of cuModuleLoadDataEx and cuLink*: logs, sizes, times.
 *
 * The logs and the slots for results belong to the caller. The calls on modules and on
 * links use this file. */
#ifndef DEVICE_API_MODULE_JIT_H
#define DEVICE_API_MODULE_JIT_H

#include "device/compile/program.h"

/* The options as the loader takes them, and the slots of the caller's array in which
 * results are stored. */
typedef struct {
    emu_load_options load;
    void **info_size, **error_size, **wall_time; /* NULL: not asked for */
} emu_jit;

/* Read the options. INVALID_VALUE for an unknown option. */
CUresult emu_jit_read(emu_jit *jit, unsigned int count, const CUjit_option *options,
                      void **values);
/* Write a sentence to the error log, which must be empty. */
void emu_jit_complain(emu_jit *jit, const char *sentence);
/* Add a sentence to the error log. */
void emu_jit_complain_too(emu_jit *jit, const char *sentence);
/* Store the sizes of the logs and the time that the work took. */
void emu_jit_finish(const emu_jit *jit, double seconds);

/* The present time in seconds, to measure that. */
double emu_jit_now(void);

#endif
