/* Texture arrays: the types Array and MipmappedArray and their descriptors, for the
 * files that copy to them and read them through textures.
 *
 * Invariant: a descriptor object only holds numbers; its functions do not call the
 * driver. Callers: the copies of this folder, texture/, exchange/opengl_mapping.c. */
#ifndef PYTHON_DRIVER_MEMORY_TEXTURE_ARRAY_H
#define PYTHON_DRIVER_MEMORY_TEXTURE_ARRAY_H

#include "python/support/base.h"

#include "python/support/args.h"

/* -- array_descriptor.c ------------------------------------------------------------ */

/* Converter: const CUDA_ARRAY3D_DESCRIPTOR *, borrowed from an ArrayDescriptor or
 * ArrayDescriptor3D. */
PCU_CONVERTER(pcu_as_array_descriptor, const CUDA_ARRAY3D_DESCRIPTOR *);

/* Converter: CUarray_format, from an array_format or its number. */
PCU_CONVERTER(pcu_as_array_format, CUarray_format);

/* A new descriptor object of type ArrayDescriptor or ArrayDescriptor3D. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_array_descriptor_new(
    pcu_state *st, PyTypeObject *type, const CUDA_ARRAY3D_DESCRIPTOR *d);

/* The bytes of one channel; 0 for an unknown format. */
PCU_HIDDEN size_t pcu_array_format_size(CUarray_format format);

/* The bytes of all elements of an array. */
PCU_HIDDEN size_t pcu_array_descriptor_bytes(const CUDA_ARRAY3D_DESCRIPTOR *d);

/* Whether the elements are integers. */
static inline bool
pcu_array_format_is_integer(CUarray_format format)
{
    return format >= CU_AD_FORMAT_UNSIGNED_INT8 && format <= CU_AD_FORMAT_SIGNED_INT32;
}

/* -- texture_array.c --------------------------------------------------------------- */

/* Converter: PyObject *, borrowed, an Array that is alive. */
PCU_CONVERTER(pcu_as_texture_array, PyObject *);

/* The CUarray of an Array that is alive, else TypeError or LogicError. `what` names the
 * argument or the routine in the message. */
PCU_HIDDEN PCU_RAISES int pcu_texture_array_handle(PyObject *obj, const char *what,
                                                   CUarray *out);

/* The descriptor of an Array that is alive. */
PCU_HIDDEN PCU_RAISES int pcu_texture_array_describe(
    pcu_state *st, PyObject *array, CUDA_ARRAY3D_DESCRIPTOR *descriptor);

/* Whether another object releases the handle of this Array. */
PCU_HIDDEN bool pcu_texture_array_is_borrowed(PyObject *array);

/* The word by which a graph notes that it uses this object, if it is an Array: the
 * handle that a release of its memory names. For a level of a MipmappedArray that is
 * the handle of the whole. 0 for other objects. */
PCU_HIDDEN uint64_t pcu_texture_array_word(pcu_state *st, PyObject *object);

/* An Array around a handle that another object releases. The Array holds a reference to
 * `owner`, which must keep the handle valid; NULL holds nothing. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_texture_array_wrap_new(pcu_state *st, PyObject *ctx,
                                                           CUarray handle,
                                                           PyObject *owner);

/* -- mipmapped_array.c ------------------------------------------------------------- */

/* The handle of a MipmappedArray that is alive, and its descriptor. */
PCU_HIDDEN PCU_RAISES int pcu_mipmapped_array_handle(
    PyObject *op, const char *routine, CUmipmappedArray *out,
    CUDA_ARRAY3D_DESCRIPTOR *descriptor);

#endif
