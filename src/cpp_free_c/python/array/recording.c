/* Recording: see recording.h. */

#include "python/array/recording.h"

int
pcu_stand_in_refuse(const pcu_state *st)
{
    PyErr_SetString(pcu_recorder_item(st, PCU_RECORDER_ERROR),
                    "this operation needs the elements of an array, but the array is a "
                    "stand-in of pycuda.fuse");
    return -1;
}

int
pcu_record(const pcu_state *st, const char *name, const char *compute, PyObject *inputs,
           PyObject *outputs, PyObject *details)
{
    PyObject *result = NULL;
    if (inputs != NULL && outputs != NULL && details != NULL) {
        result =
            PyObject_CallFunction(pcu_recorder_item(st, PCU_RECORDER_CALL), "ssOOO",
                                  name, compute, inputs, outputs, details);
    }
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    Py_XDECREF(details);
    if (result == NULL) {
        return -1;
    }
    Py_DECREF(result);
    return 0;
}

PyObject *
pcu_record_arrays_new(pcu_gpuarray *const *arrays, Py_ssize_t count)
{
    PyObject *result = PyTuple_New(count);
    for (Py_ssize_t i = 0; result != NULL && i < count; i++) {
        PyTuple_SET_ITEM(result, i, Py_NewRef((PyObject *)arrays[i]));
    }
    return result;
}

PyDoc_STRVAR(recording_set_doc,
             "_set_recorder($module, recorder, /)\n--\n\n"
             "Set what recordings use, once: a tuple of a function, the types of\n"
             "stand-ins and of their memory, an exception, and another function.");

static PyObject *
recording_set(PyObject *m, PyObject *recorder)
{
    pcu_state *st = pcu_state_of_module(m);
    if (!PyTuple_Check(recorder) || PyTuple_GET_SIZE(recorder) != PCU_RECORDER_ITEMS ||
        !PyType_Check(PyTuple_GET_ITEM(recorder, PCU_RECORDER_ARRAY)) ||
        !PyType_IsSubtype(
            (PyTypeObject *)PyTuple_GET_ITEM(recorder, PCU_RECORDER_ARRAY),
            st->GPUArray) ||
        !PyType_Check(PyTuple_GET_ITEM(recorder, PCU_RECORDER_MEMORY)) ||
        !PyExceptionClass_Check(PyTuple_GET_ITEM(recorder, PCU_RECORDER_ERROR))) {
        PyErr_SetString(PyExc_TypeError, "this is no recorder");
        return NULL;
    }
    if (st->recorder != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "there is a recorder already");
        return NULL;
    }
    st->recorder = Py_NewRef(recorder);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(recording_switch_doc,
             "_record($module, active, /)\n--\n\n"
             "Begin or end a recording in this thread. Return whether one was active.");

static PyObject *
recording_switch(PyObject *m, PyObject *active)
{
    pcu_state *st = pcu_state_of_module(m);
    bool was_active = pcu_is_recording(st);
    int begin = PyObject_IsTrue(active);
    if (begin < 0) {
        return NULL;
    }
    if (st->recorder == NULL || (st->recording_thread != 0 && !was_active)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "there is no recorder, or another thread records");
        return NULL;
    }
    st->recording_thread = begin ? PyThread_get_thread_ident() : 0;
    return PyBool_FromLong(was_active);
}

PyDoc_STRVAR(recording_refuse_doc,
             "_refuse_recording($module, /)\n--\n\n"
             "Raise if this thread records: what follows uses addresses of arrays.");

static PyObject *
recording_refuse(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    if (pcu_is_recording(st) && pcu_stand_in_refuse(st) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef pcu_recording_functions[] = {
    {"_set_recorder", recording_set, METH_O, recording_set_doc},
    {"_record", recording_switch, METH_O, recording_switch_doc},
    {"_refuse_recording", recording_refuse, METH_NOARGS, recording_refuse_doc},
    {NULL, NULL, 0, NULL},
};
