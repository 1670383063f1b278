/* The items of an index with index arrays: what each is, and the axes that it takes.
 *
 * Called by item_walk.c, items.c and type/indexing.c. */
#ifndef PYTHON_ARRAY_INDEX_ITEM_LIST_H
#define PYTHON_ARRAY_INDEX_ITEM_LIST_H

#include "driver/shape.h"
#include "python/driver/memory/gpuarray.h"

enum { PCU_ITEMS_MAX = 2 * PCU_MAX_NDIM + 1 };

typedef enum {
    PCU_ITEM_SLICE,
    PCU_ITEM_NEW_AXIS,
    PCU_ITEM_ELLIPSIS,
    PCU_ITEM_PLACE,  /* an integer among index arrays */
    PCU_ITEM_HOST,   /* an index array of the host */
    PCU_ITEM_DEVICE, /* an index array on the device */
    PCU_ITEM_HOST_MASK,
    PCU_ITEM_DEVICE_MASK
} pcu_item_kind;

typedef struct {
    pcu_item_kind kind;
    int axes;         /* of the array that the item takes; of an Ellipsis: set later */
    PyObject *object; /* owned */
} pcu_index_item;

typedef struct {
    int count;
    pcu_index_item items[PCU_ITEMS_MAX];
} pcu_item_list;

/* True for an integer and an integer array without axes; false for a bool. */
PCU_HIDDEN bool pcu_index_is_integer(pcu_state *st, PyObject *item);

/* Read the items of an index: an Ellipsis takes the axes that no other item takes. The
 * list is to be cleared in any case. */
PCU_HIDDEN PCU_RAISES int pcu_item_list_read(pcu_item_list *list,
                                             const pcu_gpuarray *self,
                                             PyObject *const *objects, Py_ssize_t n);

PCU_HIDDEN void pcu_item_list_clear(pcu_item_list *list);

/* Raise IndexError with the shapes of the items' index arrays. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_item_list_raise_shapes(const pcu_item_list *list);

#endif
