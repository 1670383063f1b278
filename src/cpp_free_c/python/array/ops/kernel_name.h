/* The names of array operations in messages. All generated kernels have the same name
 * in their images, so the name comes from the key in the kernel table.
 *
 * Caller: the text of errors, through pcu_state. */
#ifndef PYTHON_ARRAY_OPS_KERNEL_NAME_H
#define PYTHON_ARRAY_OPS_KERNEL_NAME_H

#include "python/support/base.h"

/* The name of NumPy's function that a generated kernel computes, or part of it. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_kernel_name_new(CUfunction kernel);

#endif
