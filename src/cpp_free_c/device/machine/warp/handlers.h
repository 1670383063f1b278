/* The handlers of the operations: the functions that emu_insn.run points to.
 *
 * Operations that loop over lanes are built twice: for any processor, and for
 * processors with AVX2 and FMA. A table has the handlers of one build by EMU_OP_
 * number; the operations with OP_OWN (tables/operations.inc) are built once and have
 * the same handler in both tables. Loading is given the table of this processor, so
 * loading a program chooses the build. Each build has a second table, with the handlers
 * for warps in lockstep (warp.h). */
#ifndef DEVICE_MACHINE_WARP_HANDLERS_H
#define DEVICE_MACHINE_WARP_HANDLERS_H

#include "device/compile/code.h"
#include "device/compile/operations.h"

/* clang-format off */
#define OP_VALUE(name, ...)
#define OP_LOAD(name, ...)
#define OP_STORE(name, ...)
#define OP_VECTOR(name, ...)
#define OP_OWN(name, ...) \
    const emu_insn *emu_op_##name(emu_warp *warp, const emu_insn *insn);
#include "tables/operations.inc"
/* clang-format on */

extern const emu_handler emu_handlers_base[EMU_OP_COUNT];
extern const emu_handler emu_handlers_avx2[EMU_OP_COUNT];
extern const emu_handler emu_lockstep_base[EMU_OP_COUNT];
extern const emu_handler emu_lockstep_avx2[EMU_OP_COUNT];
extern const emu_handler emu_lockstep_avx512[EMU_OP_COUNT];

/* The tables for this processor. PYCUDA_EMULATOR_SIMD limits the choice: 0 for the base
 * tables, 256 for those without AVX-512. */
const emu_handler_set *emu_handlers(void);

/* Whether a value of PYCUDA_EMULATOR_SIMD names a build: best, 0, 256 or 512. */
bool emu_handlers_know(const char *choice);

#endif
