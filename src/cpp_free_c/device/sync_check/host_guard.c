/* Protected pages and the handler of their signals. See stream_check.h. */
#define _GNU_SOURCE
#include "device/sync_check/stream_check.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "device/memory/memory.h"

enum {
    MOST_RANGES = 256,
    MOST_STEPS = 20000, /* after that many of them, pages are opened instead */
    STEP_PAGES = 4,     /* pages that one instruction may touch */
    TRAP_FLAG = 0x100,
    WRITE_FAULT = 2
};

typedef struct {
    uint64_t start, end; /* whole pages */
    bool reads_too;
} guard_range;

/* The mutex of the check guards it; the handler only reads it. */
static struct {
    emu_guard_ask ask;
    guard_range ranges[MOST_RANGES];
    _Atomic unsigned count;
    guard_range plan[MOST_RANGES];
    unsigned planned;
    _Atomic bool has_opened; /* some pages of the ranges are not protected now */
    uint64_t page;           /* bytes */
    pid_t process;
    struct sigaction segv_before, trap_before;
    _Atomic int passed_on; /* signals that were not ours */
    _Atomic unsigned steps;
} guard;

/* Of this thread: the pages that it has opened for one instruction. */
static _Thread_local struct {
    uint64_t pages[STEP_PAGES];
    int protections[STEP_PAGES];
    int count;
    uint64_t missed; /* the address of the last fault in no guarded page */
} step;

static int
range_protection(const guard_range *range)
{
    if (range->reads_too) {
        return PROT_NONE;
    }
    return PROT_READ;
}

/* How a page is protected now; PROT_READ | PROT_WRITE: not at all. */
static int
guard_protection(uint64_t page)
{
    const unsigned count = atomic_load(&guard.count);
    int protection = PROT_READ | PROT_WRITE;

    for (unsigned i = 0; i < count; i++) {
        const guard_range *range = &guard.ranges[i];

        if (page >= range->start && page < range->end) {
            protection &= range_protection(range);
        }
    }
    return protection;
}

/* Changing protections cannot fail for pages that exist. */
static void
guard_protect(uint64_t start, uint64_t end, int protection)
{
    (void)mprotect((void *)(uintptr_t)start, (size_t)(end - start), protection);
}

/* Let a page be used until the guard is renewed. */
static void
guard_open(uint64_t page)
{
    atomic_store(&guard.has_opened, true);
    guard_protect(page, page + guard.page, PROT_READ | PROT_WRITE);
}

/* -- the handlers ------------------------------------------------------------------ */

#if defined(__x86_64__)
static bool
fault_is_write(const ucontext_t *context)
{
    return (context->uc_mcontext.gregs[REG_ERR] & WRITE_FAULT) != 0;
}

/* Let the next instruction run alone. False: this processor cannot. */
static bool
step_request(ucontext_t *context, bool on)
{
    if (on) {
        context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    }
    else {
        context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    }
    return true;
}
#else
/* Unknown: count it as a read, which fewer operations forbid. */
static bool
fault_is_write(const ucontext_t *context)
{
    (void)context;
    return false;
}

static bool
step_request(ucontext_t *context, bool on)
{
    (void)context;
    (void)on;
    return false;
}
#endif

/* Hand a signal that is not ours to the handler before ours: the instruction runs
 * again. If that handler brings ours back, the process ends as without handlers. */
static void
guard_pass_on(int number, const struct sigaction *before)
{
    struct sigaction standard;

    if (atomic_fetch_add(&guard.passed_on, 1) < 2) {
        (void)sigaction(number, before, NULL);
        return;
    }
    memset(&standard, 0, sizeof(standard));
    standard.sa_handler = SIG_DFL;
    (void)sigaction(number, &standard, NULL);
}

/* Open a page for one instruction. */
static void
step_begin(ucontext_t *context, uint64_t page, int protection)
{
    guard_protect(page, page + guard.page, PROT_READ | PROT_WRITE);
    if (step.count == STEP_PAGES || atomic_fetch_add(&guard.steps, 1) >= MOST_STEPS ||
        !step_request(context, true)) {
        atomic_store(&guard.has_opened, true);
    }
    else {
        step.pages[step.count] = page;
        step.protections[step.count] = protection;
        step.count++;
    }
}

