/* The check of uninitialised values. See init_check.h. */
#include "device/machine/warp/init_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/base/checks.h"
#include "device/compile/encoding.h"
#include "device/machine/warp/report.h"
#include "device/memory/memory.h"

/* -- blocks ------------------------------------------------------------------------ */

static bool
init_reserve(uint8_t **marks, size_t *room, size_t size)
{
    if (*room < size) {
        free(*marks);
        *marks = malloc(size);
        *room = *marks == NULL ? 0 : size;
    }
    return *marks != NULL;
}

/* No word of shared memory was written. False: out of memory. */
static bool
init_begin_words(emu_init *init, size_t count)
{
    if (init->word_room < count) {
        free(init->words);
        init->words = malloc(count * sizeof *init->words);
        init->word_room = init->words == NULL ? 0 : count;
    }
    if (init->words != NULL) {
        memset(init->words, 0, count * sizeof *init->words);
    }
    return init->words != NULL;
}

/* The variables of the kernel in local memory are unset; the rest of it is for calls.
 */
static void
init_begin_local(emu_block *block)
{
    const emu_grid *grid = block->grid;
    const emu_func *func = grid->kernel->func;
    const size_t lanes = (size_t)grid->warp_count * EMU_LANES;
    const size_t end = func->call_base;

    if (block->init->local_launch == grid->number) {
        return; /* the last block has not changed it */
    }
    block->init->local_launch = grid->number;
    memset(block->init->local, 1, lanes * grid->stack_size);
    for (size_t i = 0; i < lanes && end > EMU_LOCAL_START; i++) {
        memset(block->init->local + i * grid->stack_size + EMU_LOCAL_START, 0,
               end - EMU_LOCAL_START);
    }
}

bool
emu_init_begin(emu_block *block)
{
    const emu_grid *grid = block->grid;
    emu_init *init = block->init;

    if (!(block->checks & EMU_CHECK_INIT)) {
        emu_init_free(block);
        return true;
    }
    if (init == NULL) {
        init = block->init = calloc(1, sizeof *init);
        if (init == NULL) {
            return false;
        }
    }
    if (!init_reserve(&init->shared, &init->shared_room,
                      block->shared_size + EMU_SHARED_SPARE) ||
        !init_reserve(&init->local, &init->local_room,
                      (size_t)grid->warp_count * EMU_LANES * grid->stack_size +
                          EMU_SHARED_SPARE)) {
        return false;
    }
    if (!init_begin_words(init,
                          block->shared_size / EMU_WORD / EMU_WORDS_OF_MASK + 2)) {
        return false;
    }
    init->all_shared = grid->cluster_size > 1;
    memset(init->shared, init->all_shared, block->shared_size + EMU_SHARED_SPARE);
    init_begin_local(block);
    emu_unset_clear(block);
    return true;
}

void
emu_init_free(emu_block *block)
{
    if (block->init) {
        free(block->init->shared);
        free(block->init->words);
        free(block->init->local);
        free(block->init->registers);
        free(block->init->origins);
        free(block->init->passes);
        free(block->init);
        block->init = NULL;
        for (unsigned i = 0; i < EMU_MAX_WARPS; i++) {
            block->warps[i].unset = block->warps[i].astray = 0;
        }
    }
}

/* -- marks ------------------------------------------------------------------------- */

/* The memory that holds an address. */
typedef struct {
    emu_unset_space space; /* NOWHERE: its bytes always have a value */
    uint64_t first, end;   /* host addresses */
    uint8_t *marks;        /* of `first`; those of global memory are in memory.h */
} marked;

static bool
init_is_in(marked *m, emu_unset_space space, const void *start, uint64_t size,
           uint8_t *marks, uint64_t address)
{
    const uint64_t first = (uint64_t)(uintptr_t)start;

    if (address - first >= size) {
        return false;
    }
    *m = (marked){space, first, first + size, marks};
    return true;
}

static marked
init_find(const emu_warp *warp, uint64_t address)
{
    const emu_block *block = warp->block;
    const emu_init *init = block->init;
    marked m = {.space = EMU_UNSET_NOWHERE, .first = address, .end = address + 1};

    if (init_is_in(&m, EMU_UNSET_SHARED, block->shared, block->shared_size,
                   init->shared, address) ||
        init_is_in(&m, EMU_UNSET_LOCAL, block->local,
                   (size_t)block->warp_count * EMU_LANES * warp->local_stride,
                   init->local, address)) {
        return m;
    }
    if (emu_memory_shadow.written == NULL ||
        address - emu_memory_tables.base >= emu_memory_tables.size) {
        return m;
    }
    const emu_allocation *memory = emu_memory_find(address);
    if (memory != NULL && address - memory->base < memory->size) {
        m.first = memory->base;
        m.end = memory->base + memory->size;
        if (emu_shadow_tracks(memory)) {
            m.space = EMU_UNSET_GLOBAL;
        }
    }
    return m;
}

