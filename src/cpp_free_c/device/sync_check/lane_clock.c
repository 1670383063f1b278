/* Clocks. See lane_clock.h. */
#include "device/sync_check/lane_clock.h"

#include <stdlib.h>
#include <string.h>

static bool
clock_make_room(emu_clock *clock, size_t room)
{
    uint64_t *seen;

    if (room <= clock->room) {
        return true;
    }
    room = (room + 7) / 8 * 8;
    seen = realloc(clock->seen, room * sizeof(*seen));
    if (seen == NULL) {
        return false;
    }
    memset(seen + clock->room, 0, (room - clock->room) * sizeof(*seen));
    clock->seen = seen;
    clock->room = room;
    return true;
}

bool
emu_clock_set(emu_clock *clock, size_t lane, uint64_t number)
{
    if (!clock_make_room(clock, lane + 1)) {
        return false;
    }
    clock->seen[lane] = number;
    return true;
}

bool
emu_clock_join(emu_clock *clock, const emu_clock *other)
{
    if (!clock_make_room(clock, other->room)) {
        return false;
    }
    for (size_t i = 0; i < other->room; i++) {
        if (other->seen[i] > clock->seen[i]) {
            clock->seen[i] = other->seen[i];
        }
    }
    return true;
}

bool
emu_clock_copy(emu_clock *clock, const emu_clock *other)
{
    if (!clock_make_room(clock, other->room)) {
        return false;
    }
    if (clock->room > 0) {
        memset(clock->seen, 0, clock->room * sizeof(*clock->seen));
    }
    return emu_clock_join(clock, other);
}

void
emu_clock_close(emu_clock *clock)
{
    free(clock->seen);
    *clock = (emu_clock){0};
}
