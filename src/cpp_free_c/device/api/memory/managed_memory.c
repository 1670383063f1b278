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
emu_cuMemAllocManaged(emu_context *context, CUdeviceptr *dptr, size_t bytesize,
                      unsigned int flags)
{
    emu_allocation *made;

    if (dptr == NULL || bytesize == 0 ||
        (flags != ATTACH_GLOBAL && flags != ATTACH_HOST)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status =
        emu_allocation_new(context, EMU_MEMORY_MANAGED, bytesize, flags, &made);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *dptr = made->base;
    return CUDA_SUCCESS;
}

static bool
managed_has_range(CUdeviceptr address, size_t count)
{
    const emu_allocation *found = emu_memory_holding(address, count);

    return count > 0 && found != NULL && found->kind == EMU_MEMORY_MANAGED;
}

/* Whether managed memory can be there: on a device, or on the host (-1). */
static bool
managed_is_place(CUdevice device)
{
    return device == -1 || emu_device_get(device) != NULL;
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
    return emu_memory_starting_at(emu_memory_holding(address, 1)->base);
}

static CUresult
managed_prefetch(emu_stream *stream, CUdeviceptr address, size_t count, CUdevice place)
{
    if (!managed_has_range(address, count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!managed_is_place(place)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    CUresult status = emu_capture_refuse(stream);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    managed_find(address)->managed.prefetched = place;
    return CUDA_SUCCESS;
}

CUresult
emu_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                       emu_stream *stream)
{
    return managed_prefetch(stream, devPtr, count, dstDevice);
}

CUresult
emu_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                          unsigned int flags, emu_stream *stream)
{
    CUdevice place;

    if (flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = managed_place(&location, &place);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return managed_prefetch(stream, devPtr, count, place);
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
                            emu_stream *stream)
{
    CUresult status = CUDA_SUCCESS;
    CUdevice place = -1;
    size_t next = 0;

    if (dptrs == NULL || sizes == NULL || prefetchLocs == NULL ||
        prefetchLocIdxs == NULL || flags != 0 || stream->is_null ||
        !managed_is_batch(prefetchLocIdxs, numPrefetchLocs, count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++) {
        if (next < numPrefetchLocs && prefetchLocIdxs[next] == i) {
            status = managed_place(&prefetchLocs[next++], &place);
        }
        if (status == CUDA_SUCCESS) {
            status = managed_prefetch(stream, dptrs[i], sizes[i], place);
        }
    }
    return status;
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
    return managed_advise(devPtr, count, advice, device);
}

CUresult
emu_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                   CUmemLocation location)
{
    CUdevice place;
    CUresult status = managed_place(&location, &place);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return managed_advise(devPtr, count, advice, place);
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
    if (data == NULL || !managed_has_range(devPtr, count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return managed_attribute(managed_find(devPtr), attribute, data, dataSize);
}

CUresult
emu_cuMemRangeGetAttributes(void **data, size_t *dataSizes,
                            CUmem_range_attribute *attributes, size_t numAttributes,
                            CUdeviceptr devPtr, size_t count)
{
    if (data == NULL || dataSizes == NULL || attributes == NULL || numAttributes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < numAttributes; i++) {
        CUresult status = emu_cuMemRangeGetAttribute(data[i], dataSizes[i],
                                                     attributes[i], devPtr, count);

        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    return CUDA_SUCCESS;
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
emu_cuStreamAttachMemAsync(emu_stream *stream, CUdeviceptr dptr, size_t length,
                           unsigned int flags)
{
    CUresult status = emu_capture_refuse(stream);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    return managed_attach(dptr, length, flags, stream->is_null);
}
