/* A timeline: the calls of the driver that take time, when the host made them, and when
 * the device did the work.
 *
 * While a timeline records, the entries of the table `drv` for these calls are
 * wrappers. So nothing else in the package knows of it, and a program without a
 * timeline pays nothing. A wrapper notes the line of Python, lets the driver record an
 * event before and behind the work in its stream, and makes the call. The times of the
 * events are read later: when many are waiting, when a context ends, and at the end.
 *
 * A wrapper may be called with or without the interpreter lock. It takes the lock for
 * its notes and releases it around all calls that may wait, as PCU_STATUS does.
 *
 * Invariant: the members are read and written under the interpreter lock only. A
 * failure of an event never changes the result of a call; the span then has no times of
 * the device. Callers: driver/timeline_calls.c, python/driver/timeline.c. */
#ifndef DRIVER_TIMELINE_H
#define DRIVER_TIMELINE_H

#include "driver/context_record.h"
#include "tables/span_kinds.h"

#define PCU_SPAN_MEMBER(kind, name, on_device) PCU_SPAN_##kind,
typedef enum { PCU_SPAN_KINDS(PCU_SPAN_MEMBER) PCU_SPAN_KIND_COUNT } pcu_span_kind;
#undef PCU_SPAN_MEMBER

/* A kernel with a shape of its blocks: what decides its occupancy. */
typedef struct {
    CUfunction function; /* NULL after its module was unloaded */
    unsigned int threads;
    unsigned int shared;
    char name[256];
    int registers;
    int static_shared;
    int local;
    int blocks_per_multiprocessor; /* 0: not known */
} pcu_timed_kernel;

/* A context that did work while the timeline recorded. */
typedef struct {
    CUcontext handle; /* NULL after its end */
    CUdevice device;
    CUstream stream;    /* only for the events `base` */
    CUevent base;       /* the time of the device is counted from here */
    uint64_t base_time; /* the same moment: nanoseconds of the monotonic clock */
    CUevent *unused;    /* events for the next spans */
    size_t unused_count;
    size_t unused_room;
    size_t first_waiting; /* no span before this one has events of this context */
    size_t waiting;       /* spans whose events were not read */
} pcu_timed_context;

typedef struct {
    pcu_span_kind kind;
    const char *routine; /* of the driver, "" for spans of Python */
    uint64_t begin;      /* of the call: nanoseconds of the monotonic clock */
    uint64_t end;
    uint64_t device_begin; /* of the work; 0 if not known */
    uint64_t device_end;
    CUevent before; /* while the times of the device were not read */
    CUevent behind;
    unsigned long thread;
    CUstream stream;
    uint32_t site;
    int context; /* the index in `contexts`, -1: none */
    int kernel;  /* the index in `kernels`, -1: none */
    int failed;
    unsigned int grid[3];
    unsigned int block[3];
    size_t bytes; /* copied or filled; of the arrays among a kernel's arguments */
    char *name;   /* of spans of Python: UTF-8, owned; else NULL */
} pcu_span;

/* What the extension does for wrappers. */
typedef struct {
    void *state; /* for site */
    /* Take the interpreter lock if this thread lacks it. Return 0 if the call must not
     * be recorded; otherwise `*token` is passed to the others. */
    int (*attach)(void **token);
    /* Restore the lock as attach found it. */
    void (*detach)(void *token);
    /* Release the lock around calls that may wait, and take it again. */
    void *(*unlock)(void);
    void (*lock)(void *thread);
    /* The number of the line of the program that makes the call. */
    uint32_t (*site)(void *state);
    /* Replace the name of a kernel that the package generated. All of them have the
     * same name in their images. */
    void (*rename)(void *state, CUfunction function, char *name, size_t room);
    /* The identity of this thread. */
    unsigned long (*thread)(void);
} pcu_timeline_hooks;

struct pcu_timeline {
    int on;
    struct pcu_drv plain; /* the driver's functions, while wrappers are in `drv` */
    pcu_timeline_hooks hooks;
    pcu_span *spans;
    size_t span_count;
    size_t span_room;
    size_t most;    /* spans beyond this number are only counted */
    size_t dropped; /* spans that were not kept */
    pcu_timed_kernel *kernels;
    size_t kernel_count;
    size_t kernel_room;
    pcu_timed_context *contexts;
    size_t context_count;
    size_t context_room;
    size_t generation; /* timelines so far */
    uint64_t start;    /* nanoseconds of the monotonic clock */
    uint64_t end;
};

extern PCU_HIDDEN struct pcu_timeline pcu_timeline;

/* A call that is being recorded. */
typedef struct {
    int active;
    void *token;
    void *thread;
    size_t generation; /* the timeline that the call belongs to */
    pcu_span span;
} pcu_timed_call;

/* Begin and end the recording of a call. pcu_timeline_enter returns without the
 * interpreter lock if the call is recorded. */
PCU_HIDDEN void pcu_timeline_enter(pcu_timed_call *call, pcu_span_kind kind,
                                   const char *routine, CUstream stream, size_t bytes);
PCU_HIDDEN CUresult pcu_timeline_leave(pcu_timed_call *call, CUresult status);

/* The same for a launch of a kernel. `size` bytes at `params` are its parameters. */
PCU_HIDDEN void pcu_timeline_enter_launch(pcu_timed_call *call, const char *routine,
                                          CUfunction function,
                                          const CUlaunchConfig *config, void **extra);

/* Add a span of Python. Return it, or NULL if it was not kept. The interpreter lock is
 * held. */
PCU_HIDDEN pcu_span *pcu_timeline_add(const pcu_span *span);

/* A context ends, or the primary context of a device: read the times of its spans, and
 * destroy its events. The interpreter lock is held, and released while the device
 * works.
 */
PCU_HIDDEN void pcu_timeline_end_context(CUcontext context);
PCU_HIDDEN void pcu_timeline_end_device(CUdevice device);

/* The kernels of a module are gone; handles may be used again. */
PCU_HIDDEN void pcu_timeline_forget_functions(void);

/* Begin to record `most` spans. The driver is loaded. */
PCU_HIDDEN void pcu_timeline_begin(const pcu_timeline_hooks *hooks, size_t most);

/* Stop, and read all times. The spans stay until pcu_timeline_clear. */
PCU_HIDDEN void pcu_timeline_finish(void);
PCU_HIDDEN void pcu_timeline_clear(void);

/* driver/timeline_calls.c: put the wrappers into `drv`. */
PCU_HIDDEN void pcu_timed_calls_install(void);

#endif
