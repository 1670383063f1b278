/* Lending and borrowing device memory by DLPack, for the C types that have arrays.
 *
 * Tensors are described here as NumPy does it: strides in bytes, the address of the
 * first item. */
#ifndef PYTHON_DRIVER_EXCHANGE_DLPACK_H
#define PYTHON_DRIVER_EXCHANGE_DLPACK_H

#include "python/support/base.h"

#include "driver/shape.h"
#include "abi/dlpack_abi.h"

typedef struct {
    CUdeviceptr pointer; /* of the first item */
    pcu_dl_device device;
    int readonly;
    int copied; /* for the consumer, who need not keep it as it is */
    int ndim;
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM]; /* bytes */
    PyArray_Descr *dtype;
} pcu_dlpack;

/* A capsule over a tensor (whose dtype is borrowed), which keeps owner alive until the
 * consumer is done with it, or, if nobody takes it, until the capsule goes. The
 * consumer may end it in any thread, with or without the interpreter lock. With
 * `versioned` the form of DLPack 1, else the one before, which cannot say that memory
 * is read-only. BufferError for what DLPack cannot describe. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_dlpack_export(const pcu_dlpack *tensor,
                                                  PyObject *owner, int versioned);

/* DLPack's type of the device of memory at an address. */
PCU_HIDDEN int32_t pcu_dlpack_device_type(CUdeviceptr pointer);

/* 1 if max_version, None or a tuple, asks for the form of DLPack 1, 0 for the one
 * before, -1 with an exception. */
PCU_HIDDEN PCU_RAISES int pcu_dlpack_wants_version(PyObject *max_version);

/* The tensor of an object with __dlpack__, or of a capsule: a ForeignAllocation, which
 * gives it back when it goes. The producer is asked to make it safe for work on the
 * stream (as pcu_as_stream takes it; NULL is the current one), which is kept alive.
 * BufferError for memory that CUDA does not know, and for types of items that NumPy
 * does not know. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_dlpack_import_new(pcu_state *st, PyObject *producer,
                                                      PyObject *stream);

/* The description of a ForeignAllocation, valid as long as that lives. */
PCU_HIDDEN PCU_BORROWED const pcu_dlpack *pcu_dlpack_of(PyObject *foreign);

#endif
