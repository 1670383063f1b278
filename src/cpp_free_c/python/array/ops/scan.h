/* Cumulative operations on GPUArrays: sums, products, extremes up to each element.
 *
 * Called by type/scan_functions.c. */
#ifndef PYTHON_ARRAY_OPS_SCAN_H
#define PYTHON_ARRAY_OPS_SCAN_H

#include "python/array/ops/operations.h"
#include "python/driver/memory/gpuarray.h"

/* The axis of a scan over all elements in C order. */
enum { PCU_SCAN_FLAT = -1 };

typedef struct {
    int op;               /* pcu_op of two inputs that is associative */
    const char *name;     /* of the function, for errors */
    pcu_gpuarray *x;      /* initialised */
    int axis;             /* 0 to ndim - 1, or PCU_SCAN_FLAT */
    int dtype;            /* pcu_type that the program asked for, or PCU_T_NONE */
    bool include_initial; /* the result begins with the value of no elements */
    PyObject *out;        /* borrowed; None: a new array */
    PyObject *allocator;  /* borrowed; NULL: the array's */
    CUstream stream;
} pcu_scan_call;

/* Whether arrays can be scanned with the operation. */
PCU_HIDDEN bool pcu_scan_has(int op);

/* Enqueue a scan: its result, or `out`. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_scan(pcu_state *st, const pcu_scan_call *call);

#endif
