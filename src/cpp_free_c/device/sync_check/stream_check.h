/* The check `sync`: operations of streams, and the host, that use the same bytes
 * without waiting for each other.
 *
 * Each stream has a lane. Each piece of work that a program enqueues is an operation of
 * a lane: it has a number, the clock of what happened before it, the line of the
 * program, and the bytes that it uses (uses.h). Two operations of which neither
 * happened before the other, and whose uses conflict, are a finding; so is an access of
 * the host to memory that an operation uses, unless the host has waited for the
 * operation. The order in which the work really ran does not matter.
 *
 * A finding makes the context fail. The next call publishes its text (entry/entry.c).
 *
 * One mutex guards everything here. It is taken with any lock of the device held, and
 * no other lock is taken under it but that of sites. If the check is off, lanes and
 * operations are NULL, and all functions accept that. */
#ifndef DEVICE_SYNC_CHECK_STREAM_CHECK_H
#define DEVICE_SYNC_CHECK_STREAM_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "device/base/device.h"
#include "device/sync_check/lane_clock.h"
#include "device/sync_check/uses.h"

/* Set once by cuInit. */
extern bool emu_stream_check_on;
void emu_stream_check_open(bool on);

/* -- lanes ------------------------------------------------------------------------- */

typedef enum {
    EMU_LANE_NULL, /* waits for the blocking lanes of its context, and they for it */
    EMU_LANE_BLOCKING, /* a stream */
    EMU_LANE_FREE      /* a NON_BLOCKING stream */
} emu_lane_kind;

typedef struct emu_lane emu_lane;

/* NULL: the check is off, or memory is short. */
emu_lane *emu_lane_new(emu_context *context, emu_lane_kind kind);
/* The stream ends. Its operations may still be running, as far as the host knows. */
void emu_lane_free(emu_lane *lane);

/* -- the order of things ----------------------------------------------------------- */

/* An event is recorded in the lane: store what has happened before it. */
void emu_lane_record(emu_lane *lane, emu_clock *event);
/* Later work of the lane waits for the event. */
void emu_lane_await(emu_lane *lane, const emu_clock *event);

/* It waits for everything: an event of another process, of which nothing is known. */
void emu_lane_await_all(emu_lane *lane);

/* The host has waited for a lane, for an event, for all lanes of a context (NULL: of
 * all contexts). */
void emu_host_awaits_lane(emu_lane *lane);
void emu_host_awaits_event(const emu_clock *event);
void emu_host_awaits_context(const emu_context *context);

/* Free the clock of an event. */
void emu_event_clock_close(emu_clock *event);

/* -- operations -------------------------------------------------------------------- */

typedef struct emu_operation emu_operation;

/* The program enqueues an operation. `name` is that of the call. */
emu_operation *emu_operation_new(emu_lane *lane, const char *name);
/* It never runs. */
void emu_operation_drop(emu_operation *operation);

/* This thread runs the operation; NULL: nothing is checked. End the present one. */
void emu_operation_begin(emu_operation *operation);
void emu_operation_end(void);
/* The operation that this thread runs, or NULL. */
emu_operation *emu_operation_present(void);
/* The line of the call that enqueued it; NULL: unknown, or no operation. */
const char *emu_operation_site(const emu_operation *operation);

/* Whether uses are to be noted: not if it was done before it ran. */
bool emu_operation_is_open(const emu_operation *operation);
/* Note a use of a copy or fill, which knows its ranges. A graph that has not begun only
 * may use them. */
void emu_operation_use(emu_operation *operation, uint64_t start, uint64_t bytes,
                       unsigned kind);
/* The same for a fill with one value, of a unit of bytes. */
void emu_operation_fill(emu_operation *operation, uint64_t start, uint64_t bytes,
                        uint32_t value, unsigned unit);
/* All uses of the operation are noted, before it runs. */
void emu_operation_known(emu_operation *operation);
/* Note that it may use all of an allocation: a parameter of a kernel that has not run
 * points to it. */
void emu_operation_may_use(emu_operation *operation, const emu_allocation *allocation);

/* Whether an operation that has not run may conflict with one that was enqueued later
 * and does not wait for it. */
bool emu_operation_may_race(const emu_operation *operation, const emu_operation *later);

/* It is a kernel of that name. */
void emu_operation_name(emu_operation *operation, const char *kernel);
/* The same, and it runs now. Return where the machine notes its accesses; NULL: they
 * are not wanted. */
emu_uses *emu_operation_kernel(emu_operation *operation, const char *name);

/* A graph, which is one operation, records an event. */
void emu_operation_record(const emu_operation *operation, emu_clock *event);

/* What the operation did lets the host, or other streams, continue: a host function, a
 * value that is written to memory. */
void emu_operation_signals(emu_operation *operation);
/* It will wait for such a value. What is enqueued behind it is compared with other work
 * when it runs: the write that ends the wait may be enqueued later. */
void emu_operation_waits(emu_operation *operation);
/* It has waited for it. */
void emu_operation_awaits_signal(emu_operation *operation);

/* -- nodes of a graph -------------------------------------------------------------- */

