/* The generated kernels of a context, by key.
 *
 * The table is part of the Context object and ends with it. It holds driver handles and
 * no Python objects, so it keeps nothing alive. The interpreter lock guards it. Called
 * by the files that launch kernels: elementwise_kernel.c, reduction.c, transpose.c. */
#ifndef PYTHON_ARRAY_OPS_KERNEL_TABLE_H
#define PYTHON_ARRAY_OPS_KERNEL_TABLE_H

#include "python/array/ops/kernel_request.h"
#include "python/driver/context.h"

/* The key of a kernel that the context has, NULL if it is none of its kernels. */
PCU_HIDDEN const pcu_kernel_key *pcu_kernel_table_key(const pcu_context *ctx,
                                                      CUfunction kernel);

/* Whether the context has the kernel of a key. */
PCU_HIDDEN bool pcu_kernel_table_has(const pcu_context *ctx, const pcu_kernel_key *key);

enum { PCU_KERNEL_MADE = 2 };

/* Get the kernel of a key. Return 0 and store it if the context has it. Otherwise run
 * Python, which compiles it, load it, and return PCU_KERNEL_MADE without storing it:
 * other code may have changed the arrays meanwhile, so the caller checks them and plans
 * the launch again. */
PCU_HIDDEN PCU_RAISES int pcu_kernel_table_get(pcu_state *st, pcu_context *ctx,
                                               const pcu_kernel_key *key,
                                               CUfunction *kernel);

/* The same for several kernels, at most PCU_KERNELS_AT_ONCE. Those that the context
 * does not have are compiled side by side. */
enum { PCU_KERNELS_AT_ONCE = 4 };
PCU_HIDDEN PCU_RAISES int pcu_kernel_table_get_all(pcu_state *st, pcu_context *ctx,
                                                   size_t count,
                                                   const pcu_kernel_key *keys,
                                                   CUfunction *kernels);

#endif
