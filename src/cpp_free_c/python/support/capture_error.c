/* The errors of calls that a stream capture refuses: see capture_error.h. */

#include "python/support/capture_error.h"

#include "python/support/call_site.h"

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

PyObject *
pcu_capture_detail_new(pcu_state *st, const char *routine, CUresult status,
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
