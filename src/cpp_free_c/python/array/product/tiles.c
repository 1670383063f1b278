/* Products of matrices by generated kernels: see tiles.h.
 *
 * A block of 256 threads computes one tile of the result. It goes through the operands
 * in steps of `depth`, each of which it brings into shared memory. A thread adds up a
 * square of the tile in registers. There are two other kinds of kernels.
 *
 * Short sums of few rows or columns have a thread for each element of the result: rows,
 * columns and depth of the plan are 0. Long sums of few rows and columns have a block
 * for a whole result, whose threads share the terms of the sums: the depth is 0. */

#include "python/array/product/tiles.h"

#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"

enum {
    TILES_THREADS = 256,
    TILES_WORD = 16,
    TILES_LEAST = 16,
    TILES_LONG = 512,
    TILES_FEW = 32 /* elements whose sums fit in the registers of a thread */
};

typedef struct {
    const pcu_product *product;
    size_t rows, columns, depth; /* of a tile */
    bool by_row[2];
    size_t vector[2];
} tiles_plan;

/* -- the tile ---------------------------------------------------------------------- */

/* The bytes of an accumulator in a register. */
static size_t
tiles_accumulator(int compute)
{
    return Py_MAX(pcu_types[compute].size, 4);
}

/* The number of blocks. */
static size_t
tiles_count(const pcu_product *p, size_t rows, size_t columns)
{
    size_t count = p->m * p->n;
    if (rows != 0) {
        count = (p->m + rows - 1) / rows * ((p->n + columns - 1) / columns);
    }
    for (int axis = 0; axis < p->ndim; axis++) {
        count *= p->shape[axis];
    }
    if (rows == 0) {
        count = (count + TILES_THREADS - 1) / TILES_THREADS;
    }
    return count;
}

/* The largest tile of which there are enough to fill the device. */
static void
tiles_choose(tiles_plan *plan, size_t multiprocessors)
{
    const pcu_product *p = plan->product;
    size_t bytes = tiles_accumulator(p->compute);
    size_t side = 64;
    if (bytes == 4) {
        side = 128;
    }
    while (side > TILES_LEAST && (tiles_count(p, side, side) < multiprocessors ||
                                  Py_MIN(p->m, p->n) <= side / 2)) {
        side /= 2;
    }
    plan->rows = side;
    plan->columns = side;
    plan->depth = 16; /* every thread loads an element of each operand, or more */
    if (bytes == 16 && side > TILES_LEAST) {
        plan->depth = 8;
    }
}

/* -- loads ------------------------------------------------------------------------- */

static size_t
tiles_distance(ptrdiff_t step)
{
    return (size_t)Py_ABS(step);
}

/* How a thread loads an operand: along the runs, and how many elements at once. `lines`
 * and `line` are the distance and number of lines across the sum, `along` and `length`
 * those along it. */
static void
tiles_choose_loads(tiles_plan *plan, int operand, size_t tile, size_t lines,
                   ptrdiff_t line, size_t length, ptrdiff_t along)
{
    const pcu_product *p = plan->product;
    const pcu_matrix *matrix = &p->matrices[operand];
    size_t size = pcu_types[matrix->type].size;
    size_t most = tile * plan->depth / TILES_THREADS; /* elements of a thread */
    size_t vector = Py_MIN(TILES_WORD / size, most);
    bool runs_along =
        length > 1 && (lines <= 1 || tiles_distance(along) <= tiles_distance(line));
    uint64_t bits = matrix->address;
    size_t run = lines;
    ptrdiff_t within = line;
    ptrdiff_t between = along;
    if (runs_along) {
        run = length;
        within = along;
        between = line;
    }
    bits |= (uint64_t)between;
    for (int axis = 0; axis < p->ndim; axis++) {
        bits |= (uint64_t)p->steps[operand][axis];
    }
    if (within != (ptrdiff_t)size || bits % (vector * size) != 0 || run % vector != 0) {
        vector = 1;
    }
    plan->vector[operand] = vector;
    plan->by_row[operand] = runs_along == (operand == PCU_LEFT);
}

