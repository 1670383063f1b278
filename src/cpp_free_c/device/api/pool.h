/* Memory pools as other files need them. Under the API lock. */
#ifndef DEVICE_API_POOL_H
#define DEVICE_API_POOL_H

#include "device/memory/memory.h"

/* An allocation of a pool is about to be freed. */
void emu_pool_forget(const emu_allocation *allocation);

/* Pools that programs made and have not destroyed. */
size_t emu_pool_count(void);

#endif
