/* IPC handles as Python objects. Callers: see ipc_bytes.h. */
#include "python/driver/ipc_bytes.h"

#include "python/support/errors.h"

_Static_assert(sizeof(CUipcMemHandle) == PCU_IPC_BYTES, "IPC handles have 64 bytes");
_Static_assert(sizeof(CUipcEventHandle) == PCU_IPC_BYTES, "IPC handles have 64 bytes");

PyObject *
pcu_ipc_bytes_new(const void *handle)
{
    return PyByteArray_FromStringAndSize(handle, PCU_IPC_BYTES);
}

int
pcu_ipc_bytes(pcu_state *st, PyObject *value, const char *routine, void *handle)
{
    const char *bytes = NULL;
    if (PyByteArray_Check(value)) {
        bytes = PyByteArray_AS_STRING(value);
    }
    else if (PyBytes_Check(value)) {
        bytes = PyBytes_AS_STRING(value);
    }
    else {
        return pcu_raise_detail(st, routine, CUDA_ERROR_INVALID_VALUE,
                                "the handle must be a bytearray or bytes, not %s",
                                Py_TYPE(value)->tp_name);
    }
    if (Py_SIZE(value) != PCU_IPC_BYTES) {
        return pcu_raise_detail(st, routine, CUDA_ERROR_INVALID_VALUE,
                                "the handle has %zd bytes; it must have %d",
                                Py_SIZE(value), PCU_IPC_BYTES);
    }
    memcpy(handle, bytes, PCU_IPC_BYTES);
    return 0;
}
