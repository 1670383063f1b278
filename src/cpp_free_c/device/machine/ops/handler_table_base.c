/* The handlers for any processor, and the choice of a build. See handler_table.inc and
 * handlers.h. */
#define EMU_HANDLERS emu_handlers_base
#include "device/machine/ops/handler_table.inc"

#include <stdlib.h>

#if defined(__x86_64__)
static bool
handlers_have_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

bool
emu_handlers_know(const char *choice)
{
    return strcmp(choice, "best") == 0 || strcmp(choice, "0") == 0 ||
           strcmp(choice, "256") == 0 || strcmp(choice, "512") == 0;
}

const emu_handler_set *
emu_handlers(void)
{
    static const emu_handler_set base = {emu_handlers_base, emu_lockstep_base};
#if defined(__x86_64__)
    static const emu_handler_set avx2 = {emu_handlers_avx2, emu_lockstep_avx2};
    static const emu_handler_set avx512 = {emu_handlers_avx2, emu_lockstep_avx512};
    const char *choice = getenv("PYCUDA_EMULATOR_SIMD");

    if (choice == NULL) {
        choice = "best";
    }
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        strcmp(choice, "0") != 0) {
        if (handlers_have_avx512() && strcmp(choice, "256") != 0) {
            return &avx512;
        }
        return &avx2;
    }
#endif
    return &base;
}
