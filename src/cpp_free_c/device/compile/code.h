/* The code of the machine: instructions, functions, kernels, programs.
 *
 * device/compile writes it and device/machine runs it. It is data that never changes
 * once a program is loaded. A register is a vector of EMU_LANES lanes in the frame of
 * the function's activation; a predicate is a 32-bit mask. An operand is a number: a
 * byte offset, which is a multiple of 4, plus an EMU_TAG_ number, which says from where
 * it counts. To run an instruction, the machine calls its `run`,
 * which returns the next instruction, or NULL to stop the warp. */
#ifndef DEVICE_COMPILE_CODE_H
#define DEVICE_COMPILE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/cuda_abi.h"

enum { EMU_LANES = 32, EMU_BARRIERS = 16 /* of a block */ };
#define EMU_FULL 0xffffffffu

/* -- operands ---------------------------------------------------------------------- */

enum {
    EMU_TAG_FRAME,
    EMU_TAG_CONSTANT, /* the constants of the program */
    EMU_TAG_UNIFORM, /* values of a kernel that are computed once, equal in all lanes */
    EMU_TAG_WARP,    /* those that differ between lanes and warps, not between blocks */
    EMU_TAGS,
    EMU_TAG_MASK = EMU_TAGS - 1
};

/* How often a block computes a value, see hoist.c. */
enum {
    EMU_EACH, /* in each warp */
    EMU_ONCE_LAUNCH,
    EMU_ONCE_BLOCK,
    EMU_ONCE_WARP, /* once in a launch, for each warp of a block */
    EMU_ONCE_LEVELS,
    EMU_NEVER = EMU_ONCE_LEVELS
};

/* -- addresses --------------------------------------------------------------------- */

/* Generic addresses of shared memory, local memory and functions are in windows above
 * all addresses of the host. */
#define EMU_SHARED_WINDOW ((uint64_t)1 << 48)
#define EMU_LOCAL_WINDOW (((uint64_t)1 << 48) + ((uint64_t)1 << 40))
#define EMU_FUNC_WINDOW (((uint64_t)1 << 48) + ((uint64_t)2 << 40))
#define EMU_WINDOW_SIZE ((uint64_t)1 << 32)
#define EMU_FUNC_STEP 16
/* The address of a function by its number in the program. */
#define EMU_FUNC_ADDRESS(number) (EMU_FUNC_WINDOW + (uint64_t)(number)*EMU_FUNC_STEP)

/* A kernel's local memory begins with bytes that no variable has: no access is legal
 * there. */
enum { EMU_LOCAL_START = 16 };

/* -- instructions ------------------------------------------------------------------ */

typedef struct emu_insn emu_insn;
typedef struct emu_warp emu_warp; /* of the machine */
typedef struct emu_func emu_func;
typedef struct emu_program emu_program;
typedef const emu_insn *(*emu_handler)(emu_warp *warp, const emu_insn *insn);

/* The functions of each operation, by EMU_OP_ number: for one warp, and for several
 * warps in lockstep. */
typedef struct {
    const emu_handler *run, *lockstep;
} emu_handler_set;

struct emu_insn {
    emu_handler run;
    emu_handler lockstep; /* for several warps (device/machine/warp/warp.h) */
    uint32_t d, e;        /* written: offsets in the frame */
    uint32_t a, b, c;     /* read: offsets, odd for constants */
    uint32_t aux;
    union {
        int64_t imm;
        const struct emu_callsite *call;
    };
    const uint32_t *x;          /* further operands, written ones first */
    uint16_t op;                /* EMU_OP_ number */
    uint8_t used;               /* EMU_USES_ flags: which operands it has */
    uint8_t x_count, x_written; /* registers among x, and those that are written */
};

/* The operands of an instruction that are registers. An absent operand has offset 0, as
 * a register may have. */
enum {
    EMU_USES_D = 1,
    EMU_USES_E = 2,
    EMU_USES_A = 4,
    EMU_USES_B = 8,
    EMU_USES_C = 16
};

/* One parameter of a function or of a call. */
typedef struct {
    bool is_reg;
    uint32_t offset; /* register, or place in the activation's local memory */
    uint32_t size;   /* bytes; of a register: of its lanes */
} emu_slot;

/* The target, the parameters and the results of a call. */
typedef struct emu_callsite {
    const emu_func *func; /* NULL: the address is operand a */
    unsigned service;     /* EMU_SERVICE_ constant of runtime.h, or 0 */
    uint32_t param_count, return_count;
    const emu_slot *params, *returns;
} emu_callsite;

/* The line of the source, 0 if it is unknown, and that of the PTX. */
typedef struct {
    uint32_t line;
    uint16_t file;
    uint32_t ptx_line;
} emu_place;

/* A value with EMU_TAG_WARP that is the address of accesses to shared memory, and the
 * place of its emu_shape. Both count from the start of the values of the warp. */
