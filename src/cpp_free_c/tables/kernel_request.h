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
 * of array_ops.h or array_reductions.h, FAMILY, PASSING and VARIANT a name below,
 * FOURIER a tuple of names below.
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
    FIELD(uint8_t, vector, NUMBER, "elements of a thread in a flat kernel; bytes of a word for raw elements") \
    FIELD(uint8_t, kept_ndim, NUMBER, "reductions: axes of the result") \
    FIELD(uint8_t, variant, VARIANT, "which kernel of the family, as in PCU_KERNEL_VARIANTS") \
    FIELD(uint8_t, partial, FLAG, "reductions: true if the kernel stores accumulators, not results") \
    FIELD(uint8_t, streamed, FLAG, "reductions: true if loads bypass the cache") \
    FIELD(uint16_t, tile, NUMBER, "transposes: the elements on a side of a tile; Fourier transforms: the lines of a block") \
    FIELD(uint32_t, length, NUMBER, "Fourier transforms: the elements of a line") \
    FIELD(uint32_t, convolution, NUMBER, "Fourier transforms: the length of the convolution that makes the transform, or 0") \
    FIELD(uint32_t, threads, NUMBER, "Fourier transforms: the threads of a block") \
    FIELD(uint32_t, fourier, FOURIER, "Fourier transforms: the words of PCU_FOURIER_WORDS that apply")

/* X(NAME, "name") */
#define PCU_KERNEL_FAMILIES(X) \
    X(ELEMENTWISE, "elementwise") \
    X(REDUCTION, "reduction")     \
    X(TRANSPOSE, "transpose") \
    X(FOURIER, "fourier")

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
    X(JOIN_BY_THREAD, "join_by_thread")

/* How a kernel of a Fourier transform reads, transforms and stores lines. At most 32
 * rows: the field `fourier` has a bit for each. Python gets the names that apply.
 *
 *   load_pairs           two real elements are one complex number
 *   load_half            half a spectrum stands for the whole one
 *   load_half_pairs      the same, for a transform of half the length
 *   load_chirp           no array: the chirp of a convolution
 *   load_conjugate, load_inverse, load_chirped
 *                        conjugate, exchange the parts, multiply by the chirp
 *   load_loose, store_loose
 *                        addresses are not multiples of the size of an element
 *   load_by_line, store_by_line
 *                        neighbouring threads handle neighbouring lines
 *   twiddled             earlier kernels have transformed other factors of the length
 *   indexed              the last of several kernels
 *   unzip_block, unzip   the transform of real elements from that of half the length,
 *                        in the block that made it, or as a kernel of its own
 *   store_pairs          a complex number is two real elements
 *   store_multiplied     multiply by a factor
 *   store_turned, store_chirped, store_inverse, store_conjugate
 *                        after a convolution; in this order */
#define PCU_FOURIER_WORDS(X) \
    X(LOAD_PAIRS, "load_pairs")             \
    X(LOAD_HALF, "load_half")               \
    X(LOAD_HALF_PAIRS, "load_half_pairs")   \
    X(LOAD_CHIRP, "load_chirp")             \
    X(LOAD_CONJUGATE, "load_conjugate")     \
    X(LOAD_INVERSE, "load_inverse")         \
    X(LOAD_CHIRPED, "load_chirped")         \
    X(LOAD_LOOSE, "load_loose")             \
    X(LOAD_BY_LINE, "load_by_line")         \
    X(TWIDDLED, "twiddled")                 \
    X(INDEXED, "indexed")                   \
    X(UNZIP_BLOCK, "unzip_block")           \
    X(UNZIP, "unzip")                       \
    X(STORE_PAIRS, "store_pairs")           \
    X(STORE_MULTIPLIED, "store_multiplied") \
    X(STORE_TURNED, "store_turned")         \
    X(STORE_CHIRPED, "store_chirped")       \
    X(STORE_INVERSE, "store_inverse")       \
    X(STORE_CONJUGATE, "store_conjugate")   \
    X(STORE_LOOSE, "store_loose")           \
    X(STORE_BY_LINE, "store_by_line")
/* clang-format on */

#endif
