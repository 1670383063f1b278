/* The operations of the machine: their numbers, and the columns of their rows in
 * tables/operations.inc as data.
 *
 * Lowering writes the number EMU_OP_name; the machine has a table of functions by that
 * number, to which emu_insn.run points. Read by the passes of device/compile and by the
 * checks of device/machine. */
#ifndef DEVICE_COMPILE_OPERATIONS_H
#define DEVICE_COMPILE_OPERATIONS_H

#include <stdint.h>

#include "device/compile/code.h"

enum {
    EMU_OP_NONE,
#define OP_EACH(name) EMU_OP_##name,
#include "tables/operations.inc"
    EMU_OP_COUNT
};

/* How an operation uses the fields of its instruction other than for registers. */
enum {
    EMU_NO_FIELDS = 0,
    EMU_NUMBER_E = 1,    /* e is a number */
    EMU_TARGET = 2,      /* a branch: imm is its target */
    EMU_TARGETS = 4,     /* a branch: the further operands are its targets */
    EMU_LEAVES = 8,      /* never continues with the next instruction */
    EMU_HAS_CALL = 16,   /* `call` instead of imm */
    EMU_TAKES_INDEX = 32 /* a load or store whose address may have EMU_AT_INDEX */
};

/* What warps in lockstep do: emu_lockstep_each and so on. */
enum {
    EMU_LOCKSTEP_each,
    EMU_LOCKSTEP_separate,
    EMU_LOCKSTEP_update,
    EMU_LOCKSTEP_label,
    EMU_LOCKSTEP_bra,
    EMU_LOCKSTEP_bra_if,
    EMU_LOCKSTEP_bar_sync,
    EMU_LOCKSTEP_exit,
    EMU_LOCKSTEP_count_block,
    EMU_LOCKSTEP_count_choice,
    EMU_LOCKSTEP_count_access
};

/* The words of the columns: see the rows. A switch over one of them has a case for each
 * word and no default, so that a new word does not compile until each is complete. */
typedef enum {
    EMU_EFFECT_PLAIN,
    EMU_EFFECT_READ,
    EMU_EFFECT_WRITE,
    EMU_EFFECT_UPDATE,
    EMU_EFFECT_NEW_OBJECT,
    EMU_EFFECT_CHANGE_OBJECT,
    EMU_EFFECT_TEST_OBJECT,
    EMU_EFFECT_GUARD,
    EMU_EFFECT_ROUND,
    EMU_EFFECT_COUNT,
    EMU_EFFECT_CLOCK,
    EMU_EFFECT_SPIN,
    EMU_EFFECT_FENCE,
    EMU_EFFECT_MEET,
    EMU_EFFECT_ACT
} emu_effect;

typedef enum {
    EMU_ACCESS_NONE,
    EMU_ACCESS_READ,
    EMU_ACCESS_WRITE,
    EMU_ACCESS_UPDATE
} emu_access;

typedef enum {
    EMU_FOLLOW_COMPUTE,
    EMU_FOLLOW_COPY,
    EMU_FOLLOW_PACK,
    EMU_FOLLOW_SELECT,
    EMU_FOLLOW_AND,
    EMU_FOLLOW_OR,
    EMU_FOLLOW_DEFINE,
    EMU_FOLLOW_SHUFFLE,
    EMU_FOLLOW_BRANCH
} emu_follow;

typedef enum {
    EMU_RUNS_EACH,
    EMU_RUNS_ONCE,
    EMU_RUNS_PARAMETER,
    EMU_RUNS_SPECIAL
} emu_runs;

/* The operands by number, and their widths other than bytes of a lane. */
enum { EMU_D, EMU_E, EMU_A, EMU_B, EMU_C, EMU_OPERANDS };
enum { EMU_WIDTH_PREDICATE = 1, EMU_WIDTH_ANY = 255 };

enum { EMU_BYTES_IN_E = 255 };

typedef struct {
    uint8_t widths[EMU_OPERANDS];
    uint8_t fields;   /* EMU_NUMBER_E, ... */
    uint8_t lockstep; /* EMU_LOCKSTEP_ */
    uint8_t effect;   /* EMU_EFFECT_ */
    uint8_t bytes;    /* that a lane accesses */
    uint8_t unset;    /* EMU_FOLLOW_ */
    uint8_t runs;     /* EMU_RUNS_: the column `once` */
} emu_op_row;

extern const emu_op_row emu_op_rows[EMU_OP_COUNT];
extern const char *const emu_op_names[EMU_OP_COUNT];

/* A vector, in operand e of ld_vector and st_vector. */
static inline unsigned
emu_vector_count(const emu_insn *insn)
{
    return insn->e >> 16 & 0xff;
}

static inline unsigned
emu_vector_bytes(const emu_insn *insn)
{
    return insn->e >> 8 & 0xff;
}

/* The words of an operation. */
static inline emu_effect
emu_op_effect(unsigned op)
{
    return (emu_effect)emu_op_rows[op].effect;
}

static inline emu_follow
emu_op_unset(unsigned op)
{
    return (emu_follow)emu_op_rows[op].unset;
}

static inline emu_runs
emu_op_runs(unsigned op)
{
    return (emu_runs)emu_op_rows[op].runs;
}

/* What the operation does to the memory that it accesses. */
static inline emu_access
emu_op_access(unsigned op)
{
    switch (emu_op_effect(op)) {
        case EMU_EFFECT_READ:
        case EMU_EFFECT_TEST_OBJECT:
            return EMU_ACCESS_READ;
        case EMU_EFFECT_WRITE:
        case EMU_EFFECT_NEW_OBJECT:
        case EMU_EFFECT_CHANGE_OBJECT:
            return EMU_ACCESS_WRITE;
        case EMU_EFFECT_UPDATE:
            return EMU_ACCESS_UPDATE;
        case EMU_EFFECT_PLAIN: /* the rest has no address */
        case EMU_EFFECT_GUARD:
        case EMU_EFFECT_ROUND:
        case EMU_EFFECT_COUNT:
        case EMU_EFFECT_CLOCK:
        case EMU_EFFECT_SPIN:
        case EMU_EFFECT_FENCE:
        case EMU_EFFECT_MEET:
        case EMU_EFFECT_ACT:
            break;
    }
    return EMU_ACCESS_NONE;
}

static inline bool
emu_access_writes(const emu_insn *insn)
{
    return emu_op_access(insn->op) >= EMU_ACCESS_WRITE;
}

/* The bytes that each lane accesses; 0: the operation accesses no memory. */
static inline unsigned
emu_access_bytes(const emu_insn *insn)
{
    const unsigned bytes = emu_op_rows[insn->op].bytes;

    if (bytes == EMU_BYTES_IN_E) {
        return emu_vector_count(insn) * emu_vector_bytes(insn);
    }
    return bytes;
}

#endif
