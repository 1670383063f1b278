/* Host functions: calls of Python functions by a stream.
 *
 * The driver calls host_function_run in a thread of its own when the work ahead in the
 * stream has ended. That takes the interpreter lock and calls the function; work behind
 * it in the stream waits. The software device calls it in the thread that enqueues it,
 * or that waits for the stream.
 *
 * Invariant: a call that has not run is in the list of its context and owns its
 * function. When the context ends, its calls lose their functions, but not their
 * memory, because the driver may still call them. A call in a captured stream belongs
 * to the graph, which frees it. The list is read and written under the interpreter
 * lock. Python is the only caller. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_thread.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"
#include "python/driver/stream.h"
#include "driver/events.h"

typedef struct pcu_host_call {
    struct pcu_host_call *next;
    struct pcu_host_call **link; /* the pointer to this call; NULL: in no list */
    PyObject *function;          /* strong, or of the graph; NULL after the context */
    PyObject *args;              /* a tuple, owned like the function */
    bool repeats;                /* a graph calls it each time it runs */
    bool kept;                   /* no graph frees it: the context keeps it */
} host_call;

/* -- the list of a context --------------------------------------------------------- */

static void
host_call_unlink(host_call *call)
{
    if (call->link == NULL) {
        return;
    }
    *call->link = call->next;
    if (call->next != NULL) {
        call->next->link = call->link;
    }
    call->link = NULL;
    call->next = NULL;
}

/* End the part of a context: its calls will not run any more. */
static void
host_calls_end(pcu_context *context)
{
    pcu_saved_error pending;
    pcu_error_save(&pending);
    while (context->host_calls != NULL) {
        host_call *call = context->host_calls;
        host_call_unlink(call);
        Py_CLEAR(call->function);
        Py_CLEAR(call->args);
    }
    pcu_error_restore(&pending);
}

static host_call *
host_call_new(pcu_context *context, PyObject *function, PyObject *args, bool repeats)
{
    host_call *call = PyMem_RawCalloc(1, sizeof(*call));
    if (call == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    call->function = Py_NewRef(function);
    call->args = Py_NewRef(args);
    call->repeats = repeats;
    call->next = context->host_calls;
    call->link = &context->host_calls;
    if (call->next != NULL) {
        call->next->link = &call->next;
    }
    context->host_calls = call;
    context->end_part[PCU_CONTEXT_HOST_CALLS] = host_calls_end;
    return call;
}

/* -- the calls of a graph ---------------------------------------------------------- */

static void
host_call_free_capsule(PyObject *capsule)
{
    PyMem_RawFree(PyCapsule_GetPointer(capsule, NULL));
}

/* A call that the graph of an active capture owns. The graph keeps the function itself,
 * so that the garbage collector sees a function that refers to its graph. */
static host_call *
host_call_of_graph(PyObject *function, PyObject *args)
{
    host_call *call = PyMem_RawCalloc(1, sizeof(*call));
    if (call == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    call->function = function;
    call->args = args;
    call->repeats = true;
    PyObject *owner = PyCapsule_New(call, NULL, host_call_free_capsule);
    if (owner == NULL) {
        PyMem_RawFree(call);
        return NULL;
    }
    if (pcu_captured_object(function) < 0 || pcu_captured_object(args) < 0 ||
        pcu_captured_object(owner) < 0) {
        call = NULL; /* the owner frees it */
    }
    Py_DECREF(owner);
    return call;
}

/* -- the call ---------------------------------------------------------------------- */

/* Call the function. An exception goes to sys.unraisablehook. */
static void
host_function_call(host_call *call)
{
    PyObject *function = Py_XNewRef(call->function);
    PyObject *args = Py_XNewRef(call->args);
    if (!call->repeats) {
        host_call_unlink(call);
        Py_CLEAR(call->function);
        Py_CLEAR(call->args);
        PyMem_RawFree(call);
    }
    if (function != NULL) {
        const bool outer = pcu_in_host_function;
        pcu_in_host_function = true;
        PyObject *result = PyObject_Call(function, args, NULL);
        pcu_in_host_function = outer;
        if (result == NULL) {
            PyErr_WriteUnraisable(function);
        }
        Py_XDECREF(result);
    }
    Py_XDECREF(args);
    Py_XDECREF(function);
}

/* Called by the driver. */
static void
host_function_run(void *data)
{
    pcu_driver_thread thread;
    if (!pcu_driver_thread_enter(&thread)) {
        return;
    }
    host_function_call(data);
    pcu_driver_thread_leave(&thread);
}

/* -- Stream.add_callback, launch_host_func ----------------------------------------- */

static void
host_call_free(host_call *call)
{
    host_call_unlink(call);
    Py_CLEAR(call->function);
    Py_CLEAR(call->args);
    PyMem_RawFree(call);
}

/* Called by the driver when the last graph that calls the function is gone. */
static void
host_call_end(void *data)
{
    pcu_driver_thread thread;
    if (!pcu_driver_thread_enter(&thread)) {
        return;
    }
    if (!((host_call *)data)->kept) {
        host_call_free(data);
    }
    pcu_driver_thread_leave(&thread);
}

/* Let the graph that the stream is captured into own the call. Another library began
 * the capture. If the driver cannot do that, the context keeps the call. */
static void
host_call_give(host_call *call, CUstream stream)
{
    CUstreamCaptureStatus state = 0;
    CUgraph graph = NULL;
    CUuserObject object = NULL;
    if (drv.StreamGetCaptureInfo(stream, &state, NULL, &graph, NULL, NULL, NULL) !=
            CUDA_SUCCESS ||
        graph == NULL ||
        drv.UserObjectCreate(&object, call, host_call_end, 1,
                             CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) != CUDA_SUCCESS) {
        return;
    }
    if (drv.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE) !=
        CUDA_SUCCESS) {
        CUresult status;
        call->kept = true;
        PCU_STATUS(status, UserObjectRelease, (object, 1));
        (void)status; /* the context keeps the call anyway */
    }
}

static int
host_function_enqueue(pcu_state *st, pcu_context *context, CUstream stream,
                      PyObject *function, PyObject *args)
{
    int rc = pcu_current_context_ready(st);
    if (rc < 0) {
        return -1;
    }
    pcu_capture capture;
    CUresult status = pcu_capture_ask(stream, &capture);
    if (status != CUDA_SUCCESS) {
        return pcu_raise(st, "cuStreamIsCapturing", status);
    }
    bool captured = capture == PCU_CAPTURE_STREAM;
    bool of_graph = captured && pcu_captures != NULL;
    host_call *call;
    if (of_graph) {
        call = host_call_of_graph(function, args);
    }
    else {
        call = host_call_new(context, function, args, captured);
    }
    if (call == NULL) {
        return -1;
    }
    pcu_doubts++;
    PCU_CALL(rc, st, LaunchHostFunc, (stream, host_function_run, call));
    if (of_graph) {
        return rc; /* the graph frees the call in any case */
    }
    if (rc < 0) {
        host_call_free(call);
    }
    else if (captured) {
        host_call_give(call, stream);
    }
    return rc;
}

/* Check the function of a call. */
static int
host_function_check(PyObject *function)
{
    if (PyCallable_Check(function)) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "function must be callable, not %s",
                 Py_TYPE(function)->tp_name);
    return -1;
}

