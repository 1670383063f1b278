/* The functions of numpy.fft on GPUArrays: dtypes, lengths, axes, norms, results.
 *
 * Called by type/fourier_functions.c. */
#ifndef PYTHON_ARRAY_FOURIER_FOURIER_H
#define PYTHON_ARRAY_FOURIER_FOURIER_H

#include "python/driver/memory/gpuarray.h"
#include "tables/fourier.h"

#define PCU_FOURIER_MEMBER(NAME, name, KIND, inverse) PCU_FOURIER_FUNCTION_##NAME,
typedef enum {
    PCU_FOURIER_FUNCTIONS(PCU_FOURIER_MEMBER) PCU_FOURIER_FUNCTION_COUNT
} pcu_fourier_function;
#undef PCU_FOURIER_MEMBER

/* A call. All objects are borrowed. */
typedef struct {
    int function;      /* pcu_fourier_function */
    pcu_gpuarray *a;   /* initialised */
    bool is_nd;        /* the next two are sequences, not numbers */
    PyObject *lengths; /* n or s; None: those of the array */
    PyObject *axes;    /* None: all axes, or the last ones if s is given */
    PyObject *norm;
    PyObject *out; /* None: a new array */
    CUstream stream;
} pcu_fourier_call;

/* Enqueue the transform. Returns the result: a new array, or `out`. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_fourier(pcu_state *st,
                                            const pcu_fourier_call *call);

/* The numbers of the functions by their names, as a dict. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_fourier_numbers_new(void);

#endif
