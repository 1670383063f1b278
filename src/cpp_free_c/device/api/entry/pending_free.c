/* The list of pending frees. See pending_free.h. */
#include "device/api/entry/pending_free.h"

#include <stdlib.h>

#include "device/api/entry/release_count.h"
#include "device/api/entry/running.h"

typedef struct pending {
    struct pending *next;
    emu_allocation *allocation;
    bool (*release)(emu_allocation *);
    uint64_t ticket; /* of the last work that may use the memory */
} pending;

static pending *pending_first; /* guarded by the API lock */

static bool
pending_has(const emu_allocation *allocation)
{
    for (const pending *item = pending_first; item != NULL; item = item->next) {
        if (item->allocation == allocation) {
            return true;
        }
    }
    return false;
}

CUresult
emu_pending_free(emu_allocation *allocation, bool (*release)(emu_allocation *))
{
    const emu_context *context = allocation->context;
    uint64_t ticket;

    if (pending_has(allocation)) {
        return CUDA_ERROR_INVALID_VALUE; /* it was freed before */
    }
    if (context != NULL && emu_running_cannot_settle(context, &ticket)) {
        pending *item = malloc(sizeof(*item));

        if (item == NULL) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        *item = (pending){pending_first, allocation, release, ticket};
        pending_first = item;
        emu_count_free(context);
        return CUDA_SUCCESS;
    }
    emu_count_free(context);
    if (!release(allocation)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

void
emu_pending_free_flush(void)
{
    pending **link = &pending_first;

    while (*link != NULL) {
        pending *item = *link;

        if (emu_running_is(item->allocation->context, item->ticket)) {
            link = &item->next;
        }
        else {
            *link = item->next;
            (void)item->release(item->allocation); /* nothing else can have freed it */
            free(item);
        }
    }
}
