/* Functions of the extension that run when the interpreter ends: at_exit.c.
 *
 * Callers: last_collection.c, driver_thread.c. */
#ifndef PYTHON_SUPPORT_AT_EXIT_H
#define PYTHON_SUPPORT_AT_EXIT_H

#include "python/support/base.h"

/* Register a function without arguments with the module atexit. */
PCU_HIDDEN PCU_RAISES int pcu_at_exit(PyMethodDef *function);

#endif
