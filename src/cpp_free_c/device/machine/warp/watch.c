/* The watch. See warp.h. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "device/compile/encoding.h"
#include "device/machine/warp/access_count.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/wait.h"
#include "device/machine/warp/warp.h"
#include "device/ptx/words.h"

enum { MAX_READS = 64, MAX_FRAMES = 64, MAX_BYTES = 16 };

struct emu_watch {
    emu_handler run; /* runs an instruction, with the checks of the block */
    emu_watch_read reads[MAX_READS];
    unsigned read_count;
    uint32_t turn;       /* the present turn */
    uint32_t newest;     /* the turn of the last read that was new */
    uint32_t saved_turn; /* the turn of the saved state */
    bool overflow;       /* there were more reads than MAX_READS */
    bool changed;        /* the block has changed memory, or may have */
    bool timed;          /* the block has read a clock */
    bool spins;          /* it has run an operation of loops that wait */
    bool host;           /* it has read memory that the host may write to */
    uint8_t *saved;      /* a state of the block */
    size_t used, room;
    bool compares; /* compare with the saved state, do not save */
    size_t at;     /* bytes of the saved state that are compared */
};

/* -- accesses ---------------------------------------------------------------------- */

/* Whether an address of an access is in global memory. */
static bool
watch_is_global(const emu_warp *warp, const emu_insn *insn, uint64_t address)
{
    const uint32_t space = insn->aux & EMU_AT_MASK;
    const emu_grid *grid = warp->block->grid;

    return space <= EMU_AT_GLOBAL && address < EMU_SHARED_WINDOW &&
           address - (uint64_t)(uintptr_t)grid->params >= grid->params_size;
}

/* Whether the host or another process can write to an address without the device. */
static bool
watch_is_host_memory(uint64_t address)
{
    const emu_allocation *found = emu_memory_find(address);

    return found &&
           (found->mapped || found->kind == EMU_MEMORY_HOST ||
            found->kind == EMU_MEMORY_REGISTERED || found->kind == EMU_MEMORY_MANAGED ||
            found->kind == EMU_MEMORY_IPC || found->kind == EMU_MEMORY_GRAPHICS);
}

static void
watch_note_read(emu_watch *watch, emu_warp *warp, const emu_insn *insn,
                const uint64_t address[EMU_LANES])
{
    emu_watch_read read = {.warp = warp, .func = warp->frame->func, .insn = insn};
    uint32_t left;
    unsigned i;

    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        if (watch_is_global(warp, insn, address[lane])) {
            if (!read.address) {
                read.address = address[lane];
                read.lane = lane;
            }
            read.pattern = (read.pattern ^ address[lane]) * 0x9e3779b97f4a7c15u + lane;
            watch->host |= watch_is_host_memory(address[lane]);
        }
    }
    if (!read.address || watch->overflow) {
        return;
    }
    for (i = 0; i < watch->read_count; i++) {
        if (watch->reads[i].insn == insn && watch->reads[i].warp == warp &&
            watch->reads[i].pattern == read.pattern) {
            return;
        }
    }
    watch->newest = watch->turn;
    if (watch->read_count == MAX_READS) {
        watch->overflow = true;
        return;
    }
    watch->reads[watch->read_count++] = read;
}

/* Copy the bytes of global memory that an access may change. */
typedef struct {
    const uint8_t *at[EMU_LANES]; /* NULL: none */
    uint8_t bytes[EMU_LANES][MAX_BYTES * 4];
    unsigned size;
} before;

/* Copy bytes that other threads may write to meanwhile. */
static void
watch_load_bytes(uint8_t *to, const uint8_t *from, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
    }
}

static void
watch_keep_before(before *kept, emu_warp *warp, const emu_insn *insn, unsigned size,
                  const uint64_t address[EMU_LANES])
{
    uint32_t left;

    memset(kept->at, 0, sizeof kept->at);
    kept->size = size;
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        if (watch_is_global(warp, insn, address[lane])) {
            kept->at[lane] = emu_address_global(warp, address[lane], size);
            if (kept->at[lane]) {
                watch_load_bytes(kept->bytes[lane], kept->at[lane], size);
            }
        }
    }
}

