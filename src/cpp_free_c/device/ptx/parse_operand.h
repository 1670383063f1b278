/* Operands of PTX instructions. Used by parse_function.c. */
#ifndef DEVICE_PTX_PARSE_OPERAND_H
#define DEVICE_PTX_PARSE_OPERAND_H

#include "device/ptx/parser.h"

/* All operands of an instruction, up to and including the semicolon. */
void ptx_parse_operands(ptx_parser *parser, const char *opcode, ptx_insn *insn);
/* The meaning of a name as a register, whose number is *reg; NULL if it has none. */
ptx_binding *ptx_find_reg(ptx_parser *parser, ptx_name *name, uint32_t *reg);
/* The targets of .branchtargets and .calltargets, up to and including the semicolon. */
void ptx_parse_label_list(ptx_parser *parser, ptx_proto *proto);

#endif
