/* Opening one of NVIDIA's libraries where Python says that it may be.
 *
 * Callers: the parts of the array rooms that use cuBLAS, cuFFT and NCCL. */
#ifndef PYTHON_SUPPORT_LIBRARY_PATHS_H
#define PYTHON_SUPPORT_LIBRARY_PATHS_H

#include "python/support/base.h"

/* Opens the library at a path: 0, or -1 with the reason in `detail`. */
typedef int (*pcu_library_opener)(const char *path, char *detail, size_t size);

enum { PCU_LIBRARY_REASON = 400 };

/* Try to open the paths that pycuda._libraries.paths(name) returns. Return 1 if one was
 * opened; 0 if none was, with the first reason in `reason`, which has
 * PCU_LIBRARY_REASON bytes: the later ones are mostly files that are not there. */
PCU_HIDDEN PCU_RAISES int pcu_library_open(const char *name, pcu_library_opener open,
                                           char *reason);

#endif
