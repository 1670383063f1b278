/* printf in kernels. See services.h. */
#define _GNU_SOURCE
#include "device/machine/services/services.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/base/warnings.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/report.h"

enum { STRING_LIMIT = 1 << 16, SIZE_LARGEST = 4096 /* of a width or precision */ };

typedef struct {
    emu_warp *warp;
    emu_services *services;
    unsigned lane;
    uint64_t arguments; /* the address of the next argument */
    bool bad;           /* the address of an argument is not legal */
} printer;

static uint64_t
printer_next_argument(printer *p, unsigned size)
{
    const uint8_t *at;
    uint64_t value = 0;

    p->arguments = (p->arguments + size - 1) & ~(uint64_t)(size - 1);
    at = emu_address_generic(p->warp, p->lane, p->arguments, size);
    if (at == NULL) {
        p->bad = true;
        return 0;
    }
    memcpy(&value, at, size);
    p->arguments += size;
    return value;
}

/* The text after a %, up to and including the conversion. */
typedef struct {
    char flags[8];
    int width, precision; /* -1: none */
    bool is_long;
    unsigned shorts; /* h once or twice */
    char conversion;
} directive;

/* Read a width or a precision: digits, or * for an argument. */
static int
printer_read_size(printer *p, const char **at)
{
    int value = 0;

    if (**at == '*') {
        ++*at;
        value = (int)(int32_t)printer_next_argument(p, 4);
    }
    while (**at >= '0' && **at <= '9') {
        if (value < SIZE_LARGEST) {
            value = value * 10 + (**at - '0');
        }
        ++*at;
    }
    if (value > SIZE_LARGEST) {
        return SIZE_LARGEST;
    }
    if (value < -SIZE_LARGEST) {
        return -SIZE_LARGEST;
    }
    return value;
}

static const char *
printer_read_directive(printer *p, const char *at, directive *out)
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
        out->width = printer_read_size(p, &at);
        if (out->width < 0) {
            out->flags[flags++] = '-';
            out->width = -out->width;
        }
    }
    if (*at == '.') {
        at++;
        out->precision = printer_read_size(p, &at);
    }
    while (*at && strchr("hlLqjzt", *at)) {
        out->is_long |= *at != 'h' && *at != 'L';
        out->shorts += *at == 'h';
        at++;
    }
    out->conversion = *at;
    if (*at) {
        at++;
    }
    return at;
}

static uint64_t
printer_integer_argument(printer *p, const directive *d)
{
    if (d->is_long) {
        return printer_next_argument(p, 8);
    }
    return printer_next_argument(p, 4);
}

static unsigned long long
printer_unsigned_argument(printer *p, const directive *d)
{
    const uint64_t value = printer_integer_argument(p, d);

    switch (d->shorts) {
        case 0:
            return value;
        case 1:
            return (uint16_t)value;
        default:
            return (uint8_t)value;
    }
}

static long long
printer_signed_argument(printer *p, const directive *d)
{
    const uint64_t value = printer_integer_argument(p, d);

    if (d->shorts > 1) {
        return (int8_t)value;
    }
    if (d->shorts == 1) {
        return (int16_t)value;
    }
    if (d->is_long) {
        return (int64_t)value;
    }
    return (int32_t)value;
}

/* Write the format of one argument for the host's printf. `length` is its length
 * modifier. */
