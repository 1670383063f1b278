/* Address checks. See address_check.h. */
#include "device/machine/warp/address_check.h"

#include <stdio.h>
#include <string.h>

#include "device/sync_check/uses.h"
#include "device/compile/encoding.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/warp.h"
#include "device/machine/warp/report.h"

static const char *
address_access_word(bool write)
{
    if (write) {
        return "write";
    }
    return "read";
}

static bool
address_fault_range(emu_warp *warp, const emu_insn *insn, unsigned lane,
                    uint64_t address, unsigned size, bool write, const char *space,
                    uint64_t room)
{
    char value[EMU_VALUE_LINE];

    emu_store_value_line(warp, insn, lane, size, NULL, value);
    (void)emu_fault(
        warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane, address,
        "%s of %u bytes at offset %llu of %s memory, which has %llu bytes%s",
        address_access_word(write), size, (unsigned long long)address, space,
        (unsigned long long)room, value);
    return false;
}

/* The offset counts from the first variable. */
static bool
address_fault_local(emu_warp *warp, const emu_insn *insn, unsigned lane,
                    uint64_t offset, unsigned size, bool write)
{
    if ((int64_t)offset < EMU_LOCAL_START) {
        char value[EMU_VALUE_LINE];

        emu_store_value_line(warp, insn, lane, size, NULL, value);
        (void)emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane, offset,
                        "%s of %u bytes %llu bytes before the start of local memory%s",
                        address_access_word(write), size,
                        (unsigned long long)(EMU_LOCAL_START - offset), value);
        return false;
    }
    return address_fault_range(warp, insn, lane, offset - EMU_LOCAL_START, size, write,
                               "local", warp->block->grid->local_end - EMU_LOCAL_START);
}

/* A 32-bit index that has overflowed is far below 0. Write what it would be. */
static void
address_index_text(const emu_allocation *memory, uint64_t address, unsigned size,
                   char *text, size_t room)
{
    const int64_t offset = (int64_t)(address - memory->base);

    text[0] = 0;
    if (size == 0 || offset % size != 0) {
        return;
    }
    if (offset / size > UINT32_MAX - (1 << 16) && offset / size <= UINT32_MAX) {
        (void)snprintf(text, room, "; element %lld is what an unsigned %lld becomes",
                       (long long)(offset / size),
                       (long long)(offset / size - (INT64_C(1) << 32)));
        return;
    }
    if (offset / size >= -(1 << 24) || offset / size < INT32_MIN) {
        return;
    }
    const long long element = offset / size;
    (void)snprintf(text, room,
                   "; element %lld is what an int becomes that should be %lld and "
                   "overflows",
                   element, element + (1LL << 32));
}

/* Whether memory was allocated in another context of the kernel's device. Memory of
 * other kinds belongs to the device or to the host. */
static bool
address_is_foreign(const emu_grid *grid, const emu_allocation *memory)
{
    return (memory->kind == EMU_MEMORY_DEVICE || memory->kind == EMU_MEMORY_PITCHED) &&
           memory->context != grid->context && memory->context != NULL &&
           memory->device == grid->context->device->ordinal;
}

