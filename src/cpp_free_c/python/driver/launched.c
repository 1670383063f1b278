/* What follows each successful launch: see launched.h. */
#include "python/driver/launched.h"

#include "python/driver/current_context.h"
#include "python/support/suspects.h"
#include "python/support/setup.h"

static const char *
launched_routine(pcu_launch_kind kind)
{
    if (kind == PCU_LAUNCH_GRAPH) {
        return "cuGraphLaunch";
    }
    if (kind == PCU_LAUNCH_LIBRARY) {
        return "cuStreamSynchronize";
    }
    return "cuLaunchKernel";
}

/* Wait for the end of the launch. The launches before it in its stream have finished,
 * so a failure is the failure of this launch. */
static int
launched_block(pcu_state *st, pcu_context_record *rec, pcu_launch_kind kind,
               CUstream stream)
{
    uint64_t number = pcu_launch_newest();
    CUresult status;
    PCU_STATUS(status, StreamSynchronize, (stream));
    if (status == CUDA_SUCCESS) {
        pcu_launches_passed(rec, stream, number);
        return 0;
    }
    return pcu_raise(st, launched_routine(kind), status);
}

/* Note the launch unless it is captured. */
static void
launched_note_run(const pcu_state *st, pcu_context_record *rec, pcu_launch_kind kind,
                  CUfunction kernel, PyObject *name, const pcu_launch_shape *shape)
{
    if (pcu_captures == NULL || !pcu_is_captured(shape->stream)) {
        pcu_event_launch(rec, kind, kernel, name, shape, pcu_call_site(st));
    }
}

int
pcu_launched_slow(pcu_state *st, pcu_context_record *rec, pcu_launch_kind kind,
                  CUfunction kernel, PyObject *name, const pcu_launch_shape *shape)
{
    launched_note_run(st, rec, kind, kernel, name, shape);
    if (!pcu_drv_info.launch_blocking || pcu_captures != NULL) {
        return 0;
    }
    return launched_block(st, rec, kind, shape->stream);
}

int
pcu_launched_library(pcu_state *st, pcu_context_record *rec, const char *function,
                     CUstream stream)
{
    int rc = pcu_launched_exchange(st, rec, function, stream);
    if (rc == 0 && rec != NULL && pcu_drv_info.launch_blocking &&
        pcu_captures == NULL) {
        rc = launched_block(st, rec, PCU_LAUNCH_LIBRARY, stream);
    }
    return rc;
}

int
pcu_launched_exchange(pcu_state *st, pcu_context_record *rec, const char *function,
                      CUstream stream)
{
    const pcu_launch_shape shape = {.stream = stream};
    PyObject *name = PyUnicode_InternFromString(function);
    PyObject *kept = NULL;
    if (name != NULL) {
        kept = pcu_launch_name_keep(st, name);
        Py_DECREF(name);
    }
    if (kept == NULL) {
        return -1;
    }
    if (rec != NULL) {
        launched_note_run(st, rec, PCU_LAUNCH_LIBRARY, NULL, kept, &shape);
    }
    return 0;
}

int
pcu_launched_wait(pcu_state *st, CUstream stream)
{
    uint64_t number = pcu_launch_newest();
    int rc;
    PCU_CALL_CURRENT(rc, st, StreamSynchronize, (stream));
    if (rc == 0) {
        pcu_launches_passed(pcu_ctx_current, stream, number);
    }
    return rc;
}

/* -- functions of the module ------------------------------------------------------- */

PyDoc_STRVAR(launched_recent_doc,
             "recent_launches($module, /)\n"
             "--\n\n"
             "Return the last 64 launches in the current context.\n"
             "\nReturns\n-------\n"
             "tuple of LaunchRecord\n"
             "    Kernels, array operations, graphs and functions of libraries such\n"
             "    as cuBLAS, the newest first. Captured work is not in it.\n"
             "\nSee Also\n--------\n"
             "LaunchRecord : What is known of a launch.\n"
             "pycuda.profile.timeline : Times of launches.\n"
             "\nNotes\n-----\n"
             "The driver is not called. Error messages of failed kernels name these\n"
             "launches.\n"
             "\nExamples\n--------\n"
             ">>> x = gpuarray.zeros(3, np.float32) + 1\n"
             ">>> drv.recent_launches()[0].kind\n"
             "'array'");

static PyObject *
launched_recent(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    return pcu_launch_recent_new(pcu_state_of_module(m));
}

PyDoc_STRVAR(launched_note_doc,
             "_note_library_call($module, function, stream, /)\n--\n\n"
             "Note that a function of a library has enqueued work in a stream.\n\n"
             "function: its name. stream: the CUstream as an int.");

/* For the libraries that Python code calls. */
static PyObject *
launched_note(PyObject *m, PyObject *args)
{
    const char *function;
    unsigned long long stream;
    if (!PyArg_ParseTuple(args, "sK", &function, &stream) ||
        pcu_launched_library(pcu_state_of_module(m), pcu_ctx_current, function,
                             (CUstream)(uintptr_t)stream) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef launched_functions[] = {
    {"recent_launches", launched_recent, METH_NOARGS, launched_recent_doc},
    {"_note_library_call", launched_note, METH_VARARGS, launched_note_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_launched_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, launched_functions);
}
