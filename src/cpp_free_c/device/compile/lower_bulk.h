/* Lowering of the forms of cp that have files of their own. Used by lower_memory.c. */
#ifndef DEVICE_COMPILE_LOWER_BULK_H
#define DEVICE_COMPILE_LOWER_BULK_H

#include "device/compile/lower_state.h"

/* cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk, ...: lower_bulk.c. */
void low_bulk(low_func *f);
/* cp.async.mbarrier.arrive: lower_mbarrier.c. */
void low_copy_arrive(low_func *f);

#endif
