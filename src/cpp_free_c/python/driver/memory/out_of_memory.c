/* Memory pressure. Invariant and callers: see out_of_memory.h. */
#include "python/driver/memory/out_of_memory.h"

void
pcu_collect_garbage(void)
{
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *collected = NULL;
    if (gc != NULL) {
        collected = PyObject_CallMethod(gc, "collect", NULL);
    }
    if (collected == NULL) {
        PyErr_Clear(); /* the allocation is tried again in any case */
    }
    Py_XDECREF(collected);
    Py_XDECREF(gc);
}

int
pcu_out_of_memory_raise(pcu_state *st, const char *routine, CUresult status,
                        size_t size)
{
    size_t free_bytes = 0;
    size_t total = 0;
    if (status == CUDA_ERROR_OUT_OF_MEMORY &&
        drv.MemGetInfo(&free_bytes, &total) == CUDA_SUCCESS) {
        return pcu_raise_detail(st, routine, status,
                                "%zu bytes were asked for, %zu of %zu are free", size,
                                free_bytes, total);
    }
    if (status == CUDA_ERROR_OUT_OF_MEMORY || size == 0) {
        return pcu_raise_detail(st, routine, status, "%zu bytes were asked for", size);
    }
    return pcu_raise(st, routine, status);
}
