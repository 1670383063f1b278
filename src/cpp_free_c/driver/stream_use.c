/* The tables of streams. Invariant and callers: see stream_use.h. */

#include "driver/stream_use.h"

#include <stdlib.h>
#include <string.h>

#include "driver/capture.h"
#include "driver/release.h"

enum { DEFAULT_ENTRY = 0, CAPTURE_RELAXED = 2 };
enum { STREAM_FOREIGN_KEPT = 16 }; /* larger tables let go of idle foreign streams */

unsigned int pcu_stream_tables;
unsigned int pcu_stream_unordered;
size_t pcu_stream_followers;
void (*pcu_stream_drop_owner)(void *owner);
void (*pcu_stream_report)(void *context, const char *routine, uintptr_t handle,
                          CUresult status);

static pcu_stream_table *stream_table_list;
static unsigned long stream_clock; /* counts notes */
static unsigned long stream_ids;

/* -- tables ------------------------------------------------------------------------ */

pcu_stream_table *
pcu_stream_table_find(pcu_context_record *rec)
{
    if (rec->streams != NULL) {
        return rec->streams;
    }
    pcu_stream_table *table = stream_table_list;
    while (table != NULL && table->life != rec->life) {
        table = table->next;
    }
    if (table != NULL && rec->alive) {
        rec->streams = table;
        table->records++;
    }
    return table;
}

static bool
stream_is_default(CUstream stream)
{
    return stream == NULL || stream == CU_STREAM_LEGACY;
}

static size_t
stream_table_index(const pcu_stream_table *table, CUstream stream)
{
    if (stream_is_default(stream)) {
        return DEFAULT_ENTRY;
    }
    size_t i = 1;
    while (i < table->count &&
           (table->entries[i]->handle != stream || table->entries[i]->ended)) {
        i++;
    }
    return i;
}

static size_t
stream_table_place(const pcu_stream_table *table, const pcu_stream_entry *entry)
{
    size_t i = 0;
    while (i + 1 < table->count && table->entries[i] != entry) {
        i++;
    }
    return i;
}

/* Two streams are unordered unless one is the default stream and the other a blocking
 * stream. */
static void
stream_table_judge(pcu_stream_table *table)
{
    bool unordered = table->peer || table->count > 2;
    for (size_t i = 1; i < table->count; i++) {
        unordered |= !table->entries[i]->blocking;
    }
    if (unordered && !table->unordered) {
        table->epoch++;
        table->start = stream_clock;
        pcu_stream_unordered++;
    }
    else if (!unordered && table->unordered) {
        pcu_stream_unordered--;
    }
    table->unordered = unordered;
}

static bool
stream_table_append(pcu_stream_table *table, const pcu_stream_entry *entry)
{
    if (table->count == table->room) {
        size_t room = table->room + 8;
        pcu_stream_entry **entries =
            realloc(table->entries, room * sizeof(*table->entries));
        if (entries == NULL) {
            return false;
        }
        table->entries = entries;
        table->room = room;
    }
    pcu_stream_entry *made = malloc(sizeof(*made));
    if (made == NULL) {
        return false;
    }
    *made = *entry;
    made->context = table->context;
    made->id = ++stream_ids;
    table->entries[table->count++] = made;
    return true;
}

/* Remove a stream that was destroyed, if its work has finished. A call further up the
 * C stack may use the entry: a signal handler can run inside driver calls. Then a later
 * call removes it. */
static bool
stream_table_remove(pcu_stream_table *table, size_t index)
{
    pcu_stream_entry *entry = table->entries[index];
    if (!entry->ended || entry->done < entry->used || table->busy) {
        return false;
    }
    void *owner = entry->owner;
    table->entries[index] = table->entries[--table->count];
    table->last = DEFAULT_ENTRY;
    free(entry);
    stream_table_judge(table);
    if (owner != NULL) {
        pcu_stream_drop_owner(owner); /* may run any code */
    }
    return true;
}

static pcu_stream_table *
stream_table_new(pcu_context_record *rec)
{
    pcu_stream_table *table = calloc(1, sizeof(*table));
    /* The default stream may have been used before the table was made. */
    pcu_stream_entry first = {.used = ++stream_clock, .blocking = true};
    if (table != NULL) {
        table->context = rec->handle;
    }
    if (table == NULL || !stream_table_append(table, &first)) {
        if (table != NULL) {
            free(table->entries);
        }
        free(table);
        return NULL;
    }
    table->life = rec->life;
    table->next = stream_table_list;
    stream_table_list = table;
    pcu_stream_tables++;
    return pcu_stream_table_find(rec);
}

