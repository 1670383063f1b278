/* Selections: see selection.h.
 *
 * The axes of the result along which all arrays advance evenly are joined. Elements
 * that follow each other in the array and in the result are moved in words of up to 16
 * bytes. A thread moves one word, or reads a vector of elements that follow each other
 * in the result. Writing vectors gained nothing on an H200. */

#include "python/array/index/selection.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/index/report.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"
#include "python/array/ops/overlap.h"
#include "python/array/recording.h"

enum {
    SELECTION_THREADS = 256,
    SELECTION_WORD = 16,       /* the most bytes that a thread moves at once */
    SELECTION_VECTOR = 4,      /* the most elements of a vector */
    SELECTION_NEAR = 32 << 10, /* the most bytes of an axis whose elements are near */
    SELECTION_NARROW = INT32_MAX - (1 << 16) /* the most elements of 32-bit indices */
};

/* Rows of strides: those of the moved elements, of the array, of each index array. */
enum { ROW_MOVED, ROW_ARRAY, ROW_INDEX };

typedef struct {
    int variant; /* pcu_variant */
    int op;      /* PCU_OP_COPY, or what is applied to the elements */
    pcu_selection *selection;
    pcu_gpuarray *moved;        /* NULL: no elements on the other side */
    const unsigned char *value; /* of a fill */
    CUdeviceptr array_address;
    CUdeviceptr moved_address;
    size_t itemsize; /* of what a thread moves at once */
    size_t word;
    size_t vector; /* elements that a thread reads along the last axis */
    size_t count;
    bool wide;
    int ndim;
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t rows[ROW_INDEX + PCU_MAX_NDIM][PCU_MAX_NDIM];
    ptrdiff_t steps[ROW_INDEX + PCU_MAX_NDIM]; /* between the elements of a vector */
} selection_plan;

/* -- building ---------------------------------------------------------------------- */

void
pcu_selection_init(pcu_selection *self, pcu_gpuarray *array)
{
    self->array = array;
    self->offset = 0;
    self->ndim = 0;
    self->count = 0;
    self->begin = 0;
    self->end = 0;
    self->bounds = PCU_BOUNDS_NOTE;
    self->nindices = 0;
}

void
pcu_selection_clear(pcu_selection *self)
{
    while (self->nindices > 0) {
        Py_DECREF(self->indices[--self->nindices].array);
    }
}

int
pcu_selection_add(pcu_selection *self, pcu_gpuarray *index, int axis, size_t length,
                  ptrdiff_t stride, bool is_checked)
{
    if (self->nindices == PCU_MAX_NDIM) {
        PyErr_Format(PyExc_IndexError, "an index can have %d index arrays only",
                     PCU_MAX_NDIM);
        return -1;
    }
    self->indices[self->nindices++] = (pcu_selection_index){
        .array = (pcu_gpuarray *)Py_NewRef((PyObject *)index),
        .axis = axis,
        .is_checked = is_checked,
        .length = length,
        .stride = stride,
    };
    return 0;
}

int
pcu_selection_count(pcu_selection *self)
{
    if (pcu_shape_count(self->ndim, self->shape, &self->count) < 0) {
        PyErr_SetString(PyExc_ValueError, "an array of that shape is too big");
        return -1;
    }
    return 0;
}

int
pcu_selection_separate(pcu_selection *self, const pcu_gpuarray *target, CUstream stream)
{
    for (int k = 0; k < self->nindices; k++) {
        pcu_gpuarray *index = self->indices[k].array;
        if (!pcu_gpuarray_may_overlap(index, target)) {
            continue;
        }
        PyObject *copy = pcu_gpuarray_copy_new(index, index->allocator, stream);
        if (copy == NULL) {
            return -1;
        }
        self->indices[k].array = (pcu_gpuarray *)copy;
        Py_DECREF(index);
    }
    return 0;
}

/* -- indices of one type ----------------------------------------------------------- */

/* A kernel takes as many types of indices as a request has operands. If there are more
 * index arrays, all become int64 and only their number counts. */
