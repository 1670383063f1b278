/* Layouts of elementwise loops: see elementwise_loop.h.
 *
 * Where all operands are packed in the same order the kernel is flat: it sees one run
 * of elements. Otherwise the axes along which all operands advance evenly are joined,
 * and the kernel finds a unit by its indices. A unit is a vector of elements along the
 * fastest axis if lengths, strides and addresses allow it, else one element. Many
 * elements go by rows on the software device. */

#include "python/array/ops/elementwise_loop.h"

#include "driver/capture.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/ops/operations.h"

enum {
    LOOP_WORD = 16, /* the most bytes that one load of a thread moves */
    LOOP_UNITS = 4, /* the most units of a thread */
    /* Elements of a loop and of a row, from which on it goes by rows. */
    LOOP_ROWS_LEAST = 4096,
    LOOP_ROW_LEAST = 64,
    /* Costly functions of so many elements give a thread two vectors. */
    LOOP_PAIRS_LEAST = 1 << 19,
    LOOP_PAIRS_MOST = 1 << 25
};

/* -- axes -------------------------------------------------------------------------- */

/* Whether every array is packed in one and the same order. */
static bool
loop_is_flat(const pcu_elementwise_loop *loop)
{
    const pcu_gpuarray *out = loop->arrays[loop->nin];
    int common = PCU_ARRAY_C | PCU_ARRAY_F;
    for (int i = 0; i < loop->nops; i++) {
        const pcu_gpuarray *array = loop->arrays[i];
        if (array == NULL) {
            continue;
        }
        common &= array->contiguous;
        if (!common || !pcu_gpuarray_has_shape(array, out->ndim, out->shape)) {
            return false;
        }
    }
    return true;
}

/* Fill shape and strides of the loop: those of operands broadcast to the output. */
static int
loop_fill_strides(pcu_elementwise_loop *loop)
{
    const pcu_gpuarray *out = loop->arrays[loop->nin];
    memcpy(loop->shape, out->shape, (size_t)out->ndim * sizeof(size_t));
    loop->ndim = out->ndim;
    for (int i = 0; i < loop->nops; i++) {
        const pcu_gpuarray *array = loop->arrays[i];
        if (array == NULL) {
            memset(loop->strides[i], 0, (size_t)out->ndim * sizeof(ptrdiff_t));
        }
        else if (pcu_broadcast_strides(array->ndim, array->shape, array->strides,
                                       out->ndim, out->shape, loop->strides[i]) < 0) {
            return pcu_raise_shapes(
                "%s: an operand of shape %S cannot be broadcast to shape %S",
                pcu_ops[loop->key.operation].name, array->ndim, array->shape, out);
        }
    }
    return 0;
}

/* Visit the axes along which the output goes backward from their other end. */
static void
loop_turn_axes(pcu_elementwise_loop *loop)
{
    for (int k = 0; k < loop->ndim; k++) {
        if (loop->strides[loop->nin][k] >= 0) {
            continue;
        }
        ptrdiff_t last = (ptrdiff_t)loop->shape[k] - 1;
        for (int i = 0; i < loop->nops; i++) {
            loop->address[i] += (CUdeviceptr)(last * loop->strides[i][k]);
            loop->strides[i][k] = -loop->strides[i][k];
        }
    }
}

static void
loop_swap_rows(pcu_elementwise_loop *loop, int a, int b)
{
    ptrdiff_t row[PCU_MAX_NDIM];
    size_t size = (size_t)loop->ndim * sizeof(ptrdiff_t);
    if (a != b) {
        memcpy(row, loop->strides[a], size);
        memcpy(loop->strides[a], loop->strides[b], size);
        memcpy(loop->strides[b], row, size);
    }
}

/* Join the axes. pcu_collapse orders them by the first array that decides: the output.
 */
static void
loop_join_axes(pcu_elementwise_loop *loop)
{
    loop_turn_axes(loop);
    loop_swap_rows(loop, 0, loop->nin);
    loop->ndim = pcu_collapse(loop->ndim, loop->shape, loop->nops, loop->strides[0]);
    loop_swap_rows(loop, 0, loop->nin);
}

/* Make the loop flat if the joined axes are one run. Inputs of stride 0 are then passed
 * as ONE. */
