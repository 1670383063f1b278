/* Batches of operations on values in memory, as nodes of graphs. */
#ifndef DEVICE_API_STREAM_MEMORY_OPERATION_H
#define DEVICE_API_STREAM_MEMORY_OPERATION_H

#include "device/api/entry/work.h"

extern const emu_work emu_batch_work;
/* Make the payload of a node. Call it with the API lock held. */
CUresult emu_batch_node_make(emu_context *context, const CUgraphNodeParams *params,
                             emu_payload *out);

#endif
