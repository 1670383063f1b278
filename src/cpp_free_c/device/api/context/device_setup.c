/* Setting up the devices: what the environment asks for, and their limits.
 *
 * Called once, by cuInit. The limits follow a small GPU of the compute capability. */
#define _GNU_SOURCE /* dladdr */
#include "device/api/context/device_setup.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/memory/memory.h"
#include "device/base/checks.h"
#include "device/base/counts.h"
#include "device/base/site.h"
#include "device/sync_check/stream_check.h"
#include "device/compile/lower.h"
#include "device/machine/grid/execution.h"
#include "device/machine/warp/handlers.h"
#include "device/api/context/leak.h"
#include "device/api/entry/message.h"
#include "device/base/device.h"

#define DEFAULT_MEMORY ((uint64_t)4 << 30)
#define LARGEST_MEMORY ((uint64_t)1 << 38)

/* What the environment asks for. */
typedef struct {
    uint64_t count, memory;
    uint64_t timeout; /* in nanoseconds; 0: none */
    int major, minor;
} setup_wish;

/* -- the environment --------------------------------------------------------------- */

/* Read a number. False for anything but digits, and for a number above `most`. */
static bool
setup_parse_number(const char *text, size_t length, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;

    if (length == 0 || length > 20) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(text[i] - '0');

        if (digit > 9 || digit > most || value > (most - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

/* Read a number of bytes, with K, M, G or T behind it. */
static bool
setup_parse_memory(const char *text, setup_wish *wish)
{
    static const char suffixes[] = "KMGT";
    size_t length = strlen(text);
    const char *found = strchr(suffixes, toupper((unsigned char)text[length - 1]));
    int shift = 0;

    if (found != NULL) {
        shift = 10 * (int)(found - suffixes + 1);
        length--;
    }
    if (!setup_parse_number(text, length, LARGEST_MEMORY >> shift, &wish->memory)) {
        return false;
    }
    wish->memory <<= shift;
    return wish->memory >= 1;
}

static bool
setup_parse_devices(const char *text, setup_wish *wish)
{
    return setup_parse_number(text, strlen(text), EMU_MAX_DEVICES, &wish->count);
}

static bool
setup_parse_capability(const char *text, setup_wish *wish)
{
    static const char *const known[] = {
        "5.0", "5.2", "5.3", "6.0", "6.1",  "6.2",  "7.0",  "7.2",  "7.5", "8.0",
        "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(text, known[i]) == 0) {
            wish->major = atoi(text);
            wish->minor = atoi(strchr(text, '.') + 1);
            return true;
        }
    }
    return false;
}

static bool
setup_parse_seed(const char *text, setup_wish *wish)
{
    (void)wish; /* the seed is not a device's */
    return setup_parse_number(text, strlen(text), UINT32_MAX, &emu_seed);
}

static bool
setup_parse_timeout(const char *text, setup_wish *wish)
{
    char *end;
    const double seconds = strtod(text, &end);

    if (end == text || *end != 0 || !(seconds >= 0 && seconds < 1e9)) {
        return false;
    }
    wish->timeout = (uint64_t)(seconds * 1e9);
    return true;
}

static bool
setup_parse_checks(const char *text, setup_wish *wish)
{
    unsigned checks;

    (void)wish; /* the machine reads the variable itself; here it is only checked */
    return emu_checks_parse(text, &checks);
}

static bool
setup_parse_older_checks(const char *text, setup_wish *wish)
{
    unsigned checks;

    (void)wish; /* as above */
    return emu_checks_parse_older(text, &checks);
}

static bool
setup_parse_version(const char *text, setup_wish *wish)
{
    int version;

    (void)wish; /* cuDriverGetVersion reads it itself; here it is only checked */
    return emu_driver_version_parse(text, &version);
}

/* The users of these read them themselves; here they are only checked. */

static bool
setup_parse_threads(const char *text, setup_wish *wish)
{
    unsigned count;

    (void)wish;
    return emu_threads_parse(text, &count);
}

static bool
setup_parse_simd(const char *text, setup_wish *wish)
{
    (void)wish;
    return emu_handlers_know(text);
}

static bool
setup_parse_count(const char *text, setup_wish *wish)
{
    unsigned flags;

    (void)wish;
    return emu_counts_parse(text, &flags);
}

static bool
setup_parse_dump(const char *text, setup_wish *wish)
{
    unsigned flags;

    (void)wish;
    return emu_dump_parse(text, &flags);
}

/* The variables, in the order in which they are checked. */
static const struct {
    const char *name;
    bool (*parse)(const char *text, setup_wish *wish);
    const char *expected;
} variables[] = {
    {"PYCUDA_EMULATOR_DEVICES", setup_parse_devices,
     "a number of devices from 0 to 64"},
    {"PYCUDA_EMULATOR_CAPABILITY", setup_parse_capability,
     "a compute capability such as 7.5"},
    {"PYCUDA_EMULATOR_MEMORY", setup_parse_memory,
     "a whole number of bytes, with K, M or G at the end if you like, from 1 to 256G"},
    {"PYCUDA_EMULATOR_SEED", setup_parse_seed, "a number from 0 to 4294967295"},
    {"PYCUDA_CHECK", setup_parse_checks,
     "names of checks with commas between: memory, init, race, sync, barrier, leak, or "
     "all"},
    {"PYCUDA_EMULATOR_CHECK", setup_parse_older_checks,
     "names of checks with commas between: init, race, barrier, or all"},
    {"PYCUDA_EMULATOR_DRIVER_VERSION", setup_parse_version,
     "a version of CUDA such as 12.4, from 11.0 on"},
    {"PYCUDA_EMULATOR_TIMEOUT", setup_parse_timeout,
     "a number of seconds such as 2.5, or 0 for no limit"},
    {"PYCUDA_EMULATOR_THREADS", setup_parse_threads, "a number of threads from 1 on"},
    {"PYCUDA_EMULATOR_SIMD", setup_parse_simd, "best, 0, 256 or 512"},
    {"PYCUDA_EMULATOR_COUNT", setup_parse_count, "lines or accesses"},
    {"PYCUDA_EMULATOR_DUMP", setup_parse_dump, "some of the letters p, l, r and c"},
};

_Static_assert(EMU_MAX_DEVICES == 64, "the text above names the number");

static CUresult
setup_read_environment(setup_wish *wish)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i].name);

        if (value != NULL && *value != 0 && !variables[i].parse(value, wish)) {
            emu_message_set("%s is \"%s\"; it must be %s.", variables[i].name, value,
                            variables[i].expected);
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

/* -- limits ------------------------------------------------------------------------ */

static void
setup_limits(emu_device *device)
{
    int capability = device->major * 10 + device->minor;
    emu_device_limits *limits = &device->limits;

    limits->threads_per_block = 1024;
    limits->block_dim[0] = 1024;
    limits->block_dim[1] = 1024;
    limits->block_dim[2] = 64;
    limits->grid_dim[0] = 2147483647;
    limits->grid_dim[1] = 65535;
    limits->grid_dim[2] = 65535;
    limits->shared_per_block = 48 << 10;
    limits->registers_per_block = 65536;
    limits->registers_per_multiprocessor = 65536;
    limits->multiprocessors = 8;
    limits->constant_memory = 64 << 10;
    limits->threads_per_multiprocessor = 2048;
    limits->blocks_per_multiprocessor = 32;
    limits->shared_per_multiprocessor = 96 << 10;
    limits->shared_per_block_optin = 48 << 10;
    if (capability == 75) {
        limits->threads_per_multiprocessor = 1024;
        limits->blocks_per_multiprocessor = 16;
        limits->shared_per_multiprocessor = 64 << 10;
        limits->shared_per_block_optin = 64 << 10;
    }
    else if (capability == 70 || capability == 72) {
        limits->shared_per_block_optin = 96 << 10;
    }
    else if (capability == 80 || capability == 87) {
        limits->shared_per_multiprocessor = 164 << 10;
        limits->shared_per_block_optin = 163 << 10;
    }
    else if (capability == 86 || capability == 89 || capability >= 120) {
        limits->threads_per_multiprocessor = 1536;
        limits->blocks_per_multiprocessor = 24;
        if (capability == 86) {
            limits->blocks_per_multiprocessor = 16;
        }
        limits->shared_per_multiprocessor = 100 << 10;
        limits->shared_per_block_optin = 99 << 10;
    }
    else if (capability >= 90) {
        limits->shared_per_multiprocessor = 228 << 10;
        limits->shared_per_block_optin = 227 << 10;
    }
}

/* Whether the library was opened under the name of NVIDIA's driver or of its management
 * library, so that programs use it which know nothing of this package. */
static bool
setup_is_system_library(void)
{
    Dl_info self;
    const char *name;

    if (dladdr((const void *)variables, &self) == 0) {
        return false;
    }
    name = strrchr(self.dli_fname, '/');
    if (name == NULL) {
        name = self.dli_fname;
    }
    else {
        name++;
    }
    return strncmp(name, "libcuda.so", 10) == 0 ||
           strncmp(name, "libnvidia-ml.so", 15) == 0;
}

CUresult
emu_device_read(emu_device devices[EMU_MAX_DEVICES], int *count)
{
    setup_wish wish = {.count = 1, .memory = DEFAULT_MEMORY, .major = 7, .minor = 5};
    CUresult status;

    if (setup_is_system_library()) {
        wish.major = 9;
        wish.minor = 0;
    }
    status = setup_read_environment(&wish);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    for (int i = 0; i < (int)wish.count; i++) {
        emu_device *device = &devices[i];

        memset(device, 0, sizeof(*device));
        device->ordinal = i;
        device->major = wish.major;
        device->minor = wish.minor;
        device->memory_bytes = wish.memory;
        device->timeout = wish.timeout;
        setup_limits(device);
    }
    *count = (int)wish.count;
    return CUDA_SUCCESS;
}

CUresult
emu_device_open(void)
{
    int count;
    CUresult status = emu_device_read(emu_devices, &count);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (count == 0) {
        emu_message_set("PYCUDA_EMULATOR_DEVICES is 0, so there is no device.");
        return CUDA_ERROR_NO_DEVICE;
    }
    for (int i = 0; i < count; i++) {
        emu_memory_set_total(i, emu_devices[i].memory_bytes);
    }
    emu_device_count = count;
    return CUDA_SUCCESS;
}

/* -- names ------------------------------------------------------------------------- */

void
emu_device_uuid(int ordinal, CUuuid *uuid)
{
    memcpy(uuid->bytes, "PyCUDA software", sizeof(uuid->bytes));
    uuid->bytes[15] = (char)ordinal;
}

void
emu_device_bus_id(int ordinal, char *text, size_t room)
{
    (void)snprintf(text, room, "0000:%02X:00.0", (unsigned)ordinal + 1);
}

/* -- the version ------------------------------------------------------------------- */

enum { OLDEST_MAJOR = 11, NEWEST_MAJOR = 99 };

bool
emu_driver_version_parse(const char *text, int *version)
{
    int major = 0, minor;

    while (*text >= '0' && *text <= '9' && major <= NEWEST_MAJOR) {
        major = major * 10 + (*text++ - '0');
    }
    if (major < OLDEST_MAJOR || major > NEWEST_MAJOR || *text++ != '.') {
        return false;
    }
    minor = *text++ - '0';
    if (minor < 0 || minor > 9 || *text != '\0') {
        return false;
    }
    *version = major * 1000 + minor * 10;
    return true;
}

int
emu_driver_version(void)
{
    const char *text = getenv("PYCUDA_EMULATOR_DRIVER_VERSION");
    int version;

    if (text != NULL && emu_driver_version_parse(text, &version)) {
        return version;
    }
    return EMU_DRIVER_VERSION;
}