static pcu_stream_table *
stream_table_require(pcu_context_record *rec)
{
    pcu_stream_table *table = pcu_stream_table_find(rec);
    if (table == NULL) {
        table = stream_table_new(rec);
    }
    return table;
}

bool
pcu_stream_table_share(pcu_context_record *rec)
{
    pcu_stream_table *table = stream_table_require(rec);
    if (table == NULL) {
        return false;
    }
    table->peer = true;
    stream_table_judge(table);
    return true;
}

/* -- notes ------------------------------------------------------------------------- */

static void
stream_entry_note(pcu_stream_table *table, size_t index)
{
    pcu_stream_entry *entry = table->entries[index];
    if (!entry->captured) {
        entry->used = ++stream_clock;
        table->last = index;
    }
}

void
pcu_stream_note_slow(CUstream stream)
{
    pcu_context_record *rec = pcu_ctx_current;
    if (rec == NULL) { /* another library made the context current */
        CUcontext current = NULL;
        if (drv.CtxGetCurrent(&current) == CUDA_SUCCESS && current != NULL) {
            rec = pcu_context_record_find(current);
        }
    }
    pcu_stream_table *table = NULL;
    if (rec != NULL) {
        table = pcu_stream_table_find(rec);
    }
    if (table != NULL) {
        size_t index = table->last;
        if (table->entries[index]->handle != stream || table->entries[index]->ended) {
            index = stream_table_index(table, stream);
        }
        if (index < table->count) {
            stream_entry_note(table, index);
            return;
        }
    }
    for (table = stream_table_list; table != NULL; table = table->next) {
        size_t index = stream_table_index(table, stream);
        if (index != DEFAULT_ENTRY && index < table->count) {
            stream_entry_note(table, index); /* a stream of another context */
            return;
        }
    }
}

CUstream
pcu_stream_table_last(const pcu_stream_table *table)
{
    const pcu_stream_entry *entry = table->entries[table->last];
    if (entry->ended) {
        return NULL;
    }
    return entry->handle;
}

/* -- lives ------------------------------------------------------------------------- */

void
pcu_stream_life_begin(pcu_stream_life *life, const pcu_stream_table *table)
{
    life->epoch = table->epoch;
    life->clock = stream_clock;
    life->count = 0;
}

static void
stream_life_gather(pcu_stream_life *life, const pcu_stream_table *table,
                   unsigned long given)
{
    for (size_t i = 0; i < table->count; i++) {
        const pcu_stream_entry *entry = table->entries[i];
        /* `>=`: a call may note its stream before it allocates its result. */
        if (entry->used == 0 || entry->used < given || entry->used <= entry->done) {
            continue;
        }
        if (life->count >= PCU_STREAM_USES) {
            life->count = PCU_STREAM_USES_MANY;
            return;
        }
        life->uses[life->count++] = (pcu_stream_use){entry->id, entry->used};
    }
}

void
pcu_stream_life_end(pcu_stream_life *life, const pcu_stream_table *table)
{
    unsigned long given = 0;
    if (life->epoch == table->epoch) {
        given = life->clock;
    }
    life->epoch = table->epoch;
    life->clock = stream_clock;
    life->count = 0;
    stream_life_gather(life, table, given);
    for (const pcu_stream_table *other = stream_table_list;
         table->peer && other != NULL && life->count != PCU_STREAM_USES_MANY;
         other = other->next) {
        if (other != table && other->peer) {
            stream_life_gather(life, other, given);
        }
    }
}

static pcu_stream_entry *
stream_entry_by_id(const pcu_stream_table *table, unsigned long id)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->entries[i]->id == id) {
            return table->entries[i];
        }
    }
    for (const pcu_stream_table *other = stream_table_list;
         table->peer && other != NULL; other = other->next) {
        for (size_t i = 0; other != table && i < other->count; i++) {
            if (other->entries[i]->id == id) {
                return other->entries[i];
            }
        }
    }
    return NULL; /* the stream was destroyed, and its work has finished */
}

/* Whether new work in the stream `target` runs behind the work of an entry until
 * `clock`. Work that names no stream may follow in any stream, so for it the use must
 * have ended. */
