/* Members of function_attribute: X(NAME, value, docstring).
 *
 * Each member except MAX, the number of members, is also a property of Function with
 * its name in lower case and its docstring, which gives the unit. NAME is the name in
 * cuda.h without CU_FUNC_ATTRIBUTE_. Read by python/support/enums.c, the type Function
 * and tools/make_stub.py. */
#ifndef ABI_FUNCTION_ATTRIBUTES_H
#define ABI_FUNCTION_ATTRIBUTES_H

/* clang-format off */
#define PCU_FUNC_ATTRS(X) \
    X(MAX_THREADS_PER_BLOCK, 0, "The largest number of threads of a block for this function.") \
    X(SHARED_SIZE_BYTES, 1, "Shared memory of a block that the source declares, in bytes.") \
    X(CONST_SIZE_BYTES, 2, "Constant memory that the source declares, in bytes.") \
    X(LOCAL_SIZE_BYTES, 3, "Local memory of a thread, in bytes.") \
    X(NUM_REGS, 4, "The number of registers of a thread.") \
    X(PTX_VERSION, 5, "The PTX target, 10 times major plus minor: 90 for 9.0.") \
    X(BINARY_VERSION, 6, "The target of the binary code, 10 times major plus minor: 90 for 9.0.") \
    X(CACHE_MODE_CA, 7, "1 if the function was compiled to cache global loads in L1, otherwise 0.") \
    X(MAX_DYNAMIC_SHARED_SIZE_BYTES, 8, "The largest shared memory that a launch may ask for, in bytes.") \
    X(PREFERRED_SHARED_MEMORY_CARVEOUT, 9, "The preferred part of on-chip memory for shared memory, in percent; -1: no preference.") \
    X(CLUSTER_SIZE_MUST_BE_SET, 10, "1 if a launch must give the size of clusters, otherwise 0.") \
    X(REQUIRED_CLUSTER_WIDTH, 11, "The required size of a cluster in x, in blocks; 0 if there is none.") \
    X(REQUIRED_CLUSTER_HEIGHT, 12, "The required size of a cluster in y, in blocks; 0 if there is none.") \
    X(REQUIRED_CLUSTER_DEPTH, 13, "The required size of a cluster in z, in blocks; 0 if there is none.") \
    X(NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 14, "1 if clusters may be larger than all devices support, otherwise 0.") \
    X(CLUSTER_SCHEDULING_POLICY_PREFERENCE, 15, "Order of clusters: 0 default, 1 spread over multiprocessors, 2 balanced.") \
    X(MAX, 16, "The number of attributes.")
/* clang-format on */

#endif
