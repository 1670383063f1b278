/* What several files of operations share. Each operation is a row of
 * tables/operations.inc. */
#ifndef DEVICE_MACHINE_OPS_OPS_H
#define DEVICE_MACHINE_OPS_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/compile/encoding.h"
#include "device/machine/warp/machine.h"
#include "device/memory/texture.h"

/* -- textures ---------------------------------------------------------------------- */

/* What ops_texture.c and ops_surface.c share. */

/* Copies the live texture or surface of a lane's handle into `out` (levels in use
 * alone) once its memory has been checked; false after a fault. */
bool emu_texture_open(emu_warp *warp, const emu_insn *insn, unsigned lane,
                      uint64_t handle, bool surface, emu_texture *out);

/* -- mbarriers --------------------------------------------------------------------- */

/* mbarrier objects: barriers in shared memory, 64 bits each.
 *
 * An object holds the number of arrivals that a phase expects, the number that it still
 * waits for, the bytes of asynchronous copies that it still waits for, and the number
 * of the phase. A phase is over when it waits for neither arrivals nor bytes. The token
 * of an arrival is the object before the arrival. The blocks of a cluster belong to one
 * thread, so plain accesses are enough.
 *
 * The race checks treat all mbarriers of a block as one: an arrival, or a copy that
 * completes, publishes what its warp has done, and a wait that succeeds has seen it. */

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

/* -- asynchronous copies ----------------------------------------------------------- */

/* What the copies of ranges and of tiles share. */

/* A range of the shared memory of one block. */
typedef struct {
    const emu_block *owner;
    uint64_t offset; /* in the memory of the owner */
} emu_shared_place;

/* Find the range of `size` bytes at a generic address of shared memory; the address
 * must be a multiple of `align`. False after a fault. */
bool emu_bulk_place(emu_warp *warp, const emu_insn *insn, unsigned lane,
                    uint64_t address, uint64_t size, unsigned align, bool write,
                    emu_shared_place *out);

/* Tell the checks of an access to a part of a place. False after a fault. */
bool emu_bulk_note(emu_warp *warp, const emu_insn *insn, unsigned lane,
                   const emu_shared_place *place, uint64_t offset, uint64_t size,
                   bool write);

/* The blocks that a copy to shared memory fills. */
typedef struct {
    uint32_t blocks; /* of a multicast: a bit for each rank that is left */
    bool is_multicast;
    bool is_done;
} emu_bulk_targets;

emu_bulk_targets emu_bulk_begin(bool is_multicast, uint32_t blocks);
/* The address, in the next block, of what is at `address` in this one. Without a
 * multicast it is the address itself, once. False: there is no further block. */
bool emu_bulk_next(emu_bulk_targets *targets, uint64_t address, uint64_t mbarrier,
                   uint64_t *to, uint64_t *signal);

/* -- reductions of elements in memory ---------------------------------------------- */

/* Each element is changed by one atomic operation. */

/* The element in memory after the reduction (EMU_REDUCE_) of `old` by `value`. */
uint64_t emu_reduction(unsigned operation, unsigned type, uint64_t old, uint64_t value);
/* Reduce the elements at `to` by those at `from`; `bytes` is a multiple of their size.
 */
void emu_reduce_bytes(void *to, const void *from, size_t bytes, unsigned operation,
                      unsigned type);

/* -- tensor cores ------------------------------------------------------------------ */

/* The arithmetic of tensor cores on one tile: D = A * B + C. A tile has up to 16 rows,
 * 8 columns and a depth of 128. Its elements are bits, which the types of the form
 * explain. The results are those of an H200. */

enum { EMU_TILE_ROWS = 16, EMU_TILE_COLUMNS = 8, EMU_TILE_DEPTH = 128 };

/* The element is not stored: a zero of a sparse matrix. No stored element of a sparse
 * matrix has this bit. */
#define EMU_TILE_ABSENT ((uint64_t)1 << 63)

typedef struct {
    uint64_t a[EMU_TILE_ROWS][EMU_TILE_DEPTH];
    uint64_t b[EMU_TILE_COLUMNS][EMU_TILE_DEPTH];
    uint64_t c[EMU_TILE_ROWS][EMU_TILE_COLUMNS];
    uint64_t d[EMU_TILE_ROWS][EMU_TILE_COLUMNS];
} emu_tile;

typedef struct {
    uint8_t d_type, a_type, b_type, c_type; /* EMU_MATRIX_ types */
    unsigned rows, columns, depth;          /* of b1: words of 32 elements */
    unsigned rounding;                      /* of f64: EMU_RN to EMU_RP */
    bool satfinite, is_xor;
    bool a_negated, b_negated;
    bool is_group; /* wgmma, which has 8-bit floats of its own */
    bool is_sparse;
} emu_tile_form;

/* Compute tile->d from the rest. */
void emu_tile_multiply(const emu_tile_form *form, emu_tile *tile);

/* -- matrices in the registers of a warp ------------------------------------------- */

/* A or B: its type, its rows or columns, and the elements that each of them has. */
typedef struct {
    unsigned type, lines, depth;
} emu_matrix_side;

/* The form that imm of the instruction has. */
emu_tile_form emu_matrix_form(const emu_insn *insn);
/* The bits that a tile has as one element: those of the type, and 32 of b1. */
unsigned emu_matrix_element_bits(unsigned type);
/* Read A or B from the registers of all lanes. */
void emu_matrix_gather(emu_warp *warp, const uint32_t *x, emu_matrix_side side,
                       uint64_t (*out)[EMU_TILE_DEPTH]);
/* Read eight columns of C, and write eight columns of D. */
void emu_matrix_take_addend(emu_warp *warp, const emu_tile_form *form,
                            const uint32_t *x, emu_tile *tile);
void emu_matrix_give_result(emu_warp *warp, const emu_tile_form *form,
                            const uint32_t *x, const emu_tile *tile);
/* Move the stored elements of a sparse A to the places that the indices in register
 * `x` name, and mark the others as absent. */
void emu_matrix_spread(emu_warp *warp, const emu_insn *insn, const emu_tile_form *form,
                       uint32_t x, emu_tile *tile);

#endif
