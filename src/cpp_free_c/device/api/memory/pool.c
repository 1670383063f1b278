/* Memory pools: making, describing, destroying. See pool.h.
 *
 * A pool keeps nothing in reserve: it only counts what comes from it. */
#include "device/api/memory/pool.h"

#include <string.h>
#include <unistd.h>

#include "device/base/device.h"
#include "device/api/entry/entry.h"

enum {
    REUSE_FOLLOW_EVENT = 1,
    REUSE_INTERNAL = 3,
    RELEASE_THRESHOLD = 4,
    RESERVED_CURRENT = 5,
    RESERVED_HIGH = 6,
    USED_CURRENT = 7,
    USED_HIGH = 8
};

enum { ACCESS_NONE = 0, ACCESS_READ = 1, ACCESS_READ_WRITE = 3 };

enum { TYPE_MANAGED = 2 };

/* The default pools: of the devices by ordinal, of host memory, of managed memory. */
enum { HOST_POOL = EMU_MAX_DEVICES, MANAGED_POOL, DEFAULT_POOLS };

struct CUmemPoolHandle_st {
    emu_object object;
    emu_device *device;   /* of a pool of host memory: the first */
    emu_memory_kind kind; /* of what comes from it */
    uint64_t access;      /* bit d: kernels of device d may use what comes from it */
    bool builtin;         /* a device's default pool: it cannot be destroyed */
    int reuse[3];
    uint64_t threshold;
    uint64_t used, used_high;
    size_t live;    /* allocations */
    bool destroyed; /* by its handle: the last allocation frees the record */
    bool shareable; /* other processes may open it */
    bool imported;  /* it is the pool of another process: nothing comes from it */
    int file;       /* names it to other processes; -1: not yet */
};

/* The default pools of the devices, made at first use, and the pools that programs set
 * in their place. Guarded by the API lock. */
static emu_pool *default_pools[DEFAULT_POOLS], *current_pools[DEFAULT_POOLS];
static size_t builtin_count; /* default pools that exist */

static void
pool_release_if_unused(emu_pool *pool)
{
    if (pool->destroyed && pool->live == 0) {
        if (pool->file >= 0) {
            (void)close(pool->file); /* memory only: no data is lost */
        }
        emu_object_free(&pool->object);
    }
}

/* No context owns a pool, so only the pool's own entry point destroys it. */
static void
pool_destroy(emu_object *object)
{
    emu_object_free(object);
}

size_t
emu_pool_count(void)
{
    return emu_object_count(EMU_POOL) - builtin_count;
}

static emu_pool *
pool_new(emu_device *device, emu_memory_kind kind)
{
    emu_pool *pool = emu_object_new(EMU_POOL, sizeof(*pool), NULL, pool_destroy);

    if (pool != NULL) {
        pool->device = device;
        pool->file = -1;
        pool->kind = kind;
        pool->access = UINT64_MAX; /* all devices reach memory of the host */
        if (kind == EMU_MEMORY_POOLED) {
            pool->access = (uint64_t)1 << device->ordinal;
        }
        for (int i = 0; i < 3; i++) {
            pool->reuse[i] = 1;
        }
    }
    return pool;
}

/* The kind of memory of the pools of a slot. */
static emu_memory_kind
slot_kind(int slot)
{
    if (slot == HOST_POOL) {
        return EMU_MEMORY_HOST;
    }
    if (slot == MANAGED_POOL) {
        return EMU_MEMORY_MANAGED;
    }
    return EMU_MEMORY_POOLED;
}

/* The device of the pools of a slot. */
static emu_device *
slot_device(int slot)
{
    if (slot < EMU_MAX_DEVICES) {
        return &emu_devices[slot];
    }
    return &emu_devices[0];
}

static emu_pool *
pool_default(int slot)
{
    emu_pool **pool = &default_pools[slot];

    if (*pool == NULL) {
        *pool = pool_new(slot_device(slot), slot_kind(slot));
        if (*pool != NULL) {
            (*pool)->builtin = true;
            builtin_count++;
        }
    }
    return *pool;
}

static emu_pool *
pool_current(int slot)
{
    if (current_pools[slot] != NULL) {
        return current_pools[slot];
    }
    return pool_default(slot);
}

emu_pool *
emu_pool_current(emu_device *device)
{
    return pool_current(device->ordinal);
}

emu_pool *
emu_pool_new_imported(emu_device *device)
{
    emu_pool *pool = pool_new(device, EMU_MEMORY_POOLED);

    if (pool != NULL) {
        pool->imported = true;
    }
    return pool;
}

bool
emu_pool_is_imported(const emu_pool *pool)
{
    return pool->imported;
}

