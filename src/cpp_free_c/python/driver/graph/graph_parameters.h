/* The driver's parameters of nodes, from Python's arguments.
 *
 * Callers: graph_add.c for new nodes, graph_exec.c for changed ones. */
#ifndef PYTHON_DRIVER_GRAPH_GRAPH_PARAMETERS_H
#define PYTHON_DRIVER_GRAPH_GRAPH_PARAMETERS_H

#include "python/driver/graph/graph.h"

#include "driver/argument_buffer.h"

enum { PCU_KERNEL_EXTRA = 5 };

/* The parameters of a kernel node. Buffer and `extra` must live until the driver has
 * read them. */
PCU_HIDDEN PCU_RAISES int pcu_kernel_parameters(pcu_function *function,
                                                PyObject *const *args, Py_ssize_t nargs,
                                                const pcu_launch_shape *shape,
                                                pcu_argument_buffer *buffer,
                                                void *extra[PCU_KERNEL_EXTRA],
                                                CUDA_KERNEL_NODE_PARAMS *params);

/* The parameters of a copy. `resources` keeps what the copy uses. */
PCU_HIDDEN PCU_RAISES int pcu_copy_parameters(pcu_state *st, PyObject *dest,
                                              PyObject *src, PyObject *size,
                                              pcu_graph_resources *resources,
                                              CUDA_MEMCPY3D *copy);

/* The parameters of a fill. */
PCU_HIDDEN PCU_RAISES int pcu_set_parameters(pcu_state *st, PyObject *dest,
                                             PyObject *value, PyObject *count,
                                             unsigned int width,
                                             pcu_graph_resources *resources,
                                             CUDA_MEMSET_NODE_PARAMS *fill);

#endif
