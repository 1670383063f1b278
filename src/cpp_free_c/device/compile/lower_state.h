/* The state of lowering one function, and the helpers of all families of opcodes.
 *
 * Lowering turns each PTX instruction into instructions of the machine over virtual
 * registers. program.c makes the state and runs the passes on it: lower.c calls the
 * function of each opcode (tables/opcodes.h, lower_*.c), registers.c places the
 * registers, finish.c writes the final code. All errors leave through emu_load_fail.
 * Used by these files and by dump.c. */
#ifndef DEVICE_COMPILE_LOWER_STATE_H
#define DEVICE_COMPILE_LOWER_STATE_H

#include "device/compile/code.h"
#include "device/compile/constants.h"
#include "device/compile/operations.h"
#include "device/ptx/ir.h"

/* An operand: 0 for none, an odd number for a constant (its place + 1), else
 * (register + 1) << 1. */
typedef uint32_t low_value;

/* A number for operand e of the operations with EMU_NUMBER_E. It is odd, as constants
 * are, so that no pass takes it for a register. */
#define LOW_NUMBER(n) ((low_value)(n) << 1 | 1)
/* The operand for a register, and back. */
#define LOW_REGISTER(reg) ((low_value)((reg) + 1) << 1)
#define LOW_REGISTER_NUMBER(value) (((value) >> 1) - 1)

/* A machine instruction whose registers have no places yet. */
typedef struct {
    uint16_t op;
    bool guarded, guard_negated;
    uint8_t once;             /* EMU_EACH, EMU_ONCE_ level, EMU_NEVER: hoist.c */
    uint8_t round;            /* EMU_RN, EMU_RZ, EMU_RM, EMU_RP */
    low_value guard;          /* a predicate */
    low_value d, e;           /* written */
    low_value a, b, c;        /* read */
    uint32_t x;               /* index of the first further operand in low_func.xs */
    uint32_t x_count, x_defs; /* how many there are; the first x_defs are written */
    uint32_t aux;
    int64_t imm;
    uint32_t label; /* of branches and labels */
    emu_callsite *call;
    uint32_t line;
    uint16_t file;
} low_insn;

typedef struct {
    uint32_t offset; /* in the frame */
    uint8_t width;   /* ptx_class */
    uint8_t once;    /* how often it is computed; then `offset` has its tag */
    bool is_linear;  /* set by low_hoist: tid.x plus a value that all lanes share */
} low_register;

typedef struct {
    emu_load *load;
    low_constants *constants;
    ptx_function *function;
    const ptx_insn *in;  /* being lowered; NULL before the first and after the last */
    const uint16_t *ops; /* the operations of its row in tables/opcodes.h */
    low_insn *insns;
    size_t count, room;
    low_value *xs;
    size_t x_count, x_room;
    low_register *registers; /* those of the PTX first, then temporaries */
    size_t register_count, register_room;
    uint32_t label_count;
    low_value carry;    /* the condition code */
    bool plain;         /* emit without the instruction's guard */
    uint64_t call_base; /* of the .param variables of calls, in local memory */
    uint64_t dynamic_shared;
    uint32_t frame_size; /* set by low_allocate, as is pressure */
    uint32_t pressure;   /* 32-bit registers that the function needs, at most */
    uint32_t uniform_size, warp_size; /* set by low_hoist, see emu_func */
    emu_shaped *shaped;
    uint32_t shaped_count;
    uint32_t *unset; /* set by low_allocate: numbers of registers, see emu_func */
    uint32_t unset_count;
    unsigned dump; /* EMU_DUMP_ flags of dump.h */
} low_func;

/* -- failure ----------------------------------------------------------------------- */

/* Fails with the opcode and a message. */
_Noreturn void low_fail(const low_func *f, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
/* Fails: the software device does not have this opcode with these words. */
_Noreturn void low_unsupported(const low_func *f) __attribute__((noreturn));
/* Fails unless the target of the text has the letter a, as in sm_90a. */
void low_need_specific_target(const low_func *f);

/* -- words of the instruction ------------------------------------------------------ */

bool low_has(const low_func *f, unsigned word);
/* The index of the first of these words that the instruction has; `count` if none. */
unsigned low_find(const low_func *f, const uint16_t *words, unsigned count);
/* Whether .shared or one of its two forms is among the words. */
bool low_has_shared(const low_func *f);
/* The n-th type among the words, or PTX_W_NONE. */
unsigned low_type_at(const low_func *f, unsigned n);
/* Fails unless the number of operands is in this range. */
void low_check_operand_count(const low_func *f, unsigned least, unsigned most);
/* EMU_FENCE_IN_BLOCK if the scope of the instruction is the block, else 0. */
uint32_t low_fence_scope(const low_func *f);
/* EMU_RZ, EMU_RM or EMU_RP if the instruction has that word, else EMU_RN. */
unsigned low_rounding(const low_func *f);

/* -- registers and constants ------------------------------------------------------- */

/* A new virtual register. */
low_value low_temp(low_func *f, ptx_class width);
low_value low_constant(low_func *f, ptx_class width, uint64_t bits);
/* The value of a constant. */
uint64_t low_constant_bits(const low_func *f, low_value value);
/* The width of a register. */
ptx_class low_width(const low_func *f, low_value value);

/* -- instructions ------------------------------------------------------------------ */

/* Appends an instruction, under the guard of the PTX instruction. The result is valid
 * until the next call. */
low_insn *low_emit(low_func *f, unsigned op, low_value d, low_value a, low_value b,
                   low_value c);
/* Adds a further operand to the instruction just emitted; written ones come first. */
void low_add_x(low_func *f, low_insn *insn, low_value value, bool written);

/* Emits a branch around the operations up to low_guard_end, for operations that must
 * not run under a guard prefix. Returns the label for low_guard_end, or UINT32_MAX. */
uint32_t low_guard_begin(low_func *f);
void low_guard_end(low_func *f, uint32_t label);

/* The value with subnormal numbers flushed to zero if the instruction has .ftz. */
low_value low_flush(low_func *f, low_value value);

/* Converts the part of a register that has type `type` to a register of another width.
 * Fails where the widths do not fit. */
void low_convert(low_func *f, low_value d, ptx_class dw, low_value a, ptx_class aw,
                 unsigned type);

#endif
