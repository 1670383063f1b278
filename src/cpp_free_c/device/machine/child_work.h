/* Work that the threads of a kernel enqueue: launches, copies, fills.
 *
 * It is queued while the grid runs and done when the grid has ended, in the order of
 * enqueuing, which respects every stream and event of the device's runtime; what was
 * launched into the tail stream comes last, when all the rest is done. The grid is
 * complete only then, so whatever follows it in its stream waits for all of that. */
#ifndef DEVICE_MACHINE_CHILD_WORK_H
#define DEVICE_MACHINE_CHILD_WORK_H

#include <pthread.h>

#include "device/base/device.h"
#include "device/machine/execution.h"

enum {
    EMU_MAX_NESTING = 24, /* of grids that launch grids */
    EMU_STREAM_TAIL = 3,  /* cudaStreamTailLaunch */
    EMU_STREAM_FIRST = 16 /* a handle below is one that the runtime names, or none */
};

typedef struct emu_work_item emu_work_item;

/* A buffer for parameters that a thread has asked for. */
typedef struct emu_parameter_buffer {
    uint64_t address;
    emu_allocation *memory;
    size_t size;
    emu_launch launch; /* kernel NULL: not told yet */
    struct emu_parameter_buffer *next;
} emu_parameter_buffer;

/* What the threads of one grid have enqueued. */
typedef struct emu_device_work {
    pthread_mutex_t lock; /* guards all of it while the grid runs */
    unsigned depth;       /* 0: the program launched the grid */
    size_t pending;       /* launches queued */
    uint64_t handles;     /* streams and events made; they are the grid's own */
    emu_work_item *first, **last;
    emu_work_item *tail, **tail_last;
    emu_parameter_buffer *buffers;
    struct emu_thread_error *errors; /* of the threads that have one: runtime.c */
} emu_device_work;

/* Rows of bytes: a copy, or, without a source, a fill. */
typedef struct {
    uint64_t target, source;
    size_t target_pitch, source_pitch;
    size_t width, height;
    int value;
} emu_device_copy;

/* Queues a launch with a copy of its parameters. False: out of memory. */
bool emu_work_launch(emu_device_work *work, const emu_launch *launch, uint64_t stream);
bool emu_work_copy(emu_device_work *work, const emu_device_copy *copy, uint64_t stream);

/* Whether a copy stays within memory; one of no bytes does. */
bool emu_work_check(const emu_device_copy *copy);

#endif
