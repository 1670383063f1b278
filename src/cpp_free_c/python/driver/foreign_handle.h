/* Handles of other libraries' objects and of other processes.
 *
 * Streams have the protocol __cuda_stream__; other objects have none. So each kind has
 * a list of attribute names. Callers: converters of contexts, events, modules and
 * functions. */
#ifndef PYTHON_DRIVER_FOREIGN_HANDLE_H
#define PYTHON_DRIVER_FOREIGN_HANDLE_H

#include "python/support/base.h"

/* Read the handle from the first of these attributes that the object has. The names end
 * with NULL. An attribute is an int, an object with __index__ or __int__, or a ctypes
 * pointer. Return 1, or 0 if the object has none of them or the handle is 0. */
PCU_HIDDEN PCU_RAISES int pcu_foreign_handle(PyObject *object, const char *const *names,
                                             unsigned long long *handle);

/* Read an int, or the handle of another library's object as pcu_foreign_handle() does.
 * `what` names the kind of handle in the message. */
PCU_HIDDEN PCU_RAISES int pcu_as_foreign_handle(PyObject *value,
                                                const char *const *names,
                                                const char *what,
                                                unsigned long long *handle);

/* The object that keeps a handle valid: `owner`, or by default the object that was
 * given for the handle. NULL: nothing does. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_foreign_owner(PyObject *owner, PyObject *given);

/* -- handles by which processes share memory and events ---------------------------- */

/* The object is a bytearray of PCU_IPC_BYTES bytes that copies the driver's handle;
 * nothing is allocated or freed with it. Callers: event.c and exchange/ipc.c. */

enum { PCU_IPC_BYTES = 64 };

/* Copy a handle of the driver to a new bytearray. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_ipc_bytes_new(const void *handle);

/* Copy a bytearray or bytes object to a handle of the driver. Any other object, and a
 * wrong length, is a LogicError that names routine. */
PCU_HIDDEN PCU_RAISES int pcu_ipc_bytes(pcu_state *st, PyObject *value,
                                        const char *routine, void *handle);

#endif
