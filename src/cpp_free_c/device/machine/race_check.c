/* Checks of shared memory and barriers. See check.h.
 *
 * Each byte of shared memory has a shadow: whether it was written, and for each kind of
 * access the last ones of two different warps. With barriers of the whole block two are
 * enough: whatever warp comes next, one of them is of another. (Where barriers take a
 * part of it, a race with a third warp can go unseen.) An access of warp v in its epoch
 * e is ordered before what warp w does now when w has seen more than e epochs of v. */
#include "device/machine/race_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/compile/encoding.h"

enum { NOBODY = 0 };
enum { READER, WRITER, ATOMIC, KINDS };

typedef struct {
    emu_place place;
    uint32_t epoch;
    uint16_t thread; /* in the block, plus one; NOBODY */
} visit;

typedef struct {
    visit visits[KINDS][2]; /* of two warps at most, the latest first */
    bool is_written;
} shadow;

typedef struct {
    uint32_t seen[EMU_MAX_WARPS]; /* epochs of each warp */
} epochs;

struct emu_check {
    unsigned checks;
    size_t room; /* shadows */
    shadow *shadows;
    epochs warps[EMU_MAX_WARPS];
    epochs barriers[EMU_BARRIERS];
    epochs exited;
};

/* -- what is asked for ------------------------------------------------------------- */

bool
emu_check_parse(const char *text, unsigned *out)
{
    static const struct {
        const char *name;
        unsigned checks;
    } names[] = {{"init", EMU_CHECK_INIT},
                 {"race", EMU_CHECK_RACE},
                 {"barrier", EMU_CHECK_BARRIER},
                 {"all", EMU_CHECK_INIT | EMU_CHECK_RACE | EMU_CHECK_BARRIER}};
    const size_t count = sizeof names / sizeof names[0];

    *out = 0;
    while (text && *text) {
        const size_t length = strcspn(text, ",");
        size_t i = 0;

        while (i < count && (strlen(names[i].name) != length ||
                             strncmp(names[i].name, text, length) != 0)) {
            i++;
        }
        if (i == count) {
            return false;
        }
        *out |= names[i].checks;
        text += length;
        text += *text == ',';
    }
    return true;
}

unsigned
emu_check_wanted(void)
{
    unsigned checks;

    /* cuInit has refused what cannot be understood */
    return emu_check_parse(getenv("PYCUDA_EMULATOR_CHECK"), &checks) ? checks : 0;
}

/* -- blocks ------------------------------------------------------------------------ */

bool
emu_check_begin(emu_block *block, unsigned checks)
{
    emu_check *check = block->check;

    block->shared_quick = block->shared_size;
    if (!checks) {
        emu_check_free(block);
        return true;
    }
    if (!check) {
        check = block->check = calloc(1, sizeof *check);
        if (!check) {
            return false;
        }
    }
    if (check->room < block->shared_size) {
        free(check->shadows);
        check->room = 0;
        check->shadows = malloc(block->shared_size * sizeof *check->shadows);
        if (!check->shadows) {
            return false;
        }
        check->room = block->shared_size;
    }
    check->checks = checks;
    if (block->shared_size) {
        memset(check->shadows, 0, block->shared_size * sizeof *check->shadows);
    }
    memset(check->warps, 0, sizeof check->warps);
    memset(check->barriers, 0, sizeof check->barriers);
    memset(&check->exited, 0, sizeof check->exited);
    if (checks & (EMU_CHECK_INIT | EMU_CHECK_RACE)) {
        block->shared_quick = 0;
    }
    return true;
}

void
emu_check_free(emu_block *block)
{
    if (block->check) {
        free(block->check->shadows);
        free(block->check);
        block->check = NULL;
    }
}

/* -- barriers ---------------------------------------------------------------------- */

static void
join(epochs *into, const epochs *from)
{
    unsigned i;

    for (i = 0; i < EMU_MAX_WARPS; i++) {
        if (from->seen[i] > into->seen[i]) {
            into->seen[i] = from->seen[i];
        }
    }
}

/* What the warp did until now is over; `into` knows it. */
static void
publish(emu_warp *warp, epochs *into)
{
    epochs *own = &warp->block->check->warps[warp->number];

    own->seen[warp->number]++;
    join(into, own);
}

void
emu_check_arrive(emu_warp *warp, uint32_t barrier)
{
    publish(warp, &warp->block->check->barriers[barrier]);
}

