/* Variables and parameters of a PTX text. See parser.h. */
#include "device/ptx/parser.h"

#include <string.h>

/* -- variables --------------------------------------------------------------------- */

typedef struct {
    ptx_space space;
    unsigned type;
    unsigned align; /* 0: that of the type */
    unsigned lanes;
} var_head;

static void
variable_skip_parenthesis(ptx_parser *parser)
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

/* The state space that a word names; PTX_SPACE_NONE if it names none. */
static ptx_space
variable_space_of(unsigned word)
{
    switch (word) {
        case PTX_W_reg:
            return PTX_SPACE_REG;
        case PTX_W_global:
        case PTX_W_tex:
            return PTX_SPACE_GLOBAL;
        case PTX_W_const:
            return PTX_SPACE_CONST;
        case PTX_W_shared:
            return PTX_SPACE_SHARED;
        case PTX_W_local:
            return PTX_SPACE_LOCAL;
        case PTX_W_param:
            return PTX_SPACE_PARAM;
        default:
            return PTX_SPACE_NONE;
    }
}

/* Fails for types and spaces that have no vectors. */
static void
variable_check_vector(ptx_parser *parser, const var_head *head)
{
    if (head->type == PTX_W_pred) {
        ptx_fail(parser, "predicates cannot form vectors");
    }
    if (head->lanes * ptx_type_size(head->type) > 16) {
        ptx_fail(parser, "a vector has more than 128 bits");
    }
    if (head->space == PTX_SPACE_PARAM) {
        ptx_fail(parser,
                 "a .param variable cannot be a vector (declare an array of bytes "
                 "with an alignment)");
    }
}

static void
parse_align(ptx_parser *parser, bool pointer, var_head *head)
{
    const uint64_t align = ptx_expect_int(parser, "an alignment");

    if (align == 0 || align > 1 << 16 || (align & (align - 1)) != 0) {
        ptx_fail(parser, "an alignment is not a power of two");
    }
    if (!pointer) {
        head->align = (unsigned)align;
    }
}

/* One word of a head. After .ptr, words describe the target of the pointer. */
static void
parse_head_word(ptx_parser *parser, const ptx_name *name, bool *pointer, var_head *head)
{
    const unsigned word = name->word;

    switch (word) {
        case PTX_W_align:
            parse_align(parser, *pointer, head);
            return;
        case PTX_W_ptr:
            *pointer = true;
            return;
        case PTX_W_attribute:
            variable_skip_parenthesis(parser);
            return;
        case PTX_W_v2:
        case PTX_W_v4:
            if (head->type != PTX_W_NONE) {
                ptx_fail(parser, "the size of a vector must precede its type");
            }
            head->lanes = 2;
            if (word == PTX_W_v4) {
                head->lanes = 4;
            }
            return;
        case PTX_W_NONE:
        case PTX_W_v8:
            ptx_fail(parser, "a declaration cannot have '.%.50s'", name->text);
        default:
            break;
    }
    if (word <= PTX_W_LAST_TYPE) {
        head->type = word;
    }
    else if (variable_space_of(word) != PTX_SPACE_NONE && !*pointer) {
        head->space = variable_space_of(word);
    }
}

/* The words before the name: space, alignment, vector, type, in any order. */
static void
parse_head(ptx_parser *parser, var_head *head)
{
    bool pointer = false;

    memset(head, 0, sizeof *head);
    head->lanes = 1;
    while (parser->lexer.token.kind == PTX_T_WORD) {
        parse_head_word(parser, ptx_lex_take(&parser->lexer).name, &pointer, head);
    }
    if (ptx_type_size(head->type) == 0) {
        ptx_fail(parser, "a declaration has no type");
    }
    if (head->lanes > 1) {
        variable_check_vector(parser, head);
    }
}

enum { MAX_DIMS = 8 };

typedef struct {
    uint64_t count[MAX_DIMS];
    unsigned dims;
    bool unsized;
} var_shape;

/* The number of elements of an array; the assembler takes no expression here. */
static uint64_t
variable_read_count(ptx_parser *parser)
{
    if (parser->lexer.token.kind == PTX_T_NAME &&
        ptx_is_constant_name(parser->lexer.token.name)) {
        return ptx_parse_integer(parser, "the size of an array");
    }
    return ptx_expect_int(parser, "the size of an array");
}

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
            count = variable_read_count(parser);
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

