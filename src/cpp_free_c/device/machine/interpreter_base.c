/* The interpreter for any processor, and the choice of a build. See interpreter.inc and
 * handlers.h. */
#define EMU_TABLE emu_ops_base
#include "device/machine/interpreter.inc"

#include <stdlib.h>

const emu_op *
emu_ops(void)
{
#if defined(__x86_64__)
    const char *choice = getenv("PYCUDA_EMULATOR_SIMD");

    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        !(choice && strcmp(choice, "0") == 0)) {
        return emu_ops_avx2;
    }
#endif
    return emu_ops_base;
}
