/* Large copies of ordinary host memory: see staging.h. */
#define _GNU_SOURCE /* sched_getaffinity, madvise */

#include "driver/staging.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__SSE2__)
#    include <emmintrin.h>
#endif

#include "driver/capture.h"
#include "driver/context_record.h"
#include "driver/setting.h"
#include "driver/ticks.h"

/* The questions of device/machine/warp/wait.h. */
enum { STAGING_POLL, STAGING_RETURN };

/* Signals are handled this often. */
#define STAGING_HOST_NS UINT64_C(20000000)

enum {
    STAGING_MOST_THREADS = 16,
    STAGING_MOST_PIECES = 256,
    STAGING_MOST_BLOCKS = 256
};

/* -- the setting ------------------------------------------------------------------- */

static size_t
staging_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        return (size_t)CPU_COUNT(&set);
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more than CPU_SETSIZE */
    return online > 0 ? (size_t)online : 1;
}

/* -- the pieces of a context ------------------------------------------------------- */

/* A place for one part of a copy. A block of page-locked memory has one, or several
 * that are smaller. */
typedef struct {
    CUevent event; /* recorded behind the copy of the bus */
    char *memory;  /* during a copy */
    size_t ended;  /* 1 + the last part that a thread has copied; the lock guards it */
} staging_piece;

/* A copy: a sequence of parts, each of which passes through piece `part % used`. */
typedef struct {
    char *host;
    CUdeviceptr device;
    size_t size;
    size_t first; /* bytes of part 0: the next ones begin at multiples of `part` */
    size_t part;
    size_t count; /* of parts */
    bool up;
    bool streaming;
    bool populate;
} staging_job;

typedef struct staging {
    struct staging *next;
    CUcontext context;
    bool is_busy; /* a copy uses it; the lock of the list guards it */
    bool has_failed;
    pcu_staging_setting setting;
    size_t seen; /* bytes of the large copies so far */
    void *blocks[STAGING_MOST_BLOCKS];
    size_t block_count;
    size_t most_blocks;
    staging_piece pieces[STAGING_MOST_PIECES];
    size_t event_count;
    pthread_t threads[STAGING_MOST_THREADS];
    size_t thread_count;
    /* the lock guards the rest */
    pthread_mutex_t lock;
    pthread_cond_t work; /* the threads wait for it */
    pthread_cond_t done; /* the copy waits for it */
    bool ends;
    staging_job job;
    size_t used;    /* pieces of this copy */
    size_t taken;   /* the next part */
    size_t allowed; /* the parts before it can be copied now */
    size_t running; /* parts that are being copied */
} staging;

static struct {
    bool has_begun;
    int (*host)(int question);
    struct pcu_drv plain; /* the driver's functions */
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t idle;
    staging *first;
    pcu_staging_setting setting;
    atomic_size_t from; /* bytes of the smallest copy; SIZE_MAX: none */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .idle = PTHREAD_COND_INITIALIZER,
           .from = SIZE_MAX};

static size_t
job_offset(const staging_job *job, size_t part)
{
    return part == 0 ? 0 : job->first + (part - 1) * job->part;
}

static size_t
job_size(const staging_job *job, size_t part)
{
    size_t offset = job_offset(job, part);
    size_t size = part == 0 ? job->first : job->part;
    return size < job->size - offset ? size : job->size - offset;
}

/* Stores that pass the caches: the written memory is not read first. */
static void
copy_streaming(char *to, const char *from, size_t size)
{
#if defined(__SSE2__)
    size_t head = (size_t)(-(uintptr_t)to & 63);
    if (size < 4096) {
        memcpy(to, from, size);
        return;
    }
    memcpy(to, from, head);
    to += head;
    from += head;
    size -= head;
    for (; size >= 64; size -= 64, to += 64, from += 64) {
        const __m128i *source = (const __m128i *)(const void *)from;
        __m128i *target = (__m128i *)(void *)to;
        __m128i a = _mm_loadu_si128(source);
        __m128i b = _mm_loadu_si128(source + 1);
        __m128i c = _mm_loadu_si128(source + 2);
        __m128i d = _mm_loadu_si128(source + 3);
        _mm_stream_si128(target, a);
        _mm_stream_si128(target + 1, b);
        _mm_stream_si128(target + 2, c);
        _mm_stream_si128(target + 3, d);
    }
    _mm_sfence();
#endif
    memcpy(to, from, size);
}