static bool
stream_entry_is_past(const pcu_stream_table *table, const pcu_stream_entry *entry,
                     unsigned long clock, const pcu_stream_entry *target)
{
    if (entry == target || entry->done >= clock) {
        return true;
    }
    return target != NULL && target != table->entries[DEFAULT_ENTRY] &&
           entry == table->entries[DEFAULT_ENTRY] && target->blocking;
}

/* The moment until which all streams may have used the memory; 0: see its uses. */
static unsigned long
stream_life_limit(const pcu_stream_life *life, const pcu_stream_table *table)
{
    if (life->epoch != table->epoch) {
        return table->start;
    }
    if (life->count == PCU_STREAM_USES_MANY) {
        return life->clock;
    }
    return 0;
}

/* Call `function` for each use that the life may have, until one returns false. */
typedef bool (*stream_use_visit)(pcu_stream_table *table, pcu_stream_entry *entry,
                                 unsigned long clock, void *data);

static bool
stream_life_visit(const pcu_stream_life *life, pcu_stream_table *table,
                  stream_use_visit function, void *data)
{
    unsigned long limit = stream_life_limit(life, table);
    bool go_on = true;
    for (unsigned int i = 0; limit == 0 && go_on && i < life->count; i++) {
        pcu_stream_entry *entry = stream_entry_by_id(table, life->uses[i].id);
        if (entry != NULL) {
            go_on = function(table, entry, life->uses[i].clock, data);
        }
    }
    for (pcu_stream_table *each = stream_table_list;
         limit != 0 && go_on && each != NULL; each = each->next) {
        if (each != table && !(table->peer && each->peer)) {
            continue;
        }
        for (size_t i = 0; go_on && i < each->count; i++) {
            unsigned long clock = each->entries[i]->used;
            if (clock > limit) {
                clock = limit;
            }
            go_on = function(table, each->entries[i], clock, data);
        }
    }
    return go_on;
}

static bool
stream_visit_past(pcu_stream_table *table, pcu_stream_entry *entry, unsigned long clock,
                  void *data)
{
    return stream_entry_is_past(table, entry, clock, data);
}

static pcu_stream_entry *
stream_entry_of(const pcu_stream_table *table, CUstream stream)
{
    size_t index = stream_table_index(table, stream);
    if (index == table->count) {
        return NULL;
    }
    return table->entries[index];
}

bool
pcu_stream_life_is_over(const pcu_stream_life *life, const pcu_stream_table *table,
                        CUstream stream)
{
    return stream_life_visit(life, (pcu_stream_table *)table, stream_visit_past,
                             stream_entry_of(table, stream));
}

static bool
stream_visit_clear(pcu_stream_table *table, pcu_stream_entry *entry,
                   unsigned long clock, void *data)
{
    (void)table;
    (void)data;
    return !(entry->opaque && entry->done < clock);
}

bool
pcu_stream_life_is_opaque(const pcu_stream_life *life, const pcu_stream_table *table)
{
    return !stream_life_visit(life, (pcu_stream_table *)table, stream_visit_clear,
                              NULL);
}

/* -- fences ------------------------------------------------------------------------ */

static void
stream_entry_drop_fence(pcu_stream_entry *entry)
{
    CUevent fence = entry->fence;
    entry->fence = NULL;
    if (fence == NULL) {
        return;
    }
    CUresult status = drv.EventDestroy(fence);
    pcu_handle_abandon(PCU_HANDLE_event);
    const pcu_context_record *rec = pcu_context_record_find(entry->context);
    if (status != CUDA_SUCCESS && rec != NULL && pcu_context_record_usable(rec)) {
        pcu_stream_report(rec->owner, "cuEventDestroy", (uintptr_t)fence, status);
    }
}

static void
stream_entry_ask(pcu_stream_entry *entry)
{
    if (entry->fence != NULL && drv.EventQuery(entry->fence) == CUDA_SUCCESS) {
        entry->done = entry->fenced;
        stream_entry_drop_fence(entry);
    }
}

/* Whether no event can be recorded behind the stream's work: in a captured stream the
 * event becomes a part of the graph and never ends. */
static bool
stream_is_captured(CUstream stream)
{
    pcu_capture state;
    (void)pcu_capture_ask(stream, &state); /* else the driver refuses the event */
    return state != PCU_CAPTURE_NONE;
}