/* Find the memory of an address, which is mostly that of the lane before. */
static inline void
init_find_next(const emu_warp *warp, uint64_t address, marked *m)
{
    if (address - m->first >= m->end - m->first) {
        *m = init_find(warp, address);
    }
}

static inline bool
init_is_zero(const uint8_t *marks, unsigned size)
{
    uint32_t four;

    if (size == sizeof four) {
        memcpy(&four, marks, sizeof four);
        return four == 0;
    }
    for (unsigned i = 0; i < size; i++) {
        if (marks[i]) {
            return false;
        }
    }
    return true;
}

/* Whether no byte of an element was written. */
static inline bool
init_is_unset(const marked *m, uint64_t address, unsigned size)
{
    if (m->space == EMU_UNSET_NOWHERE) {
        return false;
    }
    if (m->space == EMU_UNSET_GLOBAL) {
        return emu_shadow_is_unset(address, size);
    }
    return init_is_zero(m->marks + (address - m->first), size);
}

/* Bytes of shared memory are not written: their words are not. */
static void
init_forget_words(emu_init *init, uint64_t offset, unsigned size)
{
    for (uint64_t word = offset / EMU_WORD; word <= (offset + size - 1) / EMU_WORD;
         word++) {
        init->words[word / EMU_WORDS_OF_MASK] &=
            ~((uint64_t)1 << word % EMU_WORDS_OF_MASK);
    }
}

/* Mark the bytes of an element as written, or as not written. */
static inline void
init_mark_element(const emu_warp *warp, const marked *m, uint64_t address,
                  unsigned size, bool is_written)
{
    switch (m->space) {
        case EMU_UNSET_GLOBAL:
            if (is_written) {
                emu_shadow_mark(address, size);
            }
            else {
                emu_shadow_unmark(address, size);
            }
            break;
        case EMU_UNSET_LOCAL:
            warp->block->init->local_launch = 0;
            memset(m->marks + (address - m->first), is_written, size);
            break;
        case EMU_UNSET_SHARED:
            memset(m->marks + (address - m->first), is_written, size);
            if (!is_written) {
                init_forget_words(warp->block->init, address - m->first, size);
            }
            break;
        default:
            break;
    }
}

/* -- loads ------------------------------------------------------------------------- */

/* The elements of an access: of a vector several. */
typedef struct {
    unsigned count, bytes;
    const uint32_t *registers;
} elements;

static elements
init_elements(const emu_insn *insn, unsigned size, bool loads)
{
    if (emu_op_rows[insn->op].bytes == EMU_BYTES_IN_E) {
        return (elements){emu_vector_count(insn), emu_vector_bytes(insn), insn->x};
    }
    if (loads) {
        return (elements){1, size, &insn->d};
    }
    return (elements){1, size, &insn->b};
}

/* The lanes that load an element of which nothing was written. */
static uint32_t
init_unset_lanes(const emu_warp *warp, const uint64_t at[EMU_LANES], unsigned skip,
                 unsigned bytes, emu_unset_space *space)
{
    marked m = {.first = 0, .end = 0};
    uint32_t lanes = 0;

    for (uint32_t left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        init_find_next(warp, at[lane], &m);
        if (init_is_unset(&m, at[lane] + skip, bytes)) {
            lanes |= (uint32_t)1 << lane;
            *space = m.space;
        }
    }
    return lanes;
}

/* Each byte of shared memory that a lane reads must have been written. */
static bool
init_check_reads(emu_warp *warp, const emu_insn *insn, unsigned size,
                 const uint64_t at[EMU_LANES])
{
    for (uint32_t left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const marked m = init_find(warp, at[lane]);
        uint32_t number;

        if (m.space == EMU_UNSET_SHARED &&
            memchr(m.marks + (at[lane] - m.first), 0, size) != NULL &&
            emu_unset_from(warp, insn, EMU_UNSET_SHARED, size, &number)) {
            emu_unset_note_read(warp, number, (uint32_t)1 << lane, at, 0);
            return emu_init_finding(warp, insn, lane, number, EMU_DECIDES_READ);
        }
    }
    return true;
}

