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

PyMethodDef pcu_stream_waits_functions[] = {
    {"_wait_for_stream", stream_wait_for, METH_O, stream_wait_for_doc},
    {NULL, NULL, 0, NULL},
};
