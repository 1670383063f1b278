/* printf in kernels. See device_printf.h. */
#define _GNU_SOURCE
#include "device/machine/device_printf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/machine/lanes.h"
#include "device/machine/services.h"

enum { STRING_LIMIT = 1 << 16 };

typedef struct {
    emu_warp *warp;
    emu_services *services;
    unsigned lane;
    uint64_t arguments; /* where the next one is */
    bool bad;           /* an argument lies outside of memory */
} printer;

static uint64_t
next_argument(printer *p, unsigned size)
{
    const uint8_t *at;
    uint64_t value = 0;

    p->arguments = (p->arguments + size - 1) & ~(uint64_t)(size - 1);
    at = emu_access_generic(p->warp, p->lane, p->arguments, size);
    if (!at) {
        p->bad = true;
        return 0;
    }
    memcpy(&value, at, size);
    p->arguments += size;
    return value;
}

/* What stands between the % and the conversion. */
typedef struct {
    char flags[8];
    int width, precision; /* -1: none */
    bool is_long;
    unsigned shorts; /* h once or twice */
    char conversion;
} directive;

static int
read_size(printer *p, const char **at)
{
    int value = 0;

    if (**at == '*') {
        ++*at;
        value = (int)(int32_t)next_argument(p, 4);
        return value > 4096 ? 4096 : value < -4096 ? -4096 : value;
    }
    while (**at >= '0' && **at <= '9') {
        value = value < 4096 ? value * 10 + (**at - '0') : value;
        ++*at;
    }
    return value > 4096 ? 4096 : value;
}

static const char *
read_directive(printer *p, const char *at, directive *out)
{
    size_t flags = 0;

    memset(out, 0, sizeof *out);
    out->width = out->precision = -1;
    while (*at && strchr("-+ #0", *at)) {
        if (flags < sizeof out->flags - 2) {
            out->flags[flags++] = *at;
        }
        at++;
    }
    if (*at == '*' || (*at >= '1' && *at <= '9')) {
        out->width = read_size(p, &at);
        if (out->width < 0) {
            out->flags[flags++] = '-';
            out->width = -out->width;
        }
    }
    if (*at == '.') {
        at++;
        out->precision = read_size(p, &at);
    }
    while (*at && strchr("hlLqjzt", *at)) {
        out->is_long |= *at != 'h' && *at != 'L';
        out->shorts += *at == 'h';
        at++;
    }
    out->conversion = *at;
    return *at ? at + 1 : at;
}

static unsigned long long
unsigned_argument(printer *p, const directive *d)
{
    const uint64_t value = next_argument(p, d->is_long ? 8 : 4);

    return d->shorts > 1 ? (uint8_t)value : d->shorts ? (uint16_t)value : value;
}

static long long
signed_argument(printer *p, const directive *d)
{
    const uint64_t value = next_argument(p, d->is_long ? 8 : 4);

    return d->shorts > 1 ? (int8_t)value
           : d->shorts   ? (int16_t)value
           : d->is_long  ? (int64_t)value
                         : (int32_t)value;
}

/* Writes one argument with a format of our own making. */
static void
print_one(printer *p, const directive *d)
{
    char format[48], text[4800], *string;
    int size = 0, n = 0;

    n += snprintf(format, sizeof format, "%%%s", d->flags);
    if (d->width >= 0) {
        n += snprintf(format + n, sizeof format - (size_t)n, "%d", d->width);
    }
    if (d->precision >= 0) {
        n += snprintf(format + n, sizeof format - (size_t)n, ".%d", d->precision);
    }
#define PRINT(letters, value)                                                  \
    do {                                                                       \
        (void)snprintf(format + n, sizeof format - (size_t)n, "%s%c", letters, \
                       d->conversion);                                         \
        size = snprintf(text, sizeof text, format, value);                     \
    } while (0)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    switch (d->conversion) {
        case 'd':
        case 'i':
            PRINT("ll", signed_argument(p, d));
            break;
        case 'u':
        case 'o':
        case 'x':
        case 'X':
            PRINT("ll", unsigned_argument(p, d));
            break;
        case 'c':
            PRINT("", (int)(unsigned char)next_argument(p, 4));
            break;
        case 'a':
        case 'A':
        case 'e':
        case 'E':
        case 'f':
        case 'F':
        case 'g':
        case 'G':
            PRINT("", f64_of_bits(next_argument(p, 8)));
            break;
        case 'p':
            PRINT("", (void *)(uintptr_t)next_argument(p, 8));
            break;
        case 's':
            string = malloc(STRING_LIMIT);
            if (string && emu_service_string(p->warp, p->lane, next_argument(p, 8),
                                             string, STRING_LIMIT) >= 0) {
                if (d->width < 0 && d->precision < 0) {
                    emu_services_append_locked(p->services, string, strlen(string));
                }
                else {
                    PRINT("", string);
                }
            }
            else {
                p->bad = true;
            }
            free(string);
            break;
        case 'n':
            (void)next_argument(p, 8);
            break;
        default:
            size = snprintf(text, sizeof text, "%%%c", d->conversion);
            break;
    }
#pragma GCC diagnostic pop
#undef PRINT
    if (size > 0) {
        emu_services_append_locked(
            p->services, text,
            (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
    }
}

static bool
print(printer *p, const char *format)
{
    int count = 0;

    (void)pthread_mutex_lock(&p->services->lock);
    while (*format && !p->bad) {
        const char *percent = strchr(format, '%');
        directive d;

        if (!percent) {
            emu_services_append_locked(p->services, format, strlen(format));
            break;
        }
        emu_services_append_locked(p->services, format, (size_t)(percent - format));
        if (percent[1] == '%') {
            emu_services_append_locked(p->services, "%", 1);
            format = percent + 2;
            continue;
        }
        format = read_directive(p, percent + 1, &d);
        if (d.conversion) {
            print_one(p, &d);
            count++;
        }
    }
    (void)pthread_mutex_unlock(&p->services->lock);
    return count >= 0 && !p->bad;
}

const emu_insn *
emu_device_printf(emu_warp *warp, const emu_insn *insn)
{
    emu_services *services = emu_services_get(warp->block->grid->context);
    char *format = malloc(STRING_LIMIT);
    uint32_t left;

    if (!services || !format) {
        free(format);
        return insn + 1; /* no memory: the text is lost */
    }
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        printer p = {warp, services, lane, emu_service_word(warp, insn, 1, lane),
                     false};
        const uint64_t text = emu_service_word(warp, insn, 0, lane);

        if (emu_service_string(warp, lane, text, format, STRING_LIMIT) < 0 ||
            !print(&p, format)) {
            free(format);
            return emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane, text,
                             "printf with a format or an argument outside of memory");
        }
        emu_service_return(warp, insn, lane, 0);
    }
    free(format);
    return insn + 1;
}
