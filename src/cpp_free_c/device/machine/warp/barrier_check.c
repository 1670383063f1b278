/* The check of barriers. See barrier_check.h. */
#include "device/machine/warp/barrier_check.h"

#include "device/machine/warp/report.h"

static bool
check_is_syncthreads(const emu_group *group, uint32_t barrier)
{
    return group->state == EMU_GROUP_AT_BARRIER && group->barrier == barrier &&
           group->pc[-1].run == emu_op_bar_sync && group->pc[-1].aux;
}

static void
check_fault_divergence(emu_warp *warp, const emu_group *group, const emu_group *first,
                       unsigned first_thread)
{
    const emu_func *func = first->frame->func;
    const emu_place first_place = emu_report_place_of(func, first->pc - 1);
    emu_frame *frame = warp->frame;
    const emu_other_place other = {func->program, first_place};
    char thread[48], place[112];

    emu_report_thread_text(warp->block->grid, first_thread, thread, sizeof thread);
    emu_report_place_text(func->program, first_place, place, sizeof place);
    warp->frame = group->frame;
    (void)emu_fault_with_other(
        warp, group->pc - 1, CUDA_ERROR_LAUNCH_FAILED,
        (unsigned)__builtin_ctz(group->mask), 0, &other,
        "barrier divergence: this thread waits at one __syncthreads and thread %s at "
        "another%s",
        thread, place);
    warp->frame = frame;
}

void
emu_barrier_check(emu_block *block, uint32_t barrier)
{
    const emu_group *first = NULL;
    unsigned first_thread = 0, i, k;

    if (block->barriers[barrier].expected) {
        return;
    }
    for (i = 0; i < block->warp_count; i++) {
        emu_warp *warp = &block->warps[i];

        for (k = 0; k < warp->group_count; k++) {
            const emu_group *group = &warp->groups[k];
            const unsigned lane = (unsigned)__builtin_ctz(group->mask);

            if (!check_is_syncthreads(group, barrier)) {
                continue;
            }
            if (first == NULL) {
                first = group;
                first_thread = i * EMU_LANES + lane;
            }
            else if (group->pc != first->pc) {
                check_fault_divergence(warp, group, first, first_thread);
                return;
            }
        }
    }
}
