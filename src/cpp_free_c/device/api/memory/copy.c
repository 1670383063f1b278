/* Checking ranges, enqueueing and moving boxes; a flat range is a box, too. See copy.h.
 *
 * If memory is freed before its copy runs, the context fails. */
#define _GNU_SOURCE
#include "device/api/memory/copy.h"

#include <stdio.h>
#include <string.h>

#include "device/base/checks.h"
#include "device/base/warnings.h"
#include "device/sync_check/stream_check.h"
#include "device/memory/memory.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/context_stack.h"
#include "device/api/memory/graph_memory.h"
#include "device/api/stream/stream.h"

/* The end of the addresses that a program can have, on every processor supported. */
#define HOST_END (UINT64_C(1) << 57)

bool
emu_copy_is_ours(uint64_t address)
{
    return address - emu_memory_tables.base < emu_memory_tables.size;
}

bool
emu_is_device_range(uint64_t address, size_t bytes)
{
    const emu_allocation *found = emu_memory_find(address);

    /* Kernels may use what the size was rounded up to (emu_memory_use_rest), or less
     * (emu_allocation_lend). A driver compares copies with the size of the allocation.
     */
    return found != NULL && emu_memory_live(found) && address >= found->base &&
           bytes <= found->size + found->unused &&
           address - found->base <= found->size + found->unused - bytes;
}

bool
emu_is_host_range(uint64_t address, size_t bytes)
{
    const emu_allocation *found;

    if (!emu_copy_is_ours(address)) {
        return address != 0 && address < HOST_END && bytes <= HOST_END - address;
    }
    found = emu_memory_holding(address, bytes);
    return found != NULL &&
           (found->kind == EMU_MEMORY_HOST || found->kind == EMU_MEMORY_MANAGED);
}

bool
emu_copy_is_range(emu_copy_kind kind, uint64_t address, size_t bytes)
{
    switch (kind) {
        case EMU_COPY_HOST:
            return emu_is_host_range(address, bytes);
        case EMU_COPY_DEVICE:
            return emu_is_device_range(address, bytes);
        default:
            return emu_is_device_range(address, bytes) ||
                   emu_is_host_range(address, bytes);
    }
}

bool
emu_copy_check(const emu_copy_box *box, emu_copy_kind kind, uint64_t address,
               size_t bytes)
{
    return emu_copy_is_range(kind, address, bytes) ||
           (box->later && kind != EMU_COPY_HOST &&
            emu_graph_memory_holds(address, bytes));
}

enum { MOVE_BYTES = 1 << 25 }; /* between two polls for signals */

/* Move bytes, in chunks unless the ranges overlap. *left counts down to the next poll.
 * False: a signal ended the copy. */
static bool
copy_move_bytes(char *target, const char *source, size_t bytes, size_t *left)
{
    const bool overlap = target < source + bytes && source < target + bytes;

    while (bytes > 0) {
        size_t chunk = bytes;

        if (!overlap && chunk > *left) {
            chunk = *left;
        }
        memmove(target, source, chunk);
        emu_shadow_note_copy((uintptr_t)target, (uintptr_t)source, chunk);
        target += chunk;
        source += chunk;
        bytes -= chunk;
        if (chunk < *left) {
            *left -= chunk;
            continue;
        }
        *left = MOVE_BYTES;
        if (emu_wait_poll_due()) {
            return false;
        }
    }
    return true;
}

static CUresult
copy_move(const emu_copy_box *b)
{
    size_t left = MOVE_BYTES;

    for (size_t z = 0; z < b->depth; z++) {
        const char *source =
            (const char *)(uintptr_t)(b->source.start + z * b->source.slice);
        char *target = (char *)(uintptr_t)(b->target.start + z * b->target.slice);
        size_t rows = b->height, bytes = b->width;

        if (b->source.pitch == b->width && b->target.pitch == b->width) {
            rows = 1; /* the rows follow each other without a gap */
            bytes *= b->height;
        }
        for (size_t y = 0; y < rows; y++) {
            if (!copy_move_bytes(target + y * b->target.pitch,
                                 source + y * b->source.pitch, bytes, &left)) {
                return EMU_INTERRUPTED;
            }
        }
    }
    return CUDA_SUCCESS;
}

/* The bytes from the first to the last of one side. */
static size_t
copy_extent(const emu_copy_box *b, const emu_copy_side *s)
{
    return (b->depth - 1) * s->slice + (b->height - 1) * s->pitch + b->width;
}

