/* Lanes and operations, and what conflicts. See stream_check.h. */
#define _GNU_SOURCE
#include "device/sync_check/stream_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/base/site.h"

enum { MOST_OPERATIONS = 4096, MOST_SUSPECTS = 64, NAME_ROOM = 96 };

struct emu_lane {
    emu_lane *next, *previous; /* of all lanes */
    emu_context *context;
    emu_lane_kind kind;
    size_t number;
    emu_clock clock; /* what later work of the lane comes after */
    emu_clock ended; /* of a null lane: NON_BLOCKING lanes that have ended */
};

/* An access of the host while the operation had not run. */
typedef struct {
    uint64_t address;
    bool is_write;
    const char *site;
    uint64_t order; /* of the last operation that was enqueued before it */
} suspect;

struct emu_operation {
    emu_operation *next, *previous; /* of all operations */
    size_t lane;
    uint64_t number; /* in its lane */
    uint64_t order;  /* of the call that enqueued it */
    emu_clock clock;
    bool has_run;
    bool frees;         /* memory */
    bool is_graph;      /* it keeps the name of the call */
    bool is_early;      /* its uses were known before it ran */
    bool waits;         /* for a value in memory */
    bool is_behind;     /* a wait for a value that had not ended */
    uint64_t released;  /* the order of the last signal before that wait's end */
    emu_lane_kind kind; /* of the lane */
    uint64_t serial;    /* of the newest allocation when it ran */
    emu_uses uses;
    emu_uses may; /* what it may use, while it has not run */
    emu_context *context;
    emu_operation *next_kept; /* used by operations_prune */
    const char *site;
    suspect *suspects; /* MOST_SUSPECTS; NULL: there has been none */
    size_t suspect_count;
    char name[NAME_ROOM];
};

bool emu_stream_check_on;

static struct {
    pthread_mutex_t mutex;
    emu_lane *lanes;
    emu_operation *first,
        *last;           /* that the host has not waited for, the oldest first */
    emu_operation *kept; /* used by operations_prune */
    size_t count;
    size_t waits; /* operations of the list that wait for values */
    emu_clock host, signals;
    uint64_t order;    /* of the last operation */
    uint64_t signal;   /* the order of the last one that has signalled */
    uint64_t *numbers; /* of the last operation of each lane that there has been */
    bool *taken;       /* a live lane has the number */
    size_t lane_room;
    unsigned running; /* operations that threads run now */
    bool is_stale;    /* the guard does not fit the operations */
    bool is_short;    /* memory was short: there are no findings from then on */
} check = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local emu_operation *present;
static _Thread_local unsigned depth; /* calls of the driver in this thread */

static void
check_lock(void)
{
    pthread_mutex_lock(&check.mutex);
}

static void
check_unlock(void)
{
    pthread_mutex_unlock(&check.mutex);
}

/* Note the result of an operation on a clock. */
static void
check_noted(bool good)
{
    if (!good) {
        check.is_short = true;
    }
}

/* -- operations that are live ------------------------------------------------------ */

static void
operation_free(emu_operation *operation)
{
    emu_uses_close(&operation->uses);
    emu_uses_close(&operation->may);
    emu_clock_close(&operation->clock);
    free(operation->suspects);
    free(operation);
}

/* Whether the guard watches memory because of an operation. */
static bool
operation_has_host(const emu_operation *operation)
{
    return operation->uses.has_host || operation->may.has_host;
}

static void
operation_unlist(emu_operation *operation)
{
    if (operation->previous != NULL) {
        operation->previous->next = operation->next;
    }
    else {
        check.first = operation->next;
    }
    if (operation->next != NULL) {
        operation->next->previous = operation->previous;
    }
    else {
        check.last = operation->previous;
    }
    check.count--;
    check.waits -= operation->waits;
    check.is_stale |= operation_has_host(operation);
}

static void
operation_list(emu_operation *operation)
{
    operation->previous = check.last;
    if (check.last != NULL) {
        check.last->next = operation;
    }
    else {
        check.first = operation;
    }
    check.last = operation;
    check.count++;
}

/* Whether the host has waited for an operation. */
static bool
operation_is_over(const emu_operation *operation)
{
    return operation->has_run &&
           operation->number <= emu_clock_of(&check.host, operation->lane);
}

/* Whether an operation has still to be compared: its uses become known when it runs, or
 * what it comes after becomes known when a wait ends. */
