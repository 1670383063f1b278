/* Lowering of branches, calls, barriers and operations between lanes. See lower.h.
 *
 * None of these may run behind a guard prefix, which changes the mask for one
 * instruction only: guarded ones are branched around. */
#include "device/compile/lower.h"
#include "device/compile/service_names.h"

#include <string.h>

/* -- branches ---------------------------------------------------------------------- */

static uint32_t
label_of(const low_func *f, const ptx_operand *operand)
{
    if (operand->kind != PTX_O_LABEL) {
        low_fail(f, "there is no label '%.100s'",
                 operand->kind == PTX_O_NAME ? operand->name->text : "?");
    }
    return operand->label;
}

static void
lower_bra(low_func *f)
{
    low_insn *insn;
    uint32_t label;

    low_operands(f, 1, 1);
    label = label_of(f, &f->in->operands[0]);
    f->plain = true;
    if (f->in->guard == PTX_NO_REG) {
        insn = low_emit(f, EMU_OP_bra, 0, 0, 0, 0);
    }
    else {
        insn = low_emit(f, EMU_OP_bra_if, 0, (f->in->guard + 1) << 1, 0, 0);
        insn->aux = f->in->guard_negated;
    }
    insn->label = label;
    f->plain = false;
}

/* brx.idx index, targets */
static void
lower_brx(low_func *f)
{
    const ptx_operand *list;
    low_value index;
    low_insn *insn;
    uint32_t skip, i;

    low_operands(f, 2, 2);
    list = &f->in->operands[1];
    if (list->kind != PTX_O_PROTO || !list->proto->is_targets) {
        low_fail(f, "the second operand is no list of targets");
    }
    skip = low_guard_begin(f);
    index = low_source(f, &f->in->operands[0], PTX_W_u32);
    insn = low_emit(f, EMU_OP_brx, 0, index, 0, 0);
    insn->aux = list->proto->target_count;
    for (i = 0; i < list->proto->target_count; i++) {
        low_add_x(f, insn, label_of(f, &list->proto->targets[i]), false);
    }
    low_guard_end(f, skip);
}

static void
lower_plain(low_func *f, unsigned op, uint32_t aux)
{
    uint32_t skip = low_guard_begin(f);

    low_emit(f, op, 0, 0, 0, 0)->aux = aux;
    low_guard_end(f, skip);
}

/* -- calls ------------------------------------------------------------------------- */

typedef struct {
    const ptx_operand *returns, *params; /* lists, or NULL */
    const ptx_operand *target;
} call_parts;

static call_parts
split_call(const low_func *f)
{
    call_parts parts = {NULL, NULL, NULL};
    unsigned at = 0;

    low_operands(f, 1, 5);
    if (f->in->operands[0].kind == PTX_O_LIST) {
        parts.returns = &f->in->operands[at++];
        low_operands(f, 2, 5);
    }
    parts.target = &f->in->operands[at++];
    if (at < f->in->operand_count && f->in->operands[at].kind == PTX_O_LIST) {
        parts.params = &f->in->operands[at];
    }
    return parts;
}

/* Fills the slots of one side of a call. Registers are numbered as they are added to
 * the instruction's further operands, results first. */
static void
fill_slots(low_func *f, const ptx_operand *list, emu_slot *slots, low_value *values,
           uint32_t *value_count, bool written)
{
    static const uint8_t bytes[PTX_CLASSES] = {0, 2, 4, 8, 16};
    uint32_t i;

    for (i = 0; list && i < list->count; i++) {
        const ptx_operand *item = &list->items[i];

        if (item->kind == PTX_O_VAR && item->var->space == PTX_SPACE_PARAM &&
            !(f->function->is_entry && item->var->is_param)) {
            slots[i].offset = (uint32_t)(item->var->address +
                                         (item->var->is_param ? 0 : f->call_base));
            slots[i].size = (uint32_t)item->var->size;
            continue;
        }
        slots[i].is_reg = true;
        slots[i].offset = *value_count;
        if (item->kind == PTX_O_REG) {
            slots[i].size = bytes[f->registers[item->reg].width];
            values[(*value_count)++] = (item->reg + 1) << 1;
        }
        else if (!written && (item->kind == PTX_O_INT || item->kind == PTX_O_F64)) {
            slots[i].size = 8;
            values[(*value_count)++] = low_constant(f, PTX_R64, item->bits);
        }
        else if (!written && item->kind == PTX_O_F32) {
            slots[i].size = 4;
            values[(*value_count)++] = low_constant(f, PTX_R32, item->bits);
        }
        else {
            low_fail(f, "a parameter is neither a register nor a .param variable");
        }
        if (!slots[i].size) {
            low_fail(f, "a predicate cannot be passed");
        }
    }
}

