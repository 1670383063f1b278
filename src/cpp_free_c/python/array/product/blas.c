/* Products of matrices through cuBLAS: see blas.h.
 *
 * cuBLAS stores matrices by column. A matrix stored by row is the transposed matrix
 * stored by column, so the result by row is computed as result.T = right.T @ left.T. */

#include "python/array/product/blas.h"

#include <stdlib.h>

#include "driver/vendor_libraries.h"
#include "driver/shape.h"
#include "python/driver/launched.h"
#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"
#include "python/driver/memory/pool.h"
#include "python/driver/resource.h"
#include "python/support/settings.h"

struct pcu_blas_handle {
    pcu_cublas_handle handle; /* NULL: NumPy or generated kernels multiply */
    bool on_host;             /* NumPy multiplies */
    bool required;            /* PYCUDA_BLAS is 'cublas' */
    PyThread_type_lock lock;  /* held while a thread uses the handle */
    unsigned int waiting;     /* threads in a call without the interpreter lock */
    char reason[PCU_LIBRARY_REASON]; /* why generated kernels multiply */
};

typedef enum { BLAS_AUTOMATIC, BLAS_REQUIRED, BLAS_REFUSED } blas_wish;

/* -- types ------------------------------------------------------------------------- */

typedef struct {
    int data;    /* cudaDataType */
    int compute; /* cublasComputeType_t */
    const void *one;
    const void *zero;
} blas_type;

static const float blas_floats[4] = {1, 0, 0, 0};
static const double blas_doubles[4] = {1, 0, 0, 0};

/* Half precision is summed in float. */
static bool
blas_find_type(int type, blas_type *found)
{
    found->compute = PCU_CUBLAS_COMPUTE_32F;
    found->one = &blas_floats[0];
    found->zero = &blas_floats[2];
    switch (type) {
        case PCU_T_FLOAT16:
            found->data = PCU_CUDA_R_16F;
            return true;
        case PCU_T_BFLOAT16:
            found->data = PCU_CUDA_R_16BF;
            return true;
        case PCU_T_FLOAT32:
            found->data = PCU_CUDA_R_32F;
            return true;
        case PCU_T_COMPLEX64:
            found->data = PCU_CUDA_C_32F;
            return true;
        case PCU_T_FLOAT64:
            found->data = PCU_CUDA_R_64F;
            break;
        case PCU_T_COMPLEX128:
            found->data = PCU_CUDA_C_64F;
            break;
        default:
            return false;
    }
    found->compute = PCU_CUBLAS_COMPUTE_64F;
    found->one = &blas_doubles[0];
    found->zero = &blas_doubles[2];
    return true;
}

bool
pcu_blas_has_type(int type)
{
    blas_type found;
    return blas_find_type(type, &found);
}

/* -- errors ------------------------------------------------------------------------ */

static int
blas_raise(pcu_state *st, const char *routine, int status)
{
    PyObject *kind = st->exc_LogicError;
    if (status == PCU_CUBLAS_ALLOC_FAILED) {
        kind = st->exc_MemoryError;
    }
    else if (status == PCU_CUBLAS_EXECUTION_FAILED) {
        kind = st->exc_LaunchError;
    }
    PyErr_Format(kind, "%s failed: %s", routine, pcu_blas_status_name(status));
    return -1;
}

/* -- the library ------------------------------------------------------------------- */

static void
blas_free(struct pcu_blas_handle *blas)
{
    if (blas->lock != NULL) {
        PyThread_free_lock(blas->lock);
    }
    PyMem_Free(blas);
}

/* Wait until no other thread uses the handle. */
static void
blas_settle(struct pcu_blas_handle *blas)
{
    while (blas->waiting != 0) {
        PyThreadState *thread = pcu_unlock();
        PyThread_acquire_lock(blas->lock, WAIT_LOCK);
        PyThread_release_lock(blas->lock);
        pcu_lock(thread);
    }
}

/* End the handle of a context. The context need not be current. */
static void
blas_end_noraise(pcu_context *ctx)
{
    pcu_scope scope;
    struct pcu_blas_handle *blas = ctx->blas;
    ctx->blas = NULL;
    if (blas == NULL) {
        return;
    }
    blas_settle(blas);
    if (blas->handle != NULL && pcu_context_record_usable(&ctx->rec) &&
        pcu_scope_enter(&scope, &ctx->rec) == CUDA_SUCCESS) {
        PyThreadState *thread = pcu_unlock(); /* waits for the device */
        (void)pcu_blas.Destroy(blas->handle);
        pcu_lock(thread);
        (void)pcu_scope_leave(&scope);
    }
    blas_free(blas);
}

