/* Which transforms generated kernels compute faster than cuFFT: see preference.h. */

#include "python/array/fourier/preference.h"

#include "python/array/fourier/passes.h"

enum {
    PREFERS_SHORT = 1024,      /* elements of a line that one kernel moves at speed */
    PREFERS_LINE = 4096,       /* longer columns are far apart for cuFFT */
    PREFERS_COLUMN = 512,      /* elements of a column, beyond the cache */
    PREFERS_FEW = 2048 * 1024, /* bytes: only the number of kernels matters */
    PREFERS_SLOW_LOW = 128 * 1024, /* bytes of a line: cuFFT has one block for each */
    PREFERS_SLOW_HIGH = 256 * 1024,
    PREFERS_SLOW_TOTAL = 1024 * 1024
};

/* Columns: cuFFT reads them far from each other. */
static bool
prefers_columns(const pcu_fourier_case *given, size_t line, size_t bytes)
{
    if (!given->is_columns) {
        return false;
    }
    return (line <= PREFERS_COLUMN && bytes > given->cache) ||
           (line > PREFERS_LINE && bytes > given->cache / 2);
}

bool
pcu_fourier_prefers_kernels(const pcu_fourier_case *given)
{
    size_t line = given->n;
    size_t bytes = given->count * given->number;
    if (given->kind == PCU_FOURIER_HALF && line % 2 == 0) {
        line /= 2;
    }
    if (!pcu_fourier_is_smooth(line)) {
        return false;
    }
    if (prefers_columns(given, line, bytes)) {
        return true;
    }
    if (given->adds_kernels) {
        return line <= PREFERS_SHORT || bytes <= PREFERS_FEW;
    }
    return given->kind == PCU_FOURIER_COMPLEX &&
           given->n * given->number >= PREFERS_SLOW_LOW &&
           given->n * given->number <= PREFERS_SLOW_HIGH && bytes <= PREFERS_SLOW_TOTAL;
}