static bool
selection_is_uniform(const pcu_selection *self)
{
    return self->nindices > PCU_OPERANDS_MAX;
}

static int
selection_make_uniform(pcu_selection *self, CUstream stream)
{
    for (int k = 0; selection_is_uniform(self) && k < self->nindices; k++) {
        pcu_gpuarray *index = self->indices[k].array;
        if (index->type == PCU_T_INT64) {
            continue;
        }
        PyArray_Descr *dtype = pcu_dtype_of_type(PCU_T_INT64);
        PyObject *copy = pcu_gpuarray_new(index->st, NULL, index->ndim, index->shape,
                                          NULL, dtype, index->allocator);
        Py_DECREF(dtype);
        if (copy == NULL) {
            return -1;
        }
        if (pcu_device_copy((pcu_gpuarray *)copy, index, stream) < 0) {
            Py_DECREF(copy);
            return -1;
        }
        self->indices[k].array = (pcu_gpuarray *)copy;
        Py_DECREF(index);
    }
    return 0;
}

/* -- the plan ---------------------------------------------------------------------- */

static int
selection_changed(void)
{
    PyErr_SetString(PyExc_RuntimeError,
                    "the shape or dtype of an array changed during the call");
    return -1;
}

/* Fill the rows of strides along the axes of the result. */
static int
selection_fill_rows(selection_plan *plan)
{
    const pcu_selection *self = plan->selection;
    int ndim = self->ndim;
    size_t bytes = (size_t)ndim * sizeof(ptrdiff_t);
    plan->ndim = ndim;
    memcpy(plan->shape, self->shape, (size_t)ndim * sizeof(size_t));
    memcpy(plan->rows[ROW_ARRAY], self->strides, bytes);
    memset(plan->rows[ROW_MOVED], 0, bytes);
    if (plan->moved != NULL &&
        pcu_broadcast_strides(plan->moved->ndim, plan->moved->shape,
                              plan->moved->strides, ndim, plan->shape,
                              plan->rows[ROW_MOVED]) < 0) {
        return selection_changed();
    }
    for (int k = 0; k < self->nindices; k++) {
        const pcu_gpuarray *index = self->indices[k].array;
        ptrdiff_t *row = plan->rows[ROW_INDEX + k];
        memset(row, 0, bytes);
        if (pcu_broadcast_strides(index->ndim, index->shape, index->strides,
                                  self->end - self->begin, self->shape + self->begin,
                                  row + self->begin) < 0) {
            return selection_changed();
        }
    }
    return 0;
}

/* The bytes of the widest word that divides all addresses and distances of elements,
 * without those along the last axis if these are a run. */
static size_t
selection_word(const selection_plan *plan, bool is_run)
{
    const pcu_selection *self = plan->selection;
    uint64_t bits = SELECTION_WORD | plan->array_address | plan->moved_address;
    int axes = plan->ndim;
    if (is_run) {
        axes--;
        bits |= (uint64_t)(plan->shape[axes] * plan->itemsize);
    }
    else {
        bits |= (uint64_t)plan->itemsize;
    }
    for (int d = 0; d < axes; d++) {
        bits |= (uint64_t)plan->rows[ROW_MOVED][d];
        bits |= (uint64_t)plan->rows[ROW_ARRAY][d];
    }
    for (int k = 0; k < self->nindices; k++) {
        bits |= (uint64_t)self->indices[k].stride;
    }
    return (size_t)(bits & (~bits + 1));
}

/* Whether the elements along the last axis follow each other on both sides. */
static bool
selection_is_run(const selection_plan *plan)
{
    int last = plan->ndim - 1;
    ptrdiff_t size = (ptrdiff_t)plan->itemsize;
    if (last < 0 || plan->moved == NULL || plan->rows[ROW_MOVED][last] != size ||
        plan->rows[ROW_ARRAY][last] != size) {
        return false;
    }
    for (int k = 0; k < plan->selection->nindices; k++) {
        if (plan->rows[ROW_INDEX + k][last] != 0) {
            return false;
        }
    }
    return true;
}

