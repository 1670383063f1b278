/* Lowering: the state of one function, the helpers of all families of opcodes, and the
 * passes.
 *
 * Lowering turns each PTX instruction into instructions of the machine over virtual
 * registers. program.c makes the state and runs the passes on it: lower.c calls the
 * function of each opcode (tables/opcodes.h, lower_*.c), registers.c places the
 * registers, hoist.c takes out what is computed once, finish.c writes the final code.
 * All errors leave through emu_load_fail. */
#ifndef DEVICE_COMPILE_LOWER_H
#define DEVICE_COMPILE_LOWER_H

#include <stddef.h>
#include <stdint.h>

#include "device/base/counts.h"
#include "device/compile/code.h"
#include "device/compile/encoding.h"
#include "device/compile/operations.h"
#include "device/ptx/ir.h"
#include "device/ptx/load.h"
#include "device/ptx/words.h"

/* -- the constants of a program: vectors of 32 equal lanes, each stored once ------- */

/* Lowering adds them; program.c copies the bytes to the loaded program. The bytes are
 * in the arena `parsed`, which outlives the lowering of one function. */

typedef struct {
    uint8_t *bytes;
    size_t size, room;
    uint32_t *slots; /* hash table of offset + 1 */
    size_t count, slot_count;
} low_constants;

/* -- the state --------------------------------------------------------------------- */

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
    bool meets;     /* a branch whose lanes all come to the label `meet` */
    uint32_t meet;
    uint16_t bound; /* number in low_func.bounds, or 0 */
    emu_callsite *call;
    emu_count *counted; /* of an access, or NULL */
    uint32_t line, ptx_line;
    uint16_t file;
} low_insn;

typedef struct {
    uint32_t offset; /* in the frame */
    uint8_t width;   /* ptx_class */
    uint8_t once;    /* how often it is computed; then `offset` has its tag */
    bool is_linear;  /* set by low_hoist: tid.x plus a value that all lanes share */
} low_register;

/* A basic block. */
typedef struct {
    uint32_t first, last; /* its first and its last instruction */
    uint32_t succ[2];     /* blocks that follow it, or LOW_NO_BLOCK */
    uint32_t branch;      /* number + 1 of the brx at its end, or 0 */
} low_block;

#define LOW_NO_BLOCK UINT32_MAX

/* The counting of a program: see lower_count.c. */
typedef struct {
    emu_counts *record;
    bool is_new;
    unsigned flags;           /* EMU_COUNT_ */
    uint32_t next, functions; /* numbers of the next count and function */
    /* in one function */
    uint32_t function;      /* its number */
    uint32_t block, access; /* counts of the block and of the instruction, or none */
    uint32_t first_row;
    uint32_t *label_rows; /* the row behind each label */
} low_counts;

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
    low_block *blocks; /* set by low_find_blocks */
    uint32_t block_count;
    uint32_t *block_of_label;
    bool *is_passed;    /* of each label of the PTX: it is before f->in */
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
    struct low_holding *holdings; /* of each register; NULL: no address has bounds */
    emu_bound *bounds;            /* from number 1 on */
    size_t bound_count, bound_room;
    bool gives_way;     /* set by low_find_exchanges, see emu_func */
    low_counts *counts; /* NULL: nothing is counted */
    unsigned dump;      /* EMU_DUMP_ flags, see below */
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
/* Writes the opcode and its words, such as "ld.global.f32". */
void low_text(const low_func *f, char *text, size_t room);
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

/* -- addresses of PTX operands, and the accesses to memory that use them ----------- */

/* The address of an access, for low_access. */
typedef struct {
    uint32_t aux; /* EMU_AT_ (encoding.h): the space and the form of the address */
    low_value base;
    int64_t offset;
    uint16_t bound; /* as in low_insn */
} low_place;

/* The place that an operand in brackets names. */
low_place low_address(low_func *f, const ptx_operand *operand);
/* The place with a state space (EMU_AT_), for an address in a register. A variable
 * keeps its own state space. */
low_place low_place_in(low_place p, uint32_t space);
/* The generic address of a place, in a 64-bit register or constant. Fails for local
 * memory. */
low_value low_generic_address(low_func *f, low_place p);
/* Whether the instruction names global memory or constant memory, which are one address
 * space of the machine. */
bool low_is_global_or_const(const low_func *f);
/* Emits an operation on memory. */
low_insn *low_access(low_func *f, unsigned op, low_value d, low_place p, low_value b);

/* -- operands: values to read, registers to write, checks of types ----------------- */

/* -- values ------------------------------------------------------------------------ */

/* A value to read as this type; numbers become constants of it. */
low_value low_source(low_func *f, const ptx_operand *operand, unsigned type);
/* The same, but a register may have another width than the type; sets *width. */
low_value low_source_any(low_func *f, const ptx_operand *operand, unsigned type,
                         ptx_class *width);
