/* Reports of the race check. See race_report.h. */
#include "device/machine/warp/race_report.h"

#include <stdio.h>

#include "device/machine/warp/report.h"
#include "device/machine/warp/store_value.h"
#include "device/memory/memory.h"

static const char *const kind_words[] = {
    [EMU_RACE_READ] = "read",
    [EMU_RACE_WRITE] = "write",
    [EMU_RACE_ATOMIC] = "atomic operation",
    [EMU_RACE_STRONG_READ] = "read",
    [EMU_RACE_STRONG_WRITE] = "write",
};

/* Write "offset 128 of shared memory", or "byte 4 of the 256-byte device allocation".
 */
static void
race_place_text(const emu_race_try *a, uint64_t address, char *text, size_t room)
{
    const emu_allocation *memory;
    const char *space = "", *name = "";

    if (a->space == &a->warp->block->race->spaces[EMU_RACE_SHARED]) {
        (void)snprintf(text, room, "offset %llu of shared memory",
                       (unsigned long long)(address - a->space->base));
        return;
    }
    memory = emu_memory_find(address);
    if (memory == NULL) {
        (void)snprintf(text, room, "address 0x%llx", (unsigned long long)address);
        return;
    }
    if (memory->name) {
        space = " ";
        name = memory->name;
    }
    (void)snprintf(text, room, "byte %llu of the %llu-byte %s allocation%s%.60s",
                   (unsigned long long)(address - memory->base),
                   (unsigned long long)memory->size, emu_memory_kind_name(memory->kind),
                   space, name);
}

/* Write " of block (1, 0, 0)" for a thread of another block, else "". */
static void
race_block_text(const emu_grid *grid, const emu_block *block, uint64_t other,
                char *text, size_t room)
{
    text[0] = 0;
    if (other != (uint32_t)block->number) {
        (void)snprintf(text, room, " of block (%llu, %llu, %llu)",
                       (unsigned long long)(other % grid->grid[0]),
                       (unsigned long long)(other / grid->grid[0] % grid->grid[1]),
                       (unsigned long long)(other / grid->grid[0] / grid->grid[1]));
    }
}

bool
emu_race_fault(const emu_race_try *a, unsigned lane, uint64_t address, uint32_t stamp)
{
    const emu_block *block = a->warp->block;
    const emu_visit *visit = emu_visit_of(&a->space->table, stamp);
    const emu_program *program = visit->func->program;
    emu_other_place other = {program, emu_report_place_of(visit->func, visit->insn)};
    const char *order = "no __syncthreads between them";
    unsigned warp = emu_visit_warp(visit, stamp);
    char thread[48], place[112], at[160], of[96], value[EMU_VALUE_LINE];

    if (warp == EMU_RACE_COPIES) {
        warp = visit->starter;
    }
    emu_report_thread_text(block->grid, warp * EMU_LANES + stamp % EMU_LANES, thread,
                           sizeof thread);
    emu_report_place_text(program, other.place, place, sizeof place);
    race_place_text(a, address, at, sizeof at);
    emu_store_value_line(a->warp, a->insn, lane, a->size,
                         (const void *)(uintptr_t)address, value);
    race_block_text(block->grid, block, visit->block, of, sizeof of);
    if (visit->first == EMU_RACE_COPIES) {
        (void)emu_fault_with_other(
            a->warp, a->insn, CUDA_ERROR_LAUNCH_FAILED, lane, address, &other,
            "race: %s of %u bytes at %s and the copy that thread %s%s began, with no "
            "wait for its mbarrier between them%s",
            kind_words[a->kind], a->size, at, thread, place, value);
        return false;
    }
    if (visit->block != (uint32_t)block->number) {
        order = "nothing that orders the two blocks";
    }
    (void)emu_fault_with_other(
        a->warp, a->insn, CUDA_ERROR_LAUNCH_FAILED, lane, address, &other,
        "race: %s of %u bytes at %s and the %s by thread %s%s%s, "
        "with %s%s",
        kind_words[a->kind], a->size, at, kind_words[visit->kind], thread, of, place,
        order, value);
    return false;
}

bool
emu_race_fault_instruction(const emu_race_try *a, unsigned lane, unsigned other,
                           uint64_t address)
{
    uint8_t one[EMU_MOST_STORED], two[EMU_MOST_STORED];
    char thread[48], place[160], mine[EMU_VALUE_ROOM], others[EMU_VALUE_ROOM];

    emu_store_value(a->warp, a->insn, lane, a->size, one);
    emu_store_value(a->warp, a->insn, other, a->size, two);
    emu_value_text(one, a->size, others);
    emu_value_text(two, a->size, mine);
    emu_report_thread_text(a->warp->block->grid, a->warp->number * EMU_LANES + lane,
                           thread, sizeof thread);
    race_place_text(a, address, place, sizeof place);
    (void)emu_fault(a->warp, a->insn, CUDA_ERROR_LAUNCH_FAILED, other, address,
                    "race: write of %u bytes at %s; thread %s writes another "
                    "value there in the same instruction\n"
                    "  value: the thread writes %s, the other thread %s",
                    a->size, place, thread, mine, others);
    return false;
}