static void
loop_flatten(pcu_elementwise_loop *loop)
{
    if (loop->ndim > 1) {
        return;
    }
    for (int i = 0; i < loop->nops; i++) {
        pcu_gpuarray *array = loop->arrays[i];
        if (array == NULL || loop->ndim == 0 ||
            loop->strides[i][0] == (ptrdiff_t)pcu_gpuarray_itemsize(array)) {
            continue;
        }
        if (i >= loop->nin || loop->strides[i][0] != 0) {
            return;
        }
    }
    for (int i = 0; i < loop->nin; i++) {
        if (loop->arrays[i] != NULL && loop->ndim == 1 && loop->strides[i][0] == 0) {
            loop->key.passing[i] = PCU_PASS_ONE;
        }
    }
    loop->ndim = 0;
}

/* Whether the number of elements or the distance of one does not fit 32 bits. */
static bool
loop_is_wide(const pcu_elementwise_loop *loop)
{
    if (loop->count > INT32_MAX) {
        return true;
    }
    for (int i = 0; i < loop->nops && loop->ndim > 0; i++) {
        ptrdiff_t low = 0;
        ptrdiff_t high = 0;
        if (pcu_extent(loop->ndim, loop->shape, loop->strides[i], 16, &low, &high) <
                0 ||
            high > INT32_MAX || low < INT32_MIN) {
            return true;
        }
    }
    return false;
}

/* -- alignment --------------------------------------------------------------------- */

/* Address and strides of an operand, combined: a power of two divides all of them if
 * and only if it divides the result. */
static uint64_t
loop_address_bits(const pcu_elementwise_loop *loop, int operand)
{
    uint64_t bits = loop->address[operand];
    for (int k = 0; k < loop->ndim; k++) {
        bits |= (uint64_t)loop->strides[operand][k];
    }
    return bits;
}

/* The device reads an element only at a multiple of its alignment. RAW elements are
 * moved byte by byte if need be. */
static int
loop_check_alignment(const pcu_elementwise_loop *loop)
{
    for (int i = 0; i < loop->nops; i++) {
        const pcu_gpuarray *array = loop->arrays[i];
        if (array == NULL || !pcu_type_is_number(array->type)) {
            continue;
        }
        size_t align = pcu_types[array->type].align;
        if ((loop_address_bits(loop, i) & (align - 1)) != 0) {
            PyErr_Format(
                PyExc_ValueError,
                "elements of dtype %S are at addresses or strides that are not "
                "multiples of %zu bytes",
                (PyObject *)array->dtype, align);
            return -1;
        }
    }
    return 0;
}

/* -- vectors ----------------------------------------------------------------------- */

/* Whether the operand is an array of which a vector has several elements. */
static bool
loop_is_run(const pcu_elementwise_loop *loop, int operand)
{
    if (loop->arrays[operand] == NULL || loop->key.passing[operand] == PCU_PASS_ONE) {
        return false;
    }
    return loop->ndim == 0 || loop->strides[operand][loop->ndim - 1] != 0;
}

/* How many elements a vector has at best: 16 bytes of the smallest ones, but at most 16
 * bytes of the largest output and 32 of the largest input. On an H200, stores of more
 * than one word in each thread cost up to a fifth of the throughput; loads do not. */
static size_t
loop_best_vector(const pcu_elementwise_loop *loop)
{
    size_t least = LOOP_WORD;
    size_t widest = 1; /* the bytes of an element, half of those of an input */
    for (int i = 0; i < loop->nops; i++) {
        if (!loop_is_run(loop, i)) {
            continue;
        }
        size_t size = pcu_gpuarray_itemsize(loop->arrays[i]);
        if ((size & (size - 1)) != 0 || size > LOOP_WORD) {
            return 1;
        }
        least = Py_MIN(least, size);
        if (i < loop->nin) {
            size = Py_MAX(size / 2, 1);
        }
        widest = Py_MAX(widest, size);
    }
    return LOOP_WORD / Py_MAX(least, widest);
}

/* How an operand is passed to a kernel of vectors along the fastest axis; -1 if it
 * cannot be. */
