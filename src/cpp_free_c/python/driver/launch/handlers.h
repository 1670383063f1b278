/* Argument handlers during a call: their device memory, and the copies before and after
 * the launch.
 *
 * Invariant: only objects whose type is exactly In, Out or InOut are used directly. The
 * methods of derived types are called. Callers: call.c, arguments.c, old_calls.c. */
#ifndef PYTHON_DRIVER_LAUNCH_HANDLERS_H
#define PYTHON_DRIVER_LAUNCH_HANDLERS_H

#include "python/support/base.h"

/* In, Out, InOut and the handlers that programs derive. */
typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *array;
    PyObject *dev_alloc; /* NULL until the first call */
    size_t room;         /* bytes of our allocation; 0 if the program set dev_alloc */
    int finishing; /* post_calls that copy now; not 0: do not replace the memory */
    PyObject
        *words; /* bytes: the array in messages, of a derived type; NULL until used */
    PyObject *dict;
    PyObject *weakrefs;
} pcu_handler;

/* Return the handler's device memory, and its address in *pointer. Allocate it if there
 * is none. The call holds this reference and copies from it: other code may give the
 * handler other memory during the call. */
PCU_HIDDEN PyObject *pcu_handler_alloc_new(pcu_handler *self, CUdeviceptr *pointer);

/* Read the address that get_device_alloc() of a derived type returns. */
PCU_HIDDEN PCU_RAISES int pcu_handler_method_pointer(PyObject *op,
                                                     CUdeviceptr *pointer);

/* Do the work of pre_call and post_call for the handlers among the arguments. `memory`
 * is the result of pcu_arguments_pack, `stream` the argument of the call, `handle` the
 * stream of the launch. */
PCU_HIDDEN PCU_RAISES int pcu_handlers_before(pcu_state *st, PyObject *const *args,
                                              Py_ssize_t nargs, PyObject *const *memory,
                                              PyObject *stream);
PCU_HIDDEN PCU_RAISES int pcu_handlers_after(pcu_state *st, PyObject *const *args,
                                             Py_ssize_t nargs, PyObject *const *memory,
                                             PyObject *stream, CUstream handle);
PCU_HIDDEN void pcu_handlers_release(PyObject **memory, Py_ssize_t nargs);

#endif
