/* The getters of the attributes real and imag. */
#ifndef PYTHON_ARRAY_TYPE_COMPLEX_PARTS_H
#define PYTHON_ARRAY_TYPE_COMPLEX_PARTS_H

#include "python/support/base.h"

PCU_HIDDEN PyObject *pcu_gpuarray_get_real(PyObject *op, void *closure);
PCU_HIDDEN PyObject *pcu_gpuarray_get_imag(PyObject *op, void *closure);

#endif