static void
init_load(emu_warp *warp, const emu_insn *insn, unsigned size,
          const uint64_t at[EMU_LANES])
{
    const elements e = init_elements(insn, size, true);

    for (unsigned k = 0; k < e.count; k++) {
        emu_unset_space space = EMU_UNSET_NOWHERE;
        emu_unset value = {0, 0, 0};

        value.copied = init_unset_lanes(warp, at, k * e.bytes, e.bytes, &space);
        if (value.copied &&
            !emu_unset_from(warp, insn, space, e.bytes, &value.origin)) {
            value.copied = 0;
        }
        if (value.copied) {
            emu_unset_note_read(warp, value.origin, value.copied, at, k * e.bytes);
        }
        if (value.copied || warp->unset) {
            emu_unset_store(warp, e.registers[k], warp->mask, value);
        }
    }
}

/* -- stores ------------------------------------------------------------------------ */

/* Whether an unset value may not be stored to global memory even if it is a copy: it
 * is from memory of the thread or the block, or from a register. Single bytes are
 * mostly padding of a structure, which compilers copy byte by byte. */
static bool
init_is_own(const emu_warp *warp, const emu_unset *value)
{
    const emu_unset_origin *origin = emu_unset_origin_of(warp, value->origin);

    return origin->space != EMU_UNSET_GLOBAL && origin->size != 1;
}

/* The lanes of a store to global memory that are wrong. Of a vector, all elements must
 * be unset if they are copies: one of them may be padding. */
static uint32_t
init_wrong_lanes(const emu_warp *warp, const elements *e, uint32_t *number)
{
    uint32_t wrong = 0, copies = warp->mask;

    for (unsigned k = 0; k < e->count; k++) {
        const emu_unset value = emu_unset_of(warp, e->registers[k]);

        if (value.used & warp->mask) {
            wrong |= value.used & warp->mask;
            *number = value.origin;
        }
        if (!(value.copied & copies) || !init_is_own(warp, &value)) {
            copies = 0;
        }
        else {
            copies &= value.copied;
            if (!wrong) {
                *number = value.origin;
            }
        }
    }
    return wrong | copies;
}

/* Mark what the store writes: bytes of unset values stay unwritten. */
static void
init_mark(const emu_warp *warp, const elements *e, const uint64_t at[EMU_LANES])
{
    marked m = {.first = 0, .end = 0};

    for (unsigned k = 0; k < e->count; k++) {
        const emu_unset value = emu_unset_of(warp, e->registers[k]);

        for (uint32_t left = warp->mask; left; left &= left - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(left);
            const bool unset = (value.copied | value.used) >> lane & 1;

            init_find_next(warp, at[lane], &m);
            if (unset) {
                emu_unset_note_pass(warp, lane, value.origin,
                                    at[lane] + (uint64_t)k * e->bytes);
            }
            init_mark_element(warp, &m, at[lane] + (uint64_t)k * e->bytes, e->bytes,
                              !unset);
        }
    }
}

static bool
init_store(emu_warp *warp, const emu_insn *insn, unsigned size,
           const uint64_t at[EMU_LANES])
{
    const unsigned first = (unsigned)__builtin_ctz(warp->mask);
    const elements e = init_elements(insn, size, false);
    const marked m = init_find(warp, at[first]);
    uint32_t number = 0, wrong;

    if (m.space != EMU_UNSET_SHARED && m.space != EMU_UNSET_LOCAL &&
        (warp->astray & warp->mask) &&
        !emu_init_finding(warp, insn,
                          (unsigned)__builtin_ctz(warp->astray & warp->mask),
                          warp->astray_origin, EMU_DECIDES_BRANCH)) {
        return false;
    }
    if (warp->unset && m.space != EMU_UNSET_SHARED && m.space != EMU_UNSET_LOCAL) {
        wrong = init_wrong_lanes(warp, &e, &number);
        if (wrong && !emu_init_finding(warp, insn, (unsigned)__builtin_ctz(wrong),
                                       number, EMU_DECIDES_STORE)) {
            return false;
        }
    }
    init_mark(warp, &e, at);
    return true;
}

/* -- atomic operations ------------------------------------------------------------- */

