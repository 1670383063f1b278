/* Warnings: what a kernel did that a GPU may let pass. The kernel goes on.
 *
 * A program that embeds the device (the Python extension) registers a function that is
 * called for each warning, in any thread, and takes the text when it can. Without such
 * a function, the text goes to stderr. Each warning is also in the file of reports
 * (checks.h). Any thread may call these functions; they call nothing of the device. */
#ifndef DEVICE_BASE_WARNINGS_H
#define DEVICE_BASE_WARNINGS_H

#include <stddef.h>
#include <stdint.h>

/* It is called with locks of the device held, so it may only note the call. */
typedef void (*emu_warned)(void *argument);

/* Register the function of this process and its argument; NULL: none. */
void emu_set_warned(emu_warned warned, void *argument);

/* The lines of PTX that a report is about, 0: none, and the hash of the PTX. */
typedef struct {
    uint64_t hash;
    unsigned lines[2];
} emu_ptx_place;

/* Add a warning. kind: as of emu_report_log; NULL: it is no error, and only a host that
 * shows it adds it to the file of reports. */
void emu_warning_add(const char *kind, const char *text, emu_ptx_place place);

/* -- notices ----------------------------------------------------------------------- */

/* A notice tells of a launch while it runs. It is no warning, and goes to stderr. A
 * host takes it in its next answer (wait.h) and adds the line; the last one counts. */

void emu_notice_add(const char *text, emu_ptx_place place);
/* As emu_warning_take. */
size_t emu_notice_take(char *text, size_t room, unsigned long long *hash,
                       unsigned lines[2]);

/* -- taking warnings --------------------------------------------------------------- */

/* Write the oldest warning into `text` and forget it. Return its length; 0: none. */
size_t emu_warning_take(char *text, size_t room, unsigned long long *hash,
                        unsigned lines[2]);

#endif