void
emu_check_leave(emu_warp *warp, uint32_t barrier)
{
    emu_check *check = warp->block->check;

    join(&check->warps[warp->number], &check->barriers[barrier]);
    join(&check->warps[warp->number], &check->exited);
}

void
emu_check_released(emu_block *block, uint32_t barrier)
{
    memset(&block->check->barriers[barrier], 0, sizeof block->check->barriers[barrier]);
}

void
emu_check_exit(emu_warp *warp)
{
    publish(warp, &warp->block->check->exited);
}

/* -- reports ----------------------------------------------------------------------- */

static bool
fault_init(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
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
fault_race(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
           unsigned size, int kind, const visit *other, int other_kind)
{
    char thread[48], place[112];

    emu_thread_text(warp->block->grid, other->thread - 1u, thread, sizeof thread);
    emu_place_text(warp->frame->func->program, other->place, place, sizeof place);
    (void)emu_fault(
        warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, offset,
        "race: %s of %u bytes at offset %llu of shared memory and the %s by "
        "thread %s%s, with no __syncthreads between them",
        kind_words[kind], size, (unsigned long long)offset, kind_words[other_kind],
        thread, place);
    return false;
}

/* -- accesses ---------------------------------------------------------------------- */

/* Of the value in `lane` that a store writes, `size` bytes. */
static void
stored(emu_warp *warp, const emu_insn *insn, unsigned lane, unsigned size,
       uint8_t value[64])
{
    static const uint16_t wide_of[][2] = {
        {EMU_OP_st_8_16, 2},  {EMU_OP_st_8_32, 4},  {EMU_OP_st_8_64, 8},
        {EMU_OP_st_16_16, 2}, {EMU_OP_st_16_32, 4}, {EMU_OP_st_16_64, 8},
        {EMU_OP_st_32_32, 4}, {EMU_OP_st_32_64, 8}, {EMU_OP_st_64_64, 8}};
    unsigned i, wide = 16;

    if (insn->run == emu_ops_base[EMU_OP_st_vector] ||
        insn->run == emu_ops_avx2[EMU_OP_st_vector]) {
        const unsigned count = insn->e >> 16 & 0xff, bytes = insn->e >> 8 & 0xff;

        wide = insn->e & 0xff;
        for (i = 0; i < count && (i + 1) * bytes <= 64; i++) {
            memcpy(value + (size_t)i * bytes,
                   EMU_SOURCE(uint8_t, insn->x[i]) + (size_t)lane * wide, bytes);
        }
        return;
    }
    for (i = 0; i < sizeof wide_of / sizeof wide_of[0]; i++) {
        if (insn->run == emu_ops_base[wide_of[i][0]] ||
            insn->run == emu_ops_avx2[wide_of[i][0]]) {
            wide = wide_of[i][1];
        }
    }
    memcpy(value, EMU_SOURCE(uint8_t, insn->b) + (size_t)lane * wide, size);
}

static int
kind_of(const emu_insn *insn, bool write)
{
    if (insn->run == emu_op_atom_16 || insn->run == emu_op_atom_32 ||
        insn->run == emu_op_atom_64) {
        return ATOMIC;
    }
    return write ? WRITER : READER;
}

/* The visit of another warp that nothing orders before this one; NULL: none. */
static const visit *
unordered(const emu_warp *warp, const shadow *s, int kind)
{
    const epochs *own = &warp->block->check->warps[warp->number];
    unsigned i;

    for (i = 0; i < 2; i++) {
        const visit *v = &s->visits[kind][i];
        const unsigned other =
            v->thread == NOBODY ? warp->number : (v->thread - 1u) / EMU_LANES;

        if (other != warp->number && own->seen[other] <= v->epoch) {
            return v;
        }
    }
    return NULL;
}

static void
note(const emu_warp *warp, shadow *s, int kind, unsigned lane, emu_place place)
{
    const unsigned thread = warp->number * EMU_LANES + lane;
    visit *v = s->visits[kind];

    if (v[0].thread != NOBODY && (v[0].thread - 1u) / EMU_LANES != warp->number) {
        v[1] = v[0];
    }
    v[0] = (visit){.place = place,
                   .epoch = warp->block->check->warps[warp->number].seen[warp->number],
                   .thread = (uint16_t)(thread + 1)};
}

/* Lanes that write different values to one address in this instruction. */
static bool
check_instruction(emu_warp *warp, const emu_insn *insn, uint32_t mask, unsigned size,
                  const uint64_t at[EMU_LANES])
{
    const emu_block *block = warp->block;
    uint8_t one[64], two[64];
    uint32_t left, later;

    for (left = mask; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        const uint64_t offset = at[i] - (uint64_t)(uintptr_t)block->shared;

        for (later = left & (left - 1); later; later &= later - 1) {
            const unsigned k = (unsigned)__builtin_ctz(later);
            visit other = {.thread = (uint16_t)(warp->number * EMU_LANES + i + 1)};

            if (at[i] != at[k] || offset >= block->shared_size) {
                continue;
            }
            stored(warp, insn, i, size, one);
            stored(warp, insn, k, size, two);
            if (memcmp(one, two, size) != 0) {
                char thread[48];

                emu_thread_text(block->grid, other.thread - 1u, thread, sizeof thread);
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

/* False after a fault: another access races with this one. `same`: it writes what is
 * there already, which is no race with another write. */
static bool
check_byte(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
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
        other = unordered(warp, s, order[i]);
        if (other) {
            return fault_race(warp, insn, lane, offset, size, kind, other, order[i]);
        }
    }
    return true;
}

static bool
check_lane(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
           unsigned size, int kind, emu_place place)
{
    emu_block *block = warp->block;
    emu_check *check = block->check;
    const bool reads = kind == READER || (kind == ATOMIC && insn->e != EMU_ATOM_EXCH);
    bool same = false;
    unsigned i;

    if (kind == WRITER) {
        uint8_t value[64];

        stored(warp, insn, lane, size, value);
        same = memcmp(value, block->shared + offset, size) == 0;
    }
    for (i = 0; i < size; i++) {
        shadow *s = &check->shadows[offset + i];

        if (check->checks & EMU_CHECK_RACE &&
            !check_byte(warp, insn, lane, offset, size, kind, same, s)) {
            return false;
        }
        if (reads && check->checks & EMU_CHECK_INIT && !s->is_written) {
            return fault_init(warp, insn, lane, offset, size, offset + i);
        }
    }
    for (i = 0; i < size; i++) {
        shadow *s = &check->shadows[offset + i];

        s->is_written = s->is_written || kind != READER;
        note(warp, s, kind, lane, place);
    }
    return true;
}

bool
emu_check_shared(emu_warp *warp, const emu_insn *insn, uint32_t mask, unsigned size,
                 bool write, const uint64_t at[EMU_LANES])
{
    const emu_block *block = warp->block;
    const int kind = kind_of(insn, write);
    const emu_place place = emu_place_of(warp->frame->func, insn);
    uint32_t left;

    if (kind == WRITER && block->check->checks & EMU_CHECK_RACE &&
        !check_instruction(warp, insn, mask, size, at)) {
        return false;
    }
    for (left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t offset = at[lane] - (uint64_t)(uintptr_t)block->shared;

        if (offset < block->shared_size &&
            !check_lane(warp, insn, lane, offset, size, kind, place)) {
            return false;
        }
    }
    return true;
}

/* -- barriers that the block does not reach together ------------------------------- */

static bool
is_syncthreads(const emu_group *group, uint32_t barrier)
{
    return group->state == EMU_AT_BARRIER && group->barrier == barrier &&
           group->pc[-1].run == emu_op_bar_sync && group->pc[-1].aux;
}

void
emu_check_together(emu_block *block, uint32_t barrier)
{
    const emu_group *first = NULL;
    unsigned first_thread = 0, i, k;

    if (!(block->check->checks & EMU_CHECK_BARRIER) ||
        block->barriers[barrier].expected) {
        return;
    }
    for (i = 0; i < block->warp_count; i++) {
        emu_warp *warp = &block->warps[i];

        for (k = 0; k < warp->group_count; k++) {
            const emu_group *group = &warp->groups[k];
            const unsigned lane = (unsigned)__builtin_ctz(group->mask);

            if (!is_syncthreads(group, barrier)) {
                continue;
            }
            if (!first) {
                first = group;
                first_thread = i * EMU_LANES + lane;
            }
            else if (group->pc != first->pc) {
                emu_frame *frame = warp->frame;
                char thread[48], place[112];

                emu_thread_text(block->grid, first_thread, thread, sizeof thread);
                emu_place_text(first->frame->func->program,
                               emu_place_of(first->frame->func, first->pc - 1), place,
                               sizeof place);
                warp->frame = group->frame;
                (void)emu_fault(warp, group->pc - 1, CUDA_ERROR_LAUNCH_FAILED, lane, 0,
                                "barrier divergence: this thread waits at one "
                                "__syncthreads and thread %s at another%s",
                                thread, place);
                warp->frame = frame;
                return;
            }
        }
    }
}
