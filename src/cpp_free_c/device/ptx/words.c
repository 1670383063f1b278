/* From the number of an opcode or a word to its text, and back. See words.h. */
#include "device/ptx/words.h"

#include <string.h>

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
