/* Control of the driver's profiler: initialize_profiler, start_profiler, stop_profiler.
 * Tools such as Nsight can be told to record only what happens between start and stop.
 *
 * Invariant: nothing is kept here. Python is the only caller. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/driver/current_context.h"

PyDoc_STRVAR(profiler_initialize_doc,
             "initialize_profiler($module, config_file, output_file, output_mode, /)\n"
             "--\n\n"
             "Set the files of the driver's old profiler.\n"
             "\nParameters\n----------\n"
             "config_file : str or path\n"
             "    File with the configuration.\n"
             "output_file : str or path\n"
             "    File for the results.\n"
             "output_mode : profiler_output_mode\n"
             "    Format of the results.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the driver no longer has this function, as drivers of CUDA 12\n"
             "    and later.\n"
             "\nSee Also\n--------\n"
             "start_profiler : Works with all drivers.");

static PyObject *
profiler_initialize(PyObject *m, PyObject *const *args, Py_ssize_t nargs)
{
    pcu_state *st = pcu_state_of_module(m);
    PyObject *config = NULL;
    PyObject *output = NULL;
    unsigned int mode = 0;
    int rc = -1;
    if (nargs != 3) {
        PyErr_Format(PyExc_TypeError,
                     "initialize_profiler() takes exactly 3 arguments (%zd given)",
                     nargs);
        return NULL;
    }
    if ((config = pcu_as_path_new(args[0], "config_file")) != NULL &&
        (output = pcu_as_path_new(args[1], "output_file")) != NULL &&
        pcu_enum_value(st->enum_profiler_output_mode, args[2], &mode, "output_mode") ==
            0) {
        PCU_CALL(rc, st, ProfilerInitialize,
                 (PyBytes_AS_STRING(config), PyBytes_AS_STRING(output), mode));
    }
    Py_XDECREF(config);
    Py_XDECREF(output);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(profiler_start_doc,
             "start_profiler($module, /)\n"
             "--\n\n"
             "Let a profiler that is attached record from now on.\n"
             "\nRaises\n------\n" PCU_DOC_NO_CONTEXT
             "\nSee Also\n--------\n"
             "stop_profiler : End the recording.\n"
             "pycuda.profile.timeline : Record without a profiler.\n"
             "\nNotes\n-----\n"
             "Nsight Systems waits for the call with\n"
             "``--capture-range=cudaProfilerApi``. Without a profiler the call does\n"
             "nothing.\n"
             "\nExamples\n--------\n"
             ">>> drv.start_profiler()\n"
             ">>> drv.stop_profiler()");

static PyObject *
profiler_start(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    int rc;
    PCU_CALL_CURRENT(rc, pcu_state_of_module(m), ProfilerStart, ());
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(profiler_stop_doc,
             "stop_profiler($module, /)\n"
             "--\n\n"
             "Let a profiler that is attached stop recording.\n"
             "\nRaises\n------\n" PCU_DOC_NO_CONTEXT
             "\nSee Also\n--------\n"
             "start_profiler : Begin the recording.");

static PyObject *
profiler_stop(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    int rc;
    PCU_CALL_CURRENT(rc, pcu_state_of_module(m), ProfilerStop, ());
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef profiler_functions[] = {
    {"initialize_profiler", (PyCFunction)(void (*)(void))profiler_initialize,
     METH_FASTCALL, profiler_initialize_doc},
    {"start_profiler", profiler_start, METH_NOARGS, profiler_start_doc},
    {"stop_profiler", profiler_stop, METH_NOARGS, profiler_stop_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_profiler_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, profiler_functions);
}
