/* Operands of PTX instructions. See parser.h. */
#include "device/ptx/parser.h"

#include <string.h>

/* -- names ------------------------------------------------------------------------- */

/* The innermost range with this prefix and this index, or NULL. */
static ptx_binding *
operand_range_of(const ptx_name *prefix, uint64_t index)
{
    ptx_binding *binding;

    if (prefix == NULL) {
        return NULL;
    }
    binding = prefix->binding;
    while (binding != NULL &&
           (binding->kind != PTX_B_RANGE || index >= binding->range->count)) {
        binding = binding->outer;
    }
    return binding;
}

/* The range of a name such as %r12, which %r<45> declares. The prefix itself may end in
 * digits. */
static ptx_binding *
operand_find_range(ptx_parser *parser, const ptx_name *name, uint32_t *index)
{
    uint64_t value = 0, scale = 1;
    size_t size = name->size;
    unsigned digits = 0;

    while (size > 1 && digits < 10 && name->text[size - 1] >= '0' &&
           name->text[size - 1] <= '9') {
        bool zero = name->text[size - 1] == '0';
        const ptx_name *prefix;
        ptx_binding *binding;

        value += (uint64_t)(name->text[size - 1] - '0') * scale;
        scale *= 10;
        size--;
        digits++;
        if (zero && digits > 1) {
            /* an index does not begin with a zero, but may have one inside */
            if (size == 1 || name->text[size - 1] < '0' || name->text[size - 1] > '9') {
                return NULL;
            }
            continue;
        }
        prefix = ptx_names_get(parser->load, parser->names, name->text, size, false);
        binding = operand_range_of(prefix, value);
        if (binding != NULL) {
            *index = (uint32_t)value;
            return binding;
        }
    }
    return NULL;
}

/* The number of a register of a range. Its first use makes the register. */
static uint32_t
operand_range_reg(ptx_parser *parser, const ptx_binding *binding, uint32_t index)
{
    const ptx_range *range = binding->range;
    uint32_t **page = &range->pages[index / range->page_size];
    uint32_t *id;

    if (*page == NULL) {
        *page = emu_arena_get(parser->load, &parser->load->scratch, range->page_size,
                              sizeof **page);
    }
    id = &(*page)[index % range->page_size];
    if (*id == 0) {
        *id = ptx_new_regs(parser, range->type, binding->lanes) + 1;
    }
    return *id - 1;
}

ptx_binding *
ptx_find_reg(ptx_parser *parser, ptx_name *name, uint32_t *reg)
{
    ptx_binding *binding = name->binding;
    uint32_t index;

    while (binding != NULL && binding->kind == PTX_B_RANGE) {
        binding = binding->outer; /* %r<9> does not declare %r itself */
    }
    if (binding != NULL && binding->kind == PTX_B_REG) {
        *reg = binding->reg;
        return binding;
    }
    if (binding != NULL) {
        return NULL;
    }
    binding = operand_find_range(parser, name, &index);
    if (binding == NULL) {
        return NULL;
    }
    *reg = operand_range_reg(parser, binding, index);
    return binding;
}

/* Finds the special register of a name such as %tid, without a suffix such as .x. */
static bool
operand_find_special(const char *text, uint16_t *word)
{
    /* clang-format off */
#define SPECIAL_ROW(name) #name,
    static const char *const specials[] = {PTX_SPECIALS(SPECIAL_ROW)};
#undef SPECIAL_ROW
    /* clang-format on */
    if (text[0] != '%') {
        return false;
    }
    text++;
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        if (strcmp(text, specials[i]) == 0) {
            *word = (uint16_t)i;
            return true;
        }
    }
    if (strncmp(text, "envreg", 6) == 0 && text[6] >= '0' && text[6] <= '9') {
        unsigned i = 6, number = 0;

        for (; text[i] >= '0' && text[i] <= '9' && i < 9; i++) {
            number = number * 10 + (unsigned)(text[i] - '0');
        }
        if (text[i] == 0 && number < 32) {
            *word = (uint16_t)(PTX_S_envreg + number);
            return true;
        }
    }
    if (strncmp(text, "pm", 2) == 0 && text[2] >= '0' && text[2] <= '7') {
        *word = (uint16_t)(PTX_S_pm + (unsigned)(text[2] - '0'));
        return true;
    }
    return false;
}

