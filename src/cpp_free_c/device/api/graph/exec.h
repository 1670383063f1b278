/* Executable graphs. Call all functions with the API lock held. */
#ifndef DEVICE_API_GRAPH_EXEC_H
#define DEVICE_API_GRAPH_EXEC_H

#include <pthread.h>

#include "device/check/lane_clock.h"
#include "device/api/graph/exec_body.h"

typedef struct CUgraphExec_st {
    emu_object object;
    emu_exec_body *body;
    uint64_t flags;
    CUgraph graph; /* that it was made from, if its serial is still `source` */
    uint64_t source;
    pthread_mutex_t turn; /* one run at a time; taken after the stream's */
    uint64_t runs;        /* guarded by turn */
    emu_clock clock;      /* of its last launch, for the check of streams */
} emu_graph_exec;

/* The live executable graph of a handle, or NULL. */
emu_graph_exec *emu_graph_exec_get(CUgraphExec handle);
/* The body of an executable graph, for a change: no launch reads it. NULL: out of
 * memory. */
emu_exec_body *emu_graph_exec_change(emu_graph_exec *exec);

#endif
