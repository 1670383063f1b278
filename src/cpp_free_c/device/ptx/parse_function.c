/* Functions and statements of a PTX text. See parser.h. */
#include "device/ptx/parser.h"

#include <string.h>

/* -- statements -------------------------------------------------------------------- */

static ptx_insn *
function_new_insn(ptx_parser *parser)
{
    ptx_function *function = parser->function;
    ptx_insn *insn;

    function->insns =
        emu_arena_grow(parser->load, function->insns, function->insn_count,
                       &function->insn_room, sizeof *function->insns);
    insn = &function->insns[function->insn_count++];
    memset(insn, 0, sizeof *insn);
    insn->guard = PTX_NO_REG;
    insn->line = parser->lexer.token.line;
    insn->loc_line = parser->loc_line;
    insn->loc_file = parser->loc_file;
    insn->loc_column = parser->loc_column;
    return insn;
}

static void
function_define_label(ptx_parser *parser, ptx_name *name)
{
    ptx_binding *binding;
    ptx_insn *insn;

    if (name->binding != NULL && name->binding->kind == PTX_B_LABEL &&
        name->binding->scope == parser->depth) {
        ptx_fail(parser, "the label %s is defined twice", name->text);
    }
    binding = ptx_bind(parser, name, PTX_B_LABEL);
    binding->reg = (uint32_t)parser->function->label_count++;
    insn = function_new_insn(parser);
    insn->operands =
        emu_arena_get(parser->load, &parser->load->scratch, 1, sizeof(ptx_operand));
    insn->operands[0].kind = PTX_O_LABEL;
    insn->operands[0].label = binding->reg;
    insn->operand_count = 1;
}

/* name: .callprototype (...) _ (...); or one of the two lists of targets. */
static void
parse_prototype(ptx_parser *parser, ptx_name *name)
{
    ptx_proto *proto =
        emu_arena_get(parser->load, &parser->load->scratch, 1, sizeof *proto);
    unsigned word = ptx_lex_take(&parser->lexer).name->word;

    if (word == PTX_W_callprototype) {
        if (ptx_accept(parser, '(')) {
            proto->returns = ptx_parse_params(parser);
        }
        (void)ptx_expect_name(parser, "a prototype");
        if (ptx_accept(parser, '(')) {
            proto->params = ptx_parse_params(parser);
        }
        while (!ptx_at(parser, ';') && parser->lexer.token.kind != PTX_T_END) {
            (void)ptx_lex_take(&parser->lexer); /* .noreturn, .abi_preserve */
        }
        ptx_expect(parser, ';');
    }
    else if (word == PTX_W_branchtargets || word == PTX_W_calltargets) {
        proto->is_targets = true;
        ptx_parse_label_list(parser, proto);
    }
    else {
        ptx_fail(parser, "expected a prototype or a list of targets");
    }
    ptx_bind(parser, name, PTX_B_PROTOTYPE)->proto = proto;
}

static void
parse_guard(ptx_parser *parser, ptx_insn *insn)
{
    ptx_name *name;

    insn->guard_negated = ptx_accept(parser, '!');
    name = ptx_expect_name(parser, "a predicate");
    if (ptx_find_reg(parser, name, &insn->guard) == NULL) {
        ptx_fail(parser, "%s is not a register", name->text);
    }
    if (parser->function->reg_type[insn->guard] != PTX_W_pred) {
        ptx_fail(parser, "%s is not a predicate", name->text);
    }
}

/* The words and operands of an instruction; `name` is its opcode. */
static void
parse_instruction(ptx_parser *parser, ptx_name *name, ptx_insn *insn)
{
    insn->opcode = name->opcode;
    if (insn->opcode == PTX_OP_NONE) {
        emu_load_fail(parser->load, EMU_LOAD_INVALID_PTX, insn->line,
                      "unknown opcode '%.100s'", name->text);
    }
    while (parser->lexer.token.kind == PTX_T_WORD) {
        ptx_name *word = ptx_lex_take(&parser->lexer).name;

        if (word->word == PTX_W_NONE) {
            emu_load_fail(parser->load, EMU_LOAD_INVALID_PTX, insn->line,
                          "unknown modifier '.%.100s' of opcode '%s'", word->text,
                          name->text);
        }
        if (insn->word_count >= PTX_MAX_WORDS) {
            ptx_fail(parser, "too many modifiers");
        }
        insn->words[insn->word_count++] = word->word;
    }
    ptx_parse_operands(parser, name->text, insn);
}

