/* The memory of a NumPy array, or of any object with the buffer protocol. */
#ifndef PYTHON_SUPPORT_BUFFER_H
#define PYTHON_SUPPORT_BUFFER_H

#include "python/support/base.h"

/* Contiguous memory of an array or of any buffer; held until pcu_buffer_release. */
typedef struct {
    void *data;
    size_t size;
    PyObject *array; /* strong, if the memory is an array's */
    int held;        /* view owns a reference */
    Py_buffer view;
} pcu_buffer;

PCU_HIDDEN PCU_RAISES int pcu_buffer_acquire(pcu_buffer *buffer, PyObject *object,
                                             int writable, const char *name);

PCU_HIDDEN void pcu_buffer_release(pcu_buffer *buffer);

#endif
