/* tensor_copy: copies and reductions of tiles by a tensor map. See encoding.h. */
#include "device/base/number.h"
#include "device/compile/encoding.h"
#include "device/machine/ops/ops.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/init_check.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/report.h"
#include "device/memory/tensor_map.h"

enum { TENSOR_UNIT = 16, TILE_ALIGN = 128, MAP_ALIGN = 64 };
enum { X_MAP, X_TILE, X_MBARRIER, X_BLOCKS, X_COORDINATES };

/* One copy of one lane. */
typedef struct {
    emu_warp *warp;
    const emu_insn *insn;
    unsigned lane;
    emu_tensor_map map;
    emu_tensor_tile tile;
    emu_shared_place place; /* the tile in shared memory */
    _Alignas(16) uint8_t row[EMU_TENSOR_ROW];
} tensor_copy;

/* -- the map ----------------------------------------------------------------------- */

static bool
tensor_fault_map(const tensor_copy *copy, uint64_t address, const char *why)
{
    (void)emu_fault(copy->warp, copy->insn, CUDA_ERROR_ILLEGAL_INSTRUCTION, copy->lane,
                    address, "the tensor map at 0x%llx %s", (unsigned long long)address,
                    why);
    return false;
}

static bool
tensor_read_map(tensor_copy *copy)
{
    emu_warp *warp = copy->warp;
    const emu_insn *insn = copy->insn;
    const emu_grid *grid = warp->block->grid;
    const unsigned rank = insn->aux >> EMU_BULK_RANK_SHIFT & 7;
    const uint64_t address = EMU_SOURCE(u64, insn->x[X_MAP])[copy->lane];
    const uint64_t in_params = address - (uint64_t)(uintptr_t)grid->params;
    const uint8_t *bytes = NULL;
    uint64_t place = address;

    if (address < EMU_SHARED_WINDOW) {
        bytes = emu_address_global(warp, address, sizeof(CUtensorMap));
    }
    if (bytes == NULL) {
        return emu_address_fault(warp, insn, copy->lane, address, sizeof(CUtensorMap),
                                 false);
    }
    if (in_params < grid->params_size) {
        place = in_params;
    }
    if (place % MAP_ALIGN != 0) {
        return tensor_fault_map(copy, address, "is not aligned to 64 bytes");
    }
    if (!emu_tensor_map_read(&copy->map, bytes)) {
        return tensor_fault_map(copy, address,
                                "was not written by cuTensorMapEncodeTiled or Im2col");
    }
    if (copy->map.rank != rank) {
        return tensor_fault_map(copy, address,
                                "has another number of dimensions than the copy");
    }
    if (copy->map.is_im2col != ((insn->aux & EMU_BULK_IM2COL) != 0)) {
        return tensor_fault_map(copy, address, "is of the other mode, tile or im2col");
    }
    if (!emu_element_can_reduce(insn->e, copy->map.type)) {
        return tensor_fault_map(copy, address, "has elements without this reduction");
    }
    return true;
}

static bool
tensor_begin_tile(tensor_copy *copy)
{
    emu_warp *warp = copy->warp;
    const emu_insn *insn = copy->insn;
    const uint32_t *const x = insn->x + X_COORDINATES;
    int32_t coordinates[EMU_TENSOR_RANK] = {0};
    uint16_t offsets[EMU_TENSOR_SPACE] = {0};
    unsigned i;

    for (i = 0; i < copy->map.rank; i++) {
        coordinates[i] = EMU_SOURCE(s32, x[i])[copy->lane];
    }
    if (insn->aux & EMU_BULK_IM2COL && insn->aux & EMU_BULK_TO_SHARED) {
        for (i = 0; i + 2 < copy->map.rank; i++) {
            offsets[i] = EMU_SOURCE(u16, x[copy->map.rank + i])[copy->lane];
        }
    }
    if (copy->map.interleave == EMU_INTERLEAVE_NONE &&
        (int64_t)coordinates[0] * emu_element_size(copy->map.type) % TENSOR_UNIT != 0) {
        (void)emu_fault(
            warp, insn, CUDA_ERROR_ILLEGAL_INSTRUCTION, copy->lane, 0,
            "coordinate %d of the innermost dimension: elements of %u bytes "
            "need a multiple of %u, for an address that is a multiple of "
            "%d bytes",
            (int)coordinates[0], emu_element_size(copy->map.type),
            TENSOR_UNIT / emu_element_size(copy->map.type), TENSOR_UNIT);
        return false;
    }
    emu_tile_begin(&copy->tile, &copy->map, !(insn->aux & EMU_BULK_TO_SHARED),
                   coordinates, offsets);
    if (!emu_tile_starts_inside(&copy->tile)) {
        (void)emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_INSTRUCTION, copy->lane, 0,
                        "the first pixel of a copy in im2col mode is outside the box "
                        "of pixels of the tensor map");
        return false;
    }
    return true;
}