int *
emu_pool_file(emu_pool *pool)
{
    if (!pool->shareable) {
        return NULL;
    }
    return &pool->file;
}

int
emu_pool_device(const emu_pool *pool)
{
    return pool->device->ordinal;
}

bool
emu_pool_is_exported(const emu_pool *pool)
{
    return pool->file >= 0;
}

/* -- memory of a pool -------------------------------------------------------------- */

/* What an allocation counts in its pool. Memory of the host is charged to no device. */
static uint64_t
pool_bytes(const emu_allocation *allocation)
{
    if (allocation->charged != 0) {
        return allocation->charged;
    }
    return allocation->size;
}

CUresult
emu_pool_allocate(emu_pool *pool, emu_context *context, size_t size, CUdeviceptr *out)
{
    emu_memory_request request = {.kind = pool->kind,
                                  .size = size,
                                  .device = pool->device->ordinal,
                                  .context = context};
    emu_allocation *made;
    CUresult status;

    if (pool->imported) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    status = emu_memory_allocate(&request, &made);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    made->owner = pool;
    made->devices = pool->access;
    pool->live++;
    pool->used += pool_bytes(made);
    if (pool->used > pool->used_high) {
        pool->used_high = pool->used;
    }
    *out = made->base;
    return CUDA_SUCCESS;
}

bool
emu_pool_has(const emu_allocation *allocation)
{
    return allocation->kind == EMU_MEMORY_POOLED ||
           (allocation->owner != NULL && (allocation->kind == EMU_MEMORY_HOST ||
                                          allocation->kind == EMU_MEMORY_MANAGED));
}

bool
emu_pool_is_of_device(const emu_pool *pool)
{
    return pool->kind == EMU_MEMORY_POOLED;
}

void
emu_pool_forget(const emu_allocation *allocation)
{
    emu_pool *pool = allocation->owner;

    pool->used -= pool_bytes(allocation);
    pool->live--;
    pool_release_if_unused(pool);
}

/* -- the pools of devices ---------------------------------------------------------- */

/* The slot of a place and a type of memory. */
static CUresult
pool_slot(const CUmemLocation *location, CUmemAllocationType type, int *slot)
{
    if (location == NULL || location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT ||
        (type != CU_MEM_ALLOCATION_TYPE_PINNED && type != TYPE_MANAGED)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (type == TYPE_MANAGED) {
        *slot = MANAGED_POOL;
        return CUDA_SUCCESS;
    }
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) {
        *slot = HOST_POOL;
        return CUDA_SUCCESS;
    }
    if (emu_device_get(location->id) == NULL) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *slot = location->id;
    return CUDA_SUCCESS;
}

static CUresult
pool_get(CUmemoryPool *out, const CUmemLocation *location, CUmemAllocationType type,
         emu_pool *(*choose)(int))
{
    CUresult status;
    int slot;

    if (out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    status = pool_slot(location, type, &slot);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *out = choose(slot);
    if (*out == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

static CUresult
pool_set(const CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    emu_pool *found = emu_object_get(pool, EMU_POOL);
    CUresult status;
    int slot;

    status = pool_slot(location, type, &slot);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (found == NULL || found->kind != slot_kind(slot) ||
        (slot < EMU_MAX_DEVICES && found->device->ordinal != slot)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    current_pools[slot] = found;
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    const CUmemLocation place = {CU_MEM_LOCATION_TYPE_DEVICE, dev};

    return pool_get(pool_out, &place, CU_MEM_ALLOCATION_TYPE_PINNED, pool_default);
}

CUresult
emu_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    const CUmemLocation place = {CU_MEM_LOCATION_TYPE_DEVICE, dev};

    return pool_get(pool, &place, CU_MEM_ALLOCATION_TYPE_PINNED, pool_current);
}

CUresult
emu_cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                           CUmemAllocationType type)
{
    return pool_get(pool_out, location, type, pool_default);
}

CUresult
emu_cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
                    CUmemAllocationType type)
{
    return pool_get(pool, location, type, pool_current);
}

CUresult
emu_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    const CUmemLocation place = {CU_MEM_LOCATION_TYPE_DEVICE, dev};

    return pool_set(&place, CU_MEM_ALLOCATION_TYPE_PINNED, pool);
}

CUresult
emu_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
                    CUmemoryPool pool)
{
    return pool_set(location, type, pool);
}

