/* The forms of matrix operations: which shapes exist with which types, and the fields
 * of the machine's operations mma and wgmma. Used by lower_matrix.c and lower_wmma.c.
 */
#ifndef DEVICE_COMPILE_LOWER_MATRIX_H
#define DEVICE_COMPILE_LOWER_MATRIX_H

#include "device/compile/encoding.h"
#include "device/compile/lower.h"
#include "device/ptx/words.h"

/* A product of matrices. The types are EMU_MATRIX_ numbers. */
typedef struct {
    ptx_shape shape;
    unsigned d, a, b, c;
    uint64_t flags; /* EMU_MMA_ fields other than the shape and the types */
} low_product;

enum { LOW_MAX_MATRIX_TYPES = 4 };

/* The types among the words, in their order; returns how many. Fails for more than
 * LOW_MAX_MATRIX_TYPES. */
unsigned low_matrix_types(const low_func *f, unsigned types[LOW_MAX_MATRIX_TYPES]);
/* The shape among the words; fails without one. */
ptx_shape low_matrix_shape(const low_func *f);
/* The bit of an EMU_MMA_ flag if the instruction has the word, else 0. */
uint64_t low_matrix_flag(const low_func *f, unsigned word, unsigned bit);
/* Fails for a saturation, a rounding or a combination of bits that the types lack. */
void low_check_product_modifiers(const low_func *f, const low_product *product);
/* imm of the operation. */
int64_t low_product_fields(const low_product *product);
ptx_class low_matrix_register_class(unsigned type);
/* The operand's registers: those to write, or those to read. Fails unless it has
 * `count` of them. */
void low_matrix_targets(low_func *f, const ptx_operand *operand, unsigned type,
                        unsigned count, low_value *out);
void low_matrix_sources(low_func *f, const ptx_operand *operand, unsigned type,
                        unsigned count, low_value *out);

#endif
