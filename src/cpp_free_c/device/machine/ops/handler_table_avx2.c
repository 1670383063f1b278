/* The handlers for processors with AVX2 and FMA. See handler_table.inc. */
#if defined(__x86_64__)
#    define EMU_VECTOR_BYTES 32
#endif
#define EMU_HANDLERS emu_handlers_avx2
#include "device/machine/ops/handler_table.inc"
