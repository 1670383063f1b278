/* Encodings of an instruction's fields: what lowering writes and the machine reads.
 *
 * Most are flags and small fields of emu_insn.aux; EMU_ATOM_ numbers are in operand e.
 * The flags of half-precision operations are in device/base/number.h. */
#ifndef DEVICE_COMPILE_ENCODING_H
#define DEVICE_COMPILE_ENCODING_H

#include <stdint.h>

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
    EMU_AT_RESULT = 64,     /* an atomic operation that returns the old value */
    EMU_AT_UNSIGNED = 128,  /* the index is unsigned */
    EMU_AT_LINEAR = 256,    /* the index is tid.x plus a value that all lanes share */
    EMU_AT_SHAPE = 512,     /* operand a has an emu_shape */
    EMU_AT_STRONG = 1024,   /* a load or store that is volatile, relaxed, acquire or
                               release */
    EMU_AT_RELEASE = 2048,  /* an atomic operation that orders what comes before it */
    EMU_AT_IN_BLOCK = 4096, /* with RELEASE: only for threads of the block */
    EMU_AT_VOLATILE = 8192, /* with STRONG: it is volatile and nothing else */
    /* A load of shared memory, perhaps, with a store before or after it, or such a
     * store, and no place between them where the lanes of a warp wait for each other.
     */
    EMU_AT_EXCHANGES = 1 << 14,
    /* A store that may follow a load of shared memory, without a barrier between. */
    EMU_AT_AFTER_LOADS = 1 << 15,
    EMU_AT_SCALE_SHIFT = 16,
    EMU_AT_SHAPE_SHIFT = 16, /* its place among the values of the warp */
    EMU_AT_MOST_SCALE = 0x7fff
};

/* -- lt and le of 32-bit integers, in aux -------------------------------------------
 */

/* One operand is tid.x plus a value that all lanes share, the other one such a value.
 */
enum { EMU_ENDS_DECIDE = 1 };

/* -- atom_16, atom_32, atom_64, atom_128, sured: which atomic operation, in operand e
 * -------- */

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
    EMU_ATOM_ADD_BF16X2,
    EMU_ATOM_MIN_F16,
    EMU_ATOM_MIN_BF16,
    EMU_ATOM_MIN_F16X2,
    EMU_ATOM_MIN_BF16X2,
    EMU_ATOM_MAX_F16,
    EMU_ATOM_MAX_BF16,
    EMU_ATOM_MAX_F16X2,
    EMU_ATOM_MAX_BF16X2
};

/* -- fence: what it orders, in aux ------------------------------------------------- */

enum {
    EMU_FENCE_IN_BLOCK = 1, /* only for threads of the block */
    EMU_FENCE_ACQUIRE = 2   /* of a load: it does not order what comes before */
};

/* -- bulk_copy and tensor_copy: flags and fields in aux, a reduction in operand e ----
 */

/* bulk_copy: x holds the generic addresses of the target and the source, the bytes, the
 * generic address of the mbarrier, the blocks of a multicast. tensor_copy: x holds the
 * generic addresses of the tensor map and of the tile, that of the mbarrier, the blocks
 * of a multicast, the coordinates, then the offsets of im2col. */
enum {
    EMU_BULK_FROM_SHARED = 1, /* else to shared memory, from global memory */
    EMU_BULK_TO_SHARED = 2,
    EMU_BULK_MULTICAST = 4,
    EMU_BULK_IM2COL = 8,
    EMU_BULK_TYPE_SHIFT = 4, /* of a reduction by bulk_copy: emu_element; four bits */
    EMU_BULK_RANK_SHIFT = 8  /* of a tensor map, three bits */
};

/* -- simd_video, video, video_mad: operation and parts in aux, flags in imm -------- */

enum {
    EMU_VIDEO_ADD,
    EMU_VIDEO_SUB,
    EMU_VIDEO_AVRG,
    EMU_VIDEO_ABSDIFF,
    EMU_VIDEO_MIN,
    EMU_VIDEO_MAX,
    EMU_VIDEO_SET,
    EMU_VIDEO_SHL,
    EMU_VIDEO_SHR,
    EMU_VIDEO_COMPARE_SHIFT = 4, /* of a set: eq, ne, lt, le, gt, ge; four bits */
    /* of video and video_mad alone */
    EMU_VIDEO_SECOND_SHIFT = 8, /* EMU_VIDEO_THEN_, three bits */
    EMU_VIDEO_A_SHIFT = 12,     /* the parts of the operands, four bits each */
    EMU_VIDEO_B_SHIFT = 16,
    EMU_VIDEO_D_SHIFT = 20,
    EMU_VIDEO_SCALE_SHIFT = 24 /* of video_mad: bits to shift, four bits */
};

/* Parts of a word. */
enum {
    EMU_VIDEO_WHOLE,
    EMU_VIDEO_B0, /* and B1, B2, B3 */
    EMU_VIDEO_H0 = EMU_VIDEO_B0 + 4,
    EMU_VIDEO_H1
};

/* What is done with c. */
enum {
    EMU_VIDEO_THEN_NOTHING,
    EMU_VIDEO_THEN_ADD,
    EMU_VIDEO_THEN_MIN,
    EMU_VIDEO_THEN_MAX,
    EMU_VIDEO_THEN_MERGE /* the result replaces a part of c */
};