static bool
operation_is_kept(const emu_operation *operation)
{
    return !operation->has_run && (!operation->is_early || operation->is_behind);
}

/* Whether an operation that streams keep may have run at the same time. */
static bool
operation_meets_kept(const emu_operation *operation)
{
    for (const emu_operation *o = check.kept; o != NULL; o = o->next_kept) {
        if (o->lane != operation->lane &&
            operation->number > emu_clock_of(&o->clock, operation->lane)) {
            return true;
        }
    }
    return false;
}

/* Forget the operations that the host has waited for, and the oldest ones if there are
 * too many. */
static void
operations_prune(void)
{
    emu_operation *next;

    check.kept = NULL;
    for (emu_operation *o = check.last; o != NULL; o = o->previous) {
        if (operation_is_kept(o)) {
            o->next_kept = check.kept;
            check.kept = o;
        }
    }
    for (emu_operation *o = check.first; o != NULL; o = next) {
        next = o->next;
        check.is_stale |= operation_has_host(o) && operation_is_over(o);
        if ((operation_is_over(o) && !operation_meets_kept(o)) ||
            (check.count > MOST_OPERATIONS && o->has_run)) {
            operation_unlist(o);
            operation_free(o);
        }
    }
}

/* -- lanes ------------------------------------------------------------------------- */

/* A number that no lane has and whose operations the host has waited for. */
static bool
lane_take_number(size_t *number)
{
    size_t room = check.lane_room * 2 + 8;
    uint64_t *numbers;
    bool *taken;

    for (size_t i = 0; i < check.lane_room; i++) {
        if (!check.taken[i] && check.numbers[i] <= emu_clock_of(&check.host, i)) {
            *number = i;
            return true;
        }
    }
    numbers = realloc(check.numbers, room * sizeof(*numbers));
    if (numbers == NULL) {
        return false;
    }
    check.numbers = numbers;
    taken = realloc(check.taken, room * sizeof(*taken));
    if (taken == NULL) {
        return false;
    }
    check.taken = taken;
    memset(numbers + check.lane_room, 0, (room - check.lane_room) * sizeof(*numbers));
    memset(taken + check.lane_room, 0, (room - check.lane_room) * sizeof(*taken));
    *number = check.lane_room;
    check.lane_room = room;
    return true;
}

emu_lane *
emu_lane_new(emu_context *context, emu_lane_kind kind)
{
    emu_lane *lane;

    if (!emu_stream_check_on) {
        return NULL;
    }
    lane = calloc(1, sizeof(*lane));
    check_lock();
    check_noted(lane != NULL); /* streams may wait for each other through this one */
    if (lane == NULL) {
        check_unlock();
        return NULL;
    }
    lane->context = context;
    lane->kind = kind;
    if (lane_take_number(&lane->number)) {
        check.taken[lane->number] = true;
        lane->next = check.lanes;
        if (lane->next != NULL) {
            lane->next->previous = lane;
        }
        check.lanes = lane;
    }
    else {
        check_noted(false);
        free(lane);
        lane = NULL;
    }
    check_unlock();
    return lane;
}

/* Let the null lane of the context keep what an ending lane has done: a wait for the
 * context covers it. */
static void
lane_hand_over(const emu_lane *lane)
{
    for (emu_lane *other = check.lanes; other != NULL; other = other->next) {
        if (other == lane || other->kind != EMU_LANE_NULL ||
            other->context != lane->context) {
            continue;
        }
        if (lane->kind == EMU_LANE_BLOCKING) {
            check_noted(emu_clock_join(&other->clock, &lane->clock));
        }
        else {
            check_noted(emu_clock_join(&other->ended, &lane->clock));
        }
    }
}

void
emu_lane_free(emu_lane *lane)
{
    if (lane == NULL) {
        return;
    }
    check_lock();
    lane_hand_over(lane);
    check.taken[lane->number] = false;
    if (lane->previous != NULL) {
        lane->previous->next = lane->next;
    }
    else {
        check.lanes = lane->next;
    }
    if (lane->next != NULL) {
        lane->next->previous = lane->previous;
    }
    if (lane->kind == EMU_LANE_NULL) { /* the context ends, so all has ended */
        emu_operation *next;

        check_noted(emu_clock_join(&check.host, &lane->clock));
        check_noted(emu_clock_join(&check.host, &lane->ended));
        for (emu_operation *o = check.first; o != NULL; o = next) {
            next = o->next;
            if (o->context == lane->context) {
                operation_unlist(o);
                operation_free(o);
            }
        }
    }
    check_unlock();
    emu_clock_close(&lane->clock);
    emu_clock_close(&lane->ended);
    free(lane);
}