static int
loop_vector_passing(const pcu_elementwise_loop *loop, int operand, size_t vector)
{
    int last = loop->ndim - 1;
    ptrdiff_t size = (ptrdiff_t)pcu_gpuarray_itemsize(loop->arrays[operand]);
    ptrdiff_t bytes = size * (ptrdiff_t)vector;
    ptrdiff_t step = size;
    uint64_t bits = loop->address[operand];
    int passing = loop->key.passing[operand];
    if (last >= 0) {
        step = loop->strides[operand][last];
    }
    if (passing == PCU_PASS_ONE) {
        return passing;
    }
    if (step == 0 && operand < loop->nin) {
        return PCU_PASS_REPEATED;
    }
    if (step == -size && operand < loop->nin) {
        passing = PCU_PASS_BACKWARD;
        bits -= (uint64_t)(bytes - size);
    }
    else if (step != size) {
        return -1;
    }
    for (int k = 0; k < last; k++) {
        bits |= (uint64_t)loop->strides[operand][k];
    }
    /* The address of an array is set. NOLINTNEXTLINE(clang-analyzer-core*) */
    if (bits % (uint64_t)Py_MIN(bytes, LOOP_WORD) != 0) {
        return -1;
    }
    return passing;
}

/* Make units of `vector` elements if every operand allows it: whether they do. */
static bool
loop_make_vectors(pcu_elementwise_loop *loop, size_t vector)
{
    int passing[PCU_OPERANDS_MAX];
    int last = loop->ndim - 1;
    if (last >= 0 && loop->shape[last] % vector != 0) {
        return false;
    }
    for (int i = 0; i < loop->nops; i++) {
        passing[i] = PCU_PASS_SCALAR;
        if (loop->arrays[i] != NULL) {
            passing[i] = loop_vector_passing(loop, i, vector);
        }
        if (passing[i] < 0) {
            return false;
        }
    }
    for (int i = 0; i < loop->nops; i++) {
        loop->key.passing[i] = (uint8_t)passing[i];
        if (last < 0) {
            continue;
        }
        if (passing[i] == PCU_PASS_BACKWARD) {
            loop->address[i] -= (vector - 1) * pcu_gpuarray_itemsize(loop->arrays[i]);
        }
        loop->strides[i][last] *= (ptrdiff_t)vector;
    }
    if (last >= 0) {
        loop->shape[last] /= vector;
    }
    if (last > 0 && loop->shape[last] == 1) {
        loop->ndim = last;
    }
    loop->key.vector = (uint8_t)vector;
    return true;
}

static void
loop_choose_vector(pcu_elementwise_loop *loop)
{
    size_t vector = 1;
    bool counts = loop->key.operation == PCU_OP_ARANGE ||
                  loop->key.operation == PCU_OP_LINSPACE; /* need an element's number */
    if (!counts || loop->ndim == 0) {
        vector = loop_best_vector(loop);
    }
    loop->key.vector = 1;
    while (vector > 1 && !loop_make_vectors(loop, vector)) {
        vector /= 2;
        if (loop->ndim == 0) {
            break; /* an address is at fault: vectors of one word are not worth it */
        }
    }
}

/* The bytes of the widest word that moves RAW elements: addresses, strides and sizes
 * are multiples of it. */
static size_t
loop_raw_word(const pcu_elementwise_loop *loop)
{
    uint64_t bits = LOOP_WORD;
    for (int i = 0; i < loop->nops; i++) {
        const pcu_gpuarray *array = loop->arrays[i];
        if (array != NULL && array->type == PCU_T_RAW) {
            bits |= loop_address_bits(loop, i) | pcu_gpuarray_itemsize(array);
        }
    }
    return (size_t)(bits & (~bits + 1));
}

/* -- rows -------------------------------------------------------------------------- */

/* Whether the kernel goes by rows, on the software device: rows of many elements, of
 * which there are enough to be worth a kernel of their own. Not in captures: their
 * edges are those of a GPU, where arrays of all sizes have kernels that can be early.
 */
