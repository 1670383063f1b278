/* Workers. See execution.h. Idle workers keep their block and their frames for the next
 * launch. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/sync_check/uses.h"
#include "device/machine/grid/execution.h"
#include "device/machine/warp/report.h"
#include "device/machine/warp/wait.h"
#include "device/machine/warp/warp.h"

enum { KEEP_BYTES = 1 << 24 }; /* the most memory of an idle worker */

static struct {
    pthread_mutex_t lock;
    emu_worker *first;
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void
idle_free_frames(emu_worker *worker)
{
    unsigned bin;

    for (bin = 0; bin < EMU_FRAME_SIZES; bin++) {
        while (worker->free_frames[bin]) {
            emu_frame *next = worker->free_frames[bin]->parent;

            free(worker->free_frames[bin]->regs);
            free(worker->free_frames[bin]);
            worker->free_frames[bin] = next;
        }
    }
    worker->frame_bytes = 0;
}

static emu_worker *
idle_worker_take(void)
{
    emu_worker *worker;

    (void)pthread_mutex_lock(&idle.lock);
    worker = idle.first;
    if (worker) {
        idle.first = worker->next;
    }
    (void)pthread_mutex_unlock(&idle.lock);
    if (worker == NULL) {
        worker = calloc(1, sizeof *worker);
    }
    return worker;
}

static void
idle_free(emu_worker *worker)
{
    idle_free_frames(worker);
    emu_block_free(worker->block);
    emu_use_log_free(worker->uses);
    free(worker);
}

static void
idle_worker_give(emu_worker *worker)
{
    const emu_block *block = worker->block;

    if (worker->frame_bytes > KEEP_BYTES ||
        (block &&
         block->regs_room + block->local_room + block->shared_room > KEEP_BYTES)) {
        idle_free(worker);
        return;
    }
    (void)pthread_mutex_lock(&idle.lock);
    worker->next = idle.first;
    idle.first = worker;
    (void)pthread_mutex_unlock(&idle.lock);
}

/* -- the blocks of a grid ---------------------------------------------------------- */

enum {
    SUSPECT = 2000000, /* a block that has run for this time may be waiting */
    WATCH_SHARE = 200, /* watching takes at most 1 / WATCH_SHARE of the time */
    WATCH_TURNS = 32,  /* turns of the first watch */
    WATCH_TURNS_MOST = 1 << 16,
    SLEEP = 100000, /* the first pause between two watches of a grid that waits */
    SLEEP_MOST = 2000000,
    PLACES = 3,
    LARGE_GRID = 4096, /* clusters */
    TAKEN_LEAST = 8,   /* how many of them a crew takes at once */
    TAKEN_MOST = 256,
    HELP_AFTER = 10000, /* nanoseconds: waking other threads takes about as long */
    SHARES = 32 /* parts of the grid for each thread, if they are not too large */
};

/* -- a worker and its blocks ------------------------------------------------------- */

/* An instruction at which blocks wait. */
typedef struct {
    emu_watch_read read;
    unsigned warps;
} place;

typedef struct emu_crew {
    emu_worker *worker;
    emu_grid *grid;
    emu_block **blocks; /* the first `live` run, the others may be reused */
    size_t live, count, room;
    uint64_t next, end;   /* clusters that only this crew begins */
    uint64_t help_at;     /* when the first crew wakes the others; 0: not again */
    unsigned clusters;    /* to which the live blocks belong */
    emu_watch *watch;     /* made at its first use */
    uint64_t watch_at;    /* when to watch next; 0: not set yet */
    uint32_t watch_turns; /* how many turns it takes */
    bool waits;           /* counted in grid->waiting */
    bool quiet;           /* it only watches */
    emu_proof_part part;  /* in the proof that the grid is stuck */
    long sleep;
    place places[PLACES]; /* of its last watch */
    unsigned place_count;
    bool host; /* its blocks wait for memory that the host can write to */
} crew;

static bool
crew_has_failed(const crew *c)
{
    return atomic_load_explicit(&c->grid->failed, memory_order_relaxed) != 0;
}

/* Whether the thread runs no more blocks now. */
static bool
crew_stops(const crew *c)
{
    return crew_has_failed(c) || c->worker->leaves;
}

static bool
crew_takes_turns(const crew *c)
{
    return atomic_load_explicit(&c->grid->takes_turns, memory_order_relaxed);
}

static bool
crew_has_blocks_left(const crew *c)
{
    return c->next < c->end ||
           atomic_load(&c->grid->next_cluster) < c->grid->cluster_count;
}

/* Reserve a place for one resident cluster. False: the grid has as many resident
 * clusters as it may have. */
static bool
grid_take_slot(emu_grid *grid)
{
    unsigned resident = atomic_load(&grid->resident);

    while (resident < grid->max_resident) {
        if (atomic_compare_exchange_weak(&grid->resident, &resident, resident + 1)) {
            return true;
        }
    }
    return false;
}

static void
grid_return_slot(emu_grid *grid)
{
    atomic_fetch_sub(&grid->resident, 1);
}

static void
crew_set_waits(crew *c, bool waits)
{
    if (c->waits != waits) {
        c->waits = waits;
        if (waits) {
            atomic_fetch_add(&c->grid->waiting, 1);
        }
        else {
            atomic_fetch_sub(&c->grid->waiting, 1);
        }
    }
}

/* Begin the block with this number. False: out of memory. */
static bool
crew_begin(crew *c, uint64_t number)
{
    if (c->live == c->room) {
        const size_t room = c->room * 2 + 8;
        emu_block **larger = malloc(room * sizeof *larger);

        if (larger == NULL) {
            return false;
        }
        memcpy(larger, c->blocks, c->count * sizeof *larger);
        if (c->blocks != &c->worker->block) {
            free(c->blocks);
        }
        c->blocks = larger;
        c->room = room;
    }
    if (c->live == c->count) {
        c->blocks[c->count] = emu_block_new(c->worker);
        if (c->blocks[c->count] == NULL) {
            return false;
        }
        c->count++;
    }
    if (!emu_block_begin(c->blocks[c->live], c->grid, number)) {
        return false;
    }
    c->live++;
    return true;
}

/* Begin all blocks of a cluster. False: out of memory. */
static bool
crew_begin_cluster(crew *c, uint64_t number)
{
    emu_cluster *cluster;

    if (c->grid->cluster_size == 1) {
        return crew_begin(c, number);
    }
    cluster = emu_cluster_new();
    for (uint32_t rank = 0; cluster && rank < c->grid->cluster_size; rank++) {
        if (!crew_begin(c, emu_cluster_block_number(c->grid, number, rank))) {
            if (rank == 0) {
                free(cluster); /* no block has it */
            }
            return false;
        }
        emu_cluster_join(cluster, c->blocks[c->live - 1], rank);
    }
    return cluster != NULL;
}

/* How many clusters a crew takes at once: several of a large grid. Neighbours mostly
 * access neighbouring memory, and the processor fetches memory ahead along long runs
 * only. All threads still get parts until the end of the grid. */
static uint64_t
grid_share(const emu_grid *grid)
{
    uint64_t count;

    if (grid->cluster_count < LARGE_GRID) {
        return 1;
    }
    count = grid->cluster_count / ((uint64_t)SHARES * grid->worker_count);
    if (count < TAKEN_LEAST) {
        return TAKEN_LEAST;
    }
    if (count > TAKEN_MOST) {
        return TAKEN_MOST;
    }
    return count;
}

/* Take clusters of the grid for this crew. False: there is none. */
static bool
crew_take(crew *c)
{
    const uint64_t count = grid_share(c->grid);

    c->next = atomic_fetch_add(&c->grid->next_cluster, count);
    c->end = c->next + count;
    if (c->end > c->grid->cluster_count) {
        c->end = c->grid->cluster_count;
    }
    return c->next < c->end;
}

/* Begin the next cluster of the grid. False: there is none, or out of memory. */
static bool
crew_next(crew *c)
{
    if (c->next >= c->end && !crew_take(c)) {
        return false;
    }
    if (!crew_begin_cluster(c, c->next++)) {
        emu_cancel_no_memory(c->grid);
        return false;
    }
    c->clusters++;
    return true;
}

/* Remove a block that has ended. */
static void
crew_retire(crew *c, size_t index)
{
    emu_block *block = c->blocks[index];

    c->live--;
    c->blocks[index] = c->blocks[c->live];
    c->blocks[c->live] = block;
    if (emu_cluster_leave(block)) {
        c->clusters--;
        if (c->live) {
            grid_return_slot(c->grid);
        }
    }
}

/* -- watching ---------------------------------------------------------------------- */

static void
crew_add_place(crew *c, const emu_watch_read *read)
{
    unsigned i;

    for (i = 0; i < c->place_count && c->places[i].read.insn != read->insn; i++) {
    }
    if (i < c->place_count) {
        c->places[i].warps++;
    }
    else if (i < PLACES) {
        c->places[c->place_count++] = (place){*read, 1};
    }
}

static void
crew_add_places(crew *c)
{
    const emu_watch_read *reads;
    const unsigned count = emu_watch_reads(c->watch, &reads);
    unsigned i;

    for (i = 0; i < count; i++) {
        crew_add_place(c, &reads[i]);
    }
    c->host |= emu_watch_reads_host_memory(c->watch);
}

/* Watch the blocks of the crew. Return the least result. */
static emu_watch_result
crew_watch(crew *c)
{
    emu_watch_result least = EMU_WAITS;
    size_t i;

    if (c->watch == NULL) {
        c->watch = emu_watch_new();
    }
    c->place_count = 0;
    c->host = false;
    for (i = 0; i < c->live && c->watch && least != EMU_MOVES; i++) {
        emu_block_state state;
        const emu_watch_result result =
            emu_watch_block(c->watch, c->blocks[i], c->watch_turns, &state);

        if (state == EMU_BLOCK_DONE) {
            crew_retire(c, i);
        }
        if (result == EMU_WAITS) {
            crew_add_places(c);
        }
        if (result < least) {
            least = result;
        }
    }
    if (c->watch == NULL) {
        return EMU_MOVES;
    }
    return least;
}

/* Watch the blocks if it is time to, and set the time of the next watch. False: it is
 * not time yet. */
static bool
crew_watch_if_due(crew *c, emu_watch_result *result)
{
    const uint64_t begin = c->worker->looked;
    uint64_t end;

    if (!c->watch_at) {
        c->watch_at = begin + SUSPECT;
        c->watch_turns = WATCH_TURNS;
    }
    if (begin < c->watch_at) {
        return false;
    }
    *result = crew_watch(c);
    end = emu_clock_steady();
    c->watch_at = end + (end - begin) * WATCH_SHARE;
    if (*result == EMU_MOVES && c->watch_turns < WATCH_TURNS_MOST) {
        c->watch_turns *= 2;
    }
    return true;
}

/* -- a grid that only waits ---------------------------------------------------------
 */

/* Write "; warp 0 of block (0, 0, 0) reads 0x7f00 (k.cu:12), byte 4 of the ...". */
static size_t
crew_place_text(const place *p, char *text, size_t room)
{
    const emu_watch_read *read = &p->read;
    const uint32_t *ctaid = read->warp->block->ctaid;
    const emu_allocation *memory = emu_memory_find(read->address);
    const char *name = "", *space = "", *ending = "s";
    char where[112], in[120] = "";
    int length;

    emu_report_place_text(read->func->program,
                          emu_report_place_of(read->func, read->insn), where,
                          sizeof where);
    if (memory && memory->name) {
        space = " ";
        name = memory->name;
    }
    if (memory) {
        (void)snprintf(in, sizeof in,
                       ", byte %llu of the %llu-byte %s allocation%s%.40s",
                       (unsigned long long)(read->address - memory->base),
                       (unsigned long long)memory->size,
                       emu_memory_kind_name(memory->kind), space, name);
    }
    length = snprintf(text, room, "; warp %u of block (%u, %u, %u)", read->warp->number,
                      ctaid[0], ctaid[1], ctaid[2]);
    if (p->warps > 1 && length > 0 && (size_t)length < room) {
        ending = "";
        length += snprintf(text + length, room - (size_t)length,
                           " and %u others like it", p->warps - 1);
    }
    if (length > 0 && (size_t)length < room) {
        length += snprintf(text + length, room - (size_t)length, " read%s 0x%llx%s%s",
                           ending, (unsigned long long)read->address, where, in);
    }
    if (length < 0) {
        return 0;
    }
    return (size_t)length;
}

/* The place of the fault: the first read of the last watch, or the kernel's start. */
static void
crew_fault_stuck(crew *c)
{
    static const char waits[] =
        "deadlock: all blocks that are resident wait for global memory to change%s%s";
    static const char loops[] =
        "deadlock: all blocks that are resident loop for ever%s%s";
    emu_grid *grid = c->grid;
    const emu_func *kernel = grid->kernel->func;
    emu_warp *warp = &c->blocks[0]->warps[0];
    const uint64_t begun = atomic_load(&grid->next_cluster) * grid->cluster_size;
    emu_watch_read read = {.func = kernel, .insn = kernel->code};
    emu_frame frame = {.func = kernel};
    const char *format = loops;
    char text[420] = "", rest[120] = "";
    size_t used = 0;

    for (unsigned i = 0; i < c->place_count && used < sizeof text; i++) {
        used += crew_place_text(&c->places[i], text + used, sizeof text - used);
    }
    if (c->place_count) {
        format = waits;
        read = c->places[0].read;
        warp = read.warp;
        frame.func = read.func;
        if (read.func != kernel) {
            frame.parent = warp->frame;
        }
    }
    else if (warp->group_count > 0) {
        frame.func = warp->groups[0].frame->func;
        read.insn = emu_report_loop_of(frame.func, warp->groups[0].pc);
        if (frame.func != kernel) {
            frame.parent = warp->groups[0].frame;
        }
    }
    if (begun < grid->block_count) {
        (void)snprintf(rest, sizeof rest,
                       "; %llu of %llu blocks have not begun, since %u are resident at "
                       "most",
                       (unsigned long long)(grid->block_count - begun),
                       (unsigned long long)grid->block_count,
                       grid->max_resident * grid->cluster_size);
    }
    warp->frame = &frame;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)emu_fault(warp, read.insn, CUDA_ERROR_LAUNCH_FAILED, read.lane, read.address,
                    format, text, rest);
#pragma GCC diagnostic pop
    warp->frame = NULL;
}

