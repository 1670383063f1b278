/* Fourier transforms through cuFFT: see cufft.h. */

#include "python/array/fourier/cufft.h"

#include <stdlib.h>

#include "driver/vendor_libraries.h"
#include "driver/capture.h"
#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/host_work.h"
#include "python/driver/launched.h"
#include "python/driver/current_context.h"
#include "python/support/settings.h"

enum { CUFFT_PLANS = 64 };

typedef struct {
    pcu_cufft_layout layout;
    int handle;
    bool captured;      /* a graph may use the plan's tables */
    bool refused;       /* cuFFT makes no plan of this layout: there is no handle */
    size_t work;        /* bytes of temporary memory */
    CUdeviceptr area;   /* the temporary memory that the plan was given last */
    CUstream stream;    /* the stream that the plan was given last */
    unsigned int users; /* threads in a call without the interpreter lock */
    unsigned long used; /* the time of the last use */
} cufft_plan;

struct pcu_fourier_library {
    int usable;              /* 0: NumPy or generated kernels transform */
    bool on_host;            /* NumPy transforms */
    bool required;           /* PYCUDA_FFT is "cufft" */
    PyThread_type_lock lock; /* held while a thread uses a plan */
    unsigned int waiting;    /* threads in a call without the interpreter lock */
    unsigned long now;       /* counts the uses of plans */
    int count;
    int last;                        /* the plan that was used last */
    char reason[PCU_LIBRARY_REASON]; /* why cuFFT does not transform */
    cufft_plan plans[CUFFT_PLANS];
    int *kept; /* handles of plans that graphs may use and that lost their place */
    size_t kept_count;
};

typedef enum { CUFFT_AUTOMATIC, CUFFT_REQUIRED, CUFFT_UNWANTED } cufft_wish;

/* -- errors ------------------------------------------------------------------------ */

static int
cufft_raise(pcu_state *st, const char *routine, int status)
{
    PyObject *kind = st->exc_LogicError;
    if (status == PCU_CUFFT_ALLOC_FAILED) {
        kind = st->exc_MemoryError;
    }
    else if (status == PCU_CUFFT_EXEC_FAILED) {
        kind = st->exc_LaunchError;
    }
    PyErr_Format(kind, "%s failed: %s", routine, pcu_fft_status_name(status));
    return -1;
}

/* -- the library ------------------------------------------------------------------- */

/* Decide what transforms. The reason says why it is not cuFFT. */
static int
cufft_decide(pcu_state *st, struct pcu_fourier_library *library, cufft_wish wish)
{
    if (wish == CUFFT_UNWANTED) {
        strcpy(library->reason, "PYCUDA_FFT is 'generated'");
        return 0;
    }
    if (wish == CUFFT_AUTOMATIC && pcu_drv_info.device != NULL) {
        library->on_host = true;
        return 0;
    }
    library->required = wish == CUFFT_REQUIRED;
    library->usable = pcu_fft_is_loaded();
    if (!library->usable) {
        library->usable = pcu_library_open("cufft", pcu_fft_load, library->reason);
    }
    if (library->usable == 0 && wish == CUFFT_REQUIRED) {
        PyErr_Format(st->exc_RuntimeError,
                     "PYCUDA_FFT is 'cufft', and cuFFT was not found: %s; install the "
                     "CUDA toolkit, or its wheels with 'pip install "
                     "\"cuda-toolkit[cufft]==13.*\"' (12.* for a driver of CUDA 12)",
                     library->reason);
        return -1;
    }
    if (library->usable < 0) {
        return -1;
    }
    return 0;
}

/* Wait until no other thread uses a plan. */
static void
cufft_settle(struct pcu_fourier_library *library)
{
    while (library->waiting != 0) {
        PyThreadState *thread = pcu_unlock();
        PyThread_acquire_lock(library->lock, WAIT_LOCK);
        PyThread_release_lock(library->lock);
        pcu_lock(thread);
    }
}

static void
cufft_free(struct pcu_fourier_library *library)
{
    if (library->lock != NULL) {
        PyThread_free_lock(library->lock);
    }
    free(library->kept);
    PyMem_Free(library);
}

