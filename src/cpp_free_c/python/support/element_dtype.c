/* The element type of a NumPy dtype. See element_dtype.h. */
#include "python/support/element_dtype.h"

/* -- bfloat16 ---------------------------------------------------------------------- */

bool
pcu_dtype_is_bfloat16(const PyArray_Descr *dtype)
{
    return PyTypeNum_ISUSERDEF(dtype->type_num) && dtype->typeobj != NULL &&
           PyDataType_ELSIZE(dtype) == 2 &&
           strcmp(dtype->typeobj->tp_name, "ml_dtypes.bfloat16") == 0;
}

/* Find the dtype among those that packages have registered. NULL without an exception
 * if it is not there. */
static PyArray_Descr *
bfloat16_find(void)
{
    for (int i = 0; i < NPY_NUMUSERTYPES; i++) {
        PyArray_Descr *dtype = PyArray_DescrFromType(NPY_USERDEF + i);
        if (dtype == NULL || pcu_dtype_is_bfloat16(dtype)) {
            return dtype;
        }
        Py_DECREF(dtype);
    }
    return NULL;
}

PyArray_Descr *
pcu_bfloat16_dtype_new(void)
{
    PyArray_Descr *dtype = bfloat16_find();
    if (dtype != NULL || PyErr_Occurred()) {
        return dtype;
    }
    PyObject *module = PyImport_ImportModule("ml_dtypes");
    if (module != NULL) {
        Py_DECREF(module);
        dtype = bfloat16_find();
    }
    if (dtype == NULL && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "ml_dtypes has registered no dtype bfloat16");
    }
    if (dtype == NULL && PyErr_ExceptionMatches(PyExc_ImportError)) {
        PyErr_SetString(PyExc_TypeError,
                        "the dtype bfloat16 needs the package ml_dtypes: install it");
    }
    return dtype;
}

/* NumPy has several numbers for integers of one size: find the type by size and sign.
 */
static int
type_of_integer(size_t size, bool is_signed)
{
    static const unsigned char types[2][9] = {
        {[1] = PCU_T_UINT8, [2] = PCU_T_UINT16, [4] = PCU_T_UINT32, [8] = PCU_T_UINT64},
        {[1] = PCU_T_INT8, [2] = PCU_T_INT16, [4] = PCU_T_INT32, [8] = PCU_T_INT64},
    };
    return types[is_signed != 0][size];
}

int
pcu_type_of_dtype(const PyArray_Descr *dtype)
{
    int number = dtype->type_num;
    if (PyDataType_REFCHK(dtype) || PyDataType_ELSIZE(dtype) == 0) {
        return PCU_T_NONE;
    }
    if (!PyArray_ISNBO(dtype->byteorder)) {
        return PCU_T_RAW;
    }
    switch (number) {
        case NPY_BOOL:
            return PCU_T_BOOL;
        case NPY_HALF:
            return PCU_T_FLOAT16;
        case NPY_FLOAT:
            return PCU_T_FLOAT32;
        case NPY_DOUBLE:
            return PCU_T_FLOAT64;
        case NPY_CFLOAT:
            return PCU_T_COMPLEX64;
        case NPY_CDOUBLE:
            return PCU_T_COMPLEX128;
        default:
            break;
    }
    if (PyTypeNum_ISINTEGER(number)) {
        return type_of_integer((size_t)PyDataType_ELSIZE(dtype),
                               PyTypeNum_ISSIGNED(number));
    }
    if (pcu_dtype_is_bfloat16(dtype)) {
        return PCU_T_BFLOAT16;
    }
    return PCU_T_RAW;
}
