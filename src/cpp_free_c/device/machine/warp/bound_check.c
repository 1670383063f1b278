/* The check of bounds. See bound_check.h. */
#include "device/machine/warp/bound_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "device/compile/encoding.h"
#include "device/machine/warp/access_parts.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/report.h"

static const emu_bound *
bound_of(const emu_frame *frame, const emu_insn *insn)
{
    const emu_func *func = frame->func;
    const uint64_t at = (uint64_t)(insn - func->code);

    if (func->bound_of == NULL || at >= func->count || func->bound_of[at] == 0) {
        return NULL;
    }
    return &func->bounds[func->bound_of[at]];
}

/* What is subtracted from the address of an access for an offset in the bounds. */
static uint64_t
bound_origin(const emu_frame *frame, const emu_insn *insn, const emu_bound *bound)
{
    const uint32_t space = insn->aux & EMU_AT_MASK;
    uint64_t origin = bound->low;

    if (space == EMU_AT_GENERIC) {
        origin += bound->is_local ? EMU_LOCAL_WINDOW : EMU_SHARED_WINDOW;
    }
    if (bound->is_local && space != EMU_AT_FRAME) {
        origin += frame->local_start;
    }
    return origin;
}

void
emu_bound_begin(emu_block *block)
{
    const emu_grid *grid = block->grid;
    const emu_func *func = grid->kernel->func;

    block->has_bounds = (grid->checks & EMU_CHECK_MEMORY) &&
                        grid->kernel->program->has_bounds &&
                        (func->bound_of != NULL || func->own_end == 0);
    if (!block->has_bounds || block->bounded_launch == grid->number) {
        return;
    }
    free(block->bounded);
    block->bounded = calloc(func->count, sizeof *block->bounded);
    block->bounded_launch = grid->number;
}

/* The place that remembers which warps access memory within the bounds in each block of
 * the launch; NULL: the address may differ from block to block. */
static uint32_t *
bound_memory(const emu_block *block, const emu_insn *insn)
{
    const uint32_t register_forms = EMU_AT_BASE64 | EMU_AT_BASE32;
    const emu_func *func = block->grid->kernel->func;
    const uint64_t at = (uint64_t)(insn - func->code);

    if (block->bounded == NULL || at >= func->count || insn->aux & EMU_AT_INDEX ||
        (insn->aux & register_forms && (insn->a & EMU_TAG_MASK) != EMU_TAG_WARP)) {
        return NULL;
    }
    return &block->bounded[at];
}

/* Whether the addresses of all lanes, also of those that take no part, are in bounds.
 */
static bool
bound_holds_all(const uint64_t address[EMU_LANES], uint64_t origin, uint64_t most)
{
    uint64_t outside = 0;

    for (unsigned i = 0; i < EMU_LANES; i++) {
        const uint64_t offset = address[i] - origin;

        outside |= offset | (most - offset); /* the upper bit: below 0, above the end */
    }
    return outside >> 63 == 0;
}

/* The bytes of the variables. A wide load may read what fills its aligned unit, as in
 * emu_address_fits. */
static uint64_t
bound_length(const emu_insn *insn, const emu_bound *bound, unsigned size)
{
    const uint64_t length = (uint64_t)bound->high - bound->low, unit = 16;

    if (size <= EMU_WORD || bound->low % unit != 0 || emu_access_writes(insn)) {
        return length;
    }
    return (length + unit - 1) / unit * unit;
}

/* The lanes of a warp whose access leaves its bounds. */
static uint32_t
bound_check(const emu_warp *warp, const emu_frame *frame, const emu_insn *insn,
            const emu_bound *bound)
{
    const unsigned size = emu_access_bytes(insn);
    const uint64_t length = bound_length(insn, bound, size);
    uint32_t *const known = bound_memory(warp->block, insn);
    const uint32_t bit = (uint32_t)1 << warp->number;
    uint64_t address[EMU_LANES];
    uint32_t lanes = 0;

    if (length < size) {
        return warp->mask;
    }
    if (known != NULL && *known & bit) {
        return 0;
    }
    const uint64_t origin = bound_origin(frame, insn, bound);
    const uint64_t most = length - size;
    emu_address_of_lanes(warp, insn, address);
    if (bound_holds_all(address, origin, most)) {
        if (known != NULL) {
            *known |= bit;
        }
        return 0;
    }
    for (unsigned i = 0; i < EMU_LANES; i++) {
        lanes |= (uint32_t)(address[i] - origin > most) << i;
    }
    return lanes & warp->mask;
}