/* Take in what work that is enqueued now in the lane comes after: the host's waits, and
 * the null stream or the streams that it waits for. */
static void
lane_take_in(emu_lane *lane)
{
    check_noted(emu_clock_join(&lane->clock, &check.host));
    for (const emu_lane *other = check.lanes; other != NULL; other = other->next) {
        if (other->context == lane->context && other != lane &&
            ((lane->kind == EMU_LANE_NULL && other->kind == EMU_LANE_BLOCKING) ||
             (lane->kind == EMU_LANE_BLOCKING && other->kind == EMU_LANE_NULL))) {
            check_noted(emu_clock_join(&lane->clock, &other->clock));
        }
    }
}

/* Whether there are other lanes whose work may run at the same time as that of the
 * operation's lane. */
static bool
lane_has_company(const emu_operation *operation)
{
    for (const emu_lane *other = check.lanes; other != NULL; other = other->next) {
        const bool is_near = other->context == operation->context;

        if (other->number != operation->lane &&
            !(is_near && operation->kind == EMU_LANE_NULL &&
              other->kind == EMU_LANE_BLOCKING) &&
            !(is_near && operation->kind == EMU_LANE_BLOCKING &&
              other->kind == EMU_LANE_NULL)) {
            return true;
        }
    }
    return false;
}

/* Whether what has the clock comes after the operation. */
static bool
operation_is_before(const emu_operation *operation, const emu_clock *clock)
{
    return operation->number <= emu_clock_of(clock, operation->lane);
}

/* Whether what has the clock comes after a wait for a value that has not ended. */
static bool
clock_is_behind_wait(const emu_clock *clock)
{
    if (check.waits == 0) {
        return false;
    }
    for (const emu_operation *o = check.first; o != NULL; o = o->next) {
        if (o->waits && !o->has_run && operation_is_before(o, clock)) {
            return true;
        }
    }
    return false;
}

/* Add what ended waits for values have seen to a clock that was stored before they
 * ended. */
static void
clock_complete(emu_clock *clock)
{
    if (check.waits == 0) {
        return;
    }
    for (const emu_operation *o = check.first; o != NULL; o = o->next) {
        if (o->waits && o->has_run && operation_is_before(o, clock)) {
            check_noted(emu_clock_join(clock, &o->clock));
        }
    }
}

/* Join the clock of an operation to one that comes after it. */
static void
clock_follow(emu_clock *clock, const emu_operation *operation)
{
    if (operation_is_before(operation, clock)) {
        check_noted(emu_clock_join(clock, &operation->clock));
    }
}

void
emu_lane_record(emu_lane *lane, emu_clock *event)
{
    if (lane != NULL) {
        check_lock();
        if (lane->kind == EMU_LANE_NULL) {
            lane_take_in(lane);
        }
        check_noted(emu_clock_copy(event, &lane->clock));
        check_unlock();
    }
}

void
emu_lane_await(emu_lane *lane, const emu_clock *event)
{
    if (lane != NULL) {
        check_lock();
        check_noted(emu_clock_join(&lane->clock, event));
        clock_complete(&lane->clock);
        check_unlock();
    }
}

void
emu_lane_await_all(emu_lane *lane)
{
    if (lane != NULL) {
        check_lock();
        for (const emu_lane *other = check.lanes; other != NULL; other = other->next) {
            if (other != lane) {
                check_noted(emu_clock_join(&lane->clock, &other->clock));
            }
        }
        check_unlock();
    }
}

/* -- waits of the host ------------------------------------------------------------- */

static void
host_awaits_lane_locked(emu_lane *lane)
{
    if (lane->kind == EMU_LANE_NULL) {
        lane_take_in(lane);
    }
    check_noted(emu_clock_join(&check.host, &lane->clock));
}

void
emu_host_awaits_lane(emu_lane *lane)
{
    if (lane != NULL) {
        check_lock();
        host_awaits_lane_locked(lane);
        operations_prune();
        check_unlock();
    }
}

