/* Modules of a PTX text: the directives outside of functions. See parser.h. */
#include "device/ptx/ir.h"

#include <string.h>

#include "device/ptx/parser.h"

static void
module_skip_braces(ptx_parser *parser)
{
    size_t depth = 0;

    do {
        if (parser->lexer.token.kind == PTX_T_END) {
            ptx_fail(parser, "'{' is never closed");
        }
        if (ptx_at(parser, '{')) {
            depth++;
        }
        else if (ptx_at(parser, '}')) {
            depth--;
        }
        (void)ptx_lex_take(&parser->lexer);
    } while (depth > 0);
}

/* Skips .section .debug_info { ... } */
static void
module_skip_section(ptx_parser *parser)
{
    while (parser->lexer.token.kind != PTX_T_END && !ptx_at(parser, '{')) {
        (void)ptx_lex_take(&parser->lexer);
    }
    if (ptx_at(parser, '{')) {
        module_skip_braces(parser);
    }
}

static void
parse_file(ptx_parser *parser)
{
    unsigned line = parser->lexer.token.line;
    ptx_file *file = emu_arena_get(parser->load, &parser->load->keep, 1, sizeof *file);

    file->index = (unsigned)ptx_expect_int(parser, "a file number");
    if (parser->lexer.token.kind == PTX_T_STRING) {
        ptx_token token = ptx_lex_take(&parser->lexer);
        char *path =
            emu_arena_get(parser->load, &parser->load->keep, token.size + 1, 1);

        memcpy(path, token.start, token.size);
        file->path = path;
        file->next = parser->module->files;
        parser->module->files = file;
    }
    while (parser->lexer.token.kind != PTX_T_END && parser->lexer.token.line == line) {
        (void)ptx_lex_take(&parser->lexer);
    }
}

static void
parse_version(ptx_parser *parser)
{
    ptx_token token = ptx_lex_take(&parser->lexer);
    double number = 0;

    if (token.kind == PTX_T_F64) {
        memcpy(&number, &token.bits, sizeof number);
    }
    else if (token.kind == PTX_T_INT) {
        number = (double)token.bits;
    }
    if (!(number >= 1.0 && number < 100.0)) {
        ptx_fail(parser, "the .version is not a number");
    }
    parser->module->version = (unsigned)(number * 10 + 0.5);
}

static void
parse_target(ptx_parser *parser)
{
    do {
        ptx_name *name = ptx_expect_name(parser, "a target");
        unsigned number = 0;
        const char *at = name->text;

        if (strncmp(at, "sm_", 3) == 0) {
            for (at += 3; *at >= '0' && *at <= '9' && number < 10000; at++) {
                number = number * 10 + (unsigned)(*at - '0');
            }
            parser->module->target = number;
            parser->module->is_specific = *at == 'a';
        }
    } while (ptx_accept(parser, ','));
}

/* Adds a word to the linkage; false if it is not a word of linkage. */
static bool
module_add_linkage(ptx_linkage *linkage, unsigned word)
{
    switch (word) {
        case PTX_W_extern:
            linkage->is_extern = true;
            return true;
        case PTX_W_visible:
            linkage->is_visible = true;
            return true;
        case PTX_W_weak:
            linkage->is_weak = true;
            return true;
        case PTX_W_common:
            linkage->is_common = true;
            return true;
        default:
            return false;
    }
}

/* The linkage words, of which the first is `word`, then the declaration. */
static void
parse_linkage(ptx_parser *parser, unsigned word)
{
    ptx_linkage linkage = {.is_extern = false};

    while (module_add_linkage(&linkage, word)) {
        (void)ptx_lex_take(&parser->lexer);
        if (parser->lexer.token.kind != PTX_T_WORD) {
            ptx_fail(parser, "expected a declaration");
        }
        word = parser->lexer.token.name->word;
    }
    if (word == PTX_W_entry || word == PTX_W_func) {
        (void)ptx_lex_take(&parser->lexer);
        ptx_parse_function(parser, word == PTX_W_entry, linkage);
    }
    else {
        ptx_parse_vars(parser, linkage);
    }
}

static void
parse_address_size(ptx_parser *parser)
{
    parser->module->address_size = (unsigned)ptx_expect_int(parser, "an address size");
    if (parser->module->address_size != 64) {
        ptx_fail(parser, "only 64-bit addresses are supported");
    }
}

static void
parse_alias(ptx_parser *parser)
{
    ptx_fail(parser, ".alias is not supported");
}

/* Skips a directive that this parser does not know, and the block that follows it. */
static void
module_skip_unknown(ptx_parser *parser)
{
    ptx_skip_directive(parser);
    if (ptx_at(parser, '{')) {
        module_skip_braces(parser);
    }
}

static void
parse_directive(ptx_parser *parser)
{
    static const struct {
        uint16_t word;
        void (*parse)(ptx_parser *parser); /* after the word */
    } rows[] = {
        {PTX_W_version, parse_version}, {PTX_W_target, parse_target},
        {PTX_W_file, parse_file},       {PTX_W_section, module_skip_section},
        {PTX_W_loc, ptx_parse_loc},     {PTX_W_address_size, parse_address_size},
        {PTX_W_alias, parse_alias}};
    const unsigned word = parser->lexer.token.name->word;

    switch (word) {
        case PTX_W_global:
        case PTX_W_const:
        case PTX_W_shared:
        case PTX_W_local:
        case PTX_W_tex:
        case PTX_W_visible:
        case PTX_W_extern:
        case PTX_W_weak:
        case PTX_W_common:
        case PTX_W_entry:
        case PTX_W_func:
            parse_linkage(parser, word);
            return;
        default:
            break;
    }
    (void)ptx_lex_take(&parser->lexer);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].word == word) {
            rows[i].parse(parser);
            return;
        }
    }
    module_skip_unknown(parser);
}

ptx_module *
ptx_parse(emu_load *load, ptx_names *names, const char *text, size_t size,
          const char *source_name)
{
    ptx_parser *parser = emu_arena_get(load, &load->scratch, 1, sizeof *parser);
    ptx_module *module = emu_arena_get(load, &load->scratch, 1, sizeof *module);

    parser->load = load;
    parser->names = names;
    parser->module = module;
    module->source_name = source_name;
    module->address_size = 64;
    module->vars_tail = &module->vars;
    module->functions_tail = &module->functions;
    ptx_lex_open(&parser->lexer, load, names, text, size);
    while (parser->lexer.token.kind != PTX_T_END) {
        if (ptx_accept(parser, ';')) {
            continue;
        }
        if (parser->lexer.token.kind != PTX_T_WORD) {
            if (module->version == 0) {
                ptx_fail(parser, "this is not PTX: no .version");
            }
            ptx_fail(parser, "expected a directive");
        }
        parse_directive(parser);
    }
    if (module->version == 0) {
        ptx_fail(parser, "this is not PTX: no .version");
    }
    for (ptx_binding *binding = parser->scopes[0].bindings; binding != NULL;
         binding = binding->next) {
        binding->name->binding = NULL;
    }
    return module;
}
