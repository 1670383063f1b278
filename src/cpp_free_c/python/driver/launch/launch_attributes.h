/* Launch attributes: what a launch asks for beyond its shape, such as cooperation of
 * all blocks, clusters or a priority.
 *
 * Invariant: a list has at most one entry for each attribute. Callers:
 * launch_keywords.c fills the list of one launch, launch_config.c that of a
 * LaunchConfig, attribute_launch.c passes a list to the driver. */
#ifndef PYTHON_DRIVER_LAUNCH_LAUNCH_ATTRIBUTES_H
#define PYTHON_DRIVER_LAUNCH_LAUNCH_ATTRIBUTES_H

#include "python/support/base.h"

enum { PCU_LAUNCH_ATTRIBUTES_MAX = 24 };

/* Only `count` needs to be initialised. */
typedef struct {
    unsigned int count;
    CUlaunchAttribute items[PCU_LAUNCH_ATTRIBUTES_MAX];
} pcu_launch_attributes;

/* The value of an attribute in a list, NULL if the list does not have it. */
PCU_HIDDEN CUlaunchAttributeValue *pcu_launch_attribute_find(
    pcu_launch_attributes *list, unsigned int id);

/* Store a value that was read before, in place of an earlier one. */
PCU_HIDDEN PCU_RAISES int pcu_launch_attribute_store(
    pcu_launch_attributes *list, unsigned int id, const CUlaunchAttributeValue *value);

/* Set an attribute, in place of an earlier value. `event` may be NULL; otherwise it
 * receives a borrowed reference to the Event in the value, if there is one. */
PCU_HIDDEN PCU_RAISES int pcu_launch_attribute_set(pcu_state *st,
                                                   pcu_launch_attributes *list,
                                                   unsigned int id, PyObject *value,
                                                   const char *name, PyObject **event);

#endif
