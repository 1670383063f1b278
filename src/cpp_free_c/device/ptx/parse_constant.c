/* Constant expressions: operators wait on a stack until those that bind more closely
 * are done. See parser.h. */
#include "device/ptx/parser.h"

#include <string.h>

typedef enum {
    NO_OPERATOR,
    OPEN,     /* a parenthesis */
    QUESTION, /* waits for its colon */
    CHOOSE,   /* ?: */
    OR_ELSE,
    AND_THEN,
    OR,
    XOR,
    AND,
    EQUAL,
    UNEQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REMAINDER,
    MINUS,
    PLUS,
    INVERT,
    NOT,
    TO_SIGNED,
    TO_UNSIGNED
} operator_kind;

/* How closely an operator binds. */
static const uint8_t ranks[] = {
    [OPEN] = 0,        [QUESTION] = 1,      [CHOOSE] = 1,
    [OR_ELSE] = 2,     [AND_THEN] = 3,      [OR] = 4,
    [XOR] = 5,         [AND] = 6,           [EQUAL] = 7,
    [UNEQUAL] = 7,     [LESS] = 8,          [LESS_EQUAL] = 8,
    [GREATER] = 8,     [GREATER_EQUAL] = 8, [SHIFT_LEFT] = 9,
    [SHIFT_RIGHT] = 9, [ADD] = 10,          [SUBTRACT] = 10,
    [MULTIPLY] = 11,   [DIVIDE] = 11,       [REMAINDER] = 11,
    [MINUS] = 12,      [PLUS] = 12,         [INVERT] = 12,
    [NOT] = 12,        [TO_SIGNED] = 12,    [TO_UNSIGNED] = 12};

enum { MAX_DEPTH = 64 };

typedef struct {
    ptx_parser *parser;
    ptx_constant values[MAX_DEPTH];
    uint8_t operators[MAX_DEPTH];
    unsigned value_count, operator_count;
} evaluation;

/* -- the operators ----------------------------------------------------------------- */

static double
constant_double(const ptx_constant *value)
{
    double number;

    memcpy(&number, &value->bits, sizeof number);
    return number;
}

static void
constant_set_double(ptx_constant *value, double number)
{
    value->kind = PTX_T_F64;
    memcpy(&value->bits, &number, sizeof number);
}

/* An operator of one floating-point number. A hexadecimal float only takes a sign. */
static void
constant_unary_float(ptx_parser *parser, operator_kind op, ptx_constant *value)
{
    unsigned sign = 63;

    if (value->kind == PTX_T_F32) {
        sign = 31;
    }
    if (op == MINUS) {
        value->bits ^= (uint64_t)1 << sign;
    }
    else if (op != PLUS) {
        ptx_fail(parser, "an integer constant is needed here");
    }
}

static void
constant_unary(ptx_parser *parser, operator_kind op, ptx_constant *value)
{
    if (value->kind != PTX_T_INT) {
        constant_unary_float(parser, op, value);
        return;
    }
    switch (op) {
        case MINUS:
            value->bits = 0 - value->bits;
            break;
        case INVERT:
            value->bits = ~value->bits;
            break;
        case NOT:
            value->bits = value->bits == 0;
            value->is_unsigned = false;
            break;
        case TO_SIGNED:
            value->is_unsigned = false;
            break;
        case TO_UNSIGNED:
            value->is_unsigned = true;
            break;
        default:
            break;
    }
}

static void
constant_binary_float(ptx_parser *parser, operator_kind op, ptx_constant *a,
                      const ptx_constant *b)
{
    const double x = constant_double(a), y = constant_double(b);

    if (a->kind != PTX_T_F64 || b->kind != PTX_T_F64) {
        ptx_fail(parser, "the numbers of a constant expression differ in type");
    }
    switch (op) {
        case ADD:
            constant_set_double(a, x + y);
            break;
        case SUBTRACT:
            constant_set_double(a, x - y);
            break;
        case MULTIPLY:
            constant_set_double(a, x * y);
            break;
        case DIVIDE:
            constant_set_double(a, x / y);
            break;
        default:
            ptx_fail(parser, "an integer constant is needed here");
    }
}

