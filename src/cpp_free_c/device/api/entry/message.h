/* The last message: why cuInit failed, or the report of a kernel's fault.
 *
 * Tests and programs read it through dlsym or ctypes. The API lock guards it. */
#ifndef DEVICE_API_ENTRY_MESSAGE_H
#define DEVICE_API_ENTRY_MESSAGE_H

#include "device/base/export.h"
#include "device/machine/warp/launch.h"

/* Return the message, never NULL. It is valid until the next call in the same thread.
 * These two may be called from any thread at any time. */
EMU_EXPORT const char *emu_last_message(void);
EMU_EXPORT void emu_message_clear(void);

/* Set the message. Call it with the API lock held. */
void emu_message_set(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Make the report of a fault the message, and append it to the file of reports. Nothing
 * happens if there was no fault. Call it with the API lock held. */
void emu_message_set_report(const emu_report *report);

#endif