/* Note one side, if a GPU could reach it: it copies other memory itself. */
static void
copy_use_side(const emu_copy_box *b, const emu_copy_side *s, emu_operation *operation,
              unsigned kind)
{
    if (!emu_operation_is_open(operation) || emu_memory_holding(s->start, 1) == NULL) {
        return;
    }
    for (size_t z = 0; z < b->depth; z++) {
        for (size_t y = 0; y < b->height; y++) {
            emu_operation_use(operation, s->start + z * s->slice + y * s->pitch,
                              b->width, kind);
        }
    }
}

static void
copy_use(const void *payload, emu_operation *operation)
{
    const emu_copy_box *b = payload;

    copy_use_side(b, &b->source, operation, EMU_USE_READ);
    copy_use_side(b, &b->target, operation, EMU_USE_WRITE);
}

/* -- the check of uninitialised memory --------------------------------------------- */

/* Whether nothing has written any byte of a row. */
static bool
copy_row_is_unset(uint64_t start, uint64_t bytes)
{
    const unsigned most = 1 << 20;

    for (uint64_t at = 0; at < bytes; at += most) {
        const uint64_t rest = bytes - at;

        if (!emu_shadow_is_unset(start + at, rest < most ? (unsigned)rest : most)) {
            return false;
        }
    }
    return true;
}

/* Whether a copy takes memory to the host whose bytes have to be written before. */
static bool
copy_is_checked(const emu_copy_box *b, const emu_allocation *memory)
{
    return emu_memory_shadow.written != NULL &&
           (emu_checks_wanted() & EMU_CHECK_INIT) != 0 && memory != NULL &&
           emu_shadow_tracks(memory) && emu_is_host_range(b->target.start, 1);
}

/* Whether a copy to the host takes nothing but bytes that nothing has written. A part
 * of them may be what the program does not use: padding, or places for more results. */
static bool
copy_is_unset(const emu_copy_box *b)
{
    if (!copy_is_checked(b, emu_memory_find(b->source.start))) {
        return false;
    }
    for (size_t z = 0; z < b->depth; z++) {
        for (size_t y = 0; y < b->height; y++) {
            if (!copy_row_is_unset(
                    b->source.start + z * b->source.slice + y * b->source.pitch,
                    b->width)) {
                return false;
            }
        }
    }
    return true;
}

enum { LINES_ROOM = 800 };

/* Write the lines of a copy, or of a fill, and of the memory that it uses, or "". */
static void
copy_lines(const char *word, const emu_allocation *memory, char text[LINES_ROOM])
{
    const char *site = emu_operation_site(emu_operation_present());
    size_t used = 0;

    text[0] = 0;
    if (site != NULL) {
        used = (size_t)snprintf(text, LINES_ROOM, "\n  %s at %.360s", word, site);
    }
    if (memory->site != NULL) {
        (void)snprintf(text + used, LINES_ROOM - used,
                       "\n  the memory was allocated at %.360s", memory->site);
    }
}

/* Note, for explain, that nothing has written the last bytes of a copy to the host. A
 * launch of too few blocks leaves them, but a program may also not use them. */
static void
copy_note_rest(const emu_copy_box *b)
{
    const emu_allocation *memory = emu_memory_find(b->source.start);
    uint64_t low = 0, high = b->width;
    char lines[LINES_ROOM], text[LINES_ROOM + 200];

    if (b->depth != 1 || b->height != 1 || !emu_report_log_is_open() ||
        !copy_is_checked(b, memory)) {
        return;
    }
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (copy_row_is_unset(b->source.start + middle, b->width - middle)) {
            high = middle;
        }
        else {
            low = middle + 1;
        }
    }
    if (low < b->width) {
        copy_lines("copied", memory, lines);
        (void)snprintf(text, sizeof text,
                       "bytes %llu to %llu of the %llu that a copy takes to the host "
                       "were never written by anything%s",
                       (unsigned long long)low, (unsigned long long)b->width - 1,
                       (unsigned long long)b->width, lines);
        (void)emu_report_log("note", text);
    }
}

static CUresult
copy_report_unset(const emu_copy_box *b, emu_context *context, emu_report *report)
{
    const emu_allocation *memory = emu_memory_find(b->source.start);
    char lines[LINES_ROOM];

    copy_lines("copied", memory, lines);
    memset(report, 0, sizeof *report);
    report->code = CUDA_ERROR_LAUNCH_FAILED;
    report->kind = "init";
    report->address = b->source.start;
    (void)snprintf(
        report->text, sizeof report->text,
        "CUDA_ERROR_LAUNCH_FAILED\n  uninitialised copy to the host of %llu bytes from "
        "byte %llu of the %llu-byte %s allocation at 0x%llx: nothing has written any "
        "of "
        "them%s\n",
        (unsigned long long)b->width * b->height * b->depth,
        (unsigned long long)(b->source.start - memory->base),
        (unsigned long long)memory->size, emu_memory_kind_name(memory->kind),
        (unsigned long long)memory->base, lines);
    emu_context_fail(context, CUDA_ERROR_LAUNCH_FAILED);
    return CUDA_ERROR_LAUNCH_FAILED;
}

