/* Copies whose elements come from other places along each axis: roll, repeat, tile,
 * pad.
 *
 * One kernel copies all elements. Called by type/shape_functions.c. */
#ifndef PYTHON_ARRAY_OPS_REMAP_H
#define PYTHON_ARRAY_OPS_REMAP_H

#include "driver/shape.h"
#include "python/driver/memory/gpuarray.h"

/* Where the element of a target's index i comes from; n is the length of the source. */
typedef enum {
    PCU_REMAP_ROLL,     /* (i - first) modulo n */
    PCU_REMAP_REPEAT,   /* i / first */
    PCU_REMAP_TILE,     /* i modulo n */
    PCU_REMAP_EMPTY,    /* i - first; elements outside are not written */
    PCU_REMAP_CONSTANT, /* i - first; elements outside get a value */
    PCU_REMAP_EDGE,     /* i - first, clipped */
    PCU_REMAP_WRAP,     /* (i - first) modulo n */
    PCU_REMAP_REFLECT,  /* i - first, mirrored at the elements at both ends */
    PCU_REMAP_SYMMETRIC /* i - first, mirrored beyond the elements at both ends */
} pcu_remap_rule;

typedef struct {
    pcu_remap_rule rule;
    const size_t *shape;     /* of the target, which has the source's number of axes */
    const ptrdiff_t *firsts; /* one number for each axis, see the rule */
    PyObject *value;         /* borrowed: the number outside; NULL for other rules */
    CUstream stream;
} pcu_remap_call;

/* The target, packed in C order, with the source's dtype and allocator. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_remap_new(pcu_gpuarray *source,
                                              const pcu_remap_call *call);

#endif
