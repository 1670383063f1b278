/* CUDA arrays, for the files that copy to them and read them through textures. */
#ifndef PYTHON_DRIVER_MEMORY_TEXTURE_ARRAY_H
#define PYTHON_DRIVER_MEMORY_TEXTURE_ARRAY_H

#include "python/support/base.h"

#include "python/support/args.h"

/* The CUarray of an Array that is alive, else TypeError or LogicError. `what` names the
 * argument or the routine in the message. */
PCU_HIDDEN PCU_RAISES int pcu_array_handle(PyObject *obj, const char *what,
                                           CUarray *out);

/* The Context of an Array that was made. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_array_context(PyObject *array);

/* 1 if somebody else releases the Array's handle, which is good. */
PCU_HIDDEN int pcu_array_is_borrowed(PyObject *array);

/* An Array around a handle that somebody else releases. It holds `owner` (NULL is
 * fine), which must keep the handle. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_array_wrap_new(pcu_state *st, PyObject *ctx,
                                                   CUarray handle, PyObject *owner);

/* For argument tables: PyObject *, an Array that is alive; borrowed. */
PCU_CONVERTER(pcu_as_array);

/* For argument tables: an array_format, or its number, that exists. */
PCU_CONVERTER(pcu_as_array_format); /* CUarray_format */

/* For argument tables: const CUDA_ARRAY3D_DESCRIPTOR *, of an ArrayDescriptor;
 * borrowed. */
PCU_CONVERTER(pcu_as_descriptor);

/* Bytes of one channel, 0 for a format that is none. */
PCU_HIDDEN size_t pcu_array_format_size(CUarray_format format);

/* Methods for Array: set, get. */
extern PCU_HIDDEN PyMethodDef pcu_arraydata_methods[];

#endif
