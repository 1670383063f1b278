/* Telling the check of uninitialised memory (shadow.h) what is written other than by a
 * store of a kernel. Without the check, nothing happens. Called by the copies and fills
 * of the driver and of kernels. */
#ifndef DEVICE_MEMORY_WRITTEN_H
#define DEVICE_MEMORY_WRITTEN_H

#include <stdint.h>

/* Bytes have been written: by the host, by a fill, or by a kernel. */
void emu_written_mark(uint64_t address, uint64_t bytes);
/* Bytes have been copied. The ranges may overlap. */
void emu_written_copy(uint64_t to, uint64_t from, uint64_t bytes);

#endif