/* End the plans of a context. The context need not be current. */
static void
cufft_end_noraise(pcu_context *ctx)
{
    pcu_scope scope;
    struct pcu_fourier_library *library = ctx->fourier;
    ctx->fourier = NULL;
    if (library == NULL) {
        return;
    }
    cufft_settle(library);
    if (library->count > 0 && pcu_context_record_usable(&ctx->rec) &&
        pcu_scope_enter(&scope, &ctx->rec) == CUDA_SUCCESS) {
        PyThreadState *thread = pcu_unlock(); /* waits for the device */
        for (int i = 0; i < library->count; i++) {
            if (!library->plans[i].refused) {
                (void)pcu_fft.Destroy(library->plans[i].handle);
            }
        }
        for (size_t i = 0; i < library->kept_count; i++) {
            (void)pcu_fft.Destroy(library->kept[i]);
        }
        pcu_lock(thread);
        (void)pcu_scope_leave(&scope);
    }
    cufft_free(library);
}

/* Make the record of a context. */
static int
cufft_begin(pcu_state *st, pcu_context *ctx)
{
    int wish = pcu_setting_read(PCU_SETTING_FFT);
    if (wish < 0) {
        return -1;
    }
    struct pcu_fourier_library *library = PyMem_Calloc(1, sizeof(*library));
    if (library == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    library->lock = PyThread_allocate_lock();
    if (library->lock == NULL) {
        PyErr_NoMemory();
    }
    if (library->lock == NULL || cufft_decide(st, library, wish) < 0) {
        cufft_free(library);
        return -1;
    }
    if (ctx->fourier != NULL || !ctx->rec.alive) {
        cufft_free(library); /* another thread was faster, or ended the context */
        return 0;
    }
    ctx->fourier = library;
    ctx->end_part[PCU_CONTEXT_FOURIER] = cufft_end_noraise;
    return 0;
}

int
pcu_cufft_choose(pcu_state *st, pcu_context *ctx)
{
    if (ctx->fourier != NULL) {
        return ctx->fourier->usable;
    }
    if (cufft_begin(st, ctx) < 0) {
        return -1;
    }
    return PCU_CUFFT_CHANGED;
}

bool
pcu_cufft_is_required(const pcu_context *ctx)
{
    return ctx->fourier != NULL && ctx->fourier->required;
}

bool
pcu_cufft_is_hosts(const pcu_context *ctx)
{
    return ctx->fourier != NULL && ctx->fourier->on_host;
}

/* A sentence for what the host transforms. */
static PyObject *
cufft_describe_host_new(void)
{
    PyObject *sentence = NULL;
    PyObject *name = pcu_host_call_new("transforms_by", PyTuple_New(0));
    if (name != NULL) {
        sentence = PyUnicode_FromFormat(
            "%S: the software device computes in the host's memory", name);
        Py_DECREF(name);
    }
    return sentence;
}

PyObject *
pcu_cufft_describe_new(pcu_state *st, pcu_context *ctx)
{
    int version = 0;
    int chosen;
    do {
        chosen = pcu_cufft_choose(st, ctx);
    } while (chosen == PCU_CUFFT_CHANGED && ctx->rec.alive);
    if (chosen < 0) {
        return NULL;
    }
    if (pcu_cufft_is_hosts(ctx)) {
        return cufft_describe_host_new();
    }
    if (ctx->fourier == NULL || !ctx->fourier->usable) {
        const char *reason = "the context has ended";
        if (ctx->fourier != NULL) {
            reason = ctx->fourier->reason;
        }
        return PyUnicode_FromFormat("generated kernels: %s", reason);
    }
    (void)pcu_fft.GetVersion(&version);
    return PyUnicode_FromFormat("cuFFT %d.%d.%d", version / 1000, version / 100 % 10,
                                version % 100);
}

/* -- plans ------------------------------------------------------------------------- */

/* The place of a plan, -1 if there is none. */
static int
cufft_find(struct pcu_fourier_library *library, const pcu_cufft_layout *layout)
{
    int place = library->last;
    if (place >= library->count ||
        memcmp(&library->plans[place].layout, layout, sizeof(*layout)) != 0) {
        for (place = library->count - 1; place >= 0; place--) {
            if (memcmp(&library->plans[place].layout, layout, sizeof(*layout)) == 0) {
                break;
            }
        }
    }
    if (place >= 0) {
        library->last = place;
        library->plans[place].used = ++library->now;
    }
    return place;
}

/* The place of the plan that was not used for the longest time, -1 if all are in use.
 */
static int
cufft_oldest(const struct pcu_fourier_library *library)
{
    int oldest = -1;
    for (int i = 0; i < library->count; i++) {
        const cufft_plan *plan = &library->plans[i];
        if (plan->users == 0 &&
            (oldest < 0 || plan->used < library->plans[oldest].used)) {
            oldest = i;
        }
    }
    return oldest;
}

/* Make a plan in the current context. Returns a status of cuFFT. Called without the
 * interpreter lock. */
static int
cufft_make_nogil(const pcu_cufft_layout *layout, cufft_plan *plan, const char **routine)
{
    pcu_cufft_layout copy = *layout; /* the library's parameters are not const */
    *routine = "cufftCreate";
    int status = pcu_fft.Create(&plan->handle);
    if (status != PCU_CUFFT_SUCCESS) {
        return status;
    }
    *routine = "cufftSetAutoAllocation";
    status = pcu_fft.SetAutoAllocation(plan->handle, 0);
    if (status == PCU_CUFFT_SUCCESS) {
        *routine = "cufftMakePlanMany64";
        status = pcu_fft.MakePlanMany64(
            plan->handle, (int)copy.rank, copy.n, copy.in_embed, copy.in_step,
            copy.in_distance, copy.out_embed, copy.out_step, copy.out_distance,
            (int)copy.type, copy.batch, &plan->work);
    }
    if (status != PCU_CUFFT_SUCCESS) {
        (void)pcu_fft.Destroy(plan->handle);
    }
    return status;
}

/* End a plan that is in no list. */
static void
cufft_destroy(const cufft_plan *plan)
{
    if (!plan->refused) {
        PyThreadState *thread = pcu_unlock(); /* may wait for the device */
        (void)pcu_fft.Destroy(plan->handle);
        pcu_lock(thread);
    }
}

/* End a plan that lost its place. One that was captured is kept until the context ends;
 * without memory for that it is never ended. */
static void
cufft_dismiss(struct pcu_fourier_library *library, const cufft_plan *plan)
{
    if (!plan->captured || library == NULL) {
        cufft_destroy(plan);
        return;
    }
    int *kept = realloc(library->kept, (library->kept_count + 1) * sizeof(*kept));
    if (kept != NULL) {
        kept[library->kept_count++] = plan->handle;
        library->kept = kept;
    }
}

/* Add a plan to those of the context, unless another thread has done so. Plans keep
 * their places: a thread without the interpreter lock may use one. */
static void
cufft_add(pcu_context *ctx, const cufft_plan *plan)
{
    struct pcu_fourier_library *library = ctx->fourier;
    cufft_plan surplus = *plan;
    int place = -1;
    if (library != NULL && cufft_find(library, &plan->layout) < 0) {
        place = library->count;
        if (place == CUFFT_PLANS) {
            place = cufft_oldest(library); /* -1: the caller tries again */
        }
    }
    if (place >= 0) {
        surplus = library->plans[place];
        if (place == library->count) {
            surplus.refused = true; /* an empty place */
            library->count++;
        }
        library->plans[place] = *plan;
        library->plans[place].used = ++library->now;
        library->last = place;
    }
    cufft_dismiss(library, &surplus);
}

/* Make the plan of a layout. Other threads run meanwhile. */
static int
cufft_plan_new(pcu_state *st, pcu_context *ctx, const pcu_cufft_layout *layout)
{
    const char *routine = "";
    cufft_plan plan;
    memset(&plan, 0, sizeof(plan));
    plan.layout = *layout;
    if (pcu_current_context_ready(st) < 0) {
        return -1;
    }
    PyThreadState *thread = pcu_unlock(); /* may load the library's code: 100 ms */
    int status = cufft_make_nogil(layout, &plan, &routine);
    pcu_lock(thread);
    if (status == PCU_CUFFT_ALLOC_FAILED || status == PCU_CUFFT_SETUP_FAILED) {
        return cufft_raise(st, routine, status);
    }
    plan.refused = status != PCU_CUFFT_SUCCESS;
    cufft_add(ctx, &plan);
    return PCU_CUFFT_CHANGED;
}

/* -- executions -------------------------------------------------------------------- */

static int
cufft_execute(const pcu_cufft_call *call, int handle, CUdeviceptr in, CUdeviceptr out)
{
    void *source = (void *)(uintptr_t)in;
    void *target = (void *)(uintptr_t)out;
    switch (call->layout.type) {
        case PCU_CUFFT_C2C:
            return pcu_fft.ExecC2C(handle, source, target, call->direction);
        case PCU_CUFFT_Z2Z:
            return pcu_fft.ExecZ2Z(handle, source, target, call->direction);
        case PCU_CUFFT_R2C:
            return pcu_fft.ExecR2C(handle, source, target);
        case PCU_CUFFT_D2Z:
            return pcu_fft.ExecD2Z(handle, source, target);
        case PCU_CUFFT_C2R:
            return pcu_fft.ExecC2R(handle, source, target);
        default:
            return pcu_fft.ExecZ2D(handle, source, target);
    }
}

/* Give the plan its stream and its memory, and execute it. Returns a status of cuFFT.
 * The caller holds the lock of the plans. */
static int
cufft_enqueue_locked(cufft_plan *plan, const pcu_cufft_call *call, CUdeviceptr area,
                     CUstream stream, const char **routine)
{
    int status;
    if (plan->stream != stream) {
        *routine = "cufftSetStream";
        status = pcu_fft.SetStream(plan->handle, stream);
        if (status != PCU_CUFFT_SUCCESS) {
            return status;
        }
        plan->stream = stream;
    }
    if (plan->area != area) {
        *routine = "cufftSetWorkArea";
        status = pcu_fft.SetWorkArea(plan->handle, (void *)(uintptr_t)area);
        if (status != PCU_CUFFT_SUCCESS) {
            return status;
        }
        plan->area = area;
    }
    *routine = "cufftExec";
    for (size_t i = 0; i < call->repeats; i++) {
        status =
            cufft_execute(call, plan->handle, call->in + i * (uint64_t)call->in_repeat,
                          call->out + i * (uint64_t)call->out_repeat);
        if (status != PCU_CUFFT_SUCCESS) {
            return status;
        }
    }
    return PCU_CUFFT_SUCCESS;
}

/* Execute a plan, without the interpreter lock if the call may have to wait. */
static int
cufft_enqueue(pcu_state *st, struct pcu_fourier_library *library, cufft_plan *plan,
              const pcu_cufft_call *call, CUdeviceptr area, CUstream stream)
{
    const char *routine = "";
    int status;
    plan->captured |= pcu_captures != NULL;
    bool unlock = pcu_must_unlock(PCU_BLOCKING_QUEUE) || call->repeats > 1;
    if (!unlock && PyThread_acquire_lock(library->lock, NOWAIT_LOCK)) {
        status = cufft_enqueue_locked(plan, call, area, stream, &routine);
        PyThread_release_lock(library->lock);
    }
    else {
        library->waiting++;
        plan->users++;
        PyThreadState *thread = pcu_unlock();
        PyThread_acquire_lock(library->lock, WAIT_LOCK);
        status = cufft_enqueue_locked(plan, call, area, stream, &routine);
        PyThread_release_lock(library->lock);
        pcu_lock(thread);
        plan->users--;
        library->waiting--;
    }
    if (status != PCU_CUFFT_SUCCESS) {
        return cufft_raise(st, routine, status);
    }
    return PCU_CUFFT_DONE;
}

static PyObject *
cufft_work_new(pcu_state *st, size_t bytes, PyObject *allocator)
{
    PyArray_Descr *dtype = pcu_dtype_of_type(PCU_T_UINT8);
    PyObject *work = pcu_gpuarray_new(st, NULL, 1, &bytes, NULL, dtype, allocator);
    Py_DECREF(dtype);
    return work;
}

int
pcu_cufft_run(pcu_state *st, pcu_context *ctx, const pcu_cufft_call *call,
              PyObject *allocator, CUstream stream)
{
    struct pcu_fourier_library *library = ctx->fourier;
    PyObject *work = NULL;
    CUdeviceptr area = 0;
    int place = cufft_find(library, &call->layout);
    if (place < 0) {
        return cufft_plan_new(st, ctx, &call->layout);
    }
    if (library->plans[place].refused) {
        return PCU_CUFFT_REFUSED;
    }
    size_t bytes = library->plans[place].work;
    if (bytes > 0) {
        work = cufft_work_new(st, bytes, allocator);
        if (work == NULL) {
            return -1;
        }
        area = ((pcu_gpuarray *)work)->address;
        /* An allocator is a program's code: other threads may have changed the plans.
         */
        if (ctx->fourier != library || cufft_find(library, &call->layout) != place) {
            Py_DECREF(work);
            return PCU_CUFFT_CHANGED;
        }
    }
    int rc = pcu_current_context_ready(st);
    if (rc == 0) {
        rc = cufft_enqueue(st, library, &library->plans[place], call, area, stream);
    }
    if (rc == PCU_CUFFT_DONE &&
        pcu_launched_library(st, &ctx->rec, "cufftExec", stream) < 0) {
        rc = -1;
    }
    Py_XDECREF(work);
    return rc;
}
