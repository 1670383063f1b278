/* Kinds of memory, as snapshots of memory name them.
 *
 *   X(KIND, "name", the memory is on the device) */
#ifndef TABLES_MEMORY_KINDS_H
#define TABLES_MEMORY_KINDS_H

/* clang-format off */
#define PCU_MEMORY_KINDS(X) \
    X(DEVICE, "device", 1)            \
    X(STREAM, "stream", 1)            \
    X(POOL, "pool", 1)                \
    X(MANAGED, "managed", 1)          \
    X(PHYSICAL, "physical", 1)        \
    X(ARRAY, "array", 1)              \
    X(PAGE_LOCKED, "page-locked", 0)  \
    X(HOST_POOL, "page-locked pool", 0)
/* clang-format on */

#endif
