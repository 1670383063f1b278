/* Tensor maps and tiles. See tensor_map.h. */
#include "device/memory/tensor_map.h"

#include <string.h>

#include "device/base/number.h"

_Static_assert(sizeof(emu_tensor_map) <= sizeof(CUtensorMap), "the map is too small");

/* Whether the fields of a map have values that the calls write: its bytes may come from
 * memory that a kernel has changed. */
static bool
tensor_map_is_sound(const emu_tensor_map *map)
{
    if (map->rank < 1 || map->rank > EMU_TENSOR_RANK ||
        map->type >= EMU_ELEMENT_COUNT || map->interleave > EMU_INTERLEAVE_32B ||
        map->swizzle > EMU_SWIZZLE_128B ||
        (map->is_im2col && (map->rank < 3 || map->interleave != 0))) {
        return false;
    }
    for (unsigned i = 0; i < map->rank; i++) {
        if (map->steps[i] == 0 || (map->box[i] == 0 && !map->is_im2col)) {
            return false;
        }
    }
    return map->box[0] != 0 && map->box[0] * emu_element_size(map->type) % 16 == 0 &&
           map->box[0] * emu_element_size(map->type) <= EMU_TENSOR_ROW;
}

bool
emu_tensor_map_read(emu_tensor_map *map, const void *bytes)
{
    memcpy(map, bytes, sizeof *map);
    return memcmp(map->mark, EMU_TENSOR_MARK, sizeof map->mark) == 0 &&
           tensor_map_is_sound(map);
}

/* -- the first row ----------------------------------------------------------------- */

/* The rows of an im2col tile are pixels. */
static void
tile_begin_pixels(emu_tensor_tile *tile, const uint16_t offsets[EMU_TENSOR_SPACE])
{
    tile->row_elements = tile->map->box[0];
    tile->lowest = 1;
    tile->rows = tile->map->box[1];
    for (unsigned i = 1; i + 1 < tile->map->rank; i++) {
        tile->shift[i] = offsets != NULL ? offsets[i - 1] : 0;
    }
}

/* The bytes of a slice of channels of an interleaved array; 0 for other arrays. */
static unsigned
tile_slice(const emu_tensor_map *map)
{
    return map->interleave * 16u;
}

/* An interleaved tile has one slice of channels, whatever the box says. */
static void
tile_begin_box(emu_tensor_tile *tile)
{
    const emu_tensor_map *map = tile->map;

    tile->row_elements = map->box[0];
    tile->lowest = 1;
    if (map->interleave) {
        tile->row_elements = tile_slice(map) / emu_element_size(map->type);
        tile->lowest = 0;
    }
    tile->rows = 1;
    for (unsigned i = tile->lowest; i < map->rank; i++) {
        tile->counts[i] = (map->box[i] + map->steps[i] - 1u) / map->steps[i];
        if (map->interleave && i + 2 == map->rank) {
            tile->counts[i] = 1;
        }
        tile->rows *= tile->counts[i];
    }
}

void
emu_tile_begin(emu_tensor_tile *tile, const emu_tensor_map *map, bool writes,
               const int32_t coordinates[EMU_TENSOR_RANK],
               const uint16_t offsets[EMU_TENSOR_SPACE])
{
    const int64_t unit = 16 / emu_element_size(map->type);

    memset(tile, 0, sizeof *tile);
    tile->map = map;
    tile->line = (int64_t)map->last[0] + 1;
    if (writes) {
        tile->line = (tile->line + unit - 1) / unit * unit;
    }
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
    if (map->interleave == EMU_INTERLEAVE_NONE) {
        tile->pitch = emu_tile_span(map->swizzle);
    }
    if (tile->pitch < tile->row_bytes) {
        tile->pitch = tile->row_bytes;
    }
}

/* -- the next rows ----------------------------------------------------------------- */

/* Move to the next row of a box. */
static void
tile_step_box(emu_tensor_tile *tile)
{
    for (unsigned i = tile->lowest; i < tile->map->rank; i++) {
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
tile_step_pixel(emu_tensor_tile *tile)
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

/* The part of a line along dimension 0 that is inside the array. */
static void
tile_line_inside(const emu_tensor_tile *tile, emu_tile_row *row)
{
    const int64_t first = tile->first[0];
    int64_t begin = 0, end = tile->row_elements;

    if (first < 0) {
        begin = -first;
    }
    if (end > tile->line - first) {
        end = tile->line - first;
    }
    if (begin < end) {
        row->begin = (uint32_t)begin;
        row->count = (uint32_t)(end - begin);
        row->address += (uint64_t)(first + begin) * emu_element_size(tile->map->type);
    }
}

/* The part of the present row that is inside the array. */
static void
tile_row_inside(const emu_tensor_tile *tile, emu_tile_row *row)
{
    const emu_tensor_map *map = tile->map;

    *row = (emu_tile_row){.address = map->address};
    for (unsigned i = tile->lowest; i < map->rank; i++) {
        const int64_t at = tile->place[i] + tile->shift[i];

        row->is_below |= at < 0;
        if (at < 0 || at > (int64_t)map->last[i]) {
            return;
        }
        if (i == 0) {
            row->address += (uint64_t)at * tile_slice(map);
        }
        else {
            row->address += (uint64_t)at * map->strides[i - 1];
        }
    }
    if (tile->lowest == 0) {
        row->count = tile->row_elements;
        return;
    }
    row->is_below |= tile->first[0] < 0;
    tile_line_inside(tile, row);
}

bool
emu_tile_starts_inside(const emu_tensor_tile *tile)
{
    const emu_tensor_map *map = tile->map;

    for (unsigned i = 1; map->is_im2col && i + 1 < map->rank; i++) {
        if (tile->first[i] < map->lower[i - 1] ||
            tile->first[i] > (int64_t)map->last[i] + map->upper[i - 1]) {
            return false;
        }
    }
    return true;
}

bool
emu_tile_next(emu_tensor_tile *tile, emu_tile_row *row)
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
