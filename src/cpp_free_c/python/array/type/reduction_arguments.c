/* The signatures of reductions: see reduction_arguments.h. */

#include "python/array/type/reduction_arguments.h"

#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

#define AT(field) offsetof(pcu_reduction_args, field)
static const pcu_argspec method_sum_specs[] = {
    {"axis", pcu_as_object, AT(axis)},       {"dtype", pcu_as_object, AT(dtype)},
    {"out", pcu_as_object, AT(out)},         {"keepdims", pcu_as_bool, AT(keepdims)},
    {"initial", pcu_as_object, AT(initial)}, {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec method_mean_specs[] = {
    {"axis", pcu_as_object, AT(axis)},   {"dtype", pcu_as_object, AT(dtype)},
    {"out", pcu_as_object, AT(out)},     {"keepdims", pcu_as_bool, AT(keepdims)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec method_var_specs[] = {
    {"axis", pcu_as_object, AT(axis)},       {"dtype", pcu_as_object, AT(dtype)},
    {"out", pcu_as_object, AT(out)},         {"ddof", pcu_as_object, AT(ddof)},
    {"keepdims", pcu_as_bool, AT(keepdims)}, {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec method_min_specs[] = {
    {"axis", pcu_as_object, AT(axis)},       {"out", pcu_as_object, AT(out)},
    {"keepdims", pcu_as_bool, AT(keepdims)}, {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec method_argmin_specs[] = {
    {"axis", pcu_as_object, AT(axis)},
    {"out", pcu_as_object, AT(out)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
};
static const pcu_argspec method_any_specs[] = {
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"axis", pcu_as_object, AT(axis)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"out", pcu_as_object, AT(out)},
    {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec numpy_any_specs[] = {
    {"a", pcu_as_object, AT(a)},         {"axis", pcu_as_object, AT(axis)},
    {"out", pcu_as_object, AT(out)},     {"keepdims", pcu_as_bool, AT(keepdims)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec function_sum_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"dtype", pcu_as_object, AT(dtype)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"axis", pcu_as_object, AT(axis)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"out", pcu_as_object, AT(out)},
    {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec function_mean_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"dtype", pcu_as_object, AT(dtype)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"axis", pcu_as_object, AT(axis)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"out", pcu_as_object, AT(out)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec function_min_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"stream", pcu_as_stream, AT(stream)},
    {"axis", pcu_as_object, AT(axis)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"out", pcu_as_object, AT(out)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec function_any_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"axis", pcu_as_object, AT(axis)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"out", pcu_as_object, AT(out)},
    {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec function_var_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"axis", pcu_as_object, AT(axis)},
    {"ddof", pcu_as_object, AT(ddof)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"out", pcu_as_object, AT(out)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"where", pcu_as_object, AT(where)},
};
static const pcu_argspec nan_sum_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"axis", pcu_as_object, AT(axis)},
    {"dtype", pcu_as_object, AT(dtype)},
    {"out", pcu_as_object, AT(out)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
};
static const pcu_argspec nan_mean_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"axis", pcu_as_object, AT(axis)},
    {"dtype", pcu_as_object, AT(dtype)},
    {"out", pcu_as_object, AT(out)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"where", pcu_as_object, AT(where)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
};
static const pcu_argspec nan_var_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"axis", pcu_as_object, AT(axis)},
    {"dtype", pcu_as_object, AT(dtype)},
    {"out", pcu_as_object, AT(out)},
    {"ddof", pcu_as_object, AT(ddof)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"where", pcu_as_object, AT(where)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
};
static const pcu_argspec nan_min_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"axis", pcu_as_object, AT(axis)},
    {"out", pcu_as_object, AT(out)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"initial", pcu_as_object, AT(initial)},
    {"where", pcu_as_object, AT(where)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
};
static const pcu_argspec nan_argmin_specs[] = {
    {"a", pcu_as_object, AT(a)},
    {"axis", pcu_as_object, AT(axis)},
    {"out", pcu_as_object, AT(out)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
};
static const pcu_argspec reduce_specs[] = {
    {"op", pcu_as_int, AT(op)},
    {"inputs", pcu_as_object, AT(inputs)},
    {"axis", pcu_as_object, AT(axis)},
    {"keepdims", pcu_as_bool, AT(keepdims)},
    {"dtype", pcu_as_object, AT(dtype)},
    {"out", pcu_as_object, AT(out)},
    {"stream", pcu_as_stream, AT(stream)},
    {"allocator", pcu_as_allocator, AT(allocator)},
    {"ddof", pcu_as_object, AT(ddof)},
};

const pcu_reduction_signature pcu_method_sum_signature = {method_sum_specs, 6, 6};
const pcu_reduction_signature pcu_method_mean_signature = {method_mean_specs, 5, 4};
const pcu_reduction_signature pcu_method_var_signature = {method_var_specs, 6, 5};
const pcu_reduction_signature pcu_method_min_signature = {method_min_specs, 5, 5};
const pcu_reduction_signature pcu_method_argmin_signature = {method_argmin_specs, 3, 2};
const pcu_reduction_signature pcu_method_ptp_signature = {method_argmin_specs, 3, 3};
const pcu_reduction_signature pcu_method_any_signature = {method_any_specs, 7, 5};
const pcu_reduction_signature pcu_numpy_any_signature = {numpy_any_specs, 5, 4};
const pcu_reduction_signature pcu_function_sum_signature = {function_sum_specs, 9, 4};
const pcu_reduction_signature pcu_function_mean_signature = {function_mean_specs, 8, 4};
const pcu_reduction_signature pcu_function_min_signature = {function_min_specs, 8, 2};
const pcu_reduction_signature pcu_function_argmin_signature = {function_min_specs, 6,
                                                               2};
const pcu_reduction_signature pcu_function_any_signature = {function_any_specs, 8, 6};
const pcu_reduction_signature pcu_function_var_signature = {function_var_specs, 8, 4};
const pcu_reduction_signature pcu_nan_sum_signature = {nan_sum_specs, 9, 7};
const pcu_reduction_signature pcu_nan_mean_signature = {nan_mean_specs, 8, 5};
const pcu_reduction_signature pcu_nan_var_signature = {nan_var_specs, 9, 6};
const pcu_reduction_signature pcu_nan_min_signature = {nan_min_specs, 8, 6};
const pcu_reduction_signature pcu_nan_argmin_signature = {nan_argmin_specs, 6, 3};
const pcu_reduction_signature pcu_reduce_signature = {reduce_specs, 9, 9};
