/* A log of uses: the accesses that one worker makes while it runs a kernel.
 *
 * Each worker has a log of its own, so that accesses are noted without a lock. At its
 * end, the log is added to the uses of the operation (uses.h). */
#ifndef DEVICE_CHECK_USE_LOG_H
#define DEVICE_CHECK_USE_LOG_H

#include "device/check/uses.h"

typedef struct emu_use_log emu_use_log;

/* NULL: out of memory. */
emu_use_log *emu_use_log_new(void);
void emu_use_log_free(emu_use_log *log);

/* From now on, the accesses are those of an operation. NULL: of none. */
void emu_use_log_begin(emu_use_log *log, emu_uses *uses);
/* Add the accesses to the uses of the operation. Any number of threads at a time. */
void emu_use_log_end(emu_use_log *log);

/* Whether accesses to an allocation are to be noted. `log` may be NULL. */
bool emu_use_log_wants(emu_use_log *log, const emu_allocation *allocation);
/* Note an access to such an allocation. */
void emu_use_log_add(emu_use_log *log, uint64_t address, uint64_t bytes, unsigned kind);
/* Note the accesses of the lanes of a mask, which is not 0, to elements of `size`
 * bytes: a power of two up to 32, of which the addresses are multiples. */
void emu_use_log_add_lanes(emu_use_log *log, const uint64_t *at, uint32_t mask,
                           unsigned size, unsigned kind);

#endif
