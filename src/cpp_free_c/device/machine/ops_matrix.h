/* Flags in aux of the wmma operation. */
#ifndef DEVICE_MACHINE_OPS_MATRIX_H
#define DEVICE_MACHINE_OPS_MATRIX_H

enum { EMU_WMMA_D_HALF = 1, EMU_WMMA_C_HALF = 2 };

#endif
