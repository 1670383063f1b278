/* The heap of device malloc. See heap.h. */
#include "device/machine/services/heap.h"

#include "device/machine/services/services.h"

uint64_t
emu_heap_allocate(CUcontext context, uint64_t size)
{
    emu_services *services = emu_services_get(context);
    const size_t limit = context->limits[EMU_LIMIT_MALLOC_HEAP_SIZE];
    emu_memory_request request = {.kind = EMU_MEMORY_HEAP,
                                  .size = (size_t)size,
                                  .device = context->device->ordinal,
                                  .context = context};
    emu_allocation *allocation = NULL;

    if (services == NULL || size == 0) {
        return 0;
    }
    (void)pthread_mutex_lock(&services->lock);
    if (size <= limit && services->heap_used <= limit - size &&
        emu_memory_allocate(&request, &allocation) == CUDA_SUCCESS) {
        services->heap_used += (size_t)size;
    }
    (void)pthread_mutex_unlock(&services->lock);
    if (allocation == NULL) {
        return 0;
    }
    return allocation->base;
}

bool
emu_heap_free(CUcontext context, uint64_t address)
{
    emu_services *services = emu_services_get(context);
    emu_allocation *found =
        (emu_allocation *)(uintptr_t)(const void *)emu_memory_find(address);
    bool freed = false;
    size_t size;

    if (found && services && found->kind == EMU_MEMORY_HEAP && found->base == address &&
        found->context == context) {
        (void)pthread_mutex_lock(&services->lock);
        size = (size_t)found->size;
        freed = emu_memory_live(found) && emu_memory_free(found);
        if (freed) {
            services->heap_used -= size;
        }
        (void)pthread_mutex_unlock(&services->lock);
    }
    return freed;
}
