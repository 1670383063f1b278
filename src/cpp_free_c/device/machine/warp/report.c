/* Faults and reports. See report.h. */
#define _GNU_SOURCE
#include "device/machine/warp/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device/base/warnings.h"
#include "device/machine/warp/wait.h"
#include "device/memory/memory.h"

const char *
emu_code_name(CUresult code)
{
    /* clang-format off */
#define RESULT_ROW(name, number, exception, text) case name: return #name;
    switch (code) { PCU_RESULTS(RESULT_ROW) }
#undef RESULT_ROW
    /* clang-format on */
    return "CUDA_ERROR_UNKNOWN";
}

/* The checks begin their texts with these words. */
static const struct {
    const char *words, *kind;
} report_kinds[] = {
    {"race:", "race"},        {"uninitialised", "init"}, {"barrier", "barrier"},
    {"deadlock:", "barrier"}, {"trap", "trap"},
};

static const char *
report_kind(CUresult code, const char *what)
{
    if (code == CUDA_ERROR_ILLEGAL_ADDRESS || code == CUDA_ERROR_MISALIGNED_ADDRESS) {
        return "memory";
    }
    if (code == CUDA_ERROR_ASSERT) {
        return "assert";
    }
    if (code == CUDA_ERROR_LAUNCH_TIMEOUT) {
        return "timeout";
    }
    if (code == EMU_INTERRUPTED) {
        return NULL; /* what the user has asked for */
    }
    for (size_t i = 0; i < sizeof report_kinds / sizeof report_kinds[0]; i++) {
        if (strncmp(what, report_kinds[i].words, strlen(report_kinds[i].words)) == 0) {
            return report_kinds[i].kind;
        }
    }
    return "launch";
}

emu_place
emu_report_place_of(const emu_func *func, const emu_insn *insn)
{
    if (insn < func->code || insn >= func->code + func->count) {
        return (emu_place){0};
    }
    return func->places[insn - func->code];
}

const emu_insn *
emu_report_loop_of(const emu_func *func, const emu_insn *insn)
{
    const emu_insn *end = func->code + func->count;

    for (const emu_insn *i = insn; insn >= func->code && i < end; i++) {
        const emu_place place = emu_report_place_of(func, i);

        if ((emu_op_rows[i->op].fields & EMU_TARGET) != 0 && i->imm <= 0 &&
            i + i->imm <= insn && (place.line | place.ptx_line) != 0) {
            return i;
        }
    }
    return insn;
}

/* The source file of a place, or NULL. */
static const char *
report_place_file(const emu_program *program, emu_place place)
{
    if (!place.line || place.file >= program->file_count) {
        return NULL;
    }
    return program->files[place.file];
}

void
emu_report_place_text(const emu_program *program, emu_place place, char *text,
                      size_t room)
{
    const char *file = report_place_file(program, place);

    text[0] = 0;
    if (file == NULL) {
        return;
    }
    const char *slash = strrchr(file, '/');
    if (slash) {
        file = slash + 1;
    }
    (void)snprintf(text, room, " (%.80s:%u)", file, place.line);
}

void
emu_report_thread_text(const emu_grid *grid, unsigned thread, char *text, size_t room)
{
    const uint32_t(*tid)[EMU_LANES] =
        (const uint32_t(*)[EMU_LANES])grid->tids[thread / EMU_LANES];
    const unsigned lane = thread % EMU_LANES;

    (void)snprintf(text, room, "(%u, %u, %u)", tid[0][lane], tid[1][lane],
                   tid[2][lane]);
}

static void
report_place(emu_report *report, const emu_warp *warp, const emu_insn *insn)
{
    const emu_func *func = warp->frame->func;
    const emu_place place = emu_report_place_of(func, insn);
    const char *file = report_place_file(func->program, place);

    report->line = place.line;
    report->ptx_lines[0] = place.line == 0 ? place.ptx_line : 0;
    report->ptx_hash = func->program->text_hash;
    if (file) {
        (void)snprintf(report->file, sizeof report->file, "%s", file);
    }
}

static void
report_thread(emu_report *report, const emu_warp *warp, unsigned lane)
{
    unsigned i;

    for (i = 0; i < 3; i++) {
        report->block[i] = warp->block->ctaid[i];
        report->thread[i] = warp->tid[i][lane];
    }
}

/* Write "\n  WORDS FILE:LINE", or "". */
static void
report_line(const char *words, const char *file, unsigned line, char *text, size_t room)
{
    text[0] = 0;
    if (line != 0 && file != NULL) {
        (void)snprintf(text, room, "\n  %s %.200s:%u", words, file, line);
    }
}

