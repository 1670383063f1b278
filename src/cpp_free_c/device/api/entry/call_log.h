/* The call log: how often each call was made, and the last calls with their results.
 *
 * The functions marked EMU_EXPORT may be called from any thread at any time, before
 * cuInit too; a test reaches them through dlsym or ctypes. The API lock guards the
 * rest. */
#ifndef DEVICE_API_ENTRY_CALL_LOG_H
#define DEVICE_API_ENTRY_CALL_LOG_H

#include <stddef.h>

#include "device/base/export.h"
#include "device/api/entry/call.h"

/* How often one function was called, or all functions (NULL). */
EMU_EXPORT unsigned long long emu_call_count(const char *name);
/* Write the last calls to `buffer`, oldest first, each as a line "cuName code": as many
 * whole lines as fit, then a zero byte. Return the room that all lines need. The log
 * remembers at most 4096 calls. */
EMU_EXPORT size_t emu_call_log(char *buffer, size_t room);
EMU_EXPORT void emu_call_log_clear(void);

/* -- for the entry points ---------------------------------------------------------- */

/* Open the file that PYCUDA_EMULATOR_LOG names. Called once, without the API lock. */
void emu_call_log_open(void);
/* INVALID_VALUE if the file could not be opened; the message says so. */
CUresult emu_call_log_environment(void);
/* Count a call that begins; log a call that ends. */
void emu_call_log_begin(emu_call call);
void emu_call_log_end(emu_call call, CUresult status);

#endif