/* The element of a vector that .x or .r and so on names; -1 for another word. */
static int
operand_lane_of(unsigned word)
{
    switch (word) {
        case PTX_W_x:
        case PTX_W_r:
            return 0;
        case PTX_W_y:
        case PTX_W_g:
            return 1;
        case PTX_W_z:
        case PTX_W_b:
            return 2;
        case PTX_W_w:
        case PTX_W_a:
            return 3;
        default:
            return -1;
    }
}

/* Whether a special register is a vector. */
static bool
operand_has_parts(unsigned word)
{
    return word == PTX_S_tid || word == PTX_S_ntid || word == PTX_S_ctaid ||
           word == PTX_S_nctaid || word == PTX_S_clusterid ||
           word == PTX_S_nclusterid || word == PTX_S_cluster_ctaid ||
           word == PTX_S_cluster_nctaid;
}

static ptx_operand *
operand_new_operands(ptx_parser *parser, size_t count)
{
    return emu_arena_get(parser->load, &parser->load->scratch, count,
                         sizeof(ptx_operand));
}

/* A register. Of a vector register: the element that a word names, or all of them. */
static void
operand_read_register(ptx_parser *parser, const ptx_binding *binding, uint32_t reg,
                      ptx_operand *operand)
{
    operand->kind = PTX_O_REG;
    operand->reg = reg;
    if (binding->lanes <= 1) {
        return;
    }
    if (parser->lexer.token.kind == PTX_T_WORD) {
        int lane = operand_lane_of(ptx_lex_take(&parser->lexer).name->word);

        if (lane < 0 || (uint32_t)lane >= binding->lanes) {
            ptx_fail(parser, "no such element of a vector");
        }
        operand->reg = reg + (uint32_t)lane;
        return;
    }
    operand->kind = PTX_O_VECTOR;
    operand->count = binding->lanes;
    operand->items = operand_new_operands(parser, binding->lanes);
    for (uint32_t i = 0; i < binding->lanes; i++) {
        operand->items[i].kind = PTX_O_REG;
        operand->items[i].reg = reg + i;
    }
}

static void
operand_read_special(ptx_parser *parser, ptx_operand *operand)
{
    const bool parts = operand_has_parts(operand->word);
    int lane = 0;

    operand->kind = PTX_O_SPECIAL;
    if (parser->lexer.token.kind == PTX_T_WORD) {
        lane = operand_lane_of(ptx_lex_take(&parser->lexer).name->word);
        if (lane < 0 || !parts) {
            ptx_fail(parser, "no such part of a special register");
        }
    }
    else if (parts) { /* all of it */
        const uint16_t word = operand->word;

        operand->kind = PTX_O_VECTOR;
        operand->count = 4;
        operand->items = operand_new_operands(parser, operand->count);
        for (uint32_t i = 0; i < operand->count; i++) {
            operand->items[i].kind = PTX_O_SPECIAL;
            operand->items[i].word = word;
            operand->items[i].bits = i;
        }
        return;
    }
    operand->bits = (uint64_t)lane;
}

/* Adds the use of a label to its scope, which resolves it at its end. */
static void
operand_defer_label(ptx_parser *parser, ptx_operand *operand)
{
    ptx_label_use *use =
        emu_arena_get(parser->load, &parser->load->scratch, 1, sizeof *use);

    use->operand = operand;
    use->next = parser->scopes[parser->depth].uses;
    parser->scopes[parser->depth].uses = use;
}

