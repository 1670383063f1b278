/* The plan of the calls of a program's kernel in one context: see kernel_call.c.
 *
 * Invariant: a plan never changes. A call holds a reference, because converting a
 * number may run code that installs another plan. */
#ifndef PYTHON_ARRAY_TYPE_CALL_PLAN_H
#define PYTHON_ARRAY_TYPE_CALL_PLAN_H

#include "python/support/args.h"

/* The kinds of kernels. */
typedef enum {
    PCU_CALL_ELEMENTWISE,
    PCU_CALL_REDUCTION,
    PCU_CALL_SCAN,
    PCU_CALL_RANGE, /* an elementwise kernel for some of the elements */
    PCU_CALL_KINDS
} pcu_call_kind;

/* What calls in one context need. */
typedef struct {
    Py_ssize_t references; /* changes under the interpreter lock */
    pcu_call_kind kind;
    PyObject *context;     /* strong, as are all objects */
    PyObject *stages[2];   /* prepared Functions; the second of reductions only */
    PyObject *dtypes;      /* tuple: what the kernel declares, None for numbers */
    PyObject *uses;        /* bytes: how it uses each argument */
    Py_ssize_t first;      /* the place of the array that gives the size */
    PyArray_Descr *result; /* of reductions and scans; else NULL */
    unsigned int threads;  /* of a block of a reduction or scan */
    unsigned int each;     /* elements of a thread; of a reduction at least so many */
    size_t most_blocks;    /* of a reduction */
} pcu_call_plan;

/* The vocabulary of _KernelCall._remember. */
extern PCU_HIDDEN const pcu_word pcu_call_plan_words[10];

/* A plan with one reference, of the arguments of _KernelCall._remember. TypeError if
 * they make none. */
PCU_HIDDEN PCU_RAISES pcu_call_plan *pcu_call_plan_new(pcu_state *st,
                                                       const pcu_signature *signature,
                                                       PyObject *const *args,
                                                       Py_ssize_t nargs,
                                                       PyObject *kwnames);

/* Drop a reference. NULL is allowed. */
PCU_HIDDEN void pcu_call_plan_release(pcu_call_plan *plan);

#endif
