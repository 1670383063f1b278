/* Large copies of ordinary host memory: see staging.h. */
#define _GNU_SOURCE /* sched_getaffinity, MADV_HUGEPAGE, preadv2 */

#include "driver/staging.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

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
    STAGING_USUAL_THREADS = 8,
    STAGING_FEW_THREADS = 4, /* more of them take longer to wake than to copy */
    STAGING_MOST_PIECES = 256,
    STAGING_LEAST_PART = 64 << 10,
    STAGING_LEAST_BLOCK = 4096,
    STAGING_LARGEST_BLOCK = 2 << 20, /* the processor's caches keep some of them */
    STAGING_BLOCKS = 32              /* of the usual total */
};

/* -- the setting ------------------------------------------------------------------- */

/* The sizes follow from the bytes of all pieces, so that a test can have small ones.
 * Copies to the device have more to gain from the driver's own way. */
typedef struct {
    size_t block;   /* bytes of the largest piece */
    size_t blocks;  /* their number */
    size_t threads; /* with the caller's */
    size_t from;    /* bytes of the smallest copy; SIZE_MAX: none */
    size_t few;     /* a smaller copy has few threads */
    size_t after;   /* bytes of such copies before pieces are made: they cost time */
} staging_sizes;

enum { STAGING_UP = 4 }; /* the smallest copy to the device is so much larger */

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

/* Half of the processors, but two if there are as many. */
static size_t
staging_usual_threads(void)
{
    size_t processors = staging_processors();
    size_t threads = processors < 4 ? (processors < 2 ? 1 : 2) : processors / 2;
    return threads < STAGING_USUAL_THREADS ? threads : STAGING_USUAL_THREADS;
}

static staging_sizes
staging_sizes_of(const pcu_staging_setting *setting)
{
    staging_sizes sizes = {.block = STAGING_LARGEST_BLOCK, .from = SIZE_MAX};
    while (sizes.block > STAGING_LEAST_BLOCK &&
           sizes.block > setting->total / STAGING_BLOCKS) {
        sizes.block /= 2;
    }
    sizes.blocks = setting->total / sizes.block;
    sizes.threads = setting->threads == 0 ? staging_usual_threads() : setting->threads;
    if (sizes.threads > STAGING_MOST_THREADS) {
        sizes.threads = STAGING_MOST_THREADS;
    }
    sizes.few = 8 * sizes.block;
    sizes.after = sizes.blocks * sizes.block;
    if (sizes.after > (size_t)STAGING_BLOCKS * STAGING_LARGEST_BLOCK) {
        sizes.after = (size_t)STAGING_BLOCKS * STAGING_LARGEST_BLOCK;
    }
    if (sizes.threads > 1 && sizes.blocks > 1) {
        sizes.from = sizes.block;
    }
    return sizes;
}

/* -- the pieces of a context ------------------------------------------------------- */

/* A place for one part of a copy. A block has one, or several that are smaller. */
typedef struct {
    CUevent event; /* recorded behind the copy of the bus */
    char *memory;  /* during a copy */
    size_t ended;  /* 1 + the last part that a thread has copied; the lock guards it */
} staging_piece;

/* A copy: a sequence of parts, each of which passes through piece `part % used`. */
typedef struct {
    char *host;
    const pcu_staging_view *view; /* the source, in place of `host`; or NULL */
    pcu_staging_file *file;       /* in place of `host`; or NULL */
    CUdeviceptr device;
    size_t size;
    size_t first; /* bytes of part 0: the next ones begin at multiples of `part` */
    size_t part;
    size_t count;   /* of parts */
    size_t threads; /* that copy at a time */
    bool up;
} staging_job;