/* -- the allocation that an address belongs to ------------------------------------- */

/* How far an address is from an allocation; 0: inside. */
static uint64_t
memory_distance(const emu_allocation *memory, uint64_t address)
{
    if (address < memory->base) {
        return memory->base - address;
    }
    if (address - memory->base < memory->size) {
        return 0;
    }
    return address - memory->base - memory->size + 1;
}

/* The same, or how far it would be if a 32-bit index had not overflowed. */
static uint64_t
memory_distance_wrapped(const emu_allocation *memory, uint64_t address)
{
    uint64_t least = memory_distance(memory, address);

    for (uint64_t turn = UINT64_C(1) << 32; turn <= UINT64_C(16) << 32; turn *= 2) {
        const uint64_t above = memory_distance(memory, address - turn);
        const uint64_t below = memory_distance(memory, address + turn);

        least = above < least ? above : least;
        least = below < least ? below : least;
    }
    return least;
}

/* What a 32-bit index of elements of 16 bytes can reach. */
#define ARGUMENT_REACH (UINT64_C(1) << 36)

/* Whether an argument, or a word of one such as a tensor map, is an address in a
 * record. */
static bool
memory_has_argument(const emu_grid *grid, const emu_allocation *memory)
{
    uint64_t word;

    for (size_t at = 0; at + sizeof word <= grid->params_size; at += sizeof word) {
        memcpy(&word, grid->params + at, sizeof word);
        if (word - memory->base < memory->size) {
            return true;
        }
    }
    return false;
}

/* The most bytes of an argument's memory in which addresses are looked for. */
#define ARGUMENT_LOOKED_AT ((uint64_t)1 << 20)

/* Whether memory that an argument points to has an address in a record: a structure
 * with a pointer, or a table of rows. */
static bool
memory_is_kept_in_argument(const emu_grid *grid, const emu_allocation *memory)
{
    uint64_t argument, word;

    for (size_t p = 0; p + sizeof argument <= grid->params_size; p += sizeof argument) {
        memcpy(&argument, grid->params + p, sizeof argument);
        const emu_allocation *table = emu_memory_holding(argument, 1);
        uint64_t most = 0;

        if (table != NULL && emu_memory_live(table)) {
            most = table->size < ARGUMENT_LOOKED_AT ? table->size : ARGUMENT_LOOKED_AT;
        }
        for (uint64_t at = 0; at + sizeof word <= most; at += sizeof word) {
            memcpy(&word, (const char *)(uintptr_t)(table->base + at), sizeof word);
            if (word - memory->base < memory->size) {
                return true;
            }
        }
    }
    return false;
}

/* The live allocation among the arguments of the kernel that is nearest to an address
 * and within reach. NULL if there is none, or if an argument is an address in `near`.
 */
static const emu_allocation *
memory_of_argument(const emu_grid *grid, const emu_allocation *near, uint64_t address)
{
    const emu_kernel_info *info = &grid->kernel->info;
    const emu_allocation *nearest = NULL;
    uint64_t reach = ARGUMENT_REACH;

    if (near != NULL && memory_has_argument(grid, near)) {
        return NULL;
    }
    for (size_t i = 0; i < info->param_count; i++) {
        uint64_t word;

        if (info->params[i].size != sizeof word ||
            info->params[i].offset + sizeof word > grid->params_size) {
            continue;
        }
        memcpy(&word, grid->params + info->params[i].offset, sizeof word);
        const emu_allocation *memory = emu_memory_holding(word, 1);

        if (memory != NULL && memory_distance(memory, address) < ARGUMENT_REACH &&
            memory_distance_wrapped(memory, address) < reach) {
            reach = memory_distance_wrapped(memory, address);
            nearest = memory;
        }
    }
    return nearest;
}

const emu_allocation *
emu_report_memory(const emu_grid *grid, uint64_t address)
{
    const emu_allocation *near = emu_memory_near(address);

    if (near != NULL && emu_memory_live(near) && address >= near->base) {
        return near;
    }
    if (near != NULL && memory_distance(near, address) == 0 &&
        memory_is_kept_in_argument(grid, near)) {
        return near;
    }
    const emu_allocation *argument = memory_of_argument(grid, near, address);

    /* Memory that no argument points to may have been freed for another reason. */
    if (argument == NULL ||
        (near != NULL && emu_memory_live(near) &&
         memory_distance(near, address) < memory_distance(argument, address))) {
        return near;
    }
    return argument;
}

