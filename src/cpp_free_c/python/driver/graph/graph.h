/* Graphs, their nodes and executable graphs: the structs, and what the files of this
 * room share.
 *
 * Invariant: the handle of a node is valid while its Graph has its handle and the node
 * was not removed. A Graph that is the body of a conditional node has the handle of the
 * driver but does not own it: `parent` does. A GraphExec is a pcu_resource; its
 * `resources` are those of the graph it has the form of. Callers: the files of this
 * room. */
#ifndef PYTHON_DRIVER_GRAPH_GRAPH_H
#define PYTHON_DRIVER_GRAPH_GRAPH_H

#include "python/support/base.h"

#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"
#include "python/driver/launch/launch.h"
#include "python/driver/resource.h"

#include "driver/argument_buffer.h"

typedef enum {
    PCU_GRAPH_READY,     /* it may be used */
    PCU_GRAPH_CAPTURING, /* its capture has not ended */
    PCU_GRAPH_FAILED     /* its capture failed */
} pcu_graph_state;

typedef struct {
    pcu_resource head;
    pcu_graph_resources *resources; /* strong */
    PyObject *parent; /* strong: the Graph that owns the handle; NULL: this one */
    pcu_graph_state state;
} pcu_graph;

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    pcu_graph *graph; /* strong */
    CUgraphNode handle;
    CUgraphNodeType type;
    PyObject *function;     /* strong: the Function of a kernel node, or NULL */
    pcu_launch_shape shape; /* of a kernel node */
    CUdeviceptr address;    /* of a node that allocates or frees memory */
    bool removed;
} pcu_graph_node;

/* A Graph without a handle, for a capture. */
PCU_HIDDEN PCU_NEWREF pcu_graph *pcu_graph_blank_new(pcu_state *st, PyObject *ctx);

/* A Graph of a handle that belongs to a node of `owner`. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_graph_body_new(pcu_graph *owner, CUgraph handle);

/* A Graph of the same type with a copy of the nodes. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_graph_copy_new(pcu_graph *self);

/* Check that the graph has a handle and is not being captured. */
PCU_HIDDEN PCU_RAISES int pcu_graph_check(pcu_graph *self, const char *routine);

/* A GraphNode whose handle and type the caller sets. */
PCU_HIDDEN PCU_NEWREF pcu_graph_node *pcu_graph_node_blank_new(pcu_graph *graph);

/* The GraphNode of a handle. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_graph_node_new(pcu_graph *graph,
                                                   CUgraphNode handle);

/* Check that the node is still in its graph. */
PCU_HIDDEN PCU_RAISES int pcu_graph_node_check(pcu_graph_node *self,
                                               const char *routine);

/* The nodes of an argument `after`: a GraphNode or a sequence of them, all of `graph`.
 * The result is to be freed with PyMem_Free; NULL on error and for no nodes. */
PCU_HIDDEN PCU_RAISES int pcu_graph_nodes_read(pcu_graph *graph, PyObject *after,
                                               CUgraphNode **nodes, size_t *count);

/* A list of the nodes of a graph. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_graph_nodes_new(pcu_graph *self);

/* Check that the graph frees the memory that its nodes allocate. */
PCU_HIDDEN PCU_RAISES int pcu_graph_check_memory(pcu_graph *self);

/* Make the driver's executable graph of a graph, with the driver's flags. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_graph_exec_new(pcu_graph *graph,
                                                   unsigned int flags);

/* Read the keywords block, grid and shared of a kernel node into a shape, which has the
 * defaults. *has_block is set if block was given. */
PCU_HIDDEN PCU_RAISES int pcu_graph_read_shape(pcu_state *st, const char *function,
                                               PyObject *const *values,
                                               PyObject *kwnames,
                                               pcu_launch_shape *shape, bool *has_block,
                                               PyObject **after);

/* -- graph_parameters.c: parameters of nodes, from Python's arguments -------------- */

enum { PCU_KERNEL_EXTRA = 5 };

/* The parameters of a kernel node. Buffer and `extra` must live until the driver has
 * read them. */
PCU_HIDDEN PCU_RAISES int pcu_kernel_parameters(pcu_function *function,
                                                PyObject *const *args, Py_ssize_t nargs,
                                                const pcu_launch_shape *shape,
                                                pcu_argument_buffer *buffer,
                                                void *extra[PCU_KERNEL_EXTRA],
                                                CUDA_KERNEL_NODE_PARAMS *params);

/* The same with the bytes of all parameters. */
PCU_HIDDEN void pcu_kernel_node_describe(const pcu_function *function,
                                         const pcu_launch_shape *shape, void *data,
                                         size_t *size, void *extra[PCU_KERNEL_EXTRA],
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

/* -- graph_exec.c, graph_update.c: executable graphs ------------------------------- */

typedef struct {
    pcu_resource head;
    pcu_graph_resources *resources; /* strong */
    PyObject *updates; /* {node: what its present arguments use}; NULL: no updates */
    PyObject *retired; /* a list: what earlier arguments used; NULL: none */
    CUstream last;     /* of the last launch, if `launched` */
    PyObject *stream;  /* strong: keeps `last` valid; NULL: a default stream */
    bool is_ours;      /* `stream` is a Stream, not an object of another library */
    bool launched;     /* a launch may still be running */
    PyObject *name;    /* strong: a str for messages; NULL before the first launch */
    Py_ssize_t named;  /* how many functions `resources` had when it was made */
} pcu_graph_exec;

/* Retire what earlier arguments used: keep it until the last launch has finished.
 * Steals the reference, which may be NULL. */
PCU_HIDDEN PCU_RAISES int pcu_graph_exec_retire(pcu_graph_exec *self, PyObject *used);

/* Calls on a graph with functions of the host may wait for these functions, which need
 * the interpreter lock. So the calls are made without it, as if another call waited. */
#define PCU_EXEC_STATUS(status, self, name, args)         \
    do {                                                  \
        bool calls_host_ = (self)->resources->calls_host; \
        pcu_calls_waiting += (unsigned int)calls_host_;   \
        PCU_STATUS(status, name, args);                   \
        pcu_calls_waiting -= (unsigned int)calls_host_;   \
    } while (0)

/* The same, with the exception of a failure. After a failure in another context than
 * the thread's, the call is repeated. */
#define PCU_EXEC_CALL(rc, self, name, args)                                   \
    do {                                                                      \
        CUresult exec_status_;                                                \
        (rc) = 0;                                                             \
        do {                                                                  \
            PCU_EXEC_STATUS(exec_status_, self, name, args);                  \
        } while (exec_status_ != CUDA_SUCCESS &&                              \
                 pcu_current_context_repair((self)->head.st, exec_status_) && \
                 (self)->head.live);                                          \
        if (exec_status_ != CUDA_SUCCESS) {                                   \
            (rc) = pcu_raise((self)->head.st, "cu" #name, exec_status_);      \
        }                                                                     \
    } while (0)

#endif
