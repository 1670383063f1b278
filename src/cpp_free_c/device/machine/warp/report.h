/* Faults and reports: the first fault of a launch writes the report and stops all
 * blocks. Called by all operations that can fail. */
#ifndef DEVICE_MACHINE_WARP_REPORT_H
#define DEVICE_MACHINE_WARP_REPORT_H

#include "device/base/checks.h"
#include "device/machine/warp/machine.h"

/* The name of a code. */
const char *emu_code_name(CUresult code);

/* End the launch with a code and a text; the report adds the place. Returns NULL, for
 * the caller to return. */
const emu_insn *emu_fault(emu_warp *warp, const emu_insn *insn, CUresult code,
                          unsigned lane, uint64_t address, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* The line of another access that a report names. */
typedef struct {
    const emu_program *program;
    emu_place place;
} emu_other_place;

/* -- warnings and findings --------------------------------------------------------- */

/* A check warns once for each line or, without lines, each function. The launch goes
 * on. */

/* Whether a check (EMU_CHECK_ flag) has not warned at the line of an instruction. From
 * now on it has. */
bool emu_warns_first(const emu_warp *warp, const emu_insn *insn, unsigned check);
/* Give the warning about an access: `fault` is what the kernel does. */
void emu_warn(const emu_warp *warp, const emu_insn *insn, unsigned lane,
              uint64_t address, const char *fault, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* The same for what no check makes an error; `other` may be NULL. */
void emu_warn_only(const emu_warp *warp, const emu_insn *insn, unsigned lane,
                   uint64_t address, const emu_other_place *other, const char *title,
                   const char *format, ...) __attribute__((format(printf, 7, 8)));

/* A check of races, values or barriers has found something; the report names the line
 * of `other`, too, which may be NULL. In a block that has the checks as a trial it is a
 * warning, else it ends the launch. Returns whether the warp goes on. */
bool emu_check_found(emu_warp *warp, const emu_insn *insn, unsigned check,
                     unsigned lane, uint64_t address, const emu_other_place *other,
                     const char *format, ...) __attribute__((format(printf, 7, 8)));

/* Whether nothing remains to be told of an instruction: it is of a trial that has
 * ended, or the check has warned at its line. */
bool emu_check_is_told(const emu_warp *warp, const emu_insn *insn, unsigned check);

/* The source line of an instruction; line 0: unknown. */
emu_place emu_report_place_of(const emu_func *func, const emu_insn *insn);
/* The branch that ends the innermost loop around an instruction; that itself if there
 * is none. A warp is stopped at the beginning of a loop, whose line may be any. */
const emu_insn *emu_report_loop_of(const emu_func *func, const emu_insn *insn);
/* Write " (file:line)" without the folder, or "". */
void emu_report_place_text(const emu_program *program, emu_place place, char *text,
                           size_t room);
/* The allocation that a faulty address belongs to: the one around it or beside it, or
 * the nearest one among the arguments if no argument points to that. May be NULL. */
const emu_allocation *emu_report_memory(const emu_grid *grid, uint64_t address);

/* Write "(x, y, z)" for a thread by its number in the block. */
void emu_report_thread_text(const emu_grid *grid, unsigned thread, char *text,
                            size_t room);

/* -- values that a store writes ---------------------------------------------------- */

/* What a lane has in the registers of the instruction. */

enum { EMU_MOST_STORED = 64 };

/* Copy the `size` bytes that a store writes for a lane; at most EMU_MOST_STORED. */
void emu_store_value(const emu_warp *warp, const emu_insn *insn, unsigned lane,
                     unsigned size, uint8_t value[EMU_MOST_STORED]);

enum { EMU_VALUE_LINE = 3 * EMU_VALUE_ROOM };

/* Write the line of a report about the value that a lane writes, if the instruction is
 * a plain store, and the value that the memory has, if `present` is not NULL. "": there
 * is neither. */
void emu_store_value_line(const emu_warp *warp, const emu_insn *insn, unsigned lane,
                          unsigned size, const void *present,
                          char line[EMU_VALUE_LINE]);

/* -- ending a launch before its blocks end ----------------------------------------- */

/* The deadline, a signal, no memory. */

/* End the launch with a code, unless it has failed already. The text may be NULL. */
void emu_cancel(emu_grid *grid, CUresult code, const char *text);
/* End the launch because the host has no memory to run it. */
void emu_cancel_no_memory(emu_grid *grid);

/* A launch that still runs after this time is named on stderr: each one while reports
 * are kept for another program, else one of the process. */
enum { EMU_NOTICE_SECONDS = 5, EMU_NOTICE_UNSET = 1 };

/* After a look: whether to tell that the launch takes long. */
bool emu_notice_is_due(const emu_worker *worker, emu_grid *grid);
/* Tell it, with the place of a lane. */
void emu_notice_give(const emu_warp *warp, const emu_insn *insn, unsigned lane);

/* End the launch with what emu_cancel_look has returned, without a place. */
void emu_cancel_early(emu_grid *grid, CUresult code);

/* Called every few turns of a block: let the program handle signals. Return why the
 * launch must end now: EMU_INTERRUPTED, CUDA_ERROR_LAUNCH_TIMEOUT or CUDA_SUCCESS. */
CUresult emu_cancel_look(emu_worker *worker, emu_grid *grid);

#endif
