/* LaunchConfig: launch attributes that a program makes once and uses in many calls.
 *
 * Callers: launch_attributes.c, for the keyword launch_config of a call. */
#ifndef PYTHON_DRIVER_LAUNCH_LAUNCH_CONFIG_H
#define PYTHON_DRIVER_LAUNCH_LAUNCH_CONFIG_H

#include "python/support/base.h"

#include "python/driver/launch/launch_attributes.h"

/* The attributes of a LaunchConfig, which keeps them. TypeError for other objects, and
 * LogicError if one of its events was released. */
PCU_HIDDEN PCU_RAISES const pcu_launch_attributes *pcu_launch_config_list(
    pcu_state *st, PyObject *config);

#endif
