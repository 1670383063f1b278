/* The line of the source for reports. See parser.h. */
#define _GNU_SOURCE
#include "device/ptx/parser.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A call that is no longer in the table only means that the line of its header is
 * reported. */
enum { SLOTS = 512, FILES = 64 };

struct ptx_source_lines {
    uint64_t headers; /* bit f: .file f is a header of the toolkit or of this package */
    struct {
        ptx_loc own, reported;
    } slots[SLOTS];
};

/* Whether a path is that of a header of a toolkit, of NVIDIA's wheels or of this
 * package. */
static bool
lines_is_header(const char *path, size_t size)
{
    if (memmem(path, size, "/pycuda/cuda/pycuda-", 20) != NULL) {
        return true;
    }
    const char *cuda = memmem(path, size, "/cuda", 5);
    const char *wheel = memmem(path, size, "/nvidia/", 8);
    const char *begin = cuda != NULL ? cuda : wheel;

    return begin != NULL &&
           memmem(begin, size - (size_t)(begin - path), "/include/", 9) != NULL;
}

void
ptx_source_lines_add(ptx_source_lines *lines, unsigned number, const char *path,
                     size_t size)
{
    if (number < FILES && lines_is_header(path, size)) {
        lines->headers |= (uint64_t)1 << number;
    }
}

/* Read a .file directive: its number and, in quotes, its path. */
static void
lines_read_file(ptx_source_lines *lines, const char *at, const char *end)
{
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    const char *path, *path_end;
    unsigned number = 0;

    if (line_end == NULL) {
        line_end = end;
    }
    while (at < line_end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    while (at < line_end && *at >= '0' && *at <= '9' && number < FILES) {
        number = 10 * number + (unsigned)(*at++ - '0');
    }
    path = memchr(at, '"', (size_t)(line_end - at));
    if (path == NULL) {
        return;
    }
    path_end = memchr(path + 1, '"', (size_t)(line_end - path - 1));
    if (path_end != NULL) {
        ptx_source_lines_add(lines, number, path, (size_t)(path_end - path));
    }
}

ptx_source_lines *
ptx_source_lines_open(emu_load *load, const char *text, size_t size)
{
    ptx_source_lines *lines = emu_arena_get(load, &load->scratch, 1, sizeof *lines);
    const char *end = text + size, *at = text;

    /* The directives are at the end of nvcc's texts, behind their uses. */
    while ((at = memmem(at, (size_t)(end - at), ".file", 5)) != NULL) {
        at += 5;
        lines_read_file(lines, at, end);
    }
    return lines;
}

static unsigned
lines_slot(ptx_loc loc)
{
    const uint32_t mixed = (loc.file * 0x9e3779b1u) ^ (loc.line * 0x85ebca77u) ^
                           (loc.column * 0xc2b2ae3du);

    return (mixed ^ (mixed >> 15)) % SLOTS;
}

ptx_loc
ptx_source_line_inlined(ptx_source_lines *lines, ptx_loc own, ptx_loc call)
{
    ptx_loc reported = own;
    unsigned slot = lines_slot(call);

    if (own.file < FILES && ((lines->headers >> own.file) & 1) != 0) {
        reported = call;
        if (memcmp(&lines->slots[slot].own, &call, sizeof call) == 0) {
            reported = lines->slots[slot].reported;
        }
    }
    slot = lines_slot(own);
    lines->slots[slot].own = own;
    lines->slots[slot].reported = reported;
    return reported;
}