/* Choose the word. A run of elements becomes a run of words. */
static void
selection_choose_word(selection_plan *plan)
{
    bool is_run = plan->op == PCU_OP_COPY && selection_is_run(plan);
    plan->word = selection_word(plan, is_run);
    if (is_run) {
        int last = plan->ndim - 1;
        plan->shape[last] = plan->shape[last] * plan->itemsize / plan->word;
        plan->rows[ROW_MOVED][last] = (ptrdiff_t)plan->word;
        plan->rows[ROW_ARRAY][last] = (ptrdiff_t)plan->word;
        plan->itemsize = plan->word;
    }
}

/* Whether the elements of each index are near each other. On an H200, vectors of such
 * elements take 0.6 to 0.75 of the time of single ones; elements at random places of a
 * large array take 1.04 of it. */
static bool
selection_is_near(const pcu_selection *self)
{
    for (int k = 0; k < self->nindices; k++) {
        const pcu_selection_index *index = &self->indices[k];
        size_t stride = (size_t)Py_ABS(index->stride);
        if (stride > SELECTION_NEAR || index->length * stride > SELECTION_NEAR) {
            return false;
        }
    }
    return true;
}

/* The most elements of a vector; 1 for moves that have none. */
static size_t
selection_best_vector(const selection_plan *plan)
{
    bool is_gather = plan->variant >= PCU_VARIANT_GATHER &&
                     plan->variant <= PCU_VARIANT_GATHER_CLIPPED;
    if (!is_gather || plan->ndim == 0 || plan->word != plan->itemsize ||
        selection_is_uniform(plan->selection) || !selection_is_near(plan->selection) ||
        plan->rows[ROW_MOVED][plan->ndim - 1] != (ptrdiff_t)plan->itemsize) {
        return 1;
    }
    return Py_MIN(SELECTION_WORD / plan->itemsize, (size_t)SELECTION_VECTOR);
}

/* Give a thread a vector of the result if all vectors are at multiples of their size.
 */
static void
selection_choose_vector(selection_plan *plan)
{
    int last = plan->ndim - 1;
    size_t vector = selection_best_vector(plan);
    uint64_t bits = plan->moved_address;
    for (int d = 0; d < last; d++) {
        bits |= (uint64_t)plan->rows[ROW_MOVED][d];
    }
    while (vector > 1 &&
           (plan->shape[last] % vector != 0 || bits % (vector * plan->itemsize) != 0)) {
        vector /= 2;
    }
    plan->vector = vector;
    if (vector == 1) {
        return;
    }
    plan->shape[last] /= vector;
    for (int r = 0; r < ROW_INDEX + plan->selection->nindices; r++) {
        plan->steps[r] = plan->rows[r][last];
        plan->rows[r][last] *= (ptrdiff_t)vector;
    }
}

/* Whether the indices of a vector are one vector, too. */
static bool
selection_is_vector(const selection_plan *plan, int number)
{
    const pcu_gpuarray *index = plan->selection->indices[number].array;
    ptrdiff_t size = (ptrdiff_t)pcu_gpuarray_itemsize(index);
    size_t bytes = Py_MIN((size_t)size * plan->vector, (size_t)SELECTION_WORD);
    uint64_t bits = index->address;
    for (int d = 0; d < plan->ndim; d++) {
        bits |= (uint64_t)plan->rows[ROW_INDEX + number][d];
    }
    return plan->steps[ROW_INDEX + number] == size && bits % bytes == 0;
}

static bool
selection_is_big(ptrdiff_t number)
{
    return number > INT32_MAX || number < -INT32_MAX;
}

/* Whether a number that the kernel takes does not fit 32 bits. */
static bool
selection_is_wide(const selection_plan *plan)
{
    const pcu_selection *self = plan->selection;
    if (plan->count > SELECTION_NARROW) {
        return true;
    }
    for (int r = 0; r < ROW_INDEX + self->nindices; r++) {
        for (int d = 0; d < plan->ndim; d++) {
            if (selection_is_big(plan->rows[r][d])) {
                return true;
            }
        }
    }
    for (int k = 0; k < self->nindices; k++) {
        if (selection_is_big(self->indices[k].stride) ||
            self->indices[k].length > INT32_MAX) {
            return true;
        }
    }
    return false;
}

