/* Checks of shared memory and barriers. See race_check.h.
 *
 * Each byte of shared memory has a shadow: whether the byte was written, and for each
 * kind of access the last visits of two different warps. With barriers of the whole
 * block two are enough: one of them is of another warp than the next access. (If
 * barriers are for a part of the block, a race with a third warp may not be found.) An
 * access of warp v in its epoch e is ordered before the present access of warp w if w
 * has seen more than e epochs of v. */
#include "device/machine/warp/race_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/compile/encoding.h"
#include "device/machine/warp/report.h"

enum { NO_THREAD = 0 };
enum { READER, WRITER, ATOMIC, KINDS };
/* The asynchronous copies of a block count as one more warp, whose epochs end when a
 * copy is complete. */
enum { COPIES = EMU_MAX_WARPS };

typedef struct {
    emu_place place;
    uint32_t epoch;
    uint16_t thread; /* its number in the block plus one, or NO_THREAD */
    bool is_copy;    /* by an asynchronous copy that the thread began */
} visit;

typedef struct {
    visit visits[KINDS][2]; /* visits of at most two warps, the latest first */
    bool is_written;
} shadow;

typedef struct {
    uint32_t seen[EMU_MAX_WARPS + 1]; /* epochs of each warp, and of copies */
} epochs;

struct emu_race {
    unsigned checks;
    size_t room; /* shadows */
    shadow *shadows;
    epochs warps[EMU_MAX_WARPS];
    epochs barriers[EMU_BARRIERS];
    epochs mbarriers; /* of all mbarriers of the block */
    uint32_t copies;  /* asynchronous copies that are complete */
    epochs exited;
};

unsigned
emu_race_wanted(void)
{
    return emu_checks_wanted() & (EMU_CHECK_INIT | EMU_CHECK_RACE | EMU_CHECK_BARRIER);
}

/* -- blocks ------------------------------------------------------------------------ */

bool
emu_race_begin(emu_block *block, unsigned checks)
{
    emu_race *race = block->race;

    block->shared_fast_size = block->shared_size;
    if (!checks) {
        emu_race_free(block);
        return true;
    }
    if (race == NULL) {
        race = block->race = calloc(1, sizeof *race);
        if (race == NULL) {
            return false;
        }
    }
    if (race->room < block->shared_size) {
        free(race->shadows);
        race->room = 0;
        race->shadows = malloc(block->shared_size * sizeof *race->shadows);
        if (race->shadows == NULL) {
            return false;
        }
        race->room = block->shared_size;
    }
    race->checks = checks;
    if (block->shared_size) {
        memset(race->shadows, 0, block->shared_size * sizeof *race->shadows);
    }
    memset(race->warps, 0, sizeof race->warps);
    memset(race->barriers, 0, sizeof race->barriers);
    memset(&race->mbarriers, 0, sizeof race->mbarriers);
    race->copies = 0;
    memset(&race->exited, 0, sizeof race->exited);
    if (checks & (EMU_CHECK_INIT | EMU_CHECK_RACE)) {
        block->shared_fast_size = 0;
    }
    return true;
}

void
emu_race_free(emu_block *block)
{
    if (block->race) {
        free(block->race->shadows);
        free(block->race);
        block->race = NULL;
    }
}

/* -- barriers ---------------------------------------------------------------------- */

static void
race_join_epochs(epochs *into, const epochs *from)
{
    unsigned i;

    for (i = 0; i <= COPIES; i++) {
        if (from->seen[i] > into->seen[i]) {
            into->seen[i] = from->seen[i];
        }
    }
}

/* End the present epoch of the warp and add its epochs to `into`. */
static void
race_publish_epochs(emu_warp *warp, epochs *into)
{
    epochs *own = &warp->block->race->warps[warp->number];

    own->seen[warp->number]++;
    race_join_epochs(into, own);
}

void
emu_race_arrive(emu_warp *warp, uint32_t barrier)
{
    race_publish_epochs(warp, &warp->block->race->barriers[barrier]);
}

