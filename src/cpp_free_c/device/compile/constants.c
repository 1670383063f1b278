/* Vectors of equal lanes, found by a hash table. See constants.h. */
#include "device/compile/constants.h"

#include <string.h>

#include "device/compile/code.h"

/* Each vector is preceded by this many bytes, which begin with its key: the value, then
 * the width. */
enum { KEY_ROOM = 64 };

/* Places are numbers of 32 bits. */
static const size_t max_bytes = (size_t)1 << 31;

static size_t
constants_slot(uint64_t bits, size_t slot_count)
{
    return (bits * 0x9e3779b97f4a7c15u >> 20) & (slot_count - 1);
}

static void
constants_rehash(emu_load *load, low_constants *c)
{
    size_t room = 256;
    uint32_t *slots;

    if (c->slot_count > 0) {
        room = c->slot_count * 4;
    }
    slots = emu_arena_get(load, &load->parsed, room, sizeof *slots);
    for (size_t i = 0; i < c->slot_count; i++) {
        const uint32_t slot = c->slots[i];
        uint64_t bits;
        size_t at;

        if (slot == 0) {
            continue;
        }
        memcpy(&bits, c->bytes + slot - 1, sizeof bits);
        at = constants_slot(bits, room);
        while (slots[at] != 0) {
            at = (at + 1) & (room - 1);
        }
        slots[at] = slot;
    }
    c->slots = slots;
    c->slot_count = room;
}

/* Makes room for `need` more bytes; false when there are too many constants. */
static bool
constants_reserve(emu_load *load, low_constants *c, size_t need)
{
    size_t room = (size_t)1 << 14;
    uint8_t *larger;

    if (c->size + need <= c->room) {
        return true;
    }
    if (c->room > 0) {
        room = c->room * 2;
    }
    if (room > max_bytes) {
        return false;
    }
    larger = emu_arena_get(load, &load->parsed, room, 1);
    if (c->size > 0) {
        memcpy(larger, c->bytes, c->size);
    }
    c->bytes = larger;
    c->room = room;
    return true;
}

/* Writes the key, then the vector; its place is *place. False: too many constants. */
static bool
constants_append(emu_load *load, low_constants *c, ptx_class width, uint64_t bits,
                 uint32_t *place)
{
    const size_t bytes = ptx_class_bytes(width);
    uint8_t *vector;
    size_t size = 64; /* of a predicate: one mask, and room to keep the alignment */

    if (width != PTX_PRED) {
        size = bytes * EMU_LANES;
    }
    if (!constants_reserve(load, c, KEY_ROOM + size)) {
        return false;
    }
    memcpy(c->bytes + c->size, &bits, sizeof bits);
    c->bytes[c->size + sizeof bits] = (uint8_t)width;
    *place = (uint32_t)c->size + KEY_ROOM;
    vector = c->bytes + *place;
    if (width == PTX_PRED) {
        const uint32_t mask = 0u - (uint32_t)bits; /* bits is 0 or 1 */

        memcpy(vector, &mask, sizeof mask);
    }
    else {
        size_t known = sizeof bits;

        if (bytes < known) {
            known = bytes;
        }
        for (size_t i = 0; i < EMU_LANES; i++) {
            memcpy(vector + i * bytes, &bits, known);
        }
    }
    c->size += KEY_ROOM + size;
    return true;
}

uint32_t
low_constants_place(emu_load *load, low_constants *c, ptx_class width, uint64_t bits)
{
    static const uint64_t masks[PTX_CLASSES] = {1, 0xffff, 0xffffffff, UINT64_MAX,
                                                UINT64_MAX};
    uint32_t place;
    size_t at;

    if (width == PTX_PRED) {
        bits = bits != 0;
    }
    bits &= masks[width];
    if (c->count * 2 >= c->slot_count) {
        constants_rehash(load, c);
    }
    at = constants_slot(bits, c->slot_count);
    for (; c->slots[at] != 0; at = (at + 1) & (c->slot_count - 1)) {
        const uint8_t *key = c->bytes + c->slots[at] - 1;
        uint64_t same;

        memcpy(&same, key, sizeof same);
        if (same == bits && key[sizeof same] == width) {
            return c->slots[at] - 1 + KEY_ROOM;
        }
    }
    if (!constants_append(load, c, width, bits, &place)) {
        return UINT32_MAX;
    }
    c->slots[at] = place - KEY_ROOM + 1;
    c->count++;
    return place;
}

uint64_t
low_constants_bits(const low_constants *constants, uint32_t place)
{
    uint64_t bits;

    memcpy(&bits, constants->bytes + place - KEY_ROOM, sizeof bits);
    return bits;
}
