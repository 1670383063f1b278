/* Copies: the ranges that they may use, and boxes of bytes that they move.
 *
 * Every copy is checked, described as a box, and then moved in the turn of a stream
 * with the API lock released. If another thread frees one side meanwhile, the copy
 * reads or writes rubbish, as on a GPU: that is a race of the program. Call the
 * functions with the API lock held. */
#ifndef DEVICE_API_MEMORY_COPY_H
#define DEVICE_API_MEMORY_COPY_H

#include "device/base/device.h"
#include "device/api/entry/queue.h"
#include "device/api/entry/work.h"

/* Whether an address lies in the range of the device's own memory. */
bool emu_copy_is_ours(uint64_t address);

/* Whether kernels and copies of the context may use [address, address + bytes) as
 * device memory: one live allocation holds it. */
bool emu_is_device_range(uint64_t address, size_t bytes);

/* Whether it may be memory of the program: outside the range, or page-locked or
 * managed. */
bool emu_is_host_range(uint64_t address, size_t bytes);

/* What a side of a copy has to be. */
typedef enum { EMU_COPY_HOST, EMU_COPY_DEVICE, EMU_COPY_ANY } emu_copy_kind;

bool emu_copy_is_range(emu_copy_kind kind, uint64_t address, size_t bytes);

/* One side: its first byte, and the distances of rows and of planes; as what the
 * program gave it, and of an array where the box begins in it. */
typedef struct {
    uint64_t start;
    size_t pitch, slice;
    CUmemorytype type;
    CUarray array;
    size_t x, y, z;
} emu_copy_side;

typedef struct {
    emu_copy_side source, target;
    size_t width, height, depth; /* bytes, rows, planes */
    bool later;                  /* it is kept, and its memory is checked again */
} emu_copy_box;

/* Whether a side of a box may use a range. If the box is kept, memory of a graph need
 * not be live yet. */
bool emu_copy_check(const emu_copy_box *box, emu_copy_kind kind, uint64_t address,
                    size_t bytes);

/* Report that work which runs now uses a block that a pool of the program has taken
 * back: a warning or, with a check of kernels, an error. `word`: "a copy", ... */
CUresult emu_copy_check_held(const char *word, uint64_t address, uint64_t bytes,
                             emu_context *context, emu_report *report);

/* Enqueue the copy of a checked box. */
CUresult emu_copy_submit(emu_stream *stream, const emu_copy_box *box, bool blocking);

/* -- copies and fills as nodes of graphs ------------------------------------------- */

extern const emu_work emu_copy_work, emu_fill_work;
/* Whether a GPU could reach both sides of a copy while the program continues: the
 * program is not to wait for it. The payload is that of emu_copy_work. */
bool emu_copy_is_reachable(const void *payload);
CUresult emu_copy_node_make(emu_context *context, const CUgraphNodeParams *params,
                            emu_payload *out);
CUresult emu_fill_node_make(emu_context *context, const CUgraphNodeParams *params,
                            emu_payload *out);

#endif
