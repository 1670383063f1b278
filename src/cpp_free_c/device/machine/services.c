/* Functions that kernels call and the device provides: vprintf, __assertfail, malloc,
 * free. Text is collected in order and written when the driver synchronises. */
#define _GNU_SOURCE
#include "device/machine/services.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/compile/service_names.h"
#include "device/machine/lanes.h"
#include "device/machine/dynamic_parallelism.h"

enum { TEXT_LIMIT = 1 << 20, STRING_LIMIT = 1 << 16 };

static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;

uint64_t
emu_nanoseconds(bool of_day)
{
    struct timespec now;

    (void)clock_gettime(of_day ? CLOCK_REALTIME : CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

emu_services *
emu_services_get(CUcontext context)
{
    emu_services *services;

    (void)pthread_mutex_lock(&creation);
    services = context->exec;
    if (!services) {
        services = calloc(1, sizeof *services);
        if (services && pthread_mutex_init(&services->lock, NULL) != 0) {
            free(services);
            services = NULL;
        }
        context->exec = services;
    }
    (void)pthread_mutex_unlock(&creation);
    return services;
}

static void
flush_locked(emu_services *services)
{
    if (services->size) {
        (void)fwrite(services->text, 1, services->size, stdout);
        (void)fflush(stdout);
        services->size = 0;
    }
}

void
emu_exec_flush(CUcontext context)
{
    emu_services *services;

    (void)pthread_mutex_lock(&creation);
    services = context->exec;
    (void)pthread_mutex_unlock(&creation);
    if (services) {
        (void)pthread_mutex_lock(&services->lock);
        flush_locked(services);
        (void)pthread_mutex_unlock(&services->lock);
    }
}

void
emu_exec_context_close(CUcontext context)
{
    emu_services *services = context->exec;

    if (services) {
        emu_exec_flush(context);
        (void)pthread_mutex_destroy(&services->lock);
        free(services->text);
        free(services);
        context->exec = NULL;
    }
}

static void
append_locked(emu_services *services, const char *text, size_t size)
{
    if (size == 0) {
        return;
    }
    if (services->size + size > services->room) {
        size_t room = services->room ? services->room * 2 : 4096;
        char *larger;

        while (room < services->size + size) {
            room *= 2;
        }
        larger = realloc(services->text, room);
        if (!larger) {
            return; /* the text is lost, as on a device whose buffer is full */
        }
        services->text = larger;
        services->room = room;
    }
    memcpy(services->text + services->size, text, size);
    services->size += size;
    if (services->size > TEXT_LIMIT) {
        flush_locked(services);
    }
}

/* -- parameters of the call -------------------------------------------------------- */

void
emu_service_parameter(const emu_warp *warp, const emu_insn *insn, unsigned index,
                      unsigned lane, void *value, size_t room)
{
    const emu_slot *slot = &insn->call->params[index];
    const uint8_t *from;

    if (slot->is_reg) {
        from = warp->base[slot->offset & 1] + slot->offset + (size_t)lane * slot->size;
    }
    else {
        from = warp->local + lane * warp->local_stride + warp->frame->local_start +
               slot->offset;
    }
    memcpy(value, from, slot->size < room ? slot->size : room);
}

static uint64_t
parameter(const emu_warp *warp, const emu_insn *insn, unsigned index, unsigned lane)
{
    uint64_t value = 0;

    emu_service_parameter(warp, insn, index, lane, &value, sizeof value);
    return value;
}

void
emu_service_give(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t value)
{
    const emu_slot *slot;
    uint8_t *to;

    if (!insn->call->return_count) {
        return;
    }
    slot = &insn->call->returns[0];
    to = slot->is_reg ? warp->base[0] + slot->offset + (size_t)lane * slot->size
                      : warp->local + lane * warp->local_stride +
                            warp->frame->local_start + slot->offset;
    memcpy(to, &value, slot->size < 8 ? slot->size : 8);
}

/* Copies a string of the device: its length, at most room - 1; -1: not legal. */
static int
device_string(emu_warp *warp, unsigned lane, uint64_t address, char *text, size_t room)
{
    size_t size = 0;

    while (size + 1 < room) {
        const uint8_t *at = emu_access_generic(warp, lane, address + size, 1);

        if (!at) {
            return -1;
        }
        if (!*at) {
            break;
        }
        text[size++] = (char)*at;
    }
    text[size] = 0;
    return (int)size;
}

/* -- printf ------------------------------------------------------------------------ */

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
            if (string && device_string(p->warp, p->lane, next_argument(p, 8), string,
                                        STRING_LIMIT) >= 0) {
                if (d->width < 0 && d->precision < 0) {
                    append_locked(p->services, string, strlen(string));
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
        append_locked(p->services, text,
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
            append_locked(p->services, format, strlen(format));
            break;
        }
        append_locked(p->services, format, (size_t)(percent - format));
        if (percent[1] == '%') {
            append_locked(p->services, "%", 1);
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

static const emu_insn *
service_printf(emu_warp *warp, const emu_insn *insn)
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
        printer p = {warp, services, lane, parameter(warp, insn, 1, lane), false};
        const uint64_t text = parameter(warp, insn, 0, lane);

        if (device_string(warp, lane, text, format, STRING_LIMIT) < 0 ||
            !print(&p, format)) {
            free(format);
            return emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane, text,
                             "printf with a format or an argument outside of memory");
        }
        emu_service_give(warp, insn, lane, 0);
    }
    free(format);
    return insn + 1;
}

/* -- assert ------------------------------------------------------------------------ */

static const emu_insn *
service_assert(emu_warp *warp, const emu_insn *insn)
{
    const unsigned lane = (unsigned)__builtin_ctz(warp->mask);
    char message[200], file[160], function[120];

    if (device_string(warp, lane, parameter(warp, insn, 0, lane), message,
                      sizeof message) < 0) {
        (void)snprintf(message, sizeof message, "?");
    }
    if (device_string(warp, lane, parameter(warp, insn, 1, lane), file, sizeof file) <
        0) {
        (void)snprintf(file, sizeof file, "?");
    }
    if (device_string(warp, lane, parameter(warp, insn, 3, lane), function,
                      sizeof function) < 0) {
        (void)snprintf(function, sizeof function, "?");
    }
    return emu_fault(warp, insn, CUDA_ERROR_ASSERT, lane, 0,
                     "%s:%u: %s: assertion `%s` failed", file,
                     (unsigned)parameter(warp, insn, 2, lane), function, message);
}

/* -- the heap ---------------------------------------------------------------------- */

uint64_t
emu_heap_allocate(CUcontext context, uint64_t size)
{
    emu_services *services = emu_services_get(context);
    const size_t limit = context->limits[EMU_LIMIT_MALLOC_HEAP_SIZE];
    emu_memory_request request = {.kind = EMU_MEMORY_HEAP,
                                  .size = (size_t)size,
                                  .device = context->device->ordinal,
                                  .context = context};
    emu_allocation *allocation = NULL;

    if (!services || size == 0) {
        return 0;
    }
    (void)pthread_mutex_lock(&services->lock);
    if (size <= limit && services->heap_used <= limit - size &&
        emu_memory_allocate(&request, &allocation) == CUDA_SUCCESS) {
        services->heap_used += (size_t)size;
    }
    (void)pthread_mutex_unlock(&services->lock);
    return allocation ? allocation->base : 0;
}

static const emu_insn *
service_malloc(emu_warp *warp, const emu_insn *insn)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        emu_service_give(warp, insn, lane,
                         emu_heap_allocate(warp->block->grid->context,
                                           parameter(warp, insn, 0, lane)));
    }
    return insn + 1;
}

