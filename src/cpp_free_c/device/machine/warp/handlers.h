/* The handlers of the operations: the functions that emu_insn.run points to.
 *
 * The vector operations are built twice: for any processor, and for processors with
 * AVX2 and FMA. A table has the handlers of one build by EMU_OP_ number; the operations
 * of EMU_OPS_COMMON are built once and have the same handler in both tables. Loading is
 * given the table of this processor, so loading a program chooses the build. Each build
 * has a second table, with the handlers for warps in lockstep (lockstep.h). */
#ifndef DEVICE_MACHINE_WARP_HANDLERS_H
#define DEVICE_MACHINE_WARP_HANDLERS_H

#include "device/compile/code.h"
#include "device/compile/operations.h"

#define EMU_OP_PROTOTYPE(name, flags) \
    const emu_insn *emu_op_##name(emu_warp *warp, const emu_insn *insn);
EMU_OPS_COMMON(EMU_OP_PROTOTYPE)
#undef EMU_OP_PROTOTYPE

extern const emu_handler emu_handlers_base[EMU_OP_COUNT];
extern const emu_handler emu_handlers_avx2[EMU_OP_COUNT];
extern const emu_handler emu_lockstep_base[EMU_OP_COUNT];
extern const emu_handler emu_lockstep_avx2[EMU_OP_COUNT];
extern const emu_handler emu_lockstep_avx512[EMU_OP_COUNT];

/* The tables for this processor. PYCUDA_EMULATOR_SIMD limits the choice: 0 for the base
 * tables, 256 for those without AVX-512. */
const emu_handler_set *emu_handlers(void);

#endif
