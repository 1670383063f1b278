/* Constant expressions of a PTX text, such as (1 << 4) + 2 or 1.0 / 3.0.
 *
 * The rules are those of NVIDIA's assembler: integers have 64 bits and are unsigned if
 * an operand is, numbers of floating point are doubles, and the two do not mix. Used by
 * parse_operand.c and parse_variable.c. */
#ifndef DEVICE_PTX_PARSE_CONSTANT_H
#define DEVICE_PTX_PARSE_CONSTANT_H

#include "device/ptx/parser.h"

typedef struct {
    ptx_token_kind kind; /* PTX_T_INT, PTX_T_F32, PTX_T_F64 */
    bool is_unsigned;
    uint64_t bits;
} ptx_constant;

/* Whether a name is a number: WARP_SZ. */
bool ptx_is_constant_name(const ptx_name *name);
/* A whole expression, as far as the text continues it. Fails if none begins here. */
ptx_constant ptx_parse_constant(ptx_parser *parser);
/* The same for an expression whose first number has been taken. */
ptx_constant ptx_parse_constant_from(ptx_parser *parser, const ptx_token *first);
/* An expression that is an integer; `what` describes it in the message. */
uint64_t ptx_parse_integer(ptx_parser *parser, const char *what);

#endif
