/* Handles of memory and events of other processes. */
#ifndef PYTHON_DRIVER_EXCHANGE_IPC_H
#define PYTHON_DRIVER_EXCHANGE_IPC_H

#include "python/support/base.h"

/* The handles of other processes' memory and events travel as a bytearray. */
enum { PCU_IPC_BYTES = 64 };
PCU_HIDDEN PCU_NEWREF PyObject *pcu_ipc_bytes_new(const void *handle);

/* The bytes of such an object (bytes will do); LogicError naming routine if it is none.
 */
PCU_HIDDEN PCU_RAISES int pcu_ipc_bytes(pcu_state *st, PyObject *value,
                                        const char *routine, void *handle);

#endif
