/* What ptx_parse.c (modules, variables), ptx_func.c (functions, statements) and
 * ptx_operand.c share.
 *
 * A name's meanings form a stack, innermost first, through ptx_name.binding; leaving a
 * scope takes its meanings off again. Labels may be used before they are defined, so
 * uses wait in the scope until it ends. */
#ifndef DEVICE_PTX_PARSER_H
#define DEVICE_PTX_PARSER_H

#include "device/ptx/lexer.h"

typedef enum {
    PTX_B_REG,
    PTX_B_RANGE, /* %r<10>: the name is the prefix */
    PTX_B_VAR,
    PTX_B_FUNCTION,
    PTX_B_LABEL,
    PTX_B_PROTO
} ptx_binding_kind;

typedef struct {
    uint32_t *ids; /* register + 1 of each index that was used */
    uint32_t count;
    unsigned type;
} ptx_range;

typedef struct ptx_binding {
    struct ptx_binding *outer; /* what the name meant before */
    struct ptx_binding *next;  /* in the same scope */
    ptx_name *name;
    ptx_binding_kind kind;
    unsigned scope;
    uint32_t reg;   /* REG, LABEL: its number */
    uint32_t lanes; /* REG: 2 or 4 for a vector register, whose numbers follow */
    union {
        ptx_range *range;
        ptx_var *var;
        ptx_function *function;
        ptx_proto *proto;
    };
} ptx_binding;

typedef struct ptx_label_use {
    struct ptx_label_use *next;
    ptx_operand *operand;
} ptx_label_use;

typedef struct {
    ptx_binding *bindings;
    ptx_label_use *uses;
    uint64_t call_top;
} ptx_scope;

enum {
    PTX_MAX_SCOPES = 64,
    PTX_MAX_ITEMS = 256,
    PTX_MAX_LANES = 4,
    PTX_MAX_RANGE = 1 << 20
};

typedef struct {
    ptx_lexer lexer;
    emu_load *load;
    ptx_names *names;
    ptx_module *module;
    ptx_function *function; /* being read, or NULL */
    ptx_scope scopes[PTX_MAX_SCOPES];
    unsigned depth; /* index of the innermost scope; 0 is the module */
    unsigned loc_line;
    uint16_t loc_file;
    size_t range_total; /* of the function's register ranges */
} ptx_parser;

/* -- ptx_parse.c: tokens, scopes, variables ---------------------------------------- */

_Noreturn void ptx_fail(ptx_parser *parser, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
bool ptx_at(const ptx_parser *parser, char punct);
/* Takes the punctuation mark if it is next. */
bool ptx_accept(ptx_parser *parser, char punct);
void ptx_expect(ptx_parser *parser, char punct);
ptx_name *ptx_expect_name(ptx_parser *parser, const char *what);
uint64_t ptx_expect_int(ptx_parser *parser, const char *what);
ptx_binding *ptx_bind(ptx_parser *parser, ptx_name *name, ptx_binding_kind kind);
void ptx_scope_open(ptx_parser *parser);
void ptx_scope_close(ptx_parser *parser);
/* A register of this type (PTX_W_ word). */
uint32_t ptx_new_reg(ptx_parser *parser, unsigned type);
/* One declaration after its linkage words, up to and with the semicolon. */
void ptx_parse_vars(ptx_parser *parser, bool is_extern, bool is_visible, bool is_weak,
                    bool is_common);
/* The parameter list of a function, after "(" and up to and with ")". */
ptx_var *ptx_parse_params(ptx_parser *parser);
void ptx_parse_loc(ptx_parser *parser);
/* A directive that means nothing here. */
void ptx_skip_directive(ptx_parser *parser);

/* -- ptx_func.c -------------------------------------------------------------------- */

/* After .entry or .func. */
void ptx_parse_function(ptx_parser *parser, bool is_entry, bool is_extern,
                        bool is_visible, bool is_weak);

/* -- ptx_operand.c ----------------------------------------------------------------- */

/* All operands of an instruction, up to and with the semicolon. */
void ptx_parse_operands(ptx_parser *parser, const char *opcode, ptx_insn *insn);
/* What a name means as a register, or NULL. */
ptx_binding *ptx_find_reg(ptx_parser *parser, ptx_name *name, uint32_t *reg);
void ptx_parse_label_list(ptx_parser *parser, ptx_proto *proto);

#endif
