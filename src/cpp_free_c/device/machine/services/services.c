/* The services of a context. See services.h. */
#define _GNU_SOURCE
#include "device/machine/services/services.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/machine/warp/address_check.h"

enum { TEXT_LIMIT = 1 << 20 };

static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;

emu_services *
emu_services_get(CUcontext context)
{
    emu_services *services;

    (void)pthread_mutex_lock(&creation);
    services = context->exec;
    if (services == NULL) {
        services = calloc(1, sizeof *services);
        if (services && pthread_mutex_init(&services->lock, NULL) != 0) {
            free(services);
            services = NULL;
        }
        context->exec = services;
    }
    (void)pthread_mutex_unlock(&creation);
    return services;
}

static void
services_flush_locked(emu_services *services)
{
    if (services->size) {
        (void)fwrite(services->text, 1, services->size, stdout);
        (void)fflush(stdout);
        services->size = 0;
    }
}

void
emu_services_flush(CUcontext context)
{
    emu_services *services;

    (void)pthread_mutex_lock(&creation);
    services = context->exec;
    (void)pthread_mutex_unlock(&creation);
    if (services) {
        (void)pthread_mutex_lock(&services->lock);
        services_flush_locked(services);
        (void)pthread_mutex_unlock(&services->lock);
    }
}

void
emu_services_close(CUcontext context)
{
    emu_services *services = context->exec;

    if (services) {
        emu_services_flush(context);
        (void)pthread_mutex_destroy(&services->lock);
        free(services->text);
        free(services);
        context->exec = NULL;
    }
}

void
emu_services_append_locked(emu_services *services, const char *text, size_t size)
{
    if (size == 0) {
        return;
    }
    if (services->size + size > services->room) {
        size_t room = 4096;
        char *larger;

        while (room < services->size + size) {
            room *= 2;
        }
        larger = realloc(services->text, room);
        if (larger == NULL) {
            return; /* the text is lost, as on a device whose buffer is full */
        }
        services->text = larger;
        services->room = room;
    }
    memcpy(services->text + services->size, text, size);
    services->size += size;
    if (services->size > TEXT_LIMIT) {
        services_flush_locked(services);
    }
}

/* -- parameters of the call -------------------------------------------------------- */

void
emu_service_parameter(const emu_warp *warp, const emu_insn *insn, unsigned index,
                      unsigned lane, void *value, size_t room)
{
    const emu_slot *slot = &insn->call->params[index];
    const uint8_t *from;

    if (slot->is_reg) {
        from = warp->base[slot->offset & EMU_TAG_MASK] + slot->offset +
               (size_t)lane * slot->size;
    }
    else {
        from = warp->local + lane * warp->local_stride + warp->frame->local_start +
               slot->offset;
    }
    memcpy(value, from, slot->size < room ? slot->size : room);
}

uint64_t
emu_service_word(const emu_warp *warp, const emu_insn *insn, unsigned index,
                 unsigned lane)
{
    uint64_t value = 0;

    emu_service_parameter(warp, insn, index, lane, &value, sizeof value);
    return value;
}

void
emu_service_return(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t value)
{
    const emu_slot *slot;
    uint8_t *to;

    if (!insn->call->return_count) {
        return;
    }
    slot = &insn->call->returns[0];
    if (slot->is_reg) {
        to = warp->base[0] + slot->offset + (size_t)lane * slot->size;
    }
    else {
        to = warp->local + lane * warp->local_stride + warp->frame->local_start +
             slot->offset;
    }
    memcpy(to, &value, slot->size < 8 ? slot->size : 8);
}

int
emu_service_string(emu_warp *warp, unsigned lane, uint64_t address, char *text,
                   size_t room)
{
    size_t size = 0;

    while (size + 1 < room) {
        const uint8_t *at = emu_address_generic(warp, lane, address + size, 1);

        if (at == NULL) {
            return -1;
        }
        if (!*at) {
            break;
        }
        text[size++] = (char)*at;
    }
    text[size] = 0;
    return (int)size;
}

/* -- the heap of malloc ------------------------------------------------------------ */

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