/* Division of 64-bit integers. The remainder is unsigned, as the assembler has it. */
static uint64_t
constant_divide(ptx_parser *parser, operator_kind op, uint64_t x, uint64_t y,
                bool is_unsigned)
{
    if (y == 0) {
        ptx_fail(parser, "a constant expression divides by zero");
    }
    if (op == REMAINDER) {
        return x % y;
    }
    if (is_unsigned) {
        return x / y;
    }
    if (y == UINT64_MAX) {
        return 0 - x; /* the quotient may overflow */
    }
    return (uint64_t)((int64_t)x / (int64_t)y);
}

/* -1, 0 or 1. */
static int
constant_compare(uint64_t x, uint64_t y, bool is_unsigned)
{
    const uint64_t bias = (uint64_t)1 << 63;

    if (!is_unsigned) {
        x ^= bias;
        y ^= bias;
    }
    return (x > y) - (x < y);
}

static uint64_t
constant_shift_right(uint64_t x, uint64_t count, bool is_unsigned)
{
    count &= 63;
    if (is_unsigned || x >> 63 == 0) {
        return x >> count;
    }
    return ~(~x >> count);
}

/* The value of a comparison or a logical operator. */
static bool
constant_truth(operator_kind op, uint64_t x, uint64_t y, int order)
{
    switch (op) {
        case OR_ELSE:
            return x != 0 || y != 0;
        case AND_THEN:
            return x != 0 && y != 0;
        case EQUAL:
            return order == 0;
        case UNEQUAL:
            return order != 0;
        case LESS:
            return order < 0;
        case LESS_EQUAL:
            return order <= 0;
        case GREATER:
            return order > 0;
        default:
            return order >= 0;
    }
}

static void
constant_binary(ptx_parser *parser, operator_kind op, ptx_constant *a,
                const ptx_constant *b)
{
    const uint64_t x = a->bits, y = b->bits;
    const bool is_unsigned = a->is_unsigned || b->is_unsigned;

    if (a->kind != PTX_T_INT || b->kind != PTX_T_INT) {
        constant_binary_float(parser, op, a, b);
        return;
    }
    switch (op) {
        case SHIFT_LEFT: /* the type is that of the left operand */
            a->bits = x << (y & 63);
            return;
        case SHIFT_RIGHT:
            a->bits = constant_shift_right(x, y, a->is_unsigned);
            return;
        case OR:
            a->bits = x | y;
            break;
        case XOR:
            a->bits = x ^ y;
            break;
        case AND:
            a->bits = x & y;
            break;
        case ADD:
            a->bits = x + y;
            break;
        case SUBTRACT:
            a->bits = x - y;
            break;
        case MULTIPLY:
            a->bits = x * y;
            break;
        case DIVIDE:
        case REMAINDER:
            a->bits = constant_divide(parser, op, x, y, is_unsigned);
            break;
        default:
            a->bits = constant_truth(op, x, y, constant_compare(x, y, is_unsigned));
            a->is_unsigned = false;
            return;
    }
    a->is_unsigned = is_unsigned;
}

/* -- the stacks -------------------------------------------------------------------- */

static void
constant_push_operator(evaluation *e, operator_kind op)
{
    if (e->operator_count == MAX_DEPTH) {
        ptx_fail(e->parser, "a constant expression is nested too deeply");
    }
    e->operators[e->operator_count++] = (uint8_t)op;
}

static void
constant_push_value(evaluation *e, ptx_constant value)
{
    if (e->value_count == MAX_DEPTH) {
        ptx_fail(e->parser, "a constant expression is nested too deeply");
    }
    e->values[e->value_count++] = value;
}

/* Runs the operator on top. There is always a value for each of its operands. */
static void
constant_run_top(evaluation *e)
{
    const operator_kind op = e->operators[--e->operator_count];
    ptx_constant *top = &e->values[e->value_count - 1];

    if (op == QUESTION) {
        ptx_fail(e->parser, "expected ':'");
    }
    if (op == CHOOSE) {
        if (top[-2].kind != PTX_T_INT) {
            ptx_fail(e->parser, "an integer constant is needed here");
        }
        top[-2] = top[-2].bits != 0 ? top[-1] : top[0];
        e->value_count -= 2;
    }
    else if (op >= MINUS) {
        constant_unary(e->parser, op, top);
    }
    else {
        constant_binary(e->parser, op, top - 1, top);
        e->value_count--;
    }
}

