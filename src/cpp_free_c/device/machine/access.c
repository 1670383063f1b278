/* From addresses to host memory: every access of a kernel is checked here, or by the
 * shortcut in ops_mem.inc, which proves the same. */
#include "device/machine/machine.h"

#include <stdio.h>

#include "device/machine/race_check.h"
#include "device/machine/lanes.h"

static const char *
access_word(bool write)
{
    return write ? "write" : "read";
}

static bool
fault_range(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t address,
            unsigned size, bool write, const char *space, uint64_t room)
{
    (void)emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane, address,
                    "%s of %u bytes at offset %llu of %s memory, which has %llu bytes",
                    access_word(write), size, (unsigned long long)address, space,
                    (unsigned long long)room);
    return false;
}

static void
describe(emu_warp *warp, uint64_t address, unsigned size, char *text, size_t room)
{
    const emu_allocation *near = emu_memory_find(address);
    char name[80];

    if (!near) {
        (void)snprintf(text, room, "no allocation is near");
        return;
    }
    (void)snprintf(name, sizeof name, "%s%.70s", near->name ? " " : "",
                   near->name ? near->name : "");
    if (!emu_memory_live(near)) {
        (void)snprintf(text, room,
                       "it is %llu bytes into the %llu-byte %s allocation%s at 0x%llx, "
                       "which has been freed",
                       (unsigned long long)(address - near->base),
                       (unsigned long long)near->size, emu_memory_kind_name(near->kind),
                       name, (unsigned long long)near->base);
    }
    else if (address - near->base >= near->size) {
        (void)snprintf(text, room,
                       "it is %llu bytes beyond the end of the %llu-byte %s allocation"
                       "%s at 0x%llx",
                       (unsigned long long)(address - near->base - near->size),
                       (unsigned long long)near->size, emu_memory_kind_name(near->kind),
                       name, (unsigned long long)near->base);
    }
    else if (!emu_memory_may_use(warp->block->grid->context, near)) {
        (void)snprintf(text, room,
                       "it is in the %llu-byte %s allocation%s at 0x%llx of device %d, "
                       "to which this context has no peer access",
                       (unsigned long long)near->size, emu_memory_kind_name(near->kind),
                       name, (unsigned long long)near->base, near->device);
    }
    else {
        (void)snprintf(text, room,
                       "its last bytes are %llu beyond the end of the %llu-byte %s "
                       "allocation%s at 0x%llx",
                       (unsigned long long)(address + size - near->base - near->size),
                       (unsigned long long)near->size, emu_memory_kind_name(near->kind),
                       name, (unsigned long long)near->base);
    }
}

uint8_t *
emu_access_global(emu_warp *warp, uint64_t address, uint64_t size)
{
    const emu_allocation *recent = warp->recent;
    const emu_grid *grid = warp->block->grid;

    if (recent && emu_memory_within(recent, address, size)) {
        return (uint8_t *)(uintptr_t)address;
    }
    if (address >= EMU_SHARED_WINDOW) {
        return NULL;
    }
    recent = emu_memory_check(address, size);
    if (recent && emu_memory_may_use(grid->context, recent)) {
        warp->recent = recent;
        return (uint8_t *)(uintptr_t)address;
    }
    if (address - (uint64_t)(uintptr_t)grid->params < grid->params_size &&
        size <= grid->params_size - (address - (uint64_t)(uintptr_t)grid->params)) {
        return (uint8_t *)(uintptr_t)address;
    }
    return NULL;
}

uint8_t *
emu_access_generic(emu_warp *warp, unsigned lane, uint64_t address, size_t size)
{
    const emu_block *block = warp->block;

    if (address < EMU_SHARED_WINDOW) {
        return emu_access_global(warp, address, size);
    }
    if (address - EMU_SHARED_WINDOW < EMU_WINDOW_SIZE) {
        uint64_t offset = address - EMU_SHARED_WINDOW;

        return size <= block->shared_size && offset <= block->shared_size - size
                   ? block->shared + offset
                   : NULL;
    }
    if (address - EMU_LOCAL_WINDOW < EMU_WINDOW_SIZE) {
        uint64_t offset = address - EMU_LOCAL_WINDOW;

        return size <= warp->local_stride && offset <= warp->local_stride - size
                   ? warp->local + lane * warp->local_stride + offset
                   : NULL;
    }
    return NULL;
}