void
emu_host_awaits_event(const emu_clock *event)
{
    if (emu_stream_check_on) {
        check_lock();
        check_noted(emu_clock_join(&check.host, event));
        clock_complete(&check.host);
        operations_prune();
        check_unlock();
    }
}

void
emu_host_awaits_context(const emu_context *context)
{
    if (!emu_stream_check_on) {
        return;
    }
    check_lock();
    for (emu_lane *lane = check.lanes; lane != NULL; lane = lane->next) {
        if (context == NULL || lane->context == context) {
            host_awaits_lane_locked(lane);
            check_noted(emu_clock_join(&check.host, &lane->ended));
        }
    }
    operations_prune();
    check_unlock();
}

void
emu_event_clock_close(emu_clock *event)
{
    check_lock();
    emu_clock_close(event);
    check_unlock();
}

/* -- findings ---------------------------------------------------------------------- */

/* Whether a byte is in memory that has existed since both operations ran. */
static bool
use_is_of_live_memory(uint64_t address, const void *data)
{
    const emu_allocation *memory = emu_memory_holding(address, 1);
    const uint64_t *serial = data;

    return memory != NULL && memory->serial <= *serial;
}

static uint64_t
check_lower(uint64_t a, uint64_t b)
{
    if (a < b) {
        return a;
    }
    return b;
}

/* The uses of an operation as far as they are known: what it may use, until it has
 * run. */
static const emu_uses *
operation_uses(const emu_operation *operation)
{
    if (!operation->has_run && !operation->is_early) {
        return &operation->may;
    }
    return &operation->uses;
}

/* Report two operations that use the same bytes, if they do; the one that was enqueued
 * last as the one at fault. */
static void
check_pair(const emu_operation *older, const emu_operation *newer)
{
    const uint64_t serial = check_lower(older->serial, newer->serial);
    emu_use_conflict found;

    if (older->order > newer->order) {
        check_pair(newer, older);
        return;
    }
    if (older->lane == newer->lane ||
        older->number <= emu_clock_of(&newer->clock, older->lane) ||
        newer->number <= emu_clock_of(&older->clock, newer->lane) || check.is_short ||
        !emu_uses_conflict(operation_uses(older), operation_uses(newer),
                           use_is_of_live_memory, &serial, &found)) {
        return;
    }
    emu_finding_of_streams(
        newer->context, &(emu_finding_side){older->name, older->site, found.first},
        &(emu_finding_side){newer->name, newer->site, found.second}, found.address);
}

/* Compare an operation whose uses are known with all others. Memory that it frees is no
 * longer there when work runs that streams keep. */
static void
check_operation(const emu_operation *operation)
{
    for (const emu_operation *o = check.first; o != NULL; o = o->next) {
        if (o != operation && (!operation_is_kept(o) || operation->frees)) {
            check_pair(o, operation);
        }
    }
}

/* Report an access of the host, if the operation uses the byte. */
static bool
check_host_access(const emu_operation *operation, const suspect *access)
{
    const unsigned kinds = emu_uses_of_byte(&operation->uses, access->address);

    if (access->order < operation->released) {
        return false; /* the operation waited for a signal that came later */
    }
    if (!use_is_of_live_memory(access->address, &operation->serial) ||
        (kinds & ~(unsigned)EMU_USE_READ) == 0) {
        if (kinds == 0 || !access->is_write) {
            return false;
        }
    }
    if (!check.is_short) {
        const unsigned host = access->is_write ? EMU_USE_WRITE : EMU_USE_READ;

        emu_finding_of_host(
            operation->context,
            &(emu_finding_side){operation->name, operation->site, kinds},
            &(emu_finding_side){"the host", access->site, host}, access->address);
    }
    return true;
}

/* -- operations -------------------------------------------------------------------- */

emu_operation *
emu_operation_new(emu_lane *lane, const char *name)
{
    emu_operation *operation;

    if (lane == NULL) {
        return NULL;
    }
    operation = calloc(1, sizeof(*operation));
    if (operation == NULL) {
        return NULL;
    }
    operation->site = emu_site_now();
    operation->context = lane->context;
    operation->is_graph = strncmp(name, "cuGraph", 7) == 0;
    (void)snprintf(operation->name, sizeof(operation->name), "%s", name);
    check_lock();
    lane_take_in(lane);
    check_noted(emu_clock_copy(&operation->clock, &lane->clock));
    operation->lane = lane->number;
    operation->kind = lane->kind;
    operation->order = ++check.order;
    operation->number = ++check.numbers[lane->number];
    operation->serial = emu_memory_last_serial();
    operation->is_behind = clock_is_behind_wait(&operation->clock);
    check_noted(emu_clock_set(&lane->clock, lane->number, operation->number));
    operation_list(operation);
    check_unlock();
    return operation;
}