/* -- writing -----------------------------------------------------------------------
 */

/* Write the lines at which the memory was allocated and freed, or "". */
static void
report_memory(const emu_grid *grid, const emu_allocation *memory, char *text,
              size_t room)
{
    const bool is_held =
        memory != NULL && emu_memory_is_held(memory, grid->launch->last_hold);

    text[0] = 0;
    if (memory != NULL && memory->site != NULL) {
        (void)snprintf(text, room, "\n  the memory was allocated at %.220s",
                       memory->site);
    }
    if (memory != NULL && memory->freed != NULL &&
        (!emu_memory_live(memory) || is_held)) {
        const size_t used = strlen(text);

        (void)snprintf(text + used, room - used, "\n  the memory %s at %.220s",
                       is_held ? "went back to its pool" : "was freed", memory->freed);
    }
}

static void
report_write(emu_report *report, const emu_warp *warp, const emu_other_place *other,
             const char *title, const char *what)
{
    const emu_grid *grid = warp->block->grid;
    const char *function_word = "", *function = "";
    char where[240], beside[240] = "", launched[240] = "", made[520];

    report_line("at", report->file, report->line, where, sizeof where);
    if (other != NULL) {
        report_line("other access at", report_place_file(other->program, other->place),
                    other->place.line, beside, sizeof beside);
        if (other->place.line == 0 && other->program == warp->frame->func->program) {
            report->ptx_lines[1] = other->place.ptx_line;
        }
    }
    if (grid->launch->site != NULL) {
        (void)snprintf(launched, sizeof launched, "\n  launched at %.220s",
                       grid->launch->site);
    }
    /* Offsets in shared and local memory are no addresses of allocations. */
    report_memory(grid, emu_report_memory(grid, report->address), made, sizeof made);
    if (warp->frame->parent) {
        function_word = ", function ";
        function = warp->frame->func->name;
    }
    (void)snprintf(
        report->text, sizeof report->text,
        "%.160s\n  %.600s\n  in kernel %.100s%s%.80s, block (%u, %u, %u), thread "
        "(%u, %u, %u)%s%s%s%s\n",
        title, what, report->kernel, function_word, function, report->block[0],
        report->block[1], report->block[2], report->thread[0], report->thread[1],
        report->thread[2], where, beside, launched, made);
}

/* Fill a report, whose code and address are set. */
static void
report_fill(emu_report *report, const emu_warp *warp, const emu_insn *insn,
            unsigned lane, const emu_other_place *other, const char *title,
            const char *what)
{
    report->kind = report_kind(report->code, what);
    report_thread(report, warp, lane);
    report_place(report, warp, insn);
    (void)snprintf(report->kernel, sizeof report->kernel, "%s",
                   warp->block->grid->kernel->info.name);
    report_write(report, warp, other, title, what);
}

/* The first fault of a launch makes the report; later ones only stop their warps. */
static void
report_fault(emu_warp *warp, const emu_insn *insn, unsigned lane,
             const emu_other_place *other, emu_report *fault, const char *format,
             va_list args)
{
    emu_grid *grid = warp->block->grid;
    char what[640];
    int expected = 0;

    warp->stop = EMU_STOP_FAULT;
    if (!atomic_compare_exchange_strong(&grid->failed, &expected, 1)) {
        return;
    }
    (void)vsnprintf(what, sizeof what, format, args);
    report_fill(fault, warp, insn, lane, other, emu_code_name(fault->code), what);
    *grid->report = *fault;
}

const emu_insn *
emu_fault(emu_warp *warp, const emu_insn *insn, CUresult code, unsigned lane,
          uint64_t address, const char *format, ...)
{
    emu_report fault = {.code = code, .address = address};
    va_list args;

    va_start(args, format);
    report_fault(warp, insn, lane, NULL, &fault, format, args);
    va_end(args);
    return NULL;
}

/* -- warnings and findings --------------------------------------------------------- */

/* Where the function notes which checks have warned at an instruction; NULL: nowhere.
 */
static _Atomic uint8_t *
report_warned(const emu_warp *warp, const emu_insn *insn)
{
    const emu_func *func = warp->frame->func;

    if (insn < func->code || insn >= func->code + func->count) {
        return NULL;
    }
    return &func->warned[insn - func->code];
}

