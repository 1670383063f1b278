/* The dtype bfloat16, which NumPy does not have: the package ml_dtypes registers it.
 *
 * Callers: the element types of arrays, and DLPack. */
#ifndef PYTHON_SUPPORT_BFLOAT16_H
#define PYTHON_SUPPORT_BFLOAT16_H

#include "python/support/base.h"

/* 1 for ml_dtypes' bfloat16. */
PCU_HIDDEN int pcu_dtype_is_bfloat16(const PyArray_Descr *dtype);

/* The dtype. Imports ml_dtypes if the program has not; TypeError without the package.
 */
PCU_HIDDEN PCU_NEWREF PyArray_Descr *pcu_bfloat16_dtype_new(void);

#endif
