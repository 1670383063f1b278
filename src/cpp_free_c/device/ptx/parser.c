/* The tokens of a PTX text, the cursor over them, the meanings of names, and registers.
 * See parser.h. */
#include "device/ptx/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- tokens ------------------------------------------------------------------------ */

static bool
lexer_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The value of a hexadecimal digit; -1 for another character. */
static int
lexer_hex_digit(char c)
{
    if (lexer_is_digit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

static bool
lexer_is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           c == '%';
}

static bool
lexer_is_name_part(char c)
{
    return lexer_is_name_start(c) || lexer_is_digit(c);
}

static bool
lexer_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Whether the text goes on with these two characters. */
static bool
lexer_starts_with(const ptx_lexer *lexer, const char *two)
{
    return lexer->end - lexer->at >= 2 && lexer->at[0] == two[0] &&
           lexer->at[1] == two[1];
}

static void
lexer_skip_line(ptx_lexer *lexer)
{
    while (lexer->at < lexer->end && *lexer->at != '\n') {
        lexer->at++;
    }
}

/* Skips a comment. One without an end extends to the end of the text. */
static void
lexer_skip_comment(ptx_lexer *lexer)
{
    lexer->at += 2;
    while (lexer->end - lexer->at >= 2 && !lexer_starts_with(lexer, "*/")) {
        lexer->line += *lexer->at == '\n';
        lexer->at++;
    }
    if (lexer->end - lexer->at >= 2) {
        lexer->at += 2;
    }
    else {
        lexer->at = lexer->end;
    }
}

/* Skips white space, comments and preprocessor lines (# 1 "file"). */
static void
lexer_skip_blank(ptx_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        const char c = *lexer->at;

        if (lexer_is_space(c)) {
            lexer->at++;
        }
        else if (c == '\n') {
            lexer->line++;
            lexer->at++;
        }
        else if (c == '#' || lexer_starts_with(lexer, "//")) {
            lexer_skip_line(lexer);
        }
        else if (lexer_starts_with(lexer, "/*")) {
            lexer_skip_comment(lexer);
        }
        else {
            break;
        }
    }
}

/* 0f and 8 digits, 0d and 16 digits: bits of a float or double. */
static void
lexer_read_hex_float(ptx_lexer *lexer, int digits, ptx_token *token)
{
    const char *at = lexer->at + 2;
    uint64_t bits = 0;

    for (int i = 0; i < digits; i++) {
        int digit = -1;

        if (at + i < lexer->end) {
            digit = lexer_hex_digit(at[i]);
        }
        if (digit < 0) {
            emu_load_fail(lexer->load, EMU_LOAD_INVALID_PTX, lexer->line,
                          "a hexadecimal floating-point number needs %d digits",
                          digits);
        }
        bits = bits << 4 | (uint64_t)digit;
    }
    token->kind = PTX_T_F64;
    if (digits == 8) {
        token->kind = PTX_T_F32;
    }
    token->bits = bits;
    lexer->at = at + digits;
}

static void
lexer_read_decimal_float(ptx_lexer *lexer, ptx_token *token)
{
    char copy[64];
    size_t size = 0;
    const char *at = lexer->at;
    double value;

    while (at < lexer->end && size < sizeof copy - 1 &&
           (lexer_is_digit(*at) || *at == '.' || *at == 'e' || *at == 'E' ||
            ((*at == '+' || *at == '-') && size > 0 &&
             (copy[size - 1] == 'e' || copy[size - 1] == 'E')))) {
        copy[size++] = *at++;
    }
    copy[size] = 0;
    value = strtod(copy, NULL);
    memcpy(&token->bits, &value, sizeof value);
    token->kind = PTX_T_F64;
    lexer->at = at;
}

/* Whether an exponent begins here. */
static bool
lexer_is_exponent(const ptx_lexer *lexer, const char *at)
{
    return lexer->end - at >= 2 && (*at == 'e' || *at == 'E') &&
           (lexer_is_digit(at[1]) || at[1] == '-' || at[1] == '+');
}

