/* ForeignAllocation: an array in memory of another library.
 *
 * Invariant: the object owns the tensor and calls the producer's deleter once, when it
 * is freed. Callers: dlpack_import.c makes them, python/array reads their tensor. */
#ifndef PYTHON_DRIVER_EXCHANGE_FOREIGN_ALLOCATION_H
#define PYTHON_DRIVER_EXCHANGE_FOREIGN_ALLOCATION_H

#include "python/support/base.h"

#include "python/driver/exchange/dlpack_tensor.h"

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
