/* The pools of a place: the calls of CUDA 13 on the pool of a device, by its location.
 *
 * Only devices have pools here. */
#include "device/api/entry/entry.h"

/* Check a place and a type of memory. */
static CUresult
location_check(emu_call call, const void *pool, const CUmemLocation *location,
               CUmemAllocationType type)
{
    CUresult status = emu_enter(call);

    if (status == CUDA_SUCCESS && (pool == NULL || location == NULL)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && (location->type != CU_MEM_LOCATION_TYPE_DEVICE ||
                                   type != CU_MEM_ALLOCATION_TYPE_PINNED)) {
        status = CUDA_ERROR_NOT_SUPPORTED;
    }
    return emu_leave(status);
}

CUresult
emu_cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                           CUmemAllocationType type)
{
    CUresult status =
        location_check(EMU_CALL_MemGetDefaultMemPool, pool_out, location, type);

    if (status == CUDA_SUCCESS) {
        status = emu_cuDeviceGetDefaultMemPool(pool_out, location->id);
    }
    return status;
}

CUresult
emu_cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
                    CUmemAllocationType type)
{
    CUresult status = location_check(EMU_CALL_MemGetMemPool, pool, location, type);

    if (status == CUDA_SUCCESS) {
        status = emu_cuDeviceGetMemPool(pool, location->id);
    }
    return status;
}

CUresult
emu_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
                    CUmemoryPool pool)
{
    CUresult status = location_check(EMU_CALL_MemSetMemPool, pool, location, type);

    if (status == CUDA_SUCCESS) {
        status = emu_cuDeviceSetMemPool(location->id, pool);
    }
    return status;
}
