/* Calling the driver: with or without the interpreter lock, and raising what fails. */
#ifndef PYTHON_SUPPORT_DRIVER_CALL_H
#define PYTHON_SUPPORT_DRIVER_CALL_H

#include "python/support/base.h"

#include "python/support/errors.h"

#include "driver/context_record.h"

/* Release and retake the interpreter lock around a call of the driver that may wait. */
static inline PyThreadState *
pcu_unlock(void)
{
    pcu_calls_waiting++;
    return PyEval_SaveThread();
}

static inline void
pcu_lock(PyThreadState *thread)
{
    PyEval_RestoreThread(thread);
    pcu_calls_waiting--;
}

/* 1 if the lock has to be released around a call with that entry in the table, which is
 * a constant. Calls that take a place in a queue are counted. */
static inline int
pcu_must_unlock(int blocking)
{
    int full = (blocking == PCU_BLOCKING_QUEUE || blocking == PCU_BLOCKING_COPY) &&
               pcu_queue_may_be_full();
    return full || blocking >= PCU_BLOCKING_COPY ||
           (blocking != PCU_BLOCKING_GIL && pcu_calls_waiting != 0);
}

/* Call the driver. The row of the function decides whether the interpreter lock is
 * released meanwhile: all calls of rows other than GIL are made by this macro.
 */
#define PCU_STATUS(status, name, args)                 \
    do {                                               \
        if (pcu_must_unlock(PCU_WAITS_##name)) {       \
            PyThreadState *pcu_thread_ = pcu_unlock(); \
            (status) = drv.name args;                  \
            pcu_lock(pcu_thread_);                     \
        }                                              \
        else {                                         \
            (status) = drv.name args;                  \
        }                                              \
    } while (0)

/* The same, and raise the exception of the code on failure. rc becomes 0 or -1. */
#define PCU_CALL(rc, st, name, args)                                                   \
    do {                                                                               \
        CUresult pcu_status_;                                                          \
        PCU_STATUS(pcu_status_, name, args);                                           \
        (rc) = pcu_status_ == CUDA_SUCCESS ? 0                                         \
                                           : pcu_raise((st), "cu" #name, pcu_status_); \
    } while (0)

#endif
