/* The indices of a call with `range` or `slice`: see kernel_call.h.
 *
 * Handled here are slices, and ranges whose numbers fit. A range may be a slice with
 * three numbers. Python handles the rest: other objects with start, stop and step,
 * negative indices, errors. */
#include "python/array/type/kernel_call.h"

int
pcu_call_select(pcu_call_selection *selection, PyObject *name, PyObject *value)
{
    bool is_slice = PyUnicode_CompareWithASCIIString(name, "slice") == 0;
    if (!is_slice && PyUnicode_CompareWithASCIIString(name, "range") != 0) {
        return 0;
    }
    if (value == Py_None) {
        return 1;
    }
    if (selection->value != NULL) {
        return -1;
    }
    selection->value = value;
    selection->is_slice = is_slice;
    return 1;
}

/* Read an attribute of a range: 1 if done, 0 if it is no number that fits, -1 on error.
 */
static int
range_number(PyObject *range, const char *name, Py_ssize_t *number)
{
    PyObject *value = PyObject_GetAttrString(range, name);
    if (value == NULL) {
        return -1;
    }
    int overflow = 1;
    if (PyLong_CheckExact(value)) {
        *number = (Py_ssize_t)PyLong_AsLongLongAndOverflow(value, &overflow);
    }
    Py_DECREF(value);
    return overflow == 0;
}

/* Read the numbers of the selection. Returns what pcu_call_bounds_fill returns. */
static int
range_read(pcu_call_bounds *bounds, const pcu_call_selection *selection, size_t size)
{
    PyObject *value = selection->value;
    if (selection->is_slice) {
        if (!PySlice_Check(value)) {
            return 0;
        }
        if (PySlice_Unpack(value, &bounds->start, &bounds->stop, &bounds->step) < 0) {
            return -1;
        }
        (void)PySlice_AdjustIndices((Py_ssize_t)size, &bounds->start, &bounds->stop,
                                    bounds->step);
        return 1;
    }
    if (!PyRange_Check(value) && !PySlice_Check(value)) {
        return 0;
    }
    int rc = range_number(value, "start", &bounds->start);
    if (rc > 0) {
        rc = range_number(value, "stop", &bounds->stop);
    }
    if (rc > 0) {
        rc = range_number(value, "step", &bounds->step);
    }
    return rc;
}

int
pcu_call_bounds_fill(pcu_call_bounds *bounds, const pcu_call_selection *selection,
                     size_t size)
{
    int rc = range_read(bounds, selection, size);
    if (rc <= 0 || bounds->step == 0) {
        return Py_MIN(rc, 0);
    }
    Py_ssize_t low = bounds->start;
    Py_ssize_t high = bounds->stop;
    size_t step = (size_t)bounds->step;
    if (bounds->step < 0) { /* the same indices upward, from one after the last */
        low = bounds->stop;
        high = bounds->start;
        step = 0 - step;
    }
    bounds->count = 0;
    bounds->extent = 0;
    if (low >= high) {
        return 1;
    }
    size_t distance = (size_t)high - (size_t)low;
    bounds->count = (distance - 1) / step + 1;
    if (bounds->step > 0) {
        bounds->extent = (size_t)low + (bounds->count - 1) * step + 1;
        return low >= 0;
    }
    bounds->extent = (size_t)high + 1;
    return bounds->extent > (bounds->count - 1) * step && high >= 0;
}
