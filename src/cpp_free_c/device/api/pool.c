/* Memory pools: stream-ordered allocation. Streams run at once, so does allocation. */
#define _GNU_SOURCE
#include <string.h>

#include "device/api/entry.h"
#include "device/api/capture.h"
#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/ipc.h"
#include "device/api/pool.h"
#include "device/api/stream.h"
#include "device/machine/wait.h"

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

enum { TYPE_PINNED = 1, LOCATION_DEVICE = 1 };

typedef struct CUmemPoolHandle_st {
    emu_object object;
    emu_device *device;
    uint64_t access; /* bit d: kernels of device d may use what comes from it */
    bool builtin;    /* a device's default pool: it cannot be destroyed */
    int reuse[3];
    uint64_t threshold;
    uint64_t used, used_high;
    size_t live;    /* allocations */
    bool destroyed; /* by its handle: the last allocation frees the record */
} emu_pool;

/* The pools that devices have from the start, and those set in their place; made when
 * first asked for, guarded by the API lock. */
static emu_pool *default_pools[EMU_MAX_DEVICES], *current_pools[EMU_MAX_DEVICES];

static size_t builtin_count;

static void
release_if_unused(emu_pool *pool)
{
    if (pool->destroyed && pool->live == 0) {
        emu_object_free(&pool->object);
    }
}

/* Pools belong to no context, so nothing but their own entry point destroys them. */
static void
destroy(emu_object *object)
{
    emu_object_free(object);
}

size_t
emu_pool_count(void)
{
    return emu_object_count(EMU_POOL) - builtin_count;
}

static emu_pool *
make(emu_device *device)
{
    emu_pool *pool = emu_object_new(EMU_POOL, sizeof(*pool), NULL, destroy);

    if (pool) {
        pool->device = device;
        pool->access = (uint64_t)1 << device->ordinal;
        for (int i = 0; i < 3; i++) {
            pool->reuse[i] = 1;
        }
    }
    return pool;
}

static emu_pool *
default_pool(emu_device *device)
{
    emu_pool **slot = &default_pools[device->ordinal];

    if (!*slot) {
        *slot = make(device);
        if (*slot) {
            (*slot)->builtin = true;
            builtin_count++;
        }
    }
    return *slot;
}

static emu_pool *
current_pool(emu_device *device)
{
    emu_pool *pool = current_pools[device->ordinal];

    return pool ? pool : default_pool(device);
}

/* -- devices' pools ---------------------------------------------------------------- */