/* Whether enqueuing an event cannot wait for room in the queue. */
static bool
stream_queue_has_room(const pcu_stream_table *table)
{
    const pcu_context_record *rec = pcu_context_record_find(table->context);
    return rec == NULL || rec->queued - rec->passed < PCU_QUEUE_SAFE;
}

/* Record an event behind the work that the stream has now. Its context is current. */
static CUresult
stream_entry_record(pcu_stream_entry *entry, const char **routine)
{
    CUevent fence = entry->fence;
    *routine = "cuEventRecord";
    if (entry->opaque || stream_is_captured(entry->handle)) {
        return CUDA_ERROR_NOT_PERMITTED;
    }
    if (fence == NULL) {
        *routine = "cuEventCreate";
        CUresult status = drv.EventCreate(&fence, CU_EVENT_DISABLE_TIMING);
        if (status != CUDA_SUCCESS) {
            return status;
        }
        pcu_handle_created(PCU_HANDLE_event);
        *routine = "cuEventRecord";
    }
    entry->fence = fence;
    CUresult status = drv.EventRecord(fence, entry->handle);
    if (status == CUDA_SUCCESS) {
        entry->fenced = entry->used;
    }
    else {
        stream_entry_drop_fence(entry);
    }
    return status;
}

/* The same in any context. */
static CUresult
stream_entry_fence(pcu_stream_entry *entry, const char **routine)
{
    CUcontext current = NULL;
    *routine = "cuCtxGetCurrent";
    CUresult status = drv.CtxGetCurrent(&current);
    if (status == CUDA_SUCCESS && current == entry->context) {
        return stream_entry_record(entry, routine);
    }
    if (status == CUDA_SUCCESS) {
        *routine = "cuCtxPushCurrent";
        status = drv.CtxPushCurrent(entry->context);
    }
    if (status == CUDA_SUCCESS) {
        status = stream_entry_record(entry, routine);
        CUresult left = drv.CtxPopCurrent(&current);
        if (status == CUDA_SUCCESS && left != CUDA_SUCCESS) {
            *routine = "cuCtxPopCurrent";
            status = left;
        }
    }
    return status;
}

/* Ask one entry. Return 1 if it stays in the table. */
static bool
stream_table_poll_at(pcu_stream_table *table, size_t index, CUstream stream,
                     bool record)
{
    pcu_stream_entry *entry = table->entries[index];
    const char *routine;
    table->busy++;
    stream_entry_ask(entry);
    if (record && entry->fence == NULL && !entry->ended && entry->used > entry->done &&
        entry->handle != stream) {
        /* Without a fence, the memory seems to be in use. */
        (void)stream_entry_fence(entry, &routine);
        stream_entry_ask(entry);
    }
    table->busy--;
    return !stream_table_remove(table, index);
}

/* Ask the streams of another context. */
static void
stream_table_poll_peer(pcu_stream_table *table, bool record)
{
    table->busy++; /* the caller walks the list of tables */
    for (size_t i = 0; i < table->count; i++) {
        (void)stream_table_poll_at(table, i, CU_STREAM_PER_THREAD, record);
    }
    table->busy--;
}

void
pcu_stream_table_poll(pcu_stream_table *table, CUstream stream, bool record)
{
    size_t i = 0;
    /* Asking an event is allowed during a capture only in this mode. */
    CUstreamCaptureMode mode = CAPTURE_RELAXED;
    bool relaxed = drv.ThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS;
    record = record && stream_queue_has_room(table);
    while (i < table->count) {
        i += (size_t)stream_table_poll_at(table, i, stream, record);
    }
    for (pcu_stream_table *other = stream_table_list; table->peer && other != NULL;
         other = other->next) {
        if (other != table && other->peer) {
            stream_table_poll_peer(other, record);
        }
    }
    if (relaxed) {
        (void)drv.ThreadExchangeStreamCaptureMode(&mode); /* as it was before */
    }
}

/* Remove the foreign streams whose work has finished, and let go of their owners. */
static void
stream_table_sweep(pcu_stream_table *table)
{
    size_t i = 1;
    if (pcu_stream_followers != 0) {
        pcu_stream_table_poll(table, CU_STREAM_PER_THREAD, true);
    }
    while (i < table->count) {
        pcu_stream_entry *entry = table->entries[i];
        bool idle = pcu_stream_followers == 0 || entry->done >= entry->used;
        if (entry->owner != NULL && idle && !table->busy) {
            entry->done = entry->used;
            entry->ended = true;
        }
        i += (size_t)!stream_table_remove(table, i);
    }
}

