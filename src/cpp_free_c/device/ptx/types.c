/* The types of PTX data. See types.h; the rows are in words.h. */
#include "device/ptx/types.h"

#include <stdint.h>

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
