/* The line of the source for reports: that of the program, not of a header of the
 * toolkit.
 *
 * A function of a header, such as nvcc's atomicAdd, is inlined into a kernel. Its .loc
 * names the line of the header and, after inlined_at, an earlier .loc: the call. The
 * line of the call is the one that a programmer knows. Functions of the program's own
 * files keep their lines. */
#ifndef DEVICE_PTX_SOURCE_LINE_H
#define DEVICE_PTX_SOURCE_LINE_H

#include <stdint.h>

#include "device/ptx/load.h"

typedef struct {
    uint32_t file, line, column;
} ptx_loc;

typedef struct ptx_source_lines ptx_source_lines;

/* Read the .file directives in the rest of a text. The result lives as long as the
 * load. */
ptx_source_lines *ptx_source_lines_open(emu_load *load, const char *text, size_t size);
/* Add a .file directive that was read before. */
void ptx_source_lines_add(ptx_source_lines *lines, unsigned number, const char *path,
                          size_t size);

/* The line to report for a .loc that is inlined at another. Later calls may name `own`
 * as the place of a call. */
ptx_loc ptx_source_line_inlined(ptx_source_lines *lines, ptx_loc own, ptx_loc call);

#endif
