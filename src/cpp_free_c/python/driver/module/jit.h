/* The options and the logs of the driver's JIT compiler.
 *
 * Invariant: the driver writes into the logs while a module is loaded, and until a link
 * is destroyed. Callers: module.c and linker.c. */
#ifndef PYTHON_DRIVER_MODULE_JIT_H
#define PYTHON_DRIVER_MODULE_JIT_H

#include "python/support/base.h"

enum { PCU_JIT_LOG_BYTES = 32768, PCU_JIT_OPTIONS_MAX = 40 };

/* The options of one load or link: first those of the caller, then verbosity, then the
 * two logs. */
typedef struct {
    unsigned int count;
    CUjit_option keys[PCU_JIT_OPTIONS_MAX + 5];
    void *values[PCU_JIT_OPTIONS_MAX + 5];
    char *info; /* owned; PCU_JIT_LOG_BYTES each */
    char *error;
} pcu_jit;

/* Read `options`: an iterable of pairs (jit_option, int), NULL or None. Call
 * pcu_jit_finish afterwards, also after an error. */
PCU_HIDDEN PCU_RAISES int pcu_jit_init(pcu_state *st, pcu_jit *jit, PyObject *options,
                                       int verbose);
PCU_HIDDEN void pcu_jit_finish(pcu_jit *jit);

/* Call the handler (NULL or None: none) with success, info log and error log. Then
 * raise if the status is a failure, with the error log as detail. An exception of the
 * handler comes first. */
PCU_HIDDEN PCU_RAISES int pcu_jit_report(pcu_state *st, const pcu_jit *jit,
                                         PyObject *handler, const char *routine,
                                         CUresult status);

#endif
