/* The description of a DLPack tensor, as NumPy describes an array: strides in bytes,
 * the address of the first item, a dtype.
 *
 * Callers: the other DLPack files of this folder, and python/array. */
#ifndef PYTHON_DRIVER_EXCHANGE_DLPACK_TENSOR_H
#define PYTHON_DRIVER_EXCHANGE_DLPACK_TENSOR_H

#include "python/support/base.h"

#include "driver/shape.h"
#include "abi/dlpack_abi.h"

typedef struct {
    CUdeviceptr pointer; /* of the first item */
    pcu_dl_device device;
    int readonly;
    int copied; /* made for this consumer, which may write to it */
    int ndim;
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM]; /* bytes */
    PyArray_Descr *dtype;
} pcu_dlpack;

/* Translate a dtype to DLPack's type. BufferError if DLPack has none. */
PCU_HIDDEN PCU_RAISES int pcu_dlpack_describe_dtype(PyArray_Descr *dtype,
                                                    pcu_dl_dtype *out);

/* Translate DLPack's type to a dtype. BufferError if NumPy has none. */
PCU_HIDDEN PCU_NEWREF PyArray_Descr *pcu_dlpack_dtype_new(pcu_dl_dtype type);

/* A stream as DLPack and __cuda_array_interface__ write it: an int, 1 for the default
 * stream. */
static inline PyObject *
pcu_dlpack_stream_new(CUstream stream)
{
    if (stream == NULL) {
        stream = CU_STREAM_LEGACY;
    }
    return PyLong_FromVoidPtr(stream);
}

/* DLPack's device type of the memory at an address. Memory of cudaMallocManaged has its
 * own type. */
PCU_HIDDEN int32_t pcu_dlpack_device_type(CUdeviceptr pointer);

#endif
