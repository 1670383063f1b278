/* Functions of the extension that run when the interpreter ends: at_exit.c. */
#ifndef PYTHON_SUPPORT_AT_EXIT_H
#define PYTHON_SUPPORT_AT_EXIT_H

#include "python/support/base.h"

/* Register a function without arguments with the module atexit. `self` is its first
 * argument, or NULL. */
PCU_HIDDEN PCU_RAISES int pcu_at_exit(PyMethodDef *method, PyObject *self);

/* Register the collection with atexit, once. Does nothing unless PYCUDA_CHECK has the
 * word leak and the driver is the software device. */
PCU_HIDDEN PCU_RAISES int pcu_last_collection_setup(pcu_state *st);

#endif
