/* Memory of graphs. See graph_memory.h. */
#define _GNU_SOURCE
#include "device/api/memory/graph_memory.h"

#include <stdlib.h>
#include <string.h>

#include "device/api/entry/capture.h"
#include "device/api/entry/queue.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"

typedef struct {
    emu_allocation *record; /* NULL once its context has ended */
    uint64_t address;
    bool live;
    size_t holders; /* payloads, and one while it is live */
    uint64_t owner; /* serial of the graph that has the allocation node; 0: none yet */
    bool freed_by_owner, freed_by_other; /* a free node of such a graph exists */
} graph_memory;

typedef struct {
    graph_memory *memory;
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    CUmemAccessDesc access[];
} alloc_payload;

typedef struct {
    graph_memory *memory;
    bool inside; /* the allocation node is in the same graph */
} free_payload;

/* Bytes on a device; guarded by the API lock. As on a GPU, memory counts as used from
 * the launch that first needs it until cuDeviceGraphMemTrim. */
typedef struct {
    uint64_t live, used, high[2];
} account;

static account accounts[EMU_MAX_DEVICES];
static size_t live_count; /* guarded by the API lock */

/* -- records ----------------------------------------------------------------------- */

static graph_memory *
memory_new(emu_context *context, int device, size_t size)
{
    const emu_memory_request request = {.kind = EMU_MEMORY_GRAPH_NODE,
                                        .size = size,
                                        .device = device,
                                        .context = context};
    graph_memory *memory = calloc(1, sizeof(*memory));

    if (memory == NULL) {
        return NULL;
    }
    if (emu_memory_allocate(&request, &memory->record) != CUDA_SUCCESS) {
        free(memory);
        return NULL;
    }
    memory->record->owner = memory;
    memory->address = memory->record->base;
    emu_memory_suspend(memory->record);
    return memory;
}

static void
memory_release(graph_memory *memory)
{
    memory->holders--;
    if (memory->holders > 0) {
        return;
    }
    if (memory->record != NULL) {
        (void)emu_memory_free(memory->record); /* only this frees it */
    }
    free(memory);
}

/* The memory at whose first byte an address is, live or not; NULL: none. */
static graph_memory *
memory_at(uint64_t address)
{
    const emu_allocation *record = emu_memory_find(address);

    if (record == NULL || record->kind != EMU_MEMORY_GRAPH_NODE ||
        record->base != address || (!emu_memory_live(record) && !record->suspended)) {
        return NULL;
    }
    return record->owner;
}

bool
emu_graph_memory_holds(uint64_t address, size_t bytes)
{
    const emu_allocation *record = emu_memory_find(address);

    return record != NULL && record->kind == EMU_MEMORY_GRAPH_NODE &&
           (emu_memory_live(record) || record->suspended) && bytes <= record->size &&
           address - record->base <= record->size - bytes;
}