/* -- rows -------------------------------------------------------------------------- */

/* The global memory of the part of a row inside the array. NULL after a fault. */
static uint8_t *
tensor_row_memory(const tensor_copy *copy, const emu_tile_row *row, bool write)
{
    const uint32_t bytes = row->count * emu_element_size(copy->map.type);
    uint8_t *at = emu_address_global(copy->warp, row->address, bytes);

    if (at == NULL) {
        (void)emu_address_fault(copy->warp, copy->insn, copy->lane, row->address, bytes,
                                write);
        return NULL;
    }
    emu_address_note(copy->warp, row->address, bytes, write);
    if (write) {
        emu_init_write(copy->warp->block, row->address, bytes);
    }
    return at;
}

/* Copy 16 bytes at a time between copy->row and row `number` of the tile. */
static bool
tensor_move_row(tensor_copy *copy, uint32_t number, bool write)
{
    const emu_block *owner = copy->place.owner;
    const uint64_t start = copy->place.offset + (uint64_t)number * copy->tile.pitch;

    for (uint32_t i = 0; i < copy->tile.row_bytes; i += TENSOR_UNIT) {
        const uint64_t offset = emu_tile_swizzle(copy->map.swizzle, start + i);

        if (offset + TENSOR_UNIT > owner->shared_size) {
            return emu_address_fault(copy->warp, copy->insn, copy->lane,
                                     offset + EMU_SHARED_WINDOW, TENSOR_UNIT, write);
        }
        if (!emu_bulk_note(copy->warp, copy->insn, copy->lane, &copy->place, offset,
                           TENSOR_UNIT, write)) {
            return false;
        }
        if (write) {
            memcpy(owner->shared + offset, copy->row + i, TENSOR_UNIT);
        }
        else {
            memcpy(copy->row + i, owner->shared + offset, TENSOR_UNIT);
        }
    }
    return true;
}

/* Fill `count` elements of copy->row, from element `begin` on. */
static void
tensor_fill_row(tensor_copy *copy, uint32_t begin, uint32_t count)
{
    const unsigned size = emu_element_size(copy->map.type);
    uint64_t value = 0;

    if (copy->map.fill) {
        value = emu_element_nan(copy->map.type);
    }
    for (uint32_t i = begin; i < begin + count; i++) {
        memcpy(copy->row + (size_t)i * size, &value, size);
    }
}

/* Change the elements of copy->row that the type of the map changes. */
static void
tensor_convert_row(tensor_copy *copy, uint32_t begin, uint32_t count)
{
    const unsigned size = emu_element_size(copy->map.type);

    if (!emu_element_changes(copy->map.type)) {
        return;
    }
    for (uint32_t i = begin; i < begin + count; i++) {
        uint64_t bits = 0;

        memcpy(&bits, copy->row + (size_t)i * size, size);
        bits = emu_element_copied(copy->map.type, bits);
        memcpy(copy->row + (size_t)i * size, &bits, size);
    }
}

