/* Ranges of device addresses. Invariant and callers: see virtual_range.h. */

#include "driver/virtual_range.h"

#include <stdlib.h>

#include "driver/status.h"

static pcu_virtual_range *range_list;

pcu_virtual_range *
pcu_virtual_range_new(void)
{
    pcu_virtual_range *range = calloc(1, sizeof(*range));
    if (range != NULL) {
        range->next = range_list;
        range_list = range;
    }
    return range;
}

pcu_virtual_range *
pcu_virtual_range_at(CUdeviceptr address)
{
    pcu_virtual_range *range = range_list;
    while (range != NULL && address - range->base >= range->size) {
        range = range->next;
    }
    return range;
}

void
pcu_virtual_range_free(pcu_virtual_range *range)
{
    pcu_virtual_range **link = &range_list;
    if (range == NULL) {
        return;
    }
    while (*link != range) {
        link = &(*link)->next;
    }
    *link = range->next;
    free(range->mappings);
    free(range);
}

int
pcu_virtual_range_make_room(pcu_virtual_range *range)
{
    if (range->count < range->room) {
        return 0;
    }
    size_t room = range->room * 2 + 4;
    pcu_virtual_mapping *mappings = realloc(range->mappings, room * sizeof(*mappings));
    if (mappings == NULL) {
        return -1;
    }
    range->mappings = mappings;
    range->room = room;
    return 0;
}

void
pcu_virtual_range_add(pcu_virtual_range *range, size_t offset, size_t size)
{
    range->mappings[range->count].offset = offset;
    range->mappings[range->count].size = size;
    range->count++;
}

void
pcu_virtual_range_remove(pcu_virtual_range *range, size_t number)
{
    range->mappings[number] = range->mappings[--range->count];
}

CUresult
pcu_virtual_range_end(pcu_virtual_range *range, bool waits, const char **routine)
{
    CUresult status = CUDA_SUCCESS;
    if (waits && range->count != 0) {
        *routine = "cuCtxSynchronize";
        status = drv.CtxSynchronize();
        if (pcu_status_is_sticky(status)) {
            status = CUDA_SUCCESS; /* no kernel runs any more */
        }
    }
    while (status == CUDA_SUCCESS && range->count > 0) {
        const pcu_virtual_mapping last = range->mappings[range->count - 1];
        *routine = "cuMemUnmap";
        status = drv.MemUnmap(range->base + last.offset, last.size);
        if (status == CUDA_SUCCESS) {
            range->count--;
        }
    }
    if (status == CUDA_SUCCESS) {
        *routine = "cuMemAddressFree";
        status = drv.MemAddressFree(range->base, range->size);
    }
    return status;
}
