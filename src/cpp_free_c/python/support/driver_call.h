/* Macros that call the driver: with or without the interpreter lock, and raising the
 * exception of a failure.
 *
 * Invariant: the column `caller` of abi/functions.h decides for each function whether
 * the interpreter lock is released. Code in python/ calls a function whose row is not
 * GIL through these macros, except where a comment says why the lock must be kept. A
 * function whose row is GIL may also be called as drv.Name(). Callers: any code in
 * python/ that holds the interpreter lock. */
#ifndef PYTHON_SUPPORT_DRIVER_CALL_H
#define PYTHON_SUPPORT_DRIVER_CALL_H

#include "python/support/base.h"

#include "python/support/call_site.h"
#include "python/support/errors.h"

#include "driver/context_record.h"

/* Release the interpreter lock around a driver call that may wait. */
static inline PyThreadState *
pcu_unlock(void)
{
    pcu_calls_waiting++;
    pcu_device_site_keep();
    return PyEval_SaveThread();
}

/* Take the interpreter lock again. */
static inline void
pcu_lock(PyThreadState *thread)
{
    PyEval_RestoreThread(thread);
    pcu_device_site_forget();
    pcu_calls_waiting--;
}

/* Whether the interpreter lock must be released around a call. `blocking` is the
 * constant in the function's row. Calls that enqueue work are counted. */
static inline bool
pcu_must_unlock(int blocking)
{
    bool enqueues = blocking >= PCU_BLOCKING_QUEUE && blocking <= PCU_BLOCKING_SYNC;
    bool full = enqueues && pcu_queue_count();
    bool waits = blocking >= PCU_BLOCKING_COPY;
    return full || waits || (blocking != PCU_BLOCKING_GIL && pcu_calls_waiting != 0);
}

/* Call a driver function and store its CUresult in `status`. */
#define PCU_STATUS(status, name, args)                 \
    do {                                               \
        if (pcu_must_unlock(PCU_BLOCKING_OF_##name)) { \
            PyThreadState *pcu_thread_ = pcu_unlock(); \
            (status) = drv.name args;                  \
            pcu_lock(pcu_thread_);                     \
        }                                              \
        else {                                         \
            (status) = drv.name args;                  \
        }                                              \
    } while (0)

/* Call a driver function and raise the exception of a failure. rc becomes 0 or -1. */
#define PCU_CALL(rc, st, name, args)                         \
    do {                                                     \
        CUresult pcu_status_;                                \
        PCU_STATUS(pcu_status_, name, args);                 \
        (rc) = 0;                                            \
        if (pcu_status_ != CUDA_SUCCESS) {                   \
            (rc) = pcu_raise((st), "cu" #name, pcu_status_); \
        }                                                    \
    } while (0)

#endif