PyDoc_STRVAR(host_function_add_callback_doc,
             "add_callback($self, function, /, *args)\n"
             "--\n\n"
             "Call a function when the work enqueued in the stream so far has ended.\n"
             "\nParameters\n----------\n"
             "function : callable\n"
             "    The function. It must not call the driver, and must not wait for a\n"
             "    thread that does.\n"
             "*args : object\n"
             "    Arguments of the function.\n"
             "\nRaises\n------\n" PCU_DOC_NOT_CALLABLE PCU_DOC_CONTEXT_ENDED
             "\nSee Also\n--------\n"
             "launch_host_func : The same as a function, without arguments.\n"
             "Graph.add_host : A call in a graph.\n"
             "\nNotes\n-----\n"
             "A thread of the driver calls it. Work that is enqueued later waits for\n"
             "it. An exception goes to ``sys.unraisablehook``. In a captured stream\n"
             "the graph calls the function each time it runs. If the context ends\n"
             "first, the function is not called.\n"
             "\nExamples\n--------\n"
             ">>> done = []\n"
             ">>> stream = drv.Stream()\n"
             ">>> stream.add_callback(done.append, \"copied\")\n"
             ">>> stream.synchronize()\n"
             ">>> done\n"
             "['copied']");

static PyObject *
host_function_add_callback(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    pcu_resource *self = (pcu_resource *)op;
    if (nargs < 1) {
        PyErr_SetString(PyExc_TypeError, "add_callback() needs a function");
        return NULL;
    }
    if (host_function_check(args[0]) < 0 ||
        pcu_resource_check(self, "cuLaunchHostFunc") < 0) {
        return NULL;
    }
    PyObject *rest = PyTuple_New(nargs - 1);
    if (rest == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 1; i < nargs; i++) {
        PyTuple_SET_ITEM(rest, i - 1, Py_NewRef(args[i]));
    }
    int rc = host_function_enqueue(self->st, (pcu_context *)self->ctx,
                                   self->handle.stream, args[0], rest);
    Py_DECREF(rest);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

typedef struct {
    PyObject *function;
    CUstream stream;
} launch_host_args;

static const pcu_word launch_host_words[] = {
    PCU_WORD("function", pcu_as_object, launch_host_args, function),
    PCU_WORD("stream", pcu_as_stream, launch_host_args, stream),
};

PCU_SIGNATURE(launch_host_func, launch_host_words,
              "launch_host_func($module, /, function, stream=None)\n"
              "--\n\n"
              "Call a function when the work enqueued in a stream so far has ended.\n"
              "\nParameters\n----------\n" PCU_DOC_HOST_FUNCTION PCU_DOC_STREAM
              "\nRaises\n------\n" PCU_DOC_NOT_CALLABLE PCU_DOC_NO_CONTEXT
              "\nSee Also\n--------\n"
              "Stream.add_callback : What happens when the stream calls it.\n"
              "\nNotes\n-----\n" PCU_DOC_NO_WAIT)

static PyObject *
launch_host_func(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(module);
    launch_host_args a = {NULL, pcu_stream_current()};
    PyObject *none = NULL;
    int rc = -1;
    if (pcu_args_parse(st, &launch_host_func_signature, args, nargs, kwnames, &a) < 0 ||
        host_function_check(a.function) < 0) {
        return NULL;
    }
    PyObject *context = pcu_context_require(st, "cuLaunchHostFunc");
    if (context != NULL) {
        none = PyTuple_New(0);
    }
    if (none != NULL) {
        rc = host_function_enqueue(st, (pcu_context *)context, a.stream, a.function,
                                   none);
    }
    Py_XDECREF(none);
    Py_XDECREF(context);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef host_function_methods[] = {
    {"add_callback", (PyCFunction)(void (*)(void))host_function_add_callback,
     METH_FASTCALL, host_function_add_callback_doc},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef host_function_functions[] = {
    PCU_METHOD("launch_host_func", launch_host_func),
    {NULL, NULL, 0, NULL},
};

int
pcu_host_function_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_methods(st->Stream, host_function_methods) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, host_function_functions);
}
