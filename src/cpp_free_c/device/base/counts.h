/* Counts: how often the parts of loaded programs ran, for coverage and for the cost of
 * each line.
 *
 * The variable PYCUDA_EMULATOR_COUNT asks for them when a program is loaded. Then
 * device/compile/lower_count.c puts operations into its code that add to counts, and
 * describes each PTX instruction as a row. A record has the counts and the rows of one
 * text and outlives its programs; a text that is loaded again adds to the same counts.
 * emu_counts_write writes all records as JSON, a line each (pycuda/_counts.py reads
 * them). Any thread may call these functions; only the thread that loads a text writes
 * to a record that is not kept yet. */
#ifndef DEVICE_BASE_COUNTS_H
#define DEVICE_BASE_COUNTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of the variable: lines counts runs and branches, accesses also what the
 * accesses to memory cost. */
enum { EMU_COUNT_LINES = 1, EMU_COUNT_ACCESSES = 2 };

/* Read the value of the variable as flags. False: it has another value. */
bool emu_counts_parse(const char *text, unsigned *flags);
/* The flags of the variable. */
unsigned emu_counts_wanted(void);

/* -- counts ------------------------------------------------------------------------ */

/* What the values of a count are. */
enum {
    /* of a block of instructions: warps that ran it with all lanes; the other warps,
     * and their lanes */
    EMU_COUNT_FULL = 0,
    EMU_COUNT_PARTS,
    EMU_COUNT_LANES,
    /* of a predicate: lanes for which it holds and others; warps that have both */
    EMU_COUNT_TRUE = 0,
    EMU_COUNT_FALSE,
    EMU_COUNT_DIVIDED,
    /* of an access: see access_count.h */
    EMU_COUNT_GLOBAL = 0, /* warps that access global memory */
    EMU_COUNT_SECTORS,
    EMU_COUNT_LEAST_SECTORS,
    EMU_COUNT_SHARED, /* warps that access shared memory */
    EMU_COUNT_WAVEFRONTS,
    EMU_COUNT_LEAST_WAVEFRONTS,
    EMU_COUNT_LOCAL, /* warps that access local memory */
    EMU_COUNT_EQUAL, /* lanes of atomic operations at the address that most lanes have
                      */
    EMU_COUNT_VALUES
};

/* Threads add to different stripes. */
enum { EMU_COUNT_STRIPES = 4 };

/* The step of an access whose steps differ. */
#define EMU_COUNT_MIXED INT64_MIN

typedef struct {
    _Alignas(64) _Atomic uint64_t values[EMU_COUNT_STRIPES][EMU_COUNT_VALUES];
    /* of an access: bytes from a lane's address to that of the next lane; 0: none */
    _Atomic int64_t step;
} emu_count;

static inline void
emu_count_add(emu_count *count, unsigned thread, unsigned value, uint64_t amount)
{
    (void)atomic_fetch_add_explicit(&count->values[thread % EMU_COUNT_STRIPES][value],
                                    amount, memory_order_relaxed);
}

/* -- records ----------------------------------------------------------------------- */

typedef struct emu_counts emu_counts;

/* The absence of a count or of a row. */
#define EMU_COUNT_NONE UINT32_MAX

/* A PTX instruction. */
typedef struct {
    uint32_t function;
    uint32_t block;  /* the number of the count of its block */
    uint32_t choice; /* and of its predicate, or none */
    uint32_t access; /* and of its access, or none */
    uint32_t target; /* of a branch: the row that it leads to, or none */
    uint32_t ptx_line, line, column;
    uint16_t file;    /* number in the record; 0: unknown */
    uint16_t bytes;   /* that a lane accesses */
    const char *text; /* the opcode and its words */
} emu_count_row;

/* A function, and the launches of a kernel. The sizes are those of its last launch. */
typedef struct emu_count_function {
    const char *name;
    bool is_kernel;
    _Atomic uint64_t launches, blocks, threads;
    _Atomic unsigned block_size, shared, registers, resident; /* blocks at once */
} emu_count_function;

/* The record of a text, by its hash: the one that is kept, or a new one with *is_new.
 * NULL: out of memory. */
emu_counts *emu_counts_open(uint64_t hash, unsigned flags, bool *is_new);
/* Keep a new record, which is complete. */
void emu_counts_keep(emu_counts *counts);
/* Free a new record. */
void emu_counts_drop(emu_counts *counts);

/* The count with a number, the function with a number. A new record makes them in their
 * order. NULL: it is not there, or out of memory. */
emu_count *emu_counts_at(emu_counts *counts, uint32_t number);
emu_count_function *emu_counts_function(emu_counts *counts, uint32_t number,
                                        const char *name, bool is_kernel);
/* Add to a new record: a row with a copy of its text, and the path of a file, whose
 * number is returned. False, 0: out of memory. */
bool emu_counts_add_row(emu_counts *counts, const emu_count_row *row);
uint16_t emu_counts_add_file(emu_counts *counts, const char *path);
/* The rows of a new record. */
emu_count_row *emu_counts_rows(emu_counts *counts, uint32_t *count);

/* Write all records to a file. Return 0, or an error number of the system. */
int emu_counts_write(const char *path);
/* Set all counts to zero. */
void emu_counts_clear(void);

#endif