static bool
lexer_looks_like_decimal_float(const ptx_lexer *lexer)
{
    const char *at = lexer->at;

    while (at < lexer->end && lexer_is_digit(*at)) {
        at++;
    }
    if (at >= lexer->end) {
        return false;
    }
    if (*at == '.') { /* 5.25, 5., 5.e2 */
        at++;
        return at == lexer->end || lexer_is_digit(*at) || !lexer_is_name_part(*at) ||
               lexer_is_exponent(lexer, at);
    }
    return lexer_is_exponent(lexer, at);
}

bool
ptx_lex_fraction(const char *word, uint64_t *bits)
{
    char copy[64] = "0.";
    const size_t size = strlen(word);
    char *end;
    double value;

    if (!lexer_is_digit(word[0]) || size > sizeof copy - 3) {
        return false;
    }
    memcpy(copy + 2, word, size + 1);
    value = strtod(copy, &end);
    memcpy(bits, &value, sizeof value);
    return *end == 0;
}

/* The base of an integer. Moves *at past the prefix. */
static unsigned
lexer_read_base(const char **at, char second)
{
    if (**at != '0') {
        return 10;
    }
    switch (second) {
        case 'x':
        case 'X':
            *at += 2;
            return 16;
        case 'b':
        case 'B':
            *at += 2;
            return 2;
        default:
            return 8;
    }
}

static void
lexer_read_integer(ptx_lexer *lexer, char second, ptx_token *token)
{
    const char *at = lexer->at, *end = lexer->end;
    const unsigned base = lexer_read_base(&at, second);
    uint64_t bits = 0;

    while (at < end && lexer_hex_digit(*at) >= 0 && lexer_hex_digit(*at) < (int)base) {
        bits = bits * base + (unsigned)lexer_hex_digit(*at);
        at++;
    }
    token->is_unsigned = bits >> 63 != 0;
    if (at < end && (*at == 'U' || *at == 'u')) {
        token->is_unsigned = true;
        at++;
    }
    if (at < end && lexer_is_name_part(*at) && *at != '%') {
        emu_load_fail(lexer->load, EMU_LOAD_INVALID_PTX, lexer->line,
                      "a number ends in '%c'", *at);
    }
    token->kind = PTX_T_INT;
    token->bits = bits;
    lexer->at = at;
}

static void
lexer_read_number(ptx_lexer *lexer, ptx_token *token)
{
    char second = 0;

    if (lexer->end - lexer->at >= 2) {
        second = lexer->at[1];
    }
    if (*lexer->at == '0' && (second == 'f' || second == 'F')) {
        lexer_read_hex_float(lexer, 8, token);
    }
    else if (*lexer->at == '0' && (second == 'd' || second == 'D')) {
        lexer_read_hex_float(lexer, 16, token);
    }
    else if (lexer_looks_like_decimal_float(lexer)) {
        lexer_read_decimal_float(lexer, token);
    }
    else {
        lexer_read_integer(lexer, second, token);
    }
}

/* A word after a dot; `::` joins two, as in shared::cta. */
static void
lexer_read_word(ptx_lexer *lexer, ptx_token *token)
{
    const char *start = lexer->at + 1, *at = start;

    while (at < lexer->end &&
           (lexer_is_name_part(*at) || (lexer->end - at >= 3 && at[0] == ':' &&
                                        at[1] == ':' && lexer_is_name_part(at[2])))) {
        if (*at == ':') {
            at++;
        }
        at++;
    }
    token->kind = PTX_T_WORD;
    token->name =
        ptx_names_get(lexer->load, lexer->names, start, (size_t)(at - start), true);
    lexer->at = at;
}

static void
lexer_read_string(ptx_lexer *lexer, ptx_token *token)
{
    const char *at = ++lexer->at;

    token->kind = PTX_T_STRING;
    token->start = at;
    while (at < lexer->end && *at != '"' && *at != '\n') {
        at++;
    }
    if (at >= lexer->end || *at != '"') {
        emu_load_fail(lexer->load, EMU_LOAD_INVALID_PTX, lexer->line,
                      "a string does not end");
    }
    token->size = (size_t)(at - token->start);
    lexer->at = at + 1;
}

