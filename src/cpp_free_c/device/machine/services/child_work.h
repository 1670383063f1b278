/* Work that the threads of a grid enqueue: launches, copies, fills.
 *
 * Child work is queued while the grid runs and done when the grid has ended
 * (execution.c). It runs in the order in which it was enqueued, which satisfies every
 * stream and event of the device runtime. Launches into the tail stream come last,
 * after all other work. The grid is complete only then, so later work in its stream
 * waits for all of that.
 *
 * Filled by dynamic_parallelism.c, run by execution.c. */
#ifndef DEVICE_MACHINE_SERVICES_CHILD_WORK_H
#define DEVICE_MACHINE_SERVICES_CHILD_WORK_H

#include <pthread.h>

#include "device/machine/warp/launch.h"
#include "device/memory/memory.h"

enum {
    EMU_MAX_NESTING = 24, /* levels of grids that launch grids */
    EMU_STREAM_TAIL = 3,  /* cudaStreamTailLaunch */
    EMU_STREAM_FIRST =
        16 /* smaller handles are those that the runtime names, or none */
};

/* Rows of bytes: a copy or, without a source, a fill. */
typedef struct {
    uint64_t target, source;
    size_t target_pitch, source_pitch;
    size_t width, height;
    int value;
} emu_child_copy;

typedef struct emu_child_item {
    struct emu_child_item *next;
    emu_launch launch; /* its parameters are in `parameters`; kernel NULL: a copy */
    emu_child_copy copy;
    _Alignas(16) char parameters[];
} emu_child_item;

/* A buffer for parameters that a thread has asked for. */
typedef struct emu_parameter_buffer {
    uint64_t address;
    emu_allocation *memory;
    size_t size;
    emu_launch launch; /* kernel is NULL until it is known */
    struct emu_parameter_buffer *next;
} emu_parameter_buffer;

/* The last error of one thread, a cudaError_t. Few threads have one. */
typedef struct emu_thread_error {
    uint64_t block;
    unsigned thread;
    uint32_t code;
    struct emu_thread_error *next;
} emu_thread_error;

/* Everything that the threads of one grid have enqueued. */
typedef struct emu_child_work {
    pthread_mutex_t lock; /* guards all of it while the grid runs */
    unsigned depth;       /* 0: the program launched the grid */
    size_t pending;       /* launches queued */
    uint64_t handles;     /* streams and events created; they belong to the grid */
    emu_child_item *first, **last;
    emu_child_item *tail, **tail_last;
    emu_parameter_buffer *buffers;
    emu_thread_error *errors;
} emu_child_work;

void emu_child_work_open(emu_child_work *work, unsigned depth);
/* Free everything but the tail. */
void emu_child_work_close(emu_child_work *work);

/* Queue a launch, whose parameters are copied, or a copy. Call with the lock held.
 * False: out of memory. */
bool emu_child_work_add_launch(emu_child_work *work, const emu_launch *launch,
                               uint64_t stream);
bool emu_child_work_add_copy(emu_child_work *work, const emu_child_copy *copy,
                             uint64_t stream);
void emu_child_items_free(emu_child_item *item);

/* Whether a copy stays within live memory; a copy of no bytes does. */
bool emu_child_copy_check(const emu_child_copy *copy);
/* Run a copy. ILLEGAL_ADDRESS, with a report, if its memory has been freed
 * meanwhile. */
CUresult emu_child_copy_run(const emu_child_copy *copy, emu_report *report);

#endif