/* Let the system map the pages at once, in place of one fault each. */
static void
copy_populate(char *to, size_t size)
{
#if !defined(MADV_POPULATE_WRITE)
#    define MADV_POPULATE_WRITE 23
#endif
    const uintptr_t page = 4096;
    uintptr_t begin = ((uintptr_t)to + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)to + size) & ~(page - 1);
    unsigned char resident = 1;
    if (begin < end && mincore((void *)(end - page), page, &resident) == 0 &&
        (resident & 1) == 0) {
        (void)madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
    }
}

static void
staging_copy_part(const staging *self, size_t part)
{
    const staging_job *job = &self->job;
    char *host = job->host + job_offset(job, part);
    char *piece = self->pieces[part % self->used].memory;
    size_t size = job_size(job, part);
    if (!job->up && job->populate) {
        copy_populate(host, size);
    }
    char *to = job->up ? piece : host;
    const char *from = job->up ? host : piece;
    if (job->streaming) {
        copy_streaming(to, from, size);
    }
    else {
        memcpy(to, from, size);
    }
}

/* Copy the next part, which is allowed. The lock is held, but not during the copy. */
static void
staging_copy_next(staging *self)
{
    size_t part = self->taken++;
    self->running++;
    pthread_mutex_unlock(&self->lock);
    staging_copy_part(self, part);
    pthread_mutex_lock(&self->lock);
    self->running--;
    self->pieces[part % self->used].ended = part + 1;
}