/* Say how the address lies to an allocation, or to none. */
static void
address_describe(emu_warp *warp, const emu_allocation *near, uint64_t address,
                 unsigned size, char *text, size_t room)
{
    const emu_grid *grid = warp->block->grid;
    char what[200], name[80] = "", index[140];

    if (near == NULL) {
        (void)snprintf(text, room, "no allocation is near");
        return;
    }
    if (near->name) {
        (void)snprintf(name, sizeof name, " %.70s", near->name);
    }
    (void)snprintf(what, sizeof what, "the %llu-byte %s allocation%s at 0x%llx",
                   (unsigned long long)near->size, emu_memory_kind_name(near->kind),
                   name, (unsigned long long)near->base);
    address_index_text(near, address, size, index, sizeof index);
    if (address < near->base) {
        (void)snprintf(text, room, "it is %llu bytes before %s%s",
                       (unsigned long long)(near->base - address), what, index);
    }
    else if (!emu_memory_live(near)) {
        (void)snprintf(text, room, "it is %llu bytes into %s, which has been freed",
                       (unsigned long long)(address - near->base), what);
    }
    else if (emu_memory_is_held(near, grid->launch->last_hold)) {
        (void)snprintf(text, room,
                       "it is %llu bytes into %s, which has gone back to its pool",
                       (unsigned long long)(address - near->base), what);
    }
    else if (address - near->base >= near->size) {
        (void)snprintf(text, room, "it is %llu bytes beyond the end of %s%s",
                       (unsigned long long)(address - near->base - near->size), what,
                       index);
    }
    else if (address_is_foreign(grid, near)) {
        (void)snprintf(text, room,
                       "it is in %s of context 0x%llx, and the kernel runs in context "
                       "0x%llx",
                       what, (unsigned long long)(uintptr_t)near->context,
                       (unsigned long long)(uintptr_t)grid->context);
    }
    else if (!emu_memory_may_use(grid->context, near)) {
        (void)snprintf(text, room,
                       "it is in %s of device %d, to which this context has no peer "
                       "access",
                       what, near->device);
    }
    else {
        (void)snprintf(text, room, "its last bytes are %llu beyond the end of %s",
                       (unsigned long long)(address + size - near->base - near->size),
                       what);
    }
}

uint8_t *
emu_address_global(emu_warp *warp, uint64_t address, uint64_t size)
{
    const emu_allocation *recent = warp->recent;
    const emu_grid *grid = warp->block->grid;

    if (recent && emu_memory_within(recent, address, size)) {
        return (uint8_t *)(uintptr_t)address;
    }
    if (address >= EMU_SHARED_WINDOW) {
        return NULL;
    }
    recent = emu_memory_holding(address, size);
    if (recent && emu_memory_may_use(grid->context, recent) &&
        !address_is_foreign(grid, recent) &&
        !emu_memory_is_held(recent, grid->launch->last_hold)) {
        warp->recent = recent;
        warp->is_noted = emu_use_log_wants(warp->block->worker->uses, recent);
        return (uint8_t *)(uintptr_t)address;
    }
    if (address - (uint64_t)(uintptr_t)grid->params < grid->params_size &&
        size <= grid->params_size - (address - (uint64_t)(uintptr_t)grid->params)) {
        return (uint8_t *)(uintptr_t)address;
    }
    return NULL;
}

/* The host address of an offset in a thread's local memory; NULL: outside. */
static uint8_t *
address_in_local(const emu_warp *warp, unsigned lane, uint64_t offset, size_t size)
{
    if (offset < EMU_LOCAL_START ||
        !emu_address_fits(offset, size, warp->block->grid->local_end)) {
        return NULL;
    }
    return warp->local + lane * warp->local_stride + offset;
}

uint8_t *
emu_address_generic(emu_warp *warp, unsigned lane, uint64_t address, size_t size)
{
    const emu_block *block = warp->block;

    if (address < EMU_SHARED_WINDOW) {
        return emu_address_global(warp, address, size);
    }
    if (address - EMU_SHARED_WINDOW < EMU_WINDOW_SIZE) {
        uint64_t offset = address - EMU_SHARED_WINDOW;

        if (!emu_address_fits(offset, size, block->shared_size)) {
            return emu_cluster_address(block, offset, size);
        }
        return block->shared + offset;
    }
    if (address - EMU_LOCAL_WINDOW < EMU_WINDOW_SIZE) {
        uint64_t offset = address - EMU_LOCAL_WINDOW;

        return address_in_local(warp, lane, offset, size);
    }
    return NULL;
}

/* The host address of an offset in a space of `room` bytes; NULL: outside. */
static uint8_t *
address_at_offset(uint8_t *start, size_t room, uint64_t offset, unsigned size)
{
    if (!emu_address_fits(offset, size, room)) {
        return NULL;
    }
    return start + offset;
}