/* low_source of the instruction's operand of this index. */
low_value low_source_at(low_func *f, unsigned index, unsigned type);
low_value low_predicate(low_func *f, const ptx_operand *operand);
/* A register to write, of this width. For a sink (_) it is a new register. */
low_value low_target(low_func *f, const ptx_operand *operand, ptx_class width);
/* The same for any width; sets *width. */
low_value low_target_any(low_func *f, const ptx_operand *operand, ptx_class *width);
/* The first operand as a register of this type to write. */
low_value low_result(low_func *f, unsigned type);
/* The number of the lane, in a new register. */
low_value low_lane(low_func *f);
/* The value of an operand that must be a number. */
uint64_t low_number(const low_func *f, const ptx_operand *operand);

/* -- types of registers ------------------------------------------------------------ */

/* The number of elements that .v2, .v4 or .v8 names; 1 without one. */
unsigned low_vector_count(const low_func *f);
/* The bytes of a vector's elements, which must be equal; 0 if none is a register. */
unsigned low_element_bytes(const low_func *f, const ptx_operand *vector);
/* The same for a load or store; the registers must not be narrower than the type. */
void low_check_access(const low_func *f, const ptx_operand *operand, unsigned type);
/* The same; the registers must have the size of the type. */
void low_check_type(const low_func *f, const ptx_operand *operand, unsigned type);

/* In aux of shfl and match: there is no predicate to write. */
enum { LOW_NO_PREDICATE = 4 };

/* -- the functions that lower the opcodes ------------------------------------------ */

/* The column `lower` of tables/opcodes.h. Each lowers the instruction f->in; f->ops are
 * the operations of its row. */

#define LOW_PROTOTYPE(opcode, lower, ...) void lower(low_func *f);
PTX_OPCODES(LOW_PROTOTYPE)
#undef LOW_PROTOTYPE

/* -- forms of cp, st and red that are lowered with other opcodes: lower_async.c ---- */

/* cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk, ... */
void low_bulk(low_func *f);
/* cp.async.mbarrier.arrive */
void low_copy_arrive(low_func *f);
/* The end of st.async and red.async: operand 2, an mbarrier, counts the bytes that were
 * written. */
void low_complete_bytes(low_func *f, unsigned bytes);

/* -- the passes -------------------------------------------------------------------- */

/* Sets the slots of a function, its name, and local_size as far as it is known. All
 * functions must be declared before a call is lowered. */
void low_declare(emu_load *load, ptx_function *function, emu_func *out);
/* Makes the registers of f->function, and the instruction that enters it. */
void low_begin(low_func *f);
/* Finds which variables the addresses in registers belong to, before lowering. */
void low_find_bounds(low_func *f);
/* The number of the bounds of an address; 0: unknown. */
uint16_t low_bound_of(low_func *f, const ptx_operand *operand);
/* Lowers all instructions of f->function. */
void low_instructions(low_func *f);

/* -- counting: lower_count.c ------------------------------------------------------- */

/* Before and behind the instructions of a function, and those of f->in, which begin at
 * number `first`. Called only if f->counts is set. */
void low_count_begin(low_func *f);
void low_count_before(low_func *f);
void low_count_after(low_func *f, size_t first);
void low_count_end(low_func *f);

/* -- blocks and registers ---------------------------------------------------------- */

/* Finds the basic blocks. */
void low_find_blocks(low_func *f);
/* Finds the label at which all lanes of a branch meet again, if there is one. */
void low_find_meetings(low_func *f);

/* Sets the offset of each register, frame_size and pressure. */
void low_allocate(low_func *f);

/* -- values that are computed once, and addresses without own instructions --------- */

/* Many instructions of a kernel depend only on its parameters and on the numbers of the
 * block and of the thread: they give the same in each block of a launch or in each warp
 * of a block. Such an instruction leaves the code. The machine runs it once
 * (emu_func.once) and keeps the result in memory that all warps of the block read.
 *
 * An access to memory whose address is a base, the same for all lanes, plus a 32-bit
 * index times a constant takes base and index as its operands (EMU_AT_INDEX), so the
 * instructions that computed the address are dropped.
 *
 * A product whose only use is a sum becomes a multiply-add, and the high half of a
 * product is computed alone. No result changes.
 *
 * Called by registers.c between the intervals and the places of registers. */

/* `start` and `end` are the intervals of the registers in half instructions. Registers
 * that need no place in the frame get the start UINT32_MAX. */
void low_hoist(low_func *f, uint32_t *start, uint32_t *end);

/* -- shared memory between two waits ----------------------------------------------- */

/* Sets EMU_AT_EXCHANGES and EMU_AT_AFTER_LOADS of accesses. */
void low_find_exchanges(low_func *f);

/* -- the final code ---------------------------------------------------------------- */

/* Writes the code into `out`. `handlers` has the function of each operation. */
void low_finish(const low_func *f, const emu_handler_set *handlers, emu_func *out);

/* -- the text of a function after each pass ---------------------------------------- */