/* One watch of the blocks of a crew that only watches. */
static void
crew_stay_quiet(crew *c)
{
    const uint64_t epoch = emu_proof_join(c->grid, &c->part);
    const struct timespec pause = {.tv_nsec = c->sleep};

    if (crew_watch(c) != EMU_WAITS ||
        (crew_has_blocks_left(c) &&
         atomic_load(&c->grid->resident) < c->grid->max_resident)) {
        emu_proof_leave(c->grid, &c->part);
        c->quiet = false;
        if (c->worker->number == 0) {
            emu_wait_set_stuck(false);
        }
        return;
    }
    emu_proof_vote(c->grid, &c->part, epoch, c->host);
    if (c->worker->number == 0) {
        emu_proof_judge(c->grid);
    }
    if (atomic_load(&c->grid->stuck)) {
        crew_fault_stuck(c);
        return;
    }
    (void)nanosleep(&pause, NULL);
    if (c->sleep < SLEEP_MOST) {
        c->sleep *= 2;
    }
    const CUresult end = emu_cancel_look(c->worker, c->grid);

    if (end != CUDA_SUCCESS) {
        emu_block_settle(c->blocks[0]);
        emu_block_fault_early(c->blocks[0], end);
    }
    else if (emu_notice_is_due(c->worker, c->grid)) {
        emu_block_tell_long(c->blocks[0]);
    }
}

