/* Numbers that kernels tell the host: see true_count.h. */

#include "python/array/index/true_count.h"

#include "python/driver/current_context.h"
#include "python/driver/launched.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"

enum {
    COUNT_PLACES = 512, /* numbers: 4096 bytes */
    COUNT_MAPPED = 2    /* CU_MEMHOSTALLOC_DEVICEMAP */
};

struct pcu_true_counts {
    volatile uint64_t *numbers; /* page-locked */
    CUdeviceptr address;        /* of the numbers, on the device */
    unsigned char taken[COUNT_PLACES];
};

static void
count_free_all(pcu_context *ctx)
{
    struct pcu_true_counts *counts = ctx->true_counts;
    if (counts == NULL) {
        return;
    }
    pcu_handle handle = {.host = (void *)counts->numbers};
    ctx->true_counts = NULL;
    PyMem_Free(counts);
    pcu_release_noraise(ctx->st, PCU_HANDLE_host, handle, (PyObject *)ctx);
}

/* The numbers of a context, made at their first use. */
static struct pcu_true_counts *
count_all_of(pcu_context *ctx)
{
    pcu_state *st = ctx->st;
    pcu_handle handle = {0};
    CUdeviceptr address = 0;
    CUresult status;
    if (ctx->true_counts != NULL) {
        return ctx->true_counts;
    }
    struct pcu_true_counts *counts = PyMem_Calloc(1, sizeof(*counts));
    if (counts == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    PCU_ALLOCATE(status, MemHostAlloc,
                 (&handle.host, COUNT_PLACES * sizeof(uint64_t), COUNT_MAPPED));
    if (status != CUDA_SUCCESS) {
        PyMem_Free(counts);
        pcu_raise(st, "cuMemHostAlloc", status);
        return NULL;
    }
    pcu_handle_created(PCU_HANDLE_host);
    if (ctx->true_counts != NULL) { /* another thread made them meanwhile */
        PyMem_Free(counts);
        pcu_release_noraise(st, PCU_HANDLE_host, handle, (PyObject *)ctx);
        return ctx->true_counts;
    }
    counts->numbers = handle.host;
    ctx->end_part[PCU_CONTEXT_TRUE_COUNTS] = count_free_all;
    ctx->true_counts = counts;
    PCU_STATUS(status, MemHostGetDevicePointer, (&address, handle.host, 0));
    if (status != CUDA_SUCCESS) {
        count_free_all(ctx);
        pcu_raise(st, "cuMemHostGetDevicePointer", status);
        return NULL;
    }
    counts->address = address;
    return counts;
}

int
pcu_true_count_take(pcu_context *ctx, pcu_true_count *self, CUdeviceptr *address)
{
    int place = 0;
    struct pcu_true_counts *counts = count_all_of(ctx);
    if (counts == NULL) {
        return -1;
    }
    while (place < COUNT_PLACES && counts->taken[place]) {
        place++;
    }
    if (place == COUNT_PLACES) {
        PyErr_Format(PyExc_RuntimeError,
                     "%d threads wait for the number of true elements of a mask: use "
                     "fewer threads",
                     COUNT_PLACES);
        return -1;
    }
    counts->taken[place] = 1;
    counts->numbers[place] = 0;
    self->ctx = (pcu_context *)Py_NewRef((PyObject *)ctx);
    self->counts = counts;
    self->place = place;
    *address = counts->address + (CUdeviceptr)place * sizeof(uint64_t);
    return 0;
}

int
pcu_true_count_read(const pcu_true_count *self, CUstream stream, size_t *count)
{
    pcu_state *st = self->ctx->st;
    if (pcu_launched_wait(st, stream) < 0) {
        return -1;
    }
    if (self->ctx->true_counts != self->counts) {
        return pcu_raise_detail(st, "cuStreamSynchronize", CUDA_ERROR_INVALID_CONTEXT,
                                "the context was detached during the call");
    }
    *count = self->counts->numbers[self->place];
    return 0;
}

void
pcu_true_count_give_back(pcu_true_count *self)
{
    if (self->ctx == NULL) {
        return;
    }
    if (self->ctx->true_counts == self->counts) {
        self->counts->taken[self->place] = 0;
    }
    Py_CLEAR(self->ctx);
}
