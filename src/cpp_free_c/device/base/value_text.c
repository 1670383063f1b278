/* Values as text. See value_text.h. */
#include "device/base/value_text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Below this, a pattern of bits is rather a small integer than a floating-point number.
 */
#define LEAST_REAL 1e-30

/* The bytes as one hexadecimal number, the highest address first. */
static size_t
value_hex(const uint8_t *bytes, size_t size, char *text)
{
    size_t length = (size_t)snprintf(text, EMU_VALUE_ROOM, "0x");

    while (size-- > 0) {
        length += (size_t)snprintf(text + length, EMU_VALUE_ROOM - length, "%02x",
                                   bytes[size]);
    }
    return length;
}

/* Write " (int 5)", or " (int 1065353216, float 1)" if the number may be one. */
static void
value_numbers(long long number, const char *type, double real, char *text, size_t room)
{
    if (real > -LEAST_REAL && real < LEAST_REAL) {
        (void)snprintf(text, room, " (int %lld)", number);
    }
    else {
        (void)snprintf(text, room, " (int %lld, %s %g)", number, type, real);
    }
}

void
emu_value_text(const void *value, size_t size, char text[EMU_VALUE_ROOM])
{
    int8_t byte;
    int16_t half;
    int32_t word;
    int64_t wide;
    float single;
    double twofold;
    size_t length;

    text[0] = 0;
    if (size == 0 || size > EMU_VALUE_MOST) {
        return;
    }
    length = value_hex(value, size, text);
    text += length;
    switch (size) {
        case 1:
            memcpy(&byte, value, sizeof(byte));
            value_numbers(byte, "", 0, text, EMU_VALUE_ROOM - length);
            break;
        case 2:
            memcpy(&half, value, sizeof(half));
            value_numbers(half, "", 0, text, EMU_VALUE_ROOM - length);
            break;
        case 4:
            memcpy(&word, value, sizeof(word));
            memcpy(&single, value, sizeof(single));
            value_numbers(word, "float", (double)single, text, EMU_VALUE_ROOM - length);
            break;
        case 8:
            memcpy(&wide, value, sizeof(wide));
            memcpy(&twofold, value, sizeof(twofold));
            value_numbers(wide, "double", twofold, text, EMU_VALUE_ROOM - length);
            break;
        default:
            break;
    }
}
