/* Encodings of an instruction's fields: what lowering writes and the machine reads.
 *
 * Most are flags and small fields of emu_insn.aux; EMU_ATOM_ numbers are in operand e.
 * The flags of half-precision operations are in device/base/half.h. */
#ifndef DEVICE_COMPILE_ENCODING_H
#define DEVICE_COMPILE_ENCODING_H

/* -- operations on memory: the state space and the form of the address, in aux ------
 */

enum {
    EMU_AT_GENERIC,
    EMU_AT_GLOBAL, /* and constant memory */
    EMU_AT_SHARED,
    EMU_AT_LOCAL, /* an offset in the thread's local memory */
    EMU_AT_FRAME, /* an offset in the activation's part of it */
    EMU_AT_PARAM, /* of the kernel */
    EMU_AT_MASK = 7,
    EMU_AT_BASE64 = 8,  /* operand a is a 64-bit register */
    EMU_AT_BASE32 = 16, /* operand a is a 32-bit register */
    /* Operand a is a 32-bit index. The address is operand c, which is the same in all
     * lanes, plus the index times the scale. */
    EMU_AT_INDEX = 32,
    EMU_AT_RESULT = 64,    /* an atomic operation that returns the old value */
    EMU_AT_UNSIGNED = 128, /* the index is unsigned */
    EMU_AT_LINEAR = 256,   /* the index is tid.x plus a value that all lanes share */
    EMU_AT_SCALE_SHIFT = 16,
    EMU_AT_MOST_SCALE = 0x7fff
};

/* -- atom_16, atom_32, atom_64, sured: which atomic operation, in operand e -------- */

enum {
    EMU_ATOM_EXCH,
    EMU_ATOM_CAS,
    EMU_ATOM_ADD,
    EMU_ATOM_AND,
    EMU_ATOM_OR,
    EMU_ATOM_XOR,
    EMU_ATOM_MIN_U,
    EMU_ATOM_MAX_U,
    EMU_ATOM_MIN_S,
    EMU_ATOM_MAX_S,
    EMU_ATOM_INC,
    EMU_ATOM_DEC,
    EMU_ATOM_ADD_F32,
    EMU_ATOM_ADD_F64,
    EMU_ATOM_ADD_F16,
    EMU_ATOM_ADD_BF16,
    EMU_ATOM_ADD_F16X2,
    EMU_ATOM_ADD_BF16X2
};

/* -- simd_video: the operation and the comparison in aux, flags in imm ------------- */

enum {
    EMU_VIDEO_ADD,
    EMU_VIDEO_SUB,
    EMU_VIDEO_AVRG,
    EMU_VIDEO_ABSDIFF,
    EMU_VIDEO_MIN,
    EMU_VIDEO_MAX,
    EMU_VIDEO_SET,
    EMU_VIDEO_COMPARE_SHIFT = 4 /* of a set: eq, ne, lt, le, gt, ge */
};

enum {
    EMU_VIDEO_PAIRS = 1, /* two 16-bit parts instead of four bytes */
    EMU_VIDEO_A_SIGNED = 2,
    EMU_VIDEO_B_SIGNED = 4,
    EMU_VIDEO_D_SIGNED = 8,
    EMU_VIDEO_SIGNED = 2 | 4 | 8, /* all three */
    EMU_VIDEO_SAT = 16,
    EMU_VIDEO_SUM = 32 /* add the parts of the result to c */
};

/* -- wmma: flags ------------------------------------------------------------------- */

enum { EMU_WMMA_D_HALF = 1, EMU_WMMA_C_HALF = 2 };

/* -- tex: flags and fields --------------------------------------------------------- */

/* tex: operand a is the handle. x holds the results (4, or 2 of packed halves), the
 * layer, the coordinates, then the level or two derivatives of as many parts as there
 * are coordinates, then the offsets.
 * tex_query: a is the handle, b the level, aux the PTX_W_ word; imm is 1 for a surface.
 */
enum {
    EMU_TEX_GEOMETRY = 7, /* emu_geometry */
    EMU_TEX_INTEGER = 1 << 3,
    EMU_TEX_LEVEL = 1 << 4,
    EMU_TEX_GRADIENT = 1 << 5,
    EMU_TEX_GATHER = 1 << 6,
    EMU_TEX_CHANNEL_SHIFT = 7, /* of a gather, two bits */
    EMU_TEX_OFFSETS = 1 << 9,
    EMU_TEX_HALVES = 1 << 10
};

/* -- suld, sust, sured: fields beside the geometry --------------------------------- */

/* Operand a is the handle; x holds the values, the layer, the coordinates. */
enum {
    EMU_SURF_TRAP,
    EMU_SURF_CLAMP,
    EMU_SURF_ZERO,
    EMU_SURF_MODE_SHIFT = 3,   /* two bits */
    EMU_SURF_COUNT_SHIFT = 8,  /* elements, four bits */
    EMU_SURF_BYTES_SHIFT = 12, /* of an element, five bits */
    EMU_SURF_WIDE_SHIFT = 17   /* of a register, five bits */
};

#endif