static void
parse_body_directive(ptx_parser *parser)
{
    unsigned word = parser->lexer.token.name->word;

    switch (word) {
        case PTX_W_reg:
        case PTX_W_local:
        case PTX_W_shared:
        case PTX_W_param:
        case PTX_W_const:
        case PTX_W_global:
            ptx_parse_vars(parser, (ptx_linkage){.is_extern = false});
            return;
        case PTX_W_loc:
            (void)ptx_lex_take(&parser->lexer);
            ptx_parse_loc(parser);
            return;
        case PTX_W_extern:
            (void)ptx_lex_take(&parser->lexer);
            ptx_parse_vars(parser, (ptx_linkage){.is_extern = true});
            return;
        default:
            (void)ptx_lex_take(&parser->lexer);
            ptx_skip_directive(parser);
            return;
    }
}

/* A directive, an instruction, a label, or a list that a name precedes. */
static void
parse_statement(ptx_parser *parser)
{
    ptx_insn *insn;
    ptx_name *name;

    if (parser->lexer.token.kind == PTX_T_WORD) {
        parse_body_directive(parser);
        return;
    }
    if (ptx_accept(parser, ';')) {
        return;
    }
    if (ptx_at(parser, '@')) {
        insn = function_new_insn(parser);
        ptx_expect(parser, '@');
        parse_guard(parser, insn);
        parse_instruction(parser, ptx_expect_name(parser, "an opcode"), insn);
        return;
    }
    name = ptx_expect_name(parser, "a statement");
    if (ptx_accept(parser, ':')) {
        if (parser->lexer.token.kind == PTX_T_WORD &&
            (parser->lexer.token.name->word == PTX_W_callprototype ||
             parser->lexer.token.name->word == PTX_W_calltargets ||
             parser->lexer.token.name->word == PTX_W_branchtargets)) {
            parse_prototype(parser, name);
        }
        else {
            function_define_label(parser, name);
        }
        return;
    }
    parse_instruction(parser, name, function_new_insn(parser));
}

static void
parse_body(ptx_parser *parser)
{
    const unsigned depth = parser->depth;

    ptx_expect(parser, '{');
    ptx_scope_open(parser);
    while (parser->depth > depth) {
        if (parser->lexer.token.kind == PTX_T_END) {
            ptx_fail(parser, "the body of %s does not end",
                     parser->function->name->text);
        }
        if (ptx_accept(parser, '{')) {
            ptx_scope_open(parser);
        }
        else if (ptx_accept(parser, '}')) {
            ptx_scope_close(parser);
        }
        else {
            parse_statement(parser);
        }
    }
}

/* -- functions --------------------------------------------------------------------- */

/* A block size of one to three numbers. A missing number is 1. */
static void
parse_block_size(ptx_parser *parser, unsigned values[3])
{
    const uint64_t largest = 1 << 30;

    values[0] = values[1] = values[2] = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t value = ptx_expect_int(parser, "a number of threads");

        if (value > largest) {
            value = largest;
        }
        values[i] = (unsigned)value;
        if (!ptx_accept(parser, ',')) {
            break;
        }
    }
}