static const emu_func *
call_target(low_func *f, const ptx_operand *target, emu_callsite *call)
{
    const ptx_function *function = target->function;

    if (function->same) {
        function = function->same;
    }
    if (function->is_entry) {
        low_fail(f, "%s is a kernel", function->name->text);
    }
    if (!function->code) {
        call->service = emu_service_number(function->name->text);
        if (!call->service) {
            low_fail(f, "the function %s is not defined", function->name->text);
        }
        return NULL;
    }
    return function->code;
}

static void
check_service(const low_func *f, const emu_callsite *call)
{
    if (call->service != EMU_SERVICE_NONE &&
        call->param_count < emu_service_parameters(call->service)) {
        low_fail(f, "too few parameters");
    }
}

static void
lower_call(low_func *f)
{
    const call_parts parts = split_call(f);
    emu_callsite *call = emu_arena_get(f->load, &f->load->keep, 1, sizeof *call);
    const uint32_t returns = parts.returns ? parts.returns->count : 0;
    const uint32_t params = parts.params ? parts.params->count : 0;
    emu_slot *slots =
        emu_arena_get(f->load, &f->load->keep, returns + params, sizeof *slots);
    low_value *values =
        emu_arena_get(f->load, &f->load->scratch, returns + params, sizeof *values);
    uint32_t count = 0, written, skip, i;
    low_value to = 0;
    low_insn *insn;

    skip = low_guard_begin(f);
    call->return_count = returns;
    call->param_count = params;
    call->returns = slots;
    call->params = slots + returns;
    fill_slots(f, parts.returns, slots, values, &count, true);
    written = count;
    fill_slots(f, parts.params, slots + returns, values, &count, false);
    if (parts.target->kind == PTX_O_FUNCTION) {
        call->func = call_target(f, parts.target, call);
        check_service(f, call);
        if (call->func && (call->func->param_count != params ||
                           call->func->return_count != returns)) {
            low_fail(f, "%s takes %u parameters and gives %u results", call->func->name,
                     call->func->param_count, call->func->return_count);
        }
        insn = low_emit(f, call->func ? EMU_OP_call : EMU_OP_service, 0, 0, 0, 0);
    }
    else {
        to = low_source(f, parts.target, PTX_W_u64);
        insn = low_emit(f, EMU_OP_call_to, 0, to, 0, 0);
    }
    insn->call = call;
    for (i = 0; i < count; i++) {
        low_add_x(f, insn, values[i], i < written);
    }
    low_guard_end(f, skip);
}

/* -- barriers ---------------------------------------------------------------------- */

/* All threads of a warp must reach it together. */
static bool
is_aligned(const low_func *f)
{
    return f->in->opcode == PTX_OP_bar || low_has(f, PTX_W_aligned);
}

/* What an assembler refuses of a barrier's number and count. */
static void
check_barrier(const low_func *f, const ptx_operand *number, const ptx_operand *count)
{
    if (number->kind == PTX_O_INT && number->bits >= EMU_BARRIERS) {
        low_fail(f, "barrier %llu: there are 16, from 0 on",
                 (unsigned long long)number->bits);
    }
    if (count && count->kind == PTX_O_INT && count->bits % EMU_LANES) {
        low_fail(f, "a count of %llu threads, which is no multiple of 32",
                 (unsigned long long)count->bits);
    }
}

static void
barrier_red(low_func *f)
{
    const bool popc = low_has(f, PTX_W_popc);
    const unsigned count = f->in->operand_count;
    const ptx_operand *operands = f->in->operands;
    low_value d, a, b, p;
    low_insn *insn;

    low_operands(f, 3, 4);
    d = low_target(f, &operands[0], popc ? PTX_R32 : PTX_PRED);
    a = low_source(f, &operands[1], PTX_W_u32);
    b = count == 4 ? low_source(f, &operands[2], PTX_W_u32) : 0;
    check_barrier(f, &operands[1], count == 4 ? &operands[2] : NULL);
    p = low_predicate(f, &operands[count - 1]);
    insn = low_emit(f, EMU_OP_bar_red, d, a, b, p);
    insn->aux = popc ? 2 : low_has(f, PTX_W_or) ? 1 : 0;
    insn->imm = (count == 4) | (is_aligned(f) ? 2 : 0);
    insn->e = LOW_NUMBER(0);
}

