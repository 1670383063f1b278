/* Variables and parameters of a PTX text. See parse_variable.h. */
#include "device/ptx/parse_variable.h"

#include <string.h>

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
                ptx_fail(parser, "an alignment is not a power of two");
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
ptx_parse_vars(ptx_parser *parser, ptx_linkage linkage)
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
        var->is_extern = linkage.is_extern;
        var->is_visible = linkage.is_visible;
        var->is_weak = linkage.is_weak;
        var->is_common = linkage.is_common;
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
