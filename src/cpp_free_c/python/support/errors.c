/* The exception classes of pycuda.driver. This is the only place where a driver status
 * becomes an exception or, in a destructor, a warning.
 *
 * Invariant: the message is "<routine> failed: <text>[ - <detail>]", as in PyCUDA; the
 * attributes are code, name and routine. Callers: see errors.h. */
#include "python/support/errors.h"

#include "python/support/call_site.h"
#include "python/support/interrupt.h"
#include "python/support/suspects.h"
#include "python/support/setup.h"

#include "driver/context_record.h"
#include "driver/driver_log.h"

static PyObject *
errors_class(pcu_state *st, CUresult status)
{
    switch (pcu_status_classify(status)) {
        case PCU_KIND_Error:
            return st->exc_Error;
        case PCU_KIND_LaunchError:
            return st->exc_LaunchError;
        case PCU_KIND_MemoryError:
            return st->exc_MemoryError;
        case PCU_KIND_RuntimeError:
            return st->exc_RuntimeError;
        case PCU_KIND_LogicError:
            break;
    }
    return st->exc_LogicError;
}

static PyObject *
errors_stub_library(void)
{
    return PyUnicode_FromFormat(
        "%s is the toolkit's stub for linking, not a driver; take its folder out of "
        "LD_LIBRARY_PATH, or install NVIDIA's driver",
        pcu_drv_info.path);
}

/* The detail for a driver library that cannot be used, with the remedy. NULL without an
 * exception if the library is usable. */
static PyObject *
errors_driver_state(CUresult status)
{
    const char *detail = pcu_drv_info.detail;
    switch (pcu_drv_info.state) {
        case PCU_DRV_NO_LIBRARY:
            return PyUnicode_FromFormat(
                "no driver library could be opened (%s); install NVIDIA's driver, or "
                "set PYCUDA_DRIVER=emulator for the software device",
                detail);
        case PCU_DRV_TOO_OLD:
            return PyUnicode_FromFormat(
                "%s is too old: it has no cuGetProcAddress, which came with CUDA 11.3; "
                "update NVIDIA's driver to one for CUDA %d.%d or newer",
                pcu_drv_info.path, PCU_DRV_OLDEST / 1000, PCU_DRV_OLDEST % 1000 / 10);
        case PCU_DRV_INCOMPLETE:
            return PyUnicode_FromFormat(
                "%s lacks %s; update NVIDIA's driver to one for CUDA %d.%d or newer",
                pcu_drv_info.path, detail, PCU_DRV_OLDEST / 1000,
                PCU_DRV_OLDEST % 1000 / 10);
        case PCU_DRV_BAD_CHOICE:
            return PyUnicode_DecodeUTF8(detail, (Py_ssize_t)strlen(detail), "replace");
        case PCU_DRV_FORKED:
            return PyUnicode_FromString(
                "this process was forked from one that had initialised CUDA, which the "
                "driver does not support; start it with the 'spawn' method, or call "
                "pycuda.driver.init() only after the fork");
        case PCU_DRV_STUB:
            return errors_stub_library();
        case PCU_DRV_UNLOADED:
        case PCU_DRV_READY:
            break;
    }
    if (status == CUDA_ERROR_STUB_LIBRARY) {
        return errors_stub_library();
    }
    if (status == CUDA_ERROR_NOT_INITIALIZED) {
        return PyUnicode_FromString(
            "call pycuda.driver.init() first, or import pycuda.autoinit");
    }
    if (status == CUDA_ERROR_NO_DEVICE && pcu_drv_info.device != NULL) {
        return PyUnicode_FromString(
            "PYCUDA_EMULATOR_DEVICES is 0; set it to 1 or more, or unset it");
    }
    if (status == CUDA_ERROR_NO_DEVICE) {
        return PyUnicode_FromString(
            "the driver is there but shows no GPU; look at nvidia-smi and "
            "CUDA_VISIBLE_DEVICES, or set PYCUDA_DRIVER=emulator for the software "
            "device");
    }
    return NULL;
}

