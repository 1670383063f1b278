/* The blocks of memory pools: where they come from and where they go. The bins are in
 * driver/bins.c, the types in pool.c.
 *
 * Invariant: see pool.c. Which streams may use a held block is in its `life`
 * (driver/stream_use.h). Callers: see pool.h. */
#include "python/driver/memory/pool.h"

#include "python/support/convert.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

#include "driver/capture.h"

/* How many blocks of a bin are looked at for one that no stream uses. */
enum { BLOCK_SEARCH = 32 };

static inline pcu_context_record *
block_rec(PyObject *ctx)
{
    return &((pcu_context *)ctx)->rec;
}

static const char *
block_routine(const pcu_memory_pool *self)
{
    if (self->source != NULL) {
        return "cuMemAllocFromPoolAsync";
    }
    return self->kind == PCU_HANDLE_memory ? "cuMemAlloc" : "cuMemHostAlloc";
}

/* The kind of a block's handle. */
static pcu_handle_kind
block_kind(const pcu_memory_pool *self)
{
    return self->source != NULL ? PCU_HANDLE_ordered : self->kind;
}

static pcu_memory_kind
block_memory_kind(const pcu_memory_pool *self)
{
    if (self->kind == PCU_HANDLE_memory) {
        return PCU_MEMORY_POOL;
    }
    return PCU_MEMORY_HOST_POOL;
}

/* The stream for which the pool allocates now. */
static CUstream
block_stream(const pcu_memory_pool *self)
{
    if (pcu_stream_top == NULL || pcu_ctx_current == NULL ||
        pcu_ctx_current->handle != pcu_context_rec(self->ctx)->handle) {
        return NULL;
    }
    return pcu_stream_peek();
}

/* -- releasing --------------------------------------------------------------------- */

/* Free memory of a MemoryPool behind its last use. Return false if the driver cannot do
 * that now; then the caller frees it behind all work. */
static bool
block_free_async(const pcu_pool_block *block, PyObject *ctx)
{
    pcu_context_record *rec = block_rec(ctx);
    pcu_stream_table *table = pcu_stream_table_find(rec);
    const char *routine = "";
    CUstream stream = NULL;
    pcu_scope scope;
    bool ended = false;
    if (!pcu_context_record_usable(rec)) {
        return false;
    }
    if (pcu_release_is_taken(PCU_HANDLE_ordered, block->handle, ctx)) {
        return true; /* a captured stream may not wait for others now */
    }
    if (table != NULL) {
        stream = pcu_stream_table_last(table);
        if (pcu_scope_enter(&scope, rec) != CUDA_SUCCESS) {
            return false;
        }
        CUresult status = CUDA_SUCCESS;
        if (table->unordered) {
            status = pcu_stream_life_order(&block->life, table, stream, &routine);
        }
        if (pcu_scope_leave(&scope) != CUDA_SUCCESS || status != CUDA_SUCCESS) {
            return false;
        }
    }
    (void)pcu_release_async(PCU_HANDLE_ordered, block->handle, stream, ctx, &routine,
                            &ended);
    return ended;
}

/* Release a block that is no longer counted in a pool. */
static void
block_release_noraise(pcu_memory_pool *self, pcu_pool_block *block, PyObject *ctx)
{
    pcu_handle handle = block->handle;
    bool ended = self->source != NULL && block_free_async(block, ctx);
    PyMem_Free(block);
    if (!ended) {
        pcu_release_noraise(self->st, block_kind(self), handle, ctx);
    }
}

/* A release may warn, and that may run code that uses the pool: read the fields again
 * in each round. */
void
pcu_pool_free_held_noraise(pcu_memory_pool *self)
{
    pcu_bins_block *block;
    if (self->ctx == NULL) {
        return;
    }
    PyObject *ctx = Py_NewRef(self->ctx);
    while (self->ctx == ctx && (block = pcu_bins_evict(&self->bins)) != NULL) {
        block_release_noraise(self, (pcu_pool_block *)block, ctx);
    }
    Py_DECREF(ctx);
}

void
pcu_pool_unfollow(pcu_memory_pool *self)
{
    pcu_scope scope;
    if (self->kind != PCU_HANDLE_memory || self->of_graph) {
        return;
    }
    pcu_stream_followers--;
    if (self->ctx == NULL || block_rec(self->ctx)->streams == NULL ||
        !pcu_pool_is_usable(self)) {
        return;
    }
    pcu_context_record *rec = block_rec(self->ctx);
    if (pcu_scope_enter(&scope, rec) == CUDA_SUCCESS) {
        pcu_stream_table_poll(rec->streams, NULL, 0); /* destroys fences */
        /* An error of earlier work appears again in the next call. */
        (void)pcu_scope_leave(&scope);
    }
}

