/* Members of function_attribute: X(NAME, value).
 *
 * Each member except MAX, the number of members, is also a property of Function with
 * its name in lower case. NAME is the name in cuda.h without CU_FUNC_ATTRIBUTE_. Read
 * by python/support/enums.c and the type Function. */
#ifndef ABI_FUNCTION_ATTRIBUTES_H
#define ABI_FUNCTION_ATTRIBUTES_H

/* clang-format off */
#define PCU_FUNC_ATTRS(X) \
    X(MAX_THREADS_PER_BLOCK, 0) \
    X(SHARED_SIZE_BYTES, 1) \
    X(CONST_SIZE_BYTES, 2) \
    X(LOCAL_SIZE_BYTES, 3) \
    X(NUM_REGS, 4) \
    X(PTX_VERSION, 5) \
    X(BINARY_VERSION, 6) \
    X(CACHE_MODE_CA, 7) \
    X(MAX_DYNAMIC_SHARED_SIZE_BYTES, 8) \
    X(PREFERRED_SHARED_MEMORY_CARVEOUT, 9) \
    X(CLUSTER_SIZE_MUST_BE_SET, 10) \
    X(REQUIRED_CLUSTER_WIDTH, 11) \
    X(REQUIRED_CLUSTER_HEIGHT, 12) \
    X(REQUIRED_CLUSTER_DEPTH, 13) \
    X(NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 14) \
    X(CLUSTER_SCHEDULING_POLICY_PREFERENCE, 15) \
    X(MAX, 16)
/* clang-format on */

#endif