/* Whether it is one of the driver functions that take the context as an argument. */
static bool
errors_takes_context(const char *routine)
{
    static const char *const names[] = {"cuCtxPushCurrent", "cuCtxSetCurrent",
                                        "cuCtxDestroy", "cuDevicePrimaryCtxRelease"};
    size_t i = 0;
    while (i < Py_ARRAY_LENGTH(names) && strcmp(routine, names[i]) != 0) {
        i++;
    }
    return i < Py_ARRAY_LENGTH(names);
}

/* The explanation of a status as a constant, or NULL if there is none. */
static const char *
errors_explain(const char *routine, CUresult status)
{
    if (status == CUDA_ERROR_INVALID_GRAPHICS_CONTEXT) {
        if (pcu_drv_info.device != NULL) {
            return "the software device shares nothing with OpenGL";
        }
        return "OpenGL has no current context in this thread, or one on another device";
    }
    if (status == CUDA_ERROR_NOT_PERMITTED && pcu_in_host_function) {
        return "a function that a stream calls cannot call the driver. Let it only "
               "note "
               "that the work ahead has ended, as with threading.Event, and make the "
               "call elsewhere";
    }
    if (status == CUDA_ERROR_INVALID_CONTEXT && errors_takes_context(routine)) {
        return "another library has ended this context";
    }
    if (status == CUDA_ERROR_INVALID_CONTEXT && pcu_ctx_current == NULL) {
        return "this thread has no current context; make one with "
               "Device.make_context(), push() one, or import pycuda.autoinit";
    }
    if (status == CUDA_ERROR_TIMEOUT && pcu_drv_info.device != NULL) {
        return "the software device cancelled the kernel, because a signal ended "
               "another "
               "thread's wait for it";
    }
    return NULL;
}

PyObject *
pcu_report_text_new(const char *message, uint64_t hash, const unsigned lines[2])
{
    PyObject *report =
        PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    if (report == NULL || hash == 0 || pcu_is_finalizing()) {
        return report;
    }
    PyObject *module = PyImport_ImportModule("pycuda._fault_line");
    PyObject *complete = NULL;
    if (module != NULL) {
        complete = PyObject_CallMethod(module, "complete", "OKII", report,
                                       (unsigned long long)hash, lines[0], lines[1]);
    }
    Py_XDECREF(module);
    if (complete == NULL) {
        PyErr_Clear(); /* the program has changed what Python knows */
        return report;
    }
    Py_DECREF(report);
    return complete;
}

/* The detail that follows from routine and status: a new string, perhaps empty. NULL on
 * error. */
static PyObject *
errors_own_detail(const char *routine, CUresult status)
{
    PyObject *detail = errors_driver_state(status);
    if (detail != NULL || PyErr_Occurred()) {
        return detail;
    }
    const char *explanation = errors_explain(routine, status);
    if (explanation != NULL) {
        return PyUnicode_FromString(explanation);
    }
    int since = 0;
    if (status == CUDA_ERROR_NOT_FOUND) {
        since = pcu_drv_missing_since(routine);
    }
    if (since != 0) {
        return PyUnicode_FromFormat(
            "%s came with CUDA %d.%d; this driver is for CUDA %d.%d", routine,
            since / 1000, since % 1000 / 10, pcu_drv_info.version / 1000,
            pcu_drv_info.version % 1000 / 10);
    }
    if (pcu_drv_info.device != NULL &&
        (pcu_status_is_sticky(status) || !pcu_drv_info.initialized)) {
        unsigned lines[2];
        uint64_t hash = pcu_drv_info.device->last_ptx(lines);
        return pcu_report_text_new(pcu_drv_info.device->last_message(), hash, lines);
    }
    return PyUnicode_FromString("");
}

static int
errors_set_attributes(PyObject *exception, const char *routine, CUresult status)
{
    PyObject *code = PyLong_FromLong((long)status);
    PyObject *name = PyUnicode_FromString(pcu_status_name(status));
    PyObject *routine_str = PyUnicode_FromString(routine);
    int rc = -1;
    if (code != NULL && name != NULL && routine_str != NULL) {
        rc = PyObject_SetAttrString(exception, "code", code);
    }
    if (rc == 0) {
        rc = PyObject_SetAttrString(exception, "name", name);
    }
    if (rc == 0) {
        rc = PyObject_SetAttrString(exception, "routine", routine_str);
    }
    Py_XDECREF(code);
    Py_XDECREF(name);
    Py_XDECREF(routine_str);
    return rc;
}

