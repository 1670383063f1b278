/* Executable graphs: the struct, and what the files of this room share.
 *
 * Invariant: a GraphExec is a pcu_resource; `resources` are those of the graph it has
 * the form of. `last` is the stream of the last launch, NULL before the first. Callers:
 * graph_exec.c, and graph_update.c for the changes. */
#ifndef PYTHON_DRIVER_GRAPH_GRAPH_EXEC_H
#define PYTHON_DRIVER_GRAPH_GRAPH_EXEC_H

#include "python/driver/graph/graph.h"

#include "python/driver/current_context.h"

typedef struct {
    pcu_resource head;
    pcu_graph_resources *resources; /* strong */
    PyObject *updates; /* {node: what its present arguments use}; NULL: no updates */
    PyObject *retired; /* a list: what earlier arguments used; NULL: none */
    CUstream last;     /* of the last launch, if `launched` */
    PyObject *stream;  /* strong: keeps `last` valid; NULL: a default stream */
    int is_ours;       /* `stream` is a Stream, not an object of another library */
    int launched;      /* a launch may still be running */
    PyObject *name;    /* strong: a str for messages; NULL before the first launch */
    Py_ssize_t named;  /* how many functions `resources` had when it was made */
} pcu_graph_exec;

/* Retire what earlier arguments used: keep it until the last launch has finished.
 * Steals the reference, which may be NULL. */
PCU_HIDDEN PCU_RAISES int pcu_graph_exec_retire(pcu_graph_exec *self, PyObject *used);

/* Calls on a graph with functions of the host may wait for these functions, which need
 * the interpreter lock. So the calls are made without it, as if another call waited. */
#define PCU_EXEC_STATUS(status, self, name, args)        \
    do {                                                 \
        int calls_host_ = (self)->resources->calls_host; \
        pcu_calls_waiting += (unsigned int)calls_host_;  \
        PCU_STATUS(status, name, args);                  \
        pcu_calls_waiting -= (unsigned int)calls_host_;  \
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
