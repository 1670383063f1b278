/* Copies and fills: of linear memory, and of rectangles and boxes.
 *
 * Invariant: nothing is looked up for an error unless the driver call failed, so a
 * successful copy costs nothing. Callers: arrays, In/Out arguments, texture arrays. */
#ifndef PYTHON_DRIVER_MEMORY_COPY_H
#define PYTHON_DRIVER_MEMORY_COPY_H

#include "python/support/base.h"

#include "python/support/buffer.h"
#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"

/* -- copy.c ------------------------------------------------------------------------ */

/* Copy between device memory and a buffer that the caller has acquired. The interpreter
 * lock is released during the copy. */
PCU_HIDDEN PCU_RAISES int pcu_copy_to_device(pcu_state *st, CUdeviceptr dest,
                                             const pcu_buffer *source);
PCU_HIDDEN PCU_RAISES int pcu_copy_from_device(pcu_state *st, const pcu_buffer *dest,
                                               CUdeviceptr source);

/* A range of device memory that a copy or fill reads or writes. */
typedef struct {
    const char *name; /* the parameter */
    CUdeviceptr start;
    size_t bytes; /* 0: the range is not used */
} pcu_copy_range;

/* A copy or fill failed with this status. If a range is not inside an allocation, raise
 * an error with the sizes. Otherwise return 0. */
PCU_HIDDEN PCU_RAISES int pcu_copy_ranges_check(pcu_state *st, const char *routine,
                                                CUresult status,
                                                const pcu_copy_range *ranges,
                                                int count);

/* The same, but if no range is wrong, raise the status itself. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_copy_raise(pcu_state *st, const char *routine,
                                         CUresult status, const pcu_copy_range *ranges,
                                         int count);

/* While a stream is captured: refuse a copy without a stream, and note the ranges. */
PCU_HIDDEN PCU_RAISES int pcu_copy_captured(pcu_state *st, const char *routine,
                                            const pcu_copy_range *ranges, int count);

/* PCU_CALL_CURRENT for a copy or fill. The ranges that it accesses are the last
 * arguments. */
#define PCU_CALL_COPY(rc, st, name, args, ...)                                \
    do {                                                                      \
        CUresult pcu_copied_ = CUDA_SUCCESS;                                  \
        (rc) = pcu_current_context_ready(st);                                 \
        if ((rc) == 0 && pcu_captures != NULL) {                              \
            const pcu_copy_range pcu_used_[] = {__VA_ARGS__};                 \
            (rc) = pcu_copy_captured((st), "cu" #name, pcu_used_,             \
                                     (int)Py_ARRAY_LENGTH(pcu_used_));        \
        }                                                                     \
        if ((rc) == 0) {                                                      \
            PCU_STATUS(pcu_copied_, name, args);                              \
        }                                                                     \
        if (pcu_copied_ != CUDA_SUCCESS) {                                    \
            const pcu_copy_range pcu_ranges_[] = {__VA_ARGS__};               \
            (rc) = pcu_copy_raise((st), "cu" #name, pcu_copied_, pcu_ranges_, \
                                  (int)Py_ARRAY_LENGTH(pcu_ranges_));         \
        }                                                                     \
    } while (0)

/* -- copy_side.c: the source or the destination of a copy of boxes ----------------- */

/* `owner` holds the host buffer or the texture array that the side points into; if it
 * is NULL, the side points into no memory that it must keep alive. A struct of zeros is
 * a side that was not set. */

typedef struct {
    size_t x; /* bytes */
    size_t y;
    size_t z;
    size_t lod;
    bool writable;     /* the destination; never changes */
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
