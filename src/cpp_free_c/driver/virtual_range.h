/* A range of device addresses, and what is mapped into it.
 *
 * Invariant: `mappings` has every mapping of the range, in no order. The range belongs
 * to no context in the driver, so it is also released after its context has ended. The
 * interpreter lock protects it, except during pcu_virtual_range_end: its caller has
 * taken it from the program before.
 *
 * Callers: python/driver/memory/virtual_memory.c, graphs, and driver/release.c in the
 * end. */
#ifndef DRIVER_VIRTUAL_RANGE_H
#define DRIVER_VIRTUAL_RANGE_H

#include "driver/table.h"

typedef struct {
    size_t offset;
    size_t size;
} pcu_virtual_mapping;

typedef struct pcu_virtual_range {
    struct pcu_virtual_range *next; /* in the list of all ranges */
    CUdeviceptr base;
    size_t size; /* the reserved bytes */
    pcu_virtual_mapping *mappings;
    size_t count;
    size_t room;
} pcu_virtual_range;

/* A range without addresses, or NULL if there is no memory for it. */
PCU_HIDDEN pcu_virtual_range *pcu_virtual_range_new(void);
PCU_HIDDEN void pcu_virtual_range_free(pcu_virtual_range *range);

/* The range that an address is in, or NULL. */
PCU_HIDDEN pcu_virtual_range *pcu_virtual_range_at(CUdeviceptr address);

/* Make room for one more mapping: pcu_virtual_range_add then cannot fail. Return 0, or
 * -1 if there is no memory. */
PCU_HIDDEN int pcu_virtual_range_make_room(pcu_virtual_range *range);
PCU_HIDDEN void pcu_virtual_range_add(pcu_virtual_range *range, size_t offset,
                                      size_t size);

/* Forget the mapping with this number; the last one takes its place. */
PCU_HIDDEN void pcu_virtual_range_remove(pcu_virtual_range *range, size_t number);

/* Unmap everything and return the addresses to the driver. `waits`: the context of the
 * range is current, and its kernels finish first. After a failure, *routine names the
 * driver call, and the function can be called again. */
PCU_HIDDEN CUresult pcu_virtual_range_end(pcu_virtual_range *range, bool waits,
                                          const char **routine);

#endif