/* Set an attribute to a text, and add the text as a note, which tracebacks show since
 * Python 3.11. */
static int
errors_attach(PyObject *exception, const char *attribute, const char *title,
              PyObject *text)
{
    if (PyObject_SetAttrString(exception, attribute, text) < 0) {
        return -1;
    }
#if PY_VERSION_HEX >= 0x030B0000
    PyObject *note = PyUnicode_FromFormat("%s%U", title, text);
    PyObject *done = NULL;
    if (note != NULL) {
        done = PyObject_CallMethod(exception, "add_note", "(O)", note);
    }
    Py_XDECREF(note);
    Py_XDECREF(done);
    if (done == NULL) {
        return -1;
    }
#else
    (void)title;
#endif
    return 0;
}

/* -- calls that a capture refuses -------------------------------------------------- */

/* Whether a capture refuses calls with this code. */
static bool
status_is_of_capture(CUresult status)
{
    return status >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
           status <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

static const char *
capture_explain(CUresult status)
{
    switch ((int)status) {
        case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
            return "a stream that is being captured cannot do this; make the call "
                   "before the capture, or after it";
        case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
            return "an earlier call has made the capture invalid";
        case CUDA_ERROR_STREAM_CAPTURE_MERGE:
            return "two captures would become one";
        case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
            return "the capture began in another stream";
        case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
            return "another stream joined the capture and has work that the captured "
                   "stream does not wait for; let it wait for an event behind that "
                   "work";
        case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
            return "captured work would wait for work outside of the capture; wait for "
                   "that work before the capture";
        case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
            return "work in the default stream would wait for the captured stream; "
                   "enqueue it in the captured stream";
        case CUDA_ERROR_CAPTURED_EVENT:
            return "the event was recorded in a capture: it is a part of the graph and "
                   "has no state of its own";
        default:
            return "another thread began the capture";
    }
}

/* The innermost line of the program: "file:line". */
static PyObject *
capture_place_new(const pcu_state *st)
{
    pcu_line line = pcu_call_site_line(st, pcu_call_site(st));
    if (line.file == NULL) {
        return PyUnicode_FromString("an unknown line");
    }
    return PyUnicode_FromFormat("%U:%d", line.file, line.line);
}

/* The detail of such an error: `detail`, or an explanation if it is empty, and the line
 * of the program that made the call. The first such call is stored in the state, for
 * the error at the end of the capture. */
static PyObject *
capture_detail_new(pcu_state *st, const char *routine, CUresult status,
                   PyObject *detail)
{
    PyObject *result = NULL;
    PyObject *place = capture_place_new(st);
    PyObject *why = NULL;
    if (PyUnicode_GET_LENGTH(detail) == 0) {
        why = PyUnicode_FromString(capture_explain(status));
    }
    else {
        why = Py_NewRef(detail);
    }
    if (place != NULL && why != NULL) {
        result = PyUnicode_FromFormat("%U (%s at %U)", why, routine, place);
    }
    if (result != NULL && st->capture_fault == NULL) {
        st->capture_fault = PyUnicode_FromFormat("%s at %U", routine, place);
        if (st->capture_fault == NULL) {
            Py_CLEAR(result);
        }
    }
    Py_XDECREF(place);
    Py_XDECREF(why);
    return result;
}

/* -- the message ------------------------------------------------------------------- */

/* "<routine> failed: <text>[ - <detail>]" */
static PyObject *
errors_message_new(pcu_state *st, const char *routine, CUresult status,
                   PyObject *detail)
{
    PyObject *own = Py_NewRef(detail);
    if (status_is_of_capture(status)) {
        Py_SETREF(own, capture_detail_new(st, routine, status, detail));
        if (own == NULL) {
            return NULL;
        }
    }
    const char *dash = PyUnicode_GET_LENGTH(own) == 0 ? "" : " - ";
    PyObject *message = PyUnicode_FromFormat("%s failed: %s%s%U", routine,
                                             pcu_status_text(status), dash, own);
    Py_DECREF(own);
    return message;
}

/* Append the launches to a message, which becomes NULL on error. */
static void
errors_append_launches(PyObject **message, PyObject *launches)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(*message);
    const char *words = PyUnicode_AsUTF8(*message);
    if (words == NULL) {
        Py_CLEAR(*message);
        return;
    }
    PyObject *text = pcu_suspects_text_new(launches, words);
    if (text != NULL && PyUnicode_READ_CHAR(*message, length - 1) == '\n') {
        Py_SETREF(text, PyUnicode_Substring(text, 1, PY_SSIZE_T_MAX));
    }
    if (text == NULL) {
        Py_CLEAR(*message);
        return;
    }
    PyUnicode_Append(message, text);
    Py_DECREF(text);
}

