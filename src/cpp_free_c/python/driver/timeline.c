/* Timelines for Python: the functions that pycuda.profile calls, and what the wrappers
 * of driver/timeline.c need of the interpreter.
 *
 * Invariant: one timeline records at a time. Callers: Python, and see
 * driver/timeline.h. */
#include "driver/timeline.h"

#include "python/support/call_site.h"
#include "python/support/driver_call.h"
#include "python/support/interrupt.h"
#include "python/support/setup.h"

#include "driver/ticks.h"

/* -- what wrappers need ------------------------------------------------------------ */

static int
timeline_attach(void **token)
{
    PyThreadState *state = PyGILState_GetThisThreadState();
    *token = NULL;
    if (state == NULL || pcu_is_finalizing()) {
        return 0;
    }
    if (pcu_thread_attached() == NULL) {
        PyEval_RestoreThread(state);
        *token = state;
    }
    return 1;
}

static void
timeline_detach(void *token)
{
    if (token != NULL) {
        (void)PyEval_SaveThread();
    }
}

static void *
timeline_unlock(void)
{
    return pcu_unlock();
}

static void
timeline_lock(void *thread)
{
    pcu_lock(thread);
}

static uint32_t
timeline_site(void *state)
{
    return pcu_call_site(state);
}

/* Kernels of arrays are called "kernel" in their images. */
static void
timeline_rename(void *state, CUfunction function, char *name, size_t room)
{
    const pcu_state *st = state;
    pcu_saved_error pending;
    if (strcmp(name, "kernel") != 0 || st->kernel_name_new == NULL) {
        return;
    }
    pcu_error_save(&pending);
    PyObject *found = st->kernel_name_new(function);
    const char *text = NULL;
    if (found != NULL) {
        text = PyUnicode_AsUTF8(found);
    }
    if (text != NULL) {
        (void)PyOS_snprintf(name, room, "%s", text);
    }
    Py_XDECREF(found);
    PyErr_Clear(); /* the kernel keeps its name */
    pcu_error_restore(&pending);
}

/* -- begin and end ----------------------------------------------------------------- */

PyDoc_STRVAR(timeline_begin_doc,
             "_timeline_begin($module, most, /)\n--\n\n"
             "Record the calls of the driver, at most so many.\n\n"
             "RuntimeError if a timeline is being recorded. It loads the driver.");