bool
emu_warns_first(const emu_warp *warp, const emu_insn *insn, unsigned check)
{
    const emu_func *func = warp->frame->func;
    const emu_place place = emu_report_place_of(func, insn);
    _Atomic uint8_t *warned = report_warned(warp, insn);

    if (warned == NULL || atomic_fetch_or(warned, (uint8_t)check) & check) {
        return false;
    }
    for (uint32_t i = 0; i < func->count; i++) {
        if (func->places[i].line == place.line && func->places[i].file == place.file) {
            atomic_fetch_or(&func->warned[i], (uint8_t)check);
        }
    }
    return true;
}

/* Give a warning. kind: as of emu_warning_add. */
static void
report_give(const emu_warp *warp, const emu_insn *insn, unsigned lane,
            const emu_other_place *other, emu_report *report, const char *kind,
            const char *title, const char *what)
{
    report_fill(report, warp, insn, lane, other, title, what);
    emu_warning_add(kind, report->text,
                    (emu_ptx_place){report->ptx_hash,
                                    {report->ptx_lines[0], report->ptx_lines[1]}});
}

/* `fault` is what the kernel does. */
static void
report_warn(const emu_warp *warp, const emu_insn *insn, unsigned lane,
            const emu_other_place *other, emu_report *report, const char *fault,
            const char *format, va_list args)
{
    const char *kind;
    char what[640], title[160];

    (void)vsnprintf(what, sizeof what, format, args);
    kind = report_kind(report->code, what);
    (void)snprintf(title, sizeof title,
                   "a kernel %s (PYCUDA_CHECK=%s makes it an error)", fault, kind);
    report_give(warp, insn, lane, other, report, kind, title, what);
}

void
emu_warn(const emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t address,
         const char *fault, const char *format, ...)
{
    emu_report report = {.code = CUDA_ERROR_ILLEGAL_ADDRESS, .address = address};
    va_list args;

    va_start(args, format);
    report_warn(warp, insn, lane, NULL, &report, fault, format, args);
    va_end(args);
}

void
emu_warn_only(const emu_warp *warp, const emu_insn *insn, unsigned lane,
              uint64_t address, const emu_other_place *other, const char *title,
              const char *format, ...)
{
    emu_report report = {.code = CUDA_SUCCESS, .address = address};
    char what[640];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    report_give(warp, insn, lane, other, &report, NULL, title, what);
}

bool
emu_check_is_told(const emu_warp *warp, const emu_insn *insn, unsigned check)
{
    const _Atomic uint8_t *warned = report_warned(warp, insn);

    return warp->block->is_trial &&
           (warp->block->trial_left <= 0 || warned == NULL ||
            atomic_load_explicit(warned, memory_order_relaxed) & check);
}

bool
emu_check_found(emu_warp *warp, const emu_insn *insn, unsigned check, unsigned lane,
                uint64_t address, const emu_other_place *other, const char *format, ...)
{
    emu_report report = {.code = CUDA_ERROR_LAUNCH_FAILED, .address = address};
    va_list args;

    va_start(args, format);
    if (!warp->block->is_trial) {
        report_fault(warp, insn, lane, other, &report, format, args);
    }
    else if (!emu_check_is_told(warp, insn, check) &&
             emu_warns_first(warp, insn, check)) {
        report_warn(warp, insn, lane, other, &report,
                    "has a fault that a GPU may not show", format, args);
    }
    va_end(args);
    return warp->block->is_trial;
}

/* -- values that a store writes ---------------------------------------------------- */

void
emu_store_value(const emu_warp *warp, const emu_insn *insn, unsigned lane,
                unsigned size, uint8_t value[EMU_MOST_STORED])
{
    const unsigned wide = emu_op_rows[insn->op].widths[EMU_B];
    const unsigned count = emu_vector_count(insn), bytes = emu_vector_bytes(insn);

    if (emu_op_rows[insn->op].bytes != EMU_BYTES_IN_E) {
        memcpy(value, EMU_SOURCE(uint8_t, insn->b) + (size_t)lane * wide, size);
        return;
    }
    for (unsigned i = 0; i < count && (i + 1) * bytes <= EMU_MOST_STORED; i++) {
        memcpy(value + (size_t)i * bytes,
               EMU_SOURCE(uint8_t, insn->x[i]) + (size_t)lane * (insn->e & 0xff),
               bytes);
    }
}

