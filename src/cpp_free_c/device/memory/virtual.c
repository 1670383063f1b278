/* Virtual memory. See memory.h. */
#define _GNU_SOURCE
#include "device/memory/memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    emu_physical *physical; /* NULL: nothing is mapped */
    uint64_t mapping;       /* number of the cuMemMap call */
    uint64_t readers;       /* bit d: kernels of device d may read */
    uint64_t writers;
} granule;

typedef struct reservation {
    emu_allocation *place;
    uint64_t base, size;
    size_t count; /* granules */
    granule *granules;
    emu_allocation **runs; /* the records of the mapped parts; room for `count` */
    size_t run_count;
    struct reservation *next;
} reservation;

static reservation *reservations; /* guarded by the API lock */
static uint64_t mappings;

/* -- finding ----------------------------------------------------------------------- */

/* The reservation that holds all of a range of whole granules, or NULL. */
static reservation *
virtual_find(uint64_t address, uint64_t size, size_t *first, size_t *count)
{
    reservation *r = reservations;

    while (r != NULL && address - r->base >= r->size) {
        r = r->next;
    }
    if (r == NULL || size == 0 || (address - r->base) % EMU_VIRTUAL_GRANULE != 0 ||
        size % EMU_VIRTUAL_GRANULE != 0 || size > r->size - (address - r->base)) {
        return NULL;
    }
    *first = (size_t)((address - r->base) / EMU_VIRTUAL_GRANULE);
    *count = (size_t)(size / EMU_VIRTUAL_GRANULE);
    return r;
}

/* -- records of the mapped parts --------------------------------------------------- */

static bool
granules_match(const granule *a, const granule *b)
{
    return (a->physical == NULL) == (b->physical == NULL) && a->readers == b->readers &&
           (a->physical == NULL || a->physical->device == b->physical->device);
}

/* Take the record of a run, which keeps the record that begins at its address. */
static emu_allocation *
virtual_take_run(emu_allocation **old, size_t count, uint64_t base)
{
    for (size_t i = 0; i < count; i++) {
        if (old[i] != NULL && old[i]->base == base) {
            emu_allocation *found = old[i];

            old[i] = NULL;
            return found;
        }
    }
    emu_allocation *made = emu_space_take_record_locked();

    if (made != NULL) {
        atomic_store(&made->extent, 0);
        made->base = base;
    }
    return made;
}

static void
virtual_fill_run(const reservation *r, emu_allocation *run, size_t first, size_t count)
{
    const granule *g = &r->granules[first];

    run->devices = g->readers;
    run->size = count * EMU_VIRTUAL_GRANULE;
    run->span = run->size;
    run->charged = 0;
    run->serial = r->place->serial;
    run->kind = EMU_MEMORY_MAPPED;
    run->device = g->physical->device;
    run->flags = 0;
    run->context = NULL;
    run->name = NULL;
    run->owner = NULL;
    run->mapped = true;
    run->pitch = 0;
    run->next = run->previous = run->queue = NULL;
    atomic_store_explicit(&run->extent, run->size, memory_order_release);
    emu_space_assign_locked(run->base, run->size, run);
}

/* Make the records agree with the granules. A run that grows keeps its record, so a
 * kernel that runs meanwhile never misses its memory. False: no record is left; then
 * some mapped memory cannot be accessed. */
static bool
virtual_update(reservation *r)
{
    emu_allocation **old = r->runs;
    size_t old_count = r->run_count;
    emu_allocation **runs = calloc(r->count, sizeof(*runs));
    bool complete = runs != NULL;
    size_t first = 0;

    if (runs == NULL) {
        return false;
    }
    emu_memory_lock();
    r->runs = runs;
    r->run_count = 0;
    while (first < r->count) {
        uint64_t base = r->base + first * EMU_VIRTUAL_GRANULE;
        size_t count = 1;

        while (first + count < r->count &&
               granules_match(&r->granules[first], &r->granules[first + count])) {
            count++;
        }
        if (r->granules[first].physical == NULL) {
            emu_space_assign_locked(base, count * EMU_VIRTUAL_GRANULE, r->place);
        }
        else {
            emu_allocation *run = virtual_take_run(old, old_count, base);

            if (run != NULL) {
                virtual_fill_run(r, run, first, count);
                runs[r->run_count++] = run;
            }
            complete = complete && run != NULL;
        }
        first += count;
    }
    for (size_t i = 0; i < old_count; i++) {
        if (old[i] != NULL) {
            atomic_store(&old[i]->extent, 0);
            emu_space_return_record_locked(old[i]);
        }
    }
    emu_memory_unlock();
    free(old);
    return complete;
}

/* -- reserving --------------------------------------------------------------------- */

