/* The errors of calls that a stream capture refuses: see capture_error.h. */

#include "python/support/capture_error.h"

static const char *
capture_explain(CUresult status)
{
    switch ((int)status) {
        case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
            return "a stream that is being captured cannot do this; make the call "
                   "before "
                   "the capture, or after it";
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

/* 1 if the code of the frame belongs to this package. */
static int
capture_is_ours(PyObject *frame)
{
    PyObject *globals = PyObject_GetAttrString(frame, "f_globals");
    PyObject *name = NULL;
    int ours = 0;
    if (globals != NULL && PyDict_Check(globals)) {
        name = PyDict_GetItemString(globals, "__name__");
    }
    if (name != NULL && PyUnicode_Check(name)) {
        const char *text = PyUnicode_AsUTF8(name);
        ours = text != NULL && strncmp(text, "pycuda.", 7) == 0;
    }
    Py_XDECREF(globals);
    return ours;
}

/* The innermost line of the program: "file:line". NULL if there is none. */
static PyObject *
capture_place_new(void)
{
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    while (frame != NULL && frame != Py_None && capture_is_ours(frame)) {
        PyObject *back = PyObject_GetAttrString(frame, "f_back");
        Py_SETREF(frame, back);
    }
    if (frame == NULL || frame == Py_None) {
        Py_XDECREF(frame);
        return NULL;
    }
    PyObject *line = PyObject_GetAttrString(frame, "f_lineno");
    PyObject *code = PyObject_GetAttrString(frame, "f_code");
    PyObject *file = NULL;
    PyObject *place = NULL;
    if (code != NULL) {
        file = PyObject_GetAttrString(code, "co_filename");
    }
    if (line != NULL && file != NULL) {
        place = PyUnicode_FromFormat("%S:%S", file, line);
    }
    Py_XDECREF(line);
    Py_XDECREF(code);
    Py_XDECREF(file);
    Py_DECREF(frame);
    return place;
}

PyObject *
pcu_capture_detail_new(pcu_state *st, const char *routine, CUresult status,
                       PyObject *detail)
{
    PyObject *result = NULL;
    PyObject *place = capture_place_new();
    PyObject *why = NULL;
    if (place == NULL) {
        if (PyErr_Occurred()) {
            return NULL;
        }
        place = PyUnicode_FromString("an unknown line");
    }
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
