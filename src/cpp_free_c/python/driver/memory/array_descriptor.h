/* Descriptors of texture arrays, and the formats of their elements.
 *
 * Invariant: a descriptor object only holds numbers; no function here calls the driver.
 * Callers: texture_array.c and the files in texture/. */
#ifndef PYTHON_DRIVER_MEMORY_ARRAY_DESCRIPTOR_H
#define PYTHON_DRIVER_MEMORY_ARRAY_DESCRIPTOR_H

#include "python/support/base.h"

#include "python/support/args.h"

/* Converter: const CUDA_ARRAY3D_DESCRIPTOR *, borrowed from an ArrayDescriptor or
 * ArrayDescriptor3D. */
PCU_CONVERTER(pcu_as_array_descriptor);

/* Converter: CUarray_format, from an array_format or its number. */
PCU_CONVERTER(pcu_as_array_format);

/* A new descriptor object of type ArrayDescriptor or ArrayDescriptor3D. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_array_descriptor_new(
    pcu_state *st, PyTypeObject *type, const CUDA_ARRAY3D_DESCRIPTOR *d);

/* The bytes of one channel; 0 for an unknown format. */
PCU_HIDDEN size_t pcu_array_format_size(CUarray_format format);

/* The bytes of all elements of an array. */
PCU_HIDDEN size_t pcu_array_descriptor_bytes(const CUDA_ARRAY3D_DESCRIPTOR *d);

/* 1 for the integer formats. */
static inline int
pcu_array_format_is_integer(CUarray_format format)
{
    return format >= CU_AD_FORMAT_UNSIGNED_INT8 && format <= CU_AD_FORMAT_SIGNED_INT32;
}

#endif
