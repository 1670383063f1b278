/* A clock that costs a few nanoseconds to read.
 *
 * The unit is known only by comparison: pcu_ticks_pair reads the counter and the
 * monotonic clock at the same time, and two pairs give the rate. Callers: records that
 * are written on hot paths. */
#ifndef DRIVER_TICKS_H
#define DRIVER_TICKS_H

#include <stdint.h>

#include "driver/visibility.h"

/* Nanoseconds of the monotonic clock. */
PCU_HIDDEN uint64_t pcu_nanoseconds(void);

/* What is read. The counter of the processor is exact, but takes long in some virtual
 * machines. The coarse clock has steps of a few milliseconds, and takes long in others.
 */
typedef enum { PCU_TICKS_COUNTER, PCU_TICKS_COARSE } pcu_ticks_source;

/* Nanoseconds of the coarse monotonic clock. */
PCU_HIDDEN uint64_t pcu_ticks_coarse(void);

/* The source that takes less time on this machine. */
PCU_HIDDEN pcu_ticks_source pcu_ticks_cheapest(void);

static inline uint64_t
pcu_ticks(pcu_ticks_source source)
{
    if (source == PCU_TICKS_COARSE) {
        return pcu_ticks_coarse();
    }
#if defined(__x86_64__)
    /* The header of __rdtsc has all vector instructions and takes 0.2 s to compile. */
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return pcu_nanoseconds();
#endif
}

/* The same moment on both clocks. */
typedef struct {
    pcu_ticks_source source;
    uint64_t ticks;
    uint64_t nanoseconds;
} pcu_ticks_pair;

PCU_HIDDEN pcu_ticks_pair pcu_ticks_now(pcu_ticks_source source);

/* The nanoseconds of a moment between or near two pairs, of which `first` is older. */
PCU_HIDDEN uint64_t pcu_ticks_convert(uint64_t ticks, const pcu_ticks_pair *first,
                                      const pcu_ticks_pair *second);

#endif
