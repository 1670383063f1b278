/* Generated kernels: how one is named, found in its context, and launched.
 *
 * A key says all that decides about the text of a kernel. The table of a context maps
 * keys to loaded functions; on a miss pycuda._array writes and compiles the text. The
 * table is part of the Context object and ends with the context: it holds driver
 * handles, not Python objects, so that it keeps nothing alive. Guarded by the
 * interpreter lock. */
#ifndef PYTHON_ARRAY_OPS_KERNEL_TABLE_H
#define PYTHON_ARRAY_OPS_KERNEL_TABLE_H

#include "python/support/base.h"

#include "python/driver/context.h"

#include "driver/argument_buffer.h"
#include "tables/array_ops.h"
#include "tables/array_reductions.h"
#include "tables/dtypes.h"

#define PCU_DTYPE_MEMBER(CODE, name, size) PCU_T_##CODE,
typedef enum {
    PCU_DTYPES(PCU_DTYPE_MEMBER) PCU_T_COUNT,
    PCU_T_RAW = PCU_T_COUNT, /* bytes that are only moved; their number is in the key */
    PCU_T_NONE               /* no dtype yet, or one that no kernel can take */
} pcu_type;
#undef PCU_DTYPE_MEMBER

#define PCU_OP_MEMBER(NAME, name, nin, nout, rule) PCU_OP_##NAME,
typedef enum { PCU_ARRAY_OPS(PCU_OP_MEMBER) PCU_OP_COUNT } pcu_op;
#undef PCU_OP_MEMBER

#define PCU_REDUCTION_MEMBER(NAME, name, nin, rule) PCU_REDUCE_##NAME,
typedef enum {
    PCU_ARRAY_REDUCTIONS(PCU_REDUCTION_MEMBER) PCU_REDUCE_COUNT
} pcu_reduction;
#undef PCU_REDUCTION_MEMBER

/* What kind of kernel a key names. */
typedef enum {
    PCU_FAMILY_ELEMENTWISE,
    PCU_FAMILY_REDUCE,
    PCU_FAMILY_TRANSPOSE
} pcu_family;

/* What a kernel gets for an operand. */
typedef enum {
    PCU_KIND_ARRAY,  /* an address, and strides unless the kernel is flat */
    PCU_KIND_SCALAR, /* the value, in the dtype of the operand */
    PCU_KIND_ONE     /* the address of a single element; in flat kernels only */
} pcu_kind;

enum { PCU_OPERANDS_MAX = 6 };

typedef struct {
    uint16_t family;                 /* pcu_family */
    uint16_t op;                     /* pcu_op or pcu_reduction */
    uint32_t raw;                    /* bytes of an element of type RAW */
    uint8_t types[PCU_OPERANDS_MAX]; /* pcu_type: inputs, then outputs */
    uint8_t nin;
    uint8_t nout;
    uint8_t kinds[PCU_OPERANDS_MAX]; /* pcu_kind */
    uint8_t compute;                 /* pcu_type that inputs are converted to */
    uint8_t ndim;                    /* 0: flat */
    uint8_t wide;                    /* 1: indices of 64 bits */
    uint8_t vec;                     /* elements a thread handles at once; flat only */
    uint8_t spare[6];                /* the family's own */
} pcu_kernel_key;

_Static_assert(sizeof(pcu_kernel_key) == 32, "a key is hashed as four words");

/* The loaded kernel of a key in a context; compiled if it is not there. */
PCU_HIDDEN PCU_RAISES CUfunction pcu_kernel_find(pcu_state *st, pcu_context *ctx,
                                                 const pcu_kernel_key *key);

/* Unload a context's kernels: before it ends, while it is alive. Never raises. */
PCU_HIDDEN void pcu_kernels_clear(pcu_context *ctx);

/* Append a value to the parameters, at a multiple of `align`. Inline: a launch does it
 * for each parameter, with sizes that are constants. */
PCU_RAISES static inline int
pcu_kernel_put(pcu_argbuf *params, const void *bytes, size_t size, size_t align)
{
    void *place = pcu_argbuf_reserve(params, size, align);
    if (place == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(place, bytes, size);
    return 0;
}

/* Append an index, of 64 bits if `wide`, else of 32. */
PCU_RAISES static inline int
pcu_kernel_put_index(pcu_argbuf *params, int wide, ptrdiff_t value)
{
    int32_t narrow = (int32_t)value;
    int64_t full = value;
    return wide ? pcu_kernel_put(params, &full, 8, 8)
                : pcu_kernel_put(params, &narrow, 4, 4);
}

/* Queue a kernel; params are the packed parameters. */
PCU_HIDDEN PCU_RAISES int pcu_kernel_launch(pcu_state *st, CUfunction kernel,
                                            size_t blocks, unsigned int threads,
                                            CUstream stream, pcu_argbuf *params);

/* The name of an operation, as NumPy spells it. */
PCU_HIDDEN const char *pcu_op_name(int op);

PCU_HIDDEN const char *pcu_reduction_name(int reduction);

/* Bytes of a type that is not RAW. */
PCU_HIDDEN size_t pcu_type_size(int type);

#endif