static void
lower_bar(low_func *f)
{
    const ptx_operand *operands = f->in->operands;
    const uint32_t skip = low_guard_begin(f);
    low_insn *insn;

    if (low_has(f, PTX_W_warp)) {
        low_operands(f, 1, 1);
        insn = low_emit(f, EMU_OP_bar_warp, 0, low_source(f, &operands[0], PTX_W_u32),
                        0, 0);
        insn->imm = 1;
    }
    else if (low_has(f, PTX_W_cluster)) {
        /* a cluster has one block; arriving and waiting are one with the block's
         * barrier */
        if (!low_has(f, PTX_W_arrive)) {
            low_emit(f, EMU_OP_bar_sync, 0, low_constant(f, PTX_R32, EMU_BARRIERS - 1),
                     0, 0);
        }
    }
    else if (low_has(f, PTX_W_red)) {
        barrier_red(f);
    }
    else {
        const bool arrive = low_has(f, PTX_W_arrive);
        low_value a, b;

        low_operands(f, arrive ? 2 : 1, 2);
        check_barrier(f, &operands[0], f->in->operand_count == 2 ? &operands[1] : NULL);
        a = low_source(f, &operands[0], PTX_W_u32);
        b = f->in->operand_count == 2 ? low_source(f, &operands[1], PTX_W_u32) : 0;
        insn = low_emit(f, arrive ? EMU_OP_bar_arrive : EMU_OP_bar_sync, 0, a, b, 0);
        insn->imm = (f->in->operand_count == 2) | (is_aligned(f) ? 2 : 0);
        insn->aux = is_aligned(f); /* for check.h */
    }
    low_guard_end(f, skip);
}

/* -- operations between lanes ------------------------------------------------------ */

static void
lower_shfl(low_func *f)
{
    static const uint16_t modes[] = {PTX_W_up, PTX_W_down, PTX_W_bfly, PTX_W_idx};
    const bool sync = low_has(f, PTX_W_sync);
    const ptx_operand *operands = f->in->operands;
    const uint32_t skip = low_guard_begin(f);
    low_value d, e = 0, a, b, c, mask = 0;
    low_insn *insn;
    uint32_t mode;

    low_operands(f, sync ? 5 : 4, sync ? 5 : 4);
    for (mode = 0; mode < 4 && !low_has(f, modes[mode]); mode++) {
    }
    if (mode == 4 || ptx_type_size(low_type(f, 0)) != 4) {
        low_unsupported(f);
    }
    d = low_target(f, &operands[0], PTX_R32);
    if (f->in->second) {
        e = low_target(f, f->in->second, PTX_PRED);
    }
    a = low_source(f, &operands[1], PTX_W_b32);
    b = low_source(f, &operands[2], PTX_W_b32);
    c = low_source(f, &operands[3], PTX_W_b32);
    if (sync) {
        mask = low_source(f, &operands[4], PTX_W_b32);
    }
    insn = low_emit(f, EMU_OP_shfl, d, a, b, c);
    insn->e = e;
    insn->aux = mode | (e ? 0 : 4);
    insn->imm = sync;
    if (sync) {
        low_add_x(f, insn, mask, false);
    }
    low_guard_end(f, skip);
}

static void
lower_vote(low_func *f)
{
    static const uint16_t modes[] = {PTX_W_all, PTX_W_any, PTX_W_uni, PTX_W_ballot};
    const bool sync = low_has(f, PTX_W_sync);
    const ptx_operand *operands = f->in->operands;
    const uint32_t skip = low_guard_begin(f);
    low_value d, a, mask = 0;
    low_insn *insn;
    uint32_t mode;

    low_operands(f, sync ? 3 : 2, sync ? 3 : 2);
    for (mode = 0; mode < 4 && !low_has(f, modes[mode]); mode++) {
    }
    if (mode == 4) {
        low_unsupported(f);
    }
    d = low_target(f, &operands[0], mode == 3 ? PTX_R32 : PTX_PRED);
    a = low_predicate(f, &operands[1]);
    if (sync) {
        mask = low_source(f, &operands[2], PTX_W_b32);
    }
    insn = low_emit(f, EMU_OP_vote, d, a, mask, 0);
    insn->aux = mode;
    insn->imm = sync;
    low_guard_end(f, skip);
}

