/* The cursor over a PTX text, the meanings of names, and registers. See parser.h. */
#include "device/ptx/parser.h"

#include <stdio.h>
#include <string.h>

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
    return parser->lexer.token.kind == PTX_T_PUNCT &&
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
