/* From parsed PTX to instructions of the machine.
 *
 * lower.c walks a function; each family of opcodes has a file lower_*.c that emits
 * instructions over virtual registers; regalloc.c gives these their places in the
 * frame; lower.c writes the final code. program.c drives it. Everything fails through
 * emu_load_fail. */
#ifndef DEVICE_COMPILE_LOWER_H
#define DEVICE_COMPILE_LOWER_H

#include "device/compile/code.h"
#include "device/compile/operations.h"
#include "device/ptx/ir.h"

/* An operand: 0 none, odd a constant's place, else (register + 1) << 1. */
typedef uint32_t low_value;

/* Operand e of the operations that take a number there (see lower.c). */
#define LOW_NUMBER(n) ((low_value)(n) << 1 | 1)

/* A machine instruction before its registers have places. */
typedef struct {
    uint16_t op;
    bool guarded, guard_negated;
    uint8_t round;     /* 0 none, else index into the rounding modes */
    low_value guard;   /* predicate */
    low_value d, e;    /* written */
    low_value a, b, c; /* read */
    uint32_t x, x_count,
        x_defs; /* further operands in low_func.xs, written ones first */
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
} low_register;

/* Constants of a program: vectors of 32 equal lanes. */
typedef struct {
    uint8_t *bytes;
    size_t size, room;
    uint32_t *slots; /* hash table of offset + 1 */
    size_t count, slot_count;
} low_constants;

typedef struct {
    emu_load *load;
    low_constants *constants;
    ptx_function *function;
    const ptx_insn *in; /* being lowered */
    low_insn *insns;
    size_t count, room;
    low_value *xs;
    size_t x_count, x_room;
    low_register *registers; /* those of the PTX first, then temporaries */
    size_t register_count, register_room;
    uint32_t label_count;
    low_value carry; /* the condition code */
    bool plain;      /* emit without the guard of the instruction */
    uint64_t local_size;
    uint64_t call_base; /* of the .param variables of calls, in local memory */
    uint64_t dynamic_shared;
    uint32_t frame_size, pressure;
} low_func;

/* -- lower.c: helpers -------------------------------------------------------------- */

_Noreturn void low_fail(const low_func *f, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
_Noreturn void low_unsupported(const low_func *f) __attribute__((noreturn));
const char *low_opcode_name(unsigned opcode);

bool low_has(const low_func *f, unsigned word);
/* The n-th type among the words, or PTX_W_NONE. */
unsigned low_type(const low_func *f, unsigned n);
/* Fails unless the instruction has that many operands. */
void low_operands(const low_func *f, unsigned least, unsigned most);

low_value low_temp(low_func *f, ptx_class width);
low_value low_constant(low_func *f, ptx_class width, uint64_t bits);
low_insn *low_emit(low_func *f, unsigned op, low_value d, low_value a, low_value b,
                   low_value c);
/* Adds a further operand to the instruction just emitted. */
void low_add_x(low_func *f, low_insn *insn, low_value value, bool written);
/* -- lower_type.c: which registers go with the type of an instruction -----------------
 */

/* How many elements .v2, .v4, .v8 say; 1 without one. */
unsigned low_vector_count(const low_func *f);
/* The bytes of a vector's elements, which must be the same; 0 if none is a register. */
unsigned low_element_bytes(const low_func *f, const ptx_operand *vector);
/* Fails where floats' registers (all of a vector's) meet an integer type. */
void low_check_kind(const low_func *f, const ptx_operand *operand, unsigned type);
/* The same for a load or store, whose registers may be wider than the type. */
void low_check_access(const low_func *f, const ptx_operand *operand, unsigned type);
/* The same, and where the size of a register or of the elements is another. */
void low_check_type(const low_func *f, const ptx_operand *operand, unsigned type);

/* For operations that must not run under a guard prefix: branches around them. Returns
 * the label for low_guard_end, or UINT32_MAX. */
uint32_t low_guard_begin(low_func *f);
void low_guard_end(low_func *f, uint32_t label);

/* A value to read as this type; numbers become constants of it. */
low_value low_source(low_func *f, const ptx_operand *operand, unsigned type);
/* As above, but a register may be wider than the type. */
low_value low_source_any(low_func *f, const ptx_operand *operand, unsigned type,
                         ptx_class *width);
low_value low_predicate(low_func *f, const ptx_operand *operand);
/* A register to write, of this width; a sink gives a fresh one. */
low_value low_target(low_func *f, const ptx_operand *operand, ptx_class width);
low_value low_target_any(low_func *f, const ptx_operand *operand, ptx_class *width);
/* The number of an operand that must be one. */
uint64_t low_number(const low_func *f, const ptx_operand *operand);
/* The address of a variable in its state space. */
low_value low_address_of(low_func *f, const ptx_operand *operand, ptx_class width);
/* Converts the low part of type `type` of a register to a register of another width. */
void low_convert(low_func *f, low_value d, ptx_class dw, low_value a, ptx_class aw,
                 unsigned type);
ptx_class low_width(const low_func *f, low_value value);

/* -- lower_mem.c: accesses --------------------------------------------------------- */

/* Where an access goes: what low_access needs for it. */
typedef struct {
    uint32_t aux;
    low_value base;
    int64_t offset;
} low_place;

low_place low_address(low_func *f, const ptx_operand *operand);
low_insn *low_access(low_func *f, unsigned op, low_value d, low_place p, low_value b);

/* -- families ---------------------------------------------------------------------- */

bool low_arithmetic(low_func *f);
bool low_bits(low_func *f);
bool low_moves(low_func *f);
void low_cvt(low_func *f);
bool low_memory(low_func *f);
bool low_flow(low_func *f);
bool low_textures(low_func *f);
bool low_matrix(low_func *f);

/* Rounding of the instruction: index into low_rounding_modes, 0 when it has none or is
 * to nearest. */
unsigned low_rounding(const low_func *f);
/* .ftz on a source, .ftz and .sat on a result. */
low_value low_flush(low_func *f, low_value value);

/* -- regalloc.c -------------------------------------------------------------------- */

/* Fills registers[].offset, frame_size, pressure. */
void low_allocate(low_func *f);

/* -- lower.c ----------------------------------------------------------------------- */

/* Lowers a function with a body into `out`, whose slots are set already. */
void low_lower(emu_load *load, low_constants *constants, ptx_function *function,
               emu_func *out, const emu_op *ops);
/* Sets the slots, and local_size as far as it is known: before any call is lowered. */
void low_declare(emu_load *load, ptx_function *function, emu_func *out);
uint64_t low_function_address(const emu_func *func);

#endif