static uint8_t *
lane_at(emu_warp *warp, uint32_t space, unsigned lane, uint64_t address, unsigned size)
{
    const emu_block *block = warp->block;

    switch (space) {
        case EMU_AT_GENERIC:
            return emu_access_generic(warp, lane, address, size);
        case EMU_AT_GLOBAL:
            return emu_access_global(warp, address, size);
        case EMU_AT_SHARED:
            return address + size <= block->shared_size && address < EMU_WINDOW_SIZE
                       ? block->shared + address
                       : NULL;
        case EMU_AT_LOCAL:
            return address + size <= warp->local_stride && address < EMU_WINDOW_SIZE
                       ? warp->local + lane * warp->local_stride + address
                       : NULL;
        case EMU_AT_FRAME:
            address += warp->frame->local_start;
            return address + size <= warp->local_stride && address < EMU_WINDOW_SIZE
                       ? warp->local + lane * warp->local_stride + address
                       : NULL;
        default: {
            const emu_grid *grid = block->grid;

            return address + size <= grid->params_size && address < EMU_WINDOW_SIZE
                       ? (uint8_t *)(uintptr_t)grid->params + address
                       : NULL;
        }
    }
}

static bool
fault_access(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t address,
             unsigned size, bool write)
{
    char near[320];

    switch (insn->aux & EMU_AT_MASK) {
        case EMU_AT_SHARED:
            return fault_range(warp, insn, lane, address, size, write, "shared",
                               warp->block->shared_size);
        case EMU_AT_LOCAL:
        case EMU_AT_FRAME:
            return fault_range(warp, insn, lane, address, size, write, "local",
                               warp->local_stride);
        case EMU_AT_PARAM:
            return fault_range(warp, insn, lane, address, size, write, "parameter",
                               warp->block->grid->params_size);
        default:
            break;
    }
    if (address - EMU_SHARED_WINDOW < EMU_WINDOW_SIZE) {
        return fault_range(warp, insn, lane, address - EMU_SHARED_WINDOW, size, write,
                           "shared", warp->block->shared_size);
    }
    if (address - EMU_LOCAL_WINDOW < EMU_WINDOW_SIZE) {
        return fault_range(warp, insn, lane, address - EMU_LOCAL_WINDOW, size, write,
                           "local", warp->local_stride);
    }
    describe(warp, address, size, near, sizeof near);
    (void)emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane, address,
                    "%s of %u bytes at address 0x%llx: %s", access_word(write), size,
                    (unsigned long long)address, near);
    return false;
}

void
emu_access_addresses(const emu_warp *warp, const emu_insn *insn,
                     uint64_t out[EMU_LANES])
{
    const uint64_t offset = (uint64_t)insn->imm;
    int i;

    if (insn->aux & EMU_AT_BASE64) {
        const u64 *const base = EMU_SOURCE(u64, insn->a);

        for (i = 0; i < EMU_LANES; i++) {
            out[i] = base[i] + offset;
        }
    }
    else if (insn->aux & EMU_AT_BASE32) {
        const u32 *const base = EMU_SOURCE(u32, insn->a);

        for (i = 0; i < EMU_LANES; i++) {
            out[i] = (uint32_t)(base[i] + offset);
        }
    }
    else {
        for (i = 0; i < EMU_LANES; i++) {
            out[i] = offset;
        }
    }
}

