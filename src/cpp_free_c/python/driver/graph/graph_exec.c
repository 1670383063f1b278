/* The type GraphExec: the form of a graph that the device runs.
 *
 * Work of a launch may still run when the program changes or deletes the object. What
 * the old parameters used is therefore retired, and dropped once the last launch is
 * known to have finished. Deleting a GraphExec waits for its last launch, as releasing
 * memory does.
 *
 * graph_update.c has its changes. Invariant: see graph.h. Callers: Python. */
#include "python/driver/graph/graph.h"

#include "python/support/args.h"
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/suspects.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/launched.h"
#include "python/driver/stream.h"
#include "python/driver/launch/launch.h"

enum { EXEC_RETIRED_MAX = 64 };

/* -- making ------------------------------------------------------------------------ */

/* The words of the driver for a graph that cannot be instantiated. */
static const char *
exec_explain(CUgraphInstantiateResult result)
{
    switch (result) {
        case CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE:
            return "the structure of the graph is not valid, for example a cycle";
        case CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED:
            return "a node cannot be used where it is, for example a host function in "
                   "the body of a conditional node";
        case CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED:
            return "the nodes belong to several contexts";
        case CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED:
            return "a condition of the graph is used by no conditional node";
        default:
            return "";
    }
}

/* Instantiate by the function that reports the node at fault, or on older drivers by
 * the other one. */
