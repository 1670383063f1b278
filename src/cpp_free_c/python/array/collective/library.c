/* Opening NCCL: see library.h. */

#include "python/array/collective/library.h"

#include "python/support/settings.h"

int
pcu_nccl_require(pcu_state *st)
{
    char reason[PCU_LIBRARY_REASON];
    if (pcu_nccl_is_loaded()) {
        return 0;
    }
    int loaded = pcu_library_open("nccl", pcu_nccl_load, reason);
    if (loaded < 0) {
        return -1;
    }
    if (!loaded) {
        PyErr_Format(st->exc_RuntimeError,
                     "NCCL was not found: %s; install it with 'pip install "
                     "\"nvidia-nccl-cu13>=2.27\"', or set PYCUDA_NCCL to the path of "
                     "libnccl.so.2",
                     reason[0] == '\0' ? "there is no path to try" : reason);
        return -1;
    }
    return 0;
}

int
pcu_nccl_raise(pcu_state *st, const char *routine, int status)
{
    const char *text = NULL;
    PyObject *kind = st->exc_RuntimeError;
    if (status == PCU_NCCL_INVALID_ARGUMENT || status == PCU_NCCL_INVALID_USAGE) {
        kind = st->exc_LogicError;
    }
    if (pcu_nccl.GetLastError != NULL) {
        text = pcu_nccl.GetLastError(NULL);
    }
    if (text == NULL || text[0] == '\0') {
        text = "set NCCL_DEBUG=WARN for NCCL's report";
    }
    PyErr_Format(kind, "%s failed: %s: %s", routine, pcu_nccl_status_name(status),
                 text);
    return -1;
}
