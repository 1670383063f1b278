/* Settings of the environment, for code that can raise. See driver/setting.h. */
#ifndef PYTHON_SUPPORT_SETTINGS_H
#define PYTHON_SUPPORT_SETTINGS_H

#include "python/support/base.h"

#include "driver/setting.h"

/* The place of the chosen word. ValueError for another value of the variable. */
PCU_HIDDEN PCU_RAISES int pcu_setting_read(pcu_setting setting);

#endif