void
emu_race_leave(emu_warp *warp, uint32_t barrier)
{
    emu_race *race = warp->block->race;

    race_join_epochs(&race->warps[warp->number], &race->barriers[barrier]);
    race_join_epochs(&race->warps[warp->number], &race->exited);
}

void
emu_race_released(emu_block *block, uint32_t barrier)
{
    memset(&block->race->barriers[barrier], 0, sizeof block->race->barriers[barrier]);
}

void
emu_race_signal(emu_warp *warp)
{
    race_publish_epochs(warp, &warp->block->race->mbarriers);
}

void
emu_race_copied(emu_block *block)
{
    emu_race *race = block->race;

    race->mbarriers.seen[COPIES] = ++race->copies;
}

void
emu_race_observe(emu_warp *warp)
{
    emu_race *race = warp->block->race;

    race_join_epochs(&race->warps[warp->number], &race->mbarriers);
}

void
emu_race_exit(emu_warp *warp)
{
    race_publish_epochs(warp, &warp->block->race->exited);
}

/* -- reports ----------------------------------------------------------------------- */

static bool
race_fault_init(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
                unsigned size, uint64_t byte)
{
    (void)emu_fault(
        warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, offset,
        "uninitialised read of %u bytes at offset %llu of shared memory: no "
        "thread of the block has written byte %llu",
        size, (unsigned long long)offset, (unsigned long long)byte);
    return false;
}

static const char *const kind_words[KINDS] = {"read", "write", "atomic operation"};

static bool
race_fault(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
           unsigned size, int kind, const visit *other, int other_kind)
{
    char thread[48], place[112];

    emu_report_thread_text(warp->block->grid, other->thread - 1u, thread,
                           sizeof thread);
    emu_report_place_text(warp->frame->func->program, other->place, place,
                          sizeof place);
    if (other->is_copy) {
        (void)emu_fault(warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, offset,
                        "race: %s of %u bytes at offset %llu of shared memory and the "
                        "copy that thread %s%s began, with no wait for its mbarrier "
                        "between them",
                        kind_words[kind], size, (unsigned long long)offset, thread,
                        place);
        return false;
    }
    (void)emu_fault(
        warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, offset,
        "race: %s of %u bytes at offset %llu of shared memory and the %s by "
        "thread %s%s, with no __syncthreads between them",
        kind_words[kind], size, (unsigned long long)offset, kind_words[other_kind],
        thread, place);
    return false;
}

/* -- accesses ---------------------------------------------------------------------- */

/* Copy the `size` bytes that a store writes for a lane. */
static void
race_store_value(emu_warp *warp, const emu_insn *insn, unsigned lane, unsigned size,
                 uint8_t value[64])
{
    static const uint16_t wide_of[][2] = {
        {EMU_OP_st_8_16, 2},  {EMU_OP_st_8_32, 4},  {EMU_OP_st_8_64, 8},
        {EMU_OP_st_16_16, 2}, {EMU_OP_st_16_32, 4}, {EMU_OP_st_16_64, 8},
        {EMU_OP_st_32_32, 4}, {EMU_OP_st_32_64, 8}, {EMU_OP_st_64_64, 8}};
    unsigned i, wide = 16;

    if (insn->run == emu_handlers_base[EMU_OP_st_vector] ||
        insn->run == emu_handlers_avx2[EMU_OP_st_vector]) {
        const unsigned count = insn->e >> 16 & 0xff, bytes = insn->e >> 8 & 0xff;

        wide = insn->e & 0xff;
        for (i = 0; i < count && (i + 1) * bytes <= 64; i++) {
            memcpy(value + (size_t)i * bytes,
                   EMU_SOURCE(uint8_t, insn->x[i]) + (size_t)lane * wide, bytes);
        }
        return;
    }
    for (i = 0; i < sizeof wide_of / sizeof wide_of[0]; i++) {
        if (insn->run == emu_handlers_base[wide_of[i][0]] ||
            insn->run == emu_handlers_avx2[wide_of[i][0]]) {
            wide = wide_of[i][1];
        }
    }
    memcpy(value, EMU_SOURCE(uint8_t, insn->b) + (size_t)lane * wide, size);
}

