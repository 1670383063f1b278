/* The driver's parameters of nodes, from Python's arguments.
 *
 * Callers: graph_add.c and graph_memory.c for new nodes, graph_update.c for changed
 * ones. */
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

/* The parameters of a call of a function of the host. */
PCU_HIDDEN PCU_RAISES int pcu_host_parameters(PyObject *function,
                                              pcu_graph_resources *resources,
                                              CUDA_HOST_NODE_PARAMS *host);

/* The event of a node that records it or waits for it. */
PCU_HIDDEN PCU_RAISES int pcu_event_parameter(pcu_state *st, PyObject *value,
                                              pcu_graph_resources *resources,
                                              CUevent *event);

/* The graph of a child node. */
PCU_HIDDEN PCU_RAISES int pcu_child_parameter(pcu_state *st, PyObject *value,
                                              pcu_graph_resources *resources,
                                              CUgraph *child);

/* Add a node that waits for the nodes `after`. Nothing can fail after the driver has
 * added it. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_graph_add_node(pcu_graph *self, PyObject *after,
                                                   CUgraphNodeParams *params);

#endif