/* Make a handle in the current context. Returns a status of cuBLAS. */
static int
blas_create(pcu_cublas_handle *handle, const char **routine)
{
    PyThreadState *thread = pcu_unlock(); /* loads the library's code: 100 ms */
    *routine = "cublasCreate";
    int status = pcu_blas.Create(handle);
    if (status == PCU_CUBLAS_SUCCESS) {
        *routine = "cublasSetMathMode";
        status = pcu_blas.SetMathMode(*handle, PCU_CUBLAS_MATH_FULL_SUMS);
        if (status != PCU_CUBLAS_SUCCESS) {
            (void)pcu_blas.Destroy(*handle);
            *handle = NULL;
        }
    }
    pcu_lock(thread);
    return status;
}

/* Open the library if need be, and make a handle. The reason says why there is none. */
static int
blas_fill(pcu_state *st, struct pcu_blas_handle *blas, blas_wish wish)
{
    const char *routine = "";
    if (wish == BLAS_REFUSED) {
        strcpy(blas->reason, "PYCUDA_BLAS is 'generated'");
        return 0;
    }
    if (wish == BLAS_AUTOMATIC && pcu_drv_info.device != NULL) {
        strcpy(blas->reason, "the software device computes in the host's memory");
        blas->on_host = true;
        return 0;
    }
    if (!pcu_blas_is_loaded()) {
        int loaded = pcu_library_open("cublas", pcu_blas_load, blas->reason);
        if (loaded < 0) {
            return -1;
        }
        if (!loaded && wish == BLAS_REQUIRED) {
            PyErr_Format(st->exc_RuntimeError,
                         "PYCUDA_BLAS is 'cublas', and cuBLAS was not found: %s; "
                         "install the CUDA toolkit, or its wheels with 'pip install "
                         "\"cuda-toolkit[cublas]==13.*\"' (12.* for a driver of CUDA "
                         "12)",
                         blas->reason);
            return -1;
        }
        if (!loaded) {
            return 0;
        }
    }
    blas->reason[0] = '\0';
    int status = blas_create(&blas->handle, &routine);
    if (status == PCU_CUBLAS_SUCCESS) {
        return 0;
    }
    if (wish == BLAS_REQUIRED || status == PCU_CUBLAS_ALLOC_FAILED) {
        return blas_raise(st, routine, status);
    }
    PyOS_snprintf(blas->reason, sizeof(blas->reason), "%s failed: %s", routine,
                  pcu_blas_status_name(status));
    return 0;
}

