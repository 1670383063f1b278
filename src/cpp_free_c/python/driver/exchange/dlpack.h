/* Arrays that libraries exchange by DLPack and __cuda_array_interface__.
 *
 * Each section names its source. Callers: the files of this folder, launches, and
 * python/array. */
#ifndef PYTHON_DRIVER_EXCHANGE_DLPACK_H
#define PYTHON_DRIVER_EXCHANGE_DLPACK_H

#include "python/support/base.h"

#include "abi/dlpack_abi.h"
#include "driver/shape.h"

/* -- dlpack_tensor.c: a tensor as NumPy describes an array ------------------------- */

typedef struct {
    CUdeviceptr pointer; /* of the first item */
    pcu_dl_device device;
    bool readonly;
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

/* -- dlpack_export.c: capsules for other libraries --------------------------------- */

/* An exported tensor holds its owner until the consumer calls the deleter. */

/* Make a capsule of a tensor, whose dtype is borrowed. It holds `owner` until the
 * consumer calls the deleter, or until the capsule is freed if no consumer took it. The
 * consumer may call the deleter in any thread, with or without the interpreter lock.
 * With `versioned` the capsule has the form of DLPack 1, otherwise the older form,
 * which cannot mark memory as read-only. BufferError for what DLPack cannot describe.
 */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_dlpack_export(const pcu_dlpack *tensor,
                                                  PyObject *owner, int versioned);

/* Read max_version, None or a tuple. Return 1 for the form of DLPack 1, 0 for the older
 * form. */
PCU_HIDDEN PCU_RAISES int pcu_dlpack_wants_version(PyObject *max_version);

/* -- foreign_allocation.c: an array in memory of another library ------------------- */

/* The object owns the tensor and calls the producer's deleter once, when it is freed.
 */

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *dict;
    PyObject *weakrefs;
    pcu_dl_managed *plain; /* owned: either this or the next one is set */
    pcu_dl_versioned *versioned;
    PyObject *stream_object; /* strong: keeps stream alive, not cleared by tp_clear */
    CUstream stream;         /* the producer made the memory safe to use on it */
    pcu_dlpack tensor;       /* with a strong dtype */
} pcu_foreign_allocation;

/* Borrow an array of another library by DLPack, for work on the stream: a
 * ForeignAllocation. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_dlpack_borrow_new(pcu_state *st, PyObject *producer,
                                                      CUstream stream);

/* 1 if the object has an array by DLPack that is in memory of CUDA; 0 if it has no such
 * method, or the array is in other memory. */
PCU_HIDDEN PCU_RAISES int pcu_dlpack_is_cuda(PyObject *producer);

/* The tensor of a ForeignAllocation, valid while the object is alive. */
static inline const pcu_dlpack *
pcu_foreign_allocation_tensor(PyObject *foreign)
{
    return &((pcu_foreign_allocation *)foreign)->tensor;
}

#endif
