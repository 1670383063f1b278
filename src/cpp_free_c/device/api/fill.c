/* Filling memory with a value of one, two or four bytes, flat or row by row. */
#define _GNU_SOURCE
#include <string.h>

#include "device/api/entry.h"
#include "device/api/capture.h"
#include "device/api/context.h"
#include "device/api/copy.h"
#include "device/api/stream.h"
#include "device/machine/wait.h"

static void
fill_row(char *row, uint32_t value, size_t unit, size_t count)
{
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

typedef struct {
    uint64_t address;
    size_t pitch;
    uint32_t value;
    size_t unit, width, height, extent;
} fill_payload;

/* In the stream's turn. What was checked when the work was captured may be gone. */
static CUresult
run_fill(const void *payload, emu_context *context, emu_report *report)
{
    const fill_payload *p = payload;

    (void)report;
    if (!emu_is_device_range(p->address, p->extent)) {
        emu_context_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    for (size_t y = 0; y < p->height; y++) {
        fill_row((char *)(uintptr_t)(p->address + y * p->pitch), p->value, p->unit,
                 p->width);
    }
    return CUDA_SUCCESS;
}

static const emu_work fill_work = {.type = EMU_NODE_MEMSET, .run = run_fill};

/* `width` elements of `unit` bytes in each of `height` rows. As on a GPU also the forms
 * without Async need not wait. */
static CUresult
fill(emu_stream *stream, uint64_t address, size_t pitch, uint32_t value, size_t unit,
     size_t width, size_t height)
{
    fill_payload p = {.address = address,
                      .pitch = pitch,
                      .value = value,
                      .unit = unit,
                      .width = width,
                      .height = height};
    size_t row, rows;
    CUresult status;
    bool taken;
    int token;

    if (!stream) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (width == 0 || height == 0) {
        return CUDA_SUCCESS;
    }
    if (__builtin_mul_overflow(width, unit, &row) || (height > 1 && pitch < row) ||
        __builtin_mul_overflow(pitch, height - 1, &rows) ||
        __builtin_add_overflow(rows, row, &p.extent) || address % unit ||
        (height > 1 && pitch % unit) || !emu_is_device_range(address, p.extent)) {
        return emu_capture_failed(stream, CUDA_ERROR_INVALID_VALUE);
    }
    status = emu_capture_take(stream, &fill_work, &p, sizeof(p), &taken);
    if (status != CUDA_SUCCESS || taken) {
        return status;
    }
    token = emu_stream_begin(stream);
    if (token < 0) {
        return emu_wait_status();
    }
    for (size_t y = 0; y < height; y++) {
        fill_row((char *)(uintptr_t)(address + y * pitch), value, unit, width);
    }
    emu_stream_end(stream, token);
    return CUDA_SUCCESS;
}

#define FILL(bits, Type)                                                               \
    CUresult emu_cuMemsetD##bits(CUdeviceptr dstDevice, Type value, size_t N)          \
    {                                                                                  \
        emu_context *context;                                                          \
        CUresult status = EMU_ENTER_CONTEXT(MemsetD##bits, &context);                  \
                                                                                       \
        if (status == CUDA_SUCCESS) {                                                  \
            status = fill(context->null_stream, dstDevice, 0, value, bits / 8, N, 1);  \
        }                                                                              \
        return emu_leave(status);                                                      \
    }                                                                                  \
                                                                                       \
    CUresult emu_cuMemsetD##bits##Async(CUdeviceptr dstDevice, Type value, size_t N,   \
                                        CUstream hStream)                              \
    {                                                                                  \
        emu_context *context;                                                          \
        CUresult status = EMU_ENTER_STREAM(MemsetD##bits##Async, hStream, &context);   \
                                                                                       \
        if (status == CUDA_SUCCESS) {                                                  \
            status = fill(emu_stream_get(context, hStream), dstDevice, 0, value,       \
                          bits / 8, N, 1);                                             \
        }                                                                              \
        return emu_leave(status);                                                      \
    }                                                                                  \
                                                                                       \
    CUresult emu_cuMemsetD2D##bits(CUdeviceptr dstDevice, size_t dstPitch, Type value, \
                                   size_t Width, size_t Height)                        \
    {                                                                                  \
        emu_context *context;                                                          \
        CUresult status = EMU_ENTER_CONTEXT(MemsetD2D##bits, &context);                \
                                                                                       \
        if (status == CUDA_SUCCESS) {                                                  \
            status = fill(context->null_stream, dstDevice, dstPitch, value, bits / 8,  \
                          Width, Height);                                              \
        }                                                                              \
        return emu_leave(status);                                                      \
    }                                                                                  \
                                                                                       \
    CUresult emu_cuMemsetD2D##bits##Async(CUdeviceptr dstDevice, size_t dstPitch,      \
                                          Type value, size_t Width, size_t Height,     \
                                          CUstream hStream)                            \
    {                                                                                  \
        emu_context *context;                                                          \
        CUresult status = EMU_ENTER_STREAM(MemsetD2D##bits##Async, hStream, &context); \
                                                                                       \
        if (status == CUDA_SUCCESS) {                                                  \
            status = fill(emu_stream_get(context, hStream), dstDevice, dstPitch,       \
                          value, bits / 8, Width, Height);                             \
        }                                                                              \
        return emu_leave(status);                                                      \
    }

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned int)
