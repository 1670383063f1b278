/* Memory of arrays and buffers. Invariant and callers: see buffer.h. */
#include "python/support/buffer.h"

/* Arrays are read without the buffer protocol, which refuses datetimes and builds a
 * format string. */
static int
buffer_from_array(pcu_buffer *buffer, PyArrayObject *array, bool writable,
                  const char *name, const char *owner)
{
    if (!PyArray_IS_C_CONTIGUOUS(array) && !PyArray_IS_F_CONTIGUOUS(array)) {
        PyErr_Format(PyExc_ValueError,
                     "%s%s is not contiguous; pass numpy.ascontiguousarray of it", name,
                     owner);
        return -1;
    }
    if (writable && !PyArray_ISWRITEABLE(array)) {
        PyErr_Format(PyExc_ValueError, "%s%s is read-only", name, owner);
        return -1;
    }
    if (PyDataType_REFCHK(PyArray_DESCR(array))) {
        PyErr_Format(PyExc_TypeError,
                     "%s%s holds Python objects, which no GPU can read", name, owner);
        return -1;
    }
    buffer->data = PyArray_DATA(array);
    buffer->size = (size_t)PyArray_NBYTES(array);
    buffer->array = Py_NewRef((PyObject *)array);
    buffer->held = false;
    return 0;
}

int
pcu_buffer_acquire_of(pcu_buffer *buffer, PyObject *object, bool writable,
                      const char *name, const char *owner)
{
    if (PyArray_Check(object)) {
        return buffer_from_array(buffer, (PyArrayObject *)object, writable, name,
                                 owner);
    }
    if (!PyObject_CheckBuffer(object)) {
        PyErr_Format(PyExc_TypeError, "%s%s must be an array or a buffer, not %s", name,
                     owner, Py_TYPE(object)->tp_name);
        return -1;
    }
    int flags = PyBUF_ANY_CONTIGUOUS;
    if (writable) {
        flags |= PyBUF_WRITABLE;
    }
    if (PyObject_GetBuffer(object, &buffer->view, flags) < 0) {
        if (PyErr_ExceptionMatches(PyExc_BufferError)) {
            PyErr_Format(PyExc_ValueError, "%s%s is not a contiguous%s buffer", name,
                         owner, writable ? ", writable" : "");
        }
        return -1;
    }
    buffer->data = buffer->view.buf;
    buffer->size = (size_t)buffer->view.len;
    buffer->held = true;
    return 0;
}

void
pcu_buffer_release(pcu_buffer *buffer)
{
    Py_CLEAR(buffer->array);
    if (buffer->held) {
        PyBuffer_Release(&buffer->view);
        buffer->held = false;
    }
}
