/* Tensor maps of the software device, and the tiles that they describe.
 *
 * A CUtensorMap holds an emu_tensor_map. Its layout is that of this device: a GPU's
 * driver has another one. Dimension 0 is the innermost one.
 *
 * A tile in shared memory is a sequence of rows without gaps, of `row_bytes` bytes
 * each. emu_tile_next gives the rows one after the other. A row is a part of a line of
 * the array along dimension 0. Elements of a row outside the array are filled by a copy
 * to shared memory, and are not written by a copy to global memory.
 *
 * Used by the driver's calls that encode tensor maps, and by the copies of tiles. */
#ifndef DEVICE_MEMORY_TENSOR_MAP_H
#define DEVICE_MEMORY_TENSOR_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/cuda_abi.h"

enum {
    EMU_TENSOR_RANK = 5,
    EMU_TENSOR_SPACE = 3,    /* dimensions of space of an im2col map, at most */
    EMU_TENSOR_ROW = 256 * 8 /* bytes of a row, at most */
};

enum { EMU_SWIZZLE_NONE, EMU_SWIZZLE_32B, EMU_SWIZZLE_64B, EMU_SWIZZLE_128B };
enum { EMU_INTERLEAVE_NONE, EMU_INTERLEAVE_16B, EMU_INTERLEAVE_32B };

#define EMU_TENSOR_MARK "TENSMAP"

typedef struct {
    char mark[8]; /* EMU_TENSOR_MARK */
    uint64_t address;
    uint64_t strides[EMU_TENSOR_RANK - 1]; /* bytes, of dimensions 1, 2, ... */
    uint32_t last[EMU_TENSOR_RANK];        /* dimensions - 1 */
    uint16_t box[EMU_TENSOR_RANK];         /* elements; im2col: channels, pixels */
    int16_t lower[EMU_TENSOR_SPACE];       /* im2col: corners of the box of pixels */
    int16_t upper[EMU_TENSOR_SPACE];
    uint8_t steps[EMU_TENSOR_RANK];
    uint8_t rank, type, interleave, swizzle, promotion, fill, is_im2col;
} emu_tensor_map;

/* Read the map in 128 bytes. False: they are no tensor map of this device. */
bool emu_tensor_map_read(emu_tensor_map *map, const void *bytes);

/* -- tiles ------------------------------------------------------------------------- */

typedef struct {
    const emu_tensor_map *map;
    int64_t first[EMU_TENSOR_RANK];   /* coordinates of the first element */
    int64_t shift[EMU_TENSOR_RANK];   /* added to coordinates: offsets of im2col */
    int64_t place[EMU_TENSOR_RANK];   /* coordinates of the next row, without shift */
    uint32_t counts[EMU_TENSOR_RANK]; /* rows along each dimension but 0 */
    uint32_t at[EMU_TENSOR_RANK];     /* the number of the next row along each */
    uint32_t row_elements, row_bytes;
    uint32_t rows; /* of the tile */
    uint32_t next; /* number of the next row */
} emu_tile;

typedef struct {
    uint64_t address; /* of the first element that is inside the array */
    uint32_t begin;   /* its number in the row */
    uint32_t count;   /* elements inside the array; 0: none */
} emu_tile_row;

/* Begin at the first row. `offsets` are those of an im2col map, else NULL. */
void emu_tile_begin(emu_tile *tile, const emu_tensor_map *map,
                    const int32_t coordinates[EMU_TENSOR_RANK],
                    const uint16_t offsets[EMU_TENSOR_SPACE]);
/* False: there are no more rows. */
bool emu_tile_next(emu_tile *tile, emu_tile_row *row);

/* The place in shared memory of the byte that without a swizzle is at `offset`. Runs of
 * 16 aligned bytes stay together. */
static inline uint64_t
emu_tile_swizzle(unsigned swizzle, uint64_t offset)
{
    static const uint8_t masks[] = {0, 0x10, 0x30, 0x70};

    return offset ^ (offset >> 3 & masks[swizzle & 3]);
}

#endif