void
emu_operation_drop(emu_operation *operation)
{
    if (operation != NULL) {
        check_lock();
        operation_unlist(operation);
        check_unlock();
        operation_free(operation);
    }
}

void
emu_operation_begin(emu_operation *operation)
{
    if (operation != NULL) {
        check_lock();
        check.running++;
        if (!emu_guard_is_clear()) {
            emu_guard_clear();
            check.is_stale = true;
        }
        check_unlock();
    }
    present = operation;
}

const char *
emu_operation_site(const emu_operation *operation)
{
    return operation != NULL ? operation->site : NULL;
}

emu_operation *
emu_operation_present(void)
{
    return present;
}

void
emu_operation_end(void)
{
    emu_operation *operation = present;

    if (operation == NULL) {
        return;
    }
    present = NULL;
    check_lock();
    check.running--;
    operation->has_run = true;
    operation->serial = emu_memory_last_serial();
    check.is_stale |= operation_has_host(operation);
    emu_uses_close(&operation->may);
    if (!operation->is_early || operation->is_behind) {
        check_operation(operation);
    }
    for (size_t i = 0; i < operation->suspect_count; i++) {
        (void)check_host_access(operation, &operation->suspects[i]);
    }
    operation->suspect_count = 0;
    if (emu_uses_is_empty(&operation->uses) && !operation->waits) {
        operation_unlist(operation);
        operation_free(operation);
    }
    if (check.count > MOST_OPERATIONS) {
        operations_prune();
    }
    check_unlock();
}

bool
emu_operation_is_open(const emu_operation *operation)
{
    return operation != NULL && !operation->is_early;
}

/* Note a use. Accesses of the host to what an operation may use are kept for it. */
static void
operation_note(emu_operation *operation, emu_uses *uses, const emu_use_range *range)
{
    check_lock();
    emu_uses_add_range(uses, range->start, range->end - range->start, range->kind,
                       range->value);
    operation->frees |= range->kind == EMU_USE_FREE;
    if ((operation->may.has_host || (operation->is_behind && uses->has_host)) &&
        operation->suspects == NULL) {
        /* not in the handler of signals; without memory, nothing is kept */
        operation->suspects = calloc(MOST_SUSPECTS, sizeof(suspect));
    }
    check.is_stale |= operation_has_host(operation);
    check_unlock();
}

/* Where the uses of a copy or fill belong. Before a graph runs it only may use what its
 * nodes use: a node need not run. */
static emu_uses *
operation_noted(emu_operation *operation)
{
    if (operation->is_graph && operation != present) {
        return &operation->may;
    }
    if (operation == present && emu_node_check_target() != NULL) {
        return emu_node_check_target();
    }
    return &operation->uses;
}

void
emu_operation_use(emu_operation *operation, uint64_t start, uint64_t bytes,
                  unsigned kind)
{
    if (operation != NULL) {
        operation_note(operation, operation_noted(operation),
                       &(emu_use_range){start, start + bytes, kind, 0});
    }
}

void
emu_operation_fill(emu_operation *operation, uint64_t start, uint64_t bytes,
                   uint32_t value, unsigned unit)
{
    if (operation != NULL) {
        operation_note(operation, operation_noted(operation),
                       &(emu_use_range){start, start + bytes, EMU_USE_WRITE,
                                        (uint64_t)value << 8 | unit});
    }
}

void
emu_operation_may_use(emu_operation *operation, const emu_allocation *allocation)
{
    if (operation != NULL) {
        operation_note(
            operation, &operation->may,
            &(emu_use_range){allocation->base, allocation->base + allocation->size,
                             EMU_USE_WRITE, 0});
    }
}

void
emu_operation_known(emu_operation *operation)
{
    if (operation != NULL) {
        check_lock();
        operation->is_early = true;
        if (!operation->is_behind) {
            check_operation(operation);
        }
        check_unlock();
    }
}

