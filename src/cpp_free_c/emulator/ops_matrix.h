/* Flags in aux of the wmma operation. */
#ifndef EMU_OPS_MATRIX_H
#define EMU_OPS_MATRIX_H

enum { EMU_WMMA_D_HALF = 1, EMU_WMMA_C_HALF = 2 };

#endif
