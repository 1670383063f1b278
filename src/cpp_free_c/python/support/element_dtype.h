/* The element types that kernels know, and the one of a NumPy dtype.
 *
 * tables/dtypes.h has one row for each type. Callers: launches, which compare arguments
 * with parameters, DLPack, and the rooms of arrays. */
#ifndef PYTHON_SUPPORT_ELEMENT_DTYPE_H
#define PYTHON_SUPPORT_ELEMENT_DTYPE_H

#include "python/support/base.h"

#include "tables/dtypes.h"

#define PCU_DTYPE_MEMBER(CODE, name, size, align, KIND) PCU_T_##CODE,
typedef enum {
    PCU_DTYPES(PCU_DTYPE_MEMBER) PCU_T_COUNT,
    PCU_T_RAW = PCU_T_COUNT, /* elements that kernels only move, as bytes */
    PCU_T_NONE               /* no dtype yet, or one that no kernel can move */
} pcu_type;
#undef PCU_DTYPE_MEMBER

/* The type of a dtype: PCU_T_RAW if kernels only move it, PCU_T_NONE if they cannot. */
PCU_HIDDEN int pcu_type_of_dtype(const PyArray_Descr *dtype);

/* -- bfloat16, which NumPy does not have: the package ml_dtypes registers it ------- */

/* Whether the dtype is ml_dtypes' bfloat16. */
PCU_HIDDEN bool pcu_dtype_is_bfloat16(const PyArray_Descr *dtype);

/* The dtype. Imports ml_dtypes if the program has not; TypeError without the package.
 */
PCU_HIDDEN PCU_NEWREF PyArray_Descr *pcu_bfloat16_dtype_new(void);

#endif
