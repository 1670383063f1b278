/* The functions of numpy.fft that transform an array.
 *
 *   X(NAME, "name", KIND, inverse)
 *
 * KIND says what the transform along the last axis takes and gives: COMPLEX numbers,
 * REAL elements to half a spectrum, or HALF a spectrum to real elements. All other axes
 * are COMPLEX. An inverse function is divided by the length if norm is "backward", the
 * others if norm is "forward". The functions in several axes have the same rows. */
#ifndef TABLES_FOURIER_H
#define TABLES_FOURIER_H

/* clang-format off */
#define PCU_FOURIER_FUNCTIONS(X) \
    X(FFT, "fft", COMPLEX, 0)   \
    X(IFFT, "ifft", COMPLEX, 1) \
    X(RFFT, "rfft", REAL, 0)    \
    X(IRFFT, "irfft", HALF, 1)  \
    X(HFFT, "hfft", HALF, 0)    \
    X(IHFFT, "ihfft", REAL, 1)
/* clang-format on */

#endif