static bool
tensor_load_row(tensor_copy *copy, const emu_tile_row *row, uint32_t number)
{
    const unsigned size = emu_element_size(copy->map.type);
    const uint32_t end = row->begin + row->count;

    tensor_fill_row(copy, 0, row->begin);
    tensor_fill_row(copy, end, copy->tile.row_elements - end);
    if (row->count) {
        const uint8_t *from = tensor_row_memory(copy, row, false);

        if (from == NULL) {
            return false;
        }
        memcpy(copy->row + (size_t)row->begin * size, from, (size_t)row->count * size);
        tensor_convert_row(copy, row->begin, row->count);
    }
    return tensor_move_row(copy, number, true);
}

static bool
tensor_store_row(tensor_copy *copy, const emu_tile_row *row, uint32_t number)
{
    const unsigned size = emu_element_size(copy->map.type);
    const uint8_t *from = copy->row + (size_t)row->begin * size;
    uint8_t *to;

    if (row->is_below) {
        (void)emu_fault(copy->warp, copy->insn, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                        copy->lane, 0,
                        "a tile that is written to an array has a negative coordinate");
        return false;
    }
    if (!tensor_move_row(copy, number, false)) {
        return false;
    }
    if (row->count == 0) {
        return true;
    }
    to = tensor_row_memory(copy, row, true);
    if (to == NULL) {
        return false;
    }
    if (copy->insn->e == EMU_REDUCE_NONE) {
        memcpy(to, from, (size_t)row->count * size);
    }
    else {
        emu_reduce_bytes(to, from, (size_t)row->count * size, copy->insn->e,
                         copy->map.type);
    }
    return true;
}

/* -- copies ------------------------------------------------------------------------ */

/* Copy all rows between the array and the tile at a generic address. */
static bool
tensor_copy_rows(tensor_copy *copy, uint64_t address)
{
    const bool to_shared = copy->insn->aux & EMU_BULK_TO_SHARED;
    const uint64_t bytes = copy->tile.rows * copy->tile.pitch;
    emu_tensor_tile tile = copy->tile;
    emu_tile_row row;
    uint32_t number;

    if (!emu_bulk_place(copy->warp, copy->insn, copy->lane, address, bytes, TILE_ALIGN,
                        to_shared, &copy->place)) {
        return false;
    }
    for (number = 0; emu_tile_next(&tile, &row); number++) {
        bool done;

        if (to_shared) {
            done = tensor_load_row(copy, &row, number);
        }
        else {
            done = tensor_store_row(copy, &row, number);
        }
        if (!done) {
            return false;
        }
    }
    return true;
}

static bool
tensor_copy_lane(tensor_copy *copy)
{
    emu_warp *warp = copy->warp;
    const emu_insn *insn = copy->insn;
    const bool to_shared = insn->aux & EMU_BULK_TO_SHARED;
    const uint64_t to = EMU_SOURCE(u64, insn->x[X_TILE])[copy->lane];
    const uint64_t mbarrier = EMU_SOURCE(u64, insn->x[X_MBARRIER])[copy->lane];
    emu_bulk_targets targets = emu_bulk_begin(
        insn->aux & EMU_BULK_MULTICAST, EMU_SOURCE(u16, insn->x[X_BLOCKS])[copy->lane]);
    uint64_t address, signal;

    if (!tensor_read_map(copy) || !tensor_begin_tile(copy)) {
        return false;
    }
    while (emu_bulk_next(&targets, to, mbarrier, &address, &signal)) {
        if (!tensor_copy_rows(copy, address) ||
            (to_shared &&
             !emu_mbarrier_copied(warp, insn, copy->lane, signal,
                                  (uint32_t)copy->tile.rows * copy->tile.row_bytes))) {
            return false;
        }
    }
    return true;
}

const emu_insn *
emu_op_tensor_copy(emu_warp *warp, const emu_insn *insn)
{
    tensor_copy copy = {.warp = warp, .insn = insn};
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        copy.lane = (unsigned)__builtin_ctz(left);
        if (!tensor_copy_lane(&copy)) {
            return NULL;
        }
    }
    return insn + 1;
}
