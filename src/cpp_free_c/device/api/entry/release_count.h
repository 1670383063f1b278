/* Counts of doubtful releases: what programs left to a context, or freed from another.
 *
 * The functions marked EMU_EXPORT may be called from any thread at any time, before
 * cuInit too; a test reaches them through dlsym or ctypes. The API lock guards the
 * rest. */
#ifndef DEVICE_API_ENTRY_RELEASE_COUNT_H
#define DEVICE_API_ENTRY_RELEASE_COUNT_H

#include <stddef.h>

#include "device/base/device.h"
#include "device/base/export.h"

/* Objects and allocations that contexts still held when they were destroyed. */
EMU_EXPORT unsigned long long emu_abandoned_count(void);
/* Objects and allocations that were released while another context was current. */
EMU_EXPORT unsigned long long emu_foreign_free_count(void);

/* Add to the first count. */
void emu_count_abandoned(size_t count);
/* Add to the second count if `owner`, the context of what is released, is not current.
 */
void emu_count_free(const emu_context *owner);

#endif
