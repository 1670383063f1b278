/* The names of array operations in messages: see kernel_name.h. */
#include "python/array/ops/kernel_name.h"

#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"

/* The function of NumPy that a family computes; NULL: the operation has the name. */
static const char *const name_families[PCU_FAMILY_COUNT] = {
    [PCU_FAMILY_TRANSPOSE] = "transpose", [PCU_FAMILY_SORT] = "sort",
    [PCU_FAMILY_PRODUCT] = "matmul",      [PCU_FAMILY_TRIANGLE] = "triu or tril",
    [PCU_FAMILY_FOURIER] = "fft",         [PCU_FAMILY_INDEXING] = "indexing",
    [PCU_FAMILY_JOIN] = "concatenate",    [PCU_FAMILY_REMAP] = "roll or pad",
    [PCU_FAMILY_MASK] = "indexing",       [PCU_FAMILY_SEARCH] = "searchsorted",
    [PCU_FAMILY_HISTOGRAM] = "histogram", [PCU_FAMILY_CROSS] = "cross",
    [PCU_FAMILY_SOLVER] = "linalg",       [PCU_FAMILY_QUANTILE] = "quantile",
    [PCU_FAMILY_SELECTION] = "partition",
};

static PyObject *
name_of_key(const pcu_kernel_key *key)
{
    if (key->family == PCU_FAMILY_REDUCTION) {
        return PyUnicode_FromString(pcu_reductions[key->operation].name);
    }
    if (key->family == PCU_FAMILY_SCAN) {
        return PyUnicode_FromFormat("%s.accumulate", pcu_ops[key->operation].name);
    }
    if (key->family >= PCU_FAMILY_COUNT || name_families[key->family] == NULL) {
        return PyUnicode_FromString(pcu_ops[key->operation].name);
    }
    return PyUnicode_FromString(name_families[key->family]);
}

PyObject *
pcu_kernel_name_new(CUfunction kernel)
{
    const pcu_context_record *rec = pcu_context_record_first();
    for (; rec != NULL; rec = rec->next) {
        const pcu_kernel_key *key = pcu_kernel_table_key(rec->owner, kernel);
        if (key != NULL) {
            return name_of_key(key);
        }
    }
    return PyUnicode_FromString("array operation");
}