static CUresult
memory_begin(graph_memory *memory)
{
    account *of;

    if (memory->record == NULL) {
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    if (!emu_memory_resume(memory->record)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    of = &accounts[memory->record->device];
    memory->live = true;
    memory->holders++;
    live_count++;
    of->live += memory->record->charged;
    if (of->live > of->used) {
        of->used = of->live;
    }
    for (size_t i = 0; i < 2; i++) {
        if (of->used > of->high[i]) {
            of->high[i] = of->used;
        }
    }
    return CUDA_SUCCESS;
}

static void
memory_end(graph_memory *memory)
{
    accounts[memory->record->device].live -= memory->record->charged;
    memory->live = false;
    live_count--;
    emu_memory_suspend(memory->record);
    memory_release(memory);
}

bool
emu_graph_memory_end(emu_allocation *allocation)
{
    graph_memory *memory = allocation->owner;

    if (!memory->live) {
        return false;
    }
    memory_end(memory);
    return true;
}

void
emu_graph_memory_forget(const emu_allocation *allocation)
{
    graph_memory *memory = allocation->owner;

    memory->record = NULL; /* nodes of a graph in another context may keep the rest */
    if (memory->live) {
        accounts[allocation->device].live -= allocation->charged;
        live_count--;
        memory->live = false;
        memory->holders--;
    }
    if (memory->holders == 0) {
        free(memory);
    }
}

size_t
emu_graph_memory_count(void)
{
    return live_count;
}

/* -- allocation nodes -------------------------------------------------------------- */

static void
alloc_hold(const void *payload)
{
    ((const alloc_payload *)payload)->memory->holders++;
}

static void
alloc_drop(const void *payload)
{
    memory_release(((const alloc_payload *)payload)->memory);
}

/* What the last launch allocated must have been freed. */
static CUresult
alloc_begin(const void *payload)
{
    const graph_memory *memory = ((const alloc_payload *)payload)->memory;

    if (memory->record == NULL) {
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    if (memory->live) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult
alloc_run(const void *payload, emu_context *context, emu_report *report)
{
    CUresult status;

    (void)context;
    (void)report;
    emu_lock();
    status = memory_begin(((const alloc_payload *)payload)->memory);
    emu_unlock();
    return status;
}

static void
alloc_describe(void *payload, CUgraphNodeParams *params)
{
    alloc_payload *p = payload;

    params->alloc = p->params;
    params->alloc.accessDescs = NULL;
    if (p->params.accessDescCount > 0) {
        params->alloc.accessDescs = p->access;
    }
}

static CUgraphExecUpdateResult
alloc_compare(const void *payload, const void *other, bool wide)
{
    const alloc_payload *old = payload, *wish = other;

    (void)wide;
    if (old->memory != wish->memory) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static void
alloc_draw(const void *payload, FILE *file)
{
    const alloc_payload *p = payload;

    (void)fprintf(file, "\\n%zu bytes at 0x%llx", p->params.bytesize, p->params.dptr);
}

const emu_work emu_alloc_work = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                                 .begin = alloc_begin,
                                 .run = alloc_run,
                                 .hold = alloc_hold,
                                 .drop = alloc_drop,
                                 .describe = alloc_describe,
                                 .compare = alloc_compare,
                                 .draw = alloc_draw};

/* Find the devices that may use an allocation. */
static CUresult
alloc_access(const CUDA_MEM_ALLOC_NODE_PARAMS *p, uint64_t *devices)
{
    if (p->accessDescCount > (size_t)emu_device_count ||
        (p->accessDescs == NULL && p->accessDescCount > 0)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < p->accessDescCount; i++) {
        const CUmemLocation *place = &p->accessDescs[i].location;

        if (place->type != CU_MEM_LOCATION_TYPE_DEVICE ||
            emu_device_get(place->id) == NULL) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *devices |= (uint64_t)1 << place->id;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_alloc_node_make(emu_context *context, CUgraphNodeParams *params, emu_payload *out)
{
    CUDA_MEM_ALLOC_NODE_PARAMS *p = &params->alloc;
    const size_t access = p->accessDescCount * sizeof(CUmemAccessDesc);
    uint64_t devices = 0;

    if (p->bytesize == 0 || p->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        p->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        emu_device_get(p->poolProps.location.id) == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = alloc_access(p, &devices);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (p->poolProps.handleTypes != 0) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    alloc_payload *made = calloc(1, sizeof(*made) + access);
    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->memory = memory_new(context, p->poolProps.location.id, p->bytesize);
    if (made->memory == NULL) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->memory->record->devices |= devices;
    p->dptr = made->memory->address;
    made->params = *p;
    if (access > 0) {
        memcpy(made->access, p->accessDescs, access);
    }
    made->memory->holders++;
    *out = (emu_payload){made, sizeof(*made) + access};
    return CUDA_SUCCESS;
}

void
emu_graph_memory_free_left(const void *payload)
{
    graph_memory *memory = ((const alloc_payload *)payload)->memory;

    if (memory->live) {
        memory_end(memory);
    }
}

/* -- free nodes -------------------------------------------------------------------- */

static void
free_hold(const void *payload)
{
    ((const free_payload *)payload)->memory->holders++;
}

static void
free_drop(const void *payload)
{
    memory_release(((const free_payload *)payload)->memory);
}

static CUresult
free_begin(const void *payload)
{
    const free_payload *p = payload;

    if (!p->inside && !p->memory->live) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult
graph_free_run(const void *payload, emu_context *context, emu_report *report)
{
    graph_memory *memory = ((const free_payload *)payload)->memory;

    (void)context;
    (void)report;
    emu_lock();
    if (memory->live) {
        memory_end(memory);
    }
    emu_unlock();
    return CUDA_SUCCESS;
}

static void
free_describe(void *payload, CUgraphNodeParams *params)
{
    const free_payload *p = payload;

    params->free = (CUDA_MEM_FREE_NODE_PARAMS){p->memory->address};
}

static CUgraphExecUpdateResult
free_compare(const void *payload, const void *other, bool wide)
{
    const free_payload *old = payload, *wish = other;

    (void)wide;
    if (old->memory != wish->memory) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

const emu_work emu_free_work = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE,
                                .begin = free_begin,
                                .run = graph_free_run,
                                .hold = free_hold,
                                .drop = free_drop,
                                .describe = free_describe,
                                .compare = free_compare};

CUresult
emu_free_node_make(const emu_graph *graph, const CUgraphNodeParams *params,
                   emu_payload *out)
{
    graph_memory *memory = memory_at(params->free.dptr);
    free_payload *made;
    bool inside;

    if (memory == NULL || memory->freed_by_owner) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    inside = memory->owner == graph->object.serial;
    if (inside && memory->freed_by_other) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    made = malloc(sizeof(*made));
    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = (free_payload){memory, inside};
    memory->holders++;
    *out = (emu_payload){made, sizeof(*made)};
    return CUDA_SUCCESS;
}

void
emu_memory_node_added(const emu_node *node)
{
    if (node->work == &emu_alloc_work) {
        const alloc_payload *p = node->payload.data;

        p->memory->owner = node->graph->object.serial;
    }
    if (node->work == &emu_free_work) {
        const free_payload *p = node->payload.data;

        p->memory->freed_by_owner |= p->inside;
        p->memory->freed_by_other |= !p->inside;
    }
}

/* -- captures ---------------------------------------------------------------------- */

/* Add a node with the payload to the capture of a stream, and free the payload. */
static CUresult
capture_node(emu_stream *stream, const emu_work *work, emu_payload payload)
{
    CUresult status =
        emu_queue_submit(stream, work, payload.data, payload.size, EMU_SUBMIT);

    if (status == CUDA_SUCCESS) {
        emu_memory_node_added(stream->place.after.nodes[0]);
    }
    work->drop(payload.data);
    free(payload.data);
    return status;
}

CUresult
emu_graph_memory_capture_alloc(emu_context *context, emu_stream *stream, size_t size,
                               CUdeviceptr *out)
{
    CUgraphNodeParams params = {.alloc = {.bytesize = size}};
    emu_payload payload;

    params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.alloc.poolProps.location.id = context->device->ordinal;
    CUresult status = emu_alloc_node_make(context, &params, &payload);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = capture_node(stream, &emu_alloc_work, payload);
    if (status != CUDA_SUCCESS) {
        return status; /* as on an H200, the capture stays as it is */
    }
    *out = params.alloc.dptr;
    return CUDA_SUCCESS;
}

CUresult
emu_graph_memory_capture_free(emu_stream *stream, CUdeviceptr address)
{
    const CUgraphNodeParams params = {.free = {address}};
    const emu_graph *graph = emu_capture_graph(stream);
    emu_payload payload;

    if (graph == NULL) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    CUresult status = emu_free_node_make(graph, &params, &payload);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return capture_node(stream, &emu_free_work, payload);
}

/* -- accounts ---------------------------------------------------------------------- */

CUresult
emu_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                 void *value)
{
    if (value == NULL || attr > 3) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const account *of = &accounts[device];
    const uint64_t values[] = {of->used, of->high[0], of->used, of->high[1]};

    memcpy(value, &values[attr], sizeof(values[attr]));
    return CUDA_SUCCESS;
}

/* Only the high marks may be set, and only to 0: they become the present values. */
CUresult
emu_cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                 void *value)
{
    uint64_t wish = 1;

    if (value != NULL) {
        memcpy(&wish, value, sizeof(wish));
    }
    if (wish != 0 || (attr != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH &&
                      attr != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    accounts[device].high[attr / 2] = accounts[device].used;
    return CUDA_SUCCESS;
}

CUresult
emu_cuDeviceGraphMemTrim(CUdevice device)
{
    accounts[device].used = accounts[device].live;
    return CUDA_SUCCESS;
}
