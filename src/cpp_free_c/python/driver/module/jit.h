/* The options of the driver's JIT compiler, and what it said: for cumodule.c and
 * linker.c. */
#ifndef PYTHON_DRIVER_MODULE_JIT_H
#define PYTHON_DRIVER_MODULE_JIT_H

#include "python/support/base.h"

enum { PCU_JIT_LOG_BYTES = 32768, PCU_JIT_OPTIONS_MAX = 40 };

/* The options of one load or link: what the caller asked, then verbosity, then the two
 * logs. The driver writes into it while the load runs, or as long as the link lives. */
typedef struct {
    unsigned int count;
    CUjit_option keys[PCU_JIT_OPTIONS_MAX + 5];
    void *values[PCU_JIT_OPTIONS_MAX + 5];
    char *info; /* owned; PCU_JIT_LOG_BYTES each */
    char *error;
} pcu_jit;

/* Read `options`, an iterable of pairs (jit_option, int), NULL or None. To be finished
 * in either case. */
PCU_HIDDEN PCU_RAISES int pcu_jit_init(pcu_state *st, pcu_jit *jit, PyObject *options,
                                       int verbose);
PCU_HIDDEN void pcu_jit_finish(pcu_jit *jit);

/* Give the handler (NULL or None: there is none) success, info log and error log; then
 * raise a status that is a failure, with the error log. -1 also if the handler raised,
 * whose exception goes before. */
PCU_HIDDEN PCU_RAISES int pcu_jit_tell(pcu_state *st, const pcu_jit *jit,
                                       PyObject *handler, const char *routine,
                                       CUresult status);

#endif
