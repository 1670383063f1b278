/* Warnings of the software device. See device_warnings.h. */
#include "python/support/device_warnings.h"

#include "python/support/at_exit.h"
#include "python/support/call_site.h"
#include "python/support/setup.h"

enum { WARNING_ROOM = 4096 };

/* Give a warning at the line that makes the current call. */
static int
warning_give(const pcu_state *st, const char *text)
{
    pcu_line line = pcu_call_site_line(st, pcu_call_site(st));
    if (line.file == NULL) {
        return PyErr_WarnEx(st->exc_PyCUDAWarning, text, 1);
    }
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (message == NULL) {
        return -1;
    }
    int rc = PyErr_WarnExplicitObject(st->exc_PyCUDAWarning, message, line.file,
                                      line.line, NULL, NULL);
    Py_DECREF(message);
    return rc;
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
    char text[WARNING_ROOM];
    size_t length;
    while ((length = pcu_drv_info.device->take_warning(text, sizeof text)) != 0) {
        text[length - 1] = 0; /* the line break at the end */
        if (warning_give(st, text) < 0) {
            warnings_ask(st);
            return -1;
        }
    }
    return 0;
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
