/* See keep.h. */
#include "device/api/deferred_release.h"

#include <stdlib.h>

#include "device/api/entry.h"
#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/ipc.h"
#include "device/api/pool.h"
#include "device/api/stream.h"

typedef struct kept {
    struct kept *next;
    emu_allocation *allocation;
    uint64_t ticket; /* of the last work that may use it */
} kept;

static kept *kept_first; /* under the API lock */

static bool
finish(emu_allocation *allocation)
{
    if (allocation->kind == EMU_MEMORY_POOLED) {
        emu_pool_forget(allocation);
    }
    else if (allocation->kind != EMU_MEMORY_HOST) {
        emu_ipc_forget(allocation);
    }
    return emu_memory_free(allocation);
}

static bool
is_kept(const emu_allocation *allocation)
{
    const kept *item = kept_first;

    while (item && item->allocation != allocation) {
        item = item->next;
    }
    return item;
}

CUresult
emu_keep_or_free(emu_allocation *allocation)
{
    uint64_t ticket;

    if (is_kept(allocation)) {
        return CUDA_ERROR_INVALID_VALUE; /* it was freed before */
    }
    if (allocation->context && emu_stream_cannot_settle(allocation->context, &ticket)) {
        kept *item = malloc(sizeof(*item));

        if (!item) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        *item = (kept){kept_first, allocation, ticket};
        kept_first = item;
        emu_count_free(allocation->context);
        return CUDA_SUCCESS;
    }
    emu_count_free(allocation->context);
    return finish(allocation) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void
emu_keep_end(void)
{
    kept **link = &kept_first;

    while (*link) {
        kept *item = *link;

        if (emu_stream_runs(item->allocation->context, item->ticket)) {
            link = &item->next;
        }
        else {
            *link = item->next;
            (void)finish(item->allocation); /* nothing else can have freed it */
            free(item);
        }
    }
}