/* Whether a graph uses the block, so that the pool must not hand it out again. */
static bool
block_is_captured(const pcu_memory_pool *self, const pcu_pool_block *block,
                  PyObject *ctx)
{
    if (self->of_graph || ctx == NULL) {
        return false;
    }
    if (pcu_captures != NULL &&
        pcu_capture_delays(pcu_context_rec(ctx)->handle, PyThread_get_thread_ident())) {
        return true;
    }
    return block->note != NULL && block->note->graphs != 0;
}

void
pcu_pool_return_noraise(pcu_memory_pool *self, pcu_pool_block *block, PyObject *ctx,
                        size_t size)
{
    bool holds = !self->bins.stopped && ctx == self->ctx && pcu_pool_is_usable(self) &&
                 !block_is_captured(self, block, ctx);
    pcu_stream_table *table = NULL;
    if (self->kind == PCU_HANDLE_memory && pcu_context_rec(ctx)->alive) {
        table = pcu_stream_table_tracking(block_rec(ctx));
    }
    if (table != NULL) {
        pcu_stream_life_end(&block->life, table);
        holds = holds && !pcu_stream_life_is_opaque(&block->life, table);
    }
    if (self->source != NULL &&
        self->bins.held_bytes + pcu_bins_size(block->base.bin) > self->hold_limit) {
        holds = 0;
    }
    if (holds) {
        pcu_pool_hold(self, block, size);
        return;
    }
    pcu_bins_dismiss(&self->bins, &block->base, size);
    block_release_noraise(self, block, ctx);
}

/* -- obtaining --------------------------------------------------------------------- */

/* Allocate a block from the driver in the pool's context. *routine names the driver
 * call that failed. */
static CUresult
block_ask_driver(pcu_memory_pool *self, size_t bytes, pcu_handle *handle,
                 const char **routine)
{
    pcu_scope scope;
    CUstream stream = block_stream(self);
    *routine = "cuCtxPushCurrent";
    CUresult status = pcu_scope_enter(&scope, pcu_context_rec(self->ctx));
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *routine = block_routine(self);
    if (self->source != NULL && pcu_captured_pool() != NULL) {
        /* A graph would allocate at each launch, and the block is older than that. */
        *routine = "cuMemAlloc";
        PCU_STATUS(status, MemAlloc, (&handle->memory, bytes));
    }
    else if (self->source != NULL) {
        PCU_STATUS(status, MemAllocFromPoolAsync,
                   (&handle->memory, bytes, self->source, stream));
    }
    else if (self->kind == PCU_HANDLE_memory) {
        PCU_STATUS(status, MemAlloc, (&handle->memory, bytes));
    }
    else {
        PCU_STATUS(status, MemHostAlloc, (&handle->host, bytes, self->flags));
    }
    CUresult left = pcu_scope_leave(&scope);
    if (status == CUDA_SUCCESS) {
        pcu_handle_created(block_kind(self));
        if (left != CUDA_SUCCESS) {
            pcu_release_noraise(self->st, block_kind(self), *handle, self->ctx);
            *routine = "cuCtxPopCurrent";
            status = left;
        }
    }
    return status;
}

/* The pool's context cannot be used. Raise for a pool of device memory; a page-locked
 * pool takes the current context. */
static int
block_enter_context(pcu_memory_pool *self)
{
    if (pcu_drv_info.state != PCU_DRV_READY) {
        return pcu_raise(self->st, block_routine(self),
                         pcu_drv_state_status(pcu_drv_info.state));
    }
    if (self->kind == PCU_HANDLE_memory) {
        return pcu_raise_detail(
            self->st, block_routine(self), CUDA_ERROR_INVALID_CONTEXT,
            "the context of this %s was detached", Py_TYPE(self)->tp_name);
    }
    PyObject *ctx = pcu_context_require(self->st, block_routine(self));
    if (ctx == NULL) {
        return -1;
    }
    pcu_pool_free_held_noraise(self); /* their context ended and took them with it */
    Py_XSETREF(self->ctx, ctx);
    return 0;
}

static int
block_raise(pcu_memory_pool *self, const char *routine, CUresult status, size_t size,
            int bin, size_t released)
{
    if (status != CUDA_ERROR_OUT_OF_MEMORY) {
        return pcu_raise(self->st, routine, status);
    }
    PyObject *use = pcu_memory_use_new(size, self->kind == PCU_HANDLE_host);
    if (use != NULL) {
        pcu_raise_detail(
            self->st, routine, status,
            "%zu bytes were asked for, a block of %zu; the pool released the %zu bytes "
            "it held and now holds %zu; %zu bytes in %zu blocks are in use%U",
            size, pcu_bins_size(bin), released, self->bins.held_bytes,
            self->bins.active_bytes, self->bins.active_blocks, use);
    }
    Py_XDECREF(use);
    return -1;
}

/* Take a held block whose last use is before the next work of the stream. */
static pcu_pool_block *
block_search(pcu_memory_pool *self, const pcu_stream_table *table, int bin, size_t size,
             CUstream stream)
{
    pcu_bins_block *before = NULL;
    pcu_bins_block *block = self->bins.lists[bin];
    for (int i = 0; block != NULL && i < BLOCK_SEARCH; i++) {
        if (pcu_stream_life_is_over(&((pcu_pool_block *)block)->life, table, stream)) {
            return (pcu_pool_block *)pcu_bins_take_after(&self->bins, bin, before,
                                                         size);
        }
        before = block;
        block = block->next;
    }
    return NULL;
}