static int
selection_fill_plan(selection_plan *plan)
{
    pcu_selection *self = plan->selection;
    if (selection_fill_rows(plan) < 0) {
        return -1;
    }
    plan->itemsize = pcu_gpuarray_itemsize(self->array);
    plan->array_address = self->array->address + (CUdeviceptr)self->offset;
    plan->moved_address = 0;
    if (plan->moved != NULL) {
        plan->moved_address = plan->moved->address;
    }
    plan->ndim = pcu_collapse(plan->ndim, plan->shape, ROW_INDEX + self->nindices,
                              plan->rows[0]);
    selection_choose_word(plan);
    selection_choose_vector(plan);
    if (plan->op != PCU_OP_COPY && plan->word < pcu_types[self->array->type].align) {
        PyErr_SetString(PyExc_ValueError,
                        "elements are at addresses that the device cannot read");
        return -1;
    }
    if (pcu_shape_count(plan->ndim, plan->shape, &plan->count) < 0) {
        PyErr_SetString(PyExc_ValueError, "a selection of that shape is too big");
        return -1;
    }
    plan->wide = selection_is_wide(plan);
    return 0;
}

/* -- the launch -------------------------------------------------------------------- */

static void
selection_fill_key(const selection_plan *plan, pcu_kernel_key *key)
{
    const pcu_selection *self = plan->selection;
    memset(key, 0, sizeof(*key));
    key->family = PCU_FAMILY_INDEXING;
    key->operation = (uint16_t)plan->op;
    key->compute = PCU_T_RAW;
    if (plan->op != PCU_OP_COPY) {
        key->compute = self->array->type;
    }
    key->raw_bytes = (uint32_t)plan->itemsize;
    key->vector = (uint8_t)plan->word;
    key->ndim = (uint8_t)plan->ndim;
    key->wide = (uint8_t)plan->wide;
    key->variant = (uint8_t)plan->variant;
    key->kept_ndim = (uint8_t)self->nindices;
    key->rounds = (uint32_t)plan->vector;
    if (selection_is_uniform(self)) {
        key->inputs = 1;
        key->types[0] = PCU_T_INT64;
        return;
    }
    key->inputs = (uint8_t)self->nindices;
    for (int k = 0; k < self->nindices; k++) {
        key->types[k] = self->indices[k].array->type;
        if (plan->vector > 1 && selection_is_vector(plan, k)) {
            key->passing[k] = PCU_PASS_PACKED;
        }
    }
}

static int
selection_put(const selection_plan *plan, ptrdiff_t value, pcu_argument_buffer *params)
{
    return pcu_kernel_put_index(params, plan->wide, value);
}

/* The array, the other side, the index arrays. */
static int
selection_put_arrays(const selection_plan *plan, pcu_argument_buffer *params)
{
    const pcu_selection *self = plan->selection;
    int rc = pcu_kernel_put_address(params, plan->array_address);
    if (rc == 0 && plan->value != NULL) {
        rc = pcu_kernel_put(params, plan->value, plan->itemsize, plan->word);
    }
    else if (rc == 0) {
        rc = pcu_kernel_put_address(params, plan->moved_address);
    }
    for (int k = 0; rc == 0 && k < self->nindices; k++) {
        rc = pcu_kernel_put_address(params, self->indices[k].array->address);
    }
    return rc;
}

/* The lengths of all axes but the first, rows of strides, the steps in a vector, and
 * the numbers of each indexed axis. */