/* Add the launches that an error may come from to its message, if the error ends the
 * context. *launches becomes a tuple, or stays NULL. */
static int
errors_add_launches(pcu_state *st, CUresult status, PyObject **message,
                    PyObject **launches)
{
    if (!pcu_status_is_sticky(status)) {
        return 0;
    }
    *launches = pcu_suspects_new(st, pcu_ctx_current);
    if (*launches == NULL) {
        return -1;
    }
    if (pcu_ctx_current != NULL) {
        pcu_ctx_current->told = true;
    }
    Py_CLEAR(st->lost_report);
    errors_append_launches(message, *launches);
    return *message == NULL ? -1 : 0;
}

/* Attach the driver's own messages about the failed call. Tracebacks show them too. */
static int
errors_add_driver_log(PyObject *exception, const char *routine)
{
    char text[PCU_DRIVER_LOG_ROOM];
    size_t length = pcu_driver_log_take(routine, text, sizeof(text));
    if (length == 0) {
        return 0;
    }
    PyObject *log = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
    if (log == NULL) {
        return -1;
    }
    int rc = errors_attach(exception, "driver_log", "The driver's log: ", log);
    Py_DECREF(log);
    return rc;
}

static int
errors_raise(pcu_state *st, const char *routine, CUresult status, PyObject *detail)
{
    PyObject *exc_class = errors_class(st, status);
    PyObject *exception = NULL;
    PyObject *launches = NULL;
    PyObject *message = errors_message_new(st, routine, status, detail);
    if (message == NULL || errors_add_launches(st, status, &message, &launches) < 0) {
        goto done;
    }
    exception = PyObject_CallOneArg(exc_class, message);
    if (exception == NULL || errors_set_attributes(exception, routine, status) < 0) {
        goto done;
    }
    if (launches != NULL &&
        PyObject_SetAttrString(exception, "launches", launches) < 0) {
        goto done;
    }
    if (errors_add_driver_log(exception, routine) < 0) {
        goto done;
    }
    PyErr_SetObject(exc_class, exception);
done:
    Py_XDECREF(message);
    Py_XDECREF(launches);
    Py_XDECREF(exception);
    return -1;
}

/* Give the pending exception a text: as its argument if it has none, else as a note. */
static void
errors_attach_text(PyObject *text)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *arguments = NULL;
    PyObject *done = NULL;
    if (value != NULL) {
        arguments = PyObject_GetAttrString(value, "args");
    }
    if (arguments != NULL && PyObject_Size(arguments) == 0) {
        PyObject *only = PyTuple_Pack(1, text);
        if (only != NULL && PyObject_SetAttrString(value, "args", only) == 0) {
            done = Py_NewRef(Py_None);
        }
        Py_XDECREF(only);
    }
#if PY_VERSION_HEX >= 0x030B0000
    else if (arguments != NULL) {
        done = PyObject_CallMethod(value, "add_note", "(O)", text);
    }
#endif
    if (done == NULL) {
        PyErr_Clear(); /* the exception itself is more important */
    }
    Py_XDECREF(done);
    Py_XDECREF(arguments);
    PyErr_Restore(type, value, traceback);
}

/* -- waits that a signal has ended ------------------------------------------------- */

