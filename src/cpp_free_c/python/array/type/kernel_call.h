/* Calls of a program's own kernels: an ElementwiseKernel, a ReductionKernel or a scan.
 *
 * A plan (call_plan.c) has what calls in one context need. Invariant: a plan never
 * changes. A call holds a reference, because converting a number may run code that
 * installs another plan. A call checks its arguments, packs them and launches
 * (call_launch.c). kernel_call.c has the type. The functions here accept the usual
 * cases; pycuda/_array/kernels/kernel_arguments.py arranges all others. */
#ifndef PYTHON_ARRAY_TYPE_KERNEL_CALL_H
#define PYTHON_ARRAY_TYPE_KERNEL_CALL_H

#include "python/driver/launch/launch.h"
#include "python/driver/memory/gpuarray.h"
#include "python/support/args.h"

/* -- plans ------------------------------------------------------------------------- */

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

/* -- arguments --------------------------------------------------------------------- */

/* How a parameter uses its argument. */
enum { PCU_USE_SCALAR, PCU_USE_POINTER, PCU_USE_ELEMENTS };

/* One call; all objects are borrowed. */
typedef struct {
    pcu_state *st;
    Py_ssize_t count;
    PyObject *const *args;
    PyObject *dtypes;          /* tuple: what the kernel declares */
    const char *uses;          /* a byte for each argument */
    const pcu_gpuarray *first; /* the array that gives the order of memory */
    size_t extent;             /* elements that the kernel uses of each array */
} pcu_kernel_arguments;

/* Check argument i, an array: 1 if it certainly is what the kernel declares, 0 if
 * Python has to decide, -1 on error. Runs no Python code. */
PCU_HIDDEN PCU_RAISES int pcu_kernel_arguments_check(const pcu_kernel_arguments *call,
                                                     Py_ssize_t i);

/* The same, and store the address that the kernel gets. */
PCU_HIDDEN PCU_RAISES int pcu_kernel_arguments_address(const pcu_kernel_arguments *call,
                                                       Py_ssize_t i,
                                                       CUdeviceptr *address);

/* -- the indices of `range` and `slice` -------------------------------------------- */

/* What the keywords select. */
typedef struct {
    PyObject *value; /* borrowed; NULL: all elements */
    bool is_slice;
} pcu_call_selection;

typedef struct {
    Py_ssize_t start;
    Py_ssize_t stop;
    Py_ssize_t step;
    size_t count;  /* of indices */
    size_t extent; /* one more than the largest index; 0 without indices */
} pcu_call_bounds;

/* Note the value of a keyword: 1 if it was `range` or `slice`, 0 if another one, -1 if
 * both were given, which is no Python exception. */
PCU_HIDDEN int pcu_call_select(pcu_call_selection *selection, PyObject *name,
                               PyObject *value);

/* Fill the bounds of a selection from an array of `size` elements: 1 if done, 0 if
 * Python has to handle the call, -1 on error. */
PCU_HIDDEN PCU_RAISES int pcu_call_bounds_fill(pcu_call_bounds *bounds,
                                               const pcu_call_selection *selection,
                                               size_t size);

/* -- launches ---------------------------------------------------------------------- */

enum {
    PCU_CALL_LEADING_MAX = 3, /* addresses before the program's arguments */
    PCU_CALL_TRAILING_MAX = 3 /* numbers after them */
};

/* One call in progress. */
typedef struct {
    const pcu_call_plan *plan;
    pcu_kernel_arguments arguments;
    CUstream stream;
    PyObject *allocator; /* borrowed; NULL: that of the first array */
} pcu_call_run;

/* A launch of a stage: what precedes and follows the program's arguments. */
typedef struct {
    PyObject *function; /* borrowed from the plan */
    int leading;
    CUdeviceptr addresses[PCU_CALL_LEADING_MAX];
    int trailing;
    uint64_t numbers[PCU_CALL_TRAILING_MAX];
    pcu_launch_shape shape;
} pcu_call_launch;

/* Pack and launch a stage. 1 if done, 0 if Python has to handle the call, -1 on error.
 */
PCU_HIDDEN PCU_RAISES int pcu_call_enqueue(const pcu_call_run *run,
                                           const pcu_call_launch *launch);

/* Run a scan. 1 and *out, the output, if done, 0 if Python has to handle the call, -1
 * on error. */
PCU_HIDDEN PCU_RAISES int pcu_call_scan(pcu_state *st, pcu_call_run *run,
                                        PyObject *const *args, Py_ssize_t nargs,
                                        PyObject *kwnames, PyObject **out);

#endif
