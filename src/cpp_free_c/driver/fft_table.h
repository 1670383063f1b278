/* The table of cuFFT's functions, each under its name without cufft.
 *
 * Invariant: after pcu_fft_load has succeeded, every member is set. The library is
 * never closed. The interpreter lock guards the table. Callers: python/array/fourier.
 */
#ifndef DRIVER_FFT_TABLE_H
#define DRIVER_FFT_TABLE_H

#include <stddef.h>

#include "abi/cufft_abi.h"
#include "driver/table.h"

#define PCU_FFT_MEMBER(name, symbol, need, params) int(*name) params;
struct pcu_fft_table {
    PCU_CUFFT_SYMBOLS(PCU_FFT_MEMBER)
};
#undef PCU_FFT_MEMBER

extern PCU_HIDDEN struct pcu_fft_table pcu_fft;

/* Open the library at a path, or by a name for the loader, and fill the table. Return 0
 * or -1, with the reason in `detail`. */
PCU_HIDDEN int pcu_fft_load(const char *path, char *detail, size_t size);

/* 1 if the table is filled. */
PCU_HIDDEN int pcu_fft_is_loaded(void);

/* The name of a status: CUFFT_... Never NULL. */
PCU_HIDDEN const char *pcu_fft_status_name(int status);

#endif
