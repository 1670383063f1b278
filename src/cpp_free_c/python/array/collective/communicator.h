/* The struct behind a Communicator: the processes and devices that exchange arrays.
 *
 * Invariant: `handle` is set from the end of __init__ until close(), abort() or the end
 * of the context. One thread at a time uses it, under `lock`. The communicators of a
 * context are in its list. Callers: the files of this room. */
#ifndef PYTHON_ARRAY_COLLECTIVE_COMMUNICATOR_H
#define PYTHON_ARRAY_COLLECTIVE_COMMUNICATOR_H

#include "python/array/collective/library.h"
#include "python/driver/resource.h"

typedef struct pcu_communicator {
    PyObject_HEAD
    pcu_state *st;
    PyObject *ctx; /* strong; NULL before __init__; released after the handle */
    PyObject *dict;
    PyObject *weakrefs;
    pcu_nccl_handle handle;
    PyThread_type_lock lock;
    unsigned int waiting; /* threads that want or hold the lock */
    int size;
    int rank;
    struct pcu_communicator *next; /* in the list of the context */
    struct pcu_communicator **place;
} pcu_communicator;

/* Wait for the turn of this thread to use the handle. LogicError that names routine if
 * there is none. */
PCU_HIDDEN PCU_RAISES int pcu_communicator_enter(pcu_communicator *self,
                                                 const char *routine);
PCU_HIDDEN void pcu_communicator_leave(pcu_communicator *self);

/* The methods that exchange arrays: operations.c. */
extern PCU_HIDDEN PyMethodDef pcu_communicator_operations[];

#endif