bool
emu_operation_may_race(const emu_operation *operation, const emu_operation *later)
{
    emu_use_conflict found;
    bool races = false;

    if (operation != NULL && later != NULL) {
        check_lock();
        races = operation->order < later->order && operation->lane != later->lane &&
                operation->number > emu_clock_of(&later->clock, operation->lane) &&
                emu_uses_conflict(operation_uses(operation), operation_uses(later),
                                  NULL, NULL, &found);
        check_unlock();
    }
    return races;
}

void
emu_operation_name(emu_operation *operation, const char *kernel)
{
    if (operation != NULL && !operation->is_graph) {
        (void)snprintf(operation->name, sizeof(operation->name), "kernel %s", kernel);
    }
}

emu_uses *
emu_operation_kernel(emu_operation *operation, const char *name)
{
    if (operation == NULL) {
        return NULL;
    }
    emu_node_check_name(name);
    if (emu_node_check_target() != NULL) {
        return emu_node_check_target();
    }
    emu_operation_name(operation, name);
    check_lock();
    operation->uses.host_only = !lane_has_company(operation);
    check_unlock();
    return &operation->uses;
}

void
emu_operation_compare(const emu_node_side *older, const emu_node_side *newer)
{
    const uint64_t serial = check_lower(older->serial, newer->serial);
    emu_use_conflict found;

    check_lock();
    if (!check.is_short && emu_uses_conflict(older->uses, newer->uses,
                                             use_is_of_live_memory, &serial, &found)) {
        emu_finding_of_nodes(
            present->context,
            &(emu_finding_side){older->name, older->site, found.first},
            &(emu_finding_side){newer->name, newer->site, found.second}, found.address,
            present->site);
    }
    check_unlock();
}

void
emu_operation_join(emu_uses *uses, const emu_uses *added)
{
    check_lock();
    if (uses == NULL) {
        uses = &present->uses;
    }
    for (size_t i = 0; i < added->count; i++) {
        const emu_use_range *range = &added->ranges[i];

        emu_uses_add_range(uses, range->start, range->end - range->start, range->kind,
                           range->value);
        present->frees |= range->kind == EMU_USE_FREE;
    }
    emu_uses_merge(uses, &added->table, added->has_host, added->incomplete);
    check_unlock();
}

void
emu_operation_record(const emu_operation *operation, emu_clock *event)
{
    if (operation != NULL) {
        check_lock();
        check_noted(emu_clock_copy(event, &operation->clock));
        check_noted(emu_clock_set(event, operation->lane, operation->number));
        check_unlock();
    }
}

void
emu_operation_signals(emu_operation *operation)
{
    if (operation != NULL) {
        check_lock();
        check_noted(emu_clock_join(&check.signals, &operation->clock));
        check_noted(emu_clock_join(&check.host, &operation->clock));
        if (operation->order > check.signal) {
            check.signal = operation->order;
        }
        operations_prune();
        check_unlock();
    }
}

void
emu_operation_waits(emu_operation *operation)
{
    if (operation != NULL && !operation->waits) {
        check_lock();
        operation->waits = true;
        check.waits++;
        check_unlock();
    }
}

/* Let all that is enqueued behind a wait come after the signals, too. */
static void
signals_follow(const emu_operation *wait)
{
    for (emu_lane *lane = check.lanes; lane != NULL; lane = lane->next) {
        clock_follow(&lane->clock, wait);
        clock_follow(&lane->ended, wait);
    }
    for (emu_operation *o = check.first; o != NULL; o = o->next) {
        if (o->is_behind && operation_is_before(wait, &o->clock)) {
            check_noted(emu_clock_join(&o->clock, &wait->clock));
            o->released = check.signal;
        }
    }
}

void
emu_operation_awaits_signal(emu_operation *operation)
{
    if (operation != NULL) {
        check_lock();
        check_noted(emu_clock_join(&operation->clock, &check.signals));
        signals_follow(operation);
        check_unlock();
    }
}

/* -- frees ------------------------------------------------------------------------- */

void
emu_stream_check_free(uint64_t start, uint64_t bytes, const char *word)
{
    if (!emu_stream_check_on || !emu_site_is_asked()) {
        return; /* a destructor's free waits for the device */
    }
    check_lock();
    for (const emu_operation *o = check.first; o != NULL; o = o->next) {
        if (!operation_is_over(o) && !check.is_short && o != present &&
            (emu_uses_touch(&o->uses, start, start + bytes) ||
             emu_uses_touch(&o->may, start, start + bytes)) &&
            use_is_of_live_memory(start, &o->serial)) {
            emu_finding_of_free(o->context, &(emu_finding_side){o->name, o->site, 0},
                                start, word);
            break;
        }
    }
    check_unlock();
}