static void
lower_match(low_func *f)
{
    const unsigned type = low_type(f, 0);
    const bool all = low_has(f, PTX_W_all);
    const ptx_operand *operands = f->in->operands;
    const uint32_t skip = low_guard_begin(f);
    low_value d, e = 0, a, mask;
    low_insn *insn;

    low_operands(f, 3, 3);
    if (type != PTX_W_b32 && type != PTX_W_b64) {
        low_unsupported(f);
    }
    d = low_target(f, &operands[0], PTX_R32);
    if (f->in->second) {
        e = low_target(f, f->in->second, PTX_PRED);
    }
    a = low_source(f, &operands[1], type);
    mask = low_source(f, &operands[2], PTX_W_b32);
    insn = low_emit(f, EMU_OP_match, d, a, mask, 0);
    insn->e = e;
    insn->aux = (all ? 1 : 0) | (type == PTX_W_b64 ? 2 : 0) | (e ? 0 : 4);
    insn->imm = 1;
    low_guard_end(f, skip);
}

static void
lower_redux(low_func *f)
{
    static const uint16_t words[] = {PTX_W_add, PTX_W_min, PTX_W_max,
                                     PTX_W_and, PTX_W_or,  PTX_W_xor};
    const unsigned type = low_type(f, 0);
    const uint32_t skip = low_guard_begin(f);
    low_value d, a, mask;
    low_insn *insn;
    uint32_t which;

    low_operands(f, 3, 3);
    for (which = 0; which < 6 && !low_has(f, words[which]); which++) {
    }
    if (which == 6 || ptx_type_size(type) != 4 || ptx_type_is_float(type)) {
        low_unsupported(f);
    }
    d = low_target(f, &f->in->operands[0], PTX_R32);
    a = low_source(f, &f->in->operands[1], type);
    mask = low_source(f, &f->in->operands[2], PTX_W_b32);
    insn = low_emit(f, EMU_OP_redux, d, a, mask, 0);
    insn->aux = which | (type == PTX_W_s32 ? 8 : 0);
    insn->imm = 1;
    low_guard_end(f, skip);
}

static void
lower_elect(low_func *f)
{
    const uint32_t skip = low_guard_begin(f);
    low_value d, mask;
    low_insn *insn;

    low_operands(f, 2, 2);
    if (!f->in->second) {
        low_unsupported(f);
    }
    d = low_target(f, &f->in->operands[0], PTX_R32);
    mask = low_source(f, &f->in->operands[1], PTX_W_b32);
    insn = low_emit(f, EMU_OP_elect, d, mask, 0, 0);
    insn->e = low_target(f, f->in->second, PTX_PRED);
    insn->imm = 1;
    low_guard_end(f, skip);
}

bool
low_flow(low_func *f)
{
    switch (f->in->opcode) {
        case PTX_OP_bra:
            lower_bra(f);
            return true;
        case PTX_OP_brx:
            lower_brx(f);
            return true;
        case PTX_OP_call:
            lower_call(f);
            return true;
        case PTX_OP_ret:
            lower_plain(f, EMU_OP_ret, 0);
            return true;
        case PTX_OP_exit:
            lower_plain(f, EMU_OP_exit, 0);
            return true;
        case PTX_OP_trap:
            lower_plain(f, EMU_OP_trap, 1);
            return true;
        case PTX_OP_brkpt:
        case PTX_OP_pmevent:
        case PTX_OP_griddepcontrol:
        case PTX_OP_setmaxnreg:
            return true; /* of no effect here */
        case PTX_OP_nanosleep:
            lower_plain(f, EMU_OP_yield, 0);
            return true;
        case PTX_OP_membar:
        case PTX_OP_fence:
            low_emit(f, EMU_OP_fence, 0, 0, 0, 0);
            return true;
        case PTX_OP_bar:
        case PTX_OP_barrier:
            lower_bar(f);
            return true;
        case PTX_OP_shfl:
            lower_shfl(f);
            return true;
        case PTX_OP_vote:
            lower_vote(f);
            return true;
        case PTX_OP_activemask:
            low_operands(f, 1, 1);
            low_emit(f, EMU_OP_activemask, low_target(f, &f->in->operands[0], PTX_R32),
                     0, 0, 0);
            return true;
        case PTX_OP_match:
            lower_match(f);
            return true;
        case PTX_OP_redux:
            lower_redux(f);
            return true;
        case PTX_OP_elect:
            lower_elect(f);
            return true;
        default:
            return false;
    }
}
