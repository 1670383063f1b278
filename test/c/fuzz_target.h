/* What fuzz_ptx.c does with an input: fuzz_load.c or fuzz_launch.c is linked with it.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_BYTES = 1 << 16 }; /* of an input */

/* -- the target -------------------------------------------------------------------- */

/* Called once, before the first input. */
void fuzz_open(void);
/* Tries one input. Returns whether it loads. */
bool fuzz_one(const uint8_t *data, size_t size);
/* Prints the figures of the target. */
void fuzz_close(void);

/* -- fuzz_ptx.c -------------------------------------------------------------------- */

/* Ends the process: a promise is broken. */
_Noreturn void fuzz_fail(const char *what);
/* A random number below a limit; 0 for limit 0. */
size_t fuzz_below(size_t limit);

#endif
