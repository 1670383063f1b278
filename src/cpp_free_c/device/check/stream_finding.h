/* The texts of the findings of the check `sync`, and how they reach the program.
 *
 * A finding makes its context fail. The next call publishes the text; what no call has
 * published is written to the standard error when the process exits. Only the first
 * finding counts until it is published. Called with the mutex of the check held. */
#ifndef DEVICE_CHECK_STREAM_FINDING_H
#define DEVICE_CHECK_STREAM_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "device/base/device.h"

/* One of two accesses that conflict. */
typedef struct {
    const char *name; /* "kernel scale", "cuMemcpyDtoHAsync", "the host" */
    const char *site; /* NULL: unknown */
    unsigned kinds;   /* EMU_USE_ values */
} emu_finding_side;

void emu_finding_of_streams(emu_context *context, const emu_finding_side *older,
                            const emu_finding_side *newer, uint64_t address);
void emu_finding_of_host(emu_context *context, const emu_finding_side *work,
                         const emu_finding_side *host, uint64_t address);
void emu_finding_of_free(emu_context *context, const emu_finding_side *work,
                         uint64_t address, const char *word);

/* Take the text of a finding that was not published; NULL: none. Any thread may call
 * it without the mutex. */
const char *emu_finding_take(void);
/* The program has read the message that has the text. */
void emu_finding_is_told(void);

#endif
