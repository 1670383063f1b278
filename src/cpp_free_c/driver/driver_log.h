/* The driver's own messages about failed calls, since CUDA 12.9.
 *
 * The driver hands each message to a callback, in the thread of the failed call and
 * before the call returns. The last messages are kept as text, so that the exception
 * for the call can take them. They are apart from the events of driver/events.h: the
 * driver calls in any thread, without the interpreter lock that guards the events.
 *
 * Invariant: the callback calls neither Python nor the driver; a lock of this file
 * guards the messages. Callers: table.c begins, errors.c takes. */
#ifndef DRIVER_DRIVER_LOG_H
#define DRIVER_DRIVER_LOG_H

#include "driver/table.h"

enum { PCU_DRIVER_LOG_ROOM = 4096 };

/* Ask the driver for its messages. A driver that has none refuses; that is no error. */
PCU_HIDDEN void pcu_driver_log_begin(void);

/* Take the messages about the last failed call of this thread, if that was a call of
 * `routine`: lines of text, oldest first. Return the length, 0 if there are none. */
PCU_HIDDEN size_t pcu_driver_log_take(const char *routine, char *text, size_t room);

#endif
