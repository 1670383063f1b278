/* Signals while the device computes or waits.
 *
 * The software device runs a callback during long calls (device/machine/warp/wait.h),
 * and so do the waits for a real driver (driver/waits.h); the callback here runs
 * Python's signal handlers. If a handler raises, the software device cancels the kernel
 * or ends the wait, the wait for a real driver ends without the work, and the driver
 * call fails. pcu_interrupt_raise then raises the handler's exception instead of that
 * failure. If the failure is not raised, as in a destructor, a pending call raises the
 * exception as soon as Python code runs.
 *
 * A long call also releases the interpreter lock, if it holds it, until it returns.
 * Otherwise no other thread could run, and the main thread could not be interrupted.
 *
 * Invariant: a thread has at most one saved exception, which is raised exactly once.
 * Callers: see interrupt.h. */
#include "python/support/interrupt.h"

#include "driver/context_record.h"
#include "driver/staging.h"
#include "driver/waits.h"

/* The questions of device/machine/warp/wait.h. */
enum { INTERRUPT_POLL, INTERRUPT_RETURN, INTERRUPT_THREADS };

/* The thread state of a call that released the interpreter lock here, else NULL. */
static PCU_THREAD PyThreadState *interrupt_released;
/* The exception of a signal handler during a call. Only the main thread has one. */
static PCU_THREAD pcu_saved_error interrupt_error;
static PCU_THREAD bool interrupt_is_raised;

/* A pending call: raise the exception if no failed driver call has raised it. */
static int
interrupt_deliver(void *Py_UNUSED(arg))
{
    if (!interrupt_is_raised) {
        return 0;
    }
    interrupt_is_raised = false;
    pcu_error_restore(&interrupt_error);
    return -1;
}

bool
pcu_interrupt_check(void)
{
    pcu_saved_error before;
    pcu_error_save(&before);
    pcu_scope *suspended = pcu_scopes_suspend();
    bool raised = PyErr_CheckSignals() < 0;
    pcu_scopes_resume(suspended);
    if (raised && !interrupt_is_raised) {
        pcu_error_save(&interrupt_error);
        interrupt_is_raised = true;
        /* If the queue of pending calls is full, the failed driver call raises it. */
        (void)Py_AddPendingCall(interrupt_deliver, NULL);
    }
    PyErr_Clear(); /* of a second signal: the call is already being cancelled */
    pcu_error_restore(&before);
    return raised;
}

static bool
interrupt_poll(void)
{
    bool is_main = PyThread_get_thread_ident() == pcu_drv_info.main_thread;
    PyThreadState *attached = pcu_thread_attached();
    if (attached != NULL) {
        bool raised = is_main && pcu_interrupt_check();
        pcu_device_notice_write(NULL);
        interrupt_released = PyEval_SaveThread();
        return raised;
    }
    PyThreadState *state = PyGILState_GetThisThreadState();
    if (state == NULL) {
        return false;
    }
    PyThreadState *released = interrupt_released;
    interrupt_released = NULL; /* a driver call of a handler may poll too */
    pcu_device_notice_write(state);
    if (!is_main) {
        interrupt_released = released;
        return false;
    }
    PyEval_RestoreThread(state);
    bool raised = pcu_interrupt_check();
    (void)PyEval_SaveThread();
    interrupt_released = released;
    return raised;
}

/* The number of threads that run Python, or -1 with an exception. Any of them may use
 * the device at any time, including daemons and threads of _thread. The caller holds
 * the interpreter lock. */
static int
interrupt_count_threads(void)
{
    Py_ssize_t count = -1;
    PyObject *frames = NULL;
    PyObject *function = PySys_GetObject("_current_frames"); /* borrowed */
    if (function != NULL) {
        frames = PyObject_CallNoArgs(function);
    }
    if (frames != NULL && PyDict_Check(frames)) {
        count = PyDict_Size(frames);
    }
    Py_XDECREF(frames);
    if (count > INT_MAX) {
        return -1;
    }
    return (int)count;
}

/* The answer to INTERRUPT_THREADS; INT_MAX if the number is not known. */
static int
interrupt_threads(void)
{
    PyThreadState *attached = pcu_thread_attached();
    PyThreadState *state = PyGILState_GetThisThreadState();
    if (state == NULL || pcu_is_finalizing()) {
        return INT_MAX;
    }
    if (attached == NULL) {
        PyEval_RestoreThread(state);
    }
    pcu_saved_error before;
    pcu_error_save(&before);
    int count = interrupt_count_threads();
    PyErr_Clear(); /* the number is not known */
    pcu_error_restore(&before);
    if (attached == NULL) {
        (void)PyEval_SaveThread();
    }
    return count < 0 ? INT_MAX : count;
}

static int
interrupt_ask(int question)
{
    if (question == INTERRUPT_POLL) {
        return interrupt_poll();
    }
    if (question == INTERRUPT_THREADS) {
        return interrupt_threads();
    }
    if (interrupt_released != NULL) {
        PyThreadState *state = interrupt_released;
        interrupt_released = NULL;
        PyEval_RestoreThread(state);
    }
    return 0;
}

bool
pcu_interrupt_raise(CUresult status)
{
    if (status != CUDA_ERROR_TIMEOUT || !interrupt_is_raised) {
        return false;
    }
    interrupt_is_raised = false;
    pcu_error_restore(&interrupt_error);
    return true;
}

int
pcu_interrupt_setup(void)
{
    if (pcu_drv_info.main_thread != 0) {
        return 0;
    }
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread = NULL;
    PyObject *ident = NULL;
    int rc = -1;
    if (threading != NULL) {
        thread = PyObject_CallMethod(threading, "main_thread", NULL);
    }
    if (thread != NULL) {
        ident = PyObject_GetAttrString(thread, "ident");
    }
    if (ident != NULL) {
        pcu_drv_info.main_thread = PyLong_AsUnsignedLong(ident);
        if (!PyErr_Occurred()) {
            rc = 0;
        }
    }
    if (rc == 0) {
        pcu_staging_begin(interrupt_ask);
    }
    if (rc == 0 && pcu_drv_info.device != NULL) {
        pcu_drv_info.device->set_host(interrupt_ask);
    }
    else if (rc == 0) {
        pcu_waits_begin(interrupt_ask);
    }
    Py_XDECREF(ident);
    Py_XDECREF(thread);
    Py_XDECREF(threading);
    return rc;
}
