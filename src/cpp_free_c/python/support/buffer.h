/* The memory of a NumPy array, or of any object with the buffer protocol.
 *
 * Invariant: between acquire and release the memory stays valid, even while the
 * interpreter lock is released. Callers: copies and other users of host memory. */
#ifndef PYTHON_SUPPORT_BUFFER_H
#define PYTHON_SUPPORT_BUFFER_H

#include "python/support/base.h"

/* Contiguous memory of an array or buffer. A struct of zeros holds nothing. */
typedef struct {
    void *data;
    size_t size;
    PyObject *array; /* strong: the array, if the object is one */
    bool held;       /* `view` was acquired */
    Py_buffer view;
} pcu_buffer;

/* Acquire the memory of an object. An error message calls it `name` and `owner`, one
 * after the other. */
PCU_HIDDEN PCU_RAISES int pcu_buffer_acquire_of(pcu_buffer *buffer, PyObject *object,
                                                bool writable, const char *name,
                                                const char *owner);

/* The same; `name` is the argument in error messages. */
static inline PCU_RAISES int
pcu_buffer_acquire(pcu_buffer *buffer, PyObject *object, bool writable,
                   const char *name)
{
    return pcu_buffer_acquire_of(buffer, object, writable, name, "");
}

/* Release the memory. Does nothing if none was acquired. */
PCU_HIDDEN void pcu_buffer_release(pcu_buffer *buffer);

#endif
