/* Names, words and types. See words.h. */
#include "device/ptx/words.h"

#include <stdint.h>
#include <string.h>

/* -- names: a hash table ----------------------------------------------------------- */

static uint32_t
names_hash(const char *text, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    }
    return hash;
}

static void
names_resize(emu_load *load, ptx_names *names)
{
    size_t room = 2048;
    ptx_name **slots;

    if (names->room > 0) {
        room = names->room * 4;
    }
    slots = emu_arena_get(load, &load->scratch, room, sizeof(ptx_name *));
    for (size_t i = 0; i < names->room; i++) {
        ptx_name *name = names->slots[i];

        while (name != NULL) {
            ptx_name *next = name->next;

            name->next = slots[name->hash & (room - 1)];
            slots[name->hash & (room - 1)] = name;
            name = next;
        }
    }
    names->slots = slots;
    names->room = room;
}

ptx_name *
ptx_names_get(emu_load *load, ptx_names *names, const char *text, size_t size, bool add)
{
    uint32_t hash = names_hash(text, size);
    ptx_name *name;

    if (names->count >= names->room) {
        names_resize(load, names);
    }
    for (name = names->slots[hash & (names->room - 1)]; name != NULL;
         name = name->next) {
        if (name->hash == hash && name->size == size &&
            memcmp(name->text, text, size) == 0) {
            return name;
        }
    }
    if (!add) {
        return NULL;
    }
    if (size > 1 << 20) {
        emu_load_fail(load, EMU_LOAD_INVALID_PTX, 0, "a name is too long");
    }
    name = emu_arena_get(load, &load->scratch, 1, sizeof(ptx_name) + size + 1);
    name->hash = hash;
    name->size = (uint32_t)size;
    memcpy(name->text, text, size);
    name->next = names->slots[hash & (names->room - 1)];
    names->slots[hash & (names->room - 1)] = name;
    names->count++;
    return name;
}

/* -- from the number of an opcode or a word to its text, and back ------------------ */

const char *
ptx_opcode_text(unsigned opcode)
{
    /* clang-format off */
#define OPCODE_ROW(name, ...) #name,
    static const char *const texts[] = {"label", PTX_OPCODES(OPCODE_ROW)};
#undef OPCODE_ROW
    /* clang-format on */

    return texts[opcode];
}

const char *
ptx_word_text(unsigned word)
{
    /* clang-format off */
#define TYPE_ROW(name, bytes, kind) #name,
#define WORD_ROW(name, text) text,
#define SHAPE_ROW(name, rows, columns, depth) #name,
    static const char *const texts[] = {
        "", PTX_TYPES(TYPE_ROW) PTX_WORDS(WORD_ROW) PTX_SHAPES(SHAPE_ROW)};
#undef TYPE_ROW
#undef WORD_ROW
#undef SHAPE_ROW
    /* clang-format on */

    return texts[word];
}

ptx_shape
ptx_word_shape(unsigned word)
{
    /* clang-format off */
#define SHAPE_ROW(name, rows, columns, depth) {rows, columns, depth},
    static const ptx_shape shapes[] = {PTX_SHAPES(SHAPE_ROW)};
#undef SHAPE_ROW
    /* clang-format on */

    if (word < PTX_W_FIRST_SHAPE || word >= PTX_W_COUNT) {
        return (ptx_shape){0, 0, 0};
    }
    return shapes[word - PTX_W_FIRST_SHAPE];
}

void
ptx_words_enter(emu_load *load, ptx_names *names)
{
    for (unsigned opcode = PTX_OP_NONE + 1; opcode < PTX_OPCODE_COUNT; opcode++) {
        const char *text = ptx_opcode_text(opcode);

        ptx_names_get(load, names, text, strlen(text), true)->opcode = (uint16_t)opcode;
    }
    for (unsigned word = PTX_W_NONE + 1; word < PTX_W_COUNT; word++) {
        const char *text = ptx_word_text(word);

        ptx_names_get(load, names, text, strlen(text), true)->word = (uint16_t)word;
    }
}

/* -- types ------------------------------------------------------------------------- */

typedef enum { BITS, UNSIGNED, SIGNED, FLOAT } type_kind;

static const struct {
    uint8_t bytes;
    uint8_t kind; /* type_kind */
} type_rows[PTX_W_LAST_TYPE + 1] = {
#define TYPE_ROW(name, bytes, kind) [PTX_W_##name] = {bytes, kind},
    PTX_TYPES(TYPE_ROW)
#undef TYPE_ROW
};

static bool
type_is(unsigned word, type_kind kind)
{
    return word <= PTX_W_LAST_TYPE && type_rows[word].kind == kind;
}

unsigned
ptx_type_size(unsigned word)
{
    if (word > PTX_W_LAST_TYPE) {
        return 0;
    }
    return type_rows[word].bytes;
}

bool
ptx_type_is_float(unsigned word)
{
    return type_is(word, FLOAT);
}

bool
ptx_type_is_signed(unsigned word)
{
    return type_is(word, SIGNED);
}

bool
ptx_type_is_unsigned(unsigned word)
{
    return type_is(word, UNSIGNED);
}

ptx_class
ptx_type_class(unsigned word)
{
    if (word == PTX_W_pred) {
        return PTX_PRED;
    }
    switch (ptx_type_size(word)) {
        case 1:
        case 2:
            return PTX_R16;
        case 8:
            return PTX_R64;
        case 16:
            return PTX_R128;
        default:
            return PTX_R32;
    }
}

unsigned
ptx_class_bytes(ptx_class width)
{
    static const uint8_t bytes[PTX_CLASSES] = {0, 2, 4, 8, 16};

    return bytes[width];
}
