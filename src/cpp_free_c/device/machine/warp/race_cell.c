/* One cell of the race check. See race_cell.h. */
#include "device/machine/warp/race_cell.h"

#include "device/machine/warp/race_order.h"

/* Whether two accesses without an order are a race. */
static bool
cell_conflicts(const emu_race_try *a, const emu_visit *visit)
{
    const emu_race_kind before = (emu_race_kind)visit->kind;

    if (!emu_race_kind_writes(a->kind) && !emu_race_kind_writes(before)) {
        return false;
    }
    if (a->kind >= EMU_RACE_ATOMIC && before >= EMU_RACE_ATOMIC) {
        return false;
    }
    return !(a->same && a->kind == EMU_RACE_WRITE && before == EMU_RACE_WRITE);
}

/* Whether a stamp is of this warp, or of none. */
static inline bool
cell_is_own(const emu_race_try *a, uint32_t stamp)
{
    return stamp < a->space->table.oldest ||
           ((stamp ^ emu_race_own(a)) & EMU_RACE_OWN_MASK) == 0;
}

/* Check the access against one stamp. False: it is a race. */
static bool
cell_check_stamp(const emu_race_try *a, uint32_t stamp)
{
    const emu_visit *visit;

    if (cell_is_own(a, stamp) && !a->is_copy) {
        return true;
    }
    if (stamp < a->space->table.oldest) {
        return true;
    }
    visit = emu_visit_of(&a->space->table, stamp);
    return !cell_conflicts(a, visit) || emu_order_is_before(a->warp, visit, stamp);
}

uint32_t
emu_cell_check(const emu_race_try *a, const emu_visits *visits, size_t cell)
{
    const uint32_t stamps[] = {visits->writer[cell], visits->reader[cell],
                               visits->other[cell]};

    for (unsigned i = 0; i < sizeof stamps / sizeof stamps[0]; i++) {
        if (!cell_check_stamp(a, stamps[i])) {
            return stamps[i];
        }
    }
    return 0;
}

/* Whether an atomic operation must leave the write of a cell in its place: other blocks
 * race with the plain write, and not with the atomic operation. */
static bool
cell_keeps_write(const emu_race_try *a, uint32_t stamp)
{
    const emu_visit *visit;

    if (a->kind < EMU_RACE_ATOMIC || stamp < a->space->table.oldest) {
        return false;
    }
    visit = emu_visit_of(&a->space->table, stamp);
    return visit->kind == EMU_RACE_WRITE &&
           visit->block == (uint32_t)a->warp->block->number;
}

void
emu_cell_note(const emu_race_try *a, const emu_visits *visits, size_t cell,
              uint32_t stamp)
{
    const uint32_t before = visits->reader[cell];

    if (emu_race_kind_writes(a->kind)) {
        if (!cell_keeps_write(a, visits->writer[cell])) {
            visits->writer[cell] = stamp;
            return;
        }
        a->warp->block->race->keeps_writes = true;
    }
    if (!cell_is_own(a, before)) {
        const emu_visit *visit = emu_visit_of(&a->space->table, before);

        if (emu_visit_warp(visit, before) != a->warp->number ||
            visit->block != (uint32_t)a->warp->block->number) {
            visits->other[cell] = before;
        }
    }
    visits->reader[cell] = stamp;
}