/* A graph is one operation. What each of its nodes uses is noted apart if another node
 * may run at the same time, since no edges lead from one to the other. Two such nodes
 * whose uses conflict are a finding. Afterwards it counts as used by the graph, or by
 * the node whose body the nodes are. */

typedef struct emu_node_check emu_node_check;

/* A node that has run. */
typedef struct {
    const char *name; /* "kernel scale", "a copy" */
    const char *site; /* where it was added; NULL: unknown */
    uint64_t serial;  /* of the newest allocation when it had run */
    const emu_uses *uses;
} emu_node_side;

/* The present operation is about to run `count` nodes, by number from 0. NULL: nothing
 * is checked. */
emu_node_check *emu_node_check_new(size_t count);
/* A node waits for another one, of which all these calls have been made before. */
void emu_node_check_order(emu_node_check *check, size_t number, size_t before);
/* All are made. NULL if each node comes before or behind each other one. */
emu_node_check *emu_node_check_ordered(emu_node_check *check);

/* The functions below accept NULL. What this thread does between the first two is done
 * by the node. `word`: "a copy", ..., unless it is a kernel. */
void emu_node_check_begin(emu_node_check *check, size_t number);
void emu_node_check_end(emu_node_check *check, size_t number, const char *word,
                        const char *site);
void emu_node_check_close(emu_node_check *check);

/* For node_check.c. Where the uses of the node that this thread runs are noted; NULL:
 * with those of the operation. */
emu_uses *emu_node_check_target(void);
/* That node runs a kernel. */
void emu_node_check_name(const char *kernel);
/* Compare two nodes of the present operation. */
void emu_operation_compare(const emu_node_side *older, const emu_node_side *newer);
/* Add uses to others; NULL: to those of the present operation. */
void emu_operation_join(emu_uses *uses, const emu_uses *added);

/* -- frees ------------------------------------------------------------------------- */

/* The program frees memory now. If operations that the host has not waited for use it,
 * that is a finding. `word`: "page-locked memory", ... */
void emu_stream_check_free(uint64_t start, uint64_t bytes, const char *word);
/* Memory of the program is no longer page-locked: leave its pages alone. */
void emu_stream_check_forget(uint64_t start, uint64_t bytes);

/* -- calls ------------------------------------------------------------------------- */

/* A call of the driver begins and ends in this thread. Between calls, the guard
 * watches the memory that the host must not touch. */
void emu_stream_check_enter(void);
void emu_stream_check_leave(void);

/* -- the guard --------------------------------------------------------------------- */

/* The guard: accesses of the host to memory that operations of streams still use.
 *
 * While no work runs and no call of the driver is under way, the pages of page-locked
 * and managed memory that operations use are protected. An access of the program makes
 * a signal. Its handler asks the check (guard_ask) whether the byte is in use. If not,
 * the access is done alone, and the page is protected again.
 *
 * All functions are called with the mutex of the check held, except the handler. */

/* The answer to an access. */
typedef enum {
    EMU_GUARD_STEP, /* it is correct: the page stays guarded */
    EMU_GUARD_OPEN  /* the page is no longer guarded */
} emu_guard_answer;

/* The question of the handler: the thread of the program reads or writes a byte. Called
 * without the mutex. */
typedef emu_guard_answer (*emu_guard_ask)(uint64_t address, bool is_write);

void emu_guard_open(emu_guard_ask ask);

/* Plan to guard the whole pages around [start, end), or only those inside of it;
 * against writes or against all accesses. */
void emu_guard_plan_range(uint64_t start, uint64_t end, bool inside, bool reads_too);
/* Guard what is planned, and nothing else. The next plan is empty. */
void emu_guard_apply_plan(void);
/* Let the page of an address be read, whoever reads it. */
void emu_guard_open_page(uint64_t address);
/* Guard nothing. */
void emu_guard_clear(void);
bool emu_guard_is_clear(void);

/* -- findings ---------------------------------------------------------------------- */

/* The texts of the findings of the check `sync`, and how they reach the program.
 *
 * A finding makes its context fail. The next call publishes the text; what no call has
 * published is written to the standard error when the process exits. Only the first
 * finding counts until it is published. Called with the mutex of the check held. */

/* One of two accesses that conflict. */
typedef struct {
    const char *name; /* "kernel scale", "cuMemcpyDtoHAsync", "the host" */
    const char *site; /* NULL: unknown */
    unsigned kinds;   /* EMU_USE_ values */
} emu_finding_side;

void emu_finding_of_streams(emu_context *context, const emu_finding_side *older,
                            const emu_finding_side *newer, uint64_t address);
/* Two nodes of a graph, which was launched at `launched`. */
void emu_finding_of_nodes(emu_context *context, const emu_finding_side *older,
                          const emu_finding_side *newer, uint64_t address,
                          const char *launched);
void emu_finding_of_host(emu_context *context, const emu_finding_side *work,
                         const emu_finding_side *host, uint64_t address);
void emu_finding_of_free(emu_context *context, const emu_finding_side *work,
                         uint64_t address, const char *word);

/* Take the text of a finding that was not published; NULL: none. Any thread may call
 * it without the mutex. */
const char *emu_finding_take(void);
/* The program has read the message that has the text. */
void emu_finding_is_told(void);

#endif
