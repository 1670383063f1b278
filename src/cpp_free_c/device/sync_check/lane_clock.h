/* Clocks: what has happened before a moment, as one number for each lane.
 *
 * A lane is a sequence of operations, such as a stream: they have the numbers 1, 2, 3.
 * A clock has, for each lane, the number of its last operation that is known to have
 * ended. So an operation happened before a moment if its number is not above that of
 * the clock. */
#ifndef DEVICE_SYNC_CHECK_LANE_CLOCK_H
#define DEVICE_SYNC_CHECK_LANE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A zeroed clock has seen nothing. */
typedef struct {
    uint64_t *seen; /* by the number of the lane */
    size_t room;
} emu_clock;

static inline uint64_t
emu_clock_of(const emu_clock *clock, size_t lane)
{
    if (lane >= clock->room) {
        return 0;
    }
    return clock->seen[lane];
}

/* These return false if memory is short; the clock is then unchanged. */
bool emu_clock_set(emu_clock *clock, size_t lane, uint64_t number);
bool emu_clock_join(emu_clock *clock, const emu_clock *other);
bool emu_clock_copy(emu_clock *clock, const emu_clock *other);
void emu_clock_close(emu_clock *clock);

#endif
