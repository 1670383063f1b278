/* The launch calls of CUDA before 4.0, as methods of Function. PyCUDA still has them.
 *
 * Callers: function.c, during setup. */
#ifndef PYTHON_DRIVER_LAUNCH_OLD_CALLS_H
#define PYTHON_DRIVER_LAUNCH_OLD_CALLS_H

#include "python/support/base.h"

extern PCU_HIDDEN PyMethodDef pcu_old_call_methods[];

#endif
