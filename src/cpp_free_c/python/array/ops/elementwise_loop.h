/* The loop of an elementwise kernel: which axes it has, and how each operand advances.
 *
 * Invariant after pcu_elementwise_loop_plan: `key` names the kernel, `address` is where
 * each operand begins, and shape and strides count units of key.vector elements.
 * Called by elementwise_kernel.c. */
#ifndef PYTHON_ARRAY_OPS_ELEMENTWISE_LOOP_H
#define PYTHON_ARRAY_OPS_ELEMENTWISE_LOOP_H

#include "driver/shape.h"
#include "python/array/element_type.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_request.h"
#include "python/array/ops/operand.h"

typedef struct {
    pcu_kernel_key key;
    int nin;
    int nops; /* inputs and outputs */
    const pcu_operand *inputs;
    pcu_gpuarray *const *outputs;
    pcu_gpuarray *arrays[PCU_OPERANDS_MAX]; /* NULL: a scalar */
    CUdeviceptr address[PCU_OPERANDS_MAX];  /* of the arrays' first unit */
    size_t count;                           /* elements */
    size_t units;                           /* count / key.vector, rounded up */
    int ndim;                               /* of the loop; 0: flat */
    bool has_no_rows;                       /* not on this device */
    bool is_by_rows;                        /* see elementwise_rows.c */
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_OPERANDS_MAX][PCU_MAX_NDIM];
} pcu_elementwise_loop;

/* Choose the axes, the width of indices, the vector and the passing of each operand.
 * The operands, count and operation are set. */
PCU_HIDDEN PCU_RAISES int pcu_elementwise_loop_plan(pcu_elementwise_loop *loop);

/* Whether the operand is an array whose strides are parameters of the kernel. */
static inline bool
pcu_elementwise_has_strides(const pcu_elementwise_loop *loop, int operand)
{
    return loop->arrays[operand] != NULL &&
           loop->key.passing[operand] != PCU_PASS_PACKED;
}

/* Append the address of an array, or the value of a scalar. */
static inline int
pcu_elementwise_put_operand(const pcu_elementwise_loop *loop, int operand,
                            pcu_argument_buffer *params)
{
    if (loop->arrays[operand] != NULL) {
        return pcu_kernel_put_address(params, loop->address[operand]);
    }
    const pcu_operand *scalar = &loop->inputs[operand];
    const pcu_type_row *type = &pcu_types[scalar->type];
    return pcu_kernel_put(params, scalar->value, type->size, type->align);
}

#endif
