/* Groups of exchanges: NCCL enqueues them together when the group ends.
 *
 * Invariant: while a group of a thread is open, it holds the arrays and communicators
 * of its exchanges. Called by the files of this room. */
#ifndef PYTHON_ARRAY_COLLECTIVE_GROUP_H
#define PYTHON_ARRAY_COLLECTIVE_GROUP_H

#include "python/support/base.h"

/* Whether this thread is inside `with group()`. */
PCU_HIDDEN bool pcu_group_is_open(void);

/* If a group is open, keep the object alive until it ends. */
PCU_HIDDEN PCU_RAISES int pcu_group_hold(PyObject *object);

#endif
