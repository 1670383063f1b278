/* The types of items and of devices in DLPack. See dlpack.h. */
#include "python/driver/exchange/dlpack.h"

#include "python/support/element_dtype.h"

/* DLPack's code for a kind of dtype, -1 if there is none. */
static int
tensor_code(char kind)
{
    switch (kind) {
        case 'i':
            return PCU_DL_INT;
        case 'u':
            return PCU_DL_UINT;
        case 'f':
            return PCU_DL_FLOAT;
        case 'c':
            return PCU_DL_COMPLEX;
        case 'b':
            return PCU_DL_BOOL;
        default:
            return -1;
    }
}

int
pcu_dlpack_describe_dtype(PyArray_Descr *dtype, pcu_dl_dtype *out)
{
    int code = tensor_code(dtype->kind);
    npy_intp size = PyDataType_ELSIZE(dtype);
    if (pcu_dtype_is_bfloat16(dtype)) {
        code = PCU_DL_BFLOAT;
    }
    bool longdouble =
        dtype->type_num == NPY_LONGDOUBLE || dtype->type_num == NPY_CLONGDOUBLE;
    if (code < 0 || longdouble || !PyArray_ISNBO(dtype->byteorder)) {
        PyErr_Format(PyExc_BufferError, "DLPack has no type for %R", (PyObject *)dtype);
        return -1;
    }
    *out =
        (pcu_dl_dtype){.code = (uint8_t)code, .bits = (uint8_t)(8 * size), .lanes = 1};
    return 0;
}

PyArray_Descr *
pcu_dlpack_dtype_new(pcu_dl_dtype type)
{
    static const struct {
        int code;
        int bits;
        int number;
    } known[] = {
        {PCU_DL_INT, 8, NPY_INT8},
        {PCU_DL_INT, 16, NPY_INT16},
        {PCU_DL_INT, 32, NPY_INT32},
        {PCU_DL_INT, 64, NPY_INT64},
        {PCU_DL_UINT, 8, NPY_UINT8},
        {PCU_DL_UINT, 16, NPY_UINT16},
        {PCU_DL_UINT, 32, NPY_UINT32},
        {PCU_DL_UINT, 64, NPY_UINT64},
        {PCU_DL_FLOAT, 16, NPY_FLOAT16},
        {PCU_DL_FLOAT, 32, NPY_FLOAT32},
        {PCU_DL_FLOAT, 64, NPY_FLOAT64},
        {PCU_DL_COMPLEX, 64, NPY_COMPLEX64},
        {PCU_DL_COMPLEX, 128, NPY_COMPLEX128},
        {PCU_DL_BOOL, 8, NPY_BOOL},
    };
    for (size_t i = 0; type.lanes == 1 && i < Py_ARRAY_LENGTH(known); i++) {
        if (known[i].code == type.code && known[i].bits == type.bits) {
            return PyArray_DescrFromType(known[i].number);
        }
    }
    if (type.lanes == 1 && type.code == PCU_DL_BFLOAT && type.bits == 16) {
        PyArray_Descr *dtype = pcu_bfloat16_dtype_new();
        if (dtype != NULL || !PyErr_ExceptionMatches(PyExc_TypeError)) {
            return dtype;
        }
        PyErr_Clear(); /* without ml_dtypes the error below */
    }
    PyErr_Format(PyExc_BufferError,
                 "NumPy has no type for the items of this tensor (DLPack code %d, %d "
                 "bits, %d lanes)",
                 type.code, type.bits, type.lanes);
    return NULL;
}

int32_t
pcu_dlpack_device_type(CUdeviceptr pointer)
{
    int managed = 0;
    CUresult status =
        drv.PointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer);
    if (status == CUDA_SUCCESS && managed) {
        return PCU_DL_CUDA_MANAGED;
    }
    return PCU_DL_CUDA;
}
