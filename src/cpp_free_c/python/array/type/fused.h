/* Calls of the functions that pycuda.fuse recorded.
 *
 * A _FusedRun (fused_run.c) has the steps of a recording for arguments of one key:
 * kernels with their parameters, calls of Python, and what they allocate. Invariant:
 * apart from `used` and the spare arrays it never changes. A _FusedCall (fused_call.c)
 * is the base of FusedFunction: it compares the arguments of a call with the keys of
 * the last runs, and hands all other calls to Python. */
#ifndef PYTHON_ARRAY_TYPE_FUSED_H
#define PYTHON_ARRAY_TYPE_FUSED_H

#include "python/driver/launch/launch.h"
#include "python/driver/memory/gpuarray.h"

/* A step. The objects are borrowed from the run's tuple. */
typedef struct {
    PyObject *work;        /* a prepared Function, another callable, or None */
    PyObject *begins;      /* tuple: the blocks that it allocates */
    PyObject *layouts;     /* tuple: an array without memory for each of them */
    PyObject *ends;        /* tuple: the blocks that no later step uses */
    PyObject *pointers;    /* tuple: the blocks whose addresses the kernel gets first */
    PyObject *offsets;     /* tuple: the bytes from there on, for each of them */
    pcu_prepared *plan;    /* counted reference: where the parameters are */
    unsigned char *params; /* owned: all parameters, without the addresses */
    pcu_launch_shape shape;
} pcu_fused_step;

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *weakrefs;
    PyObject *context; /* strong, as are the objects below */
    PyObject *key;     /* tuple: the layout or the value of each argument; or None */
    PyObject *sources; /* tuple: for each block None, a number of an array among the
                          arguments, or an array from outside */
    PyObject *written; /* tuple: the blocks from outside that steps may change */
    PyObject *steps;   /* tuple: holds what `items` borrows */
    PyObject *result;  /* a tuple of blocks, or a callable */
    PyObject *layouts; /* tuple: the layout of a result that may be in memory that the
                          program gives, else None */
    PyObject *donated; /* tuple: the arrays among the arguments that calls give up */
    PyObject *spare;   /* tuple: those of the last call, or NULL */
    CUstream spare_stream;
    Py_ssize_t used;       /* the number of the last call, of all runs */
    Py_ssize_t count;      /* of items */
    pcu_fused_step *items; /* owned */
} pcu_fused_run;

/* Enqueue the steps. `arrays` are those among the arguments. Results are in the arrays
 * of the tuple `outs` where these fit. NULL: in donated arrays where these fit. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_fused_run_call(pcu_fused_run *self,
                                                   PyObject *const *arrays,
                                                   Py_ssize_t count, PyObject *outs);

/* Whether two arrays have the same dtype, shape and strides, and the same alignment up
 * to 16 bytes. */
PCU_HIDDEN bool pcu_fused_has_layout(const pcu_gpuarray *array,
                                     const pcu_gpuarray *layout);

/* Whether a block that steps change shares memory with another one. */
PCU_HIDDEN bool pcu_fused_run_conflicts(const pcu_fused_run *self,
                                        PyObject *const *arrays, Py_ssize_t count);

#endif