/* mask(symbol): the byte of an address that the mask selects. */
static void
parse_mask(ptx_parser *parser, uint64_t mask, ptx_value *value)
{
    ptx_expect(parser, '(');
    value->masked = true;
    while (mask != 0 && (mask & 0xff) == 0) {
        value->shift = (uint8_t)(value->shift + 8);
        mask >>= 8;
    }
}

/* symbol, generic(symbol), with an offset or without. */
static void
parse_symbol(ptx_parser *parser, ptx_name *name, ptx_value *value)
{
    value->name = name;
    if (strcmp(name->text, "generic") == 0 && ptx_accept(parser, '(')) {
        value->generic = true;
        value->name = ptx_expect_name(parser, "a symbol");
        ptx_expect(parser, ')');
    }
    if (ptx_accept(parser, '+')) {
        value->bits = ptx_parse_integer(parser, "an offset");
    }
    else if (ptx_accept(parser, '-')) {
        value->bits = 0 - ptx_parse_integer(parser, "an offset");
    }
    if (value->masked) {
        ptx_expect(parser, ')');
    }
}

/* The bits of a number as a float, for 4 bytes, or as a double. */
static uint64_t
variable_float_bits(double number, unsigned bytes)
{
    const float single = (float)number;
    uint64_t bits = 0;

    if (bytes == sizeof single) {
        memcpy(&bits, &single, sizeof single);
    }
    else {
        memcpy(&bits, &number, sizeof number);
    }
    return bits;
}

/* The bits of a number in the text for a variable of this type. */
static uint64_t
variable_number_bits(const ptx_var *var, const ptx_constant *constant)
{
    double number;
    float single;

    switch (constant->kind) {
        case PTX_T_INT:
            if (var->type == PTX_W_f32 || var->type == PTX_W_f64) {
                return variable_float_bits((double)(int64_t)constant->bits,
                                           var->element);
            }
            break;
        case PTX_T_F64:
            memcpy(&number, &constant->bits, sizeof number);
            if (var->element == sizeof single) {
                return variable_float_bits(number, var->element);
            }
            break;
        default:
            memcpy(&single, &constant->bits, sizeof single);
            if (var->element == sizeof number) {
                return variable_float_bits(single, var->element);
            }
            break;
    }
    return constant->bits;
}

/* Whether the name is that of a symbol, not of a constant. */
static bool
variable_is_symbol(const ptx_token *token)
{
    return token->kind == PTX_T_NAME && !ptx_is_constant_name(token->name);
}

/* A constant, or an address of a symbol. */
static void
parse_value(ptx_parser *parser, ptx_var *var, ptx_value *value)
{
    ptx_token token = parser->lexer.token;
    ptx_constant constant;

    value->line = token.line;
    if (token.kind == PTX_T_PUNCTUATION && strchr("-+~!(", token.punct) == NULL) {
        ptx_fail(parser, "expected a value");
    }
    if (token.kind != PTX_T_INT && !variable_is_symbol(&token)) {
        constant = ptx_parse_constant(parser);
        value->bits = variable_number_bits(var, &constant);
        return;
    }
    (void)ptx_lex_take(&parser->lexer);
    if (token.kind == PTX_T_INT && ptx_at(parser, '(')) {
        parse_mask(parser, token.bits, value);
        token = ptx_lex_take(&parser->lexer);
    }
    if (token.kind == PTX_T_NAME) {
        parse_symbol(parser, token.name, value);
    }
    else {
        constant = ptx_parse_constant_from(parser, &token);
        value->bits = variable_number_bits(var, &constant);
    }
}

static ptx_value *
variable_new_value(ptx_parser *parser, ptx_var *var, size_t *room)
{
    var->values = emu_arena_grow(parser->load, var->values, var->value_count, room,
                                 sizeof *var->values);
    memset(&var->values[var->value_count], 0, sizeof *var->values);
    return &var->values[var->value_count++];
}

