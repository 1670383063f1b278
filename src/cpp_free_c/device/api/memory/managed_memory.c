/* The calls on managed memory.
 *
 * The host and all devices always see the same pages, so advice, prefetching and
 * attaching only check their arguments and are remembered. */
#include "device/api/memory/allocation.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/entry.h"
#include "device/api/stream/stream.h"

enum { ATTACH_GLOBAL = 1, ATTACH_HOST = 2, ATTACH_SINGLE = 4 };

CUresult
emu_cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    emu_context *context;
    emu_allocation *made;
    CUresult status = EMU_ENTER_CONTEXT(MemAllocManaged, &context);

    if (status == CUDA_SUCCESS && (dptr == NULL || bytesize == 0 ||
                                   (flags != ATTACH_GLOBAL && flags != ATTACH_HOST))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status =
            emu_allocation_new(context, EMU_MEMORY_MANAGED, bytesize, flags, &made);
    }
    if (status == CUDA_SUCCESS) {
        *dptr = made->base;
    }
    return emu_leave(status);
}

static bool
managed_has_range(CUdeviceptr address, size_t count)
{
    const emu_allocation *found = emu_memory_check(address, count);

    return count > 0 && found != NULL && found->kind == EMU_MEMORY_MANAGED;
}

/* Whether managed memory can be there: on a device, or on the host (-1). */
static bool
managed_is_place(CUdevice device)
{
    return device == -1 || emu_device_get(device) != NULL;
}

/* Check the stream of a call that a capture refuses. */
static CUresult
managed_check_stream(emu_context *context, CUstream handle)
{
    emu_stream *stream;
    CUresult status = emu_stream_find(context, handle, &stream);

    if (status == CUDA_SUCCESS) {
        status = emu_capture_refuse(stream);
    }
    return status;
}

/* A place of the functions since CUDA 12.2 as a number of a device; -1: the host. */
static CUresult
managed_place(const CUmemLocation *location, CUdevice *place)
{
    *place = -1;
    if (location->type == CU_MEM_LOCATION_TYPE_DEVICE) {
        *place = location->id;
        return emu_device_get(location->id) == NULL ? CUDA_ERROR_INVALID_DEVICE
                                                    : CUDA_SUCCESS;
    }
    if (location->type < CU_MEM_LOCATION_TYPE_DEVICE ||
        location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* The allocation of a range, for a caller that may change it. */
static emu_allocation *
managed_find(CUdeviceptr address)
{
    return emu_memory_starting_at(emu_memory_check(address, 1)->base);
}

static CUresult
managed_prefetch(emu_context *context, CUdeviceptr address, size_t count,
                 CUdevice place, CUstream handle)
{
    CUresult status;

    if (!managed_has_range(address, count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!managed_is_place(place)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    status = managed_check_stream(context, handle);
    if (status == CUDA_SUCCESS) {
        managed_find(address)->managed.prefetched = place;
    }
    return status;
}

CUresult
emu_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                       CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(MemPrefetchAsync, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = managed_prefetch(context, devPtr, count, dstDevice, hStream);
    }
    return emu_leave(status);
}

CUresult
emu_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                          unsigned int flags, CUstream hStream)
{
    emu_context *context;
    CUdevice place;
    CUresult status = EMU_ENTER_STREAM(MemPrefetchAsync_v2, hStream, &context);

    if (status == CUDA_SUCCESS && flags != 0) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = managed_place(&location, &place);
    }
    if (status == CUDA_SUCCESS) {
        status = managed_prefetch(context, devPtr, count, place, hStream);
    }
    return emu_leave(status);
}

/* Whether the operands of a batch are sound: each range from an index on goes to the
 * place of that index. */
static bool
managed_is_batch(const size_t *indices, size_t places, size_t count)
{
    for (size_t i = 0; i < places; i++) {
        if (indices[i] >= count ||
            (i == 0 ? indices[0] != 0 : indices[i] <= indices[i - 1])) {
            return false;
        }
    }
    return places > 0 && places <= count;
}

CUresult
emu_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                            CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                            size_t numPrefetchLocs, unsigned long long flags,
                            CUstream hStream)
{
    emu_context *context;
    CUdevice place = -1;
    size_t next = 0;
    CUresult status = EMU_ENTER_STREAM(MemPrefetchBatchAsync, hStream, &context);

    if (status == CUDA_SUCCESS &&
        (dptrs == NULL || sizes == NULL || prefetchLocs == NULL ||
         prefetchLocIdxs == NULL || flags != 0 || (uintptr_t)hStream <= 1 ||
         !managed_is_batch(prefetchLocIdxs, numPrefetchLocs, count))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++) {
        if (next < numPrefetchLocs && prefetchLocIdxs[next] == i) {
            status = managed_place(&prefetchLocs[next++], &place);
        }
        if (status == CUDA_SUCCESS) {
            status = managed_prefetch(context, dptrs[i], sizes[i], place, hStream);
        }
    }
    return emu_leave(status);
}

/* -- advice ------------------------------------------------------------------------ */

enum {
    SET_READ_MOSTLY = 1,
    UNSET_READ_MOSTLY,
    SET_PREFERRED,
    UNSET_PREFERRED,
    SET_ACCESSED_BY,
    UNSET_ACCESSED_BY
};