void
emu_store_value_line(const emu_warp *warp, const emu_insn *insn, unsigned lane,
                     unsigned size, const void *present, char line[EMU_VALUE_LINE])
{
    uint8_t value[EMU_MOST_STORED];
    char written[EMU_VALUE_ROOM] = "", before[EMU_VALUE_ROOM] = "";

    line[0] = 0;
    if (emu_op_effect(insn->op) == EMU_EFFECT_WRITE && size <= EMU_VALUE_MOST) {
        emu_store_value(warp, insn, lane, size, value);
        emu_value_text(value, size, written);
    }
    if (present != NULL) {
        emu_value_text(present, size, before);
    }
    if (written[0] != 0 && before[0] != 0) {
        (void)snprintf(line, EMU_VALUE_LINE,
                       "\n  value: the thread writes %s, the memory has %s", written,
                       before);
    }
    else if (written[0] != 0) {
        (void)snprintf(line, EMU_VALUE_LINE, "\n  value: the thread writes %s",
                       written);
    }
    else if (before[0] != 0) {
        (void)snprintf(line, EMU_VALUE_LINE, "\n  value: the memory has %s", before);
    }
}

/* -- ending a launch before its blocks end ----------------------------------------- */

enum {
    LOOK_GAP = 63, /* the most turns between two looks */
    LOOK_NANOSECONDS = 1000000
};

bool
emu_notice_is_due(const emu_worker *worker, emu_grid *grid)
{
    if (worker->number != 0 || grid->notice == 0) {
        return false;
    }
    if (grid->notice == EMU_NOTICE_UNSET) { /* a launch asks no clock for it */
        grid->notice = worker->looked + EMU_NOTICE_SECONDS * UINT64_C(1000000000);
    }
    if (worker->looked < grid->notice) {
        return false;
    }
    grid->notice = 0;
    return emu_report_log_is_open() || emu_notice_is_first();
}

void
emu_notice_give(const emu_warp *warp, const emu_insn *insn, unsigned lane)
{
    emu_report report = {.code = CUDA_SUCCESS};
    char title[80];

    (void)snprintf(title, sizeof title,
                   "a kernel has run for %d seconds, and still runs",
                   EMU_NOTICE_SECONDS);
    report_fill(&report, warp, insn, lane, NULL, title,
                "Ctrl-C ends it, and so does PYCUDA_EMULATOR_TIMEOUT=SECONDS");
    emu_notice_add(report.text,
                   (emu_ptx_place){report.ptx_hash, {report.ptx_lines[0]}});
}

void
emu_cancel(emu_grid *grid, CUresult code, const char *text)
{
    int expected = 0;

    if (atomic_compare_exchange_strong(&grid->failed, &expected, 1)) {
        grid->report->code = code;
        if (text) {
            (void)snprintf(grid->report->text, sizeof grid->report->text,
                           "%s kernel %.200s\n", text, grid->kernel->info.name);
        }
    }
}

void
emu_cancel_no_memory(emu_grid *grid)
{
    emu_cancel(grid, CUDA_ERROR_OUT_OF_MEMORY,
               "CUDA_ERROR_OUT_OF_MEMORY\n  no host memory to run");
}

void
emu_cancel_early(emu_grid *grid, CUresult code)
{
    const char *text = NULL;

    if (code == CUDA_ERROR_LAUNCH_TIMEOUT) {
        text =
            "CUDA_ERROR_LAUNCH_TIMEOUT\n  the time limit PYCUDA_EMULATOR_TIMEOUT "
            "ended";
    }
    emu_cancel(grid, code, text);
}

CUresult
emu_cancel_look(emu_worker *worker, emu_grid *grid)
{
    const uint64_t now = emu_clock_steady(), passed = now - worker->looked;

    if (worker->looked && passed > UINT64_C(2) * LOOK_NANOSECONDS) {
        worker->look_gap /= 2;
    }
    else if (worker->looked && passed < LOOK_NANOSECONDS / 2 &&
             worker->look_gap < LOOK_GAP) {
        worker->look_gap = worker->look_gap * 2 + 1;
    }
    worker->looked = now;
    worker->until_look = worker->look_gap;
    worker->has_looked = true;
    if (worker->number == 0 && grid->may_leave) {
        if (grid->leaves_at == 0) { /* a launch asks no clock for it */
            grid->leaves_at = now + EMU_LEAVE_NANOSECONDS;
        }
        worker->leaves = now >= grid->leaves_at;
    }
    if (atomic_load_explicit(&grid->context->cancels, memory_order_relaxed) ||
        (worker->number == 0 && emu_wait_poll_at(now))) {
        return EMU_INTERRUPTED;
    }
    if (grid->deadline && now > grid->deadline) {
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    }
    return CUDA_SUCCESS;
}
