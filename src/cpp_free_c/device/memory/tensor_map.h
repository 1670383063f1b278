/* Tensor maps of the software device, and the tiles that they describe.
 *
 * A CUtensorMap holds an emu_tensor_map. Its layout is that of this device: a GPU's
 * driver has another one. Dimension 0 is the innermost one.
 *
 * A tile in shared memory is a sequence of rows of `row_bytes` bytes each. With a
 * swizzle each row begins a line of the swizzle, else the rows have no gaps.
 * emu_tile_next gives the rows one after the other. A row is a part of a line of
 * the array along dimension 0. Elements of a row outside the array are filled by a copy
 * to shared memory, and are not written by a copy to global memory.
 *
 * An interleaved array has slices of 16 or 32 bytes of channels as its elements, which
 * a tensor map does not count as a dimension: dimension 0 counts slices that lie side
 * by side, and the last dimension but one the slices of all channels. Each slice of a
 * tile is a row.
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
    uint32_t counts[EMU_TENSOR_RANK]; /* rows along each dimension */
    uint32_t at[EMU_TENSOR_RANK];     /* the number of the next row along each */
    int64_t line;    /* elements along dimension 0 that count as inside the array */
    unsigned lowest; /* dimension that is not within rows: 1, or 0 if interleaved */
    uint32_t row_elements, row_bytes;
    uint32_t pitch; /* bytes from the begin of a row to the next one */
    uint64_t rows;  /* of the tile */
    uint64_t next;  /* number of the next row */
} emu_tensor_tile;

typedef struct {
    uint64_t address; /* of the first element that is inside the array */
    uint32_t begin;   /* its number in the row */
    uint32_t count;   /* elements inside the array; 0: none */
    bool is_below;    /* a coordinate is negative */
} emu_tile_row;

/* Begin at the first row. `offsets` are those of an im2col map, else NULL. `writes`:
 * the copy is to global memory. Then the end of a line counts in units of 16 bytes, as
 * on an H200: elements up to the next multiple of 16 bytes are written too. */
void emu_tile_begin(emu_tensor_tile *tile, const emu_tensor_map *map, bool writes,
                    const int32_t coordinates[EMU_TENSOR_RANK],
                    const uint16_t offsets[EMU_TENSOR_SPACE]);
/* False: the first pixel of an im2col tile is outside the box of pixels. */
bool emu_tile_starts_inside(const emu_tensor_tile *tile);
/* False: there are no more rows. */
bool emu_tile_next(emu_tensor_tile *tile, emu_tile_row *row);

/* The bytes of a line of shared memory with this swizzle; 0 without one. Rows begin at
 * lines. */
static inline unsigned
emu_tile_span(unsigned swizzle)
{
    static const uint8_t spans[] = {0, 32, 64, 128};

    return spans[swizzle & 3];
}

/* The place in shared memory of the byte that without a swizzle is at `offset`. Runs of
 * 16 aligned bytes stay together. */
static inline uint64_t
emu_tile_swizzle(unsigned swizzle, uint64_t offset)
{
    static const uint8_t masks[] = {0, 0x10, 0x30, 0x70};

    return offset ^ (offset >> 3 & masks[swizzle & 3]);
}

#endif
