/* Python code in threads of the driver.
 *
 * A thread that asks for the interpreter lock while the interpreter ends never gets it:
 * CPython ends the thread, or lets it wait for ever. A thread of the driver must
 * return, because its stream, and the end of its context, wait for it. A function that
 * runs at exit, while threads can still take the lock, therefore turns new threads away
 * and waits until those that entered have left.
 *
 * Invariant: a thread is counted from before it asks for the lock until after it has
 * released it. Callers: see driver_thread.h. */
#include "python/support/driver_thread.h"

#include <time.h>

#include "driver/host_threads.h"
#include "python/support/at_exit.h"

enum { DRIVER_THREAD_WAIT_NS = 200000 };

bool
pcu_driver_thread_enter(pcu_driver_thread *thread)
{
    if (!pcu_host_threads_enter()) {
        return false;
    }
    if (pcu_is_finalizing() || !Py_IsInitialized()) {
        pcu_host_threads_leave();
        return false;
    }
    thread->held = PyGILState_Ensure();
    pcu_error_save(&thread->pending);
    return true;
}

void
pcu_driver_thread_leave(pcu_driver_thread *thread)
{
    pcu_error_restore(&thread->pending);
    PyGILState_Release(thread->held);
    pcu_host_threads_leave();
}

/* Run at exit. Ctrl-C ends the wait. */
static PyObject *
driver_thread_close(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(ignored))
{
    const struct timespec pause = {0, DRIVER_THREAD_WAIT_NS};
    pcu_host_threads_close();
    while (pcu_host_threads_inside() != 0) {
        Py_BEGIN_ALLOW_THREADS(void)
        nanosleep(&pause, NULL);
        Py_END_ALLOW_THREADS
        if (PyErr_CheckSignals() < 0) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

static PyMethodDef driver_thread_method = {"close_driver_threads", driver_thread_close,
                                           METH_NOARGS, NULL};

int
pcu_driver_thread_setup(pcu_state *st)
{
    if (st->has_driver_threads) {
        return 0;
    }
    pcu_host_threads_open();
    st->has_driver_threads = pcu_at_exit(&driver_thread_method, NULL) == 0;
    return st->has_driver_threads ? 0 : -1;
}