static void
guard_on_fault(int number, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    const uint64_t address = (uintptr_t)info->si_addr;
    const uint64_t page = address & ~(guard.page - 1);
    const int protection = guard_protection(page);
    bool is_write = fault_is_write(context);

    if (info->si_code != SEGV_ACCERR || protection == (PROT_READ | PROT_WRITE)) {
        if (info->si_code == SEGV_ACCERR && step.missed != address) {
            step.missed = address; /* another thread has just opened it: try again */
            return;
        }
        guard_pass_on(number, &guard.segv_before);
        return;
    }
    if (getpid() != guard.process) { /* a child owns its copy of the memory */
        guard_protect(page, page + guard.page, PROT_READ | PROT_WRITE);
        return;
    }
    if (protection == PROT_READ) {
        is_write = true;
    }
    if (guard.ask(address, is_write) == EMU_GUARD_STEP) {
        step_begin(context, page, protection);
    }
    else {
        guard_open(page);
    }
}

static void
guard_on_step(int number, siginfo_t *info, void *data)
{
    (void)info;
    if (step.count == 0) {
        guard_pass_on(number, &guard.trap_before);
        return;
    }
    (void)step_request(data, false);
    while (step.count > 0) {
        step.count--;
        /* it may have been opened by another thread meanwhile */
        if (guard_protection(step.pages[step.count]) == step.protections[step.count]) {
            guard_protect(step.pages[step.count], step.pages[step.count] + guard.page,
                          step.protections[step.count]);
        }
    }
}

/* Make our handler the first one: another one may have been set since. */
static void
guard_handle(int number, void (*handler)(int, siginfo_t *, void *),
             struct sigaction *before)
{
    struct sigaction present, own;

    if (sigaction(number, NULL, &present) != 0 || present.sa_sigaction == handler) {
        return;
    }
    *before = present;
    memset(&own, 0, sizeof(own));
    own.sa_sigaction = handler;
    own.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&own.sa_mask);
    (void)sigaction(number, &own, NULL);
}

/* -- ranges ------------------------------------------------------------------------ */

void
emu_guard_open(emu_guard_ask ask)
{
    guard.ask = ask;
    guard.page = (uint64_t)sysconf(_SC_PAGESIZE);
    guard.process = getpid();
}

void
emu_guard_plan_range(uint64_t start, uint64_t end, bool inside, bool reads_too)
{
    guard_range *last = NULL;

    if (guard.planned > 0) {
        last = &guard.plan[guard.planned - 1];
    }
    if (inside) {
        start += guard.page - 1;
    }
    else {
        end += guard.page - 1;
    }
    start &= ~(guard.page - 1);
    end &= ~(guard.page - 1);
    if (start >= end) {
        return;
    }
    if (last != NULL && last->end == start && last->reads_too == reads_too) {
        last->end = end; /* the next page of a kernel */
    }
    else if (guard.planned < MOST_RANGES) {
        guard.plan[guard.planned++] = (guard_range){start, end, reads_too};
    }
}

/* Whether all pages that are guarded now stay so. Then the plan only adds ranges. */
static bool
guard_plan_adds_to(unsigned planned)
{
    const unsigned count = atomic_load(&guard.count);

    if (count > planned || atomic_load(&guard.has_opened)) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        if (guard.ranges[i].start != guard.plan[i].start ||
            guard.ranges[i].end != guard.plan[i].end ||
            guard.ranges[i].reads_too != guard.plan[i].reads_too) {
            return false;
        }
    }
    return true;
}

void
emu_guard_apply_plan(void)
{
    const unsigned planned = guard.planned;

    guard.planned = 0;
    if (!guard_plan_adds_to(planned)) {
        emu_guard_clear();
    }
    atomic_store(&guard.steps, 0);
    if (atomic_load(&guard.count) == planned || getpid() != guard.process) {
        return;
    }
    guard_handle(SIGSEGV, guard_on_fault, &guard.segv_before);
    guard_handle(SIGTRAP, guard_on_step, &guard.trap_before);
    for (unsigned i = atomic_load(&guard.count); i < planned; i++) {
        guard.ranges[i] = guard.plan[i];
        atomic_store(&guard.count, i + 1);
        guard_protect(guard.plan[i].start, guard.plan[i].end,
                      range_protection(&guard.plan[i]));
    }
}

void
emu_guard_open_page(uint64_t address)
{
    const uint64_t page = address & ~(guard.page - 1);

    if (guard_protection(page) != (PROT_READ | PROT_WRITE)) {
        guard_open(page);
    }
}

void
emu_guard_clear(void)
{
    const unsigned count = atomic_load(&guard.count);

    atomic_store(&guard.count, 0);
    atomic_store(&guard.steps, 0);
    atomic_store(&guard.has_opened, false);
    for (unsigned i = 0; i < count; i++) {
        guard_protect(guard.ranges[i].start, guard.ranges[i].end,
                      PROT_READ | PROT_WRITE);
    }
}

bool
emu_guard_is_clear(void)
{
    return atomic_load(&guard.count) == 0;
}
