/* What tests ask of the device beside the driver's interface: failing a call on
 * request, counting calls and live handles, the call log, the last message.
 *
 * The functions marked EMU_EXPORT may be called from any thread at any time, before
 * cuInit too; a test reaches them through dlsym or ctypes. */
#ifndef DEVICE_API_FAULTS_H
#define DEVICE_API_FAULTS_H

#include "device/api/entry.h"

/* Fails the nth (1 is the next) call of the function `name` (with or without its cu;
 * NULL or "*": of any function) with `code`, once. Several may be set. 0, or -1 for an
 * unknown name, nth 0 or too many. */
EMU_EXPORT int emu_fault_set(const char *name, unsigned int nth, int code);
/* Forgets all that emu_fault_set and the environment asked for. */
EMU_EXPORT void emu_fault_clear(void);
/* How many calls have been failed so. */
EMU_EXPORT unsigned long long emu_fault_fired(void);

/* Handles alive now: context, module, memory, host, registered, managed, array, mipmap,
 * stream, event, texture, surface, link, graph, graph_exec, graphics, pool, ipc,
 * global. -1 for an unknown kind. */
EMU_EXPORT long long emu_live_count(const char *kind);
/* Objects and allocations that a context still held when it was destroyed, since the
 * start. */
EMU_EXPORT unsigned long long emu_abandoned_count(void);
/* Frees made while the object's context was not the current one, since the start. */
EMU_EXPORT unsigned long long emu_foreign_free_count(void);

/* Calls made of one function, or of all (NULL). */
EMU_EXPORT unsigned long long emu_call_count(const char *name);
/* The last calls, oldest first, a line "cuName code" each, as many as fit whole and end
 * in a zero byte. Returns the room that all of them need. At most 4096 are remembered.
 */
EMU_EXPORT size_t emu_call_log(char *buffer, size_t room);
EMU_EXPORT void emu_call_log_clear(void);

/* The last message: why cuInit failed, or the report of a kernel's fault. Never NULL;
 * valid until the next call in the same thread. */
EMU_EXPORT const char *emu_last_message(void);
EMU_EXPORT void emu_message_clear(void);

/* -- for the entry points, under the API lock -------------------------------------- */

void emu_fault_open(void);
/* Counts a call; not CUDA_SUCCESS when it shall fail. */
CUresult emu_fault_check(emu_call call);
void emu_fault_log(emu_call call, CUresult status);
void emu_message_set(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* INVALID_VALUE when PYCUDA_EMULATOR_FAULT could not be understood. */
CUresult emu_fault_environment(void);
void emu_count_abandoned(size_t count);
void emu_count_free(const emu_context *owner);

#endif
