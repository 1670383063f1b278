/* The handlers for any processor, and the choice of a build. See handler_table.inc and
 * handlers.h. */
#define EMU_HANDLERS emu_handlers_base
#include "device/machine/ops/handler_table.inc"

#include <stdlib.h>

const emu_handler_set *
emu_handlers(void)
{
    static const emu_handler_set base = {emu_handlers_base, emu_lockstep_base};
#if defined(__x86_64__)
    static const emu_handler_set avx2 = {emu_handlers_avx2, emu_lockstep_avx2};
    const char *choice = getenv("PYCUDA_EMULATOR_SIMD");

    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        !(choice && strcmp(choice, "0") == 0)) {
        return &avx2;
    }
#endif
    return &base;
}