static void
managed_set_accessor(emu_allocation *found, CUdevice place, bool accesses)
{
    uint64_t bit;

    if (place < 0) {
        found->managed.accessed_by_host = accesses;
        return;
    }
    bit = (uint64_t)1 << place;
    if (accesses) {
        found->managed.accessed_by |= bit;
    }
    else {
        found->managed.accessed_by &= ~bit;
    }
}

static CUresult
managed_advise(CUdeviceptr address, size_t count, CUmem_advise advice, CUdevice place)
{
    emu_allocation *found;

    if (!managed_has_range(address, count) || advice < SET_READ_MOSTLY ||
        advice > UNSET_ACCESSED_BY) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    /* Advice on reads is for all devices; it ignores the device. */
    if (advice > UNSET_READ_MOSTLY && !managed_is_place(place)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    found = managed_find(address);
    switch (advice) {
        case SET_READ_MOSTLY:
        case UNSET_READ_MOSTLY:
            found->managed.read_mostly = advice == SET_READ_MOSTLY;
            break;
        case SET_PREFERRED:
            found->managed.preferred = place;
            break;
        case UNSET_PREFERRED:
            found->managed.preferred = -2;
            break;
        default:
            managed_set_accessor(found, place, advice == SET_ACCESSED_BY);
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemAdvise, &context);

    if (status == CUDA_SUCCESS) {
        status = managed_advise(devPtr, count, advice, device);
    }
    return emu_leave(status);
}

CUresult
emu_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                   CUmemLocation location)
{
    emu_context *context;
    CUdevice place;
    CUresult status = EMU_ENTER_CONTEXT(MemAdvise_v2, &context);

    if (status == CUDA_SUCCESS) {
        status = managed_place(&location, &place);
    }
    if (status == CUDA_SUCCESS) {
        status = managed_advise(devPtr, count, advice, place);
    }
    return emu_leave(status);
}

/* -- attributes of ranges ---------------------------------------------------------- */

/* The devices that access the memory, then -2. */
static void
managed_store_accessors(const emu_allocation *found, int *out, size_t room)
{
    size_t used = 0;

    for (int device = 0; device < EMU_MAX_DEVICES && used < room; device++) {
        if (found->managed.accessed_by >> device & 1) {
            out[used++] = device;
        }
    }
    if (found->managed.accessed_by_host && used < room) {
        out[used++] = -1;
    }
    while (used < room) {
        out[used++] = -2;
    }
}

static int
managed_place_type(int place)
{
    if (place >= 0) {
        return CU_MEM_LOCATION_TYPE_DEVICE;
    }
    return place == -1 ? CU_MEM_LOCATION_TYPE_HOST : 0;
}

static CUresult
managed_attribute(const emu_allocation *found, CUmem_range_attribute attribute,
                  int *data, size_t size)
{
    const bool preferred =
        attribute == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION ||
        attribute == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE ||
        attribute == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID;
    const int place = preferred ? found->managed.preferred : found->managed.prefetched;

    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY && size > 0 &&
        size % sizeof(int) == 0) {
        managed_store_accessors(found, data, size / sizeof(int));
        return CUDA_SUCCESS;
    }
    if (size != sizeof(int)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    switch (attribute) {
        case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
            *data = found->managed.read_mostly;
            break;
        case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
            *data = place;
            break;
        case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
            *data = managed_place_type(place);
            break;
        case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
            *data = place < 0 ? 0 : place;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                           CUdeviceptr devPtr, size_t count)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemRangeGetAttribute, &context);

    if (status == CUDA_SUCCESS && (data == NULL || !managed_has_range(devPtr, count))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = managed_attribute(managed_find(devPtr), attribute, data, dataSize);
    }
    return emu_leave(status);
}

CUresult
emu_cuMemRangeGetAttributes(void **data, size_t *dataSizes,
                            CUmem_range_attribute *attributes, size_t numAttributes,
                            CUdeviceptr devPtr, size_t count)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(MemRangeGetAttributes, &context);

    if (status == CUDA_SUCCESS &&
        (data == NULL || dataSizes == NULL || attributes == NULL ||
         numAttributes == 0 || !managed_has_range(devPtr, count))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < numAttributes; i++) {
        status = CUDA_ERROR_INVALID_VALUE;
        if (data[i] != NULL) {
            status = managed_attribute(managed_find(devPtr), attributes[i], data[i],
                                       dataSizes[i]);
        }
    }
    return emu_leave(status);
}

/* Attach a whole allocation. A single stream must not be the null stream. */
static CUresult
managed_attach(CUdeviceptr address, size_t length, unsigned int flags, bool is_null)
{
    emu_allocation *found = emu_memory_starting_at(address);

    if (found == NULL || found->kind != EMU_MEMORY_MANAGED ||
        (length != 0 && length != found->size)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (flags != ATTACH_GLOBAL && flags != ATTACH_HOST &&
        (flags != ATTACH_SINGLE || is_null)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    found->flags = flags;
    return CUDA_SUCCESS;
}

CUresult
emu_cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                           unsigned int flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(StreamAttachMemAsync, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = managed_check_stream(context, hStream);
    }
    if (status == CUDA_SUCCESS) {
        const bool is_null = emu_stream_get(context, hStream) == context->null_stream;

        status = managed_attach(dptr, length, flags, is_null);
    }
    return emu_leave(status);
}
