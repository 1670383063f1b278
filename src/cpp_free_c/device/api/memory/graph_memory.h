/* Memory of graphs: what allocation nodes allocate and free nodes free.
 *
 * An allocation node reserves addresses when it is made. A launch makes them live, and
 * a free node, cuMemFree or cuMemFreeAsync ends that. The addresses are kept while a
 * graph or an executable graph has a node for them, or while they are live. Call the
 * functions with the API lock held. */
#ifndef DEVICE_API_MEMORY_GRAPH_MEMORY_H
#define DEVICE_API_MEMORY_GRAPH_MEMORY_H

#include "device/api/entry/graph.h"
#include "device/api/entry/turn.h"
#include "device/memory/memory.h"

extern const emu_work emu_alloc_work, emu_free_work;

/* Make an allocation node's payload and store the address in `params`. */
CUresult emu_alloc_node_make(emu_context *context, CUgraphNodeParams *params,
                             emu_payload *out);
/* Make the payload of a free node for a graph. INVALID_VALUE: the address is not one of
 * an allocation node, or a node frees it already. */
CUresult emu_free_node_make(const emu_graph *graph, const CUgraphNodeParams *params,
                            emu_payload *out);
/* A node with the payload was added to the graph. */
void emu_memory_node_added(const emu_node *node);

/* Allocate and free in a stream that is being captured: add a node. */
CUresult emu_graph_memory_capture_alloc(emu_context *context, emu_stream *stream,
                                        size_t size, CUdeviceptr *out);
CUresult emu_graph_memory_capture_free(emu_stream *stream, CUdeviceptr address);

/* Whether a range lies in memory of a graph, live or not. */
bool emu_graph_memory_holds(uint64_t address, size_t bytes);

/* Free what an allocation node left live: its executable graph begins again. */
void emu_graph_memory_free_left(const void *payload);

/* A live allocation is freed. False: it was not live. */
bool emu_graph_memory_end(emu_allocation *allocation);
/* The context of an allocation ends. */
void emu_graph_memory_forget(const emu_allocation *allocation);

/* How many are live. */
size_t emu_graph_memory_count(void);

#endif
