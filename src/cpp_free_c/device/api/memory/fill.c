/* The calls that fill memory with a value of one, two or four bytes, flat or in rows.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "device/memory/memory.h"
#include "device/sync_check/stream_check.h"
#include "device/machine/grid/execution.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/context_stack.h"
#include "device/api/memory/copy.h"
#include "device/api/memory/graph_memory.h"
#include "device/api/entry/entry.h"
#include "device/api/stream/stream.h"

static void
fill_row(char *row, uint32_t value, size_t unit, size_t count)
{
    emu_shadow_note_write((uintptr_t)row, unit * count);
    if (unit == 1) {
        memset(row, (int)value, count);
    }
    else if (unit == 2) {
        uint16_t *at = (uint16_t *)(void *)row;

        for (size_t i = 0; i < count; i++) {
            at[i] = (uint16_t)value;
        }
    }
    else {
        uint32_t *at = (uint32_t *)(void *)row;

        for (size_t i = 0; i < count; i++) {
            at[i] = value;
        }
    }
}

/* `width` elements of `unit` bytes in each of `height` rows. */
typedef struct {
    uint64_t address;
    size_t pitch;
    uint32_t value;
    size_t unit, width, height;
    size_t extent; /* bytes from the first to the last */
} fill_payload;

static void
fill_rows(const fill_payload *p)
{
    for (size_t y = 0; y < p->height; y++) {
        fill_row((char *)(uintptr_t)(p->address + y * p->pitch), p->value, p->unit,
                 p->width);
    }
}

static void
fill_use(const void *payload, emu_operation *operation)
{
    const fill_payload *p = payload;

    for (size_t y = 0; emu_operation_is_open(operation) && y < p->height; y++) {
        emu_operation_fill(operation, p->address + y * p->pitch, p->width * p->unit,
                           p->value, (unsigned)p->unit);
    }
}

/* Fill in the stream's turn. The memory may have been freed since the call
 * checked it. */
