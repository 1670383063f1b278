/* Operations on addresses: conversions between windows, local memory of an activation,
 * and accesses of 128-bit registers. */
#include "device/machine/warp/machine.h"

#include "device/compile/encoding.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/warp.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/report.h"

/* -- 128-bit registers ------------------------------------------------------------- */

const emu_insn *
emu_op_ld_128(emu_warp *warp, const emu_insn *insn)
{
    uint8_t *const d = EMU_TARGET(uint8_t, insn->d);
    uint64_t at[EMU_LANES];
    uint32_t left;

    if (!emu_address_check(warp, insn, at)) {
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

    if (!emu_address_check(warp, insn, at)) {
        return NULL;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        memcpy((void *)(uintptr_t)at[lane], s + (size_t)16 * lane, 16);
    }
    return insn + 1;
}

/* -- windows ----------------------------------------------------------------------- */

/* The local address of the variable at imm of the activation. */
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

/* The offset of dynamic shared memory, for functions that several kernels call. */
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

/* The first address of a space: imm, or the parameters of this launch. */
static uint64_t
address_window_start(const emu_warp *warp, const emu_insn *insn)
{
    if (insn->aux == EMU_AT_PARAM) {
        return (uint64_t)(uintptr_t)warp->block->grid->params;
    }
    return (uint64_t)insn->imm;
}

/* cvta of shared, local, param. */
const emu_insn *
emu_op_from_window(emu_warp *warp, const emu_insn *insn)
{
    const uint64_t start = address_window_start(warp, insn);
    const u64 *const a = EMU_SOURCE(u64, insn->a);
    u64 *const d = EMU_TARGET(u64, insn->d);
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const int i = __builtin_ctz(left);

        d[i] = a[i] + start;
    }
    return insn + 1;
}

/* cvta.to: an address outside the window gives an offset outside the space. */
const emu_insn *
emu_op_to_window(emu_warp *warp, const emu_insn *insn)
{
    const uint64_t start = address_window_start(warp, insn);
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
        const uint64_t shared = a[i] - EMU_SHARED_WINDOW;
        const bool in_shared = shared < EMU_WINDOW_SIZE;
        const bool in_local = a[i] - EMU_LOCAL_WINDOW < EMU_WINDOW_SIZE;
        const bool in_param =
            a[i] - (uint64_t)(uintptr_t)grid->params < grid->params_size;
        const emu_allocation *record;
        bool is = false;

        switch (insn->aux) {
            case EMU_AT_SHARED: /* imm: 1 for shared::cluster */
                is = in_shared &&
                     (insn->imm || shared < EMU_CLUSTER_STEP ||
                      shared / EMU_CLUSTER_STEP - 1 == warp->block->cluster_rank);
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
        bits |= (uint32_t)is << i;
    }
    *d = (*d & ~warp->mask) | bits;
    return insn + 1;
}

/* alloca. The lanes of an activation share the end of its local memory, so the largest
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

        if (a[i] > size) {
            size = a[i];
        }
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

/* Shrink the local memory of the activation, but only if all of its lanes are in the
 * current group. */
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