uint32_t
emu_bound_lanes(const emu_warp *warp, const emu_insn *insn)
{
    const emu_bound *bound = bound_of(warp->frame, insn);

    if (bound == NULL) {
        return 0;
    }
    return bound_check(warp, warp->frame, insn, bound);
}

bool
emu_bound_all(const emu_warp *warp, const emu_insn *insn)
{
    const emu_frame *frame = warp->frame; /* only that of the first warp is set */
    const emu_bound *bound = bound_of(frame, insn);
    uint32_t lanes = 0;

    if (bound == NULL) {
        return true;
    }
    const uint32_t *known = bound_memory(warp->block, insn);
    const uint32_t warps = EMU_FULL >> (EMU_MAX_WARPS - warp->abreast) << warp->number;
    if (known != NULL && (*known & warps) == warps) {
        return true;
    }
    for (unsigned i = 0; i < warp->abreast; i++) {
        lanes |= bound_check(&warp[i], frame, insn, bound);
    }
    return lanes == 0;
}

/* Write where an access lies to the variable. */
static void
bound_describe(const emu_bound *bound, int64_t offset, unsigned size, char *text,
               size_t room)
{
    const long long length = (long long)bound->high - bound->low;
    char variable[128] = "the variables that its address comes from";

    if (bound->name != NULL && bound->high == UINT32_MAX) {
        (void)snprintf(variable, sizeof variable, "the variable %.80s", bound->name);
    }
    else if (bound->name != NULL) {
        (void)snprintf(variable, sizeof variable, "the %lld-byte variable %.80s",
                       length, bound->name);
    }
    else if (bound->is_local) {
        (void)snprintf(variable, sizeof variable, "the %lld bytes of local arrays",
                       length);
    }
    if (offset < 0) {
        (void)snprintf(text, room, "it is %lld bytes before the start of %s",
                       (long long)-offset, variable);
    }
    else if (offset >= length) {
        (void)snprintf(text, room, "it is %lld bytes beyond the end of %s",
                       (long long)offset - length, variable);
    }
    else {
        (void)snprintf(text, room, "its last bytes are %lld beyond the end of %s",
                       (long long)offset + size - length, variable);
    }
}

void
emu_bound_fault(emu_warp *warp, const emu_insn *insn, uint32_t lanes)
{
    const emu_bound *bound = bound_of(warp->frame, insn);
    const unsigned lane = (unsigned)__builtin_ctz(lanes);
    const unsigned size = emu_access_bytes(insn);
    const char *access = emu_access_writes(insn) ? "write" : "read";
    const char *space = bound->is_local ? "local" : "shared";
    char near[256], value[EMU_VALUE_LINE];
    uint64_t address[EMU_LANES];

    emu_address_of_lanes(warp, insn, address);
    int64_t inside = (int64_t)(address[lane] - bound_origin(warp->frame, insn, bound));
    if (insn->aux & EMU_AT_BASE32) {
        inside = (int32_t)inside; /* the address is the sum modulo 2 to the 32 */
    }
    int64_t offset = inside + bound->low;
    if (bound->is_local) {
        offset -= EMU_LOCAL_START;
    }
    bound_describe(bound, inside, size, near, sizeof near);
    emu_store_value_line(warp, insn, lane, size, NULL, value);
    (void)emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane, (uint64_t)offset,
                    "%s of %u bytes at offset %lld of %s memory: %s%s", access, size,
                    (long long)offset, space, near, value);
}
