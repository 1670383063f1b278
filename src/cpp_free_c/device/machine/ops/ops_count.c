/* The operations that count, for one warp and for warps in lockstep. Their field imm is
 * the count (device/base/counts.h); compile/lower_count.c puts them into the code. */
#include "device/machine/warp/machine.h"

#include "device/base/counts.h"
#include "device/machine/warp/access_count.h"
#include "device/machine/warp/warp.h"

static void
ops_add(const emu_warp *warp, const emu_insn *insn, unsigned value, uint64_t amount)
{
    if (amount != 0) {
        emu_count_add((emu_count *)(uintptr_t)insn->imm, warp->block->worker->number,
                      value, amount);
    }
}

/* The block of instructions runs. */
const emu_insn *
emu_op_count_block(emu_warp *warp, const emu_insn *insn)
{
    if (warp->mask == EMU_FULL) {
        ops_add(warp, insn, EMU_COUNT_FULL, 1);
    }
    else {
        ops_add(warp, insn, EMU_COUNT_PARTS, 1);
        ops_add(warp, insn, EMU_COUNT_LANES, (uint64_t)__builtin_popcount(warp->mask));
    }
    return insn + 1;
}

const emu_insn *
emu_lockstep_count_block(emu_warp *warp, const emu_insn *insn)
{
    ops_add(warp, insn, EMU_COUNT_FULL, warp->abreast);
    return insn + 1;
}

/* The next instruction has the predicate a, or its complement if aux is set. */
static const emu_insn *
ops_count_choice(const emu_warp *warp, const emu_insn *insn, unsigned warps)
{
    uint64_t holds = 0, others = 0, divided = 0;

    for (unsigned i = 0; i < warps; i++) {
        const uint32_t bits = emu_predicate(&warp[i], insn->a, insn->aux != 0);
        const uint32_t mask = warp[i].mask;

        holds += (unsigned)__builtin_popcount(mask & bits);
        others += (unsigned)__builtin_popcount(mask & ~bits);
        divided += (mask & bits) != 0 && (mask & ~bits) != 0;
    }
    ops_add(warp, insn, EMU_COUNT_TRUE, holds);
    ops_add(warp, insn, EMU_COUNT_FALSE, others);
    ops_add(warp, insn, EMU_COUNT_DIVIDED, divided);
    return insn + 1;
}

const emu_insn *
emu_op_count_choice(emu_warp *warp, const emu_insn *insn)
{
    return ops_count_choice(warp, insn, 1);
}

const emu_insn *
emu_lockstep_count_choice(emu_warp *warp, const emu_insn *insn)
{
    return ops_count_choice(warp, insn, warp->abreast);
}

/* Count what the access of the next operation costs, then run it. */
const emu_insn *
emu_op_count_access(emu_warp *warp, const emu_insn *insn)
{
    emu_access_count(warp, insn);
    return insn[1].run(warp, insn + 1);
}

const emu_insn *
emu_lockstep_count_access(emu_warp *warp, const emu_insn *insn)
{
    emu_access_count_all(warp, insn);
    return insn[1].lockstep(warp, insn + 1);
}