/* Where the software device has ended a kernel, or an empty text. */
static PyObject *
ended_kernel_text_new(void)
{
    unsigned lines[2];
    uint64_t hash = pcu_drv_info.device->last_ptx(lines);
    const char *message = pcu_drv_info.device->last_message();
    const char *name = pcu_status_name(CUDA_ERROR_TIMEOUT);
    if (strncmp(message, name, strlen(name)) != 0 || strchr(message, '\n') == NULL) {
        return PyUnicode_FromString("");
    }
    PyObject *report = pcu_report_text_new(strchr(message, '\n') + 1, hash, lines);
    PyObject *whole = NULL, *text = NULL;
    if (report != NULL) {
        whole = PyUnicode_FromFormat("The kernel was ended:\n%U", report);
    }
    if (whole != NULL) {
        text = PyObject_CallMethod(whole, "rstrip", NULL);
    }
    Py_XDECREF(report);
    Py_XDECREF(whole);
    pcu_drv_info.device->clear_message();
    return text;
}

/* What the device and the context can still do. */
static PyObject *
ended_wait_text_new(pcu_state *st)
{
    PyObject *launches = pcu_unfinished_text_new(st, pcu_ctx_current);
    PyObject *text = NULL;
    const char *title = "";
    if (launches != NULL && PyUnicode_GET_LENGTH(launches) != 0) {
        title = "\nLaunches since the last good wait, the likeliest first:";
    }
    if (launches != NULL) {
        text = PyUnicode_FromFormat(
            "The wait was ended; the GPU goes on with the work.%s%U\nThe context is "
            "usable: launches and copies in other non-blocking streams run. Calls that "
            "wait for the work wait again, and Ctrl-C ends them: synchronous copies, "
            "Context.synchronize(), loading a module, ending the context. Memory that "
            "the program drops is freed after the work. A kernel that never ends stops "
            "only with its process: restart Python, or the notebook's kernel; "
            "pycuda.tools.recover_context() makes another context until then.",
            title, launches);
    }
    Py_XDECREF(launches);
    return text;
}

/* Let the pending exception of a signal handler say it. */
static void
errors_explain_ended_wait(pcu_state *st)
{
    pcu_saved_error raised;
    pcu_error_save(&raised);
    PyObject *text;
    if (pcu_drv_info.device != NULL) {
        text = ended_kernel_text_new();
    }
    else {
        text = ended_wait_text_new(st);
    }
    if (text == NULL) {
        PyErr_Clear(); /* no memory: the exception is more important */
    }
    pcu_error_restore(&raised);
    if (text != NULL && PyUnicode_GET_LENGTH(text) != 0) {
        errors_attach_text(text);
    }
    Py_XDECREF(text);
}

int
pcu_raise(pcu_state *st, const char *routine, CUresult status)
{
    assert(!PyErr_Occurred());
    if (pcu_interrupt_raise(status)) {
        errors_explain_ended_wait(st);
        return -1;
    }
    PyObject *detail = errors_own_detail(routine, status);
    if (detail != NULL) {
        errors_raise(st, routine, status, detail);
        Py_DECREF(detail);
    }
    return -1;
}

/* Whether the software device has a report on an error that makes a context fail. */
static bool
errors_has_report(CUresult status)
{
    const char *name = pcu_status_name(status);
    return pcu_drv_info.device != NULL && pcu_status_is_sticky(status) &&
           strncmp(pcu_drv_info.device->last_message(), name, strlen(name)) == 0;
}

int
pcu_raise_detail(pcu_state *st, const char *routine, CUresult status,
                 const char *format, ...)
{
    assert(!PyErr_Occurred());
    if (pcu_interrupt_raise(status)) {
        errors_explain_ended_wait(st);
        return -1;
    }
    /* The state of the library, if it has a detail, is more important, and so is the
     * report on earlier work. */
    if (errors_has_report(status)) {
        return pcu_raise(st, routine, status);
    }
    PyObject *detail = errors_driver_state(status);
    if (detail == NULL && !PyErr_Occurred()) {
        va_list args;
        va_start(args, format);
        detail = PyUnicode_FromFormatV(format, args);
        va_end(args);
    }
    if (detail != NULL) {
        errors_raise(st, routine, status, detail);
        Py_DECREF(detail);
    }
    return -1;
}