/* A value, or { 1, 2, { ... } }. Zeros complete an inner list that is too short. */
static void
parse_initialiser(ptx_parser *parser, ptx_var *var, const var_shape *shape,
                  unsigned lanes)
{
    size_t room = 0, depth = 0;

    if (!ptx_at(parser, '{')) {
        parse_value(parser, var, variable_new_value(parser, var, &room));
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

            depth--;
            if (depth == 0) {
                break;
            }
            for (size_t i = depth; i < shape->dims; i++) {
                stride *= shape->count[i];
            }
            while (stride > 0 && stride < 1 << 20 && var->value_count % stride != 0) {
                (void)variable_new_value(parser, var, &room);
            }
        }
        else {
            parse_value(parser, var, variable_new_value(parser, var, &room));
        }
        (void)ptx_accept(parser, ',');
        if (parser->lexer.token.kind == PTX_T_END) {
            ptx_fail(parser, "an initialiser does not end");
        }
    }
}

/* The registers of .reg .b32 %r<10>, after the opening mark. */
static void
variable_declare_range(ptx_parser *parser, const var_head *head, ptx_name *name)
{
    const uint64_t count = ptx_expect_int(parser, "a number of registers");
    ptx_binding *binding;
    ptx_range *range;

    ptx_expect(parser, '>');
    if (count > INT32_MAX) { /* so does NVIDIA's assembler */
        ptx_fail(parser, "too many registers: %llu under one name",
                 (unsigned long long)count);
    }
    range = emu_arena_get(parser->load, &parser->load->scratch, 1, sizeof *range);
    range->page_size = PTX_RANGE_PAGE;
    if (count < PTX_RANGE_PAGE) {
        range->page_size = (uint32_t)count + 1;
    }
    range->pages = emu_arena_get(parser->load, &parser->load->scratch,
                                 count / range->page_size + 1, sizeof *range->pages);
    range->count = count;
    range->type = head->type;
    binding = ptx_bind(parser, name, PTX_B_RANGE);
    binding->range = range;
    binding->lanes = head->lanes;
}

/* The registers that one name of a .reg declaration declares. */
static void
variable_declare_regs(ptx_parser *parser, const var_head *head, ptx_name *name)
{
    ptx_binding *binding;

    if (ptx_accept(parser, '<')) {
        variable_declare_range(parser, head, name);
        return;
    }
    binding = ptx_bind(parser, name, PTX_B_REG);
    binding->lanes = head->lanes;
    binding->reg = ptx_new_regs(parser, head->type, head->lanes);
}

static ptx_var *
variable_new_var(ptx_parser *parser, const var_head *head, ptx_name *name)
{
    ptx_var *var = emu_arena_get(parser->load, &parser->load->scratch, 1, sizeof *var);

    var->name = name;
    var->space = head->space;
    var->type = head->type;
    var->element = ptx_type_size(head->type);
    var->size = (uint64_t)var->element * head->lanes;
    var->align = head->align;
    if (var->align == 0) {
        var->align = (unsigned)var->size;
    }
    if (var->align < var->element) {
        var->align = var->element;
    }
    var->line = parser->lexer.token.line;
    var->function = parser->function;
    return var;
}

static void
variable_add_function_var(ptx_parser *parser, ptx_var *var)
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

/* A variable of the module: a definition or a declaration. */
static void
variable_add_module_var(ptx_parser *parser, ptx_var *var)
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
            variable_declare_regs(parser, &head, name);
            continue;
        }
        var = variable_new_var(parser, &head, name);
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
        if (parser->function != NULL &&
            (head.space == PTX_SPACE_PARAM || head.space == PTX_SPACE_LOCAL ||
             head.space == PTX_SPACE_SHARED)) {
            variable_add_function_var(parser, var);
        }
        else {
            if (head.space == PTX_SPACE_PARAM) {
                ptx_fail(parser, "a parameter outside of a function");
            }
            variable_add_module_var(parser, var);
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
        unsigned count_of_vars = 1;

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
        var = variable_new_var(parser, &head, name);
        var->is_param = true;
        parse_shape(parser, var, &shape);
        if (var->unsized) {
            var->size = 0;
        }
        /* a vector register is passed as several; the first one has the lanes */
        if (head.space == PTX_SPACE_REG) {
            count_of_vars = head.lanes;
        }
        for (unsigned lane = 0; lane < count_of_vars; lane++) {
            if (lane > 0) {
                var = variable_new_var(parser, &head, name);
                var->is_param = true;
            }
            else {
                var->lanes = head.lanes;
            }
            count++;
            if (count > 4096) {
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
