/* The handlers for any processor, and the choice of a build. See handler_table.inc and
 * handlers.h. */
#define EMU_HANDLERS emu_handlers_base
#include "device/machine/ops/handler_table.inc"

#include <stdlib.h>

const emu_handler *
emu_handlers(void)
{
#if defined(__x86_64__)
    const char *choice = getenv("PYCUDA_EMULATOR_SIMD");

    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        !(choice && strcmp(choice, "0") == 0)) {
        return emu_handlers_avx2;
    }
#endif
    return emu_handlers_base;
}