typedef struct staging {
    struct staging *next;
    CUcontext context;
    bool is_busy; /* a copy uses it; the lock of the list guards it */
    bool has_failed;
    staging_sizes sizes;
    size_t seen;   /* bytes of the large copies so far */
    void *mapped;  /* NULL: no memory yet */
    char *memory;  /* the blocks, in it */
    size_t locked; /* the blocks before it are page-locked */
    staging_piece pieces[STAGING_MOST_PIECES];
    size_t event_count;
    pthread_t workers[STAGING_MOST_THREADS];
    size_t worker_count;
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
    staging_sizes sizes;
    atomic_size_t from; /* sizes.from */
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

/* Copy `count` elements that have the distance `step`. */
static inline void
view_copy_items(char *to, const char *from, size_t count, size_t size, ptrdiff_t step)
{
    for (size_t i = 0; i < count; i++) {
        memcpy(to + i * size, from + (ptrdiff_t)i * step, size);
    }
}

/* A constant size makes the copy of an element one instruction. */
static void
view_copy_run(char *to, const char *from, size_t count, size_t size, ptrdiff_t step)
{
    if (step == (ptrdiff_t)size) {
        memcpy(to, from, count * size);
        return;
    }
    switch (size) {
        case 1:
            view_copy_items(to, from, count, 1, step);
            break;
        case 2:
            view_copy_items(to, from, count, 2, step);
            break;
        case 4:
            view_copy_items(to, from, count, 4, step);
            break;
        case 8:
            view_copy_items(to, from, count, 8, step);
            break;
        case 16:
            view_copy_items(to, from, count, 16, step);
            break;
        default:
            view_copy_items(to, from, count, size, step);
    }
}

/* Copy a range of the view's bytes, whole elements, to packed memory. */
static void
view_copy(char *to, const pcu_staging_view *view, size_t offset, size_t size)
{
    size_t index[PCU_MAX_NDIM];
    const char *from = view->data;
    size_t rest = offset / view->itemsize;
    int last = view->ndim - 1;
    for (int i = last; i >= 0; i--) {
        index[i] = rest % view->shape[i];
        rest /= view->shape[i];
        from += (ptrdiff_t)index[i] * view->strides[i];
    }
    size_t count = size / view->itemsize;
    while (count != 0) {
        size_t run = view->shape[last] - index[last];
        run = run < count ? run : count;
        view_copy_run(to, from, run, view->itemsize, view->strides[last]);
        to += run * view->itemsize;
        count -= run;
        index[last] += run;
        from += (ptrdiff_t)run * view->strides[last];
        for (int i = last; i > 0 && index[i] == view->shape[i]; i--) {
            from += view->strides[i - 1] - (ptrdiff_t)index[i] * view->strides[i];
            index[i] = 0;
            index[i - 1]++;
        }
    }
}

enum { FILE_FROM_DISK = -1 };

/* Read some bytes. *result: FILE_FROM_DISK if the page cache does not have them. */
static ssize_t
file_read(int fd, char *piece, size_t size, off_t place, int *result)
{
    struct iovec range = {piece, size};
    ssize_t moved = preadv2(fd, &range, 1, place, RWF_NOWAIT);
    if (moved >= 0 || errno == EINTR) {
        return moved;
    }
    if (errno == EAGAIN) {
        *result = FILE_FROM_DISK;
    } /* else the file system does not know */
    return pread(fd, piece, size, place);
}

/* Move a range of the file's bytes. Return errno, FILE_FROM_DISK or 0. */
static int
file_move(const pcu_staging_file *file, size_t offset, char *piece, size_t size,
          bool up)
{
    int result = 0;
    while (size != 0) {
        off_t place = (off_t)(file->offset + offset);
        ssize_t moved = up ? file_read(file->fd, piece, size, place, &result)
                           : pwrite(file->fd, piece, size, place);
        if (moved == 0) {
            return ENODATA;
        }
        if (moved < 0 && errno != EINTR) {
            return errno;
        }
        if (moved > 0) {
            offset += (size_t)moved;
            piece += moved;
            size -= (size_t)moved;
        }
    }
    return result;
}

/* Return 0, or what file_move returns. */
static int
staging_copy_part(const staging *self, size_t part)
{
    const staging_job *job = &self->job;
    char *piece = self->pieces[part % self->used].memory;
    size_t offset = job_offset(job, part);
    size_t size = job_size(job, part);
    if (job->file != NULL) {
        return file_move(job->file, offset, piece, size, job->up);
    }
    if (job->view != NULL) {
        view_copy(piece, job->view, offset, size);
    }
    else if (job->up) {
        memcpy(piece, job->host + offset, size);
    }
    else {
        memcpy(job->host + offset, piece, size);
    }
    return 0;
}

/* Whether a thread may copy the next part. The lock is held. */
static bool
staging_can_copy(const staging *self)
{
    return self->taken < self->allowed && self->running < self->job.threads;
}

/* Wake as many threads as there is work for. The lock is held. */
static void
staging_wake(staging *self)
{
    size_t threads = self->job.threads;
    size_t missing = threads > self->running ? threads - self->running : 0;
    size_t parts = self->allowed - self->taken;
    for (missing = missing < parts ? missing : parts; missing != 0; missing--) {
        pthread_cond_signal(&self->work);
    }
}

/* Copy the next part, which is allowed. The lock is held, but not during the copy. */
static void
staging_copy_next(staging *self)
{
    size_t part = self->taken++;
    self->running++;
    pthread_mutex_unlock(&self->lock);
    int result = staging_copy_part(self, part);
    pthread_mutex_lock(&self->lock);
    if (result == FILE_FROM_DISK) {
        self->job.threads = 1; /* the system reads ahead of reads that are in order */
    }
    else if (result != 0) {
        self->job.file->error = result;
    }
    self->running--;
    self->pieces[part % self->used].ended = part + 1;
}

static void *
staging_thread(void *argument)
{
    staging *self = argument;
    pthread_mutex_lock(&self->lock);
    while (!self->ends) {
        if (staging_can_copy(self)) {
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
    bool makes = self->worker_count < wanted && pthread_attr_init(&attributes) == 0;
    if (!makes) {
        return;
    }
    (void)pthread_attr_setstacksize(&attributes, (size_t)256 << 10);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (self->worker_count < wanted &&
           pthread_create(&self->workers[self->worker_count], &attributes,
                          staging_thread, self) == 0) {
        self->worker_count++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
}

/* Map the memory of the blocks. A child process does not get it: the driver would still
 * write to the parent's. */
static void
staging_map(staging *self)
{
    size_t size = (self->sizes.blocks + 1) * self->sizes.block;
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        self->has_failed = true;
        return;
    }
    (void)madvise(mapped, size, MADV_DONTFORK); /* known since Linux 2.6.16 */
    (void)madvise(mapped, size, MADV_HUGEPAGE); /* a kernel may lack them */
    self->mapped = mapped;
    size_t beyond = (uintptr_t)mapped % self->sizes.block;
    self->memory = (char *)mapped + (beyond == 0 ? 0 : self->sizes.block - beyond);
}

/* Lock the pages of a piece before the bus uses it for the first time: all at once take
 * longer than the first copy. If that fails, the driver copies the piece as other
 * memory, and the next copies. */
static void
staging_lock(staging *self, const staging_piece *piece)
{
    size_t block = (size_t)(piece->memory - self->memory) / self->sizes.block;
    if (block < self->locked || self->has_failed) {
        return;
    }
    self->has_failed =
        state.plain.MemHostRegister(self->memory + block * self->sizes.block,
                                    self->sizes.block, 0) != CUDA_SUCCESS;
    self->locked += !self->has_failed; /* parts come in order, and so do blocks */
}

/* Map the memory and make the events that are missing. */
static void
staging_make(staging *self, size_t pieces)
{
    if (self->mapped == NULL) {
        staging_map(self);
    }
    while (self->event_count < pieces && !self->has_failed) {
        self->has_failed =
            state.plain.EventCreate(&self->pieces[self->event_count].event,
                                    CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS;
        self->event_count += !self->has_failed;
    }
}

/* Give the parts of the copy their places. Return whether there are some. */
static bool
staging_place(staging *self, const staging_job *job)
{
    size_t each = self->sizes.block / job->part;
    size_t pieces = self->sizes.blocks * each;
    pieces = pieces < job->count ? pieces : job->count;
    pieces = pieces < STAGING_MOST_PIECES ? pieces : STAGING_MOST_PIECES;
    staging_make(self, pieces);
    if (self->has_failed) {
        return false;
    }
    for (size_t i = 0; i < pieces; i++) {
        self->pieces[i].memory = self->memory + i * job->part;
        self->pieces[i].ended = 0;
    }
    pthread_mutex_lock(&self->lock);
    self->job = *job;
    self->used = pieces;
    pthread_mutex_unlock(&self->lock);
    return true;
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
    staging_lock(self, piece);
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
    }
    staging_wake(self);
}

/* Do what is next: give the bus a part, copy one, or wait for the other threads or for
 * the bus. The lock is held, but not during calls of the driver. */
static void
run_step(staging *self, staging_run *run)
{
    bool submits = run_can_submit(self, run);
    bool copies = !submits && staging_can_copy(self);
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

/* The lock is held. */
static bool
run_has_failed(const staging *self, const staging_run *run)
{
    const pcu_staging_file *file = self->job.file;
    return run->status != CUDA_SUCCESS || (file != NULL && file->error != 0);
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
    while (!run_has_failed(self, &run) && !run_is_over(self, &run)) {
        run_step(self, &run);
    }
    pthread_mutex_unlock(&self->lock);
    run_drain(self, &run);
    if (run.status == CUDA_SUCCESS && run_has_failed(self, &run)) {
        run.status = CUDA_ERROR_OPERATING_SYSTEM;
    }
    if (run.has_polled) {
        (void)state.host(STAGING_RETURN);
    }
    return run.status;
}

/* Divide the copy into parts. Parts begin at multiples of their size in host memory or
 * the file, so that no two threads use the same page. A small copy has smaller parts,
 * so that each thread gets some. */
static void
job_divide(staging_job *job, const staging_sizes *sizes)
{
    enum { EACH = 4 };
    size_t most = job->size < sizes->few ? STAGING_FEW_THREADS : STAGING_MOST_THREADS;
    job->threads = sizes->threads < most ? sizes->threads : most;
    job->part = sizes->block;
    while (job->part > STAGING_LEAST_PART &&
           job->size / job->part < EACH * job->threads) {
        job->part /= 2;
    }
    size_t place = job->file != NULL ? job->file->offset : (uintptr_t)job->host;
    job->first = job->part - place % job->part;
    if (job->first > job->size) {
        job->first = job->size;
    }
    job->count = 1 + (job->size - job->first + job->part - 1) / job->part;
}

/* -- taking the pieces ------------------------------------------------------------- */

/* Read the variable. The lock of the list is held. */
static void
state_read_setting(void)
{
    pcu_staging_setting setting;
    bool is_set = pcu_setting_read_staging(&setting) == 1;
    state.sizes = staging_sizes_of(&setting);
    if (!is_set && pcu_drv_info.device != NULL) {
        state.sizes.from = SIZE_MAX;
    }
    atomic_store(&state.from, state.sizes.from);
}

static staging *
staging_new(CUcontext context)
{
    staging *self = calloc(1, sizeof(*self));
    if (self != NULL) {
        self->context = context;
        self->sizes = state.sizes;
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

/* Free what the driver has of the pieces, unless their context has ended, which freed
 * that. The context may be lost, so all statuses are ignored. */
static void
staging_free_resources(staging *self)
{
    CUcontext popped = NULL;
    if (state.plain.CtxPushCurrent(self->context) != CUDA_SUCCESS) {
        return;
    }
    for (size_t i = 0; i < self->event_count; i++) {
        (void)state.plain.EventDestroy(self->pieces[i].event);
    }
    for (size_t i = 0; i < self->locked; i++) {
        (void)state.plain.MemHostUnregister(self->memory + i * self->sizes.block);
    }
    (void)state.plain.CtxPopCurrent(&popped);
}

static size_t
staging_free(staging *self)
{
    size_t bytes = self->locked * self->sizes.block;
    staging_free_resources(self);
    pthread_mutex_lock(&self->lock);
    self->ends = true;
    pthread_cond_broadcast(&self->work);
    pthread_mutex_unlock(&self->lock);
    for (size_t i = 0; i < self->worker_count; i++) {
        (void)pthread_join(self->workers[i], NULL);
    }
    if (self->mapped != NULL) {
        size_t size = (self->sizes.blocks + 1) * self->sizes.block;
        (void)munmap(self->mapped, size); /* cannot fail: it is what was mapped */
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

/* Let the pieces pass a copy that no capture sees. Pieces cost time, so they are made
 * when enough was copied that they pay. */
static CUresult
copy_run(staging *self, staging_job *job, CUstream stream)
{
    CUresult status = CUDA_ERROR_NOT_FOUND;
    job_divide(job, &self->sizes);
    if (self->locked != 0 && !copy_is_known(self->memory)) {
        self->locked = self->event_count = 0; /* another library reset the context */
    }
    if (self->seen < self->sizes.after) {
        self->seen += job->size;
    }
    if (self->seen >= self->sizes.after && staging_place(self, job)) {
        staging_make_threads(self, self->sizes.threads - 1);
        status = staging_run_job(self, stream);
    }
    return status;
}

/* Copy through the pieces. CUDA_ERROR_NOT_FOUND: they are not used. */
static CUresult
copy_staged(staging_job *job, CUstream stream)
{
    const void *host = job->view != NULL ? job->view->data : job->host;
    pcu_context_record *rec = pcu_context_record_working();
    if (rec == NULL || rec->kind == PCU_CTX_FOREIGN || pcu_captures != NULL ||
        pcu_in_host_function || (job->file == NULL && copy_is_known(host)) ||
        copy_is_captured(stream) || !copy_is_inside(job->device, job->size)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    staging *self = staging_take(rec->handle);
    if (self == NULL) {
        return CUDA_ERROR_NOT_FOUND;
    }
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult exchanged = state.plain.ThreadExchangeStreamCaptureMode(&mode);
    CUresult status = copy_run(self, job, stream);
    if (exchanged == CUDA_SUCCESS) {
        (void)state.plain.ThreadExchangeStreamCaptureMode(&mode); /* it was valid */
    }
    staging_give(self);
    return status;
}

static bool
copy_is_large(size_t size, bool up)
{
    size_t from = atomic_load_explicit(&state.from, memory_order_relaxed);
    return (up ? size / STAGING_UP : size) >= from;
}

/* A function of the table. `host` is not written if `up`. */
#define STAGING_COPY(name, is_up, stream, plain_arguments, ...) \
    static CUresult staging_##name(__VA_ARGS__)                 \
    {                                                           \
        CUresult status = CUDA_ERROR_NOT_FOUND;                 \
        if (copy_is_large(size, (is_up))) {                     \
            staging_job job = {.host = (char *)(uintptr_t)host, \
                               .device = device,                \
                               .size = size,                    \
                               .up = (is_up)};                  \
            status = copy_staged(&job, (stream));               \
        }                                                       \
        if (status == CUDA_ERROR_NOT_FOUND) {                   \
            status = state.plain.name plain_arguments;          \
        }                                                       \
        return status;                                          \
    }
STAGING_COPY(MemcpyHtoD, true, NULL, (device, host, size), CUdeviceptr device,
             const void *host, size_t size)
STAGING_COPY(MemcpyDtoH, false, NULL, (host, device, size), void *host,
             CUdeviceptr device, size_t size)
STAGING_COPY(MemcpyHtoDAsync, true, stream, (device, host, size, stream),
             CUdeviceptr device, const void *host, size_t size, CUstream stream)
STAGING_COPY(MemcpyDtoHAsync, false, stream, (host, device, size, stream), void *host,
             CUdeviceptr device, size_t size, CUstream stream)

/* Leave out axes of length 1, and join two axes that are one in memory. */
static void
view_simplify(pcu_staging_view *view)
{
    int ndim = 0;
    for (int i = 0; i < view->ndim; i++) {
        size_t length = view->shape[i];
        ptrdiff_t stride = view->strides[i];
        if (length == 1 && (ndim != 0 || i + 1 < view->ndim)) {
            continue;
        }
        bool joins = ndim != 0 && view->strides[ndim - 1] == (ptrdiff_t)length * stride;
        if (joins) {
            ndim--;
            length *= view->shape[ndim];
        }
        view->shape[ndim] = length;
        view->strides[ndim++] = stride;
    }
    view->ndim = ndim;
}

/* Wait for the earlier work of the stream if a copy of the size may use the pieces. */
static CUresult
copy_begin(size_t size, CUstream stream)
{
    if (!state.has_begun || !copy_is_large(size, false) || pcu_captures != NULL ||
        copy_is_captured(stream)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    return drv.StreamSynchronize(stream); /* a signal can end it */
}

CUresult
pcu_staging_pack(CUdeviceptr device, pcu_staging_view *view, size_t size,
                 CUstream stream)
{
    bool is_usual = (view->itemsize & (view->itemsize - 1)) == 0 &&
                    view->itemsize <= STAGING_LEAST_BLOCK;
    if (view->ndim == 0 || !is_usual) {
        return CUDA_ERROR_NOT_FOUND;
    }
    CUresult status = copy_begin(size, stream);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    view_simplify(view);
    staging_job job = {.view = view, .device = device, .size = size, .up = true};
    return copy_staged(&job, stream);
}

CUresult
pcu_staging_file_copy(CUdeviceptr device, pcu_staging_file *file, size_t size, bool up,
                      CUstream stream)
{
    CUresult status = copy_begin(size, stream);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    staging_job job = {.file = file, .device = device, .size = size, .up = up};
    return copy_staged(&job, stream);
}

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