static PyObject *
timeline_begin(PyObject *m, PyObject *most)
{
    pcu_state *st = pcu_state_of_module(m);
    const pcu_timeline_hooks hooks = {.state = st,
                                      .attach = timeline_attach,
                                      .detach = timeline_detach,
                                      .unlock = timeline_unlock,
                                      .lock = timeline_lock,
                                      .site = timeline_site,
                                      .rename = timeline_rename,
                                      .thread = PyThread_get_thread_ident};
    size_t count = PyLong_AsSize_t(most);
    if (count == (size_t)-1 && PyErr_Occurred()) {
        return NULL;
    }
    if (pcu_timeline.on) {
        PyErr_SetString(PyExc_RuntimeError,
                        "a timeline is being recorded; end it first");
        return NULL;
    }
    CUresult status = pcu_drv_load();
    if (status != CUDA_SUCCESS) {
        pcu_raise(st, "cuInit", status);
        return NULL;
    }
    pcu_timeline_begin(&hooks, count);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(timeline_is_on_doc,
             "_timeline_is_on($module, /)\n--\n\n"
             "Return whether a timeline is being recorded.");

static PyObject *
timeline_is_on(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    return PyBool_FromLong(pcu_timeline.on);
}

static const char *
timeline_kind_name(pcu_span_kind kind)
{
#define KIND_NAME(kind_, name, on_device) name,
    static const char *const names[] = {PCU_SPAN_KINDS(KIND_NAME)};
#undef KIND_NAME
    return names[kind];
}

static PyObject *
timeline_span(const pcu_span *span)
{
    const char *name = span->routine;
    int device = -1;
    if (span->name != NULL) {
        name = span->name;
    }
    if (span->context >= 0) {
        device = pcu_timeline.contexts[span->context].device;
    }
    return Py_BuildValue(
        "(ssKKKKkKIiii(III)(III)nO)", timeline_kind_name(span->kind), name,
        (unsigned long long)span->begin, (unsigned long long)span->end,
        (unsigned long long)span->device_begin, (unsigned long long)span->device_end,
        span->thread, (unsigned long long)(uintptr_t)span->stream,
        (unsigned int)span->site, span->context, device, span->kernel, span->grid[0],
        span->grid[1], span->grid[2], span->block[0], span->block[1], span->block[2],
        (Py_ssize_t)span->bytes, span->failed ? Py_True : Py_False);
}

static PyObject *
timeline_kernel(const pcu_timed_kernel *kernel)
{
    return Py_BuildValue("(sIIiiii)", kernel->name, kernel->threads, kernel->shared,
                         kernel->registers, kernel->static_shared, kernel->local,
                         kernel->blocks_per_multiprocessor);
}

static PyObject *
timeline_spans(void)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < pcu_timeline.span_count; i++) {
        PyObject *row = timeline_span(&pcu_timeline.spans[i]);
        if (row == NULL || PyList_Append(list, row) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *
timeline_kernels(void)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < pcu_timeline.kernel_count; i++) {
        PyObject *row = timeline_kernel(&pcu_timeline.kernels[i]);
        if (row == NULL || PyList_Append(list, row) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
    }
    return list;
}

PyDoc_STRVAR(
    timeline_finish_doc,
    "_timeline_finish($module, /)\n--\n\n"
    "End the timeline. Return its begin and end, the number of spans that were not\n"
    "kept, the spans and the kernels, as tuples.\n\n"
    "Times are nanoseconds of the monotonic clock. It waits for the work of all\n"
    "contexts that the timeline has seen.");

static PyObject *
timeline_finish(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    if (!pcu_timeline.on) {
        PyErr_SetString(PyExc_RuntimeError, "no timeline is being recorded");
        return NULL;
    }
    pcu_timeline_finish();
    PyObject *spans = timeline_spans();
    PyObject *kernels = NULL;
    if (spans != NULL) {
        kernels = timeline_kernels();
    }
    PyObject *result = NULL;
    if (kernels != NULL) {
        result = Py_BuildValue("(KKnOO)", (unsigned long long)pcu_timeline.start,
                               (unsigned long long)pcu_timeline.end,
                               (Py_ssize_t)pcu_timeline.dropped, spans, kernels);
    }
    pcu_timeline_clear();
    Py_XDECREF(spans);
    Py_XDECREF(kernels);
    return result;
}

/* -- spans of Python --------------------------------------------------------------- */

PyDoc_STRVAR(
    timeline_note_doc,
    "_timeline_note($module, kind, name, begin, end, /)\n--\n\n"
    "Add a span of the kind 'compile' or 'range' to the timeline, if one records.\n\n"
    "begin, end: nanoseconds of the monotonic clock.");

static PyObject *
timeline_note(PyObject *m, PyObject *args)
{
    const char *kind = NULL;
    const char *name = NULL;
    unsigned long long begin = 0;
    unsigned long long end = 0;
    if (!PyArg_ParseTuple(args, "ssKK:_timeline_note", &kind, &name, &begin, &end)) {
        return NULL;
    }
    if (!pcu_timeline.on) {
        Py_RETURN_NONE;
    }
    pcu_span span = {.kind = PCU_SPAN_RANGE,
                     .routine = "",
                     .begin = begin,
                     .end = end,
                     .thread = PyThread_get_thread_ident(),
                     .site = pcu_call_site(pcu_state_of_module(m)),
                     .context = -1,
                     .kernel = -1};
    if (strcmp(kind, "compile") == 0) {
        span.kind = PCU_SPAN_COMPILE;
    }
    size_t size = strlen(name) + 1;
    span.name = malloc(size);
    if (span.name == NULL) {
        return PyErr_NoMemory();
    }
    memcpy(span.name, name, size);
    if (pcu_timeline_add(&span) == NULL) {
        free(span.name);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(timeline_clock_doc,
             "_timeline_clock($module, /)\n--\n\n"
             "Return the nanoseconds of the clock of timelines, 0 if none records.");

static PyObject *
timeline_clock(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    uint64_t now = 0;
    if (pcu_timeline.on) {
        now = pcu_nanoseconds();
    }
    return PyLong_FromUnsignedLongLong(now);
}

static PyMethodDef timeline_functions[] = {
    {"_timeline_begin", timeline_begin, METH_O, timeline_begin_doc},
    {"_timeline_finish", timeline_finish, METH_NOARGS, timeline_finish_doc},
    {"_timeline_is_on", timeline_is_on, METH_NOARGS, timeline_is_on_doc},
    {"_timeline_note", timeline_note, METH_VARARGS, timeline_note_doc},
    {"_timeline_clock", timeline_clock, METH_NOARGS, timeline_clock_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_timeline_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, timeline_functions);
}
