/* Faults and reports: the first fault of a launch writes the report and stops all
 * blocks. Called by all operations that can fail. */
#ifndef DEVICE_MACHINE_WARP_REPORT_H
#define DEVICE_MACHINE_WARP_REPORT_H

#include "device/machine/warp/machine.h"

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

/* The same; the report names the line of `other`, too. */
const emu_insn *emu_fault_with_other(emu_warp *warp, const emu_insn *insn,
                                     CUresult code, unsigned lane, uint64_t address,
                                     const emu_other_place *other, const char *format,
                                     ...) __attribute__((format(printf, 7, 8)));

/* The source line of an instruction; line 0: unknown. */
emu_place emu_report_place_of(const emu_func *func, const emu_insn *insn);
/* Write " (file:line)" without the folder, or "". */
void emu_report_place_text(const emu_program *program, emu_place place, char *text,
                           size_t room);
/* Write "(x, y, z)" for a thread by its number in the block. */
void emu_report_thread_text(const emu_grid *grid, unsigned thread, char *text,
                            size_t room);

#endif
