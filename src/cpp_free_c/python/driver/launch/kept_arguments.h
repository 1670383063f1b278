/* The arguments of a kernel that a graph must keep.
 *
 * Callers: calls of kernels that are captured, and the nodes of graphs. */
#ifndef PYTHON_DRIVER_LAUNCH_KEPT_ARGUMENTS_H
#define PYTHON_DRIVER_LAUNCH_KEPT_ARGUMENTS_H

#include "python/support/base.h"

#include "python/driver/graph_resources.h"

/* The object that keeps the memory of an argument alive; NULL for numbers. Borrowed. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_argument_memory(pcu_state *st, PyObject *arg);

/* Keep the arguments whose memory the record of the graph does not see: objects of
 * other libraries, textures. */
PCU_HIDDEN PCU_RAISES int pcu_arguments_keep(pcu_graph_resources *resources,
                                             PyObject *const *args, Py_ssize_t nargs);

/* The same for all active captures of the current context. */
PCU_HIDDEN PCU_RAISES int pcu_captured_arguments(pcu_state *st, PyObject *const *args,
                                                 Py_ssize_t nargs);

#endif