static bool
loop_goes_by_rows(const pcu_elementwise_loop *loop)
{
    bool counts = loop->key.operation == PCU_OP_ARANGE ||
                  loop->key.operation == PCU_OP_LINSPACE; /* need an element's number */
    if (pcu_drv_info.device == NULL || pcu_captures != NULL || loop->has_no_rows ||
        loop->key.wide || loop->key.raw_bytes != 0 || loop->count < LOOP_ROWS_LEAST) {
        return false;
    }
    return loop->ndim == 0 ||
           (!counts && loop->shape[loop->ndim - 1] >= LOOP_ROW_LEAST);
}

/* -- units ------------------------------------------------------------------------- */

/* Whether unit number u of the operand is the u-th in memory. */
static bool
loop_is_packed(const pcu_elementwise_loop *loop, int operand, size_t bytes)
{
    ptrdiff_t step = (ptrdiff_t)bytes;
    for (int k = loop->ndim - 1; k >= 0; k--) {
        if (loop->strides[operand][k] != step) {
            return false;
        }
        step *= (ptrdiff_t)loop->shape[k];
    }
    return true;
}

/* Whether a thread should compute two vectors at once, so that it has enough work while
 * it waits. On an H200 that makes functions of arrays that fit the level-2 cache 5%
 * faster. Larger arrays, which memory bounds, become 3% slower, but powers 10% faster.
 */
static bool
loop_makes_pairs(const pcu_elementwise_loop *loop)
{
    const pcu_op_row *row = &pcu_ops[loop->key.operation];
    bool is_power = loop->key.operation == PCU_OP_GENERAL_POWER;
    bool is_function = row->inputs == 1 && row->outputs == 1 &&
                       (row->rule == PCU_RULE_FLOAT || row->rule == PCU_RULE_REAL);
    if (loop->key.vector == 1 || loop->count % loop->key.vector != 0 ||
        loop->count < LOOP_PAIRS_LEAST) {
        return false;
    }
    return is_power || (is_function && loop->count <= LOOP_PAIRS_MOST);
}

/* Find the operands that need no indices, and choose how many units a thread handles:
 * 16 bytes of the largest elements. */
static void
loop_choose_units(pcu_elementwise_loop *loop)
{
    size_t elements = loop->key.vector;
    size_t most = 1;
    if (loop->key.raw_bytes != 0) {
        elements = 1;
    }
    for (int i = 0; i < loop->nops; i++) {
        if (loop->arrays[i] == NULL) {
            continue;
        }
        size_t bytes = elements * pcu_gpuarray_itemsize(loop->arrays[i]);
        most = Py_MAX(most, bytes);
        if (loop->key.passing[i] == PCU_PASS_ARRAY && loop_is_packed(loop, i, bytes)) {
            loop->key.passing[i] = PCU_PASS_PACKED;
        }
    }
    size_t each = LOOP_WORD / Py_MIN(most, LOOP_WORD);
    each = Py_MIN(each, LOOP_UNITS);
    if (loop->key.raw_bytes == 0 && loop_makes_pairs(loop)) {
        each = 2;
    }
    loop->key.tile = (uint16_t)each;
    loop->units = loop->count / elements + (loop->count % elements != 0);
}

int
pcu_elementwise_loop_plan(pcu_elementwise_loop *loop)
{
    for (int i = 0; i < loop->nops; i++) {
        loop->address[i] = 0;
        if (loop->arrays[i] != NULL) {
            loop->address[i] = loop->arrays[i]->address;
        }
    }
    loop->ndim = 0;
    if (!loop_is_flat(loop)) {
        if (loop_fill_strides(loop) < 0) {
            return -1;
        }
        loop_join_axes(loop);
        loop_flatten(loop);
    }
    loop->key.wide = (uint8_t)loop_is_wide(loop);
    if (loop_check_alignment(loop) < 0) {
        return -1;
    }
    loop->is_by_rows = loop_goes_by_rows(loop);
    if (loop->is_by_rows) {
        loop->key.vector = 1;
        loop->key.tile = 1;
        loop->units = loop->count;
        loop->key.ndim = (uint8_t)loop->ndim;
        return 0;
    }
    if (loop->key.raw_bytes != 0) {
        loop->key.vector = (uint8_t)loop_raw_word(loop);
    }
    else {
        loop_choose_vector(loop);
    }
    loop_choose_units(loop);
    loop->key.ndim = (uint8_t)loop->ndim;
    return 0;
}
