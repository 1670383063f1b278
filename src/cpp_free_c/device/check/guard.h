/* The guard: accesses of the host to memory that operations of streams still use.
 *
 * While no work runs and no call of the driver is under way, the pages of page-locked
 * and managed memory that operations use are protected. An access of the program makes
 * a signal. Its handler asks the check (guard_ask) whether the byte is in use. If not,
 * the access is done alone, and the page is protected again.
 *
 * All functions are called with the mutex of the check held, except the handler. */
#ifndef DEVICE_CHECK_GUARD_H
#define DEVICE_CHECK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* The answer to an access. */
typedef enum {
    EMU_GUARD_STEP, /* it is correct: the page stays guarded */
    EMU_GUARD_OPEN  /* the page is no longer guarded */
} emu_guard_answer;

/* The question of the handler: the thread of the program reads or writes a byte. Called
 * without the mutex. */
typedef emu_guard_answer (*emu_guard_ask)(uint64_t address, bool is_write);

void emu_guard_open(emu_guard_ask ask);

/* Plan to guard the whole pages around [start, end), or only those inside of it;
 * against writes or against all accesses. */
void emu_guard_plan_range(uint64_t start, uint64_t end, bool inside, bool reads_too);
/* Guard what is planned, and nothing else. The next plan is empty. */
void emu_guard_apply_plan(void);
/* Let the page of an address be read, whoever reads it. */
void emu_guard_open_page(uint64_t address);
/* Guard nothing. */
void emu_guard_clear(void);
bool emu_guard_is_clear(void);

#endif
