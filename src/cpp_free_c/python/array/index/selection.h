/* Selections: the elements of an array at index arrays, and the kernels that move them.
 *
 * A selection has the shape of a result. Each of its elements is at a distance in the
 * array that strides give, plus the distances that index arrays give. A kernel checks
 * each index: see report.h. Called by items.c and take.c. */
#ifndef PYTHON_ARRAY_INDEX_SELECTION_H
#define PYTHON_ARRAY_INDEX_SELECTION_H

#include "driver/shape.h"
#include "python/driver/context.h"
#include "python/driver/memory/gpuarray.h"

/* What happens to an index out of bounds. */
typedef enum {
    PCU_BOUNDS_NOTE, /* the next call that waits raises IndexError */
    PCU_BOUNDS_WRAP, /* it counts on from the other end */
    PCU_BOUNDS_CLIP  /* it means the element at that end */
} pcu_bounds;

/* One index array. */
typedef struct {
    pcu_gpuarray *array; /* owned, on the device */
    int axis;            /* of the indexed array, for messages */
    bool is_checked;     /* all values are in bounds */
    size_t length;       /* of the indexed axis */
    ptrdiff_t stride;
} pcu_selection_index;

typedef struct {
    pcu_gpuarray *array; /* borrowed */
    ptrdiff_t offset;    /* of the first element, in bytes from the array's first */
    int ndim;
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM]; /* of the array, along the axes of the result */
    size_t count;                    /* of elements */
    int begin; /* the axes of the result to which index arrays broadcast: */
    int end;   /* from begin up to end */
    pcu_bounds bounds;
    int nindices;
    pcu_selection_index indices[PCU_MAX_NDIM];
} pcu_selection;

/* Make an empty selection of an array. */
PCU_HIDDEN void pcu_selection_init(pcu_selection *self, pcu_gpuarray *array);

/* Drop the index arrays. */
PCU_HIDDEN void pcu_selection_clear(pcu_selection *self);

/* Add an index array of integers; the selection holds a reference. */
PCU_HIDDEN PCU_RAISES int pcu_selection_add(pcu_selection *self, pcu_gpuarray *index,
                                            int axis, size_t length, ptrdiff_t stride,
                                            bool is_checked);

/* Compute count from the shape. */
PCU_HIDDEN PCU_RAISES int pcu_selection_count(pcu_selection *self);

/* Replace index arrays that may share memory with `target` by copies. */
PCU_HIDDEN PCU_RAISES int pcu_selection_separate(pcu_selection *self,
                                                 const pcu_gpuarray *target,
                                                 CUstream stream);

/* Enqueue target[...] = the elements. target has the selection's shape. */
PCU_HIDDEN PCU_RAISES int pcu_selection_gather(pcu_selection *self,
                                               pcu_gpuarray *target, CUstream stream);

/* The elements in a new array. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_selection_get(pcu_selection *self,
                                                  PyObject *allocator, CUstream stream);

/* Enqueue: the elements become those of `values`, which has the array's itemsize and
 * broadcasts to the shape. An element that is indexed twice gets one of the values. */
PCU_HIDDEN PCU_RAISES int pcu_selection_scatter(pcu_selection *self,
                                                pcu_gpuarray *values, CUstream stream);

/* Enqueue: each element becomes op(element, value), an elementwise operation with two
 * inputs of the array's dtype. An element that is indexed twice takes both values. */
PCU_HIDDEN PCU_RAISES int pcu_selection_apply(pcu_selection *self, int op,
                                              pcu_gpuarray *values, CUstream stream);

/* Enqueue: all elements get the value of these bytes, an element of the array. */
PCU_HIDDEN PCU_RAISES int pcu_selection_fill(pcu_selection *self,
                                             const unsigned char *value,
                                             CUstream stream);

#endif