/* Runs the operators on top that bind at least as closely as `rank`. */
static void
constant_run(evaluation *e, unsigned rank)
{
    while (e->operator_count > 0 && e->operators[e->operator_count - 1] != OPEN &&
           ranks[e->operators[e->operator_count - 1]] >= rank) {
        constant_run_top(e);
    }
}

/* Before a colon: runs the choices between its "?" and the colon, and removes the "?".
 */
static void
constant_run_choices(evaluation *e)
{
    while (e->operator_count > 1 && e->operators[e->operator_count - 1] == CHOOSE) {
        constant_run_top(e);
    }
    e->operator_count--;
}

/* Whether an operator waits on the stack; above a parenthesis only, if `inner`. */
static bool
constant_waits(const evaluation *e, operator_kind op, bool inner)
{
    for (unsigned i = e->operator_count; i-- > 0;) {
        if (e->operators[i] == op) {
            return true;
        }
        if (inner && e->operators[i] == OPEN) {
            return false;
        }
    }
    return false;
}

/* -- the text ---------------------------------------------------------------------- */

bool
ptx_is_constant_name(const ptx_name *name)
{
    return strcmp(name->text, "WARP_SZ") == 0;
}

/* After "(": the cast of "(.s64)" or "(.u64)", or a parenthesis. */
static operator_kind
constant_read_parenthesis(ptx_parser *parser)
{
    operator_kind cast = TO_SIGNED;

    if (parser->lexer.token.kind != PTX_T_WORD) {
        return OPEN;
    }
    if (parser->lexer.token.name->word == PTX_W_u64) {
        cast = TO_UNSIGNED;
    }
    else if (parser->lexer.token.name->word != PTX_W_s64) {
        return OPEN; /* .5 */
    }
    (void)ptx_lex_take(&parser->lexer);
    ptx_expect(parser, ')');
    return cast;
}

/* An operator before a value, or a parenthesis. */
static operator_kind
constant_read_prefix(ptx_parser *parser)
{
    if (ptx_accept(parser, '-')) {
        return MINUS;
    }
    if (ptx_accept(parser, '+')) {
        return PLUS;
    }
    if (ptx_accept(parser, '~')) {
        return INVERT;
    }
    if (ptx_accept(parser, '!')) {
        return NOT;
    }
    if (ptx_accept(parser, '(')) {
        return constant_read_parenthesis(parser);
    }
    return NO_OPERATOR;
}

static ptx_constant
constant_of_token(ptx_parser *parser, const ptx_token *token, bool after_minus)
{
    ptx_constant value = {
        .kind = token->kind, .is_unsigned = token->is_unsigned, .bits = token->bits};

    switch (token->kind) {
        case PTX_T_INT:
        case PTX_T_F32:
        case PTX_T_F64:
            return value;
        case PTX_T_WORD: /* .5 */
            if (ptx_lex_fraction(token->name->text, &value.bits)) {
                value.kind = PTX_T_F64;
                return value;
            }
            break;
        case PTX_T_NAME:
            if (ptx_is_constant_name(token->name)) {
                value.kind = PTX_T_INT;
                value.bits = 32;
                return value;
            }
            if (after_minus) {
                ptx_fail(parser, "'-' before a name");
            }
            ptx_fail(parser, "'%.100s' is no constant", token->name->text);
        default:
            break;
    }
    ptx_fail(parser, "expected an operand");
}

/* `two` if the mark comes again, `equal` if "=" comes, else `one`. */
static operator_kind
constant_read_second(ptx_parser *parser, char mark, operator_kind one,
                     operator_kind two, operator_kind equal)
{
    if (two != NO_OPERATOR && ptx_accept(parser, mark)) {
        return two;
    }
    if (equal != NO_OPERATOR && ptx_accept(parser, '=')) {
        return equal;
    }
    if (one == NO_OPERATOR) {
        ptx_fail(parser, "expected an operator");
    }
    return one;
}

