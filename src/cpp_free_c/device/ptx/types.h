/* The types of PTX data: size, kind, and the class of the registers that hold them. */
#ifndef DEVICE_PTX_TYPES_H
#define DEVICE_PTX_TYPES_H

#include <stdbool.h>

#include "device/ptx/words.h"

/* Width classes of registers: the interpreter keeps 32 lanes of that many bytes. */
typedef enum { PTX_PRED, PTX_R16, PTX_R32, PTX_R64, PTX_R128, PTX_CLASSES } ptx_class;

/* Size in bytes of a PTX_W_ type word; 0 when the word is not a type. */
unsigned ptx_type_size(unsigned word);
/* .f16 to .f64 and their pairs. */
bool ptx_type_is_float(unsigned word);
/* .s8 to .s64. */
bool ptx_type_is_signed(unsigned word);
/* .u8 to .u64; .b types are neither signed nor unsigned. */
bool ptx_type_is_unsigned(unsigned word);
/* The class of a register of the type. A word that is not a type gives PTX_R32. */
ptx_class ptx_type_class(unsigned word);
/* The bytes of one lane of a register; 0 for a predicate. */
unsigned ptx_class_bytes(ptx_class width);

#endif
