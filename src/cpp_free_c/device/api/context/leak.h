/* The check `leak`: what is alive at exit, by the line of the program that made it.
 *
 * Three things are noted: what a context still owned when it was destroyed, or owns
 * when the process exits; what only a garbage collector could release, because nothing
 * of the program refers to it (the program that embeds the device marks that time); a
 * context that is still on a stack at that time. The list is written to the standard
 * error when the process exits. Contexts that have failed are left out: a program
 * cannot release what they own. If one works again, what is older is left out. Call the
 * functions that are not exported with the API lock held. */
#ifndef DEVICE_API_CONTEXT_LEAK_H
#define DEVICE_API_CONTEXT_LEAK_H

#include <stdbool.h>

#include "device/base/device.h"
#include "device/base/export.h"

/* Set once by cuInit. */
void emu_leak_open(bool on);

/* A context is destroyed now, with everything that it owns. That is no leak if the
 * program asks for it: the end of a context releases everything. */
void emu_leak_note_context(emu_context *context);
/* Whether a program has to release the object, and the allocation, itself. */
bool emu_leak_is_object(const emu_object *object);
bool emu_leak_is_memory(const struct emu_allocation *allocation);

/* For a program that collects garbage when it exits: call the first function before and
 * the second one after that. Return 1 if the check is on. Call them in the thread that
 * ends the program. */
EMU_EXPORT int emu_leak_before_collection(void);
EMU_EXPORT void emu_leak_after_collection(void);

/* -- counts of live handles -------------------------------------------------------- */

/* They come from the registry, the memory and the pools; nothing is counted here. */

/* How many handles of a kind are alive: context, module, memory, host, registered,
 * managed, array, mipmap, stream, event, texture, surface, link, graph, graph_exec,
 * graphics, pool, ipc, global, heap. -1 for an unknown kind. May be called from any
 * thread at any time, before cuInit too; a test reaches it through dlsym or ctypes. */
EMU_EXPORT long long emu_live_count(const char *kind);

#endif
