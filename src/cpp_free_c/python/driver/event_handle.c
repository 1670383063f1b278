/* Events as arguments: see event_handle.h. */
#include "python/driver/event_handle.h"

#include "python/driver/foreign_handle.h"
#include "python/driver/resource.h"

/* Streams and modules have attributes of the same names, so the name of the type
 * counts, too: Event in cuda.core, CuPy, PyTorch and Numba. */
static int
event_may_be(PyObject *op)
{
    return strstr(Py_TYPE(op)->tp_name, "Event") != NULL;
}

int
pcu_event_handle(pcu_state *st, PyObject *op, CUevent *out, const char *routine)
{
    static const char *const names[] = {"cuda_event", "ptr", "handle", NULL};
    unsigned long long bits = 0;
    if (PyObject_TypeCheck(op, st->Event)) {
        *out = ((pcu_resource *)op)->handle.event;
        return pcu_resource_check((pcu_resource *)op, routine);
    }
    int found = 0;
    if (event_may_be(op)) {
        found = pcu_foreign_handle(op, names, &bits);
    }
    if (found == 0) {
        PyErr_Format(
            PyExc_TypeError,
            "event must be an Event, or an event of cuda.core, CuPy, PyTorch or "
            "Numba that was recorded, not %s",
            Py_TYPE(op)->tp_name);
    }
    if (found <= 0) {
        return -1;
    }
    *out = (CUevent)(uintptr_t)bits;
    return 0;
}
