/* Medians and quantiles of GPUArrays.
 *
 * Called by type/quantile_functions.c. */
#ifndef PYTHON_ARRAY_SORT_QUANTILE_H
#define PYTHON_ARRAY_SORT_QUANTILE_H

#include "python/driver/memory/gpuarray.h"

/* How the place of a quantile is found: as in cuda/pycuda-quantile.hpp. */
typedef enum {
    PCU_QUANTILE_MEDIAN,
    PCU_QUANTILE_LINEAR,
    PCU_QUANTILE_LOWER,
    PCU_QUANTILE_HIGHER,
    PCU_QUANTILE_NEAREST,
    PCU_QUANTILE_MIDPOINT,
    PCU_QUANTILE_AVERAGED_INVERTED_CDF,
    PCU_QUANTILE_INVERTED_CDF,
    PCU_QUANTILE_CLOSEST_OBSERVATION,
    PCU_QUANTILE_BY_FORMULA
} pcu_quantile_rule;

/* A method of NumPy. */
typedef struct {
    const char *name;
    pcu_quantile_rule rule;
    bool is_element; /* the result is an element, of the dtype of the array */
    double alpha;    /* BY_FORMULA: Hyndman and Fan, 1996 */
    double beta;
} pcu_quantile_method;

typedef struct {
    const char *name; /* of the function, for messages */
    pcu_gpuarray *x;
    const unsigned char *reduced; /* for each axis of x: 1 if lines lie along it */
    const pcu_quantile_method *method;
    bool is_element;   /* the results are elements */
    bool skips_nan;    /* NaNs are no elements, else they make the quantile NaN */
    bool needs_values; /* ValueError for lines without elements, else NaN */
    bool is_single;    /* places are computed in float32 */
    int type;          /* pcu_type of the results */
    const double *q;
    size_t count; /* of q */
    int ndim;     /* the axes of q, which come first in the result */
    const npy_intp *shape;
    bool keepdims;
    CUstream stream;
} pcu_quantile_call;

/* The names of the methods, for messages. */
#define PCU_QUANTILE_METHODS                                                    \
    "averaged_inverted_cdf, closest_observation, hazen, higher, "               \
    "interpolated_inverted_cdf, inverted_cdf, linear, lower, median_unbiased, " \
    "midpoint, nearest, normal_unbiased, weibull"

/* The method "linear". */
PCU_HIDDEN const pcu_quantile_method *pcu_quantile_default_method(void);

/* The method of a name, or NULL. */
PCU_HIDDEN const pcu_quantile_method *pcu_quantile_find_method(PyObject *name);

/* The median, which has no name among the methods. */
extern PCU_HIDDEN const pcu_quantile_method pcu_quantile_median;

/* Enqueue the computation, and return the result, a new array. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_quantile(pcu_state *st,
                                             const pcu_quantile_call *call);

#endif