static int
blas_begin(pcu_state *st, pcu_context *ctx)
{
    int wish = pcu_setting_read(PCU_SETTING_BLAS);
    if (wish < 0) {
        return -1;
    }
    struct pcu_blas_handle *blas = PyMem_Calloc(1, sizeof(*blas));
    if (blas == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    blas->lock = PyThread_allocate_lock();
    if (blas->lock == NULL) {
        PyErr_NoMemory();
    }
    if (blas->lock == NULL || pcu_current_context_ready(st) < 0 ||
        blas_fill(st, blas, wish) < 0) {
        blas_free(blas);
        return -1;
    }
    if (ctx->blas != NULL || !ctx->rec.alive) {
        /* Another thread was faster, or ended the context. */
        struct pcu_blas_handle *kept = ctx->blas;
        ctx->blas = blas;
        blas_end_noraise(ctx);
        ctx->blas = kept;
        return 0;
    }
    blas->required = wish == BLAS_REQUIRED;
    ctx->blas = blas;
    ctx->end_part[PCU_CONTEXT_BLAS] = blas_end_noraise;
    return 0;
}

int
pcu_blas_choose(pcu_state *st, pcu_context *ctx)
{
    if (ctx->blas != NULL && ctx->blas->on_host) {
        return PCU_PRODUCT_HOST;
    }
    if (ctx->blas != NULL) {
        return ctx->blas->handle != NULL;
    }
    if (blas_begin(st, ctx) < 0) {
        return -1;
    }
    return PCU_PRODUCT_CHANGED;
}

bool
pcu_blas_is_required(const pcu_context *ctx)
{
    return ctx->blas->required;
}

PyObject *
pcu_blas_describe_new(pcu_state *st, pcu_context *ctx)
{
    int version = 0;
    int chosen;
    do {
        chosen = pcu_blas_choose(st, ctx);
    } while (chosen == PCU_PRODUCT_CHANGED);
    if (chosen < 0) {
        return NULL;
    }
    if (chosen == PCU_PRODUCT_HOST) {
        return PyUnicode_FromFormat("NumPy: %s", ctx->blas->reason);
    }
    if (chosen == PCU_PRODUCT_GENERATED) {
        return PyUnicode_FromFormat("generated kernels: %s", ctx->blas->reason);
    }
    (void)pcu_blas.GetVersion(ctx->blas->handle, &version);
    return PyUnicode_FromFormat("cuBLAS %d.%d.%d", version / 10000, version / 100 % 100,
                                version % 100);
}

/* -- one product ------------------------------------------------------------------- */

/* The arguments of cublasGemmStridedBatchedEx. */
typedef struct {
    blas_type type;
    int op[2]; /* of the right operand, then of the left */
    int64_t m, n, k;
    int64_t leading[PCU_MATRICES];
    CUdeviceptr address[PCU_MATRICES];
    long long step[PCU_MATRICES]; /* elements */
    int64_t count;
} blas_call;

static bool
blas_find_storage(const pcu_product *p, int which, pcu_matrix_storage *storage)
{
    const size_t rows[] = {p->m, p->k, p->m};
    const size_t columns[] = {p->k, p->n, p->n};
    return pcu_matrix_is_stored(&p->matrices[which], rows[which], columns[which],
                                storage);
}

bool
pcu_blas_takes(const pcu_product *p, int which)
{
    pcu_matrix_storage storage;
    ptrdiff_t size = (ptrdiff_t)pcu_types[p->compute].size;
    if (p->matrices[which].type != p->compute ||
        !blas_find_storage(p, which, &storage)) {
        return false;
    }
    for (int axis = 0; axis < p->ndim; axis++) {
        if (p->steps[which][axis] % size != 0) {
            return false;
        }
    }
    return true;
}

/* The storage of all three matrices, which cuBLAS takes. */
static void
blas_find_storages(const pcu_product *p, pcu_matrix_storage *storage)
{
    for (int i = 0; i < PCU_MATRICES; i++) {
        (void)blas_find_storage(p, i, &storage[i]);
    }
}

/* The axis of the batch that one call takes: the longest. */
static int
blas_longest_axis(const pcu_product *p)
{
    int longest = -1;
    for (int axis = 0; axis < p->ndim; axis++) {
        if (longest < 0 || p->shape[axis] > p->shape[longest]) {
            longest = axis;
        }
    }
    return longest;
}

/* Fill in all but the addresses of the products beyond the first. */
static void
blas_plan(const pcu_product *p, const pcu_matrix_storage *storage, int axis,
          blas_call *call)
{
    ptrdiff_t size = (ptrdiff_t)pcu_types[p->compute].size;
    (void)blas_find_type(p->compute, &call->type);
    call->op[0] = PCU_CUBLAS_OP_T;
    call->op[1] = PCU_CUBLAS_OP_T;
    if (storage[PCU_RIGHT].by_row) {
        call->op[0] = PCU_CUBLAS_OP_N;
    }
    if (storage[PCU_LEFT].by_row) {
        call->op[1] = PCU_CUBLAS_OP_N;
    }
    call->m = (int64_t)p->n;
    call->n = (int64_t)p->m;
    call->k = (int64_t)p->k;
    call->count = 1;
    for (int i = 0; i < PCU_MATRICES; i++) {
        call->leading[i] = (int64_t)storage[i].leading;
        call->address[i] = p->matrices[i].address;
        call->step[i] = 0;
        if (axis >= 0) {
            call->step[i] = p->steps[i][axis] / size;
        }
    }
    if (axis >= 0) {
        call->count = (int64_t)p->shape[axis];
    }
}

static bool
blas_is_wide(const blas_call *c)
{
    return c->m > INT_MAX || c->n > INT_MAX || c->k > INT_MAX || c->count > INT_MAX ||
           c->leading[PCU_LEFT] > INT_MAX || c->leading[PCU_RIGHT] > INT_MAX ||
           c->leading[PCU_RESULT] > INT_MAX;
}

/* CUdeviceptr is an integer; cuBLAS takes pointers. */
static void *
blas_pointer(CUdeviceptr address)
{
    return (void *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}

/* Enqueue one call. Returns a status of cuBLAS. */
static int
blas_enqueue(pcu_cublas_handle handle, const blas_call *c)
{
    const void *right = blas_pointer(c->address[PCU_RIGHT]);
    const void *left = blas_pointer(c->address[PCU_LEFT]);
    void *result = blas_pointer(c->address[PCU_RESULT]);
    const blas_type *t = &c->type;
    if (blas_is_wide(c)) {
        if (pcu_blas.GemmStridedBatchedEx_64 == NULL) {
            return PCU_CUBLAS_NOT_SUPPORTED;
        }
        return pcu_blas.GemmStridedBatchedEx_64(
            handle, c->op[0], c->op[1], c->m, c->n, c->k, t->one, right, t->data,
            c->leading[PCU_RIGHT], c->step[PCU_RIGHT], left, t->data,
            c->leading[PCU_LEFT], c->step[PCU_LEFT], t->zero, result, t->data,
            c->leading[PCU_RESULT], c->step[PCU_RESULT], c->count, t->compute,
            PCU_CUBLAS_GEMM_DEFAULT);
    }
    int m = (int)c->m;
    int n = (int)c->n;
    int k = (int)c->k;
    int right_leading = (int)c->leading[PCU_RIGHT];
    int left_leading = (int)c->leading[PCU_LEFT];
    int result_leading = (int)c->leading[PCU_RESULT];
    if (c->count == 1) {
        return pcu_blas.GemmEx(handle, c->op[0], c->op[1], m, n, k, t->one, right,
                               t->data, right_leading, left, t->data, left_leading,
                               t->zero, result, t->data, result_leading, t->compute,
                               PCU_CUBLAS_GEMM_DEFAULT);
    }
    return pcu_blas.GemmStridedBatchedEx(
        handle, c->op[0], c->op[1], m, n, k, t->one, right, t->data, right_leading,
        c->step[PCU_RIGHT], left, t->data, left_leading, c->step[PCU_LEFT], t->zero,
        result, t->data, result_leading, c->step[PCU_RESULT], (int)c->count, t->compute,
        PCU_CUBLAS_GEMM_DEFAULT);
}

/* Set the addresses to the next index of the axes other than `taken`. Return false
 * after the last. */
static bool
blas_next(const pcu_product *p, int taken, size_t *index, blas_call *call)
{
    for (int axis = p->ndim - 1; axis >= 0; axis--) {
        if (axis == taken) {
            continue;
        }
        size_t last = p->shape[axis] - 1;
        bool carries = index[axis] == last;
        for (int i = 0; i < PCU_MATRICES; i++) {
            ptrdiff_t step = p->steps[i][axis];
            if (carries) {
                step *= -(ptrdiff_t)last;
            }
            call->address[i] += (CUdeviceptr)step;
        }
        if (!carries) {
            index[axis]++;
            return true;
        }
        index[axis] = 0;
    }
    return false;
}

/* -- workspaces -------------------------------------------------------------------- */

/* Memory in which cuBLAS sums parts of a product. 0 bytes: that of the library. */
typedef struct {
    CUdeviceptr address;
    size_t bytes;
} blas_workspace;

/* The bytes that NVIDIA's manual recommends. */
static size_t
blas_workspace_size(const pcu_context *ctx)
{
    enum { MAJOR = 75, SINCE = 9 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR */
    int major = 0;
    if (drv.DeviceGetAttribute(&major, MAJOR, ctx->rec.device) == CUDA_SUCCESS &&
        major >= SINCE) {
        return (size_t)32 << 20;
    }
    return (size_t)4 << 20;
}

/* The workspace for a captured product. A launch of the graph may run at the same time
 * as other products of the handle, so each stream of a capture has a workspace, which
 * the graph owns. */
static int
blas_find_workspace(pcu_state *st, const pcu_context *ctx, CUstream stream,
                    blas_workspace *found)
{
    PyObject *pool = pcu_captured_pool();
    PyObject *spaces = pcu_captured_workspaces();
    found->bytes = 0;
    if (pool == NULL || spaces == NULL || pcu_blas.SetWorkspace == NULL) {
        return 0;
    }
    int rc = -1;
    size_t bytes = blas_workspace_size(ctx);
    PyObject *key = PyLong_FromVoidPtr((void *)stream);
    PyObject *memory = NULL;
    if (key != NULL) {
        memory = Py_XNewRef(PyDict_GetItemWithError(spaces, key));
    }
    if (key != NULL && memory == NULL && !PyErr_Occurred()) {
        memory = pcu_allocate(st, pool, bytes);
        if (memory != NULL && PyDict_SetItem(spaces, key, memory) < 0) {
            Py_CLEAR(memory);
        }
    }
    if (memory != NULL) {
        found->address = ((pcu_resource *)memory)->handle.memory;
        found->bytes = bytes;
        rc = 0;
    }
    Py_XDECREF(memory);
    Py_XDECREF(key);
    return rc;
}

/* -- the calls of a product -------------------------------------------------------- */

/* All calls of a product. Needs no interpreter lock. cublasSetStream also takes the
 * workspace of an earlier capture away. */
static int
blas_run(pcu_cublas_handle handle, const pcu_product *p, int axis, blas_call *call,
         CUstream stream, const blas_workspace *space, const char **routine)
{
    size_t index[PCU_MAX_NDIM] = {0};
    *routine = "cublasSetStream";
    int status = pcu_blas.SetStream(handle, stream);
    if (status == PCU_CUBLAS_SUCCESS && space->bytes != 0) {
        *routine = "cublasSetWorkspace";
        status =
            pcu_blas.SetWorkspace(handle, blas_pointer(space->address), space->bytes);
    }
    if (status != PCU_CUBLAS_SUCCESS) {
        return status;
    }
    *routine = "cublasGemmStridedBatchedEx";
    if (call->count == 1) {
        *routine = "cublasGemmEx";
    }
    do {
        status = blas_enqueue(handle, call);
    } while (status == PCU_CUBLAS_SUCCESS && blas_next(p, axis, index, call));
    return status;
}

/* Whether the calls must not keep the interpreter lock: a call waits while the queue is
 * full. */
static bool
blas_must_unlock(const pcu_product *p, int axis)
{
    size_t calls = 1;
    for (int i = 0; i < p->ndim; i++) {
        if (i != axis) {
            calls *= p->shape[i];
        }
    }
    return pcu_must_unlock(PCU_BLOCKING_QUEUE) || calls > 1;
}

int
pcu_blas_multiply(pcu_state *st, pcu_context *ctx, const pcu_product *given,
                  CUstream stream)
{
    pcu_product p = *given;
    pcu_matrix_storage storage[PCU_MATRICES];
    blas_call call = {0};
    blas_workspace space;
    const char *routine = "";
    struct pcu_blas_handle *blas = ctx->blas;
    int axis = blas_longest_axis(&p);
    int status;
    blas_find_storages(&p, storage);
    if (!storage[PCU_RESULT].by_row) {
        pcu_product_transpose(&p);
        blas_find_storages(&p, storage);
    }
    blas_plan(&p, storage, axis, &call);
    if (pcu_current_context_ready(st) < 0 ||
        blas_find_workspace(st, ctx, stream, &space) < 0) {
        return -1;
    }
    bool unlock = blas_must_unlock(&p, axis);
    if (!unlock && PyThread_acquire_lock(blas->lock, NOWAIT_LOCK)) {
        status = blas_run(blas->handle, &p, axis, &call, stream, &space, &routine);
        PyThread_release_lock(blas->lock);
    }
    else {
        blas->waiting++;
        PyThreadState *thread = pcu_unlock();
        PyThread_acquire_lock(blas->lock, WAIT_LOCK);
        status = blas_run(blas->handle, &p, axis, &call, stream, &space, &routine);
        PyThread_release_lock(blas->lock);
        pcu_lock(thread);
        blas->waiting--;
    }
    if (status == PCU_CUBLAS_NOT_SUPPORTED) {
        return 1;
    }
    if (status != PCU_CUBLAS_SUCCESS) {
        return blas_raise(st, routine, status);
    }
    return pcu_launched_library(st, &ctx->rec, routine, stream);
}
