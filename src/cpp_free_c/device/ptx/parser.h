/* The parser of PTX: its tokens, its state, and what its files call of each other. The
 * entry, ptx_parse, is in ir.h.
 *
 * parser.c has the tokens, the cursor over them, the scopes and the registers;
 * parse_module.c, parse_function.c, parse_variable.c and parse_operand.c have the
 * statements, parse_constant.c the constant expressions, source_line.c the lines for
 * reports. All errors leave through ptx_fail. */
#ifndef DEVICE_PTX_PARSER_H
#define DEVICE_PTX_PARSER_H

#include <stdint.h>

#include "device/ptx/ir.h"
#include "device/ptx/load.h"
#include "device/ptx/words.h"

/* -- tokens ------------------------------------------------------------------------ */

/* The lexer never reads past the end of the text. A byte that cannot begin a token
 * fails the load. */

typedef enum {
    PTX_T_END,
    PTX_T_NAME,       /* name */
    PTX_T_WORD,       /* a word after a dot: name, without the dot */
    PTX_T_INT,        /* bits: 64-bit two's complement; is_unsigned */
    PTX_T_F32,        /* bits */
    PTX_T_F64,        /* bits */
    PTX_T_STRING,     /* start, size: between the quotes */
    PTX_T_PUNCTUATION /* punct */
} ptx_token_kind;

typedef struct {
    ptx_token_kind kind;
    char punct;
    bool is_unsigned; /* INT: written with U, or larger than any signed number */
    unsigned line;
    ptx_name *name;
    uint64_t bits;
    const char *start;
    size_t size;
} ptx_token;

typedef struct {
    emu_load *load;
    ptx_names *names;
    const char *at;
    const char *end;
    unsigned line;
    ptx_token token; /* the next one, not yet taken */
} ptx_lexer;

/* Reads the first token. */
void ptx_lex_open(ptx_lexer *lexer, emu_load *load, ptx_names *names, const char *text,
                  size_t size);
/* Whether a word after a dot consists of digits, as that of .5 does. Then *bits are
 * those of the double. */
bool ptx_lex_fraction(const char *word, uint64_t *bits);
/* Returns the token and moves to the next one. */
ptx_token ptx_lex_take(ptx_lexer *lexer);

/* -- the line of the source for reports -------------------------------------------- */

/* A function of a header, such as nvcc's atomicAdd or one of this package, is inlined
 * into a kernel. Its .loc names the line of the header and, after inlined_at, an
 * earlier .loc: the call. The line of the call is the one that a programmer knows.
 * Functions of the program's own files keep their lines. */

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

/* -- the state of the parser ------------------------------------------------------- */

/* ptx_name.binding is the stack of a name's meanings, the innermost first; the end of a
 * scope removes its meanings. A label may be used before it is defined, so a scope
 * keeps the uses of labels and resolves them when it ends. */

typedef enum {
    PTX_B_REG,
    PTX_B_RANGE, /* %r<10>, under the name %r */
    PTX_B_VAR,
    PTX_B_FUNCTION,
    PTX_B_LABEL,
    PTX_B_PROTOTYPE
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
    uint16_t loc_column;
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

/* -- constant expressions, such as (1 << 4) + 2 or 1.0 / 3.0 ----------------------- */

/* The rules are those of NVIDIA's assembler: integers have 64 bits and are unsigned if
 * an operand is, numbers of floating point are doubles, and the two do not mix. */

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

/* -- operands ---------------------------------------------------------------------- */

/* All operands of an instruction, up to and including the semicolon. */
void ptx_parse_operands(ptx_parser *parser, const char *opcode, ptx_insn *insn);
/* The meaning of a name as a register, whose number is *reg; NULL if it has none. */
ptx_binding *ptx_find_reg(ptx_parser *parser, ptx_name *name, uint32_t *reg);
/* The targets of .branchtargets and .calltargets, up to and including the semicolon. */
void ptx_parse_label_list(ptx_parser *parser, ptx_proto *proto);

/* -- variables and parameters ------------------------------------------------------ */

/* The linkage words before a declaration. */
typedef struct {
    bool is_extern, is_visible, is_weak, is_common;
} ptx_linkage;

/* One declaration after its linkage words, up to and including the semicolon. */
void ptx_parse_vars(ptx_parser *parser, ptx_linkage linkage);
/* The parameters of a function, after "(" and up to and including ")". */
ptx_var *ptx_parse_params(ptx_parser *parser);

/* -- functions and statements ------------------------------------------------------ */

/* A function or kernel, after .entry or .func. */
void ptx_parse_function(ptx_parser *parser, bool is_entry, ptx_linkage linkage);

#endif