static bool
watch_has_changed(const before *kept)
{
    uint8_t now[sizeof kept->bytes[0]];

    for (unsigned lane = 0; lane < EMU_LANES; lane++) {
        if (kept->at[lane]) {
            watch_load_bytes(now, kept->at[lane], kept->size);
            if (memcmp(kept->bytes[lane], now, kept->size) != 0) {
                return true;
            }
        }
    }
    return false;
}

static const emu_insn *
watch_step_access(emu_watch *watch, emu_warp *warp, const emu_insn *insn)
{
    const unsigned size = emu_access_bytes(insn);
    const bool writes = emu_access_writes(insn);
    uint64_t address[EMU_LANES];
    before kept;

    emu_address_of_lanes(warp, insn, address);
    if (!writes || emu_op_effect(insn->op) == EMU_EFFECT_UPDATE) {
        watch_note_read(watch, warp, insn, address);
    }
    if (!writes) {
        return watch->run(warp, insn);
    }
    if (size > sizeof kept.bytes[0]) {
        watch->changed = true;
        return watch->run(warp, insn);
    }
    watch_keep_before(&kept, warp, insn, size, address);
    const emu_insn *next = watch->run(warp, insn);
    watch->changed |= watch_has_changed(&kept);
    return next;
}

static bool
watch_is_clock(unsigned special)
{
    switch (special) {
        case PTX_S_clock:
        case PTX_S_clock_hi:
        case PTX_S_clock64:
        case PTX_S_globaltimer:
        case PTX_S_globaltimer_hi:
        case PTX_S_globaltimer_lo:
            return true;
        default:
            return false;
    }
}

/* The run of a watch of a block without checks. */
static const emu_insn *
watch_run_insn(emu_warp *warp, const emu_insn *insn)
{
    return insn->run(warp, insn);
}

/* Run one instruction and observe it. */
static const emu_insn *
watch_step(emu_watch *watch, emu_warp *warp, const emu_insn *insn)
{
    const emu_effect effect = emu_op_effect(insn->op);
    const emu_insn *next;
    uint32_t mask, bits;

    switch (effect) {
        case EMU_EFFECT_GUARD: /* as emu_op_guard */
            mask = warp->mask;
            bits = emu_predicate(warp, insn->a, insn->aux != 0);
            if (!(mask & bits)) {
                return insn + 1 + insn->imm;
            }
            warp->mask = mask & bits;
            next = watch_step(watch, warp, insn + 1);
            warp->mask = mask;
            return next;
        case EMU_EFFECT_READ:
        case EMU_EFFECT_WRITE:
        case EMU_EFFECT_UPDATE:
        case EMU_EFFECT_NEW_OBJECT:
        case EMU_EFFECT_CHANGE_OBJECT:
        case EMU_EFFECT_TEST_OBJECT:
            watch->spins |= effect == EMU_EFFECT_UPDATE;
            return watch_step_access(watch, warp, insn);
        case EMU_EFFECT_CLOCK:
            watch->timed |= watch_is_clock(insn->aux);
            break;
        case EMU_EFFECT_SPIN:
        case EMU_EFFECT_FENCE:
            watch->spins = true;
            break;
        case EMU_EFFECT_ACT:
            watch->changed = true;
            break;
        case EMU_EFFECT_COUNT:
            emu_access_count(warp, insn);
            return watch_step(watch, warp, insn + 1);
        case EMU_EFFECT_ROUND:
        case EMU_EFFECT_MEET:
        case EMU_EFFECT_PLAIN:
            break;
    }
    return watch->run(warp, insn);
}

/* Run a warp of a watched block until it stops. */
static void
watch_run_warp(emu_warp *warp)
{
    emu_watch *watch = warp->block->watch;

    warp->rotate = true; /* give all groups of lanes their turn */
    warp->spins = 0;
    const emu_insn *insn = emu_group_switch(warp);
    while (insn) {
        insn = watch_step(watch, warp, insn);
    }
}

/* -- states ------------------------------------------------------------------------ */

/* Save a part of the state, or compare it with the saved state. False: it differs, or
 * out of memory. */
static bool
watch_part(emu_watch *watch, const void *bytes, size_t size)
{
    if (watch->compares) {
        if (size > watch->used - watch->at ||
            memcmp(watch->saved + watch->at, bytes, size) != 0) {
            return false;
        }
        watch->at += size;
        return true;
    }
    if (size > watch->room - watch->used) {
        const size_t room = (watch->used + size) * 5 / 4;
        uint8_t *larger = realloc(watch->saved, room);

        if (larger == NULL) {
            return false;
        }
        watch->saved = larger;
        watch->room = room;
    }
    memcpy(watch->saved + watch->used, bytes, size);
    watch->used += size;
    return true;
}

