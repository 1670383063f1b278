/* Modules and variables of a PTX text. See ptx_parser.h and ptx_ir.h. */
#include "device/ptx/parser.h"

#include <stdio.h>
#include <string.h>

void
ptx_fail(ptx_parser *parser, const char *format, ...)
{
    char text[400];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    emu_load_fail(parser->load, CUDA_ERROR_INVALID_PTX, parser->lexer.token.line, "%s",
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

/* Gives the uses of labels their numbers where this scope defines them; the others move
 * to the scope around it. */
static void
scope_resolve_labels(ptx_parser *parser)
{
    ptx_scope *scope = &parser->scopes[parser->depth];
    ptx_label_use *use = scope->uses;

    while (use) {
        ptx_label_use *next = use->next;
        ptx_binding *binding = use->operand->name->binding;

        if (binding && binding->kind == PTX_B_LABEL &&
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
    ptx_binding *binding;

    scope_resolve_labels(parser);
    for (binding = parser->scopes[parser->depth].bindings; binding;
         binding = binding->next) {
        binding->name->binding = binding->outer;
    }
    parser->depth--;
    if (parser->depth == 0) {
        parser->scopes[0].uses = NULL; /* lower.c says which names mean nothing */
    }
}

uint32_t
ptx_new_reg(ptx_parser *parser, unsigned type)
{
    ptx_function *function = parser->function;

    if (!function) {
        ptx_fail(parser, "a register outside of a function");
    }
    function->reg_type =
        emu_arena_grow(parser->load, function->reg_type, function->reg_count,
                       &function->reg_room, sizeof *function->reg_type);
    function->reg_type[function->reg_count] = (uint8_t)type;
    return (uint32_t)function->reg_count++;
}

/* -- directives that carry nothing ------------------------------------------------- */

void
ptx_parse_loc(ptx_parser *parser)
{
    unsigned line = parser->lexer.token.line;

    if (parser->lexer.token.kind == PTX_T_INT) {
        parser->loc_file = (uint16_t)ptx_lex_take(&parser->lexer).bits;
        if (parser->lexer.token.kind == PTX_T_INT) {
            parser->loc_line = (unsigned)ptx_lex_take(&parser->lexer).bits;
        }
    }
    while (parser->lexer.token.kind != PTX_T_END && parser->lexer.token.line == line) {
        (void)ptx_lex_take(&parser->lexer);
    }
}

static void
skip_braces(ptx_parser *parser)
{
    size_t depth = 0;

    do {
        if (parser->lexer.token.kind == PTX_T_END) {
            ptx_fail(parser, "'{' is never closed");
        }
        depth += ptx_at(parser, '{');
        depth -= ptx_at(parser, '}');
        (void)ptx_lex_take(&parser->lexer);
    } while (depth);
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

/* .section .debug_info { ... } */
static void
skip_section(ptx_parser *parser)
{
    while (parser->lexer.token.kind != PTX_T_END && !ptx_at(parser, '{')) {
        (void)ptx_lex_take(&parser->lexer);
    }
    if (ptx_at(parser, '{')) {
        skip_braces(parser);
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

/* -- variables --------------------------------------------------------------------- */

typedef struct {
    ptx_space space;
    unsigned type;
    unsigned align; /* 0: that of the type */
    unsigned lanes;
} var_head;

static void
skip_parenthesis(ptx_parser *parser)
{
    if (ptx_accept(parser, '(')) {
        while (!ptx_accept(parser, ')')) {
            if (parser->lexer.token.kind == PTX_T_END) {
                ptx_fail(parser, "'(' is never closed");
            }
            (void)ptx_lex_take(&parser->lexer);
        }
    }
}

static bool
head_space(unsigned word, ptx_space *space)
{
    switch (word) {
        case PTX_W_reg:
            *space = PTX_SPACE_REG;
            return true;
        case PTX_W_global:
            *space = PTX_SPACE_GLOBAL;
            return true;
        case PTX_W_const:
            *space = PTX_SPACE_CONST;
            return true;
        case PTX_W_shared:
            *space = PTX_SPACE_SHARED;
            return true;
        case PTX_W_local:
            *space = PTX_SPACE_LOCAL;
            return true;
        case PTX_W_param:
            *space = PTX_SPACE_PARAM;
            return true;
        case PTX_W_tex:
            *space = PTX_SPACE_GLOBAL;
            return true;
        default:
            return false;
    }
}

/* What no vector can be. */
static void
check_vector(ptx_parser *parser, const var_head *head)
{
    if (head->type == PTX_W_pred) {
        ptx_fail(parser, "predicates form no vectors");
    }
    if (head->lanes * ptx_type_size(head->type) > 16) {
        ptx_fail(parser, "a vector has more than 128 bits");
    }
    if (head->space == PTX_SPACE_PARAM) {
        ptx_fail(parser,
                 "a .param variable is no vector (declare an array of bytes "
                 "with an alignment)");
    }
}

/* The words before the name: space, alignment, vector, type, in any order. */
static void
parse_head(ptx_parser *parser, var_head *head)
{
    bool pointer = false;
    ptx_space space = PTX_SPACE_NONE;

    memset(head, 0, sizeof *head);
    head->lanes = 1;
    while (parser->lexer.token.kind == PTX_T_WORD) {
        const ptx_name *name = ptx_lex_take(&parser->lexer).name;
        const unsigned word = name->word;

        if (word == PTX_W_align) {
            uint64_t align = ptx_expect_int(parser, "an alignment");

            if (align == 0 || align > 1 << 16 || (align & (align - 1))) {
                ptx_fail(parser, "an alignment is no power of two");
            }
            if (!pointer) {
                head->align = (unsigned)align;
            }
        }
        else if (word == PTX_W_ptr) {
            pointer = true;
        }
        else if (word == PTX_W_attribute) {
            skip_parenthesis(parser);
        }
        else if (word == PTX_W_v2 || word == PTX_W_v4) {
            if (head->type) {
                ptx_fail(parser, "the size of a vector stands before its type");
            }
            head->lanes = word == PTX_W_v2 ? 2 : 4;
        }
        else if (!word || word == PTX_W_v8) {
            ptx_fail(parser, "a declaration cannot have '.%.50s'", name->text);
        }
        else if (word && word <= PTX_W_LAST_TYPE) {
            head->type = word;
        }
        else if (head_space(word, &space) && !pointer) {
            head->space = space;
        }
    }
    if (!head->type || ptx_type_size(head->type) == 0) {
        ptx_fail(parser, "a declaration has no type");
    }
    if (head->lanes > 1) {
        check_vector(parser, head);
    }
}

enum { MAX_DIMS = 8 };

typedef struct {
    uint64_t count[MAX_DIMS];
    unsigned dims;
    bool unsized;
} var_shape;

static void
parse_shape(ptx_parser *parser, ptx_var *var, var_shape *shape)
{
    uint64_t total = var->size;

    memset(shape, 0, sizeof *shape);
    while (ptx_accept(parser, '[')) {
        uint64_t count = 0;

        if (shape->dims >= MAX_DIMS) {
            ptx_fail(parser, "an array has too many dimensions");
        }
        if (ptx_at(parser, ']')) {
            shape->unsized = true;
            count = 1;
        }
        else {
            count = ptx_expect_int(parser, "the size of an array");
        }
        if (count > (uint64_t)1 << 40 || total * count > (uint64_t)1 << 40) {
            ptx_fail(parser, "an array is too large");
        }
        total *= count;
        shape->count[shape->dims++] = count;
        ptx_expect(parser, ']');
    }
    var->size = total;
    var->unsized = shape->unsized;
}

/* A number, or an address of a symbol. */
static void
parse_value(ptx_parser *parser, ptx_var *var, ptx_value *value)
{
    bool negative = ptx_accept(parser, '-');
    ptx_token token = ptx_lex_take(&parser->lexer);

    value->line = token.line;
    if (token.kind == PTX_T_INT && ptx_at(parser, '(')) {
        uint64_t mask = token.bits;

        ptx_expect(parser, '(');
        value->masked = true;
        while (mask && (mask & 0xff) == 0) {
            value->shift = (uint8_t)(value->shift + 8);
            mask >>= 8;
        }
        token = ptx_lex_take(&parser->lexer);
    }
    if (token.kind == PTX_T_NAME) {
        if (strcmp(token.name->text, "generic") == 0 && ptx_accept(parser, '(')) {
            value->generic = true;
            value->name = ptx_expect_name(parser, "a symbol");
            ptx_expect(parser, ')');
        }
        else {
            value->name = token.name;
        }
        if (ptx_accept(parser, '+')) {
            value->bits = ptx_expect_int(parser, "an offset");
        }
        else if (ptx_accept(parser, '-')) {
            value->bits = 0 - ptx_expect_int(parser, "an offset");
        }
        if (value->masked) {
            ptx_expect(parser, ')');
        }
        return;
    }
    if (token.kind == PTX_T_INT) {
        value->bits = negative ? 0 - token.bits : token.bits;
        if (var->type == PTX_W_f32 || var->type == PTX_W_f64) {
            double number = (double)(int64_t)value->bits;
            float single = (float)number;

            value->bits = 0;
            memcpy(&value->bits, var->type == PTX_W_f32 ? (void *)&single : &number,
                   var->element);
        }
    }
    else if (token.kind == PTX_T_F32 || token.kind == PTX_T_F64) {
        double number;
        float single;

        value->bits = token.bits;
        if (token.kind == PTX_T_F64 && var->element == 4) {
            memcpy(&number, &token.bits, sizeof number);
            single = (float)number;
            value->bits = 0;
            memcpy(&value->bits, &single, sizeof single);
        }
        else if (token.kind == PTX_T_F32 && var->element == 8) {
            memcpy(&single, &token.bits, sizeof single);
            number = single;
            memcpy(&value->bits, &number, sizeof number);
        }
        if (negative) {
            value->bits ^= (uint64_t)1 << (8 * var->element - 1);
        }
    }
    else {
        ptx_fail(parser, "expected a value");
    }
}

static ptx_value *
new_value(ptx_parser *parser, ptx_var *var, size_t *room)
{
    var->values = emu_arena_grow(parser->load, var->values, var->value_count, room,
                                 sizeof *var->values);
    memset(&var->values[var->value_count], 0, sizeof *var->values);
    return &var->values[var->value_count++];
}

/* { 1, 2, { ... } }: an inner list that is short is filled up with zeros. */
static void
parse_initialiser(ptx_parser *parser, ptx_var *var, const var_shape *shape,
                  unsigned lanes)
{
    size_t room = 0, depth = 0;

    if (!ptx_at(parser, '{')) {
        parse_value(parser, var, new_value(parser, var, &room));
        return;
    }
    for (;;) {
        if (ptx_accept(parser, '{')) {
            depth++;
            if (depth > MAX_DIMS) {
                ptx_fail(parser, "an initialiser is nested too deeply");
            }
        }
        else if (ptx_accept(parser, '}')) {
            uint64_t stride = lanes;
            size_t i;

            depth--;
            if (depth == 0) {
                break;
            }
            for (i = depth; i < shape->dims; i++) {
                stride *= shape->count[i];
            }
            while (stride && stride < 1 << 20 && var->value_count % stride) {
                (void)new_value(parser, var, &room);
            }
        }
        else {
            parse_value(parser, var, new_value(parser, var, &room));
        }
        (void)ptx_accept(parser, ',');
        if (parser->lexer.token.kind == PTX_T_END) {
            ptx_fail(parser, "an initialiser does not end");
        }
    }
}

static void
declare_regs(ptx_parser *parser, const var_head *head, ptx_name *name)
{
    ptx_binding *binding;
    unsigned i;

    if (ptx_accept(parser, '<')) {
        uint64_t count = ptx_expect_int(parser, "a number of registers");
        ptx_range *range;

        ptx_expect(parser, '>');
        if (count > PTX_MAX_RANGE ||
            parser->range_total + count > (size_t)4 * PTX_MAX_RANGE ||
            head->lanes != 1) {
            ptx_fail(parser, "too many registers");
        }
        parser->range_total += count;
        range = emu_arena_get(parser->load, &parser->load->scratch, 1, sizeof *range);
        range->ids = emu_arena_get(parser->load, &parser->load->scratch,
                                   count ? count : 1, sizeof *range->ids);
        range->count = (uint32_t)count;
        range->type = head->type;
        ptx_bind(parser, name, PTX_B_RANGE)->range = range;
        return;
    }
    binding = ptx_bind(parser, name, PTX_B_REG);
    binding->lanes = head->lanes;
    binding->reg = ptx_new_reg(parser, head->type);
    for (i = 1; i < head->lanes; i++) {
        (void)ptx_new_reg(parser, head->type);
    }
}

static ptx_var *
new_var(ptx_parser *parser, const var_head *head, ptx_name *name)
{
    ptx_var *var = emu_arena_get(parser->load, &parser->load->scratch, 1, sizeof *var);

    var->name = name;
    var->space = head->space;
    var->type = head->type;
    var->element = ptx_type_size(head->type);
    var->size = (uint64_t)var->element * head->lanes;
    var->align = head->align ? head->align : (unsigned)var->size;
    if (var->align < var->element) {
        var->align = var->element;
    }
    var->line = parser->lexer.token.line;
    var->function = parser->function;
    return var;
}

static void
add_function_var(ptx_parser *parser, ptx_var *var)
{
    ptx_function *function = parser->function;
    ptx_scope *scope = &parser->scopes[parser->depth];

    if (var->space == PTX_SPACE_PARAM) {
        scope->call_top =
            (scope->call_top + var->align - 1) & ~(uint64_t)(var->align - 1);
        var->address = scope->call_top;
        scope->call_top += var->size;
        if (scope->call_top > 1 << 20) {
            ptx_fail(parser, "the parameters of calls are too large");
        }
        if (scope->call_top > function->call_size) {
            function->call_size = scope->call_top;
        }
    }
    var->next = function->vars;
    function->vars = var;
}

/* A module's variable, or the declaration of one that came or comes elsewhere. */
static void
add_module_var(ptx_parser *parser, ptx_var *var)
{
    *parser->module->vars_tail = var;
    parser->module->vars_tail = &var->next;
}

void
ptx_parse_vars(ptx_parser *parser, bool is_extern, bool is_visible, bool is_weak,
               bool is_common)
{
    var_head head;

    parse_head(parser, &head);
    if (head.space == PTX_SPACE_NONE) {
        ptx_fail(parser, "a declaration has no state space");
    }
    do {
        ptx_name *name = ptx_expect_name(parser, "the name of a variable");
        ptx_var *var;
        var_shape shape;

        if (head.space == PTX_SPACE_REG) {
            declare_regs(parser, &head, name);
            continue;
        }
        var = new_var(parser, &head, name);
        var->is_extern = is_extern;
        var->is_visible = is_visible;
        var->is_weak = is_weak;
        var->is_common = is_common;
        parse_shape(parser, var, &shape);
        if (ptx_accept(parser, '=')) {
            parse_initialiser(parser, var, &shape, head.lanes);
            if (shape.unsized) {
                var->size = (uint64_t)var->value_count * var->element;
                var->unsized = false;
            }
            if (var->value_count > var->size / var->element) {
                ptx_fail(parser, "%s has more values than elements", name->text);
            }
        }
        if (var->unsized) {
            var->size = 0;
        }
        ptx_bind(parser, name, PTX_B_VAR)->var = var;
        if (parser->function &&
            (head.space == PTX_SPACE_PARAM || head.space == PTX_SPACE_LOCAL ||
             head.space == PTX_SPACE_SHARED)) {
            add_function_var(parser, var);
        }
        else {
            if (head.space == PTX_SPACE_PARAM) {
                ptx_fail(parser, "a parameter outside of a function");
            }
            add_module_var(parser, var);
        }
    } while (ptx_accept(parser, ','));
    ptx_expect(parser, ';');
}

ptx_var *
ptx_parse_params(ptx_parser *parser)
{
    ptx_var *first = NULL, **tail = &first;
    size_t count = 0;

    while (!ptx_accept(parser, ')')) {
        var_head head;
        var_shape shape;
        ptx_var *var;
        ptx_name *name;
        unsigned lane;

        parse_head(parser, &head);
        if (head.space != PTX_SPACE_PARAM && head.space != PTX_SPACE_REG) {
            ptx_fail(parser, "a parameter is neither .param nor .reg");
        }
        if (parser->lexer.token.kind == PTX_T_NAME) {
            name = ptx_lex_take(&parser->lexer).name;
        }
        else {
            name = ptx_names_get(parser->load, parser->names, "_", 1, true);
        }
        var = new_var(parser, &head, name);
        var->is_param = true;
        parse_shape(parser, var, &shape);
        if (var->unsized) {
            var->size = 0;
        }
        /* a vector register is passed as that many registers; the first has the name */
        for (lane = 0; lane < (head.space == PTX_SPACE_REG ? head.lanes : 1); lane++) {
            if (lane > 0) {
                var = new_var(parser, &head, name);
                var->is_param = true;
            }
            else {
                var->lanes = head.lanes;
            }
            if (++count > 4096) {
                ptx_fail(parser, "too many parameters");
            }
            *tail = var;
            tail = &var->next;
        }
        if (!ptx_at(parser, ')')) {
            ptx_expect(parser, ',');
        }
    }
    return first;
}

/* -- modules ----------------------------------------------------------------------- */

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
        ptx_fail(parser, "the .version is no number");
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
        }
    } while (ptx_accept(parser, ','));
}

/* .visible .extern .weak .common, then what they are said of. */
static void
parse_linkage(ptx_parser *parser, unsigned word)
{
    bool is_extern = false, is_visible = false, is_weak = false, is_common = false;

    for (;;) {
        if (word == PTX_W_extern) {
            is_extern = true;
        }
        else if (word == PTX_W_visible) {
            is_visible = true;
        }
        else if (word == PTX_W_weak) {
            is_weak = true;
        }
        else if (word == PTX_W_common) {
            is_common = true;
        }
        else {
            break;
        }
        if (parser->lexer.token.kind != PTX_T_WORD) {
            ptx_fail(parser, "expected a declaration");
        }
        word = parser->lexer.token.name->word;
        if (word == PTX_W_extern || word == PTX_W_visible || word == PTX_W_weak ||
            word == PTX_W_common) {
            (void)ptx_lex_take(&parser->lexer);
        }
    }
    if (word == PTX_W_entry || word == PTX_W_func) {
        (void)ptx_lex_take(&parser->lexer);
        ptx_parse_function(parser, word == PTX_W_entry, is_extern, is_visible, is_weak);
    }
    else {
        ptx_parse_vars(parser, is_extern, is_visible, is_weak, is_common);
    }
}

static void
parse_directive(ptx_parser *parser)
{
    unsigned word = parser->lexer.token.name->word;

    switch (word) {
        case PTX_W_global:
        case PTX_W_const:
        case PTX_W_shared:
        case PTX_W_local:
        case PTX_W_tex:
            ptx_parse_vars(parser, false, false, false, false);
            return;
        default:
            break;
    }
    (void)ptx_lex_take(&parser->lexer);
    switch (word) {
        case PTX_W_version:
            parse_version(parser);
            break;
        case PTX_W_target:
            parse_target(parser);
            break;
        case PTX_W_address_size:
            parser->module->address_size =
                (unsigned)ptx_expect_int(parser, "an address size");
            if (parser->module->address_size != 64) {
                ptx_fail(parser, "only 64-bit addresses are supported");
            }
            break;
        case PTX_W_file:
            parse_file(parser);
            break;
        case PTX_W_section:
            skip_section(parser);
            break;
        case PTX_W_loc:
            ptx_parse_loc(parser);
            break;
        case PTX_W_visible:
        case PTX_W_extern:
        case PTX_W_weak:
        case PTX_W_common:
            parse_linkage(parser, word);
            break;
        case PTX_W_entry:
        case PTX_W_func:
            ptx_parse_function(parser, word == PTX_W_entry, false, false, false);
            break;
        case PTX_W_alias: {
            ptx_fail(parser, ".alias is not supported");
        }
        default:
            ptx_skip_directive(parser);
            if (ptx_at(parser, '{')) {
                skip_braces(parser);
            }
            break;
    }
}

ptx_module *
ptx_parse(emu_load *load, ptx_names *names, const char *text, size_t size,
          const char *source_name)
{
    ptx_parser *parser = emu_arena_get(load, &load->scratch, 1, sizeof *parser);
    ptx_module *module = emu_arena_get(load, &load->scratch, 1, sizeof *module);
    ptx_binding *binding;

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
            ptx_fail(parser, module->version ? "expected a directive"
                                             : "this is not PTX: no .version");
        }
        parse_directive(parser);
    }
    if (!module->version) {
        ptx_fail(parser, "this is not PTX: no .version");
    }
    for (binding = parser->scopes[0].bindings; binding; binding = binding->next) {
        binding->name->binding = NULL;
    }
    return module;
}
