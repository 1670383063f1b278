/* Waits for streams, for pycuda's Python modules. */

#include "python/array/type/members.h"

#include "python/array/memory.h"
#include "python/driver/current_context.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"
#include "python/driver/context.h"

PyDoc_STRVAR(stream_wait_for_doc,
             "_wait_for_stream($module, handle, /)\n--\n\n"
             "Make the current stream wait for all work that the stream of this handle "
             "has now.");

static PyObject *
stream_wait_for(PyObject *m, PyObject *arg)
{
    pcu_state *st = pcu_state_of_module(m);
    unsigned long long bits = 0;
    if (pcu_as_integer(arg, 1, UINT64_MAX, &bits, "the stream") < 0 ||
        pcu_context_launch_borrow(st) == NULL ||
        pcu_stream_order(st, (CUstream)(uintptr_t)bits, pcu_stream_current()) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static int
stream_is_captured(CUstream stream)
{
    enum { CAPTURE_ACTIVE = 1 };
    CUstreamCaptureStatus status = 0;
    return stream != NULL && drv.StreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
           status == CAPTURE_ACTIVE;
}

PyDoc_STRVAR(
    stream_wait_unless_captured_doc,
    "_wait_unless_captured($module, stream, /)\n--\n\n"
    "Wait for a stream (None: the current one) and return True.\n\n"
    "Return False at once if the stream is being captured: its work does not run yet.");

static PyObject *
stream_wait_unless_captured(PyObject *m, PyObject *value)
{
    pcu_state *st = pcu_state_of_module(m);
    CUstream stream = NULL;
    int rc;
    if (pcu_as_stream(st, value, &stream, "stream") < 0) {
        return NULL;
    }
    if (stream_is_captured(stream)) {
        Py_RETURN_FALSE;
    }
    PCU_CALL_CURRENT(rc, st, StreamSynchronize, (stream));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_TRUE;
}

PyMethodDef pcu_stream_waits_functions[] = {
    {"_wait_for_stream", stream_wait_for, METH_O, stream_wait_for_doc},
    {"_wait_unless_captured", stream_wait_unless_captured, METH_O,
     stream_wait_unless_captured_doc},
    {NULL, NULL, 0, NULL},
};
