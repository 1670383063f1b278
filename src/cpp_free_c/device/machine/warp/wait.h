/* Waits of a thread of the program: for the work of another thread, or for a kernel
 * that it runs itself.
 *
 * A program that embeds the device (the Python extension) can register a function, the
 * host. While a call waits or computes, the calling thread polls the host every
 * EMU_POLL_NANOSECONDS. The host may run signal handlers, and its answer may end the
 * wait: then a kernel that this thread runs is cancelled, a wait for another thread is
 * given up, and the call returns EMU_INTERRUPTED. The context stays usable.
 *
 * The host may call the driver's interface itself, as signal handlers of the program
 * do. Such a nested call must not wait for anything that the interrupted call holds: it
 * returns CUDA_ERROR_NOT_PERMITTED where it would wait.
 *
 * While the host runs, no lock of the device is held except those of streams. Called by
 * the entry points and by workers.c, threads.c. */
#ifndef DEVICE_MACHINE_WARP_WAIT_H
#define DEVICE_MACHINE_WARP_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "abi/cuda_abi.h"
#include "device/base/export.h"

/* The questions to the host. */
enum {
    EMU_HOST_POLL,   /* handle signals; 1 ends the wait */
    EMU_HOST_RETURN, /* a call that has polled returns now */
    EMU_HOST_THREADS /* the number of threads of the program */
};
typedef int (*emu_host)(int question);

/* Register the host of this process; NULL: none. */
EMU_EXPORT void emu_set_host(emu_host host);

#define EMU_POLL_NANOSECONDS UINT64_C(20000000)

/* A launch that runs for longer leaves the thread that made it, and a thread of the
 * device goes on with it. */
#define EMU_LEAVE_NANOSECONDS UINT64_C(15000000)

/* The status of work that another thread must go on with; no call returns it. */
#define EMU_GOES_ON CUDA_ERROR_NOT_READY

/* The status of a call that a signal ended. No other failure has this code. */
#define EMU_INTERRUPTED CUDA_ERROR_TIMEOUT

/* Poll the host. True: the wait must end. Call without the API lock. */
bool emu_wait_poll(void);
/* In a loop that knows the time on emu_clock_steady: poll the host if
 * EMU_POLL_NANOSECONDS have passed since the last poll of this call. */
bool emu_wait_poll_at(uint64_t now);
/* The same for a loop that does not know the time. */
bool emu_wait_poll_due(void);
/* Whether the present call of this thread has polled; emu_wait_leave clears it. It
 * is a variable, not a function, since every call of the driver reads it. */
extern _Thread_local bool emu_wait_has_polled;
/* Whether a poll of the present call has ended its wait. */
bool emu_wait_interrupted(void);
/* Whether this call was made by the host during a poll. */
bool emu_wait_is_nested(void);
/* The status of a call whose wait ended early: EMU_INTERRUPTED or NOT_PERMITTED. */
CUresult emu_wait_status(void);

/* Record that this thread waits, or runs a kernel that cannot make progress by itself,
 * or that it no longer does. */
void emu_wait_set_stuck(bool is_stuck);
/* Deferred streams keep work, or no longer do. Such work may free a kernel that waits.
 */
void emu_wait_set_deferred(bool keeps);
/* Whether the program may still free a kernel that waits: deferred streams keep work,
 * or a thread that has used the device does not wait for it now, or did not wait all
 * the time since *seen was set here. */
bool emu_wait_is_any_free(uint64_t *seen);
/* Whether the program has a thread that has not used the device yet. */
bool emu_wait_is_any_new(void);

/* A thread of the device begins or ends. It never polls the host. Its waits and its
 * kernels end when the flag is set. */
void emu_wait_device_begins(const _Atomic bool *cancelled);
void emu_wait_device_ends(void);
/* Whether work that takes long may leave this thread: it is one of the program, in no
 * nested call. */
bool emu_wait_may_leave(void);
/* The flag of this thread; NULL: it is no thread of the device. */
const _Atomic bool *emu_wait_cancelled(void);
/* In a thread of the program that waits, without the API lock: its threads are counted
 * for emu_wait_is_any_new, which a thread of the device cannot ask for. */
void emu_wait_count_threads(void);

/* The time of the next poll on the clock of pthread_cond_timedwait. */
struct timespec emu_wait_deadline(void);

/* For the entry points: the first call of a thread begins; a call that has polled
 * returns, without the API lock. */
void emu_wait_thread_begins(void);
void emu_wait_leave(void);

/* -- clocks of the device, in nanoseconds ------------------------------------------ */

/* The time since an arbitrary start; it never goes back. The coarse one is cheaper, and
 * up to 10 ms late. */
uint64_t emu_clock_steady(void);
uint64_t emu_clock_coarse(void);
/* The time of the day, for %globaltimer. */
uint64_t emu_clock_of_day(void);

#endif