static int
race_access_kind(const emu_insn *insn, bool write)
{
    if (insn->run == emu_op_atom_16 || insn->run == emu_op_atom_32 ||
        insn->run == emu_op_atom_64 || insn->run == emu_op_atom_128) {
        return ATOMIC;
    }
    if (write) {
        return WRITER;
    }
    return READER;
}

/* The warp of a visit. */
static unsigned
race_warp_of(const visit *v)
{
    if (v->is_copy) {
        return COPIES;
    }
    return (v->thread - 1u) / EMU_LANES;
}

/* A visit of another warp that nothing orders before this access, or NULL. */
static const visit *
race_find_unordered(const emu_warp *warp, const shadow *s, int kind)
{
    const epochs *own = &warp->block->race->warps[warp->number];
    unsigned i;

    for (i = 0; i < 2; i++) {
        const visit *v = &s->visits[kind][i];
        unsigned other;

        if (v->thread == NO_THREAD) {
            continue;
        }
        other = race_warp_of(v);
        if (other != warp->number && own->seen[other] <= v->epoch) {
            return v;
        }
    }
    return NULL;
}

static void
race_add_visit(const emu_warp *warp, shadow *s, int kind, unsigned lane,
               emu_place place, bool is_copy)
{
    const unsigned thread = warp->number * EMU_LANES + lane;
    const emu_race *race = warp->block->race;
    visit *v = s->visits[kind];
    visit now = {.place = place,
                 .epoch = race->warps[warp->number].seen[warp->number],
                 .thread = (uint16_t)(thread + 1),
                 .is_copy = is_copy};

    if (is_copy) {
        now.epoch = race->copies;
    }
    if (v[0].thread != NO_THREAD && race_warp_of(&v[0]) != race_warp_of(&now)) {
        v[1] = v[0];
    }
    v[0] = now;
}

/* Find lanes that write different values to one address in this instruction. */
static bool
race_check_instruction(emu_warp *warp, const emu_insn *insn, uint32_t mask,
                       unsigned size, const uint64_t at[EMU_LANES])
{
    const emu_block *block = warp->block;
    uint8_t one[64], two[64];
    uint32_t left, later;

    for (left = mask; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        const uint64_t offset = at[i] - (uint64_t)(uintptr_t)block->shared;

        for (later = left & (left - 1); later; later &= later - 1) {
            const unsigned k = (unsigned)__builtin_ctz(later);
            const unsigned other = warp->number * EMU_LANES + i;

            if (at[i] != at[k] || offset >= block->shared_size) {
                continue;
            }
            race_store_value(warp, insn, i, size, one);
            race_store_value(warp, insn, k, size, two);
            if (memcmp(one, two, size) != 0) {
                char thread[48];

                emu_report_thread_text(block->grid, other, thread, sizeof thread);
                (void)emu_fault(warp, insn, CUDA_ERROR_LAUNCH_FAILED, k, offset,
                                "race: write of %u bytes at offset %llu of shared "
                                "memory; thread %s writes another value there in the "
                                "same instruction",
                                size, (unsigned long long)offset, thread);
                return false;
            }
        }
    }
    return true;
}

/* Check one byte. `same`: the access writes the value that the byte has already, which
 * is no race with another write. False after a fault. */
static bool
race_check_byte(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
                unsigned size, int kind, bool same, const shadow *s)
{
    static const int order[KINDS] = {WRITER, ATOMIC, READER};
    unsigned i;

    for (i = 0; i < KINDS; i++) {
        const visit *other;

        if ((order[i] == kind && kind != WRITER) ||
            (order[i] == WRITER && kind == WRITER && same)) {
            continue;
        }
        other = race_find_unordered(warp, s, order[i]);
        if (other) {
            return race_fault(warp, insn, lane, offset, size, kind, other, order[i]);
        }
    }
    return true;
}