/* The same in a context with unordered streams. The fences are asked only if a block
 * might be found that way. */
static pcu_pool_block *
block_take_tracked(pcu_memory_pool *self, pcu_stream_table *table, int bin, size_t size)
{
    pcu_context_record *rec = block_rec(self->ctx);
    CUstream stream = block_stream(self);
    pcu_scope scope;
    pcu_pool_block *block = block_search(self, table, bin, size, stream);
    if (block == NULL && self->bins.lists[bin] != NULL &&
        pcu_scope_enter(&scope, rec) == CUDA_SUCCESS) {
        pcu_stream_table_poll(table, stream, 1);
        /* An error of earlier work appears again in the next call. */
        (void)pcu_scope_leave(&scope);
        block = block_search(self, table, bin, size, stream);
    }
    if (block != NULL) {
        pcu_stream_life_begin(&block->life, table);
    }
    return block;
}

static inline pcu_pool_block *
block_take(pcu_memory_pool *self, int bin, size_t size)
{
    pcu_stream_table *table = NULL;
    if (self->kind == PCU_HANDLE_memory) {
        table = pcu_stream_table_tracking(block_rec(self->ctx));
    }
    if (table == NULL) {
        return (pcu_pool_block *)pcu_bins_take(&self->bins, bin, size);
    }
    return block_take_tracked(self, table, bin, size);
}

/* Memory is short: wait until no stream uses the held blocks. */
static void
block_wait_for_streams(pcu_memory_pool *self, int bin)
{
    pcu_context_record *rec = block_rec(self->ctx);
    const char *routine;
    if (self->kind == PCU_HANDLE_memory && self->bins.lists[bin] != NULL &&
        pcu_stream_table_tracking(rec) != NULL) {
        /* An error of earlier work appears again in the next call. */
        (void)pcu_context_wait(rec, &routine);
    }
}

/* Ask the driver for a block. If memory is short, release held blocks, the largest
 * first, and ask again. */
static CUresult
block_ask_insisting(pcu_memory_pool *self, int bin, pcu_handle *handle,
                    const char **routine, size_t *released)
{
    CUresult status = block_ask_driver(self, pcu_bins_size(bin), handle, routine);
    while (status == CUDA_ERROR_OUT_OF_MEMORY) {
        pcu_bins_block *victim = pcu_bins_evict(&self->bins);
        if (victim == NULL) {
            break;
        }
        *released += pcu_bins_size(victim->bin);
        block_release_noraise(self, (pcu_pool_block *)victim, self->ctx);
        status = block_ask_driver(self, pcu_bins_size(bin), handle, routine);
    }
    return status;
}

/* Allocate a block from the driver. If memory is short, collect garbage, try the bin
 * again, then release held blocks. The block is counted as active. */
static pcu_pool_block *
block_obtain_fresh(pcu_memory_pool *self, int bin, size_t size)
{
    const char *routine = "";
    size_t released = 0;
    if (pcu_current_context_ready(self->st) <
        0) { /* the pool's context may be this thread's */
        return NULL;
    }
    pcu_pool_block *block = PyMem_Calloc(1, sizeof(*block));
    if (block == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    block->base.bin = bin;
    CUresult status =
        block_ask_driver(self, pcu_bins_size(bin), &block->handle, &routine);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) {
        pcu_collect_garbage();
        pcu_pool_block *found = NULL;
        if (pcu_pool_is_usable(self)) {
            block_wait_for_streams(self, bin);
            found = block_take(self, bin, size);
        }
        if (found != NULL) {
            PyMem_Free(block);
            return found;
        }
        status = block_ask_insisting(self, bin, &block->handle, &routine, &released);
    }
    if (status != CUDA_SUCCESS) {
        PyMem_Free(block);
        block_raise(self, routine, status, size, bin, released);
        return NULL;
    }
    pcu_bins_admit(&self->bins, &block->base, size);
    block->note = pcu_memory_add_block(block_memory_kind(self),
                                       pcu_handle_address(self->kind, block->handle),
                                       pcu_bins_size(bin), pcu_context_rec(self->ctx));
    pcu_stream_table *table = pcu_stream_table_tracking(block_rec(self->ctx));
    if (table != NULL) {
        pcu_stream_life_begin(&block->life, table);
    }
    return block;
}

pcu_pool_block *
pcu_pool_obtain(pcu_memory_pool *self, size_t size)
{
    int bin = pcu_bins_number(size);
    if (!pcu_pool_is_usable(self) && block_enter_context(self) < 0) {
        return NULL;
    }
    pcu_pool_block *block = block_take(self, bin, size);
    if (block != NULL) {
        return block;
    }
    return block_obtain_fresh(self, bin, size);
}
