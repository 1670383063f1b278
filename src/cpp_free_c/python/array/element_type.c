/* The element types that kernels know: see element_type.h. */

#include "python/array/element_type.h"
#include "python/support/element_dtype.h"
#include "python/support/convert.h"

/* The kinds of tables/dtypes.h: what they are, and whether they have a sign. */
enum {
    TYPE_KIND_BOOL = PCU_KIND_BOOL,
    TYPE_KIND_SIGNED = PCU_KIND_INTEGER,
    TYPE_KIND_UNSIGNED = PCU_KIND_INTEGER,
    TYPE_KIND_FLOAT = PCU_KIND_FLOAT,
    TYPE_KIND_COMPLEX = PCU_KIND_COMPLEX,
};
enum {
    TYPE_SIGN_BOOL = 0,
    TYPE_SIGN_SIGNED = 1,
    TYPE_SIGN_UNSIGNED = 0,
    TYPE_SIGN_FLOAT = 1,
    TYPE_SIGN_COMPLEX = 1,
};

/* ml_dtypes gets its number when it is imported: see python/support/element_dtype.h. */
enum { NPY_BFLOAT16 = NPY_NOTYPE };

#define TYPE_ROW(CODE, name, size, align, KIND) \
    {name, size, align, TYPE_KIND_##KIND, TYPE_SIGN_##KIND, NPY_##CODE},
const pcu_type_row pcu_types[PCU_T_COUNT + 1] = {
    PCU_DTYPES(TYPE_ROW){"raw", 0, 0, 0, 0, NPY_VOID},
};
#undef TYPE_ROW

int
pcu_type_real(int type)
{
    switch (type) {
        case PCU_T_COMPLEX64:
            return PCU_T_FLOAT32;
        case PCU_T_COMPLEX128:
            return PCU_T_FLOAT64;
        default:
            return type;
    }
}

PyArray_Descr *
pcu_dtype_of_type(int type)
{
    if (type == PCU_T_BFLOAT16) {
        return pcu_bfloat16_dtype_new();
    }
    return PyArray_DescrFromType(pcu_types[type].numpy);
}

int
pcu_type_promote(int a, int b, int *out)
{
    if (a == b) {
        *out = a;
        return 0;
    }
    PyArray_Descr *first = pcu_dtype_of_type(a);
    PyArray_Descr *second = pcu_dtype_of_type(b);
    PyArray_Descr *common = PyArray_PromoteTypes(first, second);
    Py_DECREF(first);
    Py_DECREF(second);
    if (common == NULL) {
        return -1;
    }
    *out = pcu_type_of_dtype(common);
    Py_DECREF(common);
    return 0;
}

int
pcu_as_type(pcu_state *st, PyObject *value, void *out, const char *name)
{
    int *type = out;
    PyArray_Descr *dtype = NULL;
    *type = PCU_T_NONE;
    if (value == Py_None) {
        return 0;
    }
    if (pcu_as_dtype(st, value, &dtype, name) < 0) {
        return -1;
    }
    int rc = 0;
    *type = pcu_type_of_dtype(dtype);
    if (!pcu_type_is_number(*type)) {
        PyErr_Format(PyExc_TypeError, "kernels cannot compute in dtype %S",
                     (PyObject *)dtype);
        rc = -1;
    }
    Py_DECREF(dtype);
    return rc;
}