bool
emu_access(emu_warp *warp, const emu_insn *insn, uint32_t mask, unsigned size,
           bool write, uint64_t out[EMU_LANES])
{
    const uint32_t space = insn->aux & EMU_AT_MASK;
    uint64_t address[EMU_LANES], low = UINT64_MAX, high = 0, bits = 0;
    uint32_t left;

    emu_access_addresses(warp, insn, address);
    for (left = mask; left; left &= left - 1) {
        const uint64_t a = address[__builtin_ctz(left)];

        low = a < low ? a : low;
        high = a > high ? a : high;
        bits |= a;
    }
    if (bits & (size - 1)) {
        for (left = mask; left; left &= left - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(left);

            if (address[lane] & (size - 1)) {
                (void)emu_fault(
                    warp, insn, CUDA_ERROR_MISALIGNED_ADDRESS, lane, address[lane],
                    "%s of %u bytes at address 0x%llx, which is no multiple "
                    "of %u",
                    access_word(write), size, (unsigned long long)address[lane], size);
                return false;
            }
        }
    }
    if (space <= EMU_AT_GLOBAL && emu_access_global(warp, low, high - low + size)) {
        for (left = mask; left; left &= left - 1) {
            const int i = __builtin_ctz(left);

            out[i] = address[i];
        }
        return true;
    }
    if (space == EMU_AT_SHARED && high < EMU_WINDOW_SIZE &&
        high + size <= warp->block->shared_size) {
        const uint64_t shared = (uint64_t)(uintptr_t)warp->block->shared;

        for (left = mask; left; left &= left - 1) {
            const int i = __builtin_ctz(left);

            out[i] = shared + address[i];
        }
        return !warp->block->check ||
               emu_check_shared(warp, insn, mask, size, write, out);
    }
    for (left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        out[lane] =
            (uint64_t)(uintptr_t)lane_at(warp, space, lane, address[lane], size);
        if (!out[lane]) {
            return fault_access(warp, insn, lane, address[lane], size, write);
        }
    }
    return !warp->block->check || space > EMU_AT_SHARED ||
           emu_check_shared(warp, insn, mask, size, write, out);
}

/* -- 128-bit registers ------------------------------------------------------------- */

const emu_insn *
emu_op_ld_128(emu_warp *warp, const emu_insn *insn)
{
    uint8_t *const d = EMU_TARGET(uint8_t, insn->d);
    uint64_t at[EMU_LANES];
    uint32_t left;

    if (!emu_access(warp, insn, warp->mask, 16, false, at)) {
        return NULL;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        memcpy(d + (size_t)16 * lane, (const void *)(uintptr_t)at[lane], 16);
    }
    return insn + 1;
}

const emu_insn *
emu_op_st_128(emu_warp *warp, const emu_insn *insn)
{
    const uint8_t *const s = EMU_SOURCE(uint8_t, insn->b);
    uint64_t at[EMU_LANES];
    uint32_t left;

    if (!emu_access(warp, insn, warp->mask, 16, true, at)) {
        return NULL;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        memcpy((void *)(uintptr_t)at[lane], s + (size_t)16 * lane, 16);
    }
    return insn + 1;
}

/* -- windows ----------------------------------------------------------------------- */

/* Local address of the activation's variable at imm. */
const emu_insn *
emu_op_local_address(emu_warp *warp, const emu_insn *insn)
{
    const uint64_t value = warp->frame->local_start + (uint64_t)insn->imm;
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        EMU_TARGET(u64, insn->d)[__builtin_ctz(left)] = value;
    }
    return insn + 1;
}

/* Offset of dynamic shared memory, for functions that several kernels call. */
const emu_insn *
emu_op_shared_dynamic(emu_warp *warp, const emu_insn *insn)
{
    const uint64_t value = warp->block->grid->kernel->func->dynamic_shared;
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        EMU_TARGET(u64, insn->d)[__builtin_ctz(left)] = value + (uint64_t)insn->imm;
    }
    return insn + 1;
}

/* Where the addresses of a space begin: imm, or the parameters of this launch. */
static uint64_t
window(const emu_warp *warp, const emu_insn *insn)
{
    return insn->aux == EMU_AT_PARAM ? (uint64_t)(uintptr_t)warp->block->grid->params
                                     : (uint64_t)insn->imm;
}

/* cvta of shared, local, param. */
const emu_insn *
emu_op_from_window(emu_warp *warp, const emu_insn *insn)
{
    const uint64_t start = window(warp, insn);
    const u64 *const a = EMU_SOURCE(u64, insn->a);
    u64 *const d = EMU_TARGET(u64, insn->d);
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);

        d[i] = a[i] + start;
    }
    return insn + 1;
}

