/* What C asks of Python when a context meets a kernel for the first time: one record.
 *
 * The same rows make the key under which the context's kernel table keeps the loaded
 * kernel (C: pcu_kernel_key) and the record from which pycuda._array writes the
 * kernel's source (Python: pycuda._driver._KernelRequest). Words cross the boundary, no
 * numbers: a field of an enumeration below arrives in Python as the name in its row.
 *
 *   FIELD(C type, name, VIEW, "meaning")    one value
 *   LIST(C type, name, VIEW, "meaning")     one value for each operand
 *
 * VIEW says what Python gets: NUMBER an int, FLAG a bool, TYPE the name of a dtype of
 * dtypes.h ("raw" for elements that are only moved), OPERATION the name of a row
 * of array_ops.h or array_reductions.h, FAMILY, PASSING and VARIANT a name below.
 *
 * The fields fill the key without padding, so that keys can be compared as bytes: see
 * the assertions in python/array/ops/kernel_request.h. */
#ifndef TABLES_KERNEL_REQUEST_H
#define TABLES_KERNEL_REQUEST_H

/* clang-format off */
#define PCU_KERNEL_REQUEST(FIELD, LIST) \
    FIELD(uint16_t, family, FAMILY, "which kind of kernel, as in PCU_KERNEL_FAMILIES") \
    FIELD(uint16_t, operation, OPERATION, "what the kernel computes") \
    FIELD(uint32_t, raw_bytes, NUMBER, "the size of elements that are only moved") \
    LIST(uint8_t, types, TYPE, "the dtypes of inputs, then outputs") \
    FIELD(uint8_t, inputs, NUMBER, "how many of the operands are inputs") \
    FIELD(uint8_t, outputs, NUMBER, "how many of the operands are outputs") \
    LIST(uint8_t, passing, PASSING, "how each operand is passed, as in PCU_OPERAND_PASSING") \
    FIELD(uint8_t, compute, TYPE, "the dtype in which the kernel computes") \
    FIELD(uint8_t, ndim, NUMBER, "axes of the loop; 0 for a flat kernel") \
    FIELD(uint8_t, wide, FLAG, "true if indices have 64 bits, not 32") \
    FIELD(uint8_t, vector, NUMBER, "elements of a thread in a flat kernel or a sort; bytes of a word for raw elements") \
    FIELD(uint8_t, kept_ndim, NUMBER, "reductions: axes of the result") \
    FIELD(uint8_t, variant, VARIANT, "which kernel of the family, as in PCU_KERNEL_VARIANTS") \
    FIELD(uint8_t, partial, FLAG, "reductions: true if the kernel stores accumulators, not results; sorts: true for indices") \
    FIELD(uint8_t, streamed, FLAG, "reductions: true if loads bypass the cache") \
    FIELD(uint16_t, tile, NUMBER, "transposes: the elements on a side of a tile; sorts: the threads of a block or a line")

/* X(NAME, "name") */
#define PCU_KERNEL_FAMILIES(X) \
    X(ELEMENTWISE, "elementwise") \
    X(REDUCTION, "reduction")     \
    X(TRANSPOSE, "transpose")     \
    X(SORT, "sort")

/* How an operand is passed: ARRAY an address, and strides unless the kernel is flat;
 * SCALAR the value, in the dtype of the operand; ONE the address of a single element, in
 * flat kernels only. */
#define PCU_OPERAND_PASSING(X) \
    X(ARRAY, "array")   \
    X(SCALAR, "scalar") \
    X(ONE, "one")

/* Reductions: the first two reduce elements, a block or a thread for each result. The others join
 * the accumulators that they stored. */
#define PCU_KERNEL_VARIANTS(X) \
    X(BY_BLOCK, "by_block")               \
    X(BY_THREAD, "by_thread")             \
    X(JOIN_BY_BLOCK, "join_by_block")     \
    X(JOIN_BY_THREAD, "join_by_thread")   \
    X(SORT_LANES, "sort_lanes")           \
    X(SORT_BLOCK, "sort_block")           \
    X(SORT_PASS, "sort_pass")
/* clang-format on */

#endif
