/* Variables and parameters of a PTX text. Used by parse_function.c, parse_module.c. */
#ifndef DEVICE_PTX_PARSE_VARIABLE_H
#define DEVICE_PTX_PARSE_VARIABLE_H

#include "device/ptx/parser.h"

/* The linkage words before a declaration. */
typedef struct {
    bool is_extern, is_visible, is_weak, is_common;
} ptx_linkage;

/* One declaration after its linkage words, up to and including the semicolon. */
void ptx_parse_vars(ptx_parser *parser, ptx_linkage linkage);
/* The parameters of a function, after "(" and up to and including ")". */
ptx_var *ptx_parse_params(ptx_parser *parser);

#endif