/* The places of the lanes of a warp; groups in the order in which they will run. */
static bool
watch_places(emu_watch *watch, const emu_warp *warp)
{
    uint8_t order[EMU_LANES];
    const uint32_t head[] = {warp->alive, (uint32_t)warp->turns, warp->group_count};
    unsigned i, k;

    if (!watch_part(watch, head, sizeof head)) {
        return false;
    }
    for (i = 0; i < warp->group_count; i++) {
        for (k = i; k > 0 && warp->groups[order[k - 1]].stamp > warp->groups[i].stamp;
             k--) {
            order[k] = order[k - 1];
        }
        order[k] = (uint8_t)i;
    }
    for (i = 0; i < warp->group_count; i++) {
        const emu_group *group = &warp->groups[order[i]];
        const uint64_t words[] = {(uintptr_t)group->pc, (uintptr_t)group->frame,
                                  group->mask,          group->state,
                                  group->barrier,       group->need};

        if (!watch_part(watch, words, sizeof words)) {
            return false;
        }
    }
    return true;
}

/* The registers, and the part of local memory that is in use. */
static bool
watch_values(emu_watch *watch, const emu_warp *warp)
{
    const emu_frame *seen[MAX_FRAMES];
    unsigned count = 0, i, k;
    uint32_t local = 0, left;

    for (i = 0; i < warp->group_count; i++) {
        const emu_frame *frame;

        for (frame = warp->groups[i].frame; frame; frame = frame->parent) {
            for (k = 0; k < count && seen[k] != frame; k++) {
            }
            if (k < count) {
                break; /* its callers are saved too */
            }
            if (count < MAX_FRAMES) {
                seen[count++] = frame;
            }
            if (frame->local_end > local) {
                local = frame->local_end;
            }
            if (!watch_part(watch, &frame->parent, sizeof frame->parent) ||
                !watch_part(watch, frame->regs, frame->func->frame_size)) {
                return false;
            }
        }
    }
    for (left = warp->alive; local && left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        if (!watch_part(watch, warp->local + lane * warp->local_stride, local)) {
            return false;
        }
    }
    return true;
}

/* Save or compare the whole block, cheap parts first. */
static bool
watch_state(emu_watch *watch, const emu_block *block)
{
    unsigned i;

    for (i = 0; i < block->warp_count; i++) {
        if (!watch_places(watch, &block->warps[i])) {
            return false;
        }
    }
    if (!watch_part(watch, block->barriers, sizeof block->barriers)) {
        return false;
    }
    for (i = 0; i < block->warp_count; i++) {
        if (!watch_values(watch, &block->warps[i])) {
            return false;
        }
    }
    return watch_part(watch, block->shared, block->shared_size);
}

static bool
watch_save_state(emu_watch *watch, const emu_block *block)
{
    watch->compares = false;
    watch->used = 0;
    watch->read_count = 0;
    watch->overflow = false;
    watch->timed = false;
    watch->host = false;
    watch->newest = watch->saved_turn = watch->turn;
    return watch_state(watch, block);
}

static bool
watch_state_recurs(emu_watch *watch, const emu_block *block)
{
    watch->compares = true;
    watch->at = 0;
    return watch_state(watch, block) && watch->at == watch->used;
}

/* -- watching ---------------------------------------------------------------------- */

/* Give the block turns until its state recurs. False: it did not recur, or something
 * ended the watch. */
static bool
watch_run_until_repeat(emu_watch *watch, emu_block *block, uint32_t turns,
                       emu_block_state *state)
{
    uint32_t next_save = 1;
    bool is_saved = watch_save_state(watch, block);

    while (watch->turn < turns && is_saved && !watch->changed) {
        watch->turn++;
        *state = emu_block_turn(block);
        if (*state != EMU_BLOCK_MORE) {
            return false;
        }
        if (watch_state_recurs(watch, block)) {
            return true;
        }
        if (watch->turn == next_save && watch->turn < turns) {
            next_save *= 2; /* the period may be longer */
            is_saved = watch_save_state(watch, block);
        }
    }
    return false;
}