void
emu_stream_check_forget(uint64_t start, uint64_t bytes)
{
    emu_operation *next;

    if (!emu_stream_check_on) {
        return;
    }
    check_lock();
    emu_guard_clear();
    check.is_stale = true;
    for (emu_operation *o = check.first; o != NULL; o = next) {
        next = o->next;
        if (o->has_run && emu_uses_touch(&o->uses, start, start + bytes)) {
            operation_unlist(o);
            operation_free(o);
        }
    }
    check_unlock();
}

/* -- the guard --------------------------------------------------------------------- */

/* What to guard against in a pass over the operations. */
typedef struct {
    bool reads_too;
} guard_pass;

static void
guard_see(void *data, uint64_t start, uint64_t end, unsigned kind)
{
    const guard_pass *pass = data;
    const emu_allocation *memory = emu_memory_holding(start, 1);

    if ((kind == EMU_USE_READ) == pass->reads_too || memory == NULL) {
        return;
    }
    if (memory->kind == EMU_MEMORY_HOST || memory->kind == EMU_MEMORY_MANAGED) {
        emu_guard_plan_range(start, end, false, pass->reads_too);
    }
    else if (memory->kind == EMU_MEMORY_REGISTERED) {
        emu_guard_plan_range(start, end, true, pass->reads_too);
    }
}

static void
guard_see_operation(const emu_operation *operation, guard_pass *pass)
{
    if (operation->uses.has_host) {
        emu_uses_each(&operation->uses, guard_see, pass);
    }
    if (operation->may.has_host) {
        emu_uses_each(&operation->may, guard_see, pass);
    }
}

/* Make the guard fit the operations, unless work is running that it would stop. */
static void
guard_renew(void)
{
    if (!check.is_stale || check.running > 0) {
        return;
    }
    for (int reads_too = 0; reads_too < 2; reads_too++) {
        guard_pass pass = {reads_too != 0};

        for (const emu_operation *o = check.first; o != NULL; o = o->next) {
            if (!operation_is_over(o)) {
                guard_see_operation(o, &pass);
            }
        }
    }
    emu_guard_apply_plan();
    check.is_stale = false;
}

/* Keep an access of the host until the operation has run. */
static void
operation_suspect(emu_operation *operation, const suspect *access)
{
    if (operation->suspects != NULL && operation->suspect_count < MOST_SUSPECTS) {
        operation->suspects[operation->suspect_count++] = *access;
    }
}

/* Answer for an access of the program. */
static emu_guard_answer
guard_answer(uint64_t address, bool is_write)
{
    suspect access = {address, is_write, NULL, 0};
    emu_guard_answer answer = EMU_GUARD_STEP;

    if (depth > 0 || present != NULL) { /* the driver itself, or a host function */
        check_lock();
        check.is_stale = true;
        check_unlock();
        return EMU_GUARD_OPEN;
    }
    access.site = emu_site_ask();
    check_lock();
    access.order = check.order;
    for (emu_operation *o = check.first; o != NULL; o = o->next) {
        if (operation_is_over(o)) {
            continue; /* it is only compared with work that streams keep */
        }
        if (!operation_is_kept(o)) {
            if (check_host_access(o, &access)) {
                answer = EMU_GUARD_OPEN;
                break;
            }
        }
        else if (emu_uses_of_byte(operation_uses(o), address) != 0) {
            operation_suspect(o, &access);
        }
    }
    check_unlock();
    return answer;
}

void
emu_stream_check_open(bool on)
{
    emu_stream_check_on = on;
    if (on) {
        emu_memory_keep_host_pages_apart();
        emu_guard_open(guard_answer);
    }
}

void
emu_stream_check_enter(void)
{
    depth += emu_stream_check_on;
}

void
emu_stream_check_leave(void)
{
    if (depth == 0) { /* cuInit, which turned the check on */
        return;
    }
    depth--;
    if (depth == 0 && check.is_stale) {
        check_lock();
        guard_renew();
        check_unlock();
    }
}
