/* Waits that a signal can end: see waits.h. */
#define _GNU_SOURCE /* memmem */

#include "driver/waits.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "driver/capture.h"
#include "driver/stream_use.h"
#include "driver/ticks.h"

/* The questions of device/machine/warp/wait.h. */
enum { WAIT_POLL, WAIT_RETURN };

/* How a context waits: CUctx_flags. */
enum {
    WAIT_AUTO = 0,
    WAIT_SPIN = 1,
    WAIT_YIELD = 2,
    WAIT_SLEEP = 4,
    WAIT_SCHEDULE = 7,
    WAIT_IS_KNOWN = 1 << 16
};

/* Signals are handled this often. */
#define WAIT_HOST_NS UINT64_C(20000000)
/* A context that sleeps spins before, for as long as the driver's own wait takes. */
#define WAIT_SLEEPER_SPINS_NS UINT64_C(20000)
/* A pause is this part of the wait so far, so it prolongs the wait by less. The driver
 * spins for ever by default. */
#define WAIT_AUTO_SPINS_NS UINT64_C(50000000)
enum { WAIT_SLEEPER_PART = 64, WAIT_AUTO_PART = 512 };
#define WAIT_PAUSE_LEAST_NS UINT64_C(20000)
#define WAIT_PAUSE_MOST_NS UINT64_C(10000000)

static struct {
    int (*host)(int question); /* NULL: the waits are the driver's */
    struct pcu_drv plain;      /* the driver's functions */
    CUevent ended;             /* the event whose end was proved last */
    unsigned long ended_at;    /* pcu_doubts then: graphs may record the event again */
    bool may_print; /* kernels may print: only waits of the driver show the text */
} waits;

PCU_THREAD bool pcu_wait_sleeps;
bool pcu_wait_was_ended;

/* -- waiting ----------------------------------------------------------------------- */

typedef struct {
    CUstream stream;
    CUevent event; /* NULL: wait for the stream */
    unsigned int schedule;
} wait_target;

static CUresult
wait_query(const wait_target *target)
{
    if (target->event != NULL) {
        return waits.plain.EventQuery(target->event);
    }
    return waits.plain.StreamQuery(target->stream);
}

/* Sleep; false if a signal ended that. The slack of the timer, usually 50 us, would be
 * longer than the pause. */
static bool
wait_sleep(uint64_t waited, unsigned int part)
{
    uint64_t pause = waited / part;
    if (pause < WAIT_PAUSE_LEAST_NS) {
        pause = WAIT_PAUSE_LEAST_NS;
    }
    if (pause > WAIT_PAUSE_MOST_NS) {
        pause = WAIT_PAUSE_MOST_NS;
    }
    const struct timespec time = {0, (long)pause};
    int slack = prctl(PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L);
    (void)prctl(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L);
    bool slept = nanosleep(&time, NULL) == 0;
    if (slack > 0) {
        (void)prctl(PR_SET_TIMERSLACK, (long)slack, 0L, 0L, 0L);
    }
    return slept;
}

/* Let time pass until the next question; false if a signal came. */
static bool
wait_pause(unsigned int schedule, uint64_t waited)
{
    if (schedule == WAIT_SPIN) {
        return true;
    }
    if (schedule == WAIT_YIELD) {
        (void)sched_yield();
        return true;
    }
    if (schedule == WAIT_SLEEP) {
        return waited < WAIT_SLEEPER_SPINS_NS || wait_sleep(waited, WAIT_SLEEPER_PART);
    }
    return waited < WAIT_AUTO_SPINS_NS || wait_sleep(waited, WAIT_AUTO_PART);
}

/* Ask until the work has ended. The status of the last question, or
 * CUDA_ERROR_TIMEOUT. */
static CUresult
wait_until(const wait_target *target)
{
    CUresult status = wait_query(target);
    if (status != CUDA_ERROR_NOT_READY) {
        return status;
    }
    bool has_polled = false;
    uint64_t begin = pcu_nanoseconds();
    uint64_t polled = begin;
    while (status == CUDA_ERROR_NOT_READY) {
        uint64_t now = pcu_nanoseconds();
        bool undisturbed = wait_pause(target->schedule, now - begin);
        if (!undisturbed || now - polled > WAIT_HOST_NS) {
            has_polled = true;
            if (waits.host(WAIT_POLL) != 0) {
                status = CUDA_ERROR_TIMEOUT;
                break;
            }
            polled = pcu_nanoseconds();
        }
        status = wait_query(target);
    }
    if (has_polled) {
        (void)waits.host(WAIT_RETURN);
    }
    return status;
}