/* The directives between the head and the body of a function. */
static void
parse_limits(ptx_parser *parser, ptx_function *function)
{
    while (parser->lexer.token.kind == PTX_T_WORD) {
        unsigned word = ptx_lex_take(&parser->lexer).name->word;

        switch (word) {
            case PTX_W_maxntid:
                parse_block_size(parser, function->max_ntid);
                break;
            case PTX_W_reqntid:
                parse_block_size(parser, function->req_ntid);
                break;
            case PTX_W_reqnctapercluster:
                parse_block_size(parser, function->req_cluster);
                break;
            case PTX_W_minnctapersm:
                (void)ptx_expect_int(parser, "a number of blocks");
                break;
            case PTX_W_maxnreg:
                function->max_nreg =
                    (unsigned)ptx_expect_int(parser, "a number of registers");
                break;
            case PTX_W_noreturn:
                break;
            default:
                while (parser->lexer.token.kind == PTX_T_INT ||
                       parser->lexer.token.kind == PTX_T_STRING ||
                       ptx_at(parser, ',')) {
                    (void)ptx_lex_take(&parser->lexer);
                }
                (void)ptx_accept(parser, ';'); /* after .pragma */
                break;
        }
    }
}

/* The record of a function: that of its declaration, or a new one. */
static ptx_function *
function_record(ptx_parser *parser, ptx_name *name, bool is_entry)
{
    ptx_binding *binding = name->binding;
    ptx_function *function;

    if (binding != NULL && binding->kind == PTX_B_FUNCTION) {
        if (binding->function->is_entry != is_entry) {
            ptx_fail(parser, "%s is declared as a function and as a kernel",
                     name->text);
        }
        return binding->function;
    }
    if (binding != NULL) {
        ptx_fail(parser, "%s is declared as something else", name->text);
    }
    function = emu_arena_get(parser->load, &parser->load->scratch, 1, sizeof *function);
    function->name = name;
    function->is_entry = is_entry;
    function->module = parser->module;
    *parser->module->functions_tail = function;
    parser->module->functions_tail = &function->next;
    ptx_bind(parser, name, PTX_B_FUNCTION)->function = function;
    return function;
}

/* Binds the names of parameters for the body. */
static void
function_bind_params(ptx_parser *parser, ptx_var *var)
{
    for (; var != NULL; var = var->next) {
        if (var->space == PTX_SPACE_REG) {
            var->reg = ptx_new_reg(parser, var->type);
            if (var->lanes > 0) {
                ptx_binding *binding = ptx_bind(parser, var->name, PTX_B_REG);

                binding->lanes = var->lanes;
                binding->reg = var->reg;
            }
        }
        else {
            ptx_bind(parser, var->name, PTX_B_VAR)->var = var;
        }
        var->function = parser->function;
    }
}

void
ptx_parse_function(ptx_parser *parser, bool is_entry, ptx_linkage linkage)
{
    ptx_var *returns = NULL, *params = NULL;
    ptx_function *function;
    ptx_name *name;

    while (parser->lexer.token.kind == PTX_T_WORD) {
        (void)ptx_lex_take(&parser->lexer); /* .attribute(...), .noreturn */
        if (ptx_at(parser, '(') && parser->lexer.token.kind == PTX_T_PUNCTUATION) {
            break;
        }
    }
    if (ptx_accept(parser, '(')) {
        returns = ptx_parse_params(parser);
    }
    name = ptx_expect_name(parser, "the name of a function");
    if (ptx_accept(parser, '(')) {
        params = ptx_parse_params(parser);
    }
    function = function_record(parser, name, is_entry);
    function->is_extern |= linkage.is_extern;
    function->is_visible |= linkage.is_visible;
    function->is_weak |= linkage.is_weak;
    parse_limits(parser, function);
    if (ptx_accept(parser, ';') || !ptx_at(parser, '{')) {
        if (!function->has_body) {
            function->returns = returns;
            function->params = params;
        }
        return;
    }
    if (function->has_body) {
        ptx_fail(parser, "%s is defined twice", name->text);
    }
    function->has_body = true;
    function->is_extern = false;
    function->line = parser->lexer.token.line;
    function->returns = returns;
    function->params = params;
    parser->function = function;
    parser->loc_line = 0;
    ptx_scope_open(parser);
    function_bind_params(parser, returns);
    function_bind_params(parser, params);
    parse_body(parser);
    ptx_scope_close(parser);
    parser->function = NULL;
}
