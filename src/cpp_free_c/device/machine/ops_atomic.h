/* Which atomic operation: operand e of the atom instructions. */
#ifndef DEVICE_MACHINE_OPS_ATOMIC_H
#define DEVICE_MACHINE_OPS_ATOMIC_H

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

#endif
