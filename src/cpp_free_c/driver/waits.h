/* Waits that a signal can end, on a real driver.
 *
 * A call of the driver that waits cannot be ended. So in the main thread, which runs
 * Python's signal handlers, the package asks the driver again and again whether the
 * work has ended, and makes the call after that. In between, it runs the handlers
 * through the host, the function that the software device polls, too. If a handler
 * raises, the call returns CUDA_ERROR_TIMEOUT and the work goes on.
 *
 * The functions of the table `drv` are replaced, so all callers have such waits. To ask
 * costs 1.5 us after a launch on an H200, as much as a wait that ends at once. So
 * questions replace waits, and other calls ask only while there is doubt: the program
 * has enqueued work that may never end, and no wait has proved that it has. Kernels of
 * array operations end.
 *
 * Not covered: threads other than the main thread, which get no signals; work that
 * other libraries enqueue, in Context.synchronize(), without such doubt; during a
 * capture of this package, all calls but waits for streams and events.
 *
 * Invariant: `doubts` and the fields of the records are written under the interpreter
 * lock, or by the main thread. Callers: see the functions. */
#ifndef DRIVER_WAITS_H
#define DRIVER_WAITS_H

#include "driver/context_record.h"

/* Make the waits of the loaded driver such waits; the driver is initialised. `host` is
 * the callback of abi/software_device.h. Later calls do nothing. */
PCU_HIDDEN void pcu_waits_begin(int (*host)(int question));

/* Wait for all work of a context that is current, although its record may have ended.
 * CUDA_ERROR_TIMEOUT: a signal has ended the wait. CUDA_ERROR_NOT_READY: the work has
 * not ended after so many nanoseconds; UINT64_MAX: never. */
PCU_HIDDEN CUresult pcu_wait_for_context(pcu_context_record *rec, uint64_t patience);

/* The context ends: destroy the events of its waits. */
PCU_HIDDEN void pcu_wait_forget(pcu_context_record *rec);

/* The event is recorded: what is known of its end does not hold any more. */
PCU_HIDDEN void pcu_wait_event_recorded(CUevent event);

/* Whether this thread sleeps while it waits for an event: the event has the flag
 * BLOCKING_SYNC. Set it for the call of EventSynchronize only. */
extern PCU_HIDDEN PCU_THREAD bool pcu_wait_sleeps;

/* Whether a signal has ended a wait in this process. */
extern PCU_HIDDEN bool pcu_wait_was_ended;

#endif
