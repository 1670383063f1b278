/* Faults and reports. See report.h. */
#include "device/machine/warp/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *
report_code_text(CUresult code)
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
        return (emu_place){0, 0};
    }
    return func->places[insn - func->code];
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
    const char *slash;

    text[0] = 0;
    if (file == NULL) {
        return;
    }
    slash = strrchr(file, '/');
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

const emu_insn *
emu_fault(emu_warp *warp, const emu_insn *insn, CUresult code, unsigned lane,
          uint64_t address, const char *format, ...)
{
    emu_grid *grid = warp->block->grid;
    emu_report *report = grid->report;
    const char *function_word = "", *function = "";
    char what[640], where[300] = "";
    va_list args;
    int expected = 0;

    warp->stop = EMU_STOP_FAULT;
    if (!atomic_compare_exchange_strong(&grid->failed, &expected, 1)) {
        return NULL;
    }
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    report->code = code;
    report->kind = report_kind(code, what);
    report->address = address;
    report_thread(report, warp, lane);
    report_place(report, warp, insn);
    (void)snprintf(report->kernel, sizeof report->kernel, "%s",
                   grid->kernel->info.name);
    if (report->line) {
        (void)snprintf(where, sizeof where, "\n  at %.200s:%u", report->file,
                       report->line);
    }
    if (warp->frame->parent) {
        function_word = ", function ";
        function = warp->frame->func->name;
    }
    (void)snprintf(
        report->text, sizeof report->text,
        "%.64s\n  %.600s\n  in kernel %.100s%s%.80s, block (%u, %u, %u), thread "
        "(%u, %u, %u)%.220s\n",
        report_code_text(code), what, report->kernel, function_word, function,
        report->block[0], report->block[1], report->block[2], report->thread[0],
        report->thread[1], report->thread[2], where);
    return NULL;
}