bool
pcu_stream_table_add(pcu_context_record *rec, CUstream stream, unsigned int facts,
                     void *owner)
{
    pcu_stream_table *table = stream_table_require(rec);
    if (table == NULL) {
        return false;
    }
    size_t index = stream_table_index(table, stream);
    if (index < table->count) {
        void *old = table->entries[index]->owner;
        if (old == NULL) { /* a Stream of ours, which says when it ends */
            old = owner;
        }
        else {
            table->entries[index]->owner = owner;
        }
        if (old != NULL) {
            pcu_stream_drop_owner(old);
        }
        return true;
    }
    if (table->count >= STREAM_FOREIGN_KEPT && owner != NULL) {
        stream_table_sweep(table);
    }
    pcu_stream_entry entry = {.handle = stream,
                              .blocking = (facts & PCU_STREAM_BLOCKING) != 0,
                              .opaque = stream == CU_STREAM_PER_THREAD,
                              .owner = owner};
    if ((facts & PCU_STREAM_FRESH) != 0) {
        entry.done = stream_clock;
    }
    if (!stream_table_append(table, &entry)) {
        return false;
    }
    stream_table_judge(table);
    return true;
}

void
pcu_stream_table_end(pcu_context_record *rec, CUstream stream)
{
    pcu_stream_table *table = pcu_stream_table_find(rec);
    size_t index = 0;
    if (table != NULL) {
        index = stream_table_index(table, stream);
    }
    if (index == DEFAULT_ENTRY || index == table->count) {
        return;
    }
    pcu_stream_entry *entry = table->entries[index];
    entry->ended = true;
    if (pcu_stream_followers != 0 && entry->used > entry->done) {
        const char *routine;
        table->busy++;
        (void)stream_entry_fence(entry, &routine);
        stream_entry_ask(entry);
        table->busy--;
        /* Without a fence, only the driver knows when the work has finished. */
        entry->opaque |= entry->done < entry->used && entry->fenced != entry->used;
    }
    else {
        stream_entry_drop_fence(entry);
        entry->done = entry->used;
    }
    (void)stream_table_remove(table, stream_table_place(table, entry));
}

/* All work of the context until this clock has finished. */
static void
stream_table_passed(pcu_context_record *rec, unsigned long clock)
{
    pcu_stream_table *table = rec->streams;
    for (size_t i = 0; table != NULL && i < table->count; i++) {
        pcu_stream_entry *entry = table->entries[i];
        unsigned long until = entry->used;
        if (until > clock) {
            until = clock;
        }
        if (entry->done < until) {
            entry->done = until;
        }
    }
}

pcu_wait
pcu_wait_begin(const pcu_context_record *rec)
{
    pcu_wait wait = {.clock = stream_clock, .launch = pcu_launch_newest()};
    if (rec != NULL) {
        wait.queued = rec->queued;
    }
    return wait;
}

void
pcu_wait_succeeded(pcu_context_record *rec, const pcu_wait *wait)
{
    if (wait->queued > rec->passed) {
        rec->passed = wait->queued;
    }
    stream_table_passed(rec, wait->clock);
    pcu_launches_passed_all(rec, wait->launch);
}

void
pcu_stream_table_let_go(pcu_context_record *rec)
{
    pcu_stream_table *table = rec->streams;
    for (size_t i = 0; table != NULL && i < table->count; i++) {
        pcu_stream_entry *entry = table->entries[i];
        void *owner = entry->owner;
        entry->owner = NULL;
        if (entry->fence != NULL) {
            stream_entry_drop_fence(entry);
            entry->opaque |= entry->ended;
        }
        if (owner != NULL) { /* its library may destroy the stream now */
            entry->opaque = true;
            entry->ended = true;
            pcu_stream_drop_owner(owner);
        }
    }
}

void
pcu_stream_table_forget(pcu_context_record *rec)
{
    pcu_stream_table *table = rec->streams;
    pcu_stream_table **link = &stream_table_list;
    rec->streams = NULL;
    if (table == NULL || --table->records != 0) {
        return;
    }
    while (*link != table) {
        link = &(*link)->next;
    }
    *link = table->next;
    pcu_stream_tables--;
    pcu_stream_unordered -= table->unordered;
    rec->streams = table;
    pcu_stream_table_let_go(rec);
    rec->streams = NULL;
    while (table->count > 0) {
        void *owner = table->entries[--table->count]->owner;
        free(table->entries[table->count]);
        if (owner != NULL) {
            pcu_stream_drop_owner(owner);
        }
    }
    free(table->entries);
    free(table);
}