/* The host address of one lane's access; NULL: not legal. */
static uint8_t *
address_of_lane(emu_warp *warp, uint32_t space, unsigned lane, uint64_t address,
                unsigned size)
{
    const emu_block *block = warp->block;

    switch (space) {
        case EMU_AT_GENERIC:
            return emu_address_generic(warp, lane, address, size);
        case EMU_AT_GLOBAL:
            return emu_address_global(warp, address, size);
        case EMU_AT_SHARED:
            if (address >= EMU_CLUSTER_STEP) {
                return emu_cluster_address(block, address, size);
            }
            return address_at_offset(block->shared, block->shared_size, address, size);
        case EMU_AT_LOCAL:
            return address_in_local(warp, lane, address, size);
        case EMU_AT_FRAME:
            return address_in_local(warp, lane, address + warp->frame->local_start,
                                    size);
        default: /* EMU_AT_PARAM */
            return address_at_offset((uint8_t *)(uintptr_t)block->grid->params,
                                     block->grid->params_size, address, size);
    }
}

bool
emu_address_fault(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t address,
                  unsigned size, bool write)
{
    char near[320], value[EMU_VALUE_LINE];

    if (address - EMU_SHARED_WINDOW < EMU_WINDOW_SIZE) {
        return address_fault_range(warp, insn, lane, address - EMU_SHARED_WINDOW, size,
                                   write, "shared", warp->block->shared_size);
    }
    if (address - EMU_LOCAL_WINDOW < EMU_WINDOW_SIZE) {
        return address_fault_local(warp, insn, lane, address - EMU_LOCAL_WINDOW, size,
                                   write);
    }
    address_describe(warp, emu_report_memory(warp->block->grid, address), address, size,
                     near, sizeof near);
    emu_store_value_line(warp, insn, lane, size, NULL, value);
    (void)emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane, address,
                    "%s of %u bytes at address 0x%llx: %s%s",
                    address_access_word(write), size, (unsigned long long)address, near,
                    value);
    return false;
}

static bool
address_fault(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t address,
              unsigned size, bool write)
{
    switch (insn->aux & EMU_AT_MASK) {
        case EMU_AT_SHARED:
            return address_fault_range(warp, insn, lane, address, size, write, "shared",
                                       warp->block->shared_size);
        case EMU_AT_LOCAL:
            return address_fault_local(warp, insn, lane, address, size, write);
        case EMU_AT_FRAME:
            return address_fault_local(warp, insn, lane,
                                       address + warp->frame->local_start, size, write);
        case EMU_AT_PARAM:
            return address_fault_range(warp, insn, lane, address, size, write,
                                       "parameter", warp->block->grid->params_size);
        default:
            return emu_address_fault(warp, insn, lane, address, size, write);
    }
}