/* Check and note the access of a lane to bytes of shared memory. */
static bool
race_check_bytes(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
                 unsigned size, int kind, bool reads, bool same, bool is_copy)
{
    emu_race *race = warp->block->race;
    const emu_place place = emu_report_place_of(warp->frame->func, insn);
    unsigned i;

    for (i = 0; i < size; i++) {
        shadow *s = &race->shadows[offset + i];

        if (race->checks & EMU_CHECK_RACE &&
            !race_check_byte(warp, insn, lane, offset, size, kind, same, s)) {
            return false;
        }
        if (reads && race->checks & EMU_CHECK_INIT && !s->is_written) {
            return race_fault_init(warp, insn, lane, offset, size, offset + i);
        }
    }
    for (i = 0; i < size; i++) {
        shadow *s = &race->shadows[offset + i];

        s->is_written = s->is_written || kind != READER;
        race_add_visit(warp, s, kind, lane, place, is_copy);
    }
    return true;
}

static bool
race_check_lane(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
                unsigned size, int kind)
{
    const bool reads = kind == READER || (kind == ATOMIC && insn->e != EMU_ATOM_EXCH);
    bool same = false;

    if (kind == WRITER) {
        uint8_t value[64];

        race_store_value(warp, insn, lane, size, value);
        same = memcmp(value, warp->block->shared + offset, size) == 0;
    }
    return race_check_bytes(warp, insn, lane, offset, size, kind, reads, same, false);
}

bool
emu_race_copy(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
              unsigned size, bool write)
{
    int kind = READER;

    /* a copy from shared memory counts as a read of the thread */
    if (write) {
        kind = WRITER;
    }
    return race_check_bytes(warp, insn, lane, offset, size, kind, !write, false, write);
}

bool
emu_race_access(emu_warp *warp, const emu_insn *insn, uint32_t mask, unsigned size,
                bool write, const uint64_t at[EMU_LANES])
{
    const emu_block *block = warp->block;
    const int kind = race_access_kind(insn, write);
    uint32_t left;

    if (kind == WRITER && block->race->checks & EMU_CHECK_RACE &&
        !race_check_instruction(warp, insn, mask, size, at)) {
        return false;
    }
    for (left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t offset = at[lane] - (uint64_t)(uintptr_t)block->shared;

        if (offset < block->shared_size &&
            !race_check_lane(warp, insn, lane, offset, size, kind)) {
            return false;
        }
    }
    return true;
}

/* -- barrier divergence ------------------------------------------------------------ */

static bool
race_is_syncthreads(const emu_group *group, uint32_t barrier)
{
    return group->state == EMU_GROUP_AT_BARRIER && group->barrier == barrier &&
           group->pc[-1].run == emu_op_bar_sync && group->pc[-1].aux;
}

static void
race_fault_divergence(emu_warp *warp, const emu_group *group, const emu_group *first,
                      unsigned first_thread)
{
    const emu_func *func = first->frame->func;
    const emu_place first_place = emu_report_place_of(func, first->pc - 1);
    emu_frame *frame = warp->frame;
    char thread[48], place[112];

    emu_report_thread_text(warp->block->grid, first_thread, thread, sizeof thread);
    emu_report_place_text(func->program, first_place, place, sizeof place);
    warp->frame = group->frame;
    (void)emu_fault(warp, group->pc - 1, CUDA_ERROR_LAUNCH_FAILED,
                    (unsigned)__builtin_ctz(group->mask), 0,
                    "barrier divergence: this thread waits at one __syncthreads and "
                    "thread %s at another%s",
                    thread, place);
    warp->frame = frame;
}

void
emu_race_together(emu_block *block, uint32_t barrier)
{
    const emu_group *first = NULL;
    unsigned first_thread = 0, i, k;

    if (!(block->race->checks & EMU_CHECK_BARRIER) ||
        block->barriers[barrier].expected) {
        return;
    }
    for (i = 0; i < block->warp_count; i++) {
        emu_warp *warp = &block->warps[i];

        for (k = 0; k < warp->group_count; k++) {
            const emu_group *group = &warp->groups[k];
            const unsigned lane = (unsigned)__builtin_ctz(group->mask);

            if (!race_is_syncthreads(group, barrier)) {
                continue;
            }
            if (first == NULL) {
                first = group;
                first_thread = i * EMU_LANES + lane;
            }
            else if (group->pc != first->pc) {
                race_fault_divergence(warp, group, first, first_thread);
                return;
            }
        }
    }
}