static bool
wait_is_main(void)
{
    return (unsigned long)pthread_self() == pcu_drv_info.main_thread;
}

/* How a context waits, which is current. */
static unsigned int
wait_schedule(pcu_context_record *rec)
{
    unsigned int flags = WAIT_AUTO;
    if (rec == NULL) {
        return WAIT_AUTO;
    }
    if (rec->schedule == 0) {
        (void)waits.plain.CtxGetFlags(&flags); /* a driver before CUDA 7 has none */
        rec->schedule = (flags & WAIT_SCHEDULE) | WAIT_IS_KNOWN;
    }
    return rec->schedule & WAIT_SCHEDULE;
}

/* A wait for work of the context has ended with the status. `doubts`: the number before
 * it, if it was a wait for all work. */
static void
wait_note(pcu_context_record *rec, CUresult status, const unsigned long *doubts)
{
    if (rec == NULL) {
        return;
    }
    if (status == CUDA_SUCCESS && doubts != NULL) {
        rec->proved = *doubts;
        rec->stuck = false;
    }
    if (status == CUDA_ERROR_TIMEOUT) {
        rec->stuck = true;
        pcu_wait_was_ended = true;
    }
}

/* Whether the default stream waits for all streams of this package. */
static bool
wait_default_is_all(void)
{
    return pcu_stream_tables == 0;
}

/* Wait for the default stream and all blocking streams of the current context. */
static CUresult
wait_for_default(pcu_context_record *rec)
{
    const unsigned long doubts = pcu_doubts;
    const wait_target target = {.schedule = wait_schedule(rec)};
    CUresult status = wait_until(&target);
    wait_note(rec, status, wait_default_is_all() ? &doubts : NULL);
    return status;
}

/* An event behind all work of the current context, also that of other libraries. False
 * if the driver (before CUDA 12.5) has none, or a capture is active. */
