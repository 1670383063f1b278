/* mbarrier objects: barriers in shared memory, 64 bits each.
 *
 * An object holds the number of arrivals that a phase expects, the number that it still
 * waits for, the bytes of asynchronous copies that it still waits for, and the number
 * of the phase. A phase is over when it waits for neither arrivals nor bytes. The token
 * of an arrival is the object before the arrival. The blocks of a cluster belong to one
 * thread, so plain accesses are enough.
 *
 * The race checks treat all mbarriers of a block as one: an arrival, or a copy that
 * completes, publishes what its warp has done, and a wait that succeeds has seen it.
 *
 * Called by the operations on mbarriers and by the asynchronous copies. */
#ifndef DEVICE_MACHINE_WARP_MBARRIER_H
#define DEVICE_MACHINE_WARP_MBARRIER_H

#include "device/machine/warp/machine.h"

/* -- objects ----------------------------------------------------------------------- */

/* An object whose phases expect `count` arrivals. */
uint64_t emu_mbarrier_new(uint32_t count);
/* The object after the phase expects `bytes` more, then gets `count` arrivals. If
 * `drop` is set, later phases do not expect these arrivals any more. */
uint64_t emu_mbarrier_arrive(uint64_t object, uint32_t count, uint32_t bytes,
                             bool drop);
/* The object when the phase expects `bytes` more. */
uint64_t emu_mbarrier_expect(uint64_t object, uint32_t bytes);
/* The object when `bytes` have been copied. */
uint64_t emu_mbarrier_complete(uint64_t object, uint32_t bytes);
/* The number of the phase; its lowest bit is its parity. */
uint32_t emu_mbarrier_phase(uint64_t object);
/* The arrivals that the phase waits for. */
uint32_t emu_mbarrier_pending(uint64_t object);

/* -- objects in memory ------------------------------------------------------------- */

/* The host addresses of the objects that the active lanes name by the address of the
 * instruction. False after a fault. The race checks do not see the access. */
bool emu_mbarrier_find(emu_warp *warp, const emu_insn *insn, uint64_t at[EMU_LANES]);
/* A copy of a lane has completed `bytes`: tell the object at a generic address in
 * shared memory. False after a fault. */
bool emu_mbarrier_copied(emu_warp *warp, const emu_insn *insn, unsigned lane,
                         uint64_t address, uint32_t bytes);

#endif
