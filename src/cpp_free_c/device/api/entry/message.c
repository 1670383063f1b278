/* The last message. See message.h. */
#include "device/api/entry/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device/api/entry/lock.h"
#include "device/base/checks.h"
#include "device/check/stream_check.h"

enum { MESSAGE_ROOM = 2048 };

static char message[MESSAGE_ROOM];
static _Thread_local char message_copy[MESSAGE_ROOM];

void
emu_message_set(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments); /* cut to fit */
    va_end(arguments);
}

void
emu_message_set_report(const emu_report *report)
{
    if (report->text[0] == 0) {
        return;
    }
    emu_message_set("%s", report->text);
    if (report->kind != NULL) {
        (void)emu_report_log(report->kind, report->text);
    }
}

const char *
emu_last_message(void)
{
    emu_lock();
    memcpy(message_copy, message, sizeof(message_copy));
    emu_finding_is_told();
    emu_unlock();
    return message_copy;
}

void
emu_message_clear(void)
{
    emu_lock();
    message[0] = 0;
    emu_unlock();
}