/* -- running blocks ---------------------------------------------------------------- */

/* After a look of a worker with one block: change the mode of the grid if all wait. */
static void
crew_look_alone(crew *c)
{
    emu_grid *grid = c->grid;
    emu_watch_result result;

    if (crew_watch_if_due(c, &result)) {
        crew_set_waits(c, result != EMU_MOVES);
    }
    if (c->waits && atomic_load(&grid->waiting) == atomic_load(&grid->active)) {
        atomic_store(&grid->takes_turns, true);
    }
}

static void
crew_wake_others(crew *c)
{
    if (c->help_at != 0) {
        c->help_at = 0;
        emu_threads_wake();
    }
}

/* Wake the other workers if the launch takes long enough to be worth it. */
static void
crew_ask_for_help(crew *c)
{
    if (c->help_at != 0 && emu_clock_steady() >= c->help_at) {
        crew_wake_others(c);
    }
}

/* Run blocks one after the other, until the grid changes to turns. */
static void
crew_run_alone(crew *c)
{
    while (!crew_stops(c) && !crew_takes_turns(c) && (c->live || crew_next(c))) {
        while (c->live && !crew_stops(c) && !crew_takes_turns(c)) {
            if (emu_block_turn(c->blocks[0]) == EMU_BLOCK_DONE) {
                crew_retire(c, 0);
            }
            else if (c->worker->has_looked) {
                c->worker->has_looked = false;
                crew_look_alone(c);
            }
            crew_ask_for_help(c);
        }
        if (!c->live) {
            c->watch_at = 0;
            crew_set_waits(c, false);
        }
    }
}

