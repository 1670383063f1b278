/* The handlers for processors with AVX2 and FMA. See handler_table.inc.
 *
 * The system's headers come first, so that their functions do not need AVX2. */
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#    include <immintrin.h>
#endif

#include "device/machine/warp/address_check.h"
#include "device/machine/warp/machine.h"

#define EMU_HANDLERS emu_handlers_avx2

#if defined(__x86_64__)
#    define EMU_HAS_FMA 1
#    define EMU_VECTOR_BYTES 32
#    ifdef __clang__
#        pragma clang attribute push(__attribute__((target("avx2,fma"))), \
                                     apply_to = function)
#    else
#        pragma GCC push_options
#        pragma GCC target("avx2,fma")
#    endif
#endif

#include "device/machine/ops/handler_table.inc"

#if defined(__x86_64__)
#    ifdef __clang__
#        pragma clang attribute pop
#    else
#        pragma GCC pop_options
#    endif
#endif
