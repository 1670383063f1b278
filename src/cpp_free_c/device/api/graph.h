/* Graphs: nodes of work and what each must wait for, kept to be run again and again.
 *
 * Invariant: a node waits only for nodes with lower numbers, so the order of numbers is
 * an order to run in. A body does not change any more once a graph has it; it is shared
 * by counting. All functions are called under the API lock, but for a work's `run`. */
#ifndef DEVICE_API_GRAPH_H
#define DEVICE_API_GRAPH_H

#include "device/base/device.h"
#include "device/machine/execution.h"

/* CUgraphNodeType values. */
enum {
    EMU_NODE_KERNEL = 0,
    EMU_NODE_MEMCPY = 1,
    EMU_NODE_MEMSET = 2,
    EMU_NODE_HOST = 3,
    EMU_NODE_WAIT_EVENT = 6,
    EMU_NODE_EVENT_RECORD = 7
};

/* What work that can be kept consists of; the payload is copied with the node. Any of
 * the functions may be NULL. */
typedef struct {
    CUgraphNodeType type;
    /* Before a run, under the API lock: whether all that the work needs is still there,
     * which is then kept until `end`. */
    CUresult (*begin)(const void *payload);
    /* In the turn of a stream of the context, without the API lock. Anything but
     * success ends the run; a fault has made the context fail by then. */
    CUresult (*run)(const void *payload, emu_context *context, emu_report *report);
    void (*end)(const void *payload);
    /* Whether it may run after the call that enqueues it has returned; NULL: yes. */
    bool (*can_wait)(const void *payload);
    /* A word for drawings. */
    const char *(*name)(const void *payload);
} emu_work;

typedef struct emu_graph_body emu_graph_body;
typedef struct CUgraphNode_st emu_node;
typedef struct CUgraph_st emu_graph;

/* An empty body; NULL: out of memory. */
emu_graph_body *emu_graph_body_new(void);
void emu_graph_body_release(emu_graph_body *body);

/* Adds a node after `count` others, given by number, and tells its own number. False:
 * out of memory. */
bool emu_graph_body_add(emu_graph_body *body, const emu_work *work, const void *payload,
                        size_t size, const uint32_t *after, size_t count,
                        uint32_t *number);

/* Whether all nodes are among those given or those that they wait for. False for want
 * of memory too. */
bool emu_graph_body_joined(const emu_graph_body *body, const uint32_t *last,
                           size_t count);

/* A graph that takes the body over; NULL: out of memory, the body is the caller's. */
emu_graph *emu_graph_new(emu_context *context, emu_graph_body *body);

#endif