/* Begin clusters: at most as many as already run, and one more, so that other workers
 * can begin some too. */
static void
crew_begin_more(crew *c)
{
    size_t wanted = (size_t)c->clusters + 1;

    while (wanted-- && !crew_has_failed(c) && crew_has_blocks_left(c)) {
        const bool has_taken = c->live && grid_take_slot(c->grid);

        if (c->live && !has_taken) {
            return;
        }
        if (!crew_next(c)) {
            if (has_taken) {
                grid_return_slot(c->grid);
            }
            return;
        }
    }
}

static void
crew_run_in_turns(crew *c)
{
    while (!crew_stops(c)) {
        size_t i = 0;

        crew_begin_more(c);
        if (!c->live) {
            return;
        }
        crew_wake_others(c);
        if (c->quiet) {
            crew_stay_quiet(c);
            continue;
        }
        while (i < c->live && !crew_has_failed(c)) {
            if (emu_block_turn(c->blocks[i]) == EMU_BLOCK_DONE) {
                crew_retire(c, i);
            }
            else {
                i++;
            }
        }
        if (c->worker->has_looked) {
            emu_watch_result result;

            c->worker->has_looked = false;
            const bool is_watched = crew_watch_if_due(c, &result);
            if (is_watched && result == EMU_WAITS) {
                c->quiet = true;
                c->sleep = SLEEP;
            }
        }
    }
}

