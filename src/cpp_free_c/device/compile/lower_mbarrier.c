/* Lowering of mbarrier, and of cp.async.mbarrier.arrive. See lower_opcodes.h. */
#include "device/compile/encoding.h"
#include "device/compile/lower_bulk.h"
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"

/* The object of operand `index`. In the state space of the instruction; without one the
 * address is generic. */
static low_place
mbarrier_place(low_func *f, unsigned index)
{
    low_place place = low_address(f, &f->in->operands[index]);
    const uint32_t space = place.aux & EMU_AT_MASK;

    if (space != EMU_AT_GENERIC && space != EMU_AT_SHARED) {
        low_fail(f, "an mbarrier is not in shared memory");
    }
    return place;
}

/* .test_wait and .try_wait: programs call them in loops, so the operation spin lets
 * other warps run. A hint of a time has no effect. */
static void
mbarrier_wait(low_func *f)
{
    const bool parity = low_has(f, PTX_W_parity);
    unsigned type = PTX_W_u64, most = 3;
    low_value d, phase;
    low_place place;
    low_insn *insn;

    if (low_has(f, PTX_W_try_wait)) {
        most = 4;
    }
    low_check_operand_count(f, 3, most);
    if (parity) {
        type = PTX_W_u32;
    }
    phase = low_source_at(f, 2, type);
    place = mbarrier_place(f, 1);
    d = low_target(f, &f->in->operands[0], PTX_PRED);
    insn = low_access(f, EMU_OP_mbarrier_wait, d, place, phase);
    insn->e = LOW_NUMBER(parity);
    low_emit(f, EMU_OP_spin, 0, 0, 0, 0);
}

/* .arrive and .arrive_drop. With .expect_tx the last operand is a number of bytes, else
 * a number of arrivals. */
static void
mbarrier_arrive(low_func *f)
{
    const ptx_operand *operands = f->in->operands;
    low_value count = low_constant(f, PTX_R32, 1), bytes = low_constant(f, PTX_R32, 0);
    low_value d;
    low_insn *insn;

    low_check_operand_count(f, 2, 3);
    if (low_has(f, PTX_W_shared_cluster) && operands[0].kind != PTX_O_SINK) {
        low_fail(f, "an arrival at another block's mbarrier returns no state: write _");
    }
    d = low_target(f, &operands[0], PTX_R64);
    if (low_has(f, PTX_W_expect_tx)) {
        low_check_operand_count(f, 3, 3);
        bytes = low_source(f, &operands[2], PTX_W_u32);
    }
    else if (f->in->operand_count == 3) {
        count = low_source(f, &operands[2], PTX_W_u32);
    }
    insn = low_access(f, EMU_OP_mbarrier_arrive, d, mbarrier_place(f, 1), count);
    insn->c = bytes;
    insn->e = LOW_NUMBER(low_has(f, PTX_W_arrive_drop));
}

/* .expect_tx and .complete_tx without an arrival. */
static void
mbarrier_bytes(low_func *f)
{
    low_value bytes;
    low_insn *insn;

    low_check_operand_count(f, 2, 2);
    bytes = low_source_at(f, 1, PTX_W_u32);
    insn = low_access(f, EMU_OP_mbarrier_bytes, 0, mbarrier_place(f, 0), bytes);
    insn->e = LOW_NUMBER(low_has(f, PTX_W_complete_tx));
}

void
low_complete_bytes(low_func *f, unsigned bytes)
{
    low_value count = low_constant(f, PTX_R32, bytes);
    low_insn *insn =
        low_access(f, EMU_OP_mbarrier_bytes, 0, mbarrier_place(f, 2), count);

    insn->e = LOW_NUMBER(1);
}

static void
mbarrier_pending_count(low_func *f)
{
    low_value a;

    low_check_operand_count(f, 2, 2);
    a = low_source_at(f, 1, PTX_W_u64);
    low_emit(f, EMU_OP_mbarrier_pending, low_result(f, PTX_W_u32), a, 0, 0);
}

void
low_mbarrier(low_func *f)
{
    if (low_type_at(f, 0) != PTX_W_b64) {
        low_unsupported(f);
    }
    if (low_has(f, PTX_W_init)) {
        low_value count;

        low_check_operand_count(f, 2, 2);
        count = low_source_at(f, 1, PTX_W_u32);
        low_access(f, EMU_OP_mbarrier_init, 0, mbarrier_place(f, 0), count);
    }
    else if (low_has(f, PTX_W_test_wait) || low_has(f, PTX_W_try_wait)) {
        mbarrier_wait(f);
    }
    else if (low_has(f, PTX_W_arrive) || low_has(f, PTX_W_arrive_drop)) {
        mbarrier_arrive(f);
    }
    else if (low_has(f, PTX_W_expect_tx) || low_has(f, PTX_W_complete_tx)) {
        mbarrier_bytes(f);
    }
    else if (low_has(f, PTX_W_pending_count)) {
        mbarrier_pending_count(f);
    }
    else if (!low_has(f, PTX_W_inval)) { /* .inval has no effect here */
        low_unsupported(f);
    }
}

/* cp.async copies at once, so its arrival is at once too. Without .noinc the phase
 * expects one more arrival, which this is: there is nothing to do. */
void
low_copy_arrive(low_func *f)
{
    low_insn *insn;

    low_check_operand_count(f, 1, 1);
    if (!low_has(f, PTX_W_arrive) || low_type_at(f, 0) != PTX_W_b64) {
        low_unsupported(f);
    }
    if (!low_has(f, PTX_W_noinc)) {
        return;
    }
    insn = low_access(f, EMU_OP_mbarrier_arrive, low_temp(f, PTX_R64),
                      mbarrier_place(f, 0), low_constant(f, PTX_R32, 1));
    insn->c = low_constant(f, PTX_R32, 0);
    insn->e = LOW_NUMBER(0);
}