static void
tiles_fill(tiles_plan *plan, const pcu_product *p, const pcu_context *ctx)
{
    const pcu_matrix *left = &p->matrices[PCU_LEFT];
    const pcu_matrix *right = &p->matrices[PCU_RIGHT];
    memset(plan, 0, sizeof(*plan));
    plan->product = p;
    if (pcu_tiles_is_short(p->m, p->n, p->k)) {
        return; /* all is 0 */
    }
    if (pcu_tiles_is_thin(p)) {
        plan->rows = p->m;
        plan->columns = p->n;
        return;
    }
    tiles_choose(plan, (size_t)ctx->rec.limits.multiprocessors);
    tiles_choose_loads(plan, PCU_LEFT, plan->rows, p->m, left->row, p->k, left->column);
    tiles_choose_loads(plan, PCU_RIGHT, plan->columns, p->n, right->column, p->k,
                       right->row);
}

/* -- the launch -------------------------------------------------------------------- */

static void
tiles_key(const tiles_plan *plan, pcu_kernel_key *key)
{
    const pcu_product *p = plan->product;
    memset(key, 0, sizeof(*key));
    key->family = PCU_FAMILY_PRODUCT;
    key->operation = PCU_OP_MULTIPLY;
    key->inputs = 2;
    key->outputs = 1;
    for (int i = 0; i < PCU_MATRICES; i++) {
        key->types[i] = (uint8_t)p->matrices[i].type;
    }
    key->compute = (uint8_t)p->compute;
    key->ndim = (uint8_t)p->ndim;
    key->tile = (uint16_t)plan->rows;
    key->tile_columns = (uint16_t)plan->columns;
    key->depth = (uint16_t)plan->depth;
    key->left_by_row = (uint8_t)plan->by_row[PCU_LEFT];
    key->right_by_row = (uint8_t)plan->by_row[PCU_RIGHT];
    key->left_vector = (uint8_t)plan->vector[PCU_LEFT];
    key->right_vector = (uint8_t)plan->vector[PCU_RIGHT];
}

/* Addresses, lengths, the distances of rows and columns, then length and steps of each
 * axis of the batch: all have 64 bits. */
static int
tiles_pack(const pcu_product *p, pcu_argument_buffer *params)
{
    for (int i = 0; i < PCU_MATRICES; i++) {
        if (pcu_kernel_put_address(params, p->matrices[i].address) < 0) {
            return -1;
        }
    }
    if (pcu_kernel_put_index(params, 1, (ptrdiff_t)p->m) < 0 ||
        pcu_kernel_put_index(params, 1, (ptrdiff_t)p->n) < 0 ||
        pcu_kernel_put_index(params, 1, (ptrdiff_t)p->k) < 0) {
        return -1;
    }
    for (int i = 0; i < PCU_MATRICES; i++) {
        if (pcu_kernel_put_index(params, 1, p->matrices[i].row) < 0 ||
            pcu_kernel_put_index(params, 1, p->matrices[i].column) < 0) {
            return -1;
        }
    }
    for (int axis = 0; axis < p->ndim; axis++) {
        if (pcu_kernel_put_index(params, 1, (ptrdiff_t)p->shape[axis]) < 0 ||
            pcu_kernel_put_index(params, 1, p->steps[PCU_LEFT][axis]) < 0 ||
            pcu_kernel_put_index(params, 1, p->steps[PCU_RIGHT][axis]) < 0 ||
            pcu_kernel_put_index(params, 1, p->steps[PCU_RESULT][axis]) < 0) {
            return -1;
        }
    }
    return 0;
}

bool
pcu_tiles_is_thin(const pcu_product *product)
{
    return product->m * product->n <= TILES_FEW && product->k >= TILES_LONG &&
           (product->compute == PCU_T_FLOAT32 || product->compute == PCU_T_FLOAT64);
}

size_t
pcu_tiles_blocks(const pcu_product *product, const pcu_context *ctx)
{
    tiles_plan plan;
    tiles_fill(&plan, product, ctx);
    return tiles_count(product, plan.rows, plan.columns);
}

int
pcu_tiles_multiply(pcu_state *st, pcu_context *ctx, const pcu_product *product,
                   CUstream stream)
{
    tiles_plan plan;
    pcu_kernel_key key;
    pcu_argument_buffer params;
    CUfunction kernel = NULL;
    tiles_fill(&plan, product, ctx);
    tiles_key(&plan, &key);
    int rc = pcu_kernel_table_get(st, ctx, &key, &kernel);
    if (rc != 0) {
        return rc;
    }
    pcu_argument_buffer_init(&params);
    rc = tiles_pack(product, &params);
    if (rc == 0) {
        size_t blocks = tiles_count(product, plan.rows, plan.columns);
        rc = pcu_kernel_launch(st, kernel, blocks, TILES_THREADS, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}