int
pcu_check_flags(pcu_state *st, const char *routine, CUresult status, unsigned int flags,
                const char *members)
{
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    if (status == CUDA_ERROR_INVALID_VALUE) {
        return pcu_raise_detail(st, routine, status,
                                "flags is %u; it takes members of %s", flags, members);
    }
    return pcu_raise(st, routine, status);
}

void
pcu_report_cleanup(pcu_state *st, const char *routine, uintptr_t handle,
                   CUresult status)
{
    pcu_saved_error pending;
    pcu_error_save(&pending);
    PyObject *category = st->exc_PyCUDAWarning;
    if (category == NULL || pcu_is_finalizing()) {
        PySys_FormatStderr("pycuda: clean-up of handle %p: %s failed: %s\n",
                           (void *)handle, routine, pcu_status_text(status));
    }
    else if (PyErr_WarnFormat(category, 1,
                              "a clean-up operation failed (dead context maybe?): %s "
                              "failed: %s (handle %p)",
                              routine, pcu_status_text(status), (void *)handle) < 0) {
        PyErr_WriteUnraisable(NULL);
    }
    pcu_error_restore(&pending);
}

/* What an exception of the status would say. NULL on error. */
static PyObject *
lost_message_new(pcu_state *st, const char *routine, pcu_context_record *rec,
                 CUresult status)
{
    PyObject *message = NULL;
    PyObject *launches = pcu_suspects_new(st, rec);
    PyObject *detail = errors_own_detail(routine, status);
    if (launches != NULL && detail != NULL) {
        message = errors_message_new(st, routine, status, detail);
    }
    if (message != NULL && PyTuple_GET_SIZE(launches) != 0) {
        errors_append_launches(&message, launches);
    }
    Py_XDECREF(detail);
    Py_XDECREF(launches);
    return message;
}

void
pcu_report_lost(pcu_state *st, const char *routine, pcu_context_record *rec,
                CUresult status)
{
    if (pcu_is_finalizing() || st->exc_PyCUDAWarning == NULL ||
        pcu_suspects_are_known(rec)) {
        return;
    }
    pcu_saved_error pending;
    pcu_error_save(&pending);
    PyObject *message = lost_message_new(st, routine, rec, status);
    if (message != NULL) {
        Py_XSETREF(st->lost_report, Py_NewRef(message));
    }
    if (message != NULL &&
        PyErr_WarnFormat(st->exc_PyCUDAWarning, 1, "a clean-up operation failed: %U",
                         message) < 0) {
        PyErr_WriteUnraisable(NULL);
    }
    PyErr_Clear(); /* no memory for the report */
    Py_XDECREF(message);
    pcu_error_restore(&pending);
}

PyDoc_STRVAR(
    errors_take_lost_report_doc,
    "_take_lost_report($module, /)\n--\n\n"
    "Return the last report that was only a warning since the last call, or None.");

static PyObject *
errors_take_lost_report(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    PyObject *report = st->lost_report;
    st->lost_report = NULL;
    if (report == NULL) {
        Py_RETURN_NONE;
    }
    return report;
}

static PyMethodDef errors_functions[] = {
    {"_take_lost_report", errors_take_lost_report, METH_NOARGS,
     errors_take_lost_report_doc},
    {NULL, NULL, 0, NULL},
};

void
pcu_error_attach_jit_log(PyObject *log)
{
    if (PyUnicode_GET_LENGTH(log) == 0) {
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value != NULL && PyObject_SetAttrString(value, "jit_log", log) < 0) {
        PyErr_Clear(); /* no memory: the first error is more important */
    }
    PyErr_Restore(type, value, traceback);
}

typedef struct {
    const char *name;
    const char *doc;
    size_t slot;
    PyObject **builtin; /* the second base, or NULL */
} errors_spec;

