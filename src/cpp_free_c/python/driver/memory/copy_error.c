/* The error of a failed copy or fill. Invariant and callers: see copy_error.h. */
#include "python/driver/memory/copy_error.h"

/* Describe a range that is not inside one allocation. NULL without an exception if it
 * is inside one, or if the driver cannot tell. */
static PyObject *
copy_error_describe(const pcu_copy_range *range)
{
    CUdeviceptr base = 0;
    size_t size = 0;
    CUresult status;
    PCU_STATUS(status, MemGetAddressRange, (&base, &size, range->start));
    if (status == CUDA_ERROR_NOT_FOUND || status == CUDA_ERROR_INVALID_VALUE) {
        return PyUnicode_FromFormat(
            "%s: %zu bytes were asked for at address %p, which is in no allocation",
            range->name, range->bytes, (void *)(uintptr_t)range->start);
    }
    size_t offset = (size_t)(range->start - base);
    if (status != CUDA_SUCCESS || offset > size || range->bytes <= size - offset) {
        return NULL;
    }
    return PyUnicode_FromFormat(
        "%s: %zu bytes from byte %zu on were asked for, but "
        "the allocation at %p has %zu bytes",
        range->name, range->bytes, offset, (void *)(uintptr_t)base, size);
}

int
pcu_copy_ranges_check(pcu_state *st, const char *routine, CUresult status,
                      const pcu_copy_range *ranges, int count)
{
    PyObject *fault = NULL;
    for (int i = 0; status == CUDA_ERROR_INVALID_VALUE && i < count; i++) {
        if (fault == NULL && ranges[i].bytes != 0) {
            fault = copy_error_describe(&ranges[i]);
            if (fault == NULL && PyErr_Occurred()) {
                return -1;
            }
        }
    }
    if (fault == NULL) {
        return 0;
    }
    pcu_raise_detail(st, routine, status, "%U", fault);
    Py_DECREF(fault);
    return -1;
}

int
pcu_copy_raise(pcu_state *st, const char *routine, CUresult status,
               const pcu_copy_range *ranges, int count)
{
    if (pcu_copy_ranges_check(st, routine, status, ranges, count) < 0) {
        return -1;
    }
    return pcu_raise(st, routine, status);
}

int
pcu_copy_captured(pcu_state *st, const char *routine, const pcu_copy_range *ranges,
                  int count)
{
    int rc = pcu_captured_copy(st, routine);
    for (int i = 0; rc == 0 && i < count; i++) {
        rc = pcu_captured_address(ranges[i].start);
    }
    return rc;
}
