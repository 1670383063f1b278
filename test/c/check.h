/* The smallest possible test frame for C: counts checks, names the ones that fail.
 *
 * A test program includes this once, calls CHECK and CHECK_EQ anywhere, and returns
 * check_report() from main: the number of checks on stdout, 1 if any of them failed. */
#ifndef PCU_TEST_C_CHECK_H
#define PCU_TEST_C_CHECK_H

#include <stdio.h>

static unsigned long check_count;
static unsigned long check_failures;

static inline void
check_that(int good, const char *file, int line, const char *what)
{
    check_count++;
    if (!good) {
        check_failures++;
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    }
}

static inline void
check_equal(long long got, long long wanted, const char *file, int line,
            const char *what)
{
    check_count++;
    if (got != wanted) {
        check_failures++;
        fprintf(stderr, "%s:%d: failed: %s is %lld, not %lld\n", file, line, what, got,
                wanted);
    }
}

#define CHECK(condition) check_that(!!(condition), __FILE__, __LINE__, #condition)
#define CHECK_EQ(got, wanted) \
    check_equal((long long)(got), (long long)(wanted), __FILE__, __LINE__, #got)

static inline int
check_report(void)
{
    printf("%lu checks, %lu failed\n", check_count, check_failures);
    return check_count == 0 || check_failures != 0;
}

#endif