static CUresult
give_pool(CUmemoryPool *out, CUdevice ordinal, emu_pool *(*choose)(emu_device *))
{
    emu_device *device = emu_device_get(ordinal);
    emu_pool *pool;

    if (!out) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!device) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    pool = choose(device);
    if (!pool) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = pool;
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    CUresult status = EMU_ENTER(DeviceGetDefaultMemPool);

    if (status == CUDA_SUCCESS) {
        status = give_pool(pool_out, dev, default_pool);
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    CUresult status = EMU_ENTER(DeviceGetMemPool);

    if (status == CUDA_SUCCESS) {
        status = give_pool(pool, dev, current_pool);
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    CUresult status = EMU_ENTER(DeviceSetMemPool);

    if (status == CUDA_SUCCESS) {
        emu_device *device = emu_device_get(dev);
        emu_pool *found = emu_object_get(pool, EMU_POOL);

        if (!device) {
            status = CUDA_ERROR_INVALID_DEVICE;
        }
        else if (!found || found->device != device) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            current_pools[dev] = found;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    CUresult status = EMU_ENTER(MemPoolCreate);

    if (status == CUDA_SUCCESS &&
        (!pool || !poolProps || poolProps->allocType != TYPE_PINNED ||
         poolProps->location.type != LOCATION_DEVICE)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        emu_device *device = emu_device_get(poolProps->location.id);
        emu_pool *made = device ? make(device) : NULL;

        if (made) {
            *pool = made;
        }
        else {
            status = device ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_DEVICE;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuMemPoolDestroy(CUmemoryPool pool)
{
    CUresult status = EMU_ENTER(MemPoolDestroy);

    if (status == CUDA_SUCCESS) {
        emu_pool *found = emu_object_get(pool, EMU_POOL);

        if (!found || found->builtin) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            if (current_pools[found->device->ordinal] == found) {
                current_pools[found->device->ordinal] = NULL;
            }
            found->destroyed = true;
            emu_object_unlist(&found->object);
            release_if_unused(found); /* its allocations live on */
        }
    }
    return emu_leave(status);
}

/* Nothing is kept in reserve, so there is nothing to trim. */
CUresult
emu_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    CUresult status = EMU_ENTER(MemPoolTrimTo);

    (void)minBytesToKeep; /* see above */
    if (status == CUDA_SUCCESS && !emu_object_get(pool, EMU_POOL)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    return emu_leave(status);
}

static CUresult
set_attribute(emu_pool *pool, CUmemPool_attribute attribute, const void *value)
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
    /* The high marks may be set back, and only to 0. */
    if ((attribute == RESERVED_HIGH || attribute == USED_HIGH) && number == 0) {
        pool->used_high = pool->used;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult
get_attribute(const emu_pool *pool, CUmemPool_attribute attribute, void *value)
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
emu_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    CUresult status = EMU_ENTER(MemPoolSetAttribute);

    if (status == CUDA_SUCCESS) {
        emu_pool *found = emu_object_get(pool, EMU_POOL);

        status = found && value ? set_attribute(found, attr, value)
                                : CUDA_ERROR_INVALID_VALUE;
    }
    return emu_leave(status);
}

CUresult
emu_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    CUresult status = EMU_ENTER(MemPoolGetAttribute);

    if (status == CUDA_SUCCESS) {
        const emu_pool *found = emu_object_get(pool, EMU_POOL);

        status = found && value ? get_attribute(found, attr, value)
                                : CUDA_ERROR_INVALID_VALUE;
    }
    return emu_leave(status);
}

/* Applies to what is allocated from now on. */
CUresult
emu_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    CUresult status = EMU_ENTER(MemPoolSetAccess);
    emu_pool *found = NULL;
    uint64_t access = 0;

    if (status == CUDA_SUCCESS) {
        found = emu_object_get(pool, EMU_POOL);
        status = found && (map || !count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
        access = found ? found->access : 0;
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++) {
        const emu_device *device = emu_device_get(map[i].location.id);

        if (map[i].location.type != LOCATION_DEVICE || !device) {
            status = CUDA_ERROR_INVALID_DEVICE;
        }
        else if (map[i].flags == ACCESS_READ || map[i].flags == ACCESS_READ_WRITE) {
            access |= (uint64_t)1 << device->ordinal;
        }
        else if (map[i].flags == ACCESS_NONE && device != found->device) {
            access &= ~((uint64_t)1 << device->ordinal);
        }
        else {
            status = CUDA_ERROR_INVALID_VALUE; /* its own device always may */
        }
    }
    if (status == CUDA_SUCCESS) {
        found->access = access;
    }
    return emu_leave(status);
}

/* -- allocating -------------------------------------------------------------------- */

static CUresult
allocate(emu_context *context, CUdeviceptr *out, size_t size, emu_pool *pool,
         CUstream stream)
{
    emu_memory_request request = {.kind = EMU_MEMORY_POOLED,
                                  .size = size,
                                  .device = pool->device->ordinal,
                                  .context = context};
    emu_allocation *made;
    emu_stream *found;
    CUresult status;

    if (!out || size == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    found = emu_stream_get(context, stream);
    if (!found) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    status = emu_capture_refuse(found);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = emu_memory_allocate(&request, &made);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    made->owner = pool;
    made->devices = pool->access;
    pool->live++;
    pool->used += made->charged;
    if (pool->used > pool->used_high) {
        pool->used_high = pool->used;
    }
    *out = made->base;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(MemAllocAsync, hStream, &context);

    if (status == CUDA_SUCCESS) {
        emu_pool *pool = current_pool(context->device);

        status = pool ? allocate(context, dptr, bytesize, pool, hStream)
                      : CUDA_ERROR_OUT_OF_MEMORY;
    }
    return emu_leave(status);
}

CUresult
emu_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                            CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(MemAllocFromPoolAsync, hStream, &context);

    if (status == CUDA_SUCCESS) {
        emu_pool *found = emu_object_get(pool, EMU_POOL);

        status = found ? allocate(context, dptr, bytesize, found, hStream)
                       : CUDA_ERROR_INVALID_VALUE;
    }
    return emu_leave(status);
}

void
emu_pool_forget(const emu_allocation *allocation)
{
    emu_pool *pool = allocation->owner;

    pool->used -= allocation->charged;
    pool->live--;
    release_if_unused(pool);
}

CUresult
emu_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(MemFreeAsync, hStream, &context);

    if (status == CUDA_SUCCESS) {
        emu_stream *stream = emu_stream_get(context, hStream);

        status = stream ? emu_capture_refuse(stream) : CUDA_ERROR_INVALID_HANDLE;
    }
    if (status == CUDA_SUCCESS && dptr) {
        emu_stream *stream = emu_stream_get(context, hStream);
        int token = emu_stream_begin(stream); /* after the stream's work */
        emu_allocation *found;

        if (token < 0) {
            return emu_leave(emu_wait_status());
        }
        emu_stream_end(stream, token);
        found = emu_memory_starting_at(dptr);
        if (!found ||
            (found->kind != EMU_MEMORY_POOLED && found->kind != EMU_MEMORY_DEVICE)) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else {
            emu_count_free(found->context);
            if (found->kind == EMU_MEMORY_POOLED) {
                emu_pool_forget(found);
            }
            else {
                emu_ipc_forget(found);
            }
            (void)emu_memory_free(found); /* just found alive, under the lock */
        }
    }
    return emu_leave(status);
}
