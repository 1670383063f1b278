/* Settings of the environment, for code that can raise (see driver/setting.h), and the
 * places of NVIDIA's libraries. */
#ifndef PYTHON_SUPPORT_SETTINGS_H
#define PYTHON_SUPPORT_SETTINGS_H

#include "python/support/base.h"

#include "driver/setting.h"

/* Report a mistake that does no harm on a GPU if the program is lucky. Raise `error`
 * if such mistakes are errors (pcu_setting_is_strict); otherwise warn once for each
 * line of the program, and return 0. */
PCU_HIDDEN PCU_RAISES int pcu_forgive(PyObject *error, const char *format, ...);

/* The place of the chosen word. ValueError for another value of the variable. */
PCU_HIDDEN PCU_RAISES int pcu_setting_read(pcu_setting setting);

/* -- NVIDIA's libraries, where Python says that they may be ------------------------ */

/* Opens the library at a path: 0, or -1 with the reason in `detail`. */
typedef int (*pcu_library_opener)(const char *path, char *detail, size_t size);

enum { PCU_LIBRARY_REASON = 400 };

/* Try to open the paths that pycuda._libraries.paths(name) returns. Return 1 if one was
 * opened; 0 if none was, with the first reason in `reason`, which has
 * PCU_LIBRARY_REASON bytes: the later ones are mostly files that are not there. */
PCU_HIDDEN PCU_RAISES int pcu_library_open(const char *name, pcu_library_opener open,
                                           char *reason);

#endif
