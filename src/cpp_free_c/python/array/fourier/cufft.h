/* Fourier transforms through cuFFT: the library, and the plans of a context.
 *
 * A context that transforms arrays keeps the plans that it used last. They end with it.
 * A plan is used by one thread at a time, under a lock of the library's record, because
 * a call may have to wait without the interpreter lock. Called by library.c. */
#ifndef PYTHON_ARRAY_FOURIER_CUFFT_H
#define PYTHON_ARRAY_FOURIER_CUFFT_H

#include "python/driver/context.h"

#include "abi/cufft_abi.h"

enum { PCU_CUFFT_RANK_MAX = 3 };

/* The transforms of a plan, in numbers of elements: the arguments of
 * cufftMakePlanMany64. All of one type, so that layouts can be compared as bytes. */
typedef struct {
    long long type; /* PCU_CUFFT_C2C ... */
    long long rank;
    long long batch;
    long long n[PCU_CUFFT_RANK_MAX];
    long long in_embed[PCU_CUFFT_RANK_MAX];
    long long in_step;
    long long in_distance;
    long long out_embed[PCU_CUFFT_RANK_MAX];
    long long out_step;
    long long out_distance;
} pcu_cufft_layout;

/* An execution of a plan: `repeats` times, at addresses that are a step apart. */
typedef struct {
    pcu_cufft_layout layout;
    int direction; /* of complex transforms */
    CUdeviceptr in;
    CUdeviceptr out;
    size_t repeats;
    ptrdiff_t in_repeat; /* bytes */
    ptrdiff_t out_repeat;
} pcu_cufft_call;

/* What transforms in a context. CHANGED: this call has chosen or made something, and
 * other code may have run: check the arrays and ask again. */
enum { PCU_CUFFT_DONE = 0, PCU_CUFFT_REFUSED = 1, PCU_CUFFT_CHANGED = 2 };

/* Return 1 if cuFFT transforms in ctx, which is current, 0 if NumPy or generated
 * kernels do, PCU_CUFFT_CHANGED, or -1. The environment variable PYCUDA_FFT decides
 * when the context transforms for the first time. */
PCU_HIDDEN PCU_RAISES int pcu_cufft_choose(pcu_state *st, pcu_context *ctx);

/* Whether PYCUDA_FFT asked for cuFFT, so that it transforms all that it can. */
PCU_HIDDEN bool pcu_cufft_is_required(const pcu_context *ctx);

/* Whether NumPy or SciPy transforms, once something was chosen. */
PCU_HIDDEN bool pcu_cufft_is_hosts(const pcu_context *ctx);

/* Enqueue the transforms. REFUSED: cuFFT does not take this layout. CHANGED: nothing
 * was enqueued. Temporary memory comes from the allocator. */
PCU_HIDDEN PCU_RAISES int pcu_cufft_run(pcu_state *st, pcu_context *ctx,
                                        const pcu_cufft_call *call, PyObject *allocator,
                                        CUstream stream);

/* A sentence that says what transforms in ctx, and why. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_cufft_describe_new(pcu_state *st, pcu_context *ctx);

#endif