static bool
wait_record(pcu_context_record *rec)
{
    if (rec->idle == NULL &&
        waits.plain.EventCreate(&rec->idle, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
        rec->idle = NULL;
        return false;
    }
    return waits.plain.CtxRecordEvent(rec->handle, rec->idle) == CUDA_SUCCESS;
}

/* Wait for all work of a context, which is current. False if that cannot be asked for:
 * *status then is that of the default stream. */
static bool
wait_for_all(pcu_context_record *rec, CUresult *status)
{
    const unsigned long doubts = pcu_doubts;
    if (!wait_record(rec)) {
        *status = wait_for_default(rec);
        return false;
    }
    const wait_target target = {.event = rec->idle, .schedule = wait_schedule(rec)};
    *status = wait_until(&target);
    wait_note(rec, *status, &doubts);
    return true;
}

static bool
wait_is_doubtful(const pcu_context_record *rec)
{
    return rec != NULL && rec->proved != pcu_doubts;
}

/* Whether another library captures a blocking stream: a question for the default stream
 * would end its capture. */
static bool
wait_is_captured(void)
{
    CUstreamCaptureStatus captured = CU_STREAM_CAPTURE_STATUS_NONE;
    return waits.plain.StreamIsCapturing(CU_STREAM_LEGACY, &captured) ==
           CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

/* The record of the current context if a wait for its work makes sense: in the main
 * thread, in doubt, outside of captures. Else NULL. */
static pcu_context_record *
wait_record_in_doubt(void)
{
    pcu_context_record *rec = NULL;
    if (wait_is_main() && pcu_captures == NULL) {
        rec = pcu_context_record_working();
    }
    if (!wait_is_doubtful(rec) || wait_is_captured()) {
        return NULL;
    }
    return rec;
}

/* Before a call that waits until the context is idle, or a copy that waits for the
 * default stream: CUDA_ERROR_TIMEOUT if a signal has ended the wait. The call itself
 * reports all other failures. An event behind all streams would end a capture that
 * another library makes in a stream that is not blocking, so the question is for the
 * default stream, which waits for the blocking ones. */
static CUresult
wait_until_idle(void)
{
    pcu_context_record *rec = wait_record_in_doubt();
    if (rec != NULL && wait_for_default(rec) == CUDA_ERROR_TIMEOUT) {
        return CUDA_ERROR_TIMEOUT;
    }
    return CUDA_SUCCESS;
}

/* A small copy to the host goes through page-locked memory, so that it is enqueued
 * behind the work at once. That takes 2 us less than a question before the driver's own
 * copy. If a signal ends the wait, the device may still write there, so the memory is
 * given up. CUDA_ERROR_NOT_FOUND: there is no such memory. */
enum { WAIT_STAGE_SIZE = 1 << 14 };

static CUresult
wait_copy_out(pcu_context_record *rec, void *host, CUdeviceptr device, size_t size)
{
    void *stage = rec->stage;
    rec->stage = NULL; /* a signal handler may copy, too */
    if (stage == NULL &&
        waits.plain.MemHostAlloc(&stage, WAIT_STAGE_SIZE, 0) != CUDA_SUCCESS) {
        return CUDA_ERROR_NOT_FOUND;
    }
    CUresult status = waits.plain.MemcpyDtoHAsync(stage, device, size, NULL);
    if (status == CUDA_SUCCESS) {
        status = wait_for_default(rec);
    }
    if (status == CUDA_SUCCESS) {
        memcpy(host, stage, size);
    }
    if (status != CUDA_ERROR_TIMEOUT && rec->stage == NULL) {
        rec->stage = stage;
    }
    return status;
}

/* Whether the driver copies page-locked memory: other memory it copies itself, and so
 * waits for the stream. */
static bool
wait_is_page_locked(const void *host)
{
    unsigned int type = 0;
    CUresult status = waits.plain.PointerGetAttribute(
        &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)host);
    return status == CUDA_SUCCESS;
}

/* As wait_until_idle, before a copy of `size` bytes in a stream. The driver copies up
 * to 64 KiB of host memory that it reads at once; a copy to the host has the size
 * SIZE_MAX. */
static CUresult
wait_until_copied(CUstream stream, const void *host, size_t size)
{
    enum { KEPT = 1 << 16 };
    CUstreamCaptureStatus captured = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    pcu_context_record *rec = NULL;
    if (wait_is_main() && pcu_captures == NULL && size > KEPT) {
        rec = pcu_context_record_working();
    }
    if (!wait_is_doubtful(rec) || wait_is_page_locked(host) ||
        waits.plain.StreamIsCapturing(stream, &captured) != CUDA_SUCCESS ||
        captured != CU_STREAM_CAPTURE_STATUS_NONE) {
        return CUDA_SUCCESS;
    }
    const wait_target target = {.stream = stream, .schedule = wait_schedule(rec)};
    CUresult status = wait_until(&target);
    wait_note(rec, status, NULL);
    return status == CUDA_ERROR_TIMEOUT ? status : CUDA_SUCCESS;
}

/* Ask for a moment: the device needs some time for the event itself. */
static CUresult
wait_look(pcu_context_record *rec, uint64_t patience)
{
    const unsigned long doubts = pcu_doubts;
    CUevent event = wait_record(rec) ? rec->idle : NULL;
    const wait_target target = {.event = event};
    uint64_t begin = pcu_nanoseconds();
    CUresult status = wait_query(&target);
    while (status == CUDA_ERROR_NOT_READY && pcu_nanoseconds() - begin < patience) {
        status = wait_query(&target);
    }
    wait_note(rec, status, event != NULL || wait_default_is_all() ? &doubts : NULL);
    return status == CUDA_ERROR_NOT_READY ? status : CUDA_SUCCESS;
}

CUresult
pcu_wait_for_context(pcu_context_record *rec, uint64_t patience)
{
    CUresult status = CUDA_SUCCESS;
    if (waits.host == NULL || !wait_is_doubtful(rec) || pcu_captures != NULL) {
        return CUDA_SUCCESS;
    }
    if (patience != UINT64_MAX) {
        return wait_look(rec, patience);
    }
    if (wait_is_main()) {
        (void)wait_for_all(rec, &status);
    }
    return status == CUDA_ERROR_TIMEOUT ? status : CUDA_SUCCESS;
}

void
pcu_wait_forget(pcu_context_record *rec)
{
    if (rec->idle != NULL) {
        (void)drv.EventDestroy(rec->idle); /* of a context that is lost, perhaps */
    }
    rec->idle = NULL;
    if (rec->stage != NULL) {
        (void)waits.plain.MemFreeHost(rec->stage); /* the same */
    }
    rec->stage = NULL;
    for (int i = 0; i < PCU_WAIT_MARKS; i++) {
        if (rec->marks[i] != NULL) {
            (void)drv.EventDestroy(rec->marks[i]); /* the same */
        }
        rec->marks[i] = NULL;
    }
}

void
pcu_wait_event_recorded(CUevent event)
{
    if (waits.ended == event) {
        waits.ended = NULL;
    }
}

/* A queue has room for 1,021 launches. When so many may be in it that a launch could
 * wait, events mark its fill: after WAIT_ROOM_STEP launches each, in the stream of the
 * launch. Before the third step, wait for the event before the first. */
enum { WAIT_ROOM_STEP = 150 };

static CUresult
wait_mark(pcu_context_record *rec, unsigned long step, CUstream stream)
{
    CUevent *mark = &rec->marks[step % PCU_WAIT_MARKS];
    CUresult status = CUDA_SUCCESS;
    if (*mark != NULL && step >= rec->first_step + PCU_WAIT_MARKS) {
        const wait_target target = {.event = *mark, .schedule = wait_schedule(rec)};
        status = wait_until(&target);
        wait_note(rec, status, NULL);
    }
    if (*mark == NULL &&
        waits.plain.EventCreate(mark, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
        *mark = NULL;
    }
    if (*mark != NULL && status != CUDA_ERROR_TIMEOUT) {
        (void)waits.plain.EventRecord(*mark, stream);
        rec->step = step;
    }
    return status == CUDA_ERROR_TIMEOUT ? status : CUDA_SUCCESS;
}

/* Before a launch: CUDA_ERROR_TIMEOUT if a signal has ended the wait for its place. */
static CUresult
wait_until_room(CUstream stream)
{
    CUstreamCaptureStatus captured = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    pcu_context_record *rec = pcu_ctx_current;
    if (rec == NULL || rec->queued - rec->passed <= PCU_QUEUE_SAFE) {
        return CUDA_SUCCESS;
    }
    unsigned long step = rec->queued / WAIT_ROOM_STEP;
    if (step == rec->step || !wait_is_main() || pcu_captures != NULL ||
        waits.plain.StreamIsCapturing(stream, &captured) != CUDA_SUCCESS ||
        captured != CU_STREAM_CAPTURE_STATUS_NONE) {
        return CUDA_SUCCESS;
    }
    if (rec->marked != rec->passed || step != rec->step + 1) {
        rec->marked = rec->passed; /* the marks before the last good wait are old */
        rec->first_step = step;
    }
    return wait_mark(rec, step, stream);
}

/* -- the functions of the table ---------------------------------------------------- */

static CUresult
waits_StreamSynchronize(CUstream stream)
{
    if (!wait_is_main()) {
        return waits.plain.StreamSynchronize(stream);
    }
    pcu_context_record *rec = pcu_context_record_working();
    if (waits.may_print && !wait_is_doubtful(rec)) {
        return waits.plain.StreamSynchronize(stream);
    }
    const unsigned long doubts = pcu_doubts;
    bool all = (stream == NULL || stream == CU_STREAM_LEGACY) && wait_default_is_all();
    const wait_target target = {.stream = stream, .schedule = wait_schedule(rec)};
    CUresult status = wait_until(&target);
    wait_note(rec, status, all ? &doubts : NULL);
    if (status == CUDA_ERROR_TIMEOUT || (status == CUDA_SUCCESS && !waits.may_print)) {
        return status;
    }
    return waits.plain.StreamSynchronize(stream);
}

/* After one question that says that the event has passed, the driver's own wait is
 * quicker than a second question. */
static CUresult
waits_EventSynchronize(CUevent event)
{
    if (!wait_is_main() || (waits.ended == event && waits.ended_at == pcu_doubts)) {
        return waits.plain.EventSynchronize(event);
    }
    const unsigned long doubts = pcu_doubts;
    const wait_target target = {.event = event,
                                .schedule = pcu_wait_sleeps ? WAIT_SLEEP : WAIT_AUTO};
    CUresult status = wait_until(&target);
    wait_note(pcu_context_record_working(), status, NULL);
    if (status == CUDA_SUCCESS) {
        waits.ended = event;
        waits.ended_at = doubts;
    }
    if (status == CUDA_ERROR_TIMEOUT || (status == CUDA_SUCCESS && !waits.may_print)) {
        return status;
    }
    return waits.plain.EventSynchronize(event);
}

static CUresult
waits_CtxSynchronize(void)
{
    pcu_context_record *rec = NULL;
    CUresult status = CUDA_SUCCESS;
    if (wait_is_main() && pcu_captures == NULL) {
        rec = pcu_context_record_working();
    }
    if (!wait_is_doubtful(rec)) {
        return waits.plain.CtxSynchronize();
    }
    bool all = wait_for_all(rec, &status);
    if (status == CUDA_ERROR_TIMEOUT ||
        (all && status == CUDA_SUCCESS && !waits.may_print)) {
        return status;
    }
    return waits.plain.CtxSynchronize();
}

/* Kernels that print refer to the function vprintf. The texts in fat binaries are
 * compressed. */
static bool
image_may_print(const void *image)
{
    static const char name[] = "vprintf";
    struct {
        unsigned char magic[4], other[36];
        uint64_t sections;
        uint16_t more[5], section_size, section_count;
    } elf;
    if (memcmp(image, "\x50\xed\x55\xba", 4) == 0) {
        return true;
    }
    if (memcmp(image,
               "\x7f"
               "ELF",
               4) != 0) {
        return strstr(image, name) != NULL;
    }
    memcpy(&elf, image, sizeof(elf));
    uint64_t size =
        elf.sections + (uint64_t)elf.section_size * (uint64_t)elf.section_count;
    return memmem(image, (size_t)size, name, sizeof(name) - 1) != NULL;
}

/* clang-format off */
#define WAITS_KIND_REQUIRED(lock) lock
#define WAITS_KIND_OPTIONAL(lock) lock
#define WAITS_KIND_CLIENT CLIENT
#define WAITS_ROW_CLIENT(...)
#define WAITS_ROW_GIL(...)
#define WAITS_ROW_BEHIND(...)
#define WAITS_ROW_QUEUE(...)
#define WAITS_ROW_COPY(...)
#define WAITS_ROW_NOGIL(...)
#define WAITS_ROW_IDLE(name, ...) WAITS_BEFORE(name, wait_until_idle(), __VA_ARGS__)
#define WAITS_ROW_SYNC WAITS_ROW_IDLE
#define WAITS_BEFORE(name, wait, ...)                           \
    static CUresult waits_##name(PCU_PARAMETERS(__VA_ARGS__))   \
    {                                                           \
        CUresult waited = (wait);                               \
        if (waited != CUDA_SUCCESS) {                           \
            return waited;                                      \
        }                                                       \
        return waits.plain.name(PCU_ARGUMENTS(__VA_ARGS__));    \
    }
#define WAITS_FUNCTION(name, export, version, thread, caller, door, traits, span, ...) \
    PCU_JOIN(WAITS_ROW_, WAITS_KIND_##caller)(name, __VA_ARGS__)
PCU_FUNCTIONS(WAITS_FUNCTION)

/* The other calls that wait: X(name, the wait before it, parameters). */
#define WAITS_COPIES(X)                                                                \
    X(MemcpyDtoHAsync, wait_until_copied(stream, host, SIZE_MAX),                      \
      (void *, host), (CUdeviceptr, device), (size_t, size), (CUstream, stream))       \
    X(MemcpyHtoDAsync, wait_until_copied(stream, host, size),                          \
      (CUdeviceptr, device), (const void *, host), (size_t, size), (CUstream, stream)) \
    X(MemcpyAtoHAsync, wait_until_copied(stream, host, SIZE_MAX),                      \
      (void *, host), (CUarray, array), (size_t, offset), (size_t, size),              \
      (CUstream, stream))                                                              \
    X(MemcpyHtoAAsync, wait_until_copied(stream, host, size),                          \
      (CUarray, array), (size_t, offset), (const void *, host), (size_t, size),        \
      (CUstream, stream))                                                              \
    X(Memcpy2D, waits_for_box(copy), (const CUDA_MEMCPY2D *, copy))                    \
    X(Memcpy2DUnaligned, waits_for_box(copy), (const CUDA_MEMCPY2D *, copy))           \
    X(Memcpy3D, waits_for_box(copy), (const CUDA_MEMCPY3D *, copy))                    \
    X(Memcpy2DAsync, waits_for_box_in(stream, copy),                                   \
      (const CUDA_MEMCPY2D *, copy), (CUstream, stream))                               \
    X(Memcpy3DAsync, waits_for_box_in(stream, copy),                                   \
      (const CUDA_MEMCPY3D *, copy), (CUstream, stream))
#define waits_for_box(copy)                                     \
    ((copy)->srcMemoryType == CU_MEMORYTYPE_HOST ||             \
     (copy)->dstMemoryType == CU_MEMORYTYPE_HOST                \
         ? wait_until_idle() : CUDA_SUCCESS)
#define waits_for_box_in(stream, copy)                          \
    ((copy)->srcMemoryType == CU_MEMORYTYPE_HOST                \
         ? wait_until_copied((stream), (copy)->srcHost, SIZE_MAX) \
     : (copy)->dstMemoryType == CU_MEMORYTYPE_HOST              \
         ? wait_until_copied((stream), (copy)->dstHost, SIZE_MAX) : CUDA_SUCCESS)
WAITS_COPIES(WAITS_BEFORE)

#define WAITS_LAUNCHES(X)                                                              \
    X(LaunchKernel, wait_until_room(stream),                                           \
      (CUfunction, f), (unsigned int, a), (unsigned int, b), (unsigned int, c),        \
      (unsigned int, d), (unsigned int, e), (unsigned int, g), (unsigned int, shared), \
      (CUstream, stream), (void **, params), (void **, extra))                         \
    X(LaunchKernelEx, wait_until_room(config->hStream),                                \
      (const CUlaunchConfig *, config), (CUfunction, f), (void **, params),            \
      (void **, extra))                                                                \
    X(GraphLaunch, wait_until_room(stream), (CUgraphExec, graph), (CUstream, stream))
WAITS_LAUNCHES(WAITS_BEFORE)

/* The calls that load modules: X(name, whether their kernels may print, parameters). */
#define WAITS_LOADS(X)                                                                 \
    X(ModuleLoad, true, (CUmodule *, module), (const char *, path))                    \
    X(ModuleLoadData, image_may_print(image),                                          \
      (CUmodule *, module), (const void *, image))                                     \
    X(ModuleLoadDataEx, image_may_print(image),                                        \
      (CUmodule *, module), (const void *, image), (unsigned int, count),              \
      (CUjit_option *, options), (void **, values))                                    \
    X(ModuleLoadFatBinary, true, (CUmodule *, module), (const void *, image))
#define WAITS_LOAD(name, prints, ...)                           \
    static CUresult loads_##name(PCU_PARAMETERS(__VA_ARGS__))   \
    {                                                           \
        waits.may_print = waits.may_print || (prints);          \
        return waits_##name(PCU_ARGUMENTS(__VA_ARGS__));        \
    }
WAITS_LOADS(WAITS_LOAD)

static CUresult
copies_MemcpyDtoH(void *host, CUdeviceptr device, size_t size)
{
    CUresult status = CUDA_ERROR_NOT_FOUND;
    pcu_context_record *rec = NULL;
    if (size <= WAIT_STAGE_SIZE && !waits.may_print) {
        rec = wait_record_in_doubt();
    }
    if (rec != NULL) {
        status = wait_copy_out(rec, host, device, size);
    }
    if (status != CUDA_ERROR_NOT_FOUND) {
        return status;
    }
    return waits_MemcpyDtoH(host, device, size);
}

#define WAITS_USE_LOAD(name, ...) drv.name = loads_##name;

#define WAITS_USE(name, ...) drv.name = waits_##name;
#define WAITS_USE_CLIENT(...)
#define WAITS_USE_GIL(...)
#define WAITS_USE_BEHIND(...)
#define WAITS_USE_QUEUE(...)
#define WAITS_USE_COPY(...)
#define WAITS_USE_NOGIL(...)
#define WAITS_USE_SYNC WAITS_USE
#define WAITS_USE_IDLE WAITS_USE
#define WAITS_USE_ROW(name, export, version, thread, caller, ...) \
    PCU_JOIN(WAITS_USE_, WAITS_KIND_##caller)(name)
/* clang-format on */

void
pcu_waits_begin(int (*host)(int question))
{
    if (waits.host != NULL) {
        return;
    }
    waits.plain = drv;
    waits.host = host;
    PCU_FUNCTIONS(WAITS_USE_ROW)
    WAITS_COPIES(WAITS_USE)
    WAITS_LAUNCHES(WAITS_USE)
    WAITS_LOADS(WAITS_USE_LOAD)
    drv.MemcpyDtoH = copies_MemcpyDtoH;
    drv.StreamSynchronize = waits_StreamSynchronize;
    drv.EventSynchronize = waits_EventSynchronize;
    drv.CtxSynchronize = waits_CtxSynchronize;
}