/* -- memory that has gone back to its pool ----------------------------------------- */

static void
held_text(const char *word, uint64_t address, uint64_t bytes,
          const emu_allocation *memory, char *text, size_t room)
{
    char lines[LINES_ROOM];
    size_t used;

    copy_lines(word, memory, lines);
    used = (size_t)snprintf(
        text, room,
        "%s of %llu bytes at byte %llu of the %llu-byte %s allocation at 0x%llx, which "
        "has gone back to its pool%s",
        word, (unsigned long long)bytes, (unsigned long long)(address - memory->base),
        (unsigned long long)memory->size, emu_memory_kind_name(memory->kind),
        (unsigned long long)memory->base, lines);
    if (memory->freed != NULL && used < room) {
        (void)snprintf(text + used, room - used,
                       "\n  the memory went back to its pool at %.360s", memory->freed);
    }
}

CUresult
emu_copy_check_held(const char *word, uint64_t address, uint64_t bytes,
                    emu_context *context, emu_report *report)
{
    const emu_allocation *memory = emu_memory_find(address);
    char text[2 * LINES_ROOM];

    if (memory == NULL || !emu_memory_is_held(memory, emu_memory_work_hold)) {
        return CUDA_SUCCESS;
    }
    held_text(word, address, bytes, memory, text, sizeof text);
    if ((emu_checks_wanted() & EMU_CHECKS_OF_KERNELS) != 0) {
        memset(report, 0, sizeof *report);
        report->code = CUDA_ERROR_ILLEGAL_ADDRESS;
        report->kind = "memory";
        report->address = address;
        (void)snprintf(report->text, sizeof report->text,
                       "CUDA_ERROR_ILLEGAL_ADDRESS\n  %s\n", text);
        emu_context_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    if (emu_memory_tells_hold(memory)) {
        char whole[3 * LINES_ROOM];

        (void)snprintf(
            whole, sizeof whole,
            "a copy or a fill uses memory that has gone back to its pool; a GPU "
            "lets it pass, as this run does (PYCUDA_CHECK=memory makes it "
            "an error)\n  %s\n",
            text);
        emu_warning_add("memory", whole, (emu_ptx_place){0});
    }
    return CUDA_SUCCESS;
}

static CUresult
copy_check_held(const emu_copy_box *b, emu_context *context, emu_report *report)
{
    const size_t bytes = b->width * b->height * b->depth;
    CUresult status =
        emu_copy_check_held("a copy", b->source.start, bytes, context, report);

    if (status == CUDA_SUCCESS) {
        status = emu_copy_check_held("a copy", b->target.start, bytes, context, report);
    }
    return status;
}

/* Copy in the stream's turn. The memory may have been freed since the call
 * checked it. */
static CUresult
copy_run(const void *payload, emu_context *context, emu_report *report)
{
    const emu_copy_box *b = payload;
    CUresult status;

    if (!emu_copy_is_range(EMU_COPY_ANY, b->source.start, copy_extent(b, &b->source)) ||
        !emu_copy_is_range(EMU_COPY_ANY, b->target.start, copy_extent(b, &b->target))) {
        emu_context_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    copy_use(b, emu_operation_present());
    status = copy_check_held(b, context, report);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (copy_is_unset(b)) {
        return copy_report_unset(b, context, report);
    }
    copy_note_rest(b);
    return copy_move(b);
}

/* Whether a GPU could reach this side while the program continues. */
static bool
copy_side_is_reachable(const emu_copy_box *b, const emu_copy_side *s)
{
    return emu_memory_holding(s->start, copy_extent(b, s)) != NULL ||
           emu_graph_memory_holds(s->start, copy_extent(b, s));
}

bool
emu_copy_is_reachable(const void *payload)
{
    const emu_copy_box *b = payload;

    return copy_side_is_reachable(b, &b->source) &&
           copy_side_is_reachable(b, &b->target);
}

/* A GPU's driver also waits for a copy to memory that the GPU cannot reach. */
static emu_work_time
copy_when(const void *payload)
{
    const emu_copy_box *b = payload;

    if (!copy_side_is_reachable(b, &b->target)) {
        return EMU_WORK_AWAITED;
    }
    if (!copy_side_is_reachable(b, &b->source)) {
        return EMU_WORK_AT_ONCE;
    }
    return EMU_WORK_LATE;
}

/* -- nodes of graphs --------------------------------------------------------------- */

/* One side of a CUDA_MEMCPY3D, whose members have the given prefix. */
#define COPY_DESCRIBE_SIDE(p, prefix, side)                      \
    do {                                                         \
        (p)->prefix##MemoryType = (side)->type;                  \
        if ((side)->type == CU_MEMORYTYPE_ARRAY) {               \
            (p)->prefix##Array = (side)->array;                  \
            (p)->prefix##XInBytes = (side)->x;                   \
            (p)->prefix##Y = (side)->y;                          \
            (p)->prefix##Z = (side)->z;                          \
        }                                                        \
        else if (b->height > 1 || b->depth > 1) {                \
            (p)->prefix##Pitch = (side)->pitch;                  \
            (p)->prefix##Height = (side)->slice / (side)->pitch; \
        }                                                        \
    } while (0)

static void
copy_describe(void *payload, CUgraphNodeParams *params)
{
    const emu_copy_box *b = payload;
    CUDA_MEMCPY3D *p = &params->memcpy.copyParams;

    params->memcpy = (CUDA_MEMCPY_NODE_PARAMS){0};
    COPY_DESCRIBE_SIDE(p, src, &b->source);
    COPY_DESCRIBE_SIDE(p, dst, &b->target);
    if (b->source.type == CU_MEMORYTYPE_HOST) {
        p->srcHost = (const void *)(uintptr_t)b->source.start;
    }
    else if (b->source.type != CU_MEMORYTYPE_ARRAY) {
        p->srcDevice = b->source.start;
    }
    if (b->target.type == CU_MEMORYTYPE_HOST) {
        p->dstHost = (void *)(uintptr_t)b->target.start;
    }
    else if (b->target.type != CU_MEMORYTYPE_ARRAY) {
        p->dstDevice = b->target.start;
    }
    p->WidthInBytes = b->width;
    p->Height = b->height;
    p->Depth = b->depth;
}

static bool
copy_is_flat(const emu_copy_box *b)
{
    return b->height == 1 && b->depth == 1;
}

static bool
copy_is_same_side(const emu_copy_side *a, const emu_copy_side *b)
{
    return a->start == b->start && a->pitch == b->pitch && a->slice == b->slice;
}

/* A copy of several rows may not change at all. */
static CUgraphExecUpdateResult
copy_compare(const void *payload, const void *other, bool wide)
{
    const emu_copy_box *old = payload, *wish = other;
    const bool flat = copy_is_flat(old) && copy_is_flat(wish);

    (void)wide;
    if (old->source.type != wish->source.type ||
        old->target.type != wish->target.type ||
        (!flat && (old->width != wish->width || old->height != wish->height ||
                   old->depth != wish->depth ||
                   !copy_is_same_side(&old->source, &wish->source) ||
                   !copy_is_same_side(&old->target, &wish->target)))) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static void
copy_draw(const void *payload, FILE *file)
{
    static const char *const words[] = {"?", "host", "device", "array", "any"};
    const emu_copy_box *b = payload;

    (void)fprintf(file, "\\n%s to %s, %zu x %zu x %zu bytes", words[b->source.type],
                  words[b->target.type], b->width, b->height, b->depth);
}

const emu_work emu_copy_work = {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
                                .use = copy_use,
                                .uses_are_exact = true,
                                .run = copy_run,
                                .when = copy_when,
                                .describe = copy_describe,
                                .compare = copy_compare,
                                .draw = copy_draw};

/* Whether both sides are in device memory. On a GPU the host does not wait for such a
 * copy. */
static bool
copy_is_on_device(const emu_copy_box *b)
{
    return emu_is_device_range(b->source.start, copy_extent(b, &b->source)) &&
           emu_is_device_range(b->target.start, copy_extent(b, &b->target));
}

CUresult
emu_copy_submit(emu_stream *stream, const emu_copy_box *b, bool blocking)
{
    if (!blocking) {
        return emu_queue_submit(stream, &emu_copy_work, b, sizeof(*b), EMU_SUBMIT);
    }
    CUresult status = emu_capture_refuse(stream); /* the default stream of a thread */
    if (status == CUDA_SUCCESS && !copy_is_on_device(b)) {
        status = emu_capture_unsafe();
    }
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_queue_submit(stream, &emu_copy_work, b, sizeof(*b), EMU_SUBMIT_AND_WAIT);
}
