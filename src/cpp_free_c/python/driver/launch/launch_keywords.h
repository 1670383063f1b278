/* The keywords of calls that set launch attributes: cooperative, cluster, programmatic,
 * priority and launch_config.
 *
 * Callers: call.c and prepared_keywords.c. */
#ifndef PYTHON_DRIVER_LAUNCH_LAUNCH_KEYWORDS_H
#define PYTHON_DRIVER_LAUNCH_LAUNCH_KEYWORDS_H

#include "python/support/base.h"

#include "python/driver/launch/launch_attributes.h"

/* The interned name that is equal to a name, NULL if it is none of these keywords. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_launch_keyword_name(pcu_state *st,
                                                          PyObject *name);

/* Read a keyword with an interned name. A keyword replaces the attribute of a
 * LaunchConfig, whichever comes first. Return 1 if the name is none of the keywords. */
PCU_HIDDEN PCU_RAISES int pcu_launch_keyword(pcu_state *st, pcu_launch_attributes *list,
                                             PyObject *name, PyObject *value);

#endif
