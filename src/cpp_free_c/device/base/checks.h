/* What the checks of the software device share: which ones a program asks for, values
 * of memory as text, and the file of reports. Any thread may call these functions at
 * any time. */
#ifndef DEVICE_BASE_CHECKS_H
#define DEVICE_BASE_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

/* -- the words of PYCUDA_CHECK, and of its older form PYCUDA_EMULATOR_CHECK -------- */

enum {
    EMU_CHECK_INIT = 1,    /* reads of memory that was never written */
    EMU_CHECK_RACE = 2,    /* accesses whose order is undefined */
    EMU_CHECK_BARRIER = 4, /* barriers that not all threads reach */
    EMU_CHECK_MEMORY = 8,  /* exact bounds; the rest of this check is always on */
    EMU_CHECK_SYNC = 16,   /* streams and the host that do not wait for each other */
    EMU_CHECK_LEAK = 32,   /* what is alive at exit */
    EMU_CHECK_ALL = 63,
    /* With one of these, an access in the zone of an allocation is an error. */
    EMU_CHECKS_OF_KERNELS =
        EMU_CHECK_MEMORY | EMU_CHECK_INIT | EMU_CHECK_RACE | EMU_CHECK_BARRIER,
    /* Without any of these, the first block of a kernel has all of them. */
    EMU_CHECKS_OF_TRIALS = EMU_CHECK_INIT | EMU_CHECK_RACE | EMU_CHECK_BARRIER,
    EMU_CHECK_READS = 64, /* of the older form of init: each read of shared memory */
    EMU_CHECK_INPUT = 128 /* part of memory: stores to memory that In copies */
};

/* Parse words with commas between them. NULL or "" means no checks. False for an
 * unknown word. In the older form, "all" means the three checks that it knows. */
bool emu_checks_parse(const char *text, unsigned *checks);
bool emu_checks_parse_older(const char *text, unsigned *checks);

/* The checks of both variables, as the environment has them now. A value that cannot be
 * parsed counts as empty: cuInit has refused it. */
unsigned emu_checks_wanted(void);

/* -- values as text ---------------------------------------------------------------- */

enum {
    EMU_VALUE_MOST = 16, /* bytes of a value that has a text */
    EMU_VALUE_ROOM = 80
};

/* Write a value of `size` bytes as a hexadecimal number and as the numbers that it may
 * be, such as "0x3f800000 (int 1065353216, float 1)".
 * Values of more than EMU_VALUE_MOST bytes, or none, are "". */
void emu_value_text(const void *value, size_t size, char text[EMU_VALUE_ROOM]);

/* -- the file of reports ----------------------------------------------------------- */

/* Everything that the software device finds wrong in a program is appended to the file
 * that the variable PYCUDA_CHECK_LOG names, as one block: the line "== KIND PID", the
 * text of the report, an empty line. Any process may append at any time. Without the
 * variable nothing is written. */

/* Append a report. kind: memory, init, race, sync, barrier, leak, or the word for
 * another failure of a kernel (assert, trap, timeout, launch). Returns whether the
 * report was written. Without a file, or with one that cannot be written, it is no
 * error. */
bool emu_report_log(const char *kind, const char *text);

#endif
