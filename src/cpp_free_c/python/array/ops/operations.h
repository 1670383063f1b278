/* The operations that kernels do, by number and by name.
 *
 * tables/array_ops.h has a row for each elementwise operation,
 * tables/array_reductions.h for each reduction. Python modules find the numbers in two
 * dicts of pycuda._driver. Lowest header of ops/. */
#ifndef PYTHON_ARRAY_OPS_OPERATIONS_H
#define PYTHON_ARRAY_OPS_OPERATIONS_H

#include "python/support/base.h"
#include "tables/array_ops.h"
#include "tables/array_reductions.h"

#define PCU_OP_MEMBER(NAME, name, inputs, outputs, RULE) PCU_OP_##NAME,
typedef enum { PCU_ARRAY_OPS(PCU_OP_MEMBER) PCU_OP_COUNT } pcu_op;
#undef PCU_OP_MEMBER

#define PCU_RULE_MEMBER(RULE, WIDEST, COMPUTED, RESULT, counts, remembers) \
    PCU_RULE_##RULE,
typedef enum { PCU_DTYPE_RULES(PCU_RULE_MEMBER) PCU_RULE_COUNT } pcu_rule;
#undef PCU_RULE_MEMBER

typedef struct {
    const char *name; /* of NumPy's function */
    unsigned char inputs;
    unsigned char outputs;
    unsigned char rule; /* pcu_rule */
} pcu_op_row;

extern PCU_HIDDEN const pcu_op_row pcu_ops[PCU_OP_COUNT];

#define PCU_REDUCTION_MEMBER(NAME, name, inputs, RULE) PCU_REDUCE_##NAME,
typedef enum {
    PCU_ARRAY_REDUCTIONS(PCU_REDUCTION_MEMBER) PCU_REDUCE_COUNT
} pcu_reduction;
#undef PCU_REDUCTION_MEMBER

/* The rules of tables/array_reductions.h. */
typedef enum {
    PCU_REDUCE_TO_WIDEN,
    PCU_REDUCE_TO_PRODUCTS,
    PCU_REDUCE_TO_INDEX,
    PCU_REDUCE_TO_COUNT,
    PCU_REDUCE_TO_EXTREME,
    PCU_REDUCE_TO_BOOL,
    PCU_REDUCE_TO_MEAN,
    PCU_REDUCE_TO_SPREAD,
    PCU_REDUCE_TO_ENDS
} pcu_reduction_rule;

typedef struct {
    const char *name;
    unsigned char inputs;
    unsigned char rule; /* pcu_reduction_rule */
} pcu_reduction_row;

extern PCU_HIDDEN const pcu_reduction_row pcu_reductions[PCU_REDUCE_COUNT];

/* {name: number}, with the other names that NumPy has for some functions. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_op_numbers_new(void);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_reduction_numbers_new(void);

#endif
