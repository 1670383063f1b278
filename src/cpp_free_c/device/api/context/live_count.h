/* Counts of live handles, for tests of leaks.
 *
 * The counts come from the registry, the memory and the pools; nothing is counted here.
 */
#ifndef DEVICE_API_CONTEXT_LIVE_COUNT_H
#define DEVICE_API_CONTEXT_LIVE_COUNT_H

#include "device/base/export.h"

/* How many handles of a kind are alive: context, module, memory, host, registered,
 * managed, array, mipmap, stream, event, texture, surface, link, graph, graph_exec,
 * graphics, pool, ipc, global, heap. -1 for an unknown kind. May be called from any
 * thread at any time, before cuInit too; a test reaches it through dlsym or ctypes. */
EMU_EXPORT long long emu_live_count(const char *kind);

#endif