/* -- order ------------------------------------------------------------------------- */

typedef struct {
    CUstream after;
    const pcu_stream_entry *target;
    const char *routine;
    CUresult status;
} stream_ordering;

static bool
stream_visit_order(pcu_stream_table *table, pcu_stream_entry *entry,
                   unsigned long clock, void *data)
{
    stream_ordering *order = data;
    if (stream_entry_is_past(table, entry, clock, order->target)) {
        return true;
    }
    bool fresh = !entry->ended && (entry->fence == NULL || entry->fenced < clock);
    if (fresh) {
        order->status = stream_entry_fence(entry, &order->routine);
    }
    else if (entry->fence == NULL || entry->fenced < clock) {
        order->routine = "cuEventRecord";
        order->status = CUDA_ERROR_NOT_PERMITTED;
    }
    if (order->status == CUDA_SUCCESS) {
        order->routine = "cuStreamWaitEvent";
        order->status = drv.StreamWaitEvent(order->after, entry->fence, 0);
    }
    if (fresh) {
        stream_entry_drop_fence(entry); /* the driver defers this until its use */
    }
    return order->status == CUDA_SUCCESS;
}

CUresult
pcu_stream_life_order(const pcu_stream_life *life, pcu_stream_table *table,
                      CUstream stream, const char **routine)
{
    stream_ordering order = {stream, stream_entry_of(table, stream), "", CUDA_SUCCESS};
    table->busy++;
    (void)stream_life_visit(life, table, stream_visit_order, &order);
    table->busy--;
    *routine = order.routine;
    return order.status;
}

CUresult
pcu_stream_table_order_new(pcu_context_record *rec, CUstream stream,
                           const char **routine)
{
    pcu_stream_table *table = rec->streams;
    pcu_stream_life all = {.epoch = 0};
    size_t index = stream_table_index(table, stream);
    *routine = "";
    if (!table->unordered || table->ordered_until == table->epoch) {
        return CUDA_SUCCESS;
    }
    CUresult status = CUDA_SUCCESS;
    if (pcu_stream_followers != 0 && index != table->count) {
        table->start = stream_clock;
        status = pcu_stream_life_order(&all, table, stream, routine);
    }
    if (status == CUDA_SUCCESS) {
        table->ordered_until = table->epoch;
    }
    return status;
}

/* -- captures ---------------------------------------------------------------------- */

CUresult
pcu_stream_table_fence_capture(pcu_context_record *rec, CUstream stream,
                               const char **routine)
{
    pcu_stream_table *table = pcu_stream_table_find(rec);
    CUresult status = CUDA_SUCCESS;
    if (table == NULL || pcu_stream_followers == 0) {
        return status;
    }
    pcu_stream_entry *entries[] = {table->entries[DEFAULT_ENTRY],
                                   stream_entry_of(table, stream)};
    table->busy++;
    for (size_t i = 0; status == CUDA_SUCCESS && i < 2; i++) {
        pcu_stream_entry *entry = entries[i];
        bool fenced =
            entry != NULL && entry->fence != NULL && entry->fenced == entry->used;
        if (entry != NULL && !fenced && entry->used > entry->done &&
            !stream_is_captured(entry->handle)) {
            status = stream_entry_fence(entry, routine);
        }
    }
    table->busy--;
    return status;
}

void
pcu_stream_table_begin_capture(pcu_context_record *rec, CUstream stream)
{
    pcu_stream_table *table = pcu_stream_table_find(rec);
    pcu_stream_entry *entry = NULL;
    if (table != NULL) {
        entry = stream_entry_of(table, stream);
    }
    if (entry != NULL) {
        entry->captured = true;
    }
}

void
pcu_stream_table_end_capture(pcu_context_record *rec, CUstream stream)
{
    pcu_stream_table *table = pcu_stream_table_find(rec);
    if (table == NULL) {
        return;
    }
    pcu_stream_entry *entry = stream_entry_of(table, stream);
    table->busy++;
    stream_entry_drop_fence(table->entries[DEFAULT_ENTRY]);
    if (entry != NULL) {
        entry->captured = false;
        stream_entry_drop_fence(entry);
    }
    table->busy--;
}
