/* Address checks: from the addresses of an access to host memory.
 *
 * The fast checks of loads and stores come first: check_span to check_extent in
 * ops_memory.inc. They prove the same for all lanes at once. An access that they do not
 * cover, and every access of another operation, is checked here. Called by the
 * operations that access memory. */
#ifndef DEVICE_MACHINE_WARP_ADDRESS_CHECK_H
#define DEVICE_MACHINE_WARP_ADDRESS_CHECK_H

#include "device/compile/encoding.h"
#include "device/machine/warp/machine.h"

/* Check the access of each active lane and return its host address. The row of the
 * operation says how many bytes it has, and whether it writes. False after a fault: one
 * is that the row says that the operation accesses no memory. */
bool emu_address_check(emu_warp *warp, const emu_insn *insn, uint64_t out[EMU_LANES]);
/* The same; the access is not noted (uses.h). */
bool emu_address_resolve(emu_warp *warp, const emu_insn *insn, uint64_t out[EMU_LANES]);
/* The address that each lane accesses, not checked. */
void emu_address_of_lanes(const emu_warp *warp, const emu_insn *insn,
                          uint64_t out[EMU_LANES]);
/* Note an access to the allocation warp->recent, if that is noted (uses.h). */
void emu_address_note(emu_warp *warp, uint64_t address, uint64_t bytes, bool write);
/* The same for the accesses of the lanes to one noted allocation. */
void emu_address_note_lanes(emu_warp *warp, const emu_insn *insn,
                            const uint64_t at[EMU_LANES]);
/* The host address of bytes of global memory within one allocation; NULL if the access
 * is not legal. Remembers the allocation in warp->recent. */
uint8_t *emu_address_global(emu_warp *warp, uint64_t address, uint64_t size);
/* The host address of `size` bytes at a generic address, for one lane; NULL if the
 * access is not legal. */
uint8_t *emu_address_generic(emu_warp *warp, unsigned lane, uint64_t address,
                             size_t size);
/* Report an access of one lane to a generic address that is not legal. Returns false.
 */
bool emu_address_fault(emu_warp *warp, const emu_insn *insn, unsigned lane,
                       uint64_t address, unsigned size, bool write);

/* -- memory that nothing copies back ----------------------------------------------- */

/* Decide whether stores of the grid are compared with the memory of its inputs
 * (emu_launch.inputs): with the check of memory, or in a trial if no other parameter
 * points to memory, so that the kernel has no other result. */
void emu_inputs_begin(emu_grid *grid);
/* Warn if a lane writes to an input. */
void emu_inputs_check(const emu_warp *warp, const emu_insn *insn);

/* Whether an access to shared or local memory is legal, whose address is a multiple of
 * its size. It must begin inside. Its last bytes may be behind a variable that fills a
 * part of an aligned unit: compilers load three numbers as four. */
static inline bool
emu_address_fits(uint64_t offset, uint64_t size, uint64_t room)
{
    const uint64_t unit = 16;

    return offset < room && size <= (room + unit - 1) / unit * unit - offset;
}

/* What an index adds to the base of an address; aux is that of the instruction. */
static inline uint64_t
emu_address_index(uint32_t aux, uint32_t index)
{
    const uint32_t scale = aux >> EMU_AT_SCALE_SHIFT;

    if (aux & EMU_AT_UNSIGNED) {
        return (uint64_t)index * scale;
    }
    return (uint64_t)((int64_t)(int32_t)index * (int64_t)scale);
}

#endif