/* cvta.to: an address outside of the window keeps being none of it. */
const emu_insn *
emu_op_to_window(emu_warp *warp, const emu_insn *insn)
{
    const uint64_t start = window(warp, insn);
    const u64 *const a = EMU_SOURCE(u64, insn->a);
    u64 *const d = EMU_TARGET(u64, insn->d);
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);

        d[i] = a[i] - start;
    }
    return insn + 1;
}

const emu_insn *
emu_op_isspacep(emu_warp *warp, const emu_insn *insn)
{
    const u64 *const a = EMU_SOURCE(u64, insn->a);
    u32 *const d = EMU_TARGET(u32, insn->d);
    const emu_grid *grid = warp->block->grid;
    uint32_t bits = 0, left;

    for (left = warp->mask; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        const bool in_shared = a[i] - EMU_SHARED_WINDOW < EMU_WINDOW_SIZE;
        const bool in_local = a[i] - EMU_LOCAL_WINDOW < EMU_WINDOW_SIZE;
        const bool in_param =
            a[i] - (uint64_t)(uintptr_t)grid->params < grid->params_size;
        const emu_allocation *record;
        bool is = false;

        switch (insn->aux) {
            case EMU_AT_SHARED:
                is = in_shared;
                break;
            case EMU_AT_LOCAL:
                is = in_local;
                break;
            case EMU_AT_PARAM:
                is = in_param;
                break;
            case EMU_AT_MASK: /* const */
                record = emu_memory_find(a[i]);
                is = record && record->kind == EMU_MEMORY_GLOBAL && record->flags == 1;
                break;
            default:
                is = !in_shared && !in_local && !in_param;
                break;
        }
        bits |= is ? 1u << i : 0;
    }
    *d = (*d & ~warp->mask) | bits;
    return insn + 1;
}

const emu_insn *
emu_op_prefetch(emu_warp *warp, const emu_insn *insn)
{
    (void)warp;
    return insn + 1;
}

/* alloca: the lanes of an activation share its local memory's end, so the largest
 * request counts. a: size; imm: alignment. */
const emu_insn *
emu_op_alloca(emu_warp *warp, const emu_insn *insn)
{
    const u64 *const a = EMU_SOURCE(u64, insn->a);
    u64 *const d = EMU_TARGET(u64, insn->d);
    emu_frame *frame = warp->frame;
    const uint64_t align = (uint64_t)insn->imm;
    uint64_t size = 0, start;
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);

        size = a[i] > size ? a[i] : size;
    }
    start = (frame->local_end + align - 1) & ~(align - 1);
    if (size > warp->local_stride || start + size > warp->local_stride) {
        return emu_fault(warp, insn, CUDA_ERROR_HARDWARE_STACK_ERROR,
                         (unsigned)__builtin_ctz(warp->mask), 0,
                         "alloca of %llu bytes: a thread has %zu bytes of local memory",
                         (unsigned long long)size, warp->local_stride);
    }
    frame->local_end = (uint32_t)(start + size);
    for (left = warp->mask; left; left &= left - 1) {
        d[__builtin_ctz(left)] = start;
    }
    return insn + 1;
}

const emu_insn *
emu_op_stacksave(emu_warp *warp, const emu_insn *insn)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        EMU_TARGET(u64, insn->d)[__builtin_ctz(left)] = warp->frame->local_end;
    }
    return insn + 1;
}

/* Only when the whole activation is here may its memory shrink. */
const emu_insn *
emu_op_stackrestore(emu_warp *warp, const emu_insn *insn)
{
    const u64 *const a = EMU_SOURCE(u64, insn->a);
    emu_frame *frame = warp->frame;
    const uint64_t end = a[__builtin_ctz(warp->mask)];

    if (frame->lanes == warp->mask && end <= frame->local_end &&
        end >= frame->local_start + (uint64_t)frame->func->local_size) {
        frame->local_end = (uint32_t)end;
    }
    return insn + 1;
}
