/* Work that can be kept and run later: the nodes of graphs and deferred work.
 *
 * A queue that keeps work copies its payload and later calls the functions here. So the
 * queues are independent of kernels and copies, which have their own files above. */
#ifndef DEVICE_API_ENTRY_WORK_H
#define DEVICE_API_ENTRY_WORK_H

#include "device/base/device.h"
#include "device/machine/warp/launch.h"

/* CUgraphNodeType values. */
enum {
    EMU_NODE_KERNEL = 0,
    EMU_NODE_MEMCPY = 1,
    EMU_NODE_MEMSET = 2,
    EMU_NODE_HOST = 3,
    EMU_NODE_WAIT_EVENT = 6,
    EMU_NODE_EVENT_RECORD = 7
};

/* A kind of work. Any of the functions may be NULL. */
typedef struct {
    CUgraphNodeType type;
    /* Before a run, with the API lock held: check that everything the work needs still
     * exists, and keep it alive until `end`. */
    CUresult (*begin)(const void *payload);
    /* Do the work, in the turn of a stream of the context, without the API lock.
     * Anything but success ends the run; after a fault the context has failed too. */
    CUresult (*run)(const void *payload, emu_context *context, emu_report *report);
    /* After a run, with the API lock held. */
    void (*end)(const void *payload);
    /* Whether it may run after the call that enqueues it has returned; NULL: yes. */
    bool (*can_wait)(const void *payload);
    /* Whether it can run now, with the API lock held; NULL: yes. A stream keeps work that
     * is not ready, and all work behind it, until it is. */
    bool (*is_ready)(const void *payload);
    /* A word for drawings; NULL: the name of the type. */
    const char *(*name)(const void *payload);
} emu_work;

#endif
