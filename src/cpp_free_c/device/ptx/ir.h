/* The parsed form of a PTX text: modules, variables, functions, instructions.
 *
 * Written by the parser, read by device/compile. Registers are numbered in each
 * function in the order of their first use. The parser resolves the names that the text
 * declares first; device/compile/link.c resolves the others. All of it is in the
 * scratch arena of the load. */
#ifndef DEVICE_PTX_IR_H
#define DEVICE_PTX_IR_H

#include <stdbool.h>
#include <stdint.h>

#include "device/ptx/words.h"

/* -- variables --------------------------------------------------------------------- */

typedef enum {
    PTX_SPACE_NONE, /* generic */
    PTX_SPACE_REG,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_CONST,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM
} ptx_space;

/* One value of an initialiser. */
typedef struct {
    uint64_t bits;         /* the value, or the offset from the symbol */
    struct ptx_name *name; /* the symbol, or NULL */
    bool generic;          /* generic(symbol) */
    uint8_t shift;         /* 0xff00(symbol): the byte taken of the address */
    bool masked;
    unsigned line;
} ptx_value;

typedef struct ptx_var {
    ptx_name *name;
    ptx_space space;
    unsigned type; /* PTX_W_ word */
    uint64_t size; /* in bytes; 0 for an array without a size */
    unsigned align;
    unsigned element; /* bytes of an initialiser's value */
    bool is_extern, is_weak, is_visible, is_common;
    bool unsized;
    bool is_param;     /* a parameter of the function, not of a call in it */
    uint32_t reg;      /* space REG: its register */
    uint32_t lanes;    /* space REG: elements; the others follow as parameters */
    ptx_value *values; /* initialiser */
    size_t value_count;
    unsigned line;
    struct ptx_function *function; /* that declares it; NULL at module level */
    struct ptx_var *next;          /* in the order of the text */
    /* set by device/compile */
    struct ptx_var *same; /* the definition of this declaration, or NULL */
    uint64_t address;     /* device address, or offset in its space */
    bool placed;          /* SHARED: placed for the current kernel */
    bool in_function;     /* SHARED: a device function uses it */
} ptx_var;

/* -- instructions ------------------------------------------------------------------ */

typedef enum {
    PTX_O_NONE,
    PTX_O_REG,     /* reg + bits */
    PTX_O_SPECIAL, /* word: PTX_S_ number; bits: its part, 0 for .x */
    PTX_O_INT,     /* bits */
    PTX_O_F32,     /* bits of a float: 0f... */
    PTX_O_F64,     /* bits of a double: 0d... or decimal */
    PTX_O_VAR,     /* var + bits */
    PTX_O_ELEMENT, /* items: an array, and its index, a register or a number */
    PTX_O_FUNCTION,
    PTX_O_LABEL,     /* label */
    PTX_O_NAME,      /* a name that is not declared yet */
    PTX_O_VECTOR,    /* {items} */
    PTX_O_LIST,      /* (items) */
    PTX_O_ADDRESS,   /* [items]: the address, then coordinates and so on */
    PTX_O_PROTOTYPE, /* call prototype or target list */
    PTX_O_SINK       /* _ */
} ptx_operand_kind;

/* .h10 or .b3 after an operand of a video instruction. */
typedef struct {
    char letter; /* 'b', 'h', or 0 for no selector */
    uint8_t count;
    uint8_t digits[4]; /* in the order of the text */
} ptx_selector;

typedef struct ptx_operand {
    uint8_t kind;
    bool negated;  /* !p */
    bool minus;    /* -%r, of vmad alone */
    uint16_t word; /* of SPECIAL */
    ptx_selector selector;
    uint32_t reg;
    uint32_t count;
    uint32_t label;
    uint64_t bits;
    union {
        ptx_var *var;
        ptx_name *name;
        struct ptx_function *function;
        struct ptx_proto *proto;
    };
    struct ptx_operand *items;
} ptx_operand;

enum { PTX_MAX_WORDS = 14, PTX_MAX_OPERANDS = 12 };
#define PTX_NO_REG UINT32_MAX

typedef struct ptx_insn {
    uint16_t opcode; /* PTX_OP_; PTX_OP_NONE marks a label: operands[0].label */
    uint8_t word_count;
    uint8_t operand_count;
    uint32_t guard; /* predicate register, or PTX_NO_REG */
    bool guard_negated;
    unsigned line;
    unsigned loc_line; /* of the last .loc */
    uint16_t loc_file, loc_column;
    uint16_t words[PTX_MAX_WORDS];
    ptx_operand *operands;
    ptx_operand *second; /* q of a destination p|q, or NULL */
} ptx_insn;

/* A call prototype, of which only the parameters are read, or a list of targets. */
typedef struct ptx_proto {
    ptx_var *params, *returns;
    ptx_operand *targets;
    uint32_t target_count;
    bool is_targets;
} ptx_proto;

/* -- functions --------------------------------------------------------------------- */

typedef struct ptx_function {
    ptx_name *name;
    bool is_entry, is_extern, is_weak, is_visible;
    bool has_body;
    unsigned line;
    ptx_var *params, *returns; /* linked through next */
    ptx_var *vars;             /* .local, .shared, .param of the body */
    ptx_insn *insns;
    size_t insn_count, insn_room;
    uint8_t *reg_type; /* PTX_W_ word of each register's type */
    size_t reg_count, reg_room;
    size_t label_count;
    uint64_t call_size; /* bytes that the .param variables of its calls need */
    unsigned max_ntid[3], req_ntid[3], req_cluster[3], max_nreg;
    struct ptx_module *module;
    struct ptx_function *next;
    struct ptx_function *same; /* set by link.c: the definition */
    ptx_operand **references;  /* set by link.c: functions, shared variables */
    size_t reference_count;
    bool calls_pointers;   /* a call names no function */
    struct emu_func *code; /* set by program.c */
    uint64_t visited;      /* the mark of the last walk over the calls */
} ptx_function;

typedef struct ptx_file {
    unsigned index;
    const char *path;
    struct ptx_file *next;
} ptx_file;

typedef struct ptx_module {
    const char *source_name;
    unsigned version; /* 10 * major + minor */
    unsigned target;
    bool is_specific; /* the target has the letter a: features of one architecture */
    unsigned address_size;
    unsigned max_registers; /* of the option for this text; 0: no limit */
    bool is_library;        /* linked only if it defines what other texts need */
    ptx_var *vars, **vars_tail;
    ptx_function *functions, **functions_tail;
    ptx_file *files;
    struct ptx_module *next;
} ptx_module;

/* -- the parser -------------------------------------------------------------------- */

/* Parses a text, of which `size` bytes are read. Errors leave through emu_load_fail. */
ptx_module *ptx_parse(emu_load *load, ptx_names *names, const char *text, size_t size,
                      const char *source_name);

#endif
