/* Settings of the environment, for code that can raise. See driver/setting.h. */
#ifndef PYTHON_SUPPORT_SETTINGS_H
#define PYTHON_SUPPORT_SETTINGS_H

#include "python/support/base.h"

#include "driver/setting.h"

/* Report a mistake that does no harm on a GPU if the program is lucky. Raise `error`
 * if such mistakes are errors (pcu_setting_is_strict); otherwise warn once for each line
 * of the program, and return 0. */
PCU_HIDDEN PCU_RAISES int pcu_forgive(PyObject *error, const char *format, ...);

/* The place of the chosen word. ValueError for another value of the variable. */
PCU_HIDDEN PCU_RAISES int pcu_setting_read(pcu_setting setting);

#endif
