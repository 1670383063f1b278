/* Addresses of PTX operands, and the accesses to memory that use them. Used by
 * lower_*.c. */
#ifndef DEVICE_COMPILE_LOWER_ADDRESS_H
#define DEVICE_COMPILE_LOWER_ADDRESS_H

#include "device/compile/lower_state.h"

/* A register, or the sum of a register and a number. */
low_value low_register_value(low_func *f, const ptx_operand *operand);

/* The address of a variable in its state space. */
low_value low_address_of(low_func *f, const ptx_operand *operand, ptx_class width);

/* The address of an element of an array, in the array's state space. As on a GPU, the
 * product of index and size has 32 bits without a sign. */
low_value low_element_address(low_func *f, const ptx_operand *operand, ptx_class width);

/* The address of an access, for low_access. */
typedef struct {
    uint32_t aux; /* EMU_AT_ (encoding.h): the space and the form of the address */
    low_value base;
    int64_t offset;
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

#endif