/* -- workers ----------------------------------------------------------------------- */

/* Drop the blocks that a failed launch left and keep one block for the next launch. */
static void
crew_end(crew *c)
{
    size_t i;

    if (c->clusters > 1) {
        atomic_fetch_sub(&c->grid->resident, c->clusters - 1);
    }
    for (i = 0; i < c->live; i++) {
        emu_block_drop_frames(c->blocks[i]);
        (void)emu_cluster_leave(c->blocks[i]);
    }
    for (i = 1; i < c->count; i++) {
        emu_block_free(c->blocks[i]);
    }
    if (c->blocks != &c->worker->block) {
        c->worker->block = c->blocks[0]; /* a larger list has one at least */
        free(c->blocks);
    }
    emu_watch_free(c->watch);
}

/* Prepare for the notes that the launch wants. False: out of memory. */
static bool
worker_open_log(emu_worker *worker, const emu_launch *launch)
{
    if (launch->uses == NULL && worker->uses == NULL) {
        return true;
    }
    if (worker->uses == NULL) {
        worker->uses = emu_use_log_new();
        if (worker->uses == NULL) {
            return false;
        }
    }
    emu_use_log_begin(worker->uses, launch->uses);
    return true;
}

static void
worker_close_log(emu_worker *worker)
{
    if (worker->uses != NULL) {
        emu_use_log_end(worker->uses);
    }
}

