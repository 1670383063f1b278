/* Counts of live handles: a table of kinds over the registry, the memory and the pools.
 * See leak.h. */
#include "device/api/context/leak.h"

#include <string.h>

#include "device/base/object.h"
#include "device/memory/memory.h"
#include "device/api/entry/lock.h"
#include "device/api/memory/graph_memory.h"
#include "device/api/memory/pool.h"

static const struct {
    const char *name;
    emu_kind kind;
} object_kinds[] = {
    {"context", EMU_CONTEXT},
    {"module", EMU_MODULE},
    {"array", EMU_ARRAY},
    {"mipmap", EMU_MIPMAP},
    {"stream", EMU_STREAM},
    {"event", EMU_EVENT},
    {"texture", EMU_TEXTURE},
    {"surface", EMU_SURFACE},
    {"link", EMU_LINK},
    {"graph", EMU_GRAPH},
    {"graph_exec", EMU_GRAPH_EXEC},
    {"user_object", EMU_USER_OBJECT},
    {"graphics", EMU_GRAPHICS},
    {"physical", EMU_PHYSICAL},
    {"library", EMU_LIBRARY},
    {"green_context", EMU_GREEN_CONTEXT},
};

static const struct {
    const char *name;
    emu_memory_kind kind;
} memory_kinds[] = {
    {"memory", EMU_MEMORY_DEVICE},
    {"memory", EMU_MEMORY_PITCHED},
    {"memory", EMU_MEMORY_POOLED},
    {"memory", EMU_MEMORY_IMPORTED},
    {"virtual", EMU_MEMORY_RESERVED},
    {"host", EMU_MEMORY_HOST},
    {"registered", EMU_MEMORY_REGISTERED},
    {"managed", EMU_MEMORY_MANAGED},
    {"ipc", EMU_MEMORY_IPC},
    {"global", EMU_MEMORY_GLOBAL},
    {"heap", EMU_MEMORY_HEAP},
};

/* The live allocations of the kinds of that name; -1 if there is no such name. */
static long long
live_count_memory(const char *name)
{
    long long count = 0;
    bool known = false;

    for (size_t i = 0; i < sizeof(memory_kinds) / sizeof(memory_kinds[0]); i++) {
        if (strcmp(name, memory_kinds[i].name) == 0) {
            known = true;
            count += (long long)emu_memory_count(memory_kinds[i].kind);
        }
    }
    if (!known) {
        return -1;
    }
    if (strcmp(name, "memory") == 0) {
        count += (long long)emu_graph_memory_count();
    }
    return count;
}

static long long
live_count_locked(const char *name)
{
    if (name == NULL) {
        return -1;
    }
    if (strcmp(name, "pool") == 0) {
        return (long long)emu_pool_count();
    }
    if (emu_is_forked()) {
        return 0; /* a child owns nothing, and the memory's lock may be held */
    }
    for (size_t i = 0; i < sizeof(object_kinds) / sizeof(object_kinds[0]); i++) {
        if (strcmp(name, object_kinds[i].name) == 0) {
            return (long long)emu_object_count(object_kinds[i].kind);
        }
    }
    return live_count_memory(name);
}

long long
emu_live_count(const char *kind)
{
    long long count;

    emu_lock();
    count = live_count_locked(kind);
    emu_unlock();
    return count;
}