void
emu_address_of_lanes(const emu_warp *warp, const emu_insn *insn,
                     uint64_t out[EMU_LANES])
{
    const uint64_t offset = (uint64_t)insn->imm;
    int i;

    if (insn->aux & EMU_AT_INDEX) {
        const u32 *const index = EMU_SOURCE(u32, insn->a);
        const uint64_t base = *EMU_SOURCE(u64, insn->c) + offset;

        for (i = 0; i < EMU_LANES; i++) {
            out[i] = base + emu_address_index(insn->aux, index[i]);
        }
    }
    else if (insn->aux & EMU_AT_BASE64) {
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

/* The host address of an access behind shared memory that a GPU lets pass, with a
 * warning; NULL: it is another one. Hardware gives a block shared memory in units: on
 * an H200 a load faults from the next multiple of 128 bytes on. */
static uint8_t *
address_in_shared_unit(emu_warp *warp, const emu_insn *insn, unsigned lane,
                       uint64_t address)
{
    const emu_block *block = warp->block;
    const uint64_t unit = EMU_SHARED_UNIT;
    const uint64_t end = (block->shared_size + unit - 1) / unit * unit;
    const unsigned size = emu_access_bytes(insn);
    const bool writes = emu_access_writes(insn);
    char value[EMU_VALUE_LINE];

    if ((insn->aux & EMU_AT_MASK) == EMU_AT_GENERIC) {
        address -= EMU_SHARED_WINDOW;
    }
    else if ((insn->aux & EMU_AT_MASK) != EMU_AT_SHARED) {
        return NULL;
    }
    if (address >= end || size > end - address) {
        return NULL;
    }
    if (emu_warns_first(warp, insn, EMU_CHECK_MEMORY)) {
        emu_store_value_line(warp, insn, lane, size, NULL, value);
        emu_warn(
            warp, insn, lane, address,
            "goes beyond shared memory; a GPU lets it pass up to the next multiple "
            "of 128 bytes, as this run does",
            "%s of %u bytes at offset %llu of shared memory, which has %llu "
            "bytes%s",
            address_access_word(writes), size, (unsigned long long)address,
            (unsigned long long)block->shared_size, value);
    }
    return block->shared + address;
}

/* The host address of an access that a GPU may let pass, with a warning; NULL: it is
 * none, or is to be an error. It is behind shared memory, in the zone of an allocation,
 * or in one of another context. */
static uint8_t *
address_with_warning(emu_warp *warp, const emu_insn *insn, unsigned lane,
                     uint64_t address)
{
    const emu_grid *grid = warp->block->grid;
    const unsigned size = emu_access_bytes(insn);
    const bool writes = emu_access_writes(insn);
    const char *fault = "uses memory of another context";
    const emu_allocation *record;
    uint8_t *shared;
    char near[320], value[EMU_VALUE_LINE];

    if ((grid->checks & EMU_CHECKS_OF_KERNELS) != 0) {
        return NULL;
    }
    shared = address_in_shared_unit(warp, insn, lane, address);
    if (shared != NULL || (insn->aux & EMU_AT_MASK) > EMU_AT_GLOBAL) {
        return shared;
    }
    record = emu_memory_holding(address, size);
    if (record == NULL) {
        record = emu_memory_zone(address, size);
        fault = "goes beyond its array; a GPU often lets it pass, as this run does";
        if (record != NULL && writes) {
            emu_memory_use_zone(record);
        }
    }
    else if (emu_memory_is_held(record, grid->launch->last_hold)) {
        fault =
            "uses memory that has gone back to its pool; a GPU lets it pass, as "
            "this run does";
    }
    if (record == NULL || !emu_memory_may_use(grid->context, record)) {
        return NULL;
    }
    if (emu_warns_first(warp, insn, EMU_CHECK_MEMORY)) {
        address_describe(warp, record, address, size, near, sizeof near);
        emu_store_value_line(warp, insn, lane, size, NULL, value);
        emu_warn(warp, insn, lane, address, fault,
                 "%s of %u bytes at address 0x%llx: %s%s", address_access_word(writes),
                 size, (unsigned long long)address, near, value);
    }
    return (uint8_t *)(uintptr_t)address;
}

/* Report the first lane whose address is not a multiple of the size. */
static bool
address_fault_misaligned(emu_warp *warp, const emu_insn *insn,
                         const uint64_t address[EMU_LANES])
{
    const unsigned size = emu_access_bytes(insn);
    uint32_t mask = warp->mask;
    unsigned lane = (unsigned)__builtin_ctz(mask);
    char value[EMU_VALUE_LINE];

    while (!(address[lane] & (size - 1))) {
        mask &= mask - 1;
        lane = (unsigned)__builtin_ctz(mask);
    }
    emu_store_value_line(warp, insn, lane, size, NULL, value);
    (void)emu_fault(warp, insn, CUDA_ERROR_MISALIGNED_ADDRESS, lane, address[lane],
                    "%s of %u bytes at address 0x%llx, which is no multiple of %u%s",
                    address_access_word(emu_access_writes(insn)), size,
                    (unsigned long long)address[lane], size, value);
    return false;
}

/* Check lane by lane. */
static bool
address_each_lane(emu_warp *warp, const emu_insn *insn,
                  const uint64_t address[EMU_LANES], uint64_t out[EMU_LANES])
{
    const uint32_t space = insn->aux & EMU_AT_MASK;
    const unsigned size = emu_access_bytes(insn);

    for (uint32_t left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint8_t *at = address_of_lane(warp, space, lane, address[lane], size);

        if (at == NULL) {
            at = address_with_warning(warp, insn, lane, address[lane]);
        }
        if (at == NULL) {
            return address_fault(warp, insn, lane, address[lane], size,
                                 emu_access_writes(insn));
        }
        out[lane] = (uint64_t)(uintptr_t)at;
    }
    return true;
}

/* An operation whose row says that it accesses no memory: the checks would not see the
 * access. */
static bool
address_fault_row(emu_warp *warp, const emu_insn *insn)
{
    (void)emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                    (unsigned)__builtin_ctz(warp->mask), 0,
                    "the operation %s accesses memory: its row in "
                    "tables/operations.inc must say so",
                    emu_op_names[insn->op]);
    return false;
}

/* Whether the addresses of all lanes are in shared memory and aligned, as the bitwise
 * or of them proves: none is greater than that. */
static bool
address_fits_shared(const emu_warp *warp, const uint64_t address[EMU_LANES],
                    unsigned size)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < EMU_LANES; i++) {
        bits |= address[i];
    }
    return (bits & (size - 1)) == 0 && size <= warp->block->shared_size &&
           bits <= warp->block->shared_size - size;
}

