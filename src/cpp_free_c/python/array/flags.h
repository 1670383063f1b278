/* ArrayFlags: how the elements of an array lie in memory, as numpy.ndarray.flags says.
 *
 * Made on demand for the attribute `flags`. Called by type/attributes.c, which makes
 * and stores them, and by type/plain_array.c, which compares them. */
#ifndef PYTHON_ARRAY_FLAGS_H
#define PYTHON_ARRAY_FLAGS_H

#include "python/driver/memory/gpuarray.h"

extern PCU_HIDDEN PyType_Spec pcu_array_flags_spec;

/* `contiguous` is PCU_ARRAY_C | PCU_ARRAY_F. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_array_flags_new(pcu_state *st, int contiguous);

/* Whether the attribute flags, which programs assign, describes the true layout. */
PCU_HIDDEN bool pcu_array_flags_are_true(const pcu_gpuarray *self);

#endif
