/* Fourier transforms: the functions of numpy.fft that transform an array, and the words
 * that describe a kernel.
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
#define PCU_FOURIER_FUNCTIONS(X)       \
    X(FFT, "fft", COMPLEX, false)   \
    X(IFFT, "ifft", COMPLEX, true)  \
    X(RFFT, "rfft", REAL, false)    \
    X(IRFFT, "irfft", HALF, true)   \
    X(HFFT, "hfft", HALF, false)    \
    X(IHFFT, "ihfft", REAL, true)

/* How a kernel of a Fourier transform reads, transforms and stores lines. At most 32
 * rows: the field `fourier` has a bit for each. Python gets the names that apply.
 *
 *   load_pairs           two real elements are one complex number
 *   load_half            half a spectrum stands for the whole one
 *   load_half_pairs      the same, for a transform of half the length
 *   load_chirp           no array: the chirp of a convolution
 *   load_conjugate, load_inverse, load_chirped
 *                        conjugate, exchange the parts, multiply by the chirp
 *   load_loose, store_loose
 *                        addresses are not multiples of the size of an element
 *   load_by_line, store_by_line
 *                        neighbouring threads handle neighbouring lines
 *   twiddled             earlier kernels have transformed other factors of the length
 *   indexed              the last of several kernels
 *   unzip_block, unzip   the transform of real elements from that of half the length,
 *                        in the block that made it, or as a kernel of its own
 *   mirror               a kernel of its own: the second half of the transform of real
 *                        elements from the first
 *   load_bounded, store_bounded
 *                        lines have fewer elements in the input, or in the result
 *   staged               lines follow each other in memory and are short: a block moves
 *                        its lines as one run to and from shared memory
 *   store_pairs          a complex number is two real elements
 *   store_multiplied     multiply by a factor
 *   store_turned, store_chirped, store_inverse, store_conjugate
 *                        after a convolution; in this order */
#define PCU_FOURIER_WORDS(X) \
    X(LOAD_PAIRS, "load_pairs")             \
    X(LOAD_HALF, "load_half")               \
    X(LOAD_HALF_PAIRS, "load_half_pairs")   \
    X(LOAD_CHIRP, "load_chirp")             \
    X(LOAD_CONJUGATE, "load_conjugate")     \
    X(LOAD_INVERSE, "load_inverse")         \
    X(LOAD_CHIRPED, "load_chirped")         \
    X(LOAD_LOOSE, "load_loose")             \
    X(LOAD_BY_LINE, "load_by_line")         \
    X(TWIDDLED, "twiddled")                 \
    X(INDEXED, "indexed")                   \
    X(UNZIP_BLOCK, "unzip_block")           \
    X(UNZIP, "unzip")                       \
    X(STORE_PAIRS, "store_pairs")           \
    X(STORE_MULTIPLIED, "store_multiplied") \
    X(STORE_TURNED, "store_turned")         \
    X(STORE_CHIRPED, "store_chirped")       \
    X(STORE_INVERSE, "store_inverse")       \
    X(STORE_CONJUGATE, "store_conjugate")   \
    X(STORE_LOOSE, "store_loose")           \
    X(STORE_BY_LINE, "store_by_line")       \
    X(LOAD_BOUNDED, "load_bounded")         \
    X(STORE_BOUNDED, "store_bounded")       \
    X(MIRROR, "mirror")                     \
    X(STAGED, "staged")
/* clang-format on */

#endif
