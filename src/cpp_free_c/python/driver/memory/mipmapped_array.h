/* MipmappedArray, for the textures that read all its levels.
 *
 * Callers: texture/texture_description.c, and texture_array.c for its levels. */
#ifndef PYTHON_DRIVER_MEMORY_MIPMAPPED_ARRAY_H
#define PYTHON_DRIVER_MEMORY_MIPMAPPED_ARRAY_H

#include "python/support/base.h"

/* The handle of a MipmappedArray that is alive, and its descriptor. */
PCU_HIDDEN PCU_RAISES int pcu_mipmapped_array_handle(
    PyObject *op, const char *routine, CUmipmappedArray *out,
    CUDA_ARRAY3D_DESCRIPTOR *descriptor);

#endif
