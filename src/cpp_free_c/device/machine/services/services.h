/* Services: functions that the device provides to kernels, and the state that they keep
 * for a context: the text of printf, the heap of malloc, the variables of conditional
 * nodes, and the work that threads of a grid enqueue. */
#ifndef DEVICE_MACHINE_SERVICES_SERVICES_H
#define DEVICE_MACHINE_SERVICES_SERVICES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/cuda_abi.h"
#include "device/machine/warp/launch.h"
#include "device/machine/warp/machine.h"
#include "device/memory/memory.h"

/* In the `exec` field of a context. */
typedef struct {
    pthread_mutex_t lock; /* guards all of it */
    char *text;
    size_t size, room;
    uint64_t printing;           /* the launch that printed last */
    uint64_t printed;            /* calls of printf in it */
    bool has_warned;             /* that a GPU drops text of printf */
    size_t heap_used;            /* bytes that malloc in kernels has handed out */
    emu_allocation *error_texts; /* of dynamic_parallelism.c; NULL until needed */
} emu_services;

/* Copy the bytes of a parameter of the current call, at most `room`. */
void emu_service_parameter(const emu_warp *warp, const emu_insn *insn, unsigned index,
                           unsigned lane, void *value, size_t room);
/* A parameter of at most 8 bytes. */
uint64_t emu_service_word(const emu_warp *warp, const emu_insn *insn, unsigned index,
                          unsigned lane);
/* Store the result of the current call for a lane, if the call has one. */
void emu_service_return(emu_warp *warp, const emu_insn *insn, unsigned lane,
                        uint64_t value);
/* Copy a string of device memory. Return its length, at most room - 1, or -1 if an
 * address of it is not legal. */
int emu_service_string(emu_warp *warp, unsigned lane, uint64_t address, char *text,
                       size_t room);

/* Write the text that device printf collected to the standard output of the process.
 * Called at each synchronisation. */
void emu_services_flush(CUcontext context);
/* Flush, free the record and set context->exec to NULL. No kernel of the context may be
 * running. The blocks of the heap belong to the context, which frees them. */
void emu_services_close(CUcontext context);

/* The record of a context, created at its first use. NULL: out of memory. */
emu_services *emu_services_get(CUcontext context);

/* Append text to print. Without memory the text is lost, as on a device whose buffer is
 * full. Call with the lock of the services held. */
void emu_services_append_locked(emu_services *services, const char *text, size_t size);

/* -- the heap of malloc ------------------------------------------------------------ */

/* Blocks that kernels of a context allocate and free. Each block is an allocation of
 * the context. The context's limit CU_LIMIT_MALLOC_HEAP_SIZE bounds their sum. */

/* The address of a new block; 0 if there is no memory, or for a size of 0. */
uint64_t emu_heap_allocate(CUcontext context, uint64_t size);
/* Free a block. False if the address is no live block of the context's heap. */
bool emu_heap_free(CUcontext context, uint64_t address);

/* -- printf ------------------------------------------------------------------------ */

/* A format and packed arguments in device memory become text. The text is collected in
 * the services of the context, in order, and written when the driver synchronises. */

/* The service vprintf: parameter 0 is the format, parameter 1 the arguments. */
const emu_insn *emu_device_printf(emu_warp *warp, const emu_insn *insn);

/* -- conditional nodes ------------------------------------------------------------- */

/* The variables of conditional nodes of graphs, which kernels set.
 *
 * A handle is a number that is never used again. Kernels pass it to
 * cudaGraphSetConditional. A variable lives as long as the graph for which its handle
 * was made or an executable graph of it. All executable graphs share it. Any thread may
 * call the functions, with or without the API lock. */

/* Variables that a graph or an executable graph keeps alive. */
typedef struct {
    uint64_t *handles;
    size_t count;
} emu_conditionals;

/* Make a variable with the value 0 and add it to the list. `assigns`: each launch
 * begins with the default value. 0: out of memory. */
uint64_t emu_conditional_new(emu_conditionals *list, CUcontext context,
                             unsigned int value, bool assigns);
/* Keep all variables of a list alive through another list. False: out of memory. */
bool emu_conditionals_copy(emu_conditionals *to, const emu_conditionals *from);
/* Release the variables of a list and empty it. */
void emu_conditionals_drop(emu_conditionals *list);

/* Begin a launch: assign the default values. Kernels may set the variables until the
 * launch ends. */
void emu_conditionals_begin(const emu_conditionals *list);
void emu_conditionals_end(const emu_conditionals *list);

/* The context of a live variable; NULL: there is no such variable. */
CUcontext emu_conditional_context(uint64_t handle);
/* Note that a node uses the variable, or no longer. */
void emu_conditional_bind(uint64_t handle);
void emu_conditional_unbind(uint64_t handle);
bool emu_conditional_is_bound(uint64_t handle);
/* The value of a variable; 0 if there is none. */
unsigned int emu_conditional_value(uint64_t handle);
/* Set it from a kernel of the context. False: no launch of the context that runs has
 * such a variable. */
bool emu_conditional_set(uint64_t handle, CUcontext context, unsigned int value);

/* -- work of threads --------------------------------------------------------------- */

/* Work that the threads of a grid enqueue: launches, copies, fills.
 *
 * Child work is queued while the grid runs and done when the grid has ended
 * (execution.c). It runs in the order in which it was enqueued, which satisfies every
 * stream and event of the device runtime. Launches into the tail stream come last,
 * after all other work. The grid is complete only then, so later work in its stream
 * waits for all of that.
 *
 * Filled by dynamic_parallelism.c, run by execution.c. */

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

/* -- dynamic parallelism ----------------------------------------------------------- */

/* Functions of the device's runtime that kernels compiled with -rdc=true call, above
 * all to launch kernels. The device provides these functions itself, so programs do not
 * link the toolkit's library cudadevrt. The prefix emu_cdp_ is NVIDIA's abbreviation
 * (CUDA dynamic parallelism), which the names of the functions have too. */

/* Call the service that the call site names, for all active lanes. */
const emu_insn *emu_cdp_call(emu_warp *warp, const emu_insn *insn);

#endif
