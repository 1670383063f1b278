/* Reductions of elements in memory, for the asynchronous copies that reduce.
 *
 * Each element is changed by one atomic operation. Called by ops_bulk.c and
 * ops_tensor.c. */
#ifndef DEVICE_MACHINE_OPS_REDUCTION_H
#define DEVICE_MACHINE_OPS_REDUCTION_H

#include <stddef.h>
#include <stdint.h>

/* The element in memory after the reduction (EMU_REDUCE_) of `old` by `value`. */
uint64_t emu_reduction(unsigned operation, unsigned type, uint64_t old, uint64_t value);
/* Reduce the elements at `to` by those at `from`; `bytes` is a multiple of their size.
 */
void emu_reduce_bytes(void *to, const void *from, size_t bytes, unsigned operation,
                      unsigned type);

#endif
