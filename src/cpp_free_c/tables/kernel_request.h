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
 * FOURIER a tuple of names
 * of fourier.h.
 *
 * The fields fill the key without padding, so that keys can be compared as bytes: see
 * the assertions in python/array/ops/kernel_request.h. */
#ifndef TABLES_KERNEL_REQUEST_H
#define TABLES_KERNEL_REQUEST_H

/* clang-format off */
#define PCU_KERNEL_REQUEST(FIELD, LIST) \
    FIELD(uint16_t, family, FAMILY, "which kind of kernel, as in PCU_KERNEL_FAMILIES") \
    FIELD(uint16_t, operation, OPERATION, "what the kernel computes") \
    FIELD(uint32_t, raw_bytes, NUMBER, "the size of elements that are only moved, or bytes of shared memory") \
    LIST(uint8_t, types, TYPE, "the dtypes of inputs, then outputs") \
    FIELD(uint8_t, inputs, NUMBER, "how many of the operands are inputs") \
    FIELD(uint8_t, outputs, NUMBER, "how many of the operands are outputs") \
    LIST(uint8_t, passing, PASSING, "how each operand is passed, as in PCU_OPERAND_PASSING") \
    FIELD(uint8_t, compute, TYPE, "the dtype in which the kernel computes") \
    FIELD(uint8_t, ndim, NUMBER, "axes of the loop; 0 for a flat kernel") \
    FIELD(uint8_t, wide, FLAG, "true if indices have 64 bits, not 32") \
    FIELD(uint8_t, vector, NUMBER, "elements of a vector, or bytes of a word for raw elements") \
    FIELD(uint8_t, kept_ndim, NUMBER, "axes of the result, or how many arrays, or bits of axes, as the family says") \
    FIELD(uint8_t, variant, VARIANT, "which kernel of the family, as in PCU_KERNEL_VARIANTS") \
    FIELD(uint8_t, partial, FLAG, "true if the kernel stores part of the result, or a block a part of a row") \
    FIELD(uint8_t, streamed, FLAG, "reductions: true if loads bypass the cache") \
    FIELD(uint16_t, tile, NUMBER, "the size of a tile, as the family counts it") \
    FIELD(uint16_t, threads, NUMBER, "the threads of a block") \
    FIELD(uint16_t, lanes, NUMBER, "the threads that work on a line together") \
    FIELD(uint32_t, rounds, NUMBER, "steps of a loop that is unrolled, or a stride known beforehand") \
    FIELD(uint16_t, tile_columns, NUMBER, "products: the columns of a tile of `tile` rows") \
    FIELD(uint16_t, depth, NUMBER, "products: the products that a tile adds at once") \
    FIELD(uint8_t, left_by_row, FLAG, "products: true if the left operand's rows are runs") \
    FIELD(uint8_t, right_by_row, FLAG, "products: the same of the right operand") \
    FIELD(uint8_t, left_vector, NUMBER, "products: elements that a thread loads at once") \
    FIELD(uint8_t, right_vector, NUMBER, "products: the same of the right operand") \
    FIELD(uint16_t, length, NUMBER, "Fourier transforms: the elements of a line") \
    FIELD(uint16_t, convolution, NUMBER, "Fourier transforms: the length of the convolution that makes the transform, or 0") \
    FIELD(uint32_t, fourier, FOURIER, "Fourier transforms: the words of PCU_FOURIER_WORDS that apply") \

/* X(NAME, "name") */
#define PCU_KERNEL_FAMILIES(X) \
    X(ELEMENTWISE, "elementwise") \
    X(REDUCTION, "reduction")     \
    X(TRANSPOSE, "transpose")     \
    X(SCAN, "scan")               \
    X(SORT, "sort")               \
    X(PRODUCT, "product")         \
    X(TRIANGLE, "triangle")       \
    X(FOURIER, "fourier")         \
    X(INDEXING, "indexing")       \
    X(JOIN, "join")               \
    X(REMAP, "remap")             \
    X(MASK, "mask")               \
    X(SEARCH, "search")           \
    X(HISTOGRAM, "histogram")     \
    X(ELEMENTWISE_TILES, "elementwise_tiles") \
    X(ELEMENTWISE_ROWS, "elementwise_rows") \
    X(CROSS, "cross")             \
    X(SOLVER, "solver")           \
    X(QUANTILE, "quantile")       \
    X(SELECTION, "selection")     \

/* How an operand is passed: ARRAY an address and strides; SCALAR the value, in the dtype
 * of the operand. Elementwise kernels have more ways: ONE the address of a single
 * element, in flat kernels only; PACKED the address of elements that follow each other
 * in the order of the loop. If vectors have several elements, ARRAY is an array whose
 * elements follow each other along the fastest axis; REPEATED one that has the same
 * element everywhere along that axis; BACKWARD one with the elements in reverse order.
 * In kernels of tiles, TURNED is an input that is packed along another axis. In kernels by
 * rows, PACKED and REPEATED say how the elements of a row follow each other. */
#define PCU_OPERAND_PASSING(X) \
    X(ARRAY, "array")   \
    X(SCALAR, "scalar") \
    X(ONE, "one")       \
    X(PACKED, "packed") \
    X(REPEATED, "repeated") \
    X(BACKWARD, "backward") \
    X(TURNED, "turned") \