bool
emu_heap_free(CUcontext context, uint64_t address)
{
    emu_services *services = emu_services_get(context);
    emu_allocation *found =
        (emu_allocation *)(uintptr_t)(const void *)emu_memory_find(address);
    bool freed = false;
    size_t size;

    if (found && services && found->kind == EMU_MEMORY_HEAP && found->base == address &&
        found->context == context) {
        (void)pthread_mutex_lock(&services->lock);
        size = (size_t)found->size;
        freed = emu_memory_live(found) && emu_memory_free(found);
        services->heap_used -= freed ? size : 0;
        (void)pthread_mutex_unlock(&services->lock);
    }
    return freed;
}

static const emu_insn *
service_free(emu_warp *warp, const emu_insn *insn)
{
    CUcontext context = warp->block->grid->context;
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t address = parameter(warp, insn, 0, lane);

        if (address && !emu_heap_free(context, address)) {
            return emu_fault(warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, address,
                             "free of 0x%llx, which malloc did not give or which is "
                             "freed already",
                             (unsigned long long)address);
        }
    }
    return insn + 1;
}

const emu_insn *
emu_op_service(emu_warp *warp, const emu_insn *insn)
{
    if (insn->call->service >= EMU_SERVICE_RUNTIME) {
        return emu_runtime_call(warp, insn);
    }
    switch (insn->call->service) {
        case EMU_SERVICE_PRINTF:
            return service_printf(warp, insn);
        case EMU_SERVICE_ASSERT:
            return service_assert(warp, insn);
        case EMU_SERVICE_MALLOC:
            return service_malloc(warp, insn);
        default:
            return service_free(warp, insn);
    }
}
