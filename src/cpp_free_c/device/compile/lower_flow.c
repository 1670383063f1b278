/* Lowering of branches, calls and barriers. See lower.h.
 *
 * None of these may run under a guard prefix, which changes the mask for one
 * instruction only. So a guarded one becomes a branch around the operation
 * (low_guard_begin). */
#include "device/compile/lower.h"

#include "device/compile/runtime.h"

/* -- branches, calls, barriers ----------------------------------------------------- */

/* -- branches ---------------------------------------------------------------------- */

static uint32_t
flow_label_of(const low_func *f, const ptx_operand *operand)
{
    if (operand->kind != PTX_O_LABEL) {
        const char *name = "?";

        if (operand->kind == PTX_O_NAME) {
            name = operand->name->text;
        }
        low_fail(f, "there is no label '%.100s'", name);
    }
    return operand->label;
}

void
low_bra(low_func *f)
{
    low_insn *insn;
    uint32_t label;

    low_check_operand_count(f, 1, 1);
    label = flow_label_of(f, &f->in->operands[0]);
    f->plain = true;
    if (f->in->guard == PTX_NO_REG) {
        insn = low_emit(f, f->ops[0], 0, 0, 0, 0);
    }
    else {
        insn = low_emit(f, f->ops[1], 0, LOW_REGISTER(f->in->guard), 0, 0);
        insn->aux = f->in->guard_negated;
    }
    insn->label = label;
    if (f->in->guard != PTX_NO_REG && f->is_passed[label]) {
        /* Lanes that leave a loop one after the other meet here. */
        low_emit(f, EMU_OP_label, 0, 0, 0, 0)->label = f->label_count++;
    }
    f->plain = false;
}

/* brx.idx index, targets */
void
low_brx(low_func *f)
{
    const ptx_operand *list;
    low_value index;
    low_insn *insn;
    uint32_t skip;

    low_check_operand_count(f, 2, 2);
    list = &f->in->operands[1];
    if (list->kind != PTX_O_PROTOTYPE || !list->proto->is_targets) {
        low_fail(f, "the second operand is not a list of targets");
    }
    skip = low_guard_begin(f);
    index = low_source(f, &f->in->operands[0], PTX_W_u32);
    insn = low_emit(f, EMU_OP_brx, 0, index, 0, 0);
    insn->aux = list->proto->target_count;
    for (uint32_t i = 0; i < list->proto->target_count; i++) {
        low_add_x(f, insn, flow_label_of(f, &list->proto->targets[i]), false);
    }
    low_guard_end(f, skip);
}

/* The row's operation, without operands. */
static void
flow_unguarded(low_func *f, uint32_t aux)
{
    const uint32_t skip = low_guard_begin(f);

    low_emit(f, f->ops[0], 0, 0, 0, 0)->aux = aux;
    low_guard_end(f, skip);
}

/* ret, exit, nanosleep */
void
low_unguarded(low_func *f)
{
    flow_unguarded(f, 0);
}

void
low_trap(low_func *f)
{
    flow_unguarded(f, 1);
}

/* membar, fence */
void
low_fence(low_func *f)
{
    low_emit(f, f->ops[0], 0, 0, 0, 0)->aux = low_fence_scope(f);
}

/* Opcodes without effect on the software device: hints. */
void
low_nothing(low_func *f)
{
    (void)f;
}

/* setmaxnreg: registers are not counted here. */
void
low_setmaxnreg(low_func *f)
{
    low_need_specific_target(f);
}

/* -- calls ------------------------------------------------------------------------- */

typedef struct {
    const ptx_operand *returns, *params; /* lists, or NULL */
    const ptx_operand *target;
} call_parts;

