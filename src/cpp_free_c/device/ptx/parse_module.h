/* The parser of PTX: from a text to a module. The only entry to the parser; used by
 * device/compile. */
#ifndef DEVICE_PTX_PARSE_MODULE_H
#define DEVICE_PTX_PARSE_MODULE_H

#include "device/ptx/ir.h"

/* Parses a text, of which `size` bytes are read. Errors leave through emu_load_fail. */
ptx_module *ptx_parse(emu_load *load, ptx_names *names, const char *text, size_t size,
                      const char *source_name);

#endif
