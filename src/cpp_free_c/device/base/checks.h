/* The checks that a program asks for: the words of PYCUDA_CHECK, and of its older form
 * PYCUDA_EMULATOR_CHECK. Any thread may call these functions at any time. */
#ifndef DEVICE_BASE_CHECKS_H
#define DEVICE_BASE_CHECKS_H

#include <stdbool.h>

enum {
    EMU_CHECK_INIT = 1,    /* reads of memory that was never written */
    EMU_CHECK_RACE = 2,    /* accesses whose order is undefined */
    EMU_CHECK_BARRIER = 4, /* barriers that not all threads reach */
    EMU_CHECK_MEMORY = 8,  /* bounds, alignment, use after free: always on */
    EMU_CHECK_SYNC = 16,   /* streams and the host that do not wait for each other */
    EMU_CHECK_LEAK = 32,   /* what is alive at exit */
    EMU_CHECK_ALL = 63,
    EMU_CHECK_READS = 64 /* of the older form of init: each read of shared memory */
};

/* Parse words with commas between them. NULL or "" means no checks. False for an
 * unknown word. In the older form, "all" means the three checks that it knows. */
bool emu_checks_parse(const char *text, unsigned *checks);
bool emu_checks_parse_older(const char *text, unsigned *checks);

/* The checks of both variables, as the environment has them now. A value that cannot be
 * parsed counts as empty: cuInit has refused it. */
unsigned emu_checks_wanted(void);

#endif