/* The letters in PYCUDA_EMULATOR_DUMP name the passes: p for parsing, l for lowering, r
 * for the places of registers, c for the final code. The text goes to stderr. For
 * developers of the software device. */

enum {
    EMU_DUMP_PARSED = 1,
    EMU_DUMP_LOWERED = 2,
    EMU_DUMP_REGISTERS = 4,
    EMU_DUMP_CODE = 8
};

/* Read the letters of the environment variable as EMU_DUMP_ flags. False for others. */
bool emu_dump_parse(const char *text, unsigned *flags);

/* The EMU_DUMP_ flags of the environment variable. */
unsigned emu_dump_flags(void);

/* A function as the parser left it. */
void emu_dump_parsed(const ptx_function *function);
/* The PTX instruction f->in and its machine instructions, which are those from number
 * `first` on. */
void emu_dump_lowered(const low_func *f, size_t first);
/* The machine instructions with the places of their registers in the frame. */
void emu_dump_registers(const low_func *f);
/* The final code. */
void emu_dump_code(const emu_func *func);

/* -- matrices ---------------------------------------------------------------------- */

/* The forms of matrix operations: which shapes exist with which types, and the fields
 * of the machine's operations mma and wgmma. Used by lower_matrix.c and lower_wmma.c.
 */

/* A product of matrices. The types are EMU_MATRIX_ numbers. */
typedef struct {
    ptx_shape shape;
    unsigned d, a, b, c;
    uint64_t flags; /* EMU_MMA_ fields other than the shape and the types */
} low_matrix_product;

enum { LOW_MAX_MATRIX_TYPES = 4 };

/* The types among the words, in their order; returns how many. Fails for more than
 * LOW_MAX_MATRIX_TYPES. */
unsigned low_matrix_types(const low_func *f, unsigned types[LOW_MAX_MATRIX_TYPES]);
/* The shape among the words; fails without one. */
ptx_shape low_matrix_shape(const low_func *f);
/* The bit of an EMU_MMA_ flag if the instruction has the word, else 0. */
uint64_t low_matrix_flag(const low_func *f, unsigned word, unsigned bit);
/* Fails for a saturation, a rounding or a combination of bits that the types lack. */
void low_check_product_modifiers(const low_func *f, const low_matrix_product *product);
/* imm of the operation. */
int64_t low_product_fields(const low_matrix_product *product);
ptx_class low_matrix_register_class(unsigned type);
/* The operand's registers: those to write, or those to read. Fails unless it has
 * `count` of them. */
void low_matrix_targets(low_func *f, const ptx_operand *operand, unsigned type,
                        unsigned count, low_value *out);
void low_matrix_sources(low_func *f, const ptx_operand *operand, unsigned type,
                        unsigned count, low_value *out);

/* -- linking ----------------------------------------------------------------------- */

/* Linking: what is done with all modules of a load between parsing and lowering. Called
 * by program.c. */

/* -- the symbols of a program ------------------------------------------------------ */

/* The definition of each name, and the initialisers of variables, which may hold
 * addresses. */

/* Removes the modules of libraries that define nothing that the others need. If all are
 * of libraries, all stay. Returns the first of those that stay. */
ptx_module *emu_symbols_choose(ptx_module *modules);
/* Sets `same` of each declaration to its definition, in whichever module it is. */
void emu_symbols_link(emu_load *load, ptx_module *modules);
/* Writes the initialisers of a module's variables into their memory, at `address`. */
void emu_symbols_initialise(emu_load *load, ptx_module *module);

/* -- what functions refer to: other functions, and shared variables ---------------- */

/* Set once; then the places and sizes below walk over it for each kernel. */

typedef void (*emu_operand_visit)(void *data, ptx_operand *operand);

/* Sets the references of all functions. Must come before the walks. */
void emu_references_collect(emu_load *load, ptx_module *modules);

/* -- the places of shared variables in the shared memory of a block ---------------- */

/* A device function has one code for all kernels, so the variables that it uses have
 * the same place in all kernels. Each kernel places its other variables behind these.
 */

/* What the walks of one load share. Begin with zeros. */
typedef struct {
    bool in_functions;    /* a device function uses a shared variable */
    ptx_function **queue; /* memory that the walks use one after the other */
    size_t room;
} emu_shared_state;

/* Places the shared variables that device functions use, and sets their in_function. */
void emu_shared_place_common(emu_load *load, ptx_module *modules,
                             emu_shared_state *state);
/* Places the other shared variables of one kernel. *size is the end of all that the
 * kernel can reach. Returns the start of dynamic shared memory. */
uint64_t emu_shared_place_kernel(emu_load *load, ptx_function *kernel,
                                 ptx_module *modules, emu_shared_state *state,
                                 uint64_t *size);

/* -- the stack that each function needs -------------------------------------------- */

/* Sets stack_size and unbounded of all functions from the calls between them. */
void emu_stack_sizes(ptx_module *modules);

#endif
