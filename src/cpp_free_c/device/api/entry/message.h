/* The texts about failures that a program can read: the last message, and the log of
 * failed calls. The last message says why cuInit failed, or reports a kernel's fault.
 *
 * Tests and programs read the last message through dlsym or ctypes. The API lock guards
 * it. */
#ifndef DEVICE_API_ENTRY_MESSAGE_H
#define DEVICE_API_ENTRY_MESSAGE_H

#include <stdbool.h>

#include "device/base/export.h"
#include "device/machine/warp/launch.h"
#include "device/api/entry/call.h"

/* -- the last message -------------------------------------------------------------- */

/* Return the message, never NULL. It is valid until the next call in the same thread.
 * These two may be called from any thread at any time. */
EMU_EXPORT const char *emu_last_message(void);
EMU_EXPORT void emu_message_clear(void);
/* The lines of PTX of the instruction that the message reports and of the other access,
 * each 0 if it names the line of the source, or none. Return the hash of the text. */
uint64_t emu_last_ptx(unsigned lines[2]);
/* Let a context work again after a fault, and forget the message and the finding. */
void emu_recover(CUcontext handle);

/* Set the message. Call it with the API lock held. */
void emu_message_set(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Make the report of a fault the message, and append it to the file of reports. Nothing
 * happens if there was no fault. Call it with the API lock held. */
void emu_message_set_report(const emu_report *report);

/* -- the log of failed calls ------------------------------------------------------- */

/* CUDA's error log management, as it is since 12.9. A call that fails adds its reason,
 * if it has said one, and a line with its code. The callbacks of cuLogsRegisterCallback
 * get each message in the thread of the call, before the call returns. CUDA_LOG_FILE
 * names a file, stdout or stderr for the messages. The last 25,600 bytes are kept for
 * the dumps.
 *
 * Locks of message.c guard the log. A callback runs without any other lock of the
 * device, so it may call the driver, but not register or unregister. */

/* Say why the present call of this thread fails. Only the first reason counts; it is
 * forgotten if the call succeeds. */
void emu_error_log_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A call has ended. Called without the API lock. As on an H200, nothing is logged
 * before cuInit. */
void emu_error_log_end(emu_call call, CUresult status);

/* The numbers of the oldest line that is kept, and of the next one. */
unsigned int emu_error_log_first(void);
unsigned int emu_error_log_next(void);
/* Write the lines from a number on. If they need more than `room` bytes with the final
 * 0, the oldest are left out, and a line in their place says so. Return the length
 * without the 0; `room` if not even one line fits. *next becomes the number behind the
 * last line. */
size_t emu_error_log_read(unsigned int first, char *text, size_t room,
                          unsigned int *next);

/* Whether this thread runs a callback. It must not change the callbacks then. */
bool emu_error_log_is_delivering(void);
/* Add and remove a callback. NULL: out of memory. False: there is no such callback.
 * Both wait for the callbacks that other threads run. Called without the API lock. */
CUlogsCallbackHandle emu_error_log_register(CUlogsCallback function, void *data);
bool emu_error_log_unregister(CUlogsCallbackHandle callback);

enum { EMU_ERROR_LOG_ROOM = 25600 };

#endif