static void
lexer_read_token(ptx_lexer *lexer)
{
    ptx_token *token = &lexer->token;
    char c;

    memset(token, 0, sizeof *token);
    lexer_skip_blank(lexer);
    token->line = lexer->line;
    if (lexer->at >= lexer->end) {
        token->kind = PTX_T_END;
        return;
    }
    c = *lexer->at;
    if (lexer_is_name_start(c)) {
        const char *at = lexer->at;

        while (at < lexer->end && lexer_is_name_part(*at)) {
            at++;
        }
        token->kind = PTX_T_NAME;
        token->name = ptx_names_get(lexer->load, lexer->names, lexer->at,
                                    (size_t)(at - lexer->at), true);
        lexer->at = at;
    }
    else if (lexer_is_digit(c)) {
        lexer_read_number(lexer, token);
    }
    else if (c == '.' && lexer->end - lexer->at >= 2 &&
             lexer_is_name_part(lexer->at[1])) {
        lexer_read_word(lexer, token);
    }
    else if (c == '"') {
        lexer_read_string(lexer, token);
    }
    else if (c != 0 && strchr(",;:()[]{}<>+-*/|&^!~@=?.\\", c) != NULL) {
        token->kind = PTX_T_PUNCTUATION;
        token->punct = c;
        lexer->at++;
    }
    else {
        emu_load_fail(lexer->load, EMU_LOAD_INVALID_PTX, lexer->line,
                      "unexpected byte 0x%02x", (unsigned char)c);
    }
}

void
ptx_lex_open(ptx_lexer *lexer, emu_load *load, ptx_names *names, const char *text,
             size_t size)
{
    memset(lexer, 0, sizeof *lexer);
    lexer->load = load;
    lexer->names = names;
    lexer->at = text;
    lexer->end = text + size;
    lexer->line = 1;
    lexer_read_token(lexer);
}

ptx_token
ptx_lex_take(ptx_lexer *lexer)
{
    ptx_token token = lexer->token;

    lexer_read_token(lexer);
    return token;
}

/* -- the cursor -------------------------------------------------------------------- */

void
ptx_fail(ptx_parser *parser, const char *format, ...)
{
    char text[400];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    emu_load_fail(parser->load, EMU_LOAD_INVALID_PTX, parser->lexer.token.line, "%s",
                  text);
}

bool
ptx_at(const ptx_parser *parser, char punct)
{
    return parser->lexer.token.kind == PTX_T_PUNCTUATION &&
           parser->lexer.token.punct == punct;
}

bool
ptx_accept(ptx_parser *parser, char punct)
{
    if (!ptx_at(parser, punct)) {
        return false;
    }
    (void)ptx_lex_take(&parser->lexer);
    return true;
}

void
ptx_expect(ptx_parser *parser, char punct)
{
    if (!ptx_accept(parser, punct)) {
        ptx_fail(parser, "expected '%c'", punct);
    }
}

ptx_name *
ptx_expect_name(ptx_parser *parser, const char *what)
{
    if (parser->lexer.token.kind != PTX_T_NAME) {
        ptx_fail(parser, "expected %s", what);
    }
    return ptx_lex_take(&parser->lexer).name;
}

uint64_t
ptx_expect_int(ptx_parser *parser, const char *what)
{
    if (parser->lexer.token.kind != PTX_T_INT) {
        ptx_fail(parser, "expected %s", what);
    }
    return ptx_lex_take(&parser->lexer).bits;
}

/* -- scopes ------------------------------------------------------------------------ */

ptx_binding *
ptx_bind(ptx_parser *parser, ptx_name *name, ptx_binding_kind kind)
{
    ptx_scope *scope = &parser->scopes[parser->depth];
    ptx_binding *binding =
        emu_arena_get(parser->load, &parser->load->scratch, 1, sizeof *binding);

    binding->name = name;
    binding->kind = kind;
    binding->scope = parser->depth;
    binding->outer = name->binding;
    binding->next = scope->bindings;
    scope->bindings = binding;
    name->binding = binding;
    return binding;
}

void
ptx_scope_open(ptx_parser *parser)
{
    if (parser->depth + 1 >= PTX_MAX_SCOPES) {
        ptx_fail(parser, "blocks are nested too deeply");
    }
    parser->depth++;
    memset(&parser->scopes[parser->depth], 0, sizeof(ptx_scope));
    parser->scopes[parser->depth].call_top = parser->scopes[parser->depth - 1].call_top;
}

/* Resolves the uses of labels that this scope defines. The other uses move to the scope
 * around it. */