static void
printer_make_format(const directive *d, const char *length, char *format, size_t room)
{
    char width[16] = "", precision[16] = "";

    if (d->width >= 0) {
        (void)snprintf(width, sizeof width, "%d", d->width);
    }
    if (d->precision >= 0) {
        (void)snprintf(precision, sizeof precision, ".%d", d->precision);
    }
    (void)snprintf(format, room, "%%%s%s%s%s%c", d->flags, width, precision, length,
                   d->conversion);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* Convert a string; one without width and precision may be longer than `text`. */
static int
printer_print_string(printer *p, const directive *d, const char *format, char *text,
                     size_t room)
{
    char *string = malloc(STRING_LIMIT);
    int size = 0;

    if (!string || emu_service_string(p->warp, p->lane, printer_next_argument(p, 8),
                                      string, STRING_LIMIT) < 0) {
        p->bad = true;
    }
    else if (d->width < 0 && d->precision < 0) {
        emu_services_append_locked(p->services, string, strlen(string));
    }
    else {
        size = snprintf(text, room, format, string);
    }
    free(string);
    return size;
}

/* Print one argument. A directive with an unknown conversion is printed as it is. */
static void
printer_print_one(printer *p, const directive *d)
{
    char format[64], text[4800];
    int size = 0;

    if (strchr("diuoxX", d->conversion)) {
        printer_make_format(d, "ll", format, sizeof format);
    }
    else {
        printer_make_format(d, "", format, sizeof format);
    }
    switch (d->conversion) {
        case 'd':
        case 'i':
            size = snprintf(text, sizeof text, format, printer_signed_argument(p, d));
            break;
        case 'u':
        case 'o':
        case 'x':
        case 'X':
            size = snprintf(text, sizeof text, format, printer_unsigned_argument(p, d));
            break;
        case 'c':
            size = snprintf(text, sizeof text, format,
                            (int)(unsigned char)printer_next_argument(p, 4));
            break;
        case 'p':
            size = snprintf(text, sizeof text, format,
                            (void *)(uintptr_t)printer_next_argument(p, 8));
            break;
        case 's':
            size = printer_print_string(p, d, format, text, sizeof text);
            break;
        case 'n':
            (void)printer_next_argument(p, 8);
            break;
        default:
            if (strchr("aAeEfFgG", d->conversion)) {
                size = snprintf(text, sizeof text, format,
                                f64_of_bits(printer_next_argument(p, 8)));
            }
            else {
                size = snprintf(text, sizeof text, "%%%c", d->conversion);
            }
            break;
    }
    if (size >= (int)sizeof text) {
        size = sizeof text - 1;
    }
    if (size > 0) {
        emu_services_append_locked(p->services, text, (size_t)size);
    }
}

#pragma GCC diagnostic pop

/* Count a call. Warn once if a launch makes more of them than the buffer of a GPU has
 * room for: the GPU drops text then. An H200 uses 256 bytes of the buffer for a short
 * text, and has room for LEAST_CALLS unless the program sets a larger limit. */
static void
printer_count_locked(const printer *p)
{
    enum { LEAST_CALLS = 33792, CALL_BYTES = 256 };
    const emu_grid *grid = p->warp->block->grid;
    const size_t limit = grid->context->limits[EMU_LIMIT_PRINTF_FIFO_SIZE] / CALL_BYTES;
    emu_services *services = p->services;
    char text[480];

    if (services->printing != grid->number) {
        services->printing = grid->number;
        services->printed = 0;
    }
    services->printed++;
    if (services->has_warned || services->printed <= LEAST_CALLS ||
        services->printed <= limit) {
        return;
    }
    services->has_warned = true;
    (void)snprintf(
        text, sizeof text,
        "one launch of the kernel %.200s calls printf more than %zu times. A GPU "
        "has no room for so much text, and drops a part of it: print less, or set "
        "limit.PRINTF_FIFO_SIZE to 256 bytes for each call.\n",
        grid->kernel->info.name, limit < LEAST_CALLS ? (size_t)LEAST_CALLS : limit);
    emu_warning_add(NULL, text, (emu_ptx_place){0});
}

/* Print a format with its arguments. False: the address of an argument is not legal. */
static bool
printer_print(printer *p, const char *format)
{
    (void)pthread_mutex_lock(&p->services->lock);
    printer_count_locked(p);
    while (*format && !p->bad) {
        const char *percent = strchr(format, '%');
        directive d;

        if (percent == NULL) {
            emu_services_append_locked(p->services, format, strlen(format));
            break;
        }
        emu_services_append_locked(p->services, format, (size_t)(percent - format));
        if (percent[1] == '%') {
            emu_services_append_locked(p->services, "%", 1);
            format = percent + 2;
            continue;
        }
        format = printer_read_directive(p, percent + 1, &d);
        if (d.conversion) {
            printer_print_one(p, &d);
        }
    }
    (void)pthread_mutex_unlock(&p->services->lock);
    return !p->bad;
}

const emu_insn *
emu_device_printf(emu_warp *warp, const emu_insn *insn)
{
    emu_services *services = emu_services_get(warp->block->grid->context);
    char *format = malloc(STRING_LIMIT);
    uint32_t left;

    if (services == NULL || format == NULL) {
        free(format);
        return insn + 1; /* no memory: the text is lost */
    }
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        printer p = {warp, services, lane, emu_service_word(warp, insn, 1, lane),
                     false};
        const uint64_t text = emu_service_word(warp, insn, 0, lane);

        if (emu_service_string(warp, lane, text, format, STRING_LIMIT) < 0 ||
            !printer_print(&p, format)) {
            free(format);
            return emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane, text,
                             "printf with a format or an argument outside of memory");
        }
        emu_service_return(warp, insn, lane, 0);
    }
    free(format);
    return insn + 1;
}
