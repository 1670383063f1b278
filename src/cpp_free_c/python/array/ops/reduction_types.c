/* The dtypes of a reduction, by the rules of tables/array_reductions.h: see
 * reduction_plan.h. */

#include "python/array/ops/reduction_plan.h"

#include "python/array/element_type.h"

static int
reduce_widened(int type)
{
    if (!pcu_type_is_exact(type)) {
        return type;
    }
    if (pcu_type_is_unsigned(type)) {
        return PCU_T_UINT64;
    }
    return PCU_T_INT64;
}

static int
reduce_mean_type(int type)
{
    if (pcu_type_is_exact(type)) {
        return PCU_T_FLOAT64;
    }
    return type;
}

static bool
reduce_all_bool(const pcu_reduction_plan *plan)
{
    for (int i = 0; i < plan->nin; i++) {
        if (plan->inputs[i]->type != PCU_T_BOOL) {
            return false;
        }
    }
    return true;
}

/* The common type of the inputs. In sums of products bool arrays count as numbers. */
static int
reduce_common_type(const pcu_reduction_plan *plan, int *common)
{
    bool numbers = plan->row->rule == PCU_REDUCE_TO_PRODUCTS;
    *common = PCU_T_NONE;
    for (int i = 0; i < plan->nin; i++) {
        const pcu_gpuarray *input = plan->inputs[i];
        int type = input->type;
        if (!pcu_type_is_number(type)) {
            PyErr_Format(PyExc_TypeError, "%s does not take arrays of dtype %S",
                         plan->row->name, (PyObject *)input->dtype);
            return -1;
        }
        if (numbers) {
            type = pcu_gpuarray_number_type(input);
        }
        if (*common == PCU_T_NONE) {
            *common = type;
        }
        else if (pcu_type_promote(*common, type, common) < 0) {
            return -1;
        }
    }
    if (numbers && pcu_type_is_exact(*common) && reduce_all_bool(plan)) {
        *common = PCU_T_INT64; /* a count, whatever integers were compared */
    }
    return 0;
}

/* The type of a sum of elements of type `common`: with `out`, the common type of both.
 */
static int
reduce_sum_type(const pcu_reduction_plan *plan, PyObject *out, int common, int *type)
{
    *type = reduce_widened(common);
    if (!pcu_is_array(plan->st, out) ||
        !pcu_type_is_number(((pcu_gpuarray *)out)->type)) {
        return 0;
    }
    return pcu_type_promote(common, ((pcu_gpuarray *)out)->type, type);
}

int
pcu_reduction_types(pcu_reduction_plan *plan, int dtype, PyObject *out)
{
    int common = PCU_T_NONE;
    if (reduce_common_type(plan, &common) < 0) {
        return -1;
    }
    bool asked = dtype != PCU_T_NONE;
    plan->compute = common;
    switch ((pcu_reduction_rule)plan->row->rule) {
        case PCU_REDUCE_TO_WIDEN:
            plan->compute = dtype;
            if (!asked && reduce_sum_type(plan, out, common, &plan->compute) < 0) {
                return -1;
            }
            plan->result = plan->compute;
            break;
        case PCU_REDUCE_TO_PRODUCTS:
            plan->compute = asked ? dtype : common;
            plan->result = plan->compute;
            break;
        case PCU_REDUCE_TO_MEAN:
            plan->compute = asked ? dtype : reduce_mean_type(common);
            plan->result = plan->compute;
            break;
        case PCU_REDUCE_TO_SPREAD:
            plan->compute = reduce_mean_type(common);
            plan->result = pcu_type_real(plan->compute);
            break;
        case PCU_REDUCE_TO_EXTREME:
            plan->result = common;
            break;
        case PCU_REDUCE_TO_INDEX:
        case PCU_REDUCE_TO_COUNT:
            plan->result = PCU_T_INT64;
            break;
        case PCU_REDUCE_TO_ENDS:
            plan->result = PCU_T_COMPLEX128;
            break;
        case PCU_REDUCE_TO_BOOL:
            plan->result = PCU_T_BOOL;
            break;
    }
    return 0;
}