/* Whether the reads of a block look like those of one that waits. */
static bool
watch_seems_to_wait(const emu_watch *watch)
{
    return watch->spins && watch->read_count && !watch->overflow &&
           watch->turn >= watch->saved_turn + 16 &&
           watch->newest < (watch->saved_turn + watch->turn) / 2;
}

emu_watch_result
emu_watch_block(emu_watch *watch, emu_block *block, uint32_t turns,
                emu_block_state *state)
{
    void (*const run_warp)(emu_warp * warp) = block->run_warp;

    watch->run = watch_run_insn;
    if (run_warp == emu_checked_run || (block->is_trial && block->trial_left > 0)) {
        watch->run = emu_checked_step; /* a trial with gaps would miss barriers */
    }
    watch->turn = 0;
    watch->changed = false;
    watch->spins = false;
    *state = EMU_BLOCK_MORE;
    emu_block_settle(block);
    block->watch = watch;
    block->run_warp = watch_run_warp;
    bool repeats = watch_run_until_repeat(watch, block, turns, state);
    block->watch = NULL;
    block->run_warp = run_warp;
    if (*state != EMU_BLOCK_MORE || watch->changed) {
        return EMU_MOVES;
    }
    if (repeats && !watch->timed) {
        return EMU_WAITS;
    }
    if (repeats || watch_seems_to_wait(watch)) {
        return EMU_SEEMS_TO_WAIT;
    }
    return EMU_MOVES;
}

unsigned
emu_watch_reads(const emu_watch *watch, const emu_watch_read **reads)
{
    *reads = watch->reads;
    return watch->read_count;
}

bool
emu_watch_reads_host_memory(const emu_watch *watch)
{
    return watch->host;
}

emu_watch *
emu_watch_new(void)
{
    return calloc(1, sizeof(emu_watch));
}

void
emu_watch_free(emu_watch *watch)
{
    if (watch) {
        free(watch->saved);
        free(watch);
    }
}

/* -- the proof that a grid cannot make progress ------------------------------------ */

enum { GRACE = 1000000000 }; /* nanoseconds */

uint64_t
emu_proof_join(emu_grid *grid, emu_proof_part *part)
{
    emu_proof *proof = &grid->proof;

    (void)pthread_mutex_lock(&proof->lock);
    if (!part->is_still) {
        part->is_still = true;
        proof->still++;
    }
    if (!proof->is_open && proof->still == atomic_load(&grid->active)) {
        proof->is_open = true;
        proof->epoch++;
        proof->votes = 0;
        proof->host = false;
        proof->since = emu_clock_steady();
    }
    uint64_t epoch = 0;
    if (proof->is_open) {
        epoch = proof->epoch;
    }
    (void)pthread_mutex_unlock(&proof->lock);
    return epoch;
}

void
emu_proof_vote(emu_grid *grid, emu_proof_part *part, uint64_t epoch, bool host)
{
    emu_proof *proof = &grid->proof;

    (void)pthread_mutex_lock(&proof->lock);
    if (proof->is_open && proof->epoch == epoch && part->voted != epoch) {
        part->voted = epoch;
        proof->votes++;
        proof->host |= host;
    }
    (void)pthread_mutex_unlock(&proof->lock);
}

void
emu_proof_leave(emu_grid *grid, emu_proof_part *part)
{
    emu_proof *proof = &grid->proof;

    (void)pthread_mutex_lock(&proof->lock);
    if (part->is_still) {
        part->is_still = false;
        proof->still--;
    }
    proof->is_open = false;
    (void)pthread_mutex_unlock(&proof->lock);
}

void
emu_proof_judge(emu_grid *grid)
{
    emu_proof *proof = &grid->proof;

    (void)pthread_mutex_lock(&proof->lock);
    bool proven = proof->is_open && !proof->host && proof->votes &&
                  proof->votes == atomic_load(&grid->active);
    uint64_t since = proof->since;
    (void)pthread_mutex_unlock(&proof->lock);
    emu_wait_set_stuck(proven);
    if (!proven) {
        return;
    }
    if (proof->last_free < since || emu_wait_is_any_free(&proof->ends)) {
        proof->last_free = emu_clock_steady();
    }
    else if (emu_clock_steady() - proof->last_free > GRACE) {
        if (emu_wait_is_any_new()) {
            proof->last_free = emu_clock_steady();
        }
        else {
            atomic_store(&grid->stuck, true);
        }
    }
}