static int
errors_add(PyObject *m, pcu_state *st, const errors_spec *spec, PyObject *base)
{
    char full_name[64];
    PyObject *bases = NULL;
    PyObject *exception = NULL;
    int rc = -1;
    PyOS_snprintf(full_name, sizeof(full_name), "pycuda._driver.%s", spec->name);
    if (spec->builtin == NULL) {
        bases = PyTuple_Pack(1, base);
    }
    else {
        bases = PyTuple_Pack(2, base, *spec->builtin);
    }
    if (bases == NULL) {
        goto done;
    }
    exception = PyErr_NewExceptionWithDoc(full_name, spec->doc, bases, NULL);
    if (exception == NULL || PyModule_AddObjectRef(m, spec->name, exception) < 0) {
        goto done;
    }
    *(PyObject **)((char *)st + spec->slot) = exception;
    exception = NULL;
    rc = 0;
done:
    Py_XDECREF(bases);
    Py_XDECREF(exception);
    return rc;
}

/* Give the class the attribute of errors that come from no launch. */
static int
errors_add_no_launches(PyObject *exc_class)
{
    PyObject *none = PyTuple_New(0);
    if (none == NULL) {
        return -1;
    }
    int rc = PyObject_SetAttrString(exc_class, "launches", none);
    Py_DECREF(none);
    return rc;
}

static int
errors_add_no_logs(PyObject *exc_class)
{
    PyObject *none = PyUnicode_FromString("");
    int rc = none == NULL ? -1 : 0;
    if (rc == 0) {
        rc = PyObject_SetAttrString(exc_class, "driver_log", none);
    }
    if (rc == 0) {
        rc = PyObject_SetAttrString(exc_class, "jit_log", none);
    }
    Py_XDECREF(none);
    return rc;
}

int
pcu_errors_setup(PyObject *m, pcu_state *st)
{
#define SLOT(name) offsetof(pcu_state, exc_##name)
    const errors_spec root = {
        "Error",
        "The base class of errors that the driver reports.\n\n"
        "Attributes\n"
        "----------\n"
        "code : int or None\n"
        "    The CUresult.\n"
        "name : str or None\n"
        "    The name of the code: CUDA_ERROR_ and so on.\n"
        "routine : str or None\n"
        "    The driver's function that failed.\n"
        "launches : tuple of LaunchRecord\n"
        "    The launches that the error may come from, the likeliest first; empty\n"
        "    for errors of the call itself.\n"
        "driver_log : str\n"
        "    What the driver (CUDA 12.9 or newer) says about the call; may be empty.\n"
        "jit_log : str\n"
        "    What the driver's compiler says; may be empty.",
        SLOT(Error), NULL};
    const errors_spec specs[] = {
        {"LogicError",
         "A wrong call: an invalid argument or handle, or calls in a wrong order.",
         SLOT(LogicError), NULL},
        {"LaunchError", "A kernel could not be launched, or it failed.",
         SLOT(LaunchError), NULL},
        {"MemoryError", "Not enough memory on the device.", SLOT(MemoryError),
         &PyExc_MemoryError},
        {"RuntimeError", "A device or a file is missing or not ready.",
         SLOT(RuntimeError), &PyExc_RuntimeError},
    };
    const errors_spec warning = {"PyCUDAWarning",
                                 "A failure where no exception can be raised.",
                                 SLOT(PyCUDAWarning), NULL};
#undef SLOT
    if (errors_add(m, st, &root, PyExc_Exception) < 0) {
        return -1;
    }
    static const char *const attributes[] = {"code", "name", "routine"};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(attributes); i++) {
        if (PyObject_SetAttrString(st->exc_Error, attributes[i], Py_None) < 0) {
            return -1;
        }
    }
    if (errors_add_no_launches(st->exc_Error) < 0 ||
        errors_add_no_logs(st->exc_Error) < 0) {
        return -1;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(specs); i++) {
        if (errors_add(m, st, &specs[i], st->exc_Error) < 0) {
            return -1;
        }
    }
    if (errors_add(m, st, &warning, PyExc_UserWarning) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, errors_functions);
}

int
pcu_refuse_array(const char *function, PyObject *value)
{
    const char *hint = PyArray_Check(value) ? "; copy it with to_gpu()" : "";
    PyErr_Format(PyExc_TypeError, "%s takes a GPUArray, not %s%s", function,
                 Py_TYPE(value)->tp_name, hint);
    return -1;
}
