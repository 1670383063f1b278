/* Tensor maps and tiles. See tensor_map.h. */
#include "device/memory/tensor_map.h"

#include <string.h>

#include "device/base/element.h"

_Static_assert(sizeof(emu_tensor_map) <= sizeof(CUtensorMap), "the map is too small");

bool
emu_tensor_map_read(emu_tensor_map *map, const void *bytes)
{
    memcpy(map, bytes, sizeof *map);
    return memcmp(map->mark, EMU_TENSOR_MARK, sizeof map->mark) == 0 &&
           map->rank >= 1 && map->rank <= EMU_TENSOR_RANK &&
           map->type < EMU_ELEMENT_COUNT;
}

/* -- the first row ----------------------------------------------------------------- */

/* The rows of an im2col tile are pixels. */
static void
tile_begin_pixels(emu_tile *tile, const uint16_t offsets[EMU_TENSOR_SPACE])
{
    tile->row_elements = tile->map->box[0];
    tile->rows = tile->map->box[1];
    for (unsigned i = 1; i + 1 < tile->map->rank; i++) {
        tile->shift[i] = offsets != NULL ? offsets[i - 1] : 0;
    }
}

static void
tile_begin_box(emu_tile *tile)
{
    const emu_tensor_map *map = tile->map;

    tile->row_elements = map->box[0];
    tile->rows = 1;
    for (unsigned i = 1; i < map->rank; i++) {
        tile->counts[i] = (map->box[i] + map->steps[i] - 1u) / map->steps[i];
        tile->rows *= tile->counts[i];
    }
}

void
emu_tile_begin(emu_tile *tile, const emu_tensor_map *map,
               const int32_t coordinates[EMU_TENSOR_RANK],
               const uint16_t offsets[EMU_TENSOR_SPACE])
{
    memset(tile, 0, sizeof *tile);
    tile->map = map;
    for (unsigned i = 0; i < map->rank; i++) {
        tile->first[i] = tile->place[i] = coordinates[i];
    }
    if (map->is_im2col) {
        tile_begin_pixels(tile, offsets);
    }
    else {
        tile_begin_box(tile);
    }
    tile->row_bytes = tile->row_elements * emu_element_size(map->type);
}

/* -- the next rows ----------------------------------------------------------------- */

/* Move to the next row of a box. */
static void
tile_step_box(emu_tile *tile)
{
    for (unsigned i = 1; i < tile->map->rank; i++) {
        tile->at[i]++;
        tile->place[i] += tile->map->steps[i];
        if (tile->at[i] < tile->counts[i]) {
            return;
        }
        tile->at[i] = 0;
        tile->place[i] = tile->first[i];
    }
}

/* Move to the next pixel: along each dimension of space from the lower to the upper
 * corner, then to the next image. */
static void
tile_step_pixel(emu_tile *tile)
{
    const emu_tensor_map *map = tile->map;
    const unsigned batch = map->rank - 1u;

    for (unsigned i = 1; i < batch; i++) {
        tile->place[i] += map->steps[i];
        if (tile->place[i] <= (int64_t)map->last[i] + map->upper[i - 1]) {
            return;
        }
        tile->place[i] = map->lower[i - 1];
    }
    tile->place[batch]++;
}

/* The part of the present row that is inside the array. */
static void
tile_row_inside(const emu_tile *tile, emu_tile_row *row)
{
    const emu_tensor_map *map = tile->map;
    const int64_t size = (int64_t)map->last[0] + 1;
    int64_t begin = 0, end = tile->row_elements, first = tile->first[0];

    row->count = 0;
    row->begin = 0;
    row->address = map->address;
    for (unsigned i = 1; i < map->rank; i++) {
        const int64_t at = tile->place[i] + tile->shift[i];

        if (at < 0 || at > (int64_t)map->last[i]) {
            return;
        }
        row->address += (uint64_t)at * map->strides[i - 1];
    }
    if (first < 0) {
        begin = -first;
    }
    if (end > size - first) {
        end = size - first;
    }
    if (begin < end) {
        row->begin = (uint32_t)begin;
        row->count = (uint32_t)(end - begin);
        row->address += (uint64_t)(first + begin) * emu_element_size(map->type);
    }
}

bool
emu_tile_next(emu_tile *tile, emu_tile_row *row)
{
    if (tile->next == tile->rows) {
        return false;
    }
    tile_row_inside(tile, row);
    tile->next++;
    if (tile->map->is_im2col) {
        tile_step_pixel(tile);
    }
    else {
        tile_step_box(tile);
    }
    return true;
}
