/* Functions and statements of a PTX text. Used by parse_module.c. */
#ifndef DEVICE_PTX_PARSE_FUNCTION_H
#define DEVICE_PTX_PARSE_FUNCTION_H

#include "device/ptx/parse_variable.h"

/* A function or kernel, after .entry or .func. */
void ptx_parse_function(ptx_parser *parser, bool is_entry, ptx_linkage linkage);

#endif