static bool
init_update(emu_warp *warp, const emu_insn *insn, unsigned size,
            const uint64_t at[EMU_LANES])
{
    const elements e = {1, size, &insn->b};
    const emu_unset value = emu_unset_of(warp, insn->b);
    const uint32_t wrong = (value.copied | value.used) & warp->mask;
    emu_unset_space space = EMU_UNSET_NOWHERE;
    uint32_t lanes = 0, number;

    if (wrong && !emu_init_finding(warp, insn, (unsigned)__builtin_ctz(wrong),
                                   value.origin, EMU_DECIDES_ATOMIC)) {
        return false;
    }
    if (insn->e != EMU_ATOM_EXCH) {
        lanes = init_unset_lanes(warp, at, 0, size, &space);
    }
    if (lanes && emu_unset_from(warp, insn, space, size, &number)) {
        emu_unset_note_read(warp, number, lanes, at, 0);
        if (!emu_init_finding(warp, insn, (unsigned)__builtin_ctz(lanes), number,
                              EMU_DECIDES_ATOMIC)) {
            return false;
        }
    }
    init_mark(warp, &e, at);
    if (warp->unset && insn->used & EMU_USES_D) {
        emu_unset_store(warp, insn->d, warp->mask, (emu_unset){0, 0, 0});
    }
    return true;
}

/* Whether the address of an access depends on an unset value. */
static bool
init_check_address(emu_warp *warp, const emu_insn *insn)
{
    const emu_unset value = emu_unset_of(warp, insn->a);
    const uint32_t wrong = (value.copied | value.used) & warp->mask;

    if (!(insn->used & EMU_USES_A) || !wrong) {
        return true;
    }
    return emu_init_finding(warp, insn, (unsigned)__builtin_ctz(wrong), value.origin,
                            EMU_DECIDES_ADDRESS);
}

bool
emu_init_access(emu_warp *warp, const emu_insn *insn, unsigned size,
                const uint64_t at[EMU_LANES])
{
    if (warp->unset && !init_check_address(warp, insn)) {
        return false;
    }
    switch (emu_op_access(insn->op)) {
        case EMU_ACCESS_READ:
            if (warp->block->checks & EMU_CHECK_READS &&
                !init_check_reads(warp, insn, size, at)) {
                return false;
            }
            init_load(warp, insn, size, at);
            return true;
        case EMU_ACCESS_WRITE:
            return init_store(warp, insn, size, at);
        case EMU_ACCESS_UPDATE:
        case EMU_ACCESS_NONE:
            break;
    }
    return init_update(warp, insn, size, at);
}

/* Whether all these bytes of shared memory were written. */
static bool
init_is_written(const uint8_t *marks, uint64_t bytes)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t all = ones, word;
    uint64_t i = 0;

    for (; i + sizeof word <= bytes; i += sizeof word) {
        memcpy(&word, marks + i, sizeof word);
        all &= word;
    }
    for (; i < bytes; i++) {
        all &= ones * marks[i];
    }
    return all == ones;
}

/* Bytes of shared memory are written: so are their whole words. */
static void
init_note_words(emu_init *init, uint64_t offset, uint64_t bytes)
{
    const uint64_t end = (offset + bytes) / EMU_WORD;
    uint64_t word = (offset + EMU_WORD - 1) / EMU_WORD;

    while (word < end) {
        const uint64_t rest = EMU_WORDS_OF_MASK - word % EMU_WORDS_OF_MASK,
                       left = end - word;
        const uint64_t count = left < rest ? left : rest;

        init->words[word / EMU_WORDS_OF_MASK] |=
            ~(uint64_t)0 >> (EMU_WORDS_OF_MASK - count) << word % EMU_WORDS_OF_MASK;
        word += count;
    }
}

bool
emu_init_plan(const emu_block *block, const emu_shared_plan *plan)
{
    const uint64_t *words = block->init->words;
    uint64_t missing = 0;

    for (unsigned i = 0; i < plan->count; i++) {
        missing |= plan->sets[i].bits & ~words[plan->sets[i].at];
    }
    return missing == 0;
}

bool
emu_init_range(emu_warp *warp, uint64_t start, uint64_t bytes, bool loads)
{
    const marked m = init_find(warp, start);

    if (m.space == EMU_UNSET_GLOBAL) {
        if (loads) {
            return emu_shadow_is_set(start, bytes);
        }
        emu_shadow_mark(start, bytes);
    }
    else if (m.space == EMU_UNSET_SHARED) {
        uint8_t *marks = m.marks + (start - m.first);

        if (loads && !init_is_written(marks, bytes)) {
            return false;
        }
        if (!loads) {
            memset(marks, 1, bytes);
        }
        init_note_words(warp->block->init, start - m.first, bytes);
    }
    return true;
}

bool
emu_init_parts(emu_warp *warp, const emu_insn *insn, unsigned size,
               const emu_parts *parts)
{
    const bool loads = emu_op_effect(insn->op) == EMU_EFFECT_READ;

    if (warp->unset | warp->astray) {
        return false;
    }
    for (unsigned i = 0; i < parts->count; i++) {
        const emu_part *part = &parts->parts[i];

        if (!emu_init_range(warp, part->start, emu_part_bytes(part, size), loads)) {
            return false;
        }
    }
    return true;
}

