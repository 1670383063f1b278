/* Values of memory as text, for reports. */
#ifndef DEVICE_BASE_VALUE_TEXT_H
#define DEVICE_BASE_VALUE_TEXT_H

#include <stddef.h>

enum {
    EMU_VALUE_MOST = 16, /* bytes of a value that has a text */
    EMU_VALUE_ROOM = 80
};

/* Write a value of `size` bytes as a hexadecimal number and as the numbers that it may
 * be, such as "0x3f800000 (int 1065353216, float 1)".
 * Values of more than EMU_VALUE_MOST bytes, or none, are "". */
void emu_value_text(const void *value, size_t size, char text[EMU_VALUE_ROOM]);

#endif
