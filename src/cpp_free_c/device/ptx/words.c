/* The texts of opcodes and words, by number. See words.h. */
#include "device/ptx/words.h"

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
    static const char *const texts[] = {"", PTX_TYPES(TYPE_ROW) PTX_WORDS(WORD_ROW)};
#undef TYPE_ROW
#undef WORD_ROW
    /* clang-format on */

    return texts[word];
}