static call_parts
flow_split_call(const low_func *f)
{
    call_parts parts = {NULL, NULL, NULL};
    unsigned at = 0;

    low_check_operand_count(f, 1, 5);
    if (f->in->operands[0].kind == PTX_O_LIST) {
        parts.returns = &f->in->operands[at++];
        low_check_operand_count(f, 2, 5);
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
flow_fill_slots(low_func *f, const ptx_operand *list, emu_slot *slots,
                low_value *values, uint32_t *value_count, bool written)
{
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        const ptx_operand *item = &list->items[i];

        if (item->kind == PTX_O_VAR && item->var->space == PTX_SPACE_PARAM &&
            !(f->function->is_entry && item->var->is_param)) {
            slots[i].offset = (uint32_t)item->var->address;
            if (!item->var->is_param) {
                slots[i].offset += (uint32_t)f->call_base;
            }
            slots[i].size = (uint32_t)item->var->size;
            continue;
        }
        slots[i].is_reg = true;
        slots[i].offset = *value_count;
        if (item->kind == PTX_O_REG) {
            slots[i].size = ptx_class_bytes(f->registers[item->reg].width);
            values[(*value_count)++] = LOW_REGISTER(item->reg);
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
        if (slots[i].size == 0) {
            low_fail(f, "a predicate cannot be passed");
        }
    }
}

/* The function that a call names. Returns NULL for a service and sets its number. */
static const emu_func *
flow_call_target(low_func *f, const ptx_operand *target, emu_callsite *call)
{
    const ptx_function *function = target->function;

    if (function->same != NULL) {
        function = function->same;
    }
    if (function->is_entry) {
        low_fail(f, "%s is a kernel", function->name->text);
    }
    if (function->code == NULL) {
        call->service = emu_service_number(function->name->text);
        if (call->service == EMU_SERVICE_NONE) {
            low_fail(f, "the function %s is not defined", function->name->text);
        }
        return NULL;
    }
    return function->code;
}

static void
flow_check_service(const low_func *f, const emu_callsite *call)
{
    if (call->service != EMU_SERVICE_NONE &&
        call->param_count < emu_service_parameters(call->service)) {
        low_fail(f, "too few parameters");
    }
}

static uint32_t
flow_list_count(const ptx_operand *list)
{
    if (list == NULL) {
        return 0;
    }
    return list->count;
}

/* A call of a function or service by name. */
static low_insn *
flow_emit_named_call(low_func *f, const ptx_operand *target, emu_callsite *call)
{
    call->func = flow_call_target(f, target, call);
    flow_check_service(f, call);
    if (call->func == NULL) {
        return low_emit(f, EMU_OP_service, 0, 0, 0, 0);
    }
    if (call->func->param_count != call->param_count ||
        call->func->return_count != call->return_count) {
        low_fail(f, "%s takes %u parameters and gives %u results", call->func->name,
                 call->func->param_count, call->func->return_count);
    }
    return low_emit(f, EMU_OP_call, 0, 0, 0, 0);
}

/* Whether a call expects a result of a function in another text that gives none. Numba
 * declares C functions of type void so, and the linker of a GPU accepts it. */
static bool
flow_gives_nothing(const ptx_operand *target)
{
    const ptx_function *defined = NULL;

    if (target->kind == PTX_O_FUNCTION) {
        defined = target->function->same;
    }
    return defined != NULL && defined->code != NULL && defined->code->return_count == 0;
}

/* The parts of a call, without a result that the function does not give: what is read
 * as the result then has no defined value. */
static call_parts
flow_call_parts(const low_func *f)
{
    call_parts parts = flow_split_call(f);

    if (parts.returns != NULL && flow_gives_nothing(parts.target)) {
        parts.returns = NULL;
    }
    return parts;
}

void
low_call(low_func *f)
{
    const call_parts parts = flow_call_parts(f);
    emu_callsite *call = emu_arena_get(f->load, &f->load->keep, 1, sizeof *call);
    const uint32_t returns = flow_list_count(parts.returns);
    const uint32_t params = flow_list_count(parts.params);
    emu_slot *slots =
        emu_arena_get(f->load, &f->load->keep, returns + params, sizeof *slots);
    low_value *values =
        emu_arena_get(f->load, &f->load->scratch, returns + params, sizeof *values);
    const uint32_t skip = low_guard_begin(f);
    uint32_t count = 0, written;
    low_insn *insn;

    call->return_count = returns;
    call->param_count = params;
    call->returns = slots;
    call->params = slots + returns;
    flow_fill_slots(f, parts.returns, slots, values, &count, true);
    written = count;
    flow_fill_slots(f, parts.params, slots + returns, values, &count, false);
    if (parts.target->kind == PTX_O_FUNCTION) {
        insn = flow_emit_named_call(f, parts.target, call);
    }
    else {
        low_value to = low_source(f, parts.target, PTX_W_u64);

        insn = low_emit(f, EMU_OP_call_to, 0, to, 0, 0);
    }
    insn->call = call;
    for (uint32_t i = 0; i < count; i++) {
        low_add_x(f, insn, values[i], i < written);
    }
    low_guard_end(f, skip);
}

/* -- barriers ---------------------------------------------------------------------- */

/* Whether all threads of a warp must reach the barrier together. */
static bool
flow_is_aligned(const low_func *f)
{
    return f->in->opcode == PTX_OP_bar || low_has(f, PTX_W_aligned);
}

/* Fails for the numbers and counts that an assembler refuses. */
static void
flow_check_barrier(const low_func *f, const ptx_operand *number,
                   const ptx_operand *count)
{
    if (number->kind == PTX_O_INT && number->bits >= EMU_BARRIERS) {
        low_fail(f, "barrier %llu: there are 16, from 0 on",
                 (unsigned long long)number->bits);
    }
    if (count != NULL && count->kind == PTX_O_INT && count->bits % EMU_LANES != 0) {
        low_fail(f, "a count of %llu threads, which is not a multiple of 32",
                 (unsigned long long)count->bits);
    }
}

/* Bits of imm of the barrier operations. */
enum { BAR_COUNT = 1, BAR_ALIGNED = 2 };

/* imm of a barrier operation. `counted`: it has an operand for the number of threads.
 */
static int64_t
flow_barrier_flags(const low_func *f, bool counted)
{
    int64_t flags = 0;

    if (counted) {
        flags |= BAR_COUNT;
    }
    if (flow_is_aligned(f)) {
        flags |= BAR_ALIGNED;
    }
    return flags;
}

static void
flow_barrier_red(low_func *f)
{
    enum { RED_AND, RED_OR, RED_POPC };
    const unsigned operands_count = f->in->operand_count;
    const bool has_count = operands_count == 4;
    const ptx_operand *operands = f->in->operands, *count = NULL;
    ptx_class width = PTX_PRED;
    low_value d, a, b = 0, p;
    uint32_t kind = RED_AND;
    low_insn *insn;

    low_check_operand_count(f, 3, 4);
    if (low_has(f, PTX_W_popc)) {
        kind = RED_POPC;
        width = PTX_R32;
    }
    else if (low_has(f, PTX_W_or)) {
        kind = RED_OR;
    }
    d = low_target(f, &operands[0], width);
    a = low_source(f, &operands[1], PTX_W_u32);
    if (has_count) {
        count = &operands[2];
        b = low_source(f, count, PTX_W_u32);
    }
    flow_check_barrier(f, &operands[1], count);
    p = low_predicate(f, &operands[operands_count - 1]);
    insn = low_emit(f, EMU_OP_bar_red, d, a, b, p);
    insn->aux = kind;
    insn->imm = flow_barrier_flags(f, has_count);
    insn->e = LOW_NUMBER(0);
}

static void
flow_barrier_warp(low_func *f)
{
    low_value members;

    low_check_operand_count(f, 1, 1);
    members = low_source_at(f, 0, PTX_W_u32);
    low_emit(f, EMU_OP_bar_warp, 0, members, 0, 0)->imm = 1;
}

/* In a cluster of one block the wait is a barrier of the block, the last one. */
static void
flow_barrier_cluster(low_func *f)
{
    if (low_has(f, PTX_W_arrive)) {
        low_emit(f, EMU_OP_cluster_arrive, 0, 0, 0, 0);
    }
    else {
        low_emit(f, EMU_OP_cluster_wait, 0, low_constant(f, PTX_R32, EMU_BARRIERS - 1),
                 0, 0);
    }
}

static void
flow_barrier_block(low_func *f)
{
    const ptx_operand *counted = NULL;
    unsigned op = EMU_OP_bar_sync, least = 1;
    low_value a, b = 0;
    low_insn *insn;

    if (low_has(f, PTX_W_arrive)) {
        op = EMU_OP_bar_arrive;
        least = 2;
    }
    low_check_operand_count(f, least, 2);
    if (f->in->operand_count == 2) {
        counted = &f->in->operands[1];
    }
    flow_check_barrier(f, &f->in->operands[0], counted);
    a = low_source_at(f, 0, PTX_W_u32);
    if (counted != NULL) {
        b = low_source(f, counted, PTX_W_u32);
    }
    insn = low_emit(f, op, 0, a, b, 0);
    insn->imm = flow_barrier_flags(f, counted != NULL);
    insn->aux = flow_is_aligned(f); /* read by the race check */
}

/* bar, barrier */
void
low_bar(low_func *f)
{
    const uint32_t skip = low_guard_begin(f);

    if (low_has(f, PTX_W_warp)) {
        flow_barrier_warp(f);
    }
    else if (low_has(f, PTX_W_cluster)) {
        flow_barrier_cluster(f);
    }
    else if (low_has(f, PTX_W_red)) {
        flow_barrier_red(f);
    }
    else {
        flow_barrier_block(f);
    }
    low_guard_end(f, skip);
}

/* -- operations between the lanes of a warp ---------------------------------------- */

/* They must not run under a guard prefix, which changes the mask for one instruction
 * only. So a guarded one becomes a branch around the operation (low_guard_begin). */

void
low_shfl(low_func *f)
{
    static const uint16_t modes[] = {PTX_W_up, PTX_W_down, PTX_W_bfly, PTX_W_idx};
    const bool sync = low_has(f, PTX_W_sync);
    const ptx_operand *operands = f->in->operands;
    const uint32_t skip = low_guard_begin(f);
    low_value d, e = 0, a, b, c, mask = 0;
    low_insn *insn;
    const uint32_t mode = low_find(f, modes, 4);

    low_check_operand_count(f, 4u + sync, 4u + sync);
    if (mode == 4 || ptx_type_size(low_type_at(f, 0)) != 4) {
        low_unsupported(f);
    }
    d = low_target(f, &operands[0], PTX_R32);
    if (f->in->second != NULL) {
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
    insn->aux = mode;
    if (e == 0) {
        insn->aux |= LOW_NO_PREDICATE;
    }
    insn->imm = sync;
    if (sync) {
        low_add_x(f, insn, mask, false);
    }
    low_guard_end(f, skip);
}

void
low_vote(low_func *f)
{
    static const uint16_t modes[] = {PTX_W_all, PTX_W_any, PTX_W_uni, PTX_W_ballot};
    const bool sync = low_has(f, PTX_W_sync);
    const ptx_operand *operands = f->in->operands;
    const uint32_t skip = low_guard_begin(f);
    low_value d, a, mask = 0;
    low_insn *insn;
    const uint32_t mode = low_find(f, modes, 4);
    ptx_class width = PTX_PRED;

    low_check_operand_count(f, 2u + sync, 2u + sync);
    if (mode == 3) {
        width = PTX_R32; /* .ballot */
    }
    if (mode == 4) {
        low_unsupported(f);
    }
    d = low_target(f, &operands[0], width);
    a = low_predicate(f, &operands[1]);
    if (sync) {
        mask = low_source(f, &operands[2], PTX_W_b32);
    }
    insn = low_emit(f, EMU_OP_vote, d, a, mask, 0);
    insn->aux = mode;
    insn->imm = sync;
    low_guard_end(f, skip);
}

void
low_match(low_func *f)
{
    const unsigned type = low_type_at(f, 0);
    const bool all = low_has(f, PTX_W_all);
    const ptx_operand *operands = f->in->operands;
    const uint32_t skip = low_guard_begin(f);
    low_value d, e = 0, a, mask;
    low_insn *insn;

    low_check_operand_count(f, 3, 3);
    d = low_target(f, &operands[0], PTX_R32);
    if (f->in->second != NULL) {
        e = low_target(f, f->in->second, PTX_PRED);
    }
    a = low_source(f, &operands[1], type);
    mask = low_source(f, &operands[2], PTX_W_b32);
    insn = low_emit(f, EMU_OP_match, d, a, mask, 0);
    insn->e = e;
    insn->aux = all;
    if (type == PTX_W_b64) {
        insn->aux |= 2;
    }
    if (e == 0) {
        insn->aux |= LOW_NO_PREDICATE;
    }
    insn->imm = 1;
    low_guard_end(f, skip);
}

void
low_redux(low_func *f)
{
    static const uint16_t words[] = {PTX_W_add, PTX_W_min, PTX_W_max,
                                     PTX_W_and, PTX_W_or,  PTX_W_xor};
    const unsigned type = low_type_at(f, 0);
    const uint32_t skip = low_guard_begin(f);
    low_value d, a, mask;
    low_insn *insn;
    const uint32_t which = low_find(f, words, 6);

    low_check_operand_count(f, 3, 3);
    if (which == 6) {
        low_unsupported(f);
    }
    d = low_target(f, &f->in->operands[0], PTX_R32);
    a = low_source(f, &f->in->operands[1], type);
    mask = low_source(f, &f->in->operands[2], PTX_W_b32);
    insn = low_emit(f, EMU_OP_redux, d, a, mask, 0);
    insn->aux = which;
    if (type == PTX_W_s32) {
        insn->aux |= 8;
    }
    insn->imm = 1;
    low_guard_end(f, skip);
}

void
low_elect(low_func *f)
{
    const uint32_t skip = low_guard_begin(f);
    low_value d, mask;
    low_insn *insn;

    low_check_operand_count(f, 2, 2);
    if (f->in->second == NULL) {
        low_unsupported(f);
    }
    d = low_target(f, &f->in->operands[0], PTX_R32);
    mask = low_source(f, &f->in->operands[1], PTX_W_b32);
    insn = low_emit(f, EMU_OP_elect, d, mask, 0, 0);
    insn->e = low_target(f, f->in->second, PTX_PRED);
    insn->imm = 1;
    low_guard_end(f, skip);
}

void
low_activemask(low_func *f)
{
    low_check_operand_count(f, 1, 1);
    low_emit(f, EMU_OP_activemask, low_result(f, PTX_W_b32), 0, 0, 0);
}
