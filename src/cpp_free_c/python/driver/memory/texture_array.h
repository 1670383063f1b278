/* Texture arrays (the type Array), for the files that copy to them and read them
 * through textures.
 *
 * Invariant: see texture_array.c. Callers: the copies of this folder, texture/ and
 * exchange/opengl_mapping.c. */
#ifndef PYTHON_DRIVER_MEMORY_TEXTURE_ARRAY_H
#define PYTHON_DRIVER_MEMORY_TEXTURE_ARRAY_H

#include "python/support/base.h"

#include "python/support/args.h"
#include "python/driver/memory/array_descriptor.h"

/* Converter: PyObject *, borrowed, an Array that is alive. */
PCU_CONVERTER(pcu_as_texture_array);

/* The CUarray of an Array that is alive, else TypeError or LogicError. `what` names the
 * argument or the routine in the message. */
PCU_HIDDEN PCU_RAISES int pcu_texture_array_handle(PyObject *obj, const char *what,
                                                   CUarray *out);

/* The descriptor of an Array that is alive. */
PCU_HIDDEN PCU_RAISES int pcu_texture_array_describe(
    pcu_state *st, PyObject *array, CUDA_ARRAY3D_DESCRIPTOR *descriptor);

/* 1 if another object releases the handle of this Array. */
PCU_HIDDEN int pcu_texture_array_is_borrowed(PyObject *array);

/* The word by which a graph notes that it uses this object, if it is an Array: the
 * handle that a release of its memory names. For a level of a MipmappedArray that is
 * the handle of the whole. 0 for other objects. */
PCU_HIDDEN uint64_t pcu_texture_array_word(pcu_state *st, PyObject *object);

/* An Array around a handle that another object releases. The Array holds a reference to
 * `owner`, which must keep the handle valid; NULL holds nothing. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_texture_array_wrap_new(pcu_state *st, PyObject *ctx,
                                                           CUarray handle,
                                                           PyObject *owner);

#endif