CUresult
emu_virtual_reserve(emu_context *context, uint64_t size, uint64_t alignment,
                    uint64_t *base)
{
    emu_memory_request request = {.kind = EMU_MEMORY_RESERVED,
                                  .device = context->device->ordinal};
    reservation *r = calloc(1, sizeof(*r));
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;

    if (alignment < EMU_VIRTUAL_GRANULE) {
        alignment = EMU_VIRTUAL_GRANULE;
    }
    request.size = size + alignment;
    if (r != NULL) {
        r->count = (size_t)(size / EMU_VIRTUAL_GRANULE);
        r->granules = calloc(r->count, sizeof(*r->granules));
    }
    if (r != NULL && r->granules != NULL) {
        status = emu_memory_allocate(&request, &r->place);
    }
    if (status != CUDA_SUCCESS) {
        if (r != NULL) {
            free(r->granules);
        }
        free(r);
        return status;
    }
    /* No access before memory is mapped. emu_memory_free needs a live record. */
    atomic_store(&r->place->extent, 0);
    r->base = emu_space_round_up(r->place->base, alignment);
    r->size = size;
    r->next = reservations;
    reservations = r;
    *base = r->base;
    return CUDA_SUCCESS;
}

CUresult
emu_virtual_free(uint64_t base, uint64_t size)
{
    reservation **link = &reservations;
    reservation *r;

    while (*link != NULL && (*link)->base != base) {
        link = &(*link)->next;
    }
    r = *link;
    if (r == NULL || r->size != size) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < r->count; i++) {
        if (r->granules[i].physical != NULL) {
            return CUDA_ERROR_INVALID_VALUE; /* unmap first */
        }
    }
    *link = r->next;
    atomic_store(&r->place->extent, 1);
    (void)emu_memory_free(r->place); /* just made live */
    free(r->runs);
    free(r->granules);
    free(r);
    return CUDA_SUCCESS;
}

/* -- mapping ----------------------------------------------------------------------- */

void
emu_physical_release_if_unused(emu_physical *physical)
{
    if (physical->handles != 0 || physical->maps != 0) {
        return;
    }
    if (physical->charged) {
        emu_memory_discharge(physical->device, physical->size);
    }
    (void)close(physical->file); /* memory only: no data is lost */
    emu_object_free(&physical->object);
}

CUresult
emu_virtual_map(uint64_t address, uint64_t size, emu_physical *physical,
                uint64_t offset)
{
    size_t first, count;
    reservation *r = virtual_find(address, size, &first, &count);

    if (r == NULL || offset > physical->size || size > physical->size - offset) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) {
        if (r->granules[first + i].physical != NULL) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (mmap((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, physical->file, (off_t)offset) == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mappings++;
    for (size_t i = 0; i < count; i++) {
        r->granules[first + i] = (granule){.physical = physical, .mapping = mappings};
    }
    physical->maps += count;
    /* Without rights, nothing is accessible yet; a missing record is no failure. */
    (void)virtual_update(r);
    return CUDA_SUCCESS;
}

/* Whether a range consists of whole mappings. */
static bool
virtual_is_whole(const reservation *r, size_t first, size_t count)
{
    size_t end = first + count;

    for (size_t i = first; i < end; i++) {
        if (r->granules[i].physical == NULL) {
            return false;
        }
    }
    return (first == 0 || r->granules[first - 1].physical == NULL ||
            r->granules[first - 1].mapping != r->granules[first].mapping) &&
           (end == r->count || r->granules[end].physical == NULL ||
            r->granules[end].mapping != r->granules[end - 1].mapping);
}

CUresult
emu_virtual_unmap(uint64_t address, uint64_t size)
{
    size_t first, count;
    reservation *r = virtual_find(address, size, &first, &count);

    if (r == NULL || !virtual_is_whole(r, first, count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = first; i < first + count; i++) {
        emu_physical *physical = r->granules[i].physical;

        r->granules[i] = (granule){0};
        physical->maps--;
        emu_physical_release_if_unused(physical);
    }
    (void)virtual_update(r);
    (void)mmap((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return CUDA_SUCCESS;
}

/* -- rights ------------------------------------------------------------------------ */

CUresult
emu_virtual_set_access(uint64_t address, uint64_t size, int device, unsigned int rights)
{
    size_t first, count;
    uint64_t bit = (uint64_t)1 << device;
    reservation *r = virtual_find(address, size, &first, &count);

    for (size_t i = 0; r != NULL && i < count; i++) {
        if (r->granules[first + i].physical == NULL) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (r == NULL || (rights != 0 && rights != 1 && rights != 3)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = first; i < first + count; i++) {
        granule *g = &r->granules[i];

        g->readers = rights & 1 ? g->readers | bit : g->readers & ~bit;
        g->writers = rights & 2 ? g->writers | bit : g->writers & ~bit;
    }
    if (!virtual_update(r)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

emu_physical *
emu_virtual_memory_at(uint64_t address)
{
    size_t first, count;
    uint64_t start = address / EMU_VIRTUAL_GRANULE * EMU_VIRTUAL_GRANULE;
    const reservation *r = virtual_find(start, EMU_VIRTUAL_GRANULE, &first, &count);

    if (r == NULL) {
        return NULL;
    }
    return r->granules[first].physical;
}

CUresult
emu_virtual_get_access(uint64_t address, int device, unsigned int *rights)
{
    size_t first, count;
    uint64_t start = address / EMU_VIRTUAL_GRANULE * EMU_VIRTUAL_GRANULE;
    const reservation *r = virtual_find(start, EMU_VIRTUAL_GRANULE, &first, &count);

    if (r == NULL || r->granules[first].physical == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *rights = (unsigned int)(r->granules[first].readers >> device & 1);
    if (r->granules[first].writers >> device & 1) {
        *rights = 3;
    }
    return CUDA_SUCCESS;
}
