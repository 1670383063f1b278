/* The generated kernels of a context, by key.
 *
 * The table is part of the Context object and ends with it. It holds driver handles and
 * no Python objects, so it keeps nothing alive. The interpreter lock guards it. Called
 * by the files that launch kernels: elementwise_kernel.c, reduction.c, transpose.c. */
#ifndef PYTHON_ARRAY_OPS_KERNEL_TABLE_H
#define PYTHON_ARRAY_OPS_KERNEL_TABLE_H

#include "python/array/ops/kernel_request.h"
#include "python/driver/context.h"

/* The kernel of a key, loaded into the context. On a miss this runs Python, which
 * compiles the kernel. */
PCU_HIDDEN PCU_RAISES CUfunction pcu_kernel_find(pcu_state *st, pcu_context *ctx,
                                                 const pcu_kernel_key *key);

#endif
