/* What launch.c needs of argument handlers. The functions hold for exactly the types
 * In, Out and InOut; derived types go through their methods. */
#ifndef PYTHON_DRIVER_LAUNCH_HANDLERS_H
#define PYTHON_DRIVER_LAUNCH_HANDLERS_H

#include "python/support/base.h"

/* In, Out, InOut and the handlers that programs derive. */
typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *array;
    PyObject *dev_alloc; /* NULL until the first call */
    size_t room;         /* of what we allocated; 0 if the program set dev_alloc */
    int finishing;       /* post_call copies what the launch wrote: allocate nothing */
    PyObject *dict;
    PyObject *weakrefs;
} pcu_handler;

/* The handler's device memory, allocated if it has none, and its address. New
 * reference. Other code may give the handler other memory during the call, so the call
 * holds this one, from which it copies. */
PCU_HIDDEN PyObject *pcu_handler_alloc_new(pcu_handler *self, CUdeviceptr *pointer);

/* The address that get_device_alloc(), which a subclass may have replaced, gives. */
PCU_HIDDEN PCU_RAISES int pcu_handler_method_pointer(PyObject *op,
                                                     CUdeviceptr *pointer);

/* What is done for the handlers among the arguments of a call before and after the
 * launch: pre_call and post_call. `memory` is what pcu_launch_pack made; `stream` is
 * the stream as it was given, `handle` the launch's. */
PCU_HIDDEN PCU_RAISES int pcu_handlers_before(pcu_state *st, PyObject *const *args,
                                              Py_ssize_t nargs, PyObject *const *memory,
                                              PyObject *stream);
PCU_HIDDEN PCU_RAISES int pcu_handlers_after(pcu_state *st, PyObject *const *args,
                                             Py_ssize_t nargs, PyObject *const *memory,
                                             PyObject *stream, CUstream handle);
PCU_HIDDEN void pcu_handlers_release(PyObject **memory, Py_ssize_t nargs);

#endif