/* An operator between two values. */
static operator_kind
constant_read_infix(evaluation *e)
{
    ptx_parser *parser = e->parser;
    const ptx_token *token = &parser->lexer.token;
    const char mark = token->punct;

    if (token->kind == PTX_T_NAME && strcmp(token->name->text, "%") == 0) {
        (void)ptx_lex_take(&parser->lexer);
        return REMAINDER;
    }
    if (token->kind != PTX_T_PUNCTUATION || strchr("*/+-<>=!&^|?:", mark) == NULL ||
        (mark == ':' && !constant_waits(e, QUESTION, true))) {
        return NO_OPERATOR;
    }
    (void)ptx_lex_take(&parser->lexer);
    switch (mark) {
        case '*':
            return MULTIPLY;
        case '/':
            return DIVIDE;
        case '+':
            return ADD;
        case '-':
            return SUBTRACT;
        case '<':
            return constant_read_second(parser, mark, LESS, SHIFT_LEFT, LESS_EQUAL);
        case '>':
            return constant_read_second(parser, mark, GREATER, SHIFT_RIGHT,
                                        GREATER_EQUAL);
        case '=':
            return constant_read_second(parser, mark, NO_OPERATOR, EQUAL, NO_OPERATOR);
        case '!':
            return constant_read_second(parser, mark, NO_OPERATOR, NO_OPERATOR,
                                        UNEQUAL);
        case '&':
            return constant_read_second(parser, mark, AND, AND_THEN, NO_OPERATOR);
        case '|':
            return constant_read_second(parser, mark, OR, OR_ELSE, NO_OPERATOR);
        case '^':
            return XOR;
        case '?':
            return QUESTION;
        default:
            return CHOOSE; /* after ':' */
    }
}

/* Takes an operator between two values, after the parentheses that close before it.
 * False: the expression ends. */
static bool
constant_continue(evaluation *e)
{
    operator_kind op;

    while (ptx_at(e->parser, ')') && constant_waits(e, OPEN, false)) {
        (void)ptx_lex_take(&e->parser->lexer);
        constant_run(e, 1);
        e->operator_count--;
    }
    op = constant_read_infix(e);
    if (op == NO_OPERATOR) {
        return false;
    }
    if (op == CHOOSE) {
        constant_run(e, ranks[CHOOSE] + 1u);
        constant_run_choices(e);
    }
    else if (op == QUESTION) {
        constant_run(e, ranks[QUESTION] + 1u); /* the right one binds first */
    }
    else {
        constant_run(e, ranks[op]);
    }
    constant_push_operator(e, op);
    return true;
}

ptx_constant
ptx_parse_constant_from(ptx_parser *parser, const ptx_token *first)
{
    evaluation e;

    e.parser = parser;
    e.value_count = e.operator_count = 0;
    do {
        if (first != NULL) {
            constant_push_value(&e, constant_of_token(parser, first, false));
            first = NULL;
        }
        else {
            operator_kind prefix = constant_read_prefix(parser), last = prefix;
            ptx_token token;

            while (prefix != NO_OPERATOR) {
                constant_push_operator(&e, prefix);
                last = prefix;
                prefix = constant_read_prefix(parser);
            }
            token = ptx_lex_take(&parser->lexer);
            constant_push_value(&e, constant_of_token(parser, &token, last == MINUS));
        }
    } while (constant_continue(&e));
    constant_run(&e, 1);
    if (e.operator_count > 0) {
        ptx_fail(parser, "expected ')'");
    }
    return e.values[0];
}

ptx_constant
ptx_parse_constant(ptx_parser *parser)
{
    return ptx_parse_constant_from(parser, NULL);
}

uint64_t
ptx_parse_integer(ptx_parser *parser, const char *what)
{
    const ptx_constant value = ptx_parse_constant(parser);

    if (value.kind != PTX_T_INT) {
        ptx_fail(parser, "expected %s", what);
    }
    return value.bits;
}