enum {
    EMU_VIDEO_PAIRS = 1, /* two 16-bit parts instead of four bytes */
    EMU_VIDEO_A_SIGNED = 2,
    EMU_VIDEO_B_SIGNED = 4,
    EMU_VIDEO_D_SIGNED = 8,
    EMU_VIDEO_SIGNED = 2 | 4 | 8, /* all three */
    EMU_VIDEO_SAT = 16,
    EMU_VIDEO_SUM = 32,       /* add the parts of the result to c */
    EMU_VIDEO_WRAP = 64,      /* shift counts modulo 32, else at most 32 */
    EMU_VIDEO_NEGATE = 128,   /* of video_mad: the product */
    EMU_VIDEO_NEGATE_C = 256, /* of video_mad */
    EMU_VIDEO_PLUS_ONE = 512  /* of video_mad */
};

/* -- cvt_tf32_f32: rounding and flags ---------------------------------------------- */

enum {
    EMU_TF32_RN,
    EMU_TF32_RNA,
    EMU_TF32_RZ,
    EMU_TF32_ROUNDING = 3, /* the mask of these */
    EMU_TF32_RELU = 4,
    EMU_TF32_FINITE = 8
};

/* -- mma, wgmma: types of elements, and the fields of imm -------------------------- */

/* The types of the elements of a matrix. */
enum {
    EMU_MATRIX_F16,
    EMU_MATRIX_BF16,
    EMU_MATRIX_TF32,
    EMU_MATRIX_E4M3,
    EMU_MATRIX_E5M2,
    EMU_MATRIX_F32,
    EMU_MATRIX_F64,
    EMU_MATRIX_S8,
    EMU_MATRIX_U8,
    EMU_MATRIX_S4,
    EMU_MATRIX_U4,
    EMU_MATRIX_B1,
    EMU_MATRIX_S32,
    EMU_MATRIX_TYPES
};

/* x holds the registers of D, A, B, C and the indices of a sparse A. A and B that
 * wgmma reads from shared memory have none: their descriptors are b and a. The
 * predicate c says whether wgmma adds C. */
enum {
    EMU_MMA_D_SHIFT = 0, /* four bits each: EMU_MATRIX_ types */
    EMU_MMA_A_SHIFT = 4,
    EMU_MMA_B_SHIFT = 8,
    EMU_MMA_C_SHIFT = 12,
    EMU_MMA_ROWS_SHIFT = 16,    /* eight bits */
    EMU_MMA_COLUMNS_SHIFT = 24, /* twelve bits, as has the depth */
    EMU_MMA_DEPTH_SHIFT = 36,
    EMU_MMA_ROUNDING_SHIFT = 48, /* two bits */
    EMU_MMA_SELECTOR_SHIFT = 50, /* two bits */
    EMU_MMA_SATFINITE_BIT = 52,
    EMU_MMA_XOR_BIT,          /* of b1: xor instead of and */
    EMU_MMA_SPARSE_BIT,       /* half of A is stored */
    EMU_MMA_A_BY_COLUMNS_BIT, /* .col of A; of wgmma: transposed */
    EMU_MMA_B_BY_ROWS_BIT,    /* .row of B; of wgmma: transposed */
    EMU_MMA_A_NEGATED_BIT,
    EMU_MMA_B_NEGATED_BIT,
    EMU_MMA_A_SHARED_BIT, /* of wgmma: A is in shared memory */
    EMU_MMA_GROUP_BIT     /* wgmma */
};

/* The bits of an element. */
static inline unsigned
emu_matrix_bits(unsigned type)
{
    static const uint8_t bits[EMU_MATRIX_TYPES] = {
        [EMU_MATRIX_F16] = 16, [EMU_MATRIX_BF16] = 16, [EMU_MATRIX_TF32] = 32,
        [EMU_MATRIX_E4M3] = 8, [EMU_MATRIX_E5M2] = 8,  [EMU_MATRIX_F32] = 32,
        [EMU_MATRIX_F64] = 64, [EMU_MATRIX_S8] = 8,    [EMU_MATRIX_U8] = 8,
        [EMU_MATRIX_S4] = 4,   [EMU_MATRIX_U4] = 4,    [EMU_MATRIX_B1] = 1,
        [EMU_MATRIX_S32] = 32};

    return bits[type];
}

/* The registers of a warp's fragment of this many elements. */
static inline unsigned
emu_matrix_registers(unsigned elements, unsigned type)
{
    unsigned bits = emu_matrix_bits(type) * elements / 32;

    if (type == EMU_MATRIX_F64) {
        return bits / 64;
    }
    return bits < 32 ? 1 : bits / 32;
}

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
    EMU_TEX_HALVES = 1 << 10,
    EMU_TEX_UNSIGNED = 1 << 11, /* the results are to be integers, else floats */
    EMU_TEX_SIGNED = 1 << 12
};

/* -- suld, sust, sured: fields beside the geometry --------------------------------- */

/* Operand a is the handle; x holds the values, the layer, the coordinates. */
enum {
    EMU_SURF_TRAP,
    EMU_SURF_CLAMP,
    EMU_SURF_ZERO,
    EMU_SURF_MODE_SHIFT = 3,     /* two bits */
    EMU_SURF_COUNT_SHIFT = 8,    /* elements, four bits */
    EMU_SURF_BYTES_SHIFT = 12,   /* of an element, five bits */
    EMU_SURF_WIDE_SHIFT = 17,    /* of a register, five bits */
    EMU_SURF_FORMATTED = 1 << 22 /* .p: the format of the surface counts */
};

#endif