static void
operand_read_name(ptx_parser *parser, ptx_name *name, ptx_operand *operand)
{
    uint32_t reg = 0;
    ptx_binding *binding = ptx_find_reg(parser, name, &reg);

    if (binding != NULL) {
        operand_read_register(parser, binding, reg, operand);
        return;
    }
    binding = name->binding;
    if (binding != NULL && binding->kind == PTX_B_VAR) {
        operand->kind = PTX_O_VAR;
        operand->var = binding->var;
    }
    else if (binding != NULL && binding->kind == PTX_B_FUNCTION) {
        operand->kind = PTX_O_FUNCTION;
        operand->function = binding->function;
    }
    else if (binding != NULL && binding->kind == PTX_B_PROTOTYPE) {
        operand->kind = PTX_O_PROTOTYPE;
        operand->proto = binding->proto;
    }
    else if (operand_find_special(name->text, &operand->word)) {
        operand_read_special(parser, operand);
    }
    else if (strcmp(name->text, "_") == 0) {
        operand->kind = PTX_O_SINK;
    }
    else {
        operand->kind = PTX_O_NAME;
        operand->name = name;
    }
}

/* -- operands ---------------------------------------------------------------------- */

/* A constant expression, or one of which the first number has been taken. */
static void
operand_read_constant(ptx_parser *parser, const ptx_token *first, ptx_operand *operand)
{
    const ptx_constant constant = ptx_parse_constant_from(parser, first);

    operand->bits = constant.bits;
    operand->kind = PTX_O_INT;
    if (constant.kind == PTX_T_F32) {
        operand->kind = PTX_O_F32;
    }
    else if (constant.kind == PTX_T_F64) {
        operand->kind = PTX_O_F64;
    }
}

/* + number or - number behind a register or symbol. */
static void
operand_read_offset(ptx_parser *parser, ptx_operand *operand)
{
    if (ptx_accept(parser, '+')) {
        operand->bits = ptx_parse_integer(parser, "an offset");
    }
    else if (ptx_accept(parser, '-')) { /* the assembler only knows + -4 */
        if (ptx_accept(parser, '-')) {
            operand->bits = ptx_expect_int(parser, "an offset");
        }
        else {
            operand->bits = 0 - ptx_expect_int(parser, "an offset");
        }
    }
}

/* array[2], array[%r], array[%r + 2], after the bracket. */
static void
operand_read_index(ptx_parser *parser, ptx_operand *operand)
{
    ptx_operand *items = operand_new_operands(parser, 2), *index = &items[1];

    items[0] = *operand;
    operand->kind = PTX_O_ELEMENT;
    operand->items = items;
    operand->count = 2;
    if (parser->lexer.token.kind == PTX_T_NAME &&
        !ptx_is_constant_name(parser->lexer.token.name)) {
        operand_read_name(parser, ptx_lex_take(&parser->lexer).name, index);
        operand_read_offset(parser, index);
        if (index->kind != PTX_O_REG) {
            ptx_fail(parser,
                     "the index of an array is neither a register nor a "
                     "constant");
        }
    }
    else {
        operand_read_constant(parser, NULL, index);
        if (index->kind != PTX_O_INT) {
            ptx_fail(parser, "the index of an array is no integer");
        }
    }
    ptx_expect(parser, ']');
}

/* Takes '-' if a name follows, not a number. */
static bool
operand_accept_minus(ptx_parser *parser)
{
    const ptx_lexer before = parser->lexer;

    if (!ptx_accept(parser, '-')) {
        return false;
    }
    if (parser->lexer.token.kind == PTX_T_NAME &&
        !ptx_is_constant_name(parser->lexer.token.name)) {
        return true;
    }
    parser->lexer = before;
    return false;
}

/* A register, constant, symbol, symbol + number, or element of an array, without
 * brackets. */
static void
parse_simple(ptx_parser *parser, ptx_operand *operand)
{
    ptx_token token;

    if (ptx_accept(parser, '!')) { /* before a predicate, or a number */
        operand->negated = true;
    }
    operand->minus = operand_accept_minus(parser);
    token = parser->lexer.token;
    if (token.kind != PTX_T_NAME || ptx_is_constant_name(token.name)) {
        operand_read_constant(parser, NULL, operand);
        if (operand->negated && operand->kind == PTX_O_INT) {
            operand->negated = false;
            operand->bits = operand->bits == 0;
        }
        return;
    }
    (void)ptx_lex_take(&parser->lexer);
    operand_read_name(parser, token.name, operand);
    if (operand->kind == PTX_O_VAR && ptx_accept(parser, '[')) {
        operand_read_index(parser, operand);
    }
    else if (operand->kind == PTX_O_VAR || operand->kind == PTX_O_NAME ||
             operand->kind == PTX_O_REG) {
        operand_read_offset(parser, operand);
    }
}