bool
emu_address_resolve(emu_warp *warp, const emu_insn *insn, uint64_t out[EMU_LANES])
{
    const uint32_t space = insn->aux & EMU_AT_MASK;
    const unsigned size = emu_access_bytes(insn);
    uint64_t address[EMU_LANES], low = UINT64_MAX, high = 0, bits = 0, start = 0;

    if (size == 0) {
        return address_fault_row(warp, insn);
    }
    emu_address_of_lanes(warp, insn, address);
    if (space == EMU_AT_SHARED && address_fits_shared(warp, address, size)) {
        for (unsigned i = 0; i < EMU_LANES; i++) {
            out[i] = address[i] + (uint64_t)(uintptr_t)warp->block->shared;
        }
        return true;
    }
    for (unsigned i = 0; i < EMU_LANES; i++) {
        uint64_t a = address[__builtin_ctz(warp->mask)];

        if (warp->mask & lane_bits[i]) {
            a = address[i];
        }
        low = a < low ? a : low;
        high = a > high ? a : high;
        bits |= a;
    }
    if (bits & (size - 1)) {
        return address_fault_misaligned(warp, insn, address);
    }
    if (space == EMU_AT_SHARED && high < EMU_WINDOW_SIZE &&
        high + size <= warp->block->shared_size) {
        start = (uint64_t)(uintptr_t)warp->block->shared;
    }
    else if (space > EMU_AT_GLOBAL ||
             emu_address_global(warp, low, high - low + size) == NULL) {
        return address_each_lane(warp, insn, address, out);
    }
    for (unsigned i = 0; i < EMU_LANES; i++) {
        out[i] = start + address[i];
    }
    return true;
}

void
emu_address_note(emu_warp *warp, uint64_t address, uint64_t bytes, bool write)
{
    unsigned use = EMU_USE_READ;

    if (write) {
        use = EMU_USE_WRITE;
    }
    if (warp->is_noted && emu_memory_within(warp->recent, address, bytes)) {
        emu_use_log_add(warp->block->worker->uses, address, bytes, use);
    }
}

static unsigned
address_use(const emu_insn *insn)
{
    switch (emu_op_access(insn->op)) {
        case EMU_ACCESS_READ:
            return EMU_USE_READ;
        case EMU_ACCESS_UPDATE:
            return EMU_USE_ATOMIC;
        case EMU_ACCESS_WRITE:
        case EMU_ACCESS_NONE:
            break;
    }
    return EMU_USE_WRITE;
}

void
emu_address_note_lanes(emu_warp *warp, const emu_insn *insn,
                       const uint64_t at[EMU_LANES])
{
    emu_use_log_add_lanes(warp->block->worker->uses, at, warp->mask,
                          emu_access_bytes(insn), address_use(insn));
}

