/* Work that can be kept and run later: the nodes of graphs and deferred work.
 *
 * A queue (queue.h) that keeps work copies its payload and later calls the functions
 * here. So the queues are independent of kernels and copies, which have their own files
 * above. A payload is bytes: it may be copied and moved. */
#ifndef DEVICE_API_ENTRY_WORK_H
#define DEVICE_API_ENTRY_WORK_H

#include <stdio.h>

#include "abi/graph_abi.h"
#include "device/base/device.h"
#include "device/sync_check/stream_check.h"
#include "device/machine/warp/launch.h"

/* When work may run. */
typedef enum {
    EMU_WORK_LATE,    /* at any time after the call that enqueues it has returned */
    EMU_WORK_SOON,    /* as soon as it is ready: others may wait for it */
    EMU_WORK_AT_ONCE, /* before the call returns */
    EMU_WORK_AWAITED  /* the same, and the host has then waited for it */
} emu_work_time;

/* A kind of work: a row of the table of node kinds. Any of the functions may be NULL.
 */
typedef struct {
    CUgraphNodeType type;
    /* Before a run, with the API lock held: check that everything the work needs still
     * exists, and keep it alive until `end`. */
    CUresult (*begin)(const void *payload);
    /* Before a run: note the memory that it may use (stream_check.h). */
    void (*use)(const void *payload, emu_operation *operation);
    bool runs_after_fault; /* even if the context has failed */
    bool uses_are_exact;   /* `use` notes no more than the run will use */
    /* Do the work, in the turn of a stream of the context, without the API lock.
     * Anything but success ends the run; after a fault the context has failed too.
     * NULL: there is nothing to do. */
    CUresult (*run)(const void *payload, emu_context *context, emu_report *report);
    /* Go on, in any thread, with what `run` has left with EMU_GOES_ON (launch.h). NULL:
     * it leaves nothing, so it runs from its start. */
    CUresult (*go_on)(void *left, const void *payload, emu_context *context,
                      emu_report *report);
    /* After a run, with the API lock held. */
    void (*end)(const void *payload);
    emu_work_time (*when)(const void *payload); /* NULL: late */
    /* Whether it can run now, with the API lock held; NULL: yes. A stream keeps work
     * that is not ready, and all work behind it, until it is. */
    bool (*is_ready)(const void *payload);
    /* A word for drawings; NULL: the name of the type. */
    const char *(*name)(const void *payload);

    /* -- the rest is for graph nodes only, with the API lock held -- */

    /* Count and forget a copy of the payload, for payloads that own something. */
    void (*hold)(const void *payload);
    void (*drop)(const void *payload);
    /* Store the parameters in the member of the union that belongs to the type. The
     * pointers stored point into the payload. */
    void (*describe)(void *payload, CUgraphNodeParams *params);
    /* Whether an executable graph whose node has one payload may get the other. `wide`:
     * as cuGraphExecUpdate allows; otherwise as the calls on one node do. NULL: any. */
    CUgraphExecUpdateResult (*compare)(const void *payload, const void *other,
                                       bool wide);
    /* Which body of the node runs next, after `round` runs of bodies; below 0: none.
     * Called during a run, without the API lock. */
    int (*choose)(const void *payload, uint64_t round);
    /* Write more lines of the label in a drawing. */
    void (*draw)(const void *payload, FILE *file);
} emu_work;

/* Bytes that malloc gave. */
typedef struct {
    void *data;
    size_t size;
} emu_payload;

#endif
