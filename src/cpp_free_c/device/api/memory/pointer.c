/* The calls on pointers: what a pointer points to. */
#include <string.h>

#include "device/memory/memory.h"
#include "device/api/entry/entry.h"
#include "device/api/memory/pool.h"

/* CUpointer_attribute values beyond those of the ABI header. */
enum {
    HOST_POINTER = 4,
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
pointer_is_host(const emu_allocation *found)
{
    return found->kind == EMU_MEMORY_HOST || found->kind == EMU_MEMORY_REGISTERED;
}

/* The facts about a pointer, one function a value. Each stores the value and returns
 * true, or returns false if the allocation has none. */
typedef union {
    uint64_t pointer;
    unsigned int word;
    int number;
    unsigned char flag;
} pointer_value;

typedef bool (*pointer_fact)(const emu_allocation *found, uint64_t address,
                             pointer_value *value);

#define FACT(name, member, expression)                                     \
    static bool fact_##name(const emu_allocation *found, uint64_t address, \
                            pointer_value *value)                          \
    {                                                                      \
        (void)found;                                                       \
        (void)address;                                                     \
        value->member = expression;                                        \
        return true;                                                       \
    }

FACT(context, pointer, (uintptr_t)found->context)
FACT(memory_type, word,
     pointer_is_host(found) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE)
FACT(device_pointer, pointer, address)
FACT(serial, pointer, found->serial)
FACT(is_managed, flag, found->kind == EMU_MEMORY_MANAGED)
FACT(device, number, found->device)
FACT(ipc, flag, found->kind == EMU_MEMORY_DEVICE || found->kind == EMU_MEMORY_PITCHED)
FACT(start, pointer, found->base)
FACT(size, pointer, found->size + found->unused)
FACT(yes, flag, 1)
FACT(no, flag, 0)
FACT(no_handle_types, pointer, 0)
FACT(read_and_write, word, 3)

#undef FACT

static bool
fact_host_pointer(const emu_allocation *found, uint64_t address, pointer_value *value)
{
    value->pointer = address;
    return pointer_is_host(found) || found->kind == EMU_MEMORY_MANAGED;
}

static bool
fact_pool(const emu_allocation *found, uint64_t address, pointer_value *value)
{
    (void)address;
    value->pointer = (uintptr_t)found->owner;
    return emu_pool_has(found);
}

/* How many bytes of a value the caller's variable takes. Attributes that CUDA calls
 * "boolean" are one byte: it fits a bool, and an int that the caller set to 0. */
enum { POINTER = 8, WORD = 4, FLAG = 1 };

/* P2P_TOKENS is missing: there is no driver that could use them. */
static const struct {
    CUpointer_attribute attribute;
    unsigned char size;
    pointer_fact fact;
} pointer_attributes[] = {
    {CU_POINTER_ATTRIBUTE_CONTEXT, POINTER, fact_context},
    {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, WORD, fact_memory_type},
    {CU_POINTER_ATTRIBUTE_DEVICE_POINTER, POINTER, fact_device_pointer},
    {HOST_POINTER, POINTER, fact_host_pointer},
    {SYNC_MEMOPS, FLAG, fact_yes}, /* a copy never runs behind its call */
    {BUFFER_ID, POINTER, fact_serial},
    {CU_POINTER_ATTRIBUTE_IS_MANAGED, FLAG, fact_is_managed},
    {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, WORD, fact_device},
    {IPC_CAPABLE, FLAG, fact_ipc},
    {RANGE_START, POINTER, fact_start},
    {RANGE_SIZE, POINTER, fact_size},
    {MAPPED, FLAG, fact_yes},
    {HANDLE_TYPES, POINTER, fact_no_handle_types},
    {RDMA_CAPABLE, FLAG, fact_no},
    {ACCESS_FLAGS, WORD, fact_read_and_write},
    {MEMPOOL_HANDLE, POINTER, fact_pool},
    {MAPPING_SIZE, POINTER, fact_size},
    {MAPPING_BASE, POINTER, fact_start},
    {MEMORY_BLOCK_ID, POINTER, fact_serial},
    {DECOMPRESS_CAPABLE, FLAG, fact_no},
};

enum { ATTRIBUTES = sizeof(pointer_attributes) / sizeof(pointer_attributes[0]) };

/* The row of an attribute; ATTRIBUTES for an unknown one. */
static size_t
pointer_find_row(CUpointer_attribute attribute)
{
    size_t row = 0;

    while (row < ATTRIBUTES && pointer_attributes[row].attribute != attribute) {
        row++;
    }
    return row;
}

/* Store the value of a row. False if the pointer (`found` may be NULL) has none. */
static bool
pointer_store(void *data, size_t row, uint64_t address, const emu_allocation *found)
{
    pointer_value value = {0};

    if (found == NULL || !pointer_attributes[row].fact(found, address, &value)) {
        return false;
    }
    memcpy(data, &value, pointer_attributes[row].size); /* `data` may be unaligned */
    return true;
}

CUresult
emu_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    const size_t row = pointer_find_row(attribute);

    if (data == NULL || row == ATTRIBUTES ||
        !pointer_store(data, row, ptr, emu_memory_holding(ptr, 1))) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* Store what an attribute is where it has no value: zeros, and -2 for the device. */
static void
pointer_store_nothing(void *data, size_t row)
{
    pointer_value value = {0};

    if (pointer_attributes[row].attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
        value.number = -2;
    }
    memcpy(data, &value, pointer_attributes[row].size);
}

/* Unlike the single form, this one succeeds for any pointer. */
CUresult
emu_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                           void **data, CUdeviceptr ptr)
{
    const emu_allocation *found = emu_memory_holding(ptr, 1);

    if (numAttributes == 0 || attributes == NULL || data == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; i < numAttributes; i++) {
        if (data[i] == NULL || pointer_find_row(attributes[i]) == ATTRIBUTES) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    for (unsigned int i = 0; i < numAttributes; i++) {
        const size_t row = pointer_find_row(attributes[i]);

        if (!pointer_store(data[i], row, ptr, found)) {
            pointer_store_nothing(data[i], row);
        }
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                          CUdeviceptr ptr)
{
    if (value == NULL || attribute != SYNC_MEMOPS ||
        emu_memory_holding(ptr, 1) == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