static void
parser_resolve_labels(ptx_parser *parser)
{
    ptx_scope *scope = &parser->scopes[parser->depth];
    ptx_label_use *use = scope->uses;

    while (use != NULL) {
        ptx_label_use *next = use->next;
        ptx_binding *binding = use->operand->name->binding;

        if (binding != NULL && binding->kind == PTX_B_LABEL &&
            binding->scope == parser->depth) {
            use->operand->kind = PTX_O_LABEL;
            use->operand->label = binding->reg;
        }
        else {
            use->next = parser->scopes[parser->depth - 1].uses;
            parser->scopes[parser->depth - 1].uses = use;
        }
        use = next;
    }
}

void
ptx_scope_close(ptx_parser *parser)
{
    parser_resolve_labels(parser);
    for (ptx_binding *binding = parser->scopes[parser->depth].bindings; binding != NULL;
         binding = binding->next) {
        binding->name->binding = binding->outer;
    }
    parser->depth--;
    if (parser->depth == 0) {
        parser->scopes[0].uses = NULL; /* lowering reports labels that are unknown */
    }
}

uint32_t
ptx_new_reg(ptx_parser *parser, unsigned type)
{
    ptx_function *function = parser->function;

    if (function == NULL) {
        ptx_fail(parser, "a register outside of a function");
    }
    function->reg_type =
        emu_arena_grow(parser->load, function->reg_type, function->reg_count,
                       &function->reg_room, sizeof *function->reg_type);
    function->reg_type[function->reg_count] = (uint8_t)type;
    return (uint32_t)function->reg_count++;
}

uint32_t
ptx_new_regs(ptx_parser *parser, unsigned type, uint32_t lanes)
{
    const uint32_t first = ptx_new_reg(parser, type);

    for (uint32_t i = 1; i < lanes; i++) {
        (void)ptx_new_reg(parser, type);
    }
    return first;
}

/* -- directives that functions and modules share ----------------------------------- */

/* Make parser->lines, of the .file directives before this place and behind it. */
static void
parse_files(ptx_parser *parser)
{
    const ptx_lexer *lexer = &parser->lexer;

    if (parser->lines != NULL) {
        return;
    }
    parser->lines = ptx_source_lines_open(parser->load, lexer->at,
                                          (size_t)(lexer->end - lexer->at));
    for (const ptx_file *file = parser->module->files; file; file = file->next) {
        ptx_source_lines_add(parser->lines, file->index, file->path,
                             strlen(file->path));
    }
}

/* Read a file, a line and a column, as far as they are there. False: no line. */
static bool
parse_loc_numbers(ptx_parser *parser, ptx_loc *loc)
{
    uint32_t *const numbers[] = {&loc->file, &loc->line, &loc->column};
    unsigned i;

    for (i = 0; i < 3 && parser->lexer.token.kind == PTX_T_INT; i++) {
        *numbers[i] = (uint32_t)ptx_lex_take(&parser->lexer).bits;
    }
    return i >= 2;
}

void
ptx_parse_loc(ptx_parser *parser)
{
    unsigned line = parser->lexer.token.line;
    ptx_loc loc = {.file = parser->loc_file, .line = parser->loc_line};
    ptx_loc call = {.file = 0};

    (void)parse_loc_numbers(parser, &loc);
    while (parser->lexer.token.kind != PTX_T_END && parser->lexer.token.line == line) {
        const ptx_token token = ptx_lex_take(&parser->lexer);

        if (token.kind == PTX_T_NAME && strcmp(token.name->text, "inlined_at") == 0 &&
            parse_loc_numbers(parser, &call)) {
            parse_files(parser);
            loc = ptx_source_line_inlined(parser->lines, loc, call);
        }
    }
    parser->loc_file = (uint16_t)loc.file;
    parser->loc_line = loc.line;
    parser->loc_column = loc.column > UINT16_MAX ? UINT16_MAX : (uint16_t)loc.column;
}

void
ptx_skip_directive(ptx_parser *parser)
{
    unsigned line = parser->lexer.token.line;

    while (parser->lexer.token.kind != PTX_T_END && parser->lexer.token.line == line &&
           !ptx_at(parser, '{') && !ptx_at(parser, '}')) {
        if (ptx_accept(parser, ';')) {
            return;
        }
        (void)ptx_lex_take(&parser->lexer);
    }
}
