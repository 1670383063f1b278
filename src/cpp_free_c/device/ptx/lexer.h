/* Cuts a PTX text into tokens. Used by the parser only.
 *
 * It never reads past the end of the text. A byte that cannot begin a token fails the
 * load. */
#ifndef DEVICE_PTX_LEXER_H
#define DEVICE_PTX_LEXER_H

#include "device/ptx/names.h"

typedef enum {
    PTX_T_END,
    PTX_T_NAME,   /* name */
    PTX_T_WORD,   /* a word after a dot: name, without the dot */
    PTX_T_INT,    /* bits: 64-bit two's complement; is_unsigned */
    PTX_T_F32,    /* bits */
    PTX_T_F64,    /* bits */
    PTX_T_STRING, /* start, size: between the quotes */
    PTX_T_PUNCT   /* punct */
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

#endif