void
emu_init_write(const emu_block *block, uint64_t address, uint64_t bytes)
{
    const uint64_t offset = address - (uint64_t)(uintptr_t)block->shared;

    if (block->init == NULL) {
        return;
    }
    if (offset < block->shared_size) {
        memset(block->init->shared + offset, 1, bytes);
    }
    else {
        emu_shadow_note_write(address, bytes);
    }
}

/* -- reports ----------------------------------------------------------------------- */

static const char *const uses[] = {
    [EMU_DECIDES_ADDRESS] = "the address of an access depends on it",
    [EMU_DECIDES_BRANCH] = "a branch depends on it",
    [EMU_DECIDES_ATOMIC] = "an atomic operation uses it",
    [EMU_DECIDES_STORE] = "it is stored to global memory",
    [EMU_DECIDES_READ] = "it is read here",
};

static bool
init_find_memory(emu_warp *warp, const emu_insn *insn, unsigned lane,
                 const emu_unset_read *origin, const emu_other_place *other,
                 const char *use)
{
    const emu_block *block = warp->block;
    const uint64_t address = origin->at;
    char by[64] = "";
    uint64_t offset;

    if (origin->thread != warp->number * EMU_LANES + lane) {
        (void)snprintf(by, sizeof by, " by thread ");
        emu_report_thread_text(block->grid, origin->thread, by + strlen(by),
                               sizeof by - strlen(by));
    }

    if (origin->space == EMU_UNSET_SHARED) {
        offset = address - (uint64_t)(uintptr_t)block->shared;
        return emu_check_found(
            warp, insn, EMU_CHECK_INIT, lane, offset, other,
            "uninitialised read of %u bytes at offset %llu of shared memory%s: no "
            "thread of the block has written byte %llu, and %s",
            origin->size, (unsigned long long)offset, by, (unsigned long long)offset,
            use);
    }
    if (origin->space == EMU_UNSET_LOCAL) {
        offset = (address - (uint64_t)(uintptr_t)warp->local) % warp->local_stride -
                 EMU_LOCAL_START;
        return emu_check_found(
            warp, insn, EMU_CHECK_INIT, lane, offset, other,
            "uninitialised read of %u bytes at offset %llu of local memory: the thread "
            "has not written them, and %s",
            origin->size, (unsigned long long)offset, use);
    }
    const emu_allocation *memory = emu_memory_find(address);
    if (memory == NULL) {
        return true;
    }
    return emu_check_found(
        warp, insn, EMU_CHECK_INIT, lane, address, other,
        "uninitialised read of %u bytes at byte %llu of the %llu-byte %s allocation at "
        "0x%llx%s: nothing has written them, and %s",
        origin->size, (unsigned long long)(address - memory->base),
        (unsigned long long)memory->size, emu_memory_kind_name(memory->kind),
        (unsigned long long)memory->base, by, use);
}

bool
emu_init_finding(emu_warp *warp, const emu_insn *insn, unsigned lane, uint32_t number,
                 emu_unset_effect use)
{
    const emu_unset_read origin = emu_unset_first_read(warp, lane, number);
    const emu_func *func = warp->frame->func;
    emu_other_place other = {func->program, emu_report_place_of(func, insn)};
    const emu_insn *read = origin.insn;
    char thread[48];

    /* The numbers of origins are used again, so that of a trial may be another's. */
    if (origin.space == EMU_UNSET_NOWHERE || read == NULL ||
        (origin.space == EMU_UNSET_SHUFFLE && origin.at >= EMU_LANES)) {
        return emu_check_found(
            warp, insn, EMU_CHECK_INIT, lane, 0, NULL,
            "uninitialised variable: it has no value when it is read here, "
            "and %s",
            uses[use]);
    }
    if (origin.space == EMU_UNSET_REGISTER) {
        return emu_check_found(
            warp, read, EMU_CHECK_INIT, lane, 0, &other,
            "uninitialised variable: it has no value when it is read here, and %s",
            uses[use]);
    }
    if (origin.space == EMU_UNSET_SHUFFLE) {
        emu_report_thread_text(warp->block->grid,
                               warp->number * EMU_LANES + (unsigned)origin.at, thread,
                               sizeof thread);
        return emu_check_found(
            warp, read, EMU_CHECK_INIT, lane, 0, &other,
            "uninitialised value: thread %s does not take part in the shuffle that "
            "reads from it, and %s",
            thread, uses[use]);
    }
    return init_find_memory(warp, read, lane, &origin, &other, uses[use]);
}