static CUresult
fill_run(const void *payload, emu_context *context, emu_report *report)
{
    const fill_payload *p = payload;
    CUresult status;

    if (!emu_is_device_range(p->address, p->extent)) {
        emu_context_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    fill_use(p, emu_operation_present());
    status = emu_copy_check_held("a fill", p->address, p->width * p->unit * p->height,
                                 context, report);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    fill_rows(p);
    return CUDA_SUCCESS;
}

static void
fill_describe(void *payload, CUgraphNodeParams *params)
{
    const fill_payload *p = payload;

    params->memset = (CUDA_MEMSET_NODE_PARAMS_v2){.dst = p->address,
                                                  .pitch = p->pitch,
                                                  .value = p->value,
                                                  .elementSize = (unsigned)p->unit,
                                                  .width = p->width,
                                                  .height = p->height};
}

static CUgraphExecUpdateResult
fill_compare(const void *payload, const void *other, bool wide)
{
    const fill_payload *old = payload, *wish = other;

    (void)wide;
    if (old->height != wish->height ||
        (old->height > 1 && (old->width != wish->width || old->pitch != wish->pitch ||
                             old->unit != wish->unit))) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static void
fill_draw(const void *payload, FILE *file)
{
    const fill_payload *p = payload;

    (void)fprintf(file, "\\nvalue %u, %zu x %zu of %zu bytes", p->value, p->width,
                  p->height, p->unit);
}

const emu_work emu_fill_work = {.type = CU_GRAPH_NODE_TYPE_MEMSET,
                                .use = fill_use,
                                .uses_are_exact = true,
                                .run = fill_run,
                                .describe = fill_describe,
                                .compare = fill_compare,
                                .draw = fill_draw};

/* Compute the extent. False if it overflows, if rows overlap, if an element is not
 * aligned, or if the memory is not the device's. `later`: memory of a graph need not be
 * live yet. */
static bool
fill_check(fill_payload *p, bool later)
{
    size_t row, rows;

    if (__builtin_mul_overflow(p->width, p->unit, &row) ||
        __builtin_mul_overflow(p->pitch, p->height - 1, &rows) ||
        __builtin_add_overflow(rows, row, &p->extent)) {
        return false;
    }
    if (p->height > 1 && (p->pitch < row || p->pitch % p->unit != 0)) {
        return false;
    }
    return p->address % p->unit == 0 &&
           (emu_is_device_range(p->address, p->extent) ||
            (later && emu_graph_memory_holds(p->address, p->extent)));
}

CUresult
emu_fill_node_make(emu_context *context, const CUgraphNodeParams *params,
                   emu_payload *out)
{
    const CUDA_MEMSET_NODE_PARAMS_v2 *given = &params->memset;
    fill_payload *p;

    (void)context; /* the address says which device takes part */
    if (given->elementSize != 1 && given->elementSize != 2 && given->elementSize != 4) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    p = calloc(1, sizeof(*p));
    if (p == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *p = (fill_payload){.address = given->dst,
                        .pitch = given->pitch,
                        .value = given->value,
                        .unit = given->elementSize,
                        .width = given->width,
                        .height = given->height};
    if (p->width == 0 || p->height == 0 || !fill_check(p, true)) {
        free(p);
        return CUDA_ERROR_INVALID_VALUE;
    }
    *out = (emu_payload){p, sizeof(*p)};
    return CUDA_SUCCESS;
}

/* As on a GPU, the forms without Async need not wait either. */
static CUresult
fill_enqueue(emu_stream *stream, fill_payload p, emu_submit how)
{
    if (p.width == 0 || p.height == 0) {
        return CUDA_SUCCESS;
    }
    if (!fill_check(&p, emu_capture_is_active(stream))) {
        return emu_capture_failed(stream, CUDA_ERROR_INVALID_VALUE);
    }
    return emu_queue_submit(stream, &emu_fill_work, &p, sizeof(p), how);
}

/* Fill memory in a call that waits. The default stream of a thread may be capturing,
 * which forbids that. */
static CUresult
fill_now(emu_stream *stream, fill_payload p)
{
    CUresult status = emu_capture_refuse(stream);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = fill_enqueue(stream, p, EMU_SUBMIT_PROMPTLY);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    /* A GPU need not wait, but programs count on it, and no fault is known. */
    emu_host_awaits_lane(stream->lane);
    return CUDA_SUCCESS;
}

/* `columns` elements in each of `rows` rows, which are `distance` bytes apart. */
#define FILL_PAYLOAD(columns, distance, rows, bytes) \
    ((fill_payload){.address = dstDevice,            \
                    .pitch = distance,               \
                    .value = value,                  \
                    .unit = bytes,                   \
                    .width = columns,                \
                    .height = rows})

#define FILL(bits, Type)                                                             \
    CUresult emu_cuMemsetD##bits(emu_stream *stream, CUdeviceptr dstDevice,          \
                                 Type value, size_t N)                               \
    {                                                                                \
        return fill_now(stream, FILL_PAYLOAD(N, 0, 1, bits / 8));                    \
    }                                                                                \
                                                                                     \
    CUresult emu_cuMemsetD##bits##Async(CUdeviceptr dstDevice, Type value, size_t N, \
                                        emu_stream *stream)                          \
    {                                                                                \
        return fill_enqueue(stream, FILL_PAYLOAD(N, 0, 1, bits / 8), EMU_SUBMIT);    \
    }                                                                                \
                                                                                     \
    CUresult emu_cuMemsetD2D##bits(emu_stream *stream, CUdeviceptr dstDevice,        \
                                   size_t dstPitch, Type value, size_t Width,        \
                                   size_t Height)                                    \
    {                                                                                \
        return fill_now(stream, FILL_PAYLOAD(Width, dstPitch, Height, bits / 8));    \
    }                                                                                \
                                                                                     \
    CUresult emu_cuMemsetD2D##bits##Async(CUdeviceptr dstDevice, size_t dstPitch,    \
                                          Type value, size_t Width, size_t Height,   \
                                          emu_stream *stream)                        \
    {                                                                                \
        return fill_enqueue(stream, FILL_PAYLOAD(Width, dstPitch, Height, bits / 8), \
                            EMU_SUBMIT);                                             \
    }

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned int)
