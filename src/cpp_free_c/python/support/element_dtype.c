/* The element type of a NumPy dtype. See element_dtype.h. */
#include "python/support/element_dtype.h"

#include "python/support/bfloat16.h"

/* NumPy has several numbers for integers of one size: find the type by size and sign.
 */
static int
type_of_integer(size_t size, int is_signed)
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
