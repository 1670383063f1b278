/* The dtype bfloat16: see bfloat16.h. */
#include "python/support/bfloat16.h"

int
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