static int
exec_instantiate(pcu_graph *graph, unsigned int flags, CUgraphExec *exec)
{
    pcu_state *st = graph->head.st;
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUresult status;
    const char *routine = "cuGraphInstantiateWithParams";
    memset(&params, 0, sizeof(params));
    params.flags = flags;
    PCU_STATUS(status, GraphInstantiateWithParams,
               (exec, graph->head.handle.graph, &params));
    if (status == CUDA_ERROR_NOT_FOUND) {
        routine = "cuGraphInstantiateWithFlags";
        PCU_STATUS(status, GraphInstantiateWithFlags,
                   (exec, graph->head.handle.graph, flags));
    }
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    const char *why = exec_explain(params.result_out);
    if (status == CUDA_ERROR_NOT_SUPPORTED &&
        (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) {
        why =
            "this device, or the graph, does not allow launches by kernels; the "
            "software device has none";
    }
    if (*why == 0) {
        return pcu_raise(st, routine, status);
    }
    return pcu_raise_detail(st, routine, status, "%s", why);
}

PyObject *
pcu_graph_exec_new(pcu_graph *graph, unsigned int flags)
{
    pcu_state *st = graph->head.st;
    pcu_handle handle = {0};
    if (pcu_graph_check(graph, "cuGraphInstantiateWithParams") < 0 ||
        pcu_graph_check_memory(graph) < 0 || pcu_current_context_ready(st) < 0) {
        return NULL;
    }
    pcu_graph_exec *self = (pcu_graph_exec *)st->GraphExec->tp_alloc(st->GraphExec, 0);
    if (self == NULL) {
        return NULL;
    }
    self->head.st = st;
    self->resources = (pcu_graph_resources *)Py_NewRef((PyObject *)graph->resources);
    if (exec_instantiate(graph, flags, &handle.graph_exec) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    pcu_resource_adopt(&self->head, graph->head.ctx, PCU_HANDLE_graph_exec, handle);
    return (PyObject *)self;
}

/* Whether the stream is being captured. */
static bool
exec_is_captured(CUstream stream)
{
    return pcu_captures != NULL && pcu_is_captured(stream);
}

/* -- launching --------------------------------------------------------------------- */

/* Read the argument of a function that takes a stream or None. *owner is the Stream. */
static int
exec_read_stream(pcu_graph_exec *self, const pcu_signature *signature,
                 PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                 CUstream *stream, PyObject **owner)
{
    pcu_state *st = self->head.st;
    *owner = Py_None;
    if (nargs == 1 && kwnames == NULL) {
        *owner = args[0]; /* most calls: without the parser */
    }
    else if (pcu_args_parse(st, signature, args, nargs, kwnames, owner) < 0) {
        return -1;
    }
    if (Py_IS_TYPE(*owner, st->Stream) && ((pcu_resource *)*owner)->live) {
        *stream = ((pcu_resource *)*owner)->handle.stream;
        return pcu_resource_check((pcu_resource *)*owner, signature->function);
    }
    if (pcu_as_stream(st, *owner, stream, "stream") < 0) {
        return -1;
    }
    if (*owner == Py_None) {
        *owner = (PyObject *)pcu_stream_find_borrow();
    }
    return 0;
}

/* The name of a graph in messages: the first kernels of the program that it launches.
 */
static PyObject *
exec_name_new(PyObject *functions)
{
    enum { NAMES = 3 };
    Py_ssize_t place = 0;
    int count = 0;
    PyObject *function = NULL;
    PyObject *name = NULL;
    while (count < NAMES && PyDict_Next(functions, &place, NULL, &function)) {
        PyObject *next = ((pcu_function *)function)->name;
        if (count++ == 0) {
            name = Py_NewRef(next);
            continue;
        }
        Py_SETREF(name, PyUnicode_FromFormat("%U, %U", name, next));
        if (name == NULL) {
            return NULL;
        }
    }
    if (count == 0) {
        return PyUnicode_FromString("array operations");
    }
    if (PyDict_GET_SIZE(functions) > NAMES) {
        Py_SETREF(name, PyUnicode_FromFormat("%U, ...", name));
    }
    return name;
}

/* Make the name before the first launch, and again after an update added kernels. */
static int
exec_name_make(pcu_graph_exec *self)
{
    PyObject *functions = self->resources->functions;
    if (self->name != NULL && self->named == PyDict_GET_SIZE(functions)) {
        return 0;
    }
    PyObject *name = exec_name_new(functions);
    if (name == NULL) {
        return -1;
    }
    self->named = PyDict_GET_SIZE(functions);
    self->name = pcu_launch_name_keep(self->head.st, name);
    Py_DECREF(name);
    return self->name == NULL ? -1 : 0;
}

PCU_SIGNATURE_OF_ONE(
    exec_launch, "stream", pcu_as_object,
    "launch($self, /, stream=None)\n"
    "--\n\n"
    "Enqueue the whole graph in a stream.\n"
    "\nParameters\n----------\n" PCU_DOC_STREAM
    "\nRaises\n------\n"
    "LogicError\n"
    "    If the graph's context has ended, or if the stream is being\n"
    "    captured.\n"
    "\nSee Also\n--------\n"
    "Graph.add_child : Add a graph to one that is captured.\n"
    "\nNotes\n-----\n"
    "The call does not wait. A launch runs after the previous launches of\n"
    "the same object.\n"
    "\nExamples\n--------\n"
    ">>> x = gpuarray.zeros(2, np.float32)\n"
    ">>> stream = drv.Stream()\n"
    ">>> with stream.capture() as graph:\n"
    "...     x += 1\n"
    ">>> graph.instantiate().launch(stream)\n"
    ">>> stream.synchronize()\n"
    ">>> x\n"
    "array([1., 1.], dtype=float32)")

static PyObject *
exec_launch(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_graph_exec *self = (pcu_graph_exec *)op;
    pcu_state *st = self->head.st;
    CUstream stream = NULL;
    PyObject *owner = NULL;
    CUresult status;
    if (exec_read_stream(self, &exec_launch_signature, args, nargs, kwnames, &stream,
                         PCU_ONLY(exec_launch, &owner)) < 0 ||
        pcu_resource_check(&self->head, "cuGraphLaunch") < 0 ||
        exec_name_make(self) < 0) {
        return NULL;
    }
    if (!exec_is_captured(stream)) { /* else the driver refuses the launch */
        if (owner != self->stream) {
            self->is_ours = owner != NULL && PyObject_TypeCheck(owner, st->Stream);
            Py_XSETREF(self->stream, Py_XNewRef(owner));
        }
        self->last = stream;
        self->launched = true;
    }
    do {
        PCU_EXEC_STATUS(status, self, GraphLaunch,
                        (self->head.handle.graph_exec, stream));
    } while (status != CUDA_SUCCESS && pcu_current_context_repair(st, status) &&
             self->head.live);
    if (status != CUDA_SUCCESS) {
        pcu_raise(st, "cuGraphLaunch", status);
        return NULL;
    }
    const pcu_launch_shape shape = {.stream = stream};
    if (pcu_launched(st, pcu_context_rec(self->head.ctx), PCU_LAUNCH_GRAPH, NULL,
                     self->name, &shape) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE_OF_ONE(
    exec_upload, "stream", pcu_as_object,
    "upload($self, /, stream=None)\n"
    "--\n\n"
    "Move the graph to the device before its first launch.\n"
    "\nParameters\n----------\n" PCU_DOC_STREAM
    "\nRaises\n------\n" PCU_DOC_CONTEXT_ENDED
    "\nSee Also\n--------\n"
    "GraphExec.launch : Run the graph.\n"
    "\nNotes\n-----\n"
    "The work is not run. The first launch is then as fast as the others.")

static PyObject *
exec_upload(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_graph_exec *self = (pcu_graph_exec *)op;
    CUstream stream = NULL;
    PyObject *owner = NULL;
    int rc;
    if (exec_read_stream(self, &exec_upload_signature, args, nargs, kwnames, &stream,
                         PCU_ONLY(exec_upload, &owner)) < 0 ||
        pcu_resource_check(&self->head, "cuGraphUpload") < 0) {
        return NULL;
    }
    PCU_EXEC_CALL(rc, self, GraphUpload, (self->head.handle.graph_exec, stream));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- what earlier launches use ----------------------------------------------------- */

/* If the stream of the last launch is being captured, nothing may wait for it: leave
 * what the launch uses to the captured graph. Return true if so. */
static bool
exec_keep_captured(pcu_graph_exec *self)
{
    if (!self->launched || !exec_is_captured(self->last)) {
        return false;
    }
    pcu_saved_error pending;
    pcu_error_save(&pending);
    if (pcu_captured_object((PyObject *)self->resources) < 0 ||
        pcu_captured_object(self->updates) < 0 ||
        pcu_captured_object(self->retired) < 0) {
        PyErr_Clear(); /* without memory the launch may read released memory */
    }
    pcu_error_restore(&pending);
    return true;
}

/* Wait until the last launch has finished. A failure means that nothing runs. */
static void
exec_wait_noraise(pcu_graph_exec *self)
{
    pcu_scope scope;
    if (exec_keep_captured(self)) {
        return;
    }
    if (!self->launched || self->head.ctx == NULL ||
        !pcu_context_record_usable(pcu_context_rec(self->head.ctx)) ||
        (self->is_ours && !((pcu_resource *)self->stream)->live)) {
        self->launched = false; /* destroying a stream waits for its work */
        return;
    }
    if (pcu_scope_enter(&scope, pcu_context_rec(self->head.ctx)) != CUDA_SUCCESS) {
        return;
    }
    CUresult status = drv.StreamQuery(self->last);
    if (status == CUDA_ERROR_NOT_READY) {
        PCU_STATUS(status, StreamSynchronize, (self->last));
    }
    self->launched = false;
    (void)pcu_scope_leave(&scope); /* an error shows up in the next call */
}

int
pcu_graph_exec_retire(pcu_graph_exec *self, PyObject *used)
{
    int rc = -1;
    if (used == NULL || !self->launched) {
        Py_XDECREF(used);
        return 0;
    }
    if (self->retired == NULL) {
        self->retired = PyList_New(0);
    }
    if (self->retired != NULL) {
        if (PyList_GET_SIZE(self->retired) >= EXEC_RETIRED_MAX) {
            exec_wait_noraise(self);
            rc = PyList_SetSlice(self->retired, 0, PY_SSIZE_T_MAX, NULL);
        }
        else {
            rc = 0;
        }
    }
    if (rc == 0 && self->retired != NULL) {
        rc = PyList_Append(self->retired, used);
    }
    Py_DECREF(used);
    return rc;
}

/* -- the type ---------------------------------------------------------------------- */

static PyObject *
exec_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    if (pcu_resource_check((pcu_resource *)op, "GraphExec.handle") < 0) {
        return NULL;
    }
    return PyLong_FromVoidPtr((void *)((pcu_resource *)op)->handle.graph_exec);
}

static int
exec_traverse(PyObject *op, visitproc visit, void *arg)
{
    pcu_graph_exec *self = (pcu_graph_exec *)op;
    Py_VISIT(self->resources);
    Py_VISIT(self->updates);
    Py_VISIT(self->retired);
    Py_VISIT(self->stream);
    return pcu_resource_traverse(op, visit, arg);
}

/* Wait for the last launch, end the driver's graph, then drop what it uses. */
static int
exec_clear(PyObject *op)
{
    pcu_graph_exec *self = (pcu_graph_exec *)op;
    if (self->head.live) {
        exec_wait_noraise(self);
        self->head.live = false;
        pcu_release_noraise(self->head.st, PCU_HANDLE_graph_exec, self->head.handle,
                            self->head.ctx);
    }
    Py_CLEAR(self->resources);
    Py_CLEAR(self->updates);
    Py_CLEAR(self->retired);
    Py_CLEAR(self->stream);
    return pcu_resource_clear(op);
}

static void
exec_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    exec_clear(op);
    PyObject_GC_Track(op); /* pcu_resource_dealloc untracks it again */
    pcu_resource_dealloc(op);
}

static PyGetSetDef exec_getset[] = {
    {"handle", exec_get_handle, NULL, "The CUgraphExec as an int.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef exec_methods[] = {
    PCU_METHOD("launch", exec_launch),
    PCU_METHOD("upload", exec_upload),
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(exec_doc,
             "A graph in the form that the device runs, from ``Graph.instantiate``.\n"
             "\nSee Also\n--------\n"
             "GraphExec.launch : Run it.\n"
             "GraphExec.update : Change its parameters.\n"
             "\nNotes\n-----\n"
             "It keeps the memory that its nodes use, also if the program deletes the\n"
             "graph and its arrays. Deleting it waits for its last launch.");

static PyType_Slot exec_slots[] = {
    {Py_tp_doc, (void *)exec_doc},
    {Py_tp_traverse, exec_traverse},
    {Py_tp_clear, exec_clear},
    {Py_tp_dealloc, exec_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, exec_getset},
    {Py_tp_methods, exec_methods},
    {0, NULL},
};

static PyType_Spec exec_spec = {
    "pycuda._driver.GraphExec", sizeof(pcu_graph_exec), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    exec_slots};

int
pcu_graph_exec_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->GraphExec, &exec_spec, NULL);
}