/* The slot of the pool that a program asks for. */
static CUresult
pool_read(const CUmemPoolProps *props, int *slot)
{
    if (props == NULL || props->handleTypes > 1 ||
        pool_slot(&props->location, props->allocType, slot) != CUDA_SUCCESS) {
        return CUDA_ERROR_INVALID_VALUE; /* as on a GPU, for a device too */
    }
    if (props->handleTypes != 0 && slot_kind(*slot) != EMU_MEMORY_POOLED) {
        return CUDA_ERROR_NOT_SUPPORTED; /* no other process can open it */
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    int slot = 0;

    if (pool == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = pool_read(poolProps, &slot);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    emu_pool *made = pool_new(slot_device(slot), slot_kind(slot));

    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->shareable = poolProps->handleTypes != 0;
    *pool = made;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemPoolDestroy(emu_pool *pool)
{
    if (pool->builtin) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (current_pools[pool->device->ordinal] == pool) {
        current_pools[pool->device->ordinal] = NULL;
    }
    pool->destroyed = true;
    emu_object_unlist(&pool->object);
    pool_release_if_unused(pool); /* its allocations live on */
    return CUDA_SUCCESS;
}

/* Nothing is kept in reserve, so there is nothing to trim. */
CUresult
emu_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)pool;
    (void)minBytesToKeep;
    return CUDA_SUCCESS;
}

static CUresult
pool_set_attribute(emu_pool *pool, CUmemPool_attribute attribute, const void *value)
{
    uint64_t number;
    int flag;

    if (attribute >= REUSE_FOLLOW_EVENT && attribute <= REUSE_INTERNAL) {
        memcpy(&flag, value, sizeof(flag));
        pool->reuse[attribute - 1] = flag != 0;
        return CUDA_SUCCESS;
    }
    memcpy(&number, value, sizeof(number));
    if (attribute == RELEASE_THRESHOLD) {
        pool->threshold = number;
        return CUDA_SUCCESS;
    }
    /* A program may reset the high marks, and only to 0. */
    if ((attribute == RESERVED_HIGH || attribute == USED_HIGH) && number == 0) {
        pool->used_high = pool->used;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult
pool_get_attribute(const emu_pool *pool, CUmemPool_attribute attribute, void *value)
{
    uint64_t number;

    if (attribute >= REUSE_FOLLOW_EVENT && attribute <= REUSE_INTERNAL) {
        memcpy(value, &pool->reuse[attribute - 1], sizeof(int));
        return CUDA_SUCCESS;
    }
    switch (attribute) {
        case RELEASE_THRESHOLD:
            number = pool->threshold;
            break;
        case RESERVED_CURRENT:
        case USED_CURRENT:
            number = pool->used;
            break;
        case RESERVED_HIGH:
        case USED_HIGH:
            number = pool->used_high;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(value, &number, sizeof(number));
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemPoolSetAttribute(emu_pool *pool, CUmemPool_attribute attr, void *value)
{
    if (value == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return pool_set_attribute(pool, attr, value);
}

CUresult
emu_cuMemPoolGetAttribute(emu_pool *pool, CUmemPool_attribute attr, void *value)
{
    if (value == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return pool_get_attribute(pool, attr, value);
}

/* Change one device's bit of *access, as a program asks. */
static CUresult
pool_change_access(const emu_pool *pool, const CUmemAccessDesc *wish, uint64_t *access)
{
    const emu_device *device = emu_device_get(wish->location.id);
    uint64_t bit;

    if (pool->kind != EMU_MEMORY_POOLED &&
        wish->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        return CUDA_SUCCESS; /* the host always has access */
    }
    if (wish->location.type != CU_MEM_LOCATION_TYPE_DEVICE || device == NULL) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    bit = (uint64_t)1 << device->ordinal;
    if (wish->flags == ACCESS_READ || wish->flags == ACCESS_READ_WRITE) {
        *access |= bit;
        return CUDA_SUCCESS;
    }
    if (wish->flags == ACCESS_NONE &&
        (device != pool->device || pool->kind != EMU_MEMORY_POOLED)) {
        *access &= ~bit;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE; /* the pool's own device always has access */
}

/* The access applies to allocations from now on. */
CUresult
emu_cuMemPoolSetAccess(emu_pool *pool, const CUmemAccessDesc *map, size_t count)
{
    uint64_t access = pool->access;

    if (map == NULL && count > 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) {
        CUresult status = pool_change_access(pool, &map[i], &access);

        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    pool->access = access;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemPoolGetAccess(CUmemAccess_flags *flags, emu_pool *pool,
                       CUmemLocation *location)
{
    if (flags == NULL || location == NULL ||
        location->type != CU_MEM_LOCATION_TYPE_DEVICE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_device_get(location->id) == NULL) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *flags = ACCESS_NONE;
    if (pool->access >> location->id & 1) {
        *flags = ACCESS_READ_WRITE;
    }
    return CUDA_SUCCESS;
}
