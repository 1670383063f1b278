/* The state of the parser: the cursor over the tokens, the scopes, the registers.
 *
 * ptx_name.binding is the stack of a name's meanings, the innermost first; the end of a
 * scope removes its meanings. A label may be used before it is defined, so a scope
 * keeps the uses of labels and resolves them when it ends. All errors leave through
 * ptx_fail. Used by parse_operand.c, parse_variable.c, parse_function.c and
 * parse_module.c. */
#ifndef DEVICE_PTX_PARSER_H
#define DEVICE_PTX_PARSER_H

#include "device/ptx/ir.h"
#include "device/ptx/lexer.h"
#include "device/ptx/source_line.h"

typedef enum {
    PTX_B_REG,
    PTX_B_RANGE, /* %r<10>, under the name %r */
    PTX_B_VAR,
    PTX_B_FUNCTION,
    PTX_B_LABEL,
    PTX_B_PROTO
} ptx_binding_kind;

enum { PTX_RANGE_PAGE = 4096 };

/* A text may declare far more registers than it uses, so the numbers are in pages. */
typedef struct {
    uint32_t **pages; /* of register + 1, or 0 if it is not in use; NULL: none is */
    uint32_t page_size;
    uint64_t count;
    unsigned type;
} ptx_range;

typedef struct ptx_binding {
    struct ptx_binding *outer; /* the meaning that this one hides */
    struct ptx_binding *next;  /* in the same scope */
    ptx_name *name;
    ptx_binding_kind kind;
    unsigned scope;
    uint32_t reg;   /* REG, LABEL: its number */
    uint32_t lanes; /* REG, RANGE: 2 or 4 for vector registers; their numbers follow */
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
    uint64_t call_top; /* end of the .param variables of calls, in bytes */
} ptx_scope;

enum { PTX_MAX_SCOPES = 64, PTX_MAX_ITEMS = 256, PTX_MAX_LANES = 4 };

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
    ptx_source_lines *lines; /* NULL before the first .loc that is inlined */
} ptx_parser;

/* -- the cursor -------------------------------------------------------------------- */

/* Fails the load, naming the current line. */
_Noreturn void ptx_fail(ptx_parser *parser, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
/* Whether the punctuation mark is next. */
bool ptx_at(const ptx_parser *parser, char punct);
/* Takes the punctuation mark if it is next. */
bool ptx_accept(ptx_parser *parser, char punct);
/* Takes the token that must be next; `what` describes it in the message. */
void ptx_expect(ptx_parser *parser, char punct);
ptx_name *ptx_expect_name(ptx_parser *parser, const char *what);
uint64_t ptx_expect_int(ptx_parser *parser, const char *what);

/* -- scopes and registers ---------------------------------------------------------- */

/* Adds a meaning of a name to the innermost scope. */
ptx_binding *ptx_bind(ptx_parser *parser, ptx_name *name, ptx_binding_kind kind);
void ptx_scope_open(ptx_parser *parser);
void ptx_scope_close(ptx_parser *parser);
/* The number of a new register of this type (PTX_W_ word). */
uint32_t ptx_new_reg(ptx_parser *parser, unsigned type);
/* New registers for the elements of a vector, or one. Returns the first number. */
uint32_t ptx_new_regs(ptx_parser *parser, unsigned type, uint32_t lanes);

/* -- directives that functions and modules share ----------------------------------- */

/* .loc, after the word. */
void ptx_parse_loc(ptx_parser *parser);
/* A directive without effect. */
void ptx_skip_directive(ptx_parser *parser);

#endif
