/* What a pointer points to: cuPointerGetAttribute and its kin. */
#include <string.h>

#include "device/api/entry.h"
#include "device/api/context.h"

/* CUpointer_attribute values beyond those of the ABI header. */
enum {
    HOST_POINTER = 4,
    P2P_TOKENS = 5,
    SYNC_MEMOPS = 6,
    BUFFER_ID = 7,
    IPC_CAPABLE = 10,
    RANGE_START = 11,
    RANGE_SIZE = 12,
    MAPPED = 13,
    HANDLE_TYPES = 14,
    RDMA_CAPABLE = 15,
    ACCESS_FLAGS = 16,
    MEMPOOL_HANDLE = 17,
    MAPPING_SIZE = 18,
    MAPPING_BASE = 19,
    MEMORY_BLOCK_ID = 20,
    DECOMPRESS_CAPABLE = 21
};

static bool
is_host(const emu_allocation *found)
{
    return found->kind == EMU_MEMORY_HOST || found->kind == EMU_MEMORY_REGISTERED;
}

static void
put(void *data, const void *value, size_t size)
{
    memcpy(data, value, size); /* the caller's variable may be of any alignment */
}

static void
put_pointer(void *data, uint64_t value)
{
    put(data, &value, sizeof(value));
}

static void
put_word(void *data, unsigned int value)
{
    put(data, &value, sizeof(value));
}

/* A "boolean" of unsaid width: one byte fits a bool, and an int that was 0 before. */
static void
put_flag(void *data, bool value)
{
    unsigned char byte = value;

    put(data, &byte, sizeof(byte));
}

static CUresult
get_known(void *data, CUpointer_attribute attribute, uint64_t address,
          const emu_allocation *found)
{
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            put(data, &found->context, sizeof(found->context));
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            put_word(data, is_host(found) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            put_pointer(data, address);
            return CUDA_SUCCESS;
        case HOST_POINTER:
            if (!is_host(found) && found->kind != EMU_MEMORY_MANAGED) {
                return CUDA_ERROR_INVALID_VALUE;
            }
            put_pointer(data, address);
            return CUDA_SUCCESS;
        case SYNC_MEMOPS:
            put_flag(data, true); /* copies never run behind */
            return CUDA_SUCCESS;
        case BUFFER_ID:
        case MEMORY_BLOCK_ID:
            put_pointer(data, found->serial);
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            put_flag(data, found->kind == EMU_MEMORY_MANAGED);
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            put(data, &found->device, sizeof(found->device));
            return CUDA_SUCCESS;
        case IPC_CAPABLE:
            put_flag(data, found->kind == EMU_MEMORY_DEVICE ||
                               found->kind == EMU_MEMORY_PITCHED);
            return CUDA_SUCCESS;
        case RANGE_START:
        case MAPPING_BASE:
            put_pointer(data, found->base);
            return CUDA_SUCCESS;
        case RANGE_SIZE:
        case MAPPING_SIZE:
            put_pointer(data, found->size);
            return CUDA_SUCCESS;
        case MAPPED:
            put_flag(data, true);
            return CUDA_SUCCESS;
        case HANDLE_TYPES:
            put_pointer(data, 0);
            return CUDA_SUCCESS;
        case RDMA_CAPABLE:
        case DECOMPRESS_CAPABLE:
            put_flag(data, false);
            return CUDA_SUCCESS;
        case ACCESS_FLAGS:
            put_word(data, 3); /* read and write */
            return CUDA_SUCCESS;
        case MEMPOOL_HANDLE:
            if (found->kind != EMU_MEMORY_POOLED) {
                return CUDA_ERROR_INVALID_VALUE;
            }
            put(data, &found->owner, sizeof(found->owner));
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE; /* P2P_TOKENS too: there is no such driver
                                              */
    }
}

CUresult
emu_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    emu_context *context;
    CUresult status = EMU_ENTER_MEMORY(PointerGetAttribute, ptr, &context);

    if (status == CUDA_SUCCESS) {
        const emu_allocation *found = emu_memory_check(ptr, 1);

        status = data && found ? get_known(data, attribute, ptr, found)
                               : CUDA_ERROR_INVALID_VALUE;
    }
    return emu_leave(status);
}

/* Bytes of an attribute's value; 0 for an unknown one. */
static size_t
size_of(CUpointer_attribute attribute)
{
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        case HOST_POINTER:
        case BUFFER_ID:
        case RANGE_START:
        case RANGE_SIZE:
        case HANDLE_TYPES:
        case MEMPOOL_HANDLE:
        case MAPPING_SIZE:
        case MAPPING_BASE:
        case MEMORY_BLOCK_ID:
            return 8;
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        case ACCESS_FLAGS:
            return 4;
        case SYNC_MEMOPS:
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        case IPC_CAPABLE:
        case MAPPED:
        case RDMA_CAPABLE:
        case DECOMPRESS_CAPABLE:
            return 1;
        default:
            return 0;
    }
}

/* What an attribute is where it has no value: zeros, but for the device. */
static void
put_nothing(void *data, CUpointer_attribute attribute)
{
    int no_device = -2;

    if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
        put(data, &no_device, sizeof(no_device));
    }
    else {
        memset(data, 0, size_of(attribute));
    }
}

/* Unlike the single form, this one succeeds for any pointer. */
CUresult
emu_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                           void **data, CUdeviceptr ptr)
{
    emu_context *context;
    CUresult status = EMU_ENTER_MEMORY(PointerGetAttributes, ptr, &context);

    if (status == CUDA_SUCCESS && (numAttributes == 0 || !attributes || !data)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; status == CUDA_SUCCESS && i < numAttributes; i++) {
        if (!data[i] || !size_of(attributes[i])) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (status == CUDA_SUCCESS) {
        const emu_allocation *found = emu_memory_check(ptr, 1);

        for (unsigned int i = 0; i < numAttributes; i++) {
            if (!found ||
                get_known(data[i], attributes[i], ptr, found) != CUDA_SUCCESS) {
                put_nothing(data[i], attributes[i]);
            }
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                          CUdeviceptr ptr)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(PointerSetAttribute, &context);

    if (status == CUDA_SUCCESS &&
        (!value || attribute != SYNC_MEMOPS || !emu_memory_check(ptr, 1))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    return emu_leave(status);
}