static void
operand_check_sign(ptx_parser *parser, const ptx_operand *operand)
{
    if (operand->minus) {
        ptx_fail(parser, "'-' before a name");
    }
}

/* Replaces items[count], a vector register, by its elements. Only a list of parameters
 * may have one. Returns the new count. */
static uint32_t
operand_add_elements(ptx_parser *parser, char close, ptx_operand *items, uint32_t count)
{
    const ptx_operand vector = items[count];

    if (close != ')') {
        ptx_fail(parser, "a vector within a vector");
    }
    memcpy(&items[count], vector.items, vector.count * sizeof *items);
    return count + vector.count;
}

/* {a, b, ...} or (a, b, ...), after the opening mark. An item is never a list. */
static void
parse_items(ptx_parser *parser, char close, ptx_operand *operand)
{
    ptx_operand *items;
    uint32_t count = 0, room = PTX_MAX_ITEMS / 16;

    items = operand_new_operands(parser, room);
    while (!ptx_accept(parser, close)) {
        if (count >= PTX_MAX_ITEMS - PTX_MAX_LANES) {
            ptx_fail(parser, "too many operands in a list");
        }
        if (count > room - PTX_MAX_LANES && room < PTX_MAX_ITEMS) {
            ptx_operand *more = operand_new_operands(parser, PTX_MAX_ITEMS);

            memcpy(more, items, count * sizeof *items);
            items = more;
            room = PTX_MAX_ITEMS;
        }
        parse_simple(parser, &items[count]);
        if (items[count].kind == PTX_O_REG && items[count].bits != 0) {
            ptx_fail(parser, "a register in a list has an offset");
        }
        if (items[count].kind == PTX_O_ELEMENT) {
            ptx_fail(parser, "an element of an array in a list");
        }
        operand_check_sign(parser, &items[count]);
        if (items[count].kind == PTX_O_VECTOR) {
            count = operand_add_elements(parser, close, items, count);
        }
        else {
            count++;
        }
        if (!ptx_at(parser, close)) {
            ptx_expect(parser, ',');
        }
    }
    operand->items = items;
    operand->count = count;
}

/* [base + offset, {coordinates}, ...], after the bracket. */
static void
parse_address(ptx_parser *parser, ptx_operand *operand)
{
    operand->kind = PTX_O_ADDRESS;
    operand->items = operand_new_operands(parser, 4);
    while (!ptx_accept(parser, ']')) {
        ptx_operand *item;

        if (operand->count == 4) {
            ptx_fail(parser, "too many parts in an address");
        }
        item = &operand->items[operand->count++];
        if (ptx_accept(parser, '{')) {
            item->kind = PTX_O_VECTOR;
            parse_items(parser, '}', item);
        }
        else {
            parse_simple(parser, item);
            operand_check_sign(parser, item);
        }
        if (!ptx_at(parser, ']')) {
            ptx_expect(parser, ',');
        }
    }
    if (operand->count == 0) {
        ptx_fail(parser, "an address is empty");
    }
}

/* A parenthesis begins a list in calls, a constant in other instructions. */
static void
parse_operand(ptx_parser *parser, bool with_list, ptx_operand *operand)
{
    if (ptx_accept(parser, '{')) {
        operand->kind = PTX_O_VECTOR;
        parse_items(parser, '}', operand);
    }
    else if (with_list && ptx_accept(parser, '(')) {
        operand->kind = PTX_O_LIST;
        parse_items(parser, ')', operand);
    }
    else if (ptx_accept(parser, '[')) {
        parse_address(parser, operand);
    }
    else {
        parse_simple(parser, operand);
    }
}

