/* Operations on values in memory: waits and writes, of streams and of graphs.
 *
 * Call emu_memory_operation_read and emu_batch_node_make with the API lock held. */
#ifndef DEVICE_API_STREAM_MEMORY_OPERATION_H
#define DEVICE_API_STREAM_MEMORY_OPERATION_H

#include "device/base/device.h"
#include "device/api/entry/work.h"

enum { EMU_MOST_MEMORY_OPERATIONS = 256 }; /* of a batch */

/* One operation: a wait, a write, or neither. */
typedef struct {
    bool waits, writes;
    unsigned int condition;
    unsigned int size; /* bytes of the value */
    uint64_t address;
    uint64_t value;
} emu_memory_operation;

/* Convert and check an operation of the program. */
CUresult emu_memory_operation_read(emu_context *context,
                                   const CUstreamBatchMemOpParams *p,
                                   emu_memory_operation *o);
/* Do the operation in a stream's turn, without the API lock. */
CUresult emu_memory_operation_run(const void *operation, emu_context *context,
                                  emu_report *report);

/* One operation that a stream keeps. */
extern const emu_work emu_memory_operation_work;

/* A batch of operations as a node of a graph. */
extern const emu_work emu_batch_work;
CUresult emu_batch_node_make(emu_context *context, const CUgraphNodeParams *params,
                             emu_payload *out);

#endif
