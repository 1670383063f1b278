/* The form of an array: what other code must not change while a transform runs Python
 * code or lets other threads run.
 *
 * Called by axis.c and library.c. */
#ifndef PYTHON_ARRAY_FOURIER_FORM_H
#define PYTHON_ARRAY_FOURIER_FORM_H

#include "python/driver/memory/gpuarray.h"

#include "driver/shape.h"

/* The shape and type of both arrays of a transform. */
typedef struct {
    int ndim[2];
    int type[2];
    size_t shape[2][PCU_MAX_NDIM];
} pcu_fourier_forms;

static inline void
pcu_fourier_forms_read(pcu_fourier_forms *forms, const pcu_gpuarray *in,
                       const pcu_gpuarray *out)
{
    const pcu_gpuarray *const arrays[2] = {in, out};
    for (int i = 0; i < 2; i++) {
        size_t bytes = (size_t)arrays[i]->ndim * sizeof(*forms->shape[i]);
        forms->ndim[i] = arrays[i]->ndim;
        forms->type[i] = arrays[i]->type;
        memcpy(forms->shape[i], arrays[i]->shape, bytes);
    }
}

/* RuntimeError if an array has another form now. */
PCU_RAISES static inline int
pcu_fourier_forms_check(const pcu_fourier_forms *forms, const pcu_gpuarray *in,
                        const pcu_gpuarray *out)
{
    const pcu_gpuarray *const arrays[2] = {in, out};
    for (int i = 0; i < 2; i++) {
        if (arrays[i]->type != forms->type[i] ||
            !pcu_gpuarray_has_shape(arrays[i], forms->ndim[i], forms->shape[i])) {
            PyErr_SetString(PyExc_RuntimeError,
                            "the shape or dtype of an array changed during its "
                            "Fourier transform");
            return -1;
        }
    }
    return 0;
}

#endif
