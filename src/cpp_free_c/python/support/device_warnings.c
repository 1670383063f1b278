/* Warnings of the software device. See device_warnings.h. */
#include "python/support/device_warnings.h"

#include "python/support/at_exit.h"
#include "python/support/call_site.h"
#include "python/support/errors.h"
#include "python/support/setup.h"

enum { WARNING_ROOM = 4096 };

/* Give a warning at the line that makes the current call. */
static int
warning_give(const pcu_state *st, PyObject *text)
{
    pcu_line line = pcu_call_site_line(st, pcu_call_site(st));
    if (line.file == NULL) {
        return PyErr_WarnFormat(st->exc_PyCUDAWarning, 1, "%U", text);
    }
    return PyErr_WarnExplicitObject(st->exc_PyCUDAWarning, text, line.file, line.line,
                                    NULL, NULL);
}

static int warnings_deliver(void *state);

/* Ask the main thread to give the warnings as soon as it runs Python code. If the queue
 * of pending calls is full, the next warning asks again. */
static void
warnings_ask(pcu_state *st)
{
    (void)Py_AddPendingCall(warnings_deliver, st);
}

/* Give all warnings. If one is an error, the others follow in a later call. */
static int
warnings_deliver(void *state)
{
    pcu_state *st = state;
    char report[WARNING_ROOM];
    unsigned long long hash;
    unsigned lines[2];
    size_t length;
    while ((length = pcu_drv_info.device->take_warning(report, sizeof report, &hash,
                                                       lines)) != 0) {
        report[length - 1] = 0; /* the line break at the end */
        PyObject *text = pcu_report_text_new(report, hash, lines);
        int rc = text == NULL ? -1 : warning_give(st, text);
        Py_XDECREF(text);
        if (rc < 0) {
            warnings_ask(st);
            return -1;
        }
    }
    return 0;
}

void
pcu_device_notice_write(PyThreadState *released)
{
    char report[WARNING_ROOM];
    unsigned long long hash;
    unsigned lines[2];
    pcu_saved_error before;
    if (pcu_drv_info.device == NULL ||
        pcu_drv_info.device->take_notice(report, sizeof report, &hash, lines) == 0) {
        return;
    }
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
    pcu_error_save(&before);
    PyObject *text = pcu_report_text_new(report, hash, lines);
    if (text != NULL) {
        PySys_FormatStderr("pycuda: %U", text);
    }
    Py_XDECREF(text);
    PyErr_Clear(); /* a program without stderr */
    pcu_error_restore(&before);
    if (released != NULL) {
        (void)PyEval_SaveThread();
    }
}

static void
warnings_note(void *state)
{
    warnings_ask(state);
}

static PyObject *
warnings_at_exit(PyObject *module, PyObject *Py_UNUSED(ignored))
{
    pcu_drv_info.device->set_warned(NULL, NULL); /* later ones go to stderr */
    if (warnings_deliver(pcu_state_of_module(module)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef warnings_at_exit_method = {"give_device_warnings", warnings_at_exit,
                                              METH_NOARGS, NULL};

int
pcu_device_warnings_setup(PyObject *module)
{
    pcu_state *st = pcu_state_of_module(module);
    if (pcu_drv_info.device == NULL || st->has_device_warnings) {
        return 0;
    }
    if (pcu_at_exit(&warnings_at_exit_method, module) < 0) {
        return -1;
    }
    st->has_device_warnings = true;
    pcu_drv_info.device->set_warned(warnings_note, st);
    return 0;
}
