/* Releasing memory. See release.h. */
#include "device/api/memory/release.h"

#include "device/api/memory/graph_memory.h"
#include "device/api/memory/ipc_memory.h"
#include "device/api/memory/pool.h"

void
emu_release_forget(const emu_allocation *allocation)
{
    if (emu_pool_has(allocation)) {
        emu_pool_forget(allocation);
    }
    if (allocation->kind == EMU_MEMORY_GRAPH_NODE) {
        emu_graph_memory_forget(allocation);
    }
    emu_ipc_memory_forget(allocation);
}

bool
emu_release_memory(emu_allocation *allocation)
{
    if (allocation->kind == EMU_MEMORY_GRAPH_NODE) {
        return emu_graph_memory_end(allocation); /* the graph may make it live again */
    }
    emu_release_forget(allocation);
    return emu_memory_free(allocation);
}