/* Note the access of each lane whose memory is to be noted. */
static void
address_note_each(emu_warp *warp, const emu_insn *insn, const uint64_t at[EMU_LANES])
{
    const unsigned size = emu_access_bytes(insn);
    uint32_t noted = 0;

    for (uint32_t left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        if (emu_address_global(warp, at[lane], size) != NULL && warp->is_noted &&
            emu_memory_within(warp->recent, at[lane], size)) {
            noted |= left & -left;
        }
    }
    if (noted != 0) {
        emu_use_log_add_lanes(warp->block->worker->uses, at, noted, size,
                              address_use(insn));
    }
}

bool
emu_address_check(emu_warp *warp, const emu_insn *insn, uint64_t out[EMU_LANES])
{
    if (!emu_address_resolve(warp, insn, out)) {
        return false;
    }
    if (warp->block->grid->launch->uses != NULL &&
        (insn->aux & EMU_AT_MASK) <= EMU_AT_GLOBAL) {
        address_note_each(warp, insn, out);
    }
    return true;
}

/* -- memory that nothing copies back ----------------------------------------------- */

/* The allocation that a parameter points to, or NULL. */
static const emu_allocation *
inputs_memory(const emu_grid *grid, size_t parameter)
{
    const emu_param *param = &grid->kernel->info.params[parameter];
    uint64_t word;

    if (param->size != sizeof word || param->offset + sizeof word > grid->params_size) {
        return NULL;
    }
    memcpy(&word, grid->params + param->offset, sizeof word);
    return emu_memory_holding(word, 1);
}

/* Whether a parameter that is no input points to an allocation, or to any if it is
 * NULL. */
static bool
inputs_has_other(const emu_grid *grid, const emu_allocation *memory)
{
    for (size_t i = 0; i < grid->kernel->info.param_count; i++) {
        const emu_allocation *other = inputs_memory(grid, i);

        if (other != NULL && (memory == NULL || other == memory) &&
            (i >= 64 || !(grid->launch->inputs >> i & 1))) {
            return true;
        }
    }
    return false;
}

void
emu_inputs_begin(emu_grid *grid)
{
    uint64_t left = grid->launch->inputs;
    const bool is_checked = grid->checks & EMU_CHECK_MEMORY;

    if (left == 0 || (!is_checked && !grid->has_trial) ||
        (!is_checked && inputs_has_other(grid, NULL))) {
        return;
    }
    for (; left != 0 && grid->input_count < EMU_MOST_INPUTS; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        const emu_allocation *memory = NULL;

        if (i < grid->kernel->info.param_count) {
            memory = inputs_memory(grid, i);
        }
        if (memory != NULL && !inputs_has_other(grid, memory)) {
            grid->inputs[grid->input_count++] =
                (emu_input){memory->base, memory->size, i};
        }
    }
}

static void
inputs_warn(const emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t address,
            const emu_input *input)
{
    const unsigned size = emu_access_bytes(insn);
    char value[EMU_VALUE_LINE];

    if (!emu_warns_first(warp, insn, EMU_CHECK_INPUT)) {
        return;
    }
    emu_store_value_line(warp, insn, lane, size, NULL, value);
    emu_warn_only(warp, insn, lane, address, NULL,
                  "what a kernel writes to an array of In is lost",
                  "write of %u bytes at byte %llu of argument %u, which In copies to "
                  "the device and nothing copies back: use InOut or Out for a result%s",
                  size, (unsigned long long)(address - input->start), input->parameter,
                  value);
}

void
emu_inputs_check(const emu_warp *warp, const emu_insn *insn)
{
    const emu_grid *grid = warp->block->grid;
    uint64_t address[EMU_LANES];

    if ((insn->aux & EMU_AT_MASK) > EMU_AT_GLOBAL) {
        return;
    }
    emu_address_of_lanes(warp, insn, address);
    for (uint32_t left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        for (unsigned i = 0; i < grid->input_count; i++) {
            if (address[lane] - grid->inputs[i].start < grid->inputs[i].size) {
                inputs_warn(warp, insn, lane, address[lane], &grid->inputs[i]);
                return;
            }
        }
    }
}
