/* One side, source or destination, of a copy of rectangles or boxes: where it is, and
 * the objects that keep its memory alive.
 *
 * Invariant: `owner` holds the host buffer or the texture array that the side points
 * into; if it is NULL, the side points into no memory that it must keep alive. A struct
 * of zeros is a side that was not set. Caller: copy_nd.c. */
#ifndef PYTHON_DRIVER_MEMORY_COPY_SIDE_H
#define PYTHON_DRIVER_MEMORY_COPY_SIDE_H

#include "python/support/base.h"

typedef struct {
    size_t x; /* bytes */
    size_t y;
    size_t z;
    size_t lod;
    int writable;      /* the destination; never changes */
    CUmemorytype type; /* selects one of the next three; 0: not set */
    void *host;
    CUdeviceptr device; /* also the address of unified memory */
    CUarray array;
    size_t pitch;    /* bytes from row to row */
    size_t height;   /* rows from plane to plane */
    PyObject *owner; /* strong: an array or memoryview of host memory, or an Array */
    char *start;     /* of the owner's memory; NULL for an Array */
    size_t size;     /* bytes from there to its end */
    PyObject *ctx;   /* strong: a Context; NULL is the current one */
} pcu_copy_side;

/* The size of the rectangle or box that is copied. */
typedef struct {
    size_t width; /* bytes */
    size_t height;
    size_t depth;
} pcu_copy_extent;

/* Set the memory of a side to a Python object. The object is held, except for device
 * memory. Nothing changes on failure. */
PCU_HIDDEN PCU_RAISES int pcu_copy_side_set_host(pcu_state *st, pcu_copy_side *side,
                                                 PyObject *value);
PCU_HIDDEN PCU_RAISES int pcu_copy_side_set_device(pcu_state *st, pcu_copy_side *side,
                                                   PyObject *value);
PCU_HIDDEN PCU_RAISES int pcu_copy_side_set_array(pcu_state *st, pcu_copy_side *side,
                                                  PyObject *value);
PCU_HIDDEN PCU_RAISES int pcu_copy_side_set_unified(pcu_state *st, pcu_copy_side *side,
                                                    PyObject *value);

/* Set the context of device memory; None is the current context. */
PCU_HIDDEN PCU_RAISES int pcu_copy_side_set_context(pcu_state *st, pcu_copy_side *side,
                                                    PyObject *value);

/* Unset the memory and the context, and drop the references. */
PCU_HIDDEN void pcu_copy_side_clear(pcu_copy_side *side);

/* Raise if the driver must not be given this side: its host buffer is missing or too
 * small for the extent, or its Array was released. */
PCU_HIDDEN PCU_RAISES int pcu_copy_side_check(pcu_state *st, pcu_copy_side *side,
                                              const pcu_copy_extent *extent,
                                              const char *routine);

/* The handle of the side's context, which is alive. */
PCU_HIDDEN PCU_RAISES int pcu_copy_side_context(pcu_state *st,
                                                const pcu_copy_side *side,
                                                const char *routine,
                                                CUcontext *context);

#endif