typedef struct {
    uint32_t value, shape;
} emu_shaped;

/* How such a value differs between the lanes of each half of a warp: lane i has
 * start + i * step. Blocks with rows of 16 threads have such addresses. */
typedef struct {
    uint32_t start[2], step[2];
    bool is_known; /* false: the lanes differ in another way */
    /* Of all warps of the block, in the shape of each of them: whether all shapes are
     * known and all steps are 0 or `width`; the least and the greatest start, and the
     * bitwise or of all. */
    bool is_common;
    uint32_t width, least, most, bits;
} emu_shape;

/* The variables of shared or local memory that an access may reach. */
typedef struct {
    uint32_t low, high; /* offsets in shared memory, or in the activation's part */
    const char *name;   /* of the variable; NULL: several */
    bool is_local;
} emu_bound;

/* Instructions that run once; their results are not in the frame. */
typedef struct {
    const emu_insn *code;
    uint32_t count;
} emu_once;

enum {
    EMU_TRIED = 1,     /* its first block has run with checks */
    EMU_TRIED_RACE = 2 /* and they have found a race */
};

struct emu_func {
    const char *name;
    struct emu_count_function *counted; /* NULL: its launches are not */
    const emu_insn *code;
    const emu_place *places;  /* of each instruction */
    _Atomic uint8_t *tried;   /* of a kernel: EMU_TRIED_ flags */
    _Atomic uint8_t *warned;  /* of each instruction: the checks that have warned */
    const uint16_t *bound_of; /* of each instruction: number in `bounds`, or 0; NULL:
                                 all are 0 */
    const emu_bound *bounds;  /* from number 1 on */
    uint32_t count;
    uint32_t frame_size; /* bytes, a multiple of 64 */
    uint32_t local_size; /* bytes of local memory of an activation */
    uint32_t call_base;  /* offset in it of the parameters of calls */
    uint32_t own_end;    /* end of its variables in it; 0: it calls functions */
    uint32_t number;     /* of its address */
    uint32_t param_count, return_count;
    const emu_slot *params, *returns;
    uint32_t dynamic_shared;        /* of a kernel: offset of dynamic shared memory */
    uint32_t registers;             /* 32-bit registers that it needs, at most */
    uint64_t stack_size;            /* local memory of it and all that it calls */
    bool unbounded;                 /* recursive or calls through pointers */
    bool gives_way;                 /* some stores have EMU_AT_AFTER_LOADS */
    emu_once once[EMU_ONCE_LEVELS]; /* of a kernel */
    uint32_t uniform_size;          /* bytes of the values with EMU_TAG_UNIFORM */
    uint32_t warp_size;             /* and with EMU_TAG_WARP, of one warp */
    const emu_shaped *shaped;
    uint32_t shaped_count;
    const uint32_t *unset; /* registers that it may read before it writes them */
    uint32_t unset_count;
    const emu_program *program;
};

/* -- kernels and programs ---------------------------------------------------------- */

typedef struct {
    size_t offset;
    size_t size;
    size_t align;
} emu_param;

typedef struct {
    const char *name;
    size_t param_count;
    const emu_param *params;
    size_t params_size;      /* of the packed parameter block */
    unsigned max_threads;    /* per block: .maxntid, .reqntid, registers, 1024 */
    unsigned max_ntid[3];    /* .maxntid, or zeros */
    unsigned req_ntid[3];    /* .reqntid, or zeros */
    unsigned req_cluster[3]; /* .reqnctapercluster, or zeros */
    unsigned registers;      /* per thread */
    size_t shared_size;      /* static, bytes */
    size_t const_size;       /* of the program's .const variables, bytes */
    size_t local_size;       /* per thread, bytes */
    unsigned ptx_version;    /* 10 * major + minor */
    unsigned target;         /* 75 for sm_75 */
} emu_kernel_info;

typedef struct emu_kernel {
    emu_kernel_info info;
    const emu_func *func;
    const emu_program *program;
} emu_kernel;

typedef struct {
    const char *name;
    struct emu_allocation *allocation;
    uint64_t serial; /* of the allocation, until its record is used again */
    uint64_t address;
    size_t size;
    bool is_visible;
    unsigned reference; /* PTX_W_texref, PTX_W_surfref, or 0 */
} emu_variable;

struct emu_program {
    struct emu_arena_chunk *memory; /* of the whole program, with this record */
    CUcontext context;
    const uint8_t *constants; /* the vectors of odd operands */
    emu_kernel *kernels;
    size_t kernel_count;
    emu_variable *variables;
    size_t variable_count;
    const emu_func *const *funcs; /* by number; NULL for a kernel */
    size_t func_count;
    bool has_bounds;          /* of some access */
    const char *const *files; /* by number of .file; NULL where there is none */
    size_t file_count;
    uint64_t text_hash; /* of the PTX text (program.c); 0: of several */
};

#endif