static int
selection_put_axes(const selection_plan *plan, pcu_argument_buffer *params)
{
    const pcu_selection *self = plan->selection;
    for (int d = 1; d < plan->ndim; d++) {
        if (pcu_kernel_put_divisor(params, plan->wide, plan->shape[d]) < 0) {
            return -1;
        }
    }
    for (int r = 0; r < ROW_INDEX + self->nindices; r++) {
        for (int d = 0; d < plan->ndim; d++) {
            if (selection_put(plan, plan->rows[r][d], params) < 0) {
                return -1;
            }
        }
    }
    for (int r = ROW_ARRAY; plan->vector > 1 && r < ROW_INDEX + self->nindices; r++) {
        if (selection_put(plan, plan->steps[r], params) < 0) {
            return -1;
        }
    }
    for (int k = 0; k < self->nindices; k++) {
        const pcu_selection_index *index = &self->indices[k];
        int32_t axis = index->axis;
        if (selection_put(plan, (ptrdiff_t)index->length, params) < 0 ||
            selection_put(plan, index->stride, params) < 0 ||
            pcu_kernel_put(params, &axis, sizeof(axis), sizeof(axis)) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Whether the kernel may note an index. */
static bool
selection_may_note(const pcu_selection *self)
{
    if (self->bounds != PCU_BOUNDS_NOTE) {
        return false;
    }
    for (int k = 0; k < self->nindices; k++) {
        if (!self->indices[k].is_checked) {
            return true;
        }
    }
    return false;
}

static int
selection_launch(const selection_plan *plan, pcu_context *ctx, CUfunction kernel,
                 CUstream stream)
{
    pcu_argument_buffer params;
    CUdeviceptr report = 0;
    uint32_t site = 0;
    size_t each = SELECTION_THREADS;
    if (selection_may_note(plan->selection) &&
        pcu_index_report_announce(ctx, &report, &site) < 0) {
        return -1;
    }
    pcu_argument_buffer_init(&params);
    int rc = selection_put_arrays(plan, &params);
    if (rc == 0) {
        rc = pcu_kernel_put_address(&params, report);
    }
    if (rc == 0) {
        rc = pcu_kernel_put(&params, &site, sizeof(site), sizeof(site));
    }
    if (rc == 0) {
        rc = selection_put(plan, (ptrdiff_t)plan->count, &params);
    }
    if (rc == 0) {
        rc = selection_put_axes(plan, &params);
    }
    if (rc == 0) {
        rc = pcu_kernel_launch(ctx->st, kernel, (plan->count + each - 1) / each,
                               SELECTION_THREADS, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* Check that work in ctx may use all arrays. */
static int
selection_check_arrays(const selection_plan *plan, const pcu_context *ctx)
{
    const pcu_selection *self = plan->selection;
    if (pcu_gpuarray_check(self->array, ctx) < 0 ||
        (plan->moved != NULL && pcu_gpuarray_check(plan->moved, ctx) < 0)) {
        return -1;
    }
    for (int k = 0; k < self->nindices; k++) {
        if (pcu_gpuarray_check(self->indices[k].array, ctx) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Whether two plans of one selection move the same elements of the array. After a
 * kernel was made other code may have changed the arrays. */
static bool
selection_is_same(const pcu_selection *self, CUdeviceptr address, int type)
{
    return self->array->address == address && self->array->type == type;
}

/* Check the arrays, plan and enqueue. */
static int
selection_enqueue(selection_plan *plan, CUstream stream)
{
    pcu_kernel_key key;
    CUfunction kernel = NULL;
    pcu_selection *self = plan->selection;
    pcu_state *st = self->array->st;
    CUdeviceptr address = self->array->address;
    int type = self->array->type;
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = selection_check_arrays(plan, ctx);
        if (rc == 0 && !selection_is_same(self, address, type)) {
            rc = selection_changed();
        }
        if (rc == 0) {
            rc = selection_fill_plan(plan);
        }
        if (rc == 0) {
            selection_fill_key(plan, &key);
            rc = pcu_kernel_table_get(st, ctx, &key, &kernel);
        }
    } while (rc == PCU_KERNEL_MADE);
    if (rc == 0) {
        rc = selection_launch(plan, ctx, kernel, stream);
    }
    Py_DECREF(ctx);
    return rc;
}

/* -- indices without elements ------------------------------------------------------ */

/* Raise IndexError for the first index of an array, whatever its value: the axis has no
 * elements. */
static int
selection_raise_first(const pcu_selection_index *index)
{
    size_t shape[1] = {1};
    ptrdiff_t strides[1] = {0};
    PyObject *host = NULL;
    PyObject *number = NULL;
    pcu_gpuarray *first =
        pcu_gpuarray_view_new(index->array, 0, shape, strides, 0, NULL);
    if (first != NULL) {
        host = PyObject_CallMethod((PyObject *)first, "get", NULL);
        Py_DECREF(first);
    }
    if (host != NULL) {
        number = PyObject_CallMethod(host, "item", NULL);
        Py_DECREF(host);
    }
    if (number != NULL) {
        pcu_raise_index(number, index->axis, index->length);
        Py_DECREF(number);
    }
    return -1;
}

/* Raise IndexError if an index array has values for an axis without elements. */
static int
selection_check_lengths(const pcu_selection *self)
{
    for (int k = 0; k < self->nindices; k++) {
        const pcu_selection_index *index = &self->indices[k];
        if (index->length > 0 || index->array->count == 0) {
            continue;
        }
        if (self->bounds == PCU_BOUNDS_NOTE) {
            return selection_raise_first(index);
        }
        PyErr_Format(PyExc_IndexError,
                     "axis %d has no elements, so no index can be wrapped or clipped",
                     index->axis);
        return -1;
    }
    return 0;
}

/* Check the indices of a selection without elements: the other axes have none. */
static int
selection_check_values(pcu_selection *self, CUstream stream)
{
    selection_plan plan = {.variant = PCU_VARIANT_CHECK, .op = PCU_OP_COPY};
    pcu_selection part;
    size_t count = 0;
    int ndim = self->end - self->begin;
    if (!selection_may_note(self) ||
        pcu_shape_count(ndim, self->shape + self->begin, &count) < 0 || count == 0) {
        return 0;
    }
    pcu_selection_init(&part, self->array);
    part.ndim = part.end = ndim;
    memcpy(part.shape, self->shape + self->begin, (size_t)ndim * sizeof(size_t));
    memset(part.strides, 0, (size_t)ndim * sizeof(ptrdiff_t));
    part.nindices = self->nindices;
    memcpy(part.indices, self->indices,
           (size_t)self->nindices * sizeof(self->indices[0]));
    plan.selection = &part;
    return selection_enqueue(&plan, stream);
}

/* Enqueue a move, or the checks that remain without elements. */
static int
selection_move(selection_plan *plan, CUstream stream)
{
    pcu_selection *self = plan->selection;
    if (selection_check_lengths(self) < 0 || selection_make_uniform(self, stream) < 0) {
        return -1;
    }
    if (self->count == 0) {
        return selection_check_values(self, stream);
    }
    if (pcu_gpuarray_itemsize(self->array) == 0) {
        return 0;
    }
    return selection_enqueue(plan, stream);
}

/* -- the record -------------------------------------------------------------------- */

/* A tuple of what the recorder needs of an index array. */
static PyObject *
selection_index_tuple_new(const pcu_selection_index *index)
{
    return Py_BuildValue("(inni)", index->axis, (Py_ssize_t)index->length,
                         (Py_ssize_t)index->stride, (int)index->is_checked);
}

/* The address of the report and the number of the statement; zeros if no kernel notes
 * an index. */
static PyObject *
selection_report_tuple_new(const pcu_selection *self)
{
    CUdeviceptr report = 0;
    uint32_t site = 0;
    if (selection_may_note(self)) {
        pcu_context *ctx = pcu_context_launch_borrow(self->array->st);
        if (ctx == NULL || pcu_index_report_announce(ctx, &report, &site) < 0) {
            return NULL;
        }
    }
    return Py_BuildValue("(KI)", (unsigned long long)report, (unsigned int)site);
}

/* Note a gather: the array and the index arrays; the bounds, the offset in the array,
 * the axes of the index arrays, the array's strides along the axes of the result, the
 * index arrays' numbers, the report. */
static int
selection_record(const pcu_selection *self, pcu_gpuarray *target)
{
    for (int k = 0; k < self->nindices; k++) {
        if (self->indices[k].length == 0) { /* an error that may need an index */
            return pcu_stand_in_refuse(self->array->st);
        }
    }
    PyObject *report = selection_report_tuple_new(self);
    PyObject *details = NULL;
    PyObject *inputs = PyTuple_New(1 + self->nindices);
    PyObject *numbers = PyTuple_New(self->nindices);
    PyObject *strides = PyTuple_New(self->ndim);
    bool made = report != NULL && inputs != NULL && numbers != NULL && strides != NULL;
    for (int d = 0; made && d < self->ndim; d++) {
        PyObject *stride = PyLong_FromSsize_t(self->strides[d]);
        made = stride != NULL;
        PyTuple_SET_ITEM(strides, d, stride);
    }
    for (int k = 0; made && k < self->nindices; k++) {
        PyObject *number = selection_index_tuple_new(&self->indices[k]);
        made = number != NULL;
        PyTuple_SET_ITEM(numbers, k, number);
        PyTuple_SET_ITEM(inputs, 1 + k, Py_NewRef((PyObject *)self->indices[k].array));
    }
    if (made) {
        PyTuple_SET_ITEM(inputs, 0, Py_NewRef((PyObject *)self->array));
        details =
            Py_BuildValue("(iniiOOO)", (int)self->bounds, (Py_ssize_t)self->offset,
                          self->begin, self->end, strides, numbers, report);
    }
    Py_XDECREF(report);
    Py_XDECREF(numbers);
    Py_XDECREF(strides);
    if (!made || details == NULL) {
        Py_XDECREF(inputs);
        return -1;
    }
    return pcu_record(self->array->st, "gather", "raw", inputs,
                      pcu_record_arrays_new(&target, 1), details);
}

/* -- moves ------------------------------------------------------------------------- */

int
pcu_selection_gather(pcu_selection *self, pcu_gpuarray *target, CUstream stream)
{
    selection_plan plan;
    if (pcu_is_recording(self->array->st) && self->count > 0) {
        return selection_record(self, target);
    }
    plan.variant = PCU_VARIANT_GATHER + (int)self->bounds;
    plan.op = PCU_OP_COPY;
    plan.selection = self;
    plan.moved = target;
    plan.value = NULL;
    return selection_move(&plan, stream);
}

PyObject *
pcu_selection_get(pcu_selection *self, PyObject *allocator, CUstream stream)
{
    pcu_gpuarray *array = self->array;
    PyObject *result = pcu_gpuarray_new(array->st, NULL, self->ndim, self->shape, NULL,
                                        array->dtype, allocator);
    if (result == NULL) {
        return NULL;
    }
    if (pcu_selection_gather(self, (pcu_gpuarray *)result, stream) < 0) {
        Py_DECREF(result);
        return NULL;
    }
    ((pcu_gpuarray *)result)->counts_as = array->counts_as;
    return result;
}

int
pcu_selection_scatter(pcu_selection *self, pcu_gpuarray *values, CUstream stream)
{
    selection_plan plan;
    plan.variant = PCU_VARIANT_SCATTER + (int)self->bounds;
    plan.op = PCU_OP_COPY;
    plan.selection = self;
    plan.moved = values;
    plan.value = NULL;
    return selection_move(&plan, stream);
}

int
pcu_selection_fill(pcu_selection *self, const unsigned char *value, CUstream stream)
{
    selection_plan plan;
    plan.variant = PCU_VARIANT_FILL;
    plan.op = PCU_OP_COPY;
    plan.selection = self;
    plan.moved = NULL;
    plan.value = value;
    return selection_move(&plan, stream);
}

int
pcu_selection_apply(pcu_selection *self, int op, pcu_gpuarray *values, CUstream stream)
{
    selection_plan plan;
    plan.variant = PCU_VARIANT_APPLY;
    plan.op = op;
    plan.selection = self;
    plan.moved = values;
    plan.value = NULL;
    return selection_move(&plan, stream);
}
