/* Lowering of the forms of cp, st and red that have files of their own. Used by
 * lower_memory.c and lower_atomic.c. */
#ifndef DEVICE_COMPILE_LOWER_BULK_H
#define DEVICE_COMPILE_LOWER_BULK_H

#include "device/compile/lower_state.h"

/* cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk, ...: lower_bulk.c. */
void low_bulk(low_func *f);
/* cp.async.mbarrier.arrive: lower_mbarrier.c. */
void low_copy_arrive(low_func *f);
/* The end of st.async and red.async: operand 2, an mbarrier, counts the bytes that were
 * written. lower_mbarrier.c. */
void low_complete_bytes(low_func *f, unsigned bytes);

#endif
