/* Kernel nodes of graphs: parameters and attributes. See launch_work.h. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "device/api/entry/context_stack.h"
#include "device/api/module/launch_work.h"
#include "device/api/stream/stream.h"

/* The function of a node: `func`, or `kern` in the node's context. A function runs in
 * its own context. */
static CUresult
kernel_node_function(emu_context *context, const CUDA_KERNEL_NODE_PARAMS *p,
                     emu_function **function)
{
    CUfunction handle = p->func;

    if (handle == NULL) {
        handle = (CUfunction)(void *)p->kern;
    }
    if (p->ctx != NULL && emu_context_get(p->ctx) != NULL) {
        context = emu_context_get(p->ctx);
    }
    return emu_function_find_in(context, handle, function);
}

CUresult
emu_kernel_node_from_params(emu_context *context, const CUgraphNodeParams *params,
                            emu_payload *out)
{
    const CUDA_KERNEL_NODE_PARAMS *p = &params->kernel;
    emu_function *function;
    const emu_launch_request request = {
        .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
        .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
        .shared = p->sharedMemBytes,
        .parameters = p->kernelParams,
        .extra = p->extra};
    emu_launch_payload *work;
    size_t size;
    CUresult status;

    status = kernel_node_function(context, p, &function);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    size = emu_launch_payload_size(function);
    work = calloc(1, size);
    if (work == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    status = emu_launch_fill(function, &request, work);
    if (status != CUDA_SUCCESS) {
        free(work);
        return status;
    }
    *out = (emu_payload){work, size};
    return CUDA_SUCCESS;
}

/* Write the array for `extra` behind the parameters: the markers, then the size. */
static void **
kernel_node_extra(emu_launch_payload *work, void **words)
{
    size_t *size = (size_t *)(void *)&words[EMU_LAUNCH_EXTRA_WORDS - 1];

    *size = work->launch.params_size;
    words[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    words[1] = work->parameters;
    words[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    words[3] = size;
    words[4] = CU_LAUNCH_PARAM_END;
    return words;
}

void
emu_kernel_node_describe(void *payload, CUgraphNodeParams *params)
{
    emu_launch_payload *work = payload;
    const emu_launch *launch = &work->launch;
    const size_t behind = emu_launch_round_up(launch->params_size);
    void **words = (void **)(void *)(work->parameters + behind);
    CUDA_KERNEL_NODE_PARAMS *p = &params->kernel;

    *p = (CUDA_KERNEL_NODE_PARAMS){.func = work->function,
                                   .gridDimX = launch->grid[0],
                                   .gridDimY = launch->grid[1],
                                   .gridDimZ = launch->grid[2],
                                   .blockDimX = launch->block[0],
                                   .blockDimY = launch->block[1],
                                   .blockDimZ = launch->block[2],
                                   .sharedMemBytes = (unsigned)launch->dynamic_shared,
                                   .ctx = work->context};
    if (work->packed) {
        p->extra = kernel_node_extra(work, words);
    }
    else if (emu_object_get_same(work->function, EMU_FUNCTION, work->serial) != NULL) {
        const emu_kernel_info *info = emu_kernel_get_info(launch->kernel);

        for (size_t i = 0; i < info->param_count; i++) {
            words[i] = work->parameters + info->params[i].offset;
        }
        p->kernelParams = words;
    }
}

CUgraphExecUpdateResult
emu_kernel_node_compare(const void *payload, const void *other, bool wide)
{
    const emu_launch_payload *work = payload, *wish = other;
    const emu_function *old =
        emu_object_get_same(work->function, EMU_FUNCTION, work->serial);

    if (old != NULL && old->object.context != wish->function->object.context) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    }
    if (wide && work->launch.cooperative != wish->launch.cooperative) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

void
emu_kernel_node_draw(const void *payload, FILE *file)
{
    const emu_launch *launch = &((const emu_launch_payload *)payload)->launch;

    (void)fprintf(file, "\\ngrid (%u,%u,%u) block (%u,%u,%u) shared %zu",
                  launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                  launch->block[1], launch->block[2], launch->dynamic_shared);
}

/* -- attributes -------------------------------------------------------------------- */

#define ATTRIBUTE(id, member)                                  \
    {                                                          \
        id, offsetof(emu_launch_attributes, member),           \
            sizeof(((const emu_launch_attributes *)0)->member) \
    }

/* The attributes of kernel nodes, by CUlaunchAttributeID. */
static const struct {
    CUlaunchAttributeID id;
    size_t offset, size;
} attributes[] = {
    ATTRIBUTE(1, access_window),  ATTRIBUTE(2, cooperative), ATTRIBUTE(4, cluster),
    ATTRIBUTE(5, cluster_policy), ATTRIBUTE(8, priority),    ATTRIBUTE(9, domain_map),
    ATTRIBUTE(10, domain),        ATTRIBUTE(14, carveout),
};

enum { ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

static size_t
attribute_find(CUlaunchAttributeID id)
{
    size_t row = 0;

    while (row < ATTRIBUTES && attributes[row].id != id) {
        row++;
    }
    return row;
}

CUresult
emu_kernel_node_get_attribute(const void *payload, CUlaunchAttributeID id,
                              CUlaunchAttributeValue *value)
{
    const emu_launch_payload *work = payload;
    const size_t row = attribute_find(id);

    if (row == ATTRIBUTES) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memset(value, 0, sizeof(*value));
    memcpy(value, (const char *)&work->attributes + attributes[row].offset,
           attributes[row].size);
    return CUDA_SUCCESS;
}

void
emu_launch_attribute_store(emu_launch_attributes *to,
                           const CUlaunchAttribute *attribute)
{
    const size_t row = attribute_find(attribute->id);

    if (row < ATTRIBUTES) {
        memcpy((char *)to + attributes[row].offset, &attribute->value,
               attributes[row].size);
    }
}

CUresult
emu_kernel_node_set_attribute(void *payload, CUlaunchAttributeID id,
                              const CUlaunchAttributeValue *value)
{
    emu_launch_payload *work = payload;
    const CUlaunchAttribute attribute = {.id = id, .value = *value};
    emu_launch_attributes wish = work->attributes;

    if (attribute_find(id) == ATTRIBUTES) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_object_get_same(work->function, EMU_FUNCTION, work->serial) == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    emu_launch_attribute_store(&wish, &attribute);
    wish.priority = emu_stream_clamp_priority(wish.priority);
    return emu_launch_apply(work, &wish);
}

CUresult
emu_kernel_node_copy_attributes(void *payload, const void *from)
{
    emu_launch_payload *work = payload;

    if (emu_object_get_same(work->function, EMU_FUNCTION, work->serial) == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return emu_launch_apply(work, &((const emu_launch_payload *)from)->attributes);
}