static bool
worker_begin(emu_worker *worker, emu_grid *grid, unsigned number, crew *c)
{
    if (worker == NULL) {
        emu_cancel_no_memory(grid);
        return false;
    }
    if (!worker_open_log(worker, grid->launch)) {
        emu_cancel_no_memory(grid);
        idle_worker_give(worker);
        return false;
    }
    worker->number = number;
    worker->looked = 0;
    worker->has_looked = worker->leaves = false;
    *c = (crew){.worker = worker,
                .grid = grid,
                .blocks = &worker->block,
                .count = worker->block != NULL,
                .room = 1};
    if (number == 0 && grid->worker_count > 1) {
        c->help_at = emu_clock_steady() + HELP_AFTER;
    }
    atomic_fetch_add(&grid->active, 1);
    if (crew_takes_turns(c)) {
        emu_proof_leave(grid, &c->part); /* the epoch of the other workers ends */
    }
    return true;
}

static void
worker_end(crew *c)
{
    emu_worker *worker = c->worker;

    crew_set_waits(c, false);
    if (c->part.is_still) {
        emu_proof_leave(c->grid, &c->part);
    }
    crew_end(c);
    worker_close_log(worker);
    atomic_fetch_sub(&c->grid->active, 1);
    idle_worker_give(worker);
}

/* Let the blocks rest until another thread goes on with them. False: no memory. */
static bool
worker_rest(const crew *c)
{
    crew *rest = malloc(sizeof *rest);

    if (rest == NULL) {
        return false;
    }
    *rest = *c;
    c->grid->first = rest;
    return true;
}

/* False: the blocks rest. */
static bool
worker_run(crew *c)
{
    for (;;) {
        crew_run_alone(c);
        crew_run_in_turns(c);
        if (!c->worker->leaves || crew_has_failed(c) ||
            (c->live == 0 && !crew_has_blocks_left(c))) {
            return true;
        }
        if (worker_rest(c)) {
            return false;
        }
        c->grid->may_leave = c->worker->leaves = false;
    }
}

/* All of one worker's blocks. The first worker's may rest. */
static void
worker_run_part(void *data, unsigned number)
{
    emu_grid *grid = data;
    crew c;

    if (!worker_begin(idle_worker_take(), grid, number, &c)) {
        return;
    }
    if (grid_take_slot(grid)) {
        if (!worker_run(&c)) {
            return;
        }
        grid_return_slot(grid);
    }
    worker_end(&c);
}

/* Called while a thread waits for the workers with other numbers. False: it leaves. */
static bool
worker_run_idle(void *data)
{
    emu_grid *grid = data;

    if (emu_wait_poll()) {
        emu_cancel(grid, EMU_INTERRUPTED, NULL);
    }
    emu_proof_judge(grid);
    return !grid->may_leave;
}

/* Wait for the workers of a grid whose first one may rest. */
static bool
workers_finish(emu_grid *grid)
{
    const bool is_over =
        grid->first == NULL &&
        (!grid->is_helped || emu_threads_finish(worker_run_idle, grid));

    if (is_over) {
        (void)pthread_mutex_destroy(&grid->proof.lock);
    }
    emu_wait_set_stuck(false);
    return is_over;
}

bool
emu_workers_go_on(emu_grid *grid)
{
    crew *rest = grid->first;

    grid->may_leave = false;
    grid->first = NULL;
    if (rest != NULL) {
        rest->worker->leaves = false;
        (void)worker_run(rest);
        grid_return_slot(grid);
        worker_end(rest);
        free(rest);
    }
    return workers_finish(grid);
}

bool
emu_workers_run(emu_grid *grid)
{
    const unsigned threads = emu_threads_count();
    uint64_t parts = threads;

    if (parts > grid->cluster_count) {
        parts = grid->cluster_count;
    }
    if (parts > grid->max_resident) {
        parts = grid->max_resident;
    }
    grid->worker_count = (unsigned)parts;
    (void)pthread_mutex_init(&grid->proof.lock, NULL); /* cannot fail on Linux */
    grid->is_helped = emu_threads_begin(worker_run_part, grid, (unsigned)parts);
    worker_run_part(grid, 0);
    return workers_finish(grid);
}