/* Whether the opcode has operands with selectors. */
static bool
operand_may_select(unsigned opcode)
{
    switch (opcode) {
        case PTX_OP_vadd:
        case PTX_OP_vsub:
        case PTX_OP_vabsdiff:
        case PTX_OP_vmin:
        case PTX_OP_vmax:
        case PTX_OP_vshl:
        case PTX_OP_vshr:
        case PTX_OP_vset:
        case PTX_OP_vmad:
            return true;
        default:
            return opcode >= PTX_OP_vadd4 && opcode <= PTX_OP_vset2;
    }
}

/* Reads .b3, .h10 and so on after an operand, and [address].unified, which changes
 * nothing. */
static void
operand_read_selector(ptx_parser *parser, const char *opcode, const ptx_insn *insn,
                      ptx_operand *operand)
{
    ptx_selector *s = &operand->selector;
    const char *text;

    if (parser->lexer.token.kind != PTX_T_WORD) {
        return;
    }
    text = parser->lexer.token.name->text;
    if (operand->kind == PTX_O_ADDRESS && insn->opcode == PTX_OP_ld &&
        strcmp(text, "unified") == 0) {
        (void)ptx_lex_take(&parser->lexer);
        return;
    }
    s->letter = text[0];
    for (text++; *text >= '0' && *text <= '7' && s->count < 4; text++) {
        s->digits[s->count++] = (uint8_t)(*text - '0');
    }
    if (!operand_may_select(insn->opcode) || operand->kind == PTX_O_ADDRESS ||
        (s->letter != 'b' && s->letter != 'h') || s->count == 0 || *text != 0) {
        ptx_fail(parser,
                 "the software device has no selector '.%.20s' for an operand of "
                 "'%.100s'",
                 parser->lexer.token.name->text, opcode);
    }
    (void)ptx_lex_take(&parser->lexer);
}

void
ptx_parse_operands(ptx_parser *parser, const char *opcode, ptx_insn *insn)
{
    ptx_operand operands[PTX_MAX_OPERANDS];
    const bool with_list = insn->opcode == PTX_OP_call;
    unsigned count = 0;

    memset(operands, 0, sizeof operands);
    while (!ptx_accept(parser, ';')) {
        if (count == PTX_MAX_OPERANDS) {
            ptx_fail(parser, "too many operands");
        }
        parse_operand(parser, with_list, &operands[count++]);
        if (ptx_accept(parser, '|')) {
            insn->second = operand_new_operands(parser, 1);
            parse_operand(parser, with_list, insn->second);
        }
        operand_read_selector(parser, opcode, insn, &operands[count - 1]);
        if (insn->opcode != PTX_OP_vmad) {
            operand_check_sign(parser, &operands[count - 1]);
        }
        if (!ptx_at(parser, ';')) {
            ptx_expect(parser, ',');
        }
    }
    insn->operand_count = (uint8_t)count;
    insn->operands = operand_new_operands(parser, count);
    memcpy(insn->operands, operands, count * sizeof *operands);
    if (insn->opcode == PTX_OP_bra || insn->opcode == PTX_OP_brx) {
        for (unsigned i = 0; i < count; i++) {
            ptx_operand *operand = &insn->operands[i];

            if (operand->kind == PTX_O_NAME) {
                operand_defer_label(parser, operand);
            }
        }
    }
}

void
ptx_parse_label_list(ptx_parser *parser, ptx_proto *proto)
{
    size_t room = 0, count = 0;
    ptx_operand *targets = NULL;

    do {
        ptx_name *name = ptx_expect_name(parser, "a target");

        targets = emu_arena_grow(parser->load, targets, count, &room, sizeof *targets);
        memset(&targets[count], 0, sizeof *targets);
        targets[count].kind = PTX_O_NAME;
        targets[count].name = name;
        count++;
    } while (ptx_accept(parser, ','));
    ptx_expect(parser, ';');
    for (size_t i = 0; i < count; i++) {
        operand_defer_label(parser, &targets[i]);
    }
    proto->targets = targets;
    proto->target_count = (uint32_t)count;
}
