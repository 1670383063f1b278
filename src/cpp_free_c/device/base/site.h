/* Sites: the lines of the program at which it called the driver.
 *
 * A program that embeds the device (the Python extension) registers a function that
 * writes the place of the call of the present thread, such as "run.py:12 in main". The
 * checks keep such texts with what the call made. A text is kept once and for ever, so
 * two sites are the same place if their pointers are equal. */
#ifndef DEVICE_BASE_SITE_H
#define DEVICE_BASE_SITE_H

#include <stdbool.h>
#include <stddef.h>

#include "device/base/export.h"

/* Write the place of the present call into `text` and return its length; 0: unknown.
 * It is called in the thread of the call, with or without the lock of the interpreter,
 * which it may take: no lock of the device is held. It may not call the device. */
typedef size_t (*emu_caller)(char *text, size_t room);

/* Register the function of this process; NULL: none. */
EMU_EXPORT void emu_set_caller(emu_caller caller);

/* The free, or the end of a context, that this thread calls next is one that the
 * program asked for, or (0) one of a destructor. Without a registered function all
 * count as asked for. */
EMU_EXPORT void emu_set_asked(int asked);
bool emu_site_is_asked(void);

/* Turn sites on: it costs a microsecond to find one, so only checks turn them on. */
void emu_site_want(bool wanted);

/* Ask for the place that this thread is at. No lock of the device is held. NULL:
 * unknown, or sites are off. */
const char *emu_site_ask(void);

/* A call of the driver begins: ask for its site. */
void emu_site_enter(void);

/* The site of the present call, as emu_site_enter found it. */
const char *emu_site_now(void);

#endif
