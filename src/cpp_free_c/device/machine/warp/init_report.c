/* Reports of uninitialised values. See init_report.h. */
#include "device/machine/warp/init_report.h"

#include "device/machine/warp/report.h"
#include "device/memory/memory.h"

static const char *const uses[] = {
    [EMU_DECIDES_ADDRESS] = "the address of an access depends on it",
    [EMU_DECIDES_BRANCH] = "a branch depends on it",
    [EMU_DECIDES_ATOMIC] = "an atomic operation uses it",
    [EMU_DECIDES_STORE] = "it is stored to global memory",
    [EMU_DECIDES_READ] = "it is read here",
};

static void
init_fault_memory(emu_warp *warp, const emu_insn *insn, unsigned lane,
                  const emu_unset_origin *origin, const emu_other_place *other,
                  const char *use)
{
    const emu_block *block = warp->block;
    const uint64_t address = origin->at[lane];
    const emu_allocation *memory;
    uint64_t offset;

    if (origin->space == EMU_UNSET_SHARED) {
        offset = address - (uint64_t)(uintptr_t)block->shared;
        (void)emu_fault_with_other(
            warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, offset, other,
            "uninitialised read of %u bytes at offset %llu of shared memory: no thread "
            "of the block has written byte %llu, and %s",
            origin->size, (unsigned long long)offset, (unsigned long long)offset, use);
        return;
    }
    if (origin->space == EMU_UNSET_LOCAL) {
        offset = (address - (uint64_t)(uintptr_t)warp->local) % warp->local_stride;
        (void)emu_fault_with_other(
            warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, offset, other,
            "uninitialised read of %u bytes at offset %llu of local memory: the thread "
            "has not written them, and %s",
            origin->size, (unsigned long long)offset, use);
        return;
    }
    memory = emu_memory_find(address);
    if (memory == NULL) {
        return;
    }
    (void)emu_fault_with_other(
        warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, address, other,
        "uninitialised read of %u bytes at byte %llu of the %llu-byte %s allocation at "
        "0x%llx: nothing has written them, and %s",
        origin->size, (unsigned long long)(address - memory->base),
        (unsigned long long)memory->size, emu_memory_kind_name(memory->kind),
        (unsigned long long)memory->base, use);
}

void
emu_init_fault(emu_warp *warp, const emu_insn *insn, unsigned lane, uint32_t number,
               emu_unset_effect use)
{
    const emu_unset_origin *origin = emu_unset_origin_of(warp, number);
    const emu_func *func = warp->frame->func;
    emu_other_place other = {func->program, emu_report_place_of(func, insn)};
    const emu_insn *read = origin->insn;
    char thread[48];

    if (origin->space == EMU_UNSET_NOWHERE || read == NULL) {
        (void)emu_fault(warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, 0,
                        "uninitialised variable: it has no value when it is read here, "
                        "and %s",
                        uses[use]);
        return;
    }
    if (origin->space == EMU_UNSET_REGISTER) {
        (void)emu_fault_with_other(
            warp, read, CUDA_ERROR_LAUNCH_FAILED, lane, 0, &other,
            "uninitialised variable: it has no value when it is read here, and %s",
            uses[use]);
        return;
    }
    if (origin->space == EMU_UNSET_SHUFFLE) {
        emu_report_thread_text(warp->block->grid,
                               warp->number * EMU_LANES + (unsigned)origin->at[lane],
                               thread, sizeof thread);
        (void)emu_fault_with_other(
            warp, read, CUDA_ERROR_LAUNCH_FAILED, lane, 0, &other,
            "uninitialised value: thread %s does not take part in the shuffle that "
            "reads from it, and %s",
            thread, uses[use]);
        return;
    }
    init_fault_memory(warp, read, lane, origin, &other, uses[use]);
}