/* X(NAME, "name"), a group for each family with several kernels. */
#define PCU_KERNEL_VARIANTS(X) \
    /* Reductions: a block or a warp for each result, some lanes of a warp, or a thread for
     * neighbouring results; then the two that join the accumulators. */ \
    X(BY_BLOCK, "by_block") \
    X(BY_ROW, "by_row") \
    X(BY_SHORT_ROW, "by_short_row") \
    X(BY_COLUMN, "by_column") \
    X(JOIN_BY_BLOCK, "join_by_block") \
    X(JOIN_BY_ROW, "join_by_row") \
    /* Scans: see python/array/ops/scan_layout.h. */ \
    X(SCAN_LINES, "scan_lines") \
    X(SCAN_WALK, "scan_walk") \
    X(SCAN_LOOK_BACK, "scan_look_back") \
    X(SCAN_COLUMNS_WALK, "scan_columns_walk") \
    X(SCAN_COLUMNS_LOOK_BACK, "scan_columns_look_back") \
    X(SCAN_TILE_SUMS, "scan_tile_sums") \
    X(SCAN_AFTER_SUMS, "scan_after_sums") \
    X(SCAN_ROWS_LOOK_BACK, "scan_rows_look_back") \
    /* Sorts: a warp or a block for each line; one digit of all elements. */ \
    X(SORT_LANES, "sort_lanes") \
    X(SORT_BLOCK, "sort_block") \
    X(SORT_PASS, "sort_pass") \
    /* Index arrays: read the elements at the indices, write them, write one value, only look
     * for an index out of bounds, compute with the elements. Such an index is noted, or with a
     * suffix wrapped around or clipped. */ \
    X(GATHER, "gather") \
    X(GATHER_WRAPPED, "gather_wrapped") \
    X(GATHER_CLIPPED, "gather_clipped") \
    X(SCATTER, "scatter") \
    X(SCATTER_WRAPPED, "scatter_wrapped") \
    X(SCATTER_CLIPPED, "scatter_clipped") \
    X(FILL, "fill") \
    X(CHECK, "check") \
    X(APPLY, "apply") \
    /* Joins: a block copies part of one array, or each thread finds the array of its place. */ \
    X(JOIN_SOURCES, "join_sources") \
    X(JOIN_PLACES, "join_places") \
    /* Remaps: the rule that gives the place of an element, see python/array/ops/remap.h. */ \
    X(REMAP_ROLL, "remap_roll") \
    X(REMAP_REPEAT, "remap_repeat") \
    X(REMAP_TILE, "remap_tile") \
    X(REMAP_EMPTY, "remap_empty") \
    X(REMAP_CONSTANT, "remap_constant") \
    X(REMAP_EDGE, "remap_edge") \
    X(REMAP_WRAP, "remap_wrap") \
    X(REMAP_REFLECT, "remap_reflect") \
    X(REMAP_SYMMETRIC, "remap_symmetric") \
    /* Masks: see python/array/index/mask_bits.h. */ \
    X(MARK_BYTES, "mark_bytes") \
    X(MARK_ELEMENTS, "mark_elements") \
    X(TAKE_TRUE, "take_true") \
    X(PUT_TRUE, "put_true") \
    X(PLACES_OF_TRUE, "places_of_true") \
    X(FILL_TRUE, "fill_true") \
    /* Searches in sorted arrays, and among bins that rise or fall. */ \
    X(SEARCH_LEFT, "search_left") \
    X(SEARCH_RIGHT, "search_right") \
    X(DIGITIZE_LEFT, "digitize_left") \
    X(DIGITIZE_RIGHT, "digitize_right") \
    /* Histograms: how the bin of a value is found. */ \
    X(BIN_BY_VALUE, "bin_by_value") \
    X(BIN_BY_DISTANCE, "bin_by_distance") \
    X(BIN_BY_SEARCH, "bin_by_search") \
    /* Solvers of small matrices: see python/array/solver/small_matrices.h. */ \
    X(SMALL_SOLVE, "small_solve") \
    X(SMALL_DETERMINANT, "small_determinant") \
    X(SMALL_CHOLESKY, "small_cholesky") \
    X(SMALL_TRIANGULAR, "small_triangular") \
    X(SMALL_EIGENVALUES, "small_eigenvalues") \
    X(SMALL_SINGULAR_VALUES, "small_singular_values") \
    X(VALUES_OF_DIAGONALS, "values_of_diagonals") \
    X(DETERMINANT_OF_FACTORS, "determinant_of_factors") \
    /* Sorts: the count of all digits before the passes. */ \
    X(SORT_COUNT, "sort_count") \
    /* Quantiles: of short lines, which lanes of a warp sort, and of sorted lines. */ \
    X(QUANTILE_LANES, "quantile_lanes") \
    X(QUANTILE_SORTED, "quantile_sorted") \
    /* Selections of few elements: the entries of each block, the result of all entries. */ \
    X(FEW_OF_BLOCKS, "few_of_blocks") \
    X(FEW_OF_ALL, "few_of_all")

/* clang-format on */

#endif
