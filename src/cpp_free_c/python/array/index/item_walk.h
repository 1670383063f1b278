/* The walk along the items of an index, from the array's axes to a selection.
 *
 * Slices and None make axes of a view; an index array takes the place of an axis of its
 * own. The axes of neighbouring index arrays replace the axes that they index; those of
 * others come first in the result. Called by items.c. */
#ifndef PYTHON_ARRAY_INDEX_ITEM_WALK_H
#define PYTHON_ARRAY_INDEX_ITEM_WALK_H

#include "python/array/index/item_list.h"
#include "python/array/index/selection.h"

/* The selection that is being built. */
typedef struct {
    pcu_gpuarray *self;
    pcu_selection *selection;
    CUstream stream;
    int axis;  /* the next axis of the array */
    int ndim;  /* places: axes of the view, one for each index array among them */
    int first; /* the place of the first index array, and of the last; -1: none */
    int last;
    int indexed;       /* how many places are indexed */
    bool is_separated; /* an Ellipsis without axes stands between index arrays */
    bool was_ellipsis;
    size_t shape[PCU_MAX_NDIM]; /* 0 axes for indexed places: see is_index */
    ptrdiff_t strides[PCU_MAX_NDIM];
    unsigned char is_index[PCU_MAX_NDIM];
    int common_ndim; /* to which the index arrays broadcast */
    size_t common[PCU_MAX_NDIM];
} pcu_item_walk;

/* Begin a walk at the first axis of an array. */
PCU_HIDDEN void pcu_item_walk_init(pcu_item_walk *walk, pcu_gpuarray *self,
                                   pcu_selection *selection, CUstream stream);

/* Take the next axes of the array whole. */
PCU_HIDDEN PCU_RAISES int pcu_item_walk_take_axes(pcu_item_walk *walk, int count);

/* Add an integer: it has a place, and its element is where the others begin. */
PCU_HIDDEN PCU_RAISES int pcu_item_walk_add_integer(pcu_item_walk *walk,
                                                    PyObject *object);

/* Take one item. Returns 1 if its index array does not broadcast with the others. */
PCU_HIDDEN PCU_RAISES int pcu_item_walk_take_item(pcu_item_walk *walk,
                                                  const pcu_index_item *place);

/* IndexError unless a mask has the lengths of the next axes. */
PCU_HIDDEN PCU_RAISES int pcu_item_walk_check_mask(const pcu_item_walk *walk, int ndim,
                                                   const size_t *shape);

/* Make the selection of a list of items. It is to be cleared in any case. */
PCU_HIDDEN PCU_RAISES int pcu_item_walk_select(const pcu_item_list *list,
                                               pcu_gpuarray *self,
                                               pcu_selection *selection,
                                               CUstream stream);

#endif