static void *
staging_thread(void *argument)
{
    staging *self = argument;
    pthread_mutex_lock(&self->lock);
    while (!self->ends) {
        if (self->taken < self->allowed) {
            staging_copy_next(self);
            pthread_cond_signal(&self->done);
        }
        else {
            pthread_cond_wait(&self->work, &self->lock);
        }
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* Make the threads that are missing, as far as the system allows it. Signals are for
 * the threads of the program. */
static void
staging_make_threads(staging *self, size_t wanted)
{
    sigset_t all;
    sigset_t before;
    pthread_attr_t attributes;
    bool makes = self->thread_count < wanted && pthread_attr_init(&attributes) == 0;
    if (!makes) {
        return;
    }
    (void)pthread_attr_setstacksize(&attributes, (size_t)256 << 10);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (self->thread_count < wanted &&
           pthread_create(&self->threads[self->thread_count], &attributes,
                          staging_thread, self) == 0) {
        self->thread_count++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
}

/* Make blocks and events that are missing. */
static void
staging_make_memory(staging *self, size_t blocks, size_t pieces)
{
    while (self->block_count < blocks && !self->has_failed) {
        self->has_failed =
            state.plain.MemHostAlloc(&self->blocks[self->block_count],
                                     self->setting.piece, 0) != CUDA_SUCCESS;
        self->block_count += !self->has_failed;
    }
    while (self->event_count < pieces && !self->has_failed) {
        self->has_failed =
            state.plain.EventCreate(&self->pieces[self->event_count].event,
                                    CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS;
        self->event_count += !self->has_failed;
    }
}

/* Give the parts of the copy their places. Return whether there are enough. */
static bool
staging_place(staging *self, const staging_job *job)
{
    size_t each = self->setting.piece / job->part;
    size_t pieces = self->most_blocks * each;
    pieces = pieces < job->count ? pieces : job->count;
    pieces = pieces < STAGING_MOST_PIECES ? pieces : STAGING_MOST_PIECES;
    staging_make_memory(self, (pieces + each - 1) / each, pieces);
    if (pieces > self->block_count * each) {
        pieces = self->block_count * each;
    }
    if (pieces > self->event_count) {
        pieces = self->event_count;
    }
    for (size_t i = 0; i < pieces; i++) {
        self->pieces[i].memory = (char *)self->blocks[i / each] + i % each * job->part;
        self->pieces[i].ended = 0;
    }
    self->job = *job;
    self->used = pieces;
    return pieces >= 2;
}

/* -- one copy ---------------------------------------------------------------------- */

/* What the thread of the copy knows. The parts pass in order: submitted to the bus, and
 * passed by it. */
typedef struct {
    CUstream stream;
    size_t submitted;
    size_t passed;
    CUresult status;
    uint64_t polled;
    bool has_polled;
} staging_run;

static void
run_submit(staging *self, staging_run *run)
{
    const staging_job *job = &self->job;
    size_t part = run->submitted;
    staging_piece *piece = &self->pieces[part % self->used];
    size_t offset = job_offset(job, part);
    size_t size = job_size(job, part);
    if (job->up) {
        run->status = state.plain.MemcpyHtoDAsync(job->device + offset, piece->memory,
                                                  size, run->stream);
    }
    else {
        run->status = state.plain.MemcpyDtoHAsync(piece->memory, job->device + offset,
                                                  size, run->stream);
    }
    if (run->status == CUDA_SUCCESS) {
        run->status = state.plain.EventRecord(piece->event, run->stream);
        run->submitted += run->status == CUDA_SUCCESS;
    }
}

/* Count the parts that the bus has moved. wait: at least one. */
static void
run_pass(staging *self, staging_run *run, bool wait)
{
    while (run->status == CUDA_SUCCESS && run->passed < run->submitted) {
        CUevent event = self->pieces[run->passed % self->used].event;
        CUresult status =
            wait ? state.plain.EventSynchronize(event) : state.plain.EventQuery(event);
        if (status == CUDA_ERROR_NOT_READY) {
            return;
        }
        run->status = status;
        run->passed += status == CUDA_SUCCESS;
        wait = false;
    }
}

/* Run the handlers of signals from time to time. */
static void
run_poll(staging_run *run)
{
    uint64_t now = pcu_nanoseconds();
    if (now - run->polled < STAGING_HOST_NS || run->status != CUDA_SUCCESS) {
        return;
    }
    run->has_polled = true;
    if (state.host(STAGING_POLL) != 0) {
        run->status = CUDA_ERROR_TIMEOUT;
    }
    run->polled = pcu_nanoseconds();
}

/* Whether the bus can take the next part: the threads have filled its piece, or, in the
 * other direction, emptied it. The lock is held. */
static bool
run_can_submit(const staging *self, const staging_run *run)
{
    size_t part = run->submitted;
    if (part == self->job.count) {
        return false;
    }
    size_t ended = self->pieces[part % self->used].ended;
    if (self->job.up) {
        return ended == part + 1;
    }
    return part < self->used || ended == part - self->used + 1;
}

/* The parts that the threads may copy. The lock is held. */
static void
run_allow(staging *self, const staging_run *run)
{
    size_t allowed = run->passed;
    if (self->job.up) {
        allowed = run->passed + self->used;
    }
    if (allowed > self->job.count) {
        allowed = self->job.count;
    }
    if (allowed > self->allowed) {
        self->allowed = allowed;
        pthread_cond_broadcast(&self->work);
    }
}

/* Do what is next: give the bus a part, copy one, or wait for the other threads or for
 * the bus. The lock is held, but not during calls of the driver. */
static void
run_step(staging *self, staging_run *run)
{
    bool submits = run_can_submit(self, run);
    bool copies = !submits && self->taken < self->allowed;
    bool is_last = self->job.up && self->taken == self->job.count;
    if (copies) {
        staging_copy_next(self);
    }
    else if (!submits && self->running != 0 &&
             (is_last || run->passed == run->submitted)) {
        pthread_cond_wait(&self->done, &self->lock);
        return;
    }
    pthread_mutex_unlock(&self->lock);
    if (submits) {
        run_submit(self, run);
    }
    run_pass(self, run, !submits && !copies);
    run_poll(run);
    pthread_mutex_lock(&self->lock);
    run_allow(self, run);
}

/* Let no part of a failed copy begin, and wait for those that have begun. */
static void
run_drain(staging *self, const staging_run *run)
{
    pthread_mutex_lock(&self->lock);
    self->taken = self->allowed = 0;
    while (self->running != 0) {
        pthread_cond_wait(&self->done, &self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    if (run->passed < run->submitted) { /* the first error counts */
        const staging_piece *last = &self->pieces[(run->submitted - 1) % self->used];
        (void)state.plain.EventSynchronize(last->event);
    }
}

static bool
run_is_over(const staging *self, const staging_run *run)
{
    size_t count = self->job.count;
    return run->passed == count && self->taken == count && self->running == 0;
}

static CUresult
staging_run_job(staging *self, CUstream stream)
{
    staging_run run = {.stream = stream, .polled = pcu_nanoseconds()};
    run.status = state.plain.StreamQuery(stream);
    if (run.status == CUDA_ERROR_NOT_READY) {
        run.status = state.plain.StreamSynchronize(stream);
    }
    if (run.status != CUDA_SUCCESS) {
        return run.status;
    }
    pthread_mutex_lock(&self->lock);
    self->taken = self->allowed = 0;
    run_allow(self, &run);
    while (run.status == CUDA_SUCCESS && !run_is_over(self, &run)) {
        run_step(self, &run);
    }
    pthread_mutex_unlock(&self->lock);
    run_drain(self, &run);
    if (run.has_polled) {
        (void)state.host(STAGING_RETURN);
    }
    return run.status;
}

/* Divide the copy into parts. Parts begin at multiples of their size in host memory, so
 * that no two threads fault in the same page. A small copy has smaller parts, so that
 * each thread gets some. */
static void
job_divide(staging_job *job, size_t piece, size_t threads)
{
    enum { LEAST = 64 << 10, EACH = 4 };
    job->part = piece;
    while (job->part > LEAST && job->size / job->part < EACH * threads) {
        job->part /= 2;
    }
    job->first = job->part - (size_t)((uintptr_t)job->host % job->part);
    if (job->first > job->size) {
        job->first = job->size;
    }
    job->count = 1 + (job->size - job->first + job->part - 1) / job->part;
}

/* -- taking the pieces ------------------------------------------------------------- */

static size_t
setting_threads(const pcu_staging_setting *setting)
{
    enum { USUAL = 4 };
    size_t most = staging_processors();
    size_t threads = setting->threads == 0 ? USUAL : setting->threads;
    threads = threads < most ? threads : most;
    return threads < STAGING_MOST_THREADS ? threads : STAGING_MOST_THREADS;
}

static size_t
setting_blocks(const pcu_staging_setting *setting)
{
    size_t blocks = setting->total / setting->piece;
    return blocks < STAGING_MOST_BLOCKS ? blocks : STAGING_MOST_BLOCKS;
}

/* Read the variable. The lock of the list is held. */
static void
state_read_setting(void)
{
    pcu_staging_setting setting;
    size_t from = SIZE_MAX;
    bool is_set = pcu_setting_read_staging(&setting) == 1;
    bool wanted = is_set || pcu_drv_info.device == NULL;
    if (wanted && setting_blocks(&setting) >= 2 && setting_threads(&setting) > 1) {
        from = setting.from;
    }
    state.setting = setting;
    atomic_store(&state.from, from);
}

static staging *
staging_new(CUcontext context)
{
    staging *self = calloc(1, sizeof(*self));
    if (self != NULL) {
        self->context = context;
        self->setting = state.setting;
        self->most_blocks = setting_blocks(&self->setting);
        (void)pthread_mutex_init(&self->lock, NULL); /* cannot fail on Linux */
        (void)pthread_cond_init(&self->work, NULL);
        (void)pthread_cond_init(&self->done, NULL);
        self->next = state.first;
        state.first = self;
    }
    return self;
}

/* The pieces of a context for one copy, NULL if another copy uses them. */
static staging *
staging_take(CUcontext context)
{
    pthread_mutex_lock(&state.lock);
    staging *self = state.first;
    while (self != NULL && self->context != context) {
        self = self->next;
    }
    if (self == NULL) {
        self = staging_new(context);
    }
    if (self != NULL && self->is_busy) {
        self = NULL;
    }
    if (self != NULL) {
        self->is_busy = true;
    }
    pthread_mutex_unlock(&state.lock);
    return self;
}

static void
staging_give(staging *self)
{
    pthread_mutex_lock(&state.lock);
    self->is_busy = false;
    pthread_cond_broadcast(&state.idle);
    pthread_mutex_unlock(&state.lock);
}

/* Free the pieces unless their context has ended, which freed them. */
static void
staging_free_memory(staging *self)
{
    CUcontext popped = NULL;
    if (state.plain.CtxPushCurrent(self->context) != CUDA_SUCCESS) {
        return;
    }
    for (size_t i = 0; i < self->event_count; i++) {
        (void)state.plain.EventDestroy(
            self->pieces[i].event); /* of a context that is */
    }
    for (size_t i = 0; i < self->block_count; i++) {
        (void)state.plain.MemFreeHost(self->blocks[i]); /* lost, perhaps */
    }
    (void)state.plain.CtxPopCurrent(&popped); /* it may report earlier work */
}

static size_t
staging_free(staging *self)
{
    size_t bytes = self->block_count * self->setting.piece;
    staging_free_memory(self);
    pthread_mutex_lock(&self->lock);
    self->ends = true;
    pthread_cond_broadcast(&self->work);
    pthread_mutex_unlock(&self->lock);
    for (size_t i = 0; i < self->thread_count; i++) {
        (void)pthread_join(self->threads[i], NULL);
    }
    (void)pthread_mutex_destroy(&self->lock);
    (void)pthread_cond_destroy(&self->work);
    (void)pthread_cond_destroy(&self->done);
    free(self);
    return bytes;
}

size_t
pcu_staging_release(CUcontext context)
{
    size_t bytes = 0;
    if (!state.has_begun || pcu_drv_info.state != PCU_DRV_READY) {
        return 0;
    }
    pthread_mutex_lock(&state.lock);
    staging **link = &state.first;
    while (*link != NULL && ((*link)->context != context || (*link)->is_busy)) {
        if ((*link)->context == context) {
            pthread_cond_wait(&state.idle, &state.lock);
            link = &state.first; /* the list may have changed */
        }
        else {
            link = &(*link)->next;
        }
    }
    staging *self = *link;
    if (self != NULL) {
        *link = self->next;
    }
    state_read_setting();
    pthread_mutex_unlock(&state.lock);
    if (self != NULL) {
        bytes = staging_free(self);
    }
    return bytes;
}

/* -- the functions of the table ---------------------------------------------------- */

/* Whether the driver knows the host memory: page-locked, registered, managed. */
static bool
copy_is_known(const void *host)
{
    unsigned int type = 0;
    CUresult status = state.plain.PointerGetAttribute(
        &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)host);
    return status == CUDA_SUCCESS;
}

/* Whether the range is inside an allocation. Otherwise the driver refuses the copy
 * before it copies anything. */
static bool
copy_is_inside(CUdeviceptr device, size_t size)
{
    CUdeviceptr base = 0;
    size_t room = 0;
    CUresult status = state.plain.MemGetAddressRange(&base, &room, device);
    size_t offset = (size_t)(device - base);
    return status == CUDA_SUCCESS && offset <= room && size <= room - offset;
}

static bool
copy_is_captured(CUstream stream)
{
    CUstreamCaptureStatus captured = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    CUresult status = state.plain.StreamIsCapturing(
        stream == NULL ? CU_STREAM_LEGACY : stream, &captured);
    return status != CUDA_SUCCESS || captured != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Copy through the pieces. CUDA_ERROR_NOT_FOUND: the driver is to copy. Pieces cost
 * time, so they are made when enough was copied that they pay. */
static CUresult
copy_staged(void *host, CUdeviceptr device, size_t size, CUstream stream, bool up)
{
    pcu_context_record *rec = pcu_context_record_working();
    if (rec == NULL || rec->kind == PCU_CTX_FOREIGN || pcu_captures != NULL ||
        pcu_in_host_function || copy_is_known(host) || copy_is_captured(stream) ||
        !copy_is_inside(device, size)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    staging *self = staging_take(rec->handle);
    if (self == NULL) {
        return CUDA_ERROR_NOT_FOUND;
    }
    CUresult status = CUDA_ERROR_NOT_FOUND;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult exchanged = state.plain.ThreadExchangeStreamCaptureMode(&mode);
    size_t threads = setting_threads(&self->setting);
    staging_job job = {.host = host,
                       .device = device,
                       .size = size,
                       .up = up,
                       .streaming = self->setting.streaming != 0,
                       .populate = self->setting.populate != 0};
    job_divide(&job, self->setting.piece, threads);
    if (self->block_count != 0 && !copy_is_known(self->blocks[0])) {
        self->block_count = self->event_count =
            0; /* another library reset the context */
    }
    self->seen += size;
    if (threads > 1 && self->seen >= self->setting.after && staging_place(self, &job)) {
        staging_make_threads(self, threads - 1);
        status = staging_run_job(self, stream);
    }
    if (exchanged == CUDA_SUCCESS) {
        (void)state.plain.ThreadExchangeStreamCaptureMode(&mode); /* it was valid */
    }
    staging_give(self);
    return status;
}

static bool
copy_is_large(size_t size)
{
    return size >= atomic_load_explicit(&state.from, memory_order_relaxed);
}

/* A function of the table. `host` is not written if `up`. */
#define STAGING_COPY(name, up, stream, plain_arguments, ...)                        \
    static CUresult staging_##name(__VA_ARGS__)                                     \
    {                                                                               \
        CUresult status = CUDA_ERROR_NOT_FOUND;                                     \
        if (copy_is_large(size)) {                                                  \
            status =                                                                \
                copy_staged((void *)(uintptr_t)host, device, size, (stream), (up)); \
        }                                                                           \
        if (status == CUDA_ERROR_NOT_FOUND) {                                       \
            status = state.plain.name plain_arguments;                              \
        }                                                                           \
        return status;                                                              \
    }
STAGING_COPY(MemcpyHtoD, true, NULL, (device, host, size), CUdeviceptr device,
             const void *host, size_t size)
STAGING_COPY(MemcpyDtoH, false, NULL, (host, device, size), void *host,
             CUdeviceptr device, size_t size)
STAGING_COPY(MemcpyHtoDAsync, true, stream, (device, host, size, stream),
             CUdeviceptr device, const void *host, size_t size, CUstream stream)
STAGING_COPY(MemcpyDtoHAsync, false, stream, (host, device, size, stream), void *host,
             CUdeviceptr device, size_t size, CUstream stream)

void
pcu_staging_begin(int (*host)(int question))
{
    if (state.has_begun) {
        return;
    }
    pthread_mutex_lock(&state.lock);
    state_read_setting();
    pthread_mutex_unlock(&state.lock);
    if (atomic_load(&state.from) == SIZE_MAX && pcu_drv_info.device != NULL) {
        return;
    }
    state.has_begun = true;
    state.host = host;
    state.plain = drv;
    drv.MemcpyHtoD = staging_MemcpyHtoD;
    drv.MemcpyDtoH = staging_MemcpyDtoH;
    drv.MemcpyHtoDAsync = staging_MemcpyHtoDAsync;
    drv.MemcpyDtoHAsync = staging_MemcpyDtoHAsync;
}
