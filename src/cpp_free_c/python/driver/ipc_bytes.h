/* The handles by which processes share memory and events, as Python objects.
 *
 * Invariant: the object is a bytearray of PCU_IPC_BYTES bytes that copies the driver's
 * handle; nothing is allocated or freed with it. Callers: event.c and exchange/ipc.c.
 */
#ifndef PYTHON_DRIVER_IPC_BYTES_H
#define PYTHON_DRIVER_IPC_BYTES_H

#include "python/support/base.h"

enum { PCU_IPC_BYTES = 64 };

/* Copy a handle of the driver to a new bytearray. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_ipc_bytes_new(const void *handle);

/* Copy a bytearray or bytes object to a handle of the driver. Any other object, and a
 * wrong length, is a LogicError that names routine. */
PCU_HIDDEN PCU_RAISES int pcu_ipc_bytes(pcu_state *st, PyObject *value,
                                        const char *routine, void *handle);

#endif
