/* One exchange of arrays: reading the arguments, the checks, the result, enqueuing.
 *
 * Invariant: an exchange that is enqueued has arrays that NCCL can take as they lie in
 * memory. Called by operations.c. */
#ifndef PYTHON_ARRAY_COLLECTIVE_EXCHANGE_H
#define PYTHON_ARRAY_COLLECTIVE_EXCHANGE_H

#include "python/array/collective/communicator.h"
#include "python/driver/memory/gpuarray.h"
#include "python/support/args.h"

typedef struct {
    PyObject *send; /* borrowed, as are all objects */
    PyObject *recv;
    PyObject *op;
    PyObject *stream;
    int peer; /* or root */
} pcu_exchange_args;

/* One exchange, ready for NCCL. */
typedef struct {
    pcu_communicator *self;
    const char *routine;
    pcu_gpuarray *send;
    pcu_gpuarray *recv;
    size_t count; /* of `type`, as the function of NCCL counts */
    int type;
    int op;
    int peer;
    CUstream stream;
    PyObject *stream_object; /* borrowed; NULL: the default stream */
} pcu_exchange;

typedef int (*pcu_exchange_function)(const pcu_exchange *e);

PCU_HIDDEN const void *pcu_exchange_source(const pcu_exchange *e);
PCU_HIDDEN void *pcu_exchange_target(const pcu_exchange *e);

/* Parse the arguments, find the stream, and check the first array. */
PCU_HIDDEN PCU_RAISES int pcu_exchange_begin(pcu_exchange *e,
                                             const pcu_signature *signature,
                                             pcu_exchange_args *a,
                                             PyObject *const *args, Py_ssize_t nargs,
                                             PyObject *kwnames);

/* Set the root or peer, which must be one of the processes. */
PCU_HIDDEN PCU_RAISES int pcu_exchange_set_peer(pcu_exchange *e, const char *name,
                                                int peer);

/* Set the operation of a reduction, a string. */
PCU_HIDDEN PCU_RAISES int pcu_exchange_set_op(pcu_exchange *e, PyObject *op);

/* Exchange `count` elements, which are reduced. Call it after pcu_exchange_set_op. */
PCU_HIDDEN PCU_RAISES int pcu_exchange_as_numbers(pcu_exchange *e, size_t count);

/* Exchange `count` elements, which are moved. */
PCU_HIDDEN void pcu_exchange_as_bytes(pcu_exchange *e, size_t count);

/* The array for the result: the one given, which must have the shape, or a new one if
 * that is None. ValueError if its memory overlaps that of send. If may_coincide is 1,
 * it may begin `offset` bytes after send; the offset may be negative. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_exchange_result_new(pcu_exchange *e,
                                                        PyObject *given, int ndim,
                                                        const size_t *shape,
                                                        ptrdiff_t offset,
                                                        bool may_coincide);

/* Enqueue. Returns `result`, of which the caller owns a reference, or NULL. `result`
 * may be NULL after a failure: then nothing is enqueued. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_exchange_finish(const pcu_exchange *e,
                                                    pcu_exchange_function function,
                                                    PyObject *result);

#endif
