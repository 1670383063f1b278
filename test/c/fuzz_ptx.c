/* Feeds the software device's PTX loader with malformed texts.
 *
 * With -fsanitize=fuzzer (and FUZZ_ENGINE defined) libFuzzer drives it, helped by the
 * mutator below, which knows lines and words. Without, main makes the inputs itself:
 *
 *     fuzz_ptx --runs N --seed S [--crash FILE] [--launch] TEXT...
 *
 * A text must load or be refused with a code and a log; sanitizers see to the rest. The
 * input that ends the process is left in FILE. A form feed divides an input into two
 * texts, which are linked.
 *
 * With --launch the first text of an input is loaded as programs do it, and its kernels
 * are launched with small buffers and odd numbers as parameters. They may do to
 * themselves what they like, but no handle may be left when their context is gone. Set
 * PYCUDA_EMULATOR_TIMEOUT: a damaged loop may not end. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "device/api/entry.h"
#include "device/api/live_count.h"
#include "device/compile/program.h"
#include "device/machine/execution.h"

enum { MOST_BYTES = 1 << 16, MOST_TEXTS = 256, MOST_STEPS = 20, HANG_SECONDS = 20 };
enum { MOST_KERNELS = 4, PARAMETERS = 64 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) __attribute__((weak));
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static CUcontext context;
static unsigned long long loaded, refused, ended;
static bool launching;

/* -- one input ------------------------------------------------------------------ */

static void
fail(const char *what)
{
    (void)fprintf(stderr, "fuzz_ptx: %s\n", what);
    abort();
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    (void)setenv("PYCUDA_EMULATOR_MEMORY", "256M", 0);
    (void)setenv("PYCUDA_EMULATOR_CAPABILITY", "9.0", 0);
    if (emu_cuInit(0) != CUDA_SUCCESS ||
        emu_cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS) {
        fail("there is no device");
    }
    return 0;
}

/* Asks all that the driver asks about a program. */
static void
look_at(const emu_program *program)
{
    const size_t count = emu_program_kernel_count(program);
    uint64_t address;
    size_t i, size;

    for (i = 0; i < count; i++) {
        const emu_kernel *kernel = emu_program_kernel_at(program, i);
        const emu_kernel_info *info = emu_kernel_get_info(kernel);

        if (emu_program_kernel(program, info->name) == NULL) {
            fail("a kernel is not found under its name");
        }
        if (info->param_count > 0) {
            const emu_param *last = &info->params[info->param_count - 1];

            if (last->offset + last->size > info->params_size) {
                fail("a parameter lies outside of the block");
            }
        }
        if (info->max_threads > 1024) {
            fail("a kernel allows more threads than a block has");
        }
    }
    if (emu_program_kernel_at(program, count) != NULL) {
        fail("there is a kernel past the end");
    }
    (void)emu_program_variable(program, "table", &address, &size);
}

static void
check_log(const char *log, size_t room, size_t size, CUresult status)
{
    if (memchr(log, 0, room) == NULL || size >= room || strlen(log) != size) {
        fail("the log does not end where it says");
    }
    if (room > 64 && status != CUDA_SUCCESS && size == 0) {
        fail("a text was refused without a word");
    }
}

static uint64_t random_number(void);
static size_t below(size_t limit);

/* Runs a kernel to its end, whichever that is. */
static CUresult
launch(CUfunction function, CUdeviceptr buffer)
{
    static const uint64_t odd[] = {0, 1, 7, 33, 100, UINT64_MAX};
    uint64_t values[PARAMETERS][8] = {{0}};
    void *parameters[PARAMETERS];
    CUresult status;

    for (size_t i = 0; i < PARAMETERS; i++) {
        values[i][0] = below(3) ? (uint64_t)buffer : odd[below(6)];
        parameters[i] = values[i];
    }
    status = emu_cuLaunchKernel(function, 2, 1, 1, 1 + (unsigned)below(96), 1, 1,
                                (unsigned)below(3) * 512, NULL, parameters, NULL);
    return status ? status : emu_cuCtxSynchronize();
}

static void
launch_all(CUmodule module)
{
    CUfunction functions[MOST_KERNELS] = {NULL};
    CUdeviceptr buffer;
    unsigned count = 0;

    if (emu_cuMemAlloc(&buffer, 1024) != CUDA_SUCCESS ||
        emu_cuModuleGetFunctionCount(&count, module) != CUDA_SUCCESS ||
        emu_cuModuleEnumerateFunctions(functions, MOST_KERNELS, module) !=
            CUDA_SUCCESS) {
        fail("a module that is loaded cannot be asked");
    }
    for (unsigned i = 0; i < count && i < MOST_KERNELS; i++) {
        ended += launch(functions[i], buffer) == CUDA_SUCCESS;
    }
}

/* A context of its own: what a kernel does wrong spoils it. */
static void
load_and_launch(const uint8_t *data, size_t size)
{
    static char text[MOST_BYTES + 1];
    char log[512] = "";
    CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER,
                               CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[2] = {log, (void *)(uintptr_t)sizeof(log)};
    const long long before = emu_live_count("memory") + emu_live_count("module");
    CUcontext own;
    CUmodule module = NULL;
    CUresult status;

    memcpy(text, data, size);
    text[size] = 0;
    if (emu_cuCtxCreate(&own, 0, 0) != CUDA_SUCCESS) {
        fail("there is no context");
    }
    status = emu_cuModuleLoadDataEx(&module, text, 2, options, values);
    if (status == CUDA_ERROR_INVALID_PTX && !log[0]) {
        fail("a text was refused without a word");
    }
    if (status == CUDA_SUCCESS) {
        launch_all(module);
    }
    loaded += status == CUDA_SUCCESS;
    refused += status != CUDA_SUCCESS;
    if (emu_cuCtxDestroy(own) != CUDA_SUCCESS ||
        emu_live_count("memory") + emu_live_count("module") != before) {
        fail("something is left of a context");
    }
}

static void
load_program(const uint8_t *data, size_t size)
{
    static const size_t rooms[] = {4096, 1, 16, 0};
    const uint8_t *parting = size ? memchr(data, '\f', size) : NULL;
    const size_t first = parting ? (size_t)(parting - data) : size;
    const emu_source sources[] = {
        {(const char *)data, first, "one"},
        {(const char *)data + first, size - first, NULL},
    };
    const size_t room = rooms[size % 4];
    char *log = room ? malloc(room) : NULL;
    emu_load_options options = {.error_log = log,
                                .error_log_room = room,
                                .max_registers = (unsigned)(size % 7 == 0 ? 16 : 0)};
    emu_program *program = (emu_program *)(uintptr_t)1;
    CUresult status = emu_program_load(context, sources, parting ? 2 : 1, &options,
                                       emu_ops(), &program);

    if ((status == CUDA_SUCCESS) != (program != NULL)) {
        fail("status and program disagree");
    }
    if (log) {
        check_log(log, room, options.error_log_size, status);
    }
    if (program) {
        look_at(program);
        loaded++;
    }
    else {
        refused++;
    }
    emu_program_free(program);
    free(log);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (launching && size <= MOST_BYTES) {
        load_and_launch(data, size);
    }
    else {
        load_program(data, size);
    }
    return 0;
}

/* -- mutation ------------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint64_t
random_number(void)
{
    random_state += 0x9e3779b97f4a7c15u;
    uint64_t x = random_state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static size_t
below(size_t limit)
{
    return limit ? (size_t)(random_number() % limit) : 0;
}

typedef struct {
    size_t start, end;
} range;

static bool
is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '%' || c == '$';
}

/* A word at or after a random place; empty when there is none. */
static range
random_word(const uint8_t *data, size_t size)
{
    range word;

    word.start = below(size);
    while (word.start > 0 && is_word(data[word.start - 1])) {
        word.start--;
    }
    while (word.start < size && !is_word(data[word.start])) {
        word.start++;
    }
    for (word.end = word.start; word.end < size && is_word(data[word.end]);) {
        word.end++;
    }
    return word;
}

static range
random_line(const uint8_t *data, size_t size)
{
    range line;

    line.start = below(size);
    while (line.start > 0 && data[line.start - 1] != '\n') {
        line.start--;
    }
    for (line.end = line.start; line.end < size && data[line.end] != '\n';) {
        line.end++;
    }
    line.end += line.end < size;
    return line;
}

/* Puts `with` where a part of the data is; the result may be cut to fit. */
static size_t
replace(uint8_t *data, size_t size, size_t room, range part, const uint8_t *with,
        size_t length)
{
    uint8_t kept[MOST_BYTES];
    size_t tail = size - part.end;

    if (length > sizeof(kept)) {
        length = sizeof(kept);
    }
    if (part.start + length > room) {
        length = room - part.start;
    }
    memcpy(kept, with, length); /* it may lie in the data itself */
    if (tail > room - part.start - length) {
        tail = room - part.start - length;
    }
    memmove(data + part.start + length, data + part.end, tail);
    memcpy(data + part.start, kept, length);
    return part.start + length + tail;
}

static const char *const words[] = {"0",
                                    "1",
                                    "-1",
                                    "2147483647",
                                    "4294967295",
                                    "4294967296",
                                    "18446744073709551615",
                                    "99999999999999999999999",
                                    "0x",
                                    "0xffffffffffffffffU",
                                    "0f7f800001",
                                    "0f7f8",
                                    "0d7ff0000000000001",
                                    "1e400",
                                    "1.5.5",
                                    "\"",
                                    "/*",
                                    "//",
                                    "{",
                                    "}",
                                    "(",
                                    ")",
                                    "[",
                                    "]",
                                    "<",
                                    ">",
                                    "|",
                                    "!",
                                    "@",
                                    "@!",
                                    ";",
                                    ",",
                                    ":",
                                    "+",
                                    "=",
                                    "\f",
                                    "\\",
                                    "pragma",
                                    "visible",
                                    "entry",
                                    "func",
                                    "reg",
                                    "param",
                                    "shared",
                                    "const",
                                    "global",
                                    "local",
                                    "extern",
                                    "weak",
                                    "align",
                                    "b8",
                                    "b16",
                                    "b32",
                                    "b64",
                                    "b128",
                                    "f16",
                                    "f16x2",
                                    "f32",
                                    "f64",
                                    "s8",
                                    "s16",
                                    "s32",
                                    "s64",
                                    "u8",
                                    "u16",
                                    "u32",
                                    "u64",
                                    "pred",
                                    "v2",
                                    "v4",
                                    "sat",
                                    "ftz",
                                    "rn",
                                    "rzi",
                                    "approx",
                                    "full",
                                    "wide",
                                    "hi",
                                    "lo",
                                    "cc",
                                    "sync",
                                    "uni",
                                    "volatile",
                                    "relaxed",
                                    "acq_rel",
                                    "gpu",
                                    "cas",
                                    "exch",
                                    "ballot",
                                    "bfly",
                                    "call",
                                    "ret",
                                    "exit",
                                    "trap",
                                    "bra",
                                    "brx",
                                    "idx",
                                    "setp",
                                    "selp",
                                    "mov",
                                    "cvt",
                                    "cvta",
                                    "to",
                                    "ld",
                                    "st",
                                    "atom",
                                    "red",
                                    "shfl",
                                    "vote",
                                    "bar",
                                    "membar",
                                    "fma",
                                    "mad",
                                    "bfe",
                                    "bfi",
                                    "prmt",
                                    "tex",
                                    "suld",
                                    "sust",
                                    "mma",
                                    "branchtargets",
                                    "callprototype",
                                    "loc",
                                    "file",
                                    "section",
                                    "maxntid",
                                    "reqntid",
                                    "generic",
                                    "tid.x",
                                    "%clock64",
                                    "warpsize",
                                    "WARP_SZ",
                                    "noreturn",
                                    "alias",
                                    "version",
                                    "target",
                                    "address_size"};

static const uint8_t *texts[MOST_TEXTS];
static size_t text_sizes[MOST_TEXTS], text_count;

/* A word or a line out of some text, or one that is known to hurt. */
static size_t
replace_by_other(uint8_t *data, size_t size, size_t room, range part, bool line)
{
    const uint8_t *from = data;
    size_t length = size;
    range other;

    if (!line && below(3) == 0) {
        const char *word = words[below(sizeof(words) / sizeof(words[0]))];

        return replace(data, size, room, part, (const uint8_t *)word, strlen(word));
    }
    if (text_count && below(2)) {
        size_t text = below(text_count);

        from = texts[text];
        length = text_sizes[text];
    }
    other = line ? random_line(from, length) : random_word(from, length);
    return replace(data, size, room, part, from + other.start, other.end - other.start);
}

static size_t
mutate_once(uint8_t *data, size_t size, size_t room)
{
    range part;

    switch (below(12)) {
        case 0:
            if (size) {
                data[below(size)] ^= (uint8_t)(1 << below(8));
            }
            return size;
        case 1: /* some bytes less */
            part.start = below(size);
            part.end =
                part.start + below(size - part.start < 40 ? size - part.start : 40);
            return replace(data, size, room, part, data, 0);
        case 2: /* cut off */
            return below(4) ? size : below(size);
        case 3: /* a line less */
            return replace(data, size, room, random_line(data, size), data, 0);
        case 4: /* a line more */
            part = random_line(data, size);
            part.end = part.start;
            return replace_by_other(data, size, room, part, true);
        case 5:
            return replace_by_other(data, size, room, random_line(data, size), true);
        case 6: /* a word more */
            part = random_word(data, size);
            part.end = part.start;
            return replace_by_other(data, size, room, part, false);
        default:
            return replace_by_other(data, size, room, random_word(data, size), false);
    }
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    size_t count;

    random_state = seed;
    if (LLVMFuzzerMutate && below(3) == 0) {
        return LLVMFuzzerMutate(data, size, room);
    }
    if (room > MOST_BYTES) {
        room = MOST_BYTES;
    }
    if (size > room) {
        size = room;
    }
    for (count = below(3) ? 1 : 1 + below(5); count > 0; count--) {
        size = mutate_once(data, size, room);
    }
    return size;
}

/* -- without an engine ---------------------------------------------------------- */

#ifndef FUZZ_ENGINE

static const char *crash_path;
static const uint8_t *current;
static size_t current_size;
static volatile unsigned long long done;

static void
keep_input(void)
{
    int file;

    if (crash_path && current) {
        file = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (file >= 0) {
            ssize_t written = write(file, current, current_size);

            (void)written;
            (void)close(file);
        }
    }
}

static void
on_abort(int number)
{
    keep_input();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void
on_alarm(int number)
{
    static unsigned long long before = ~0ull;
    static const char message[] = "fuzz_ptx: an input takes too long\n";

    (void)number;
    if (before == done) {
        ssize_t written = write(2, message, sizeof(message) - 1);

        (void)written;
        keep_input();
        _exit(3);
    }
    before = done;
}

static void
read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *text = malloc(MOST_BYTES);

    if (!file || !text || text_count == MOST_TEXTS) {
        fail(path);
    }
    text_sizes[text_count] = fread(text, 1, MOST_BYTES, file);
    texts[text_count++] = text;
    (void)fclose(file);
}

static void
run_one(const uint8_t *data, size_t size)
{
    /* A block of its own: a read past the end is seen. */
    uint8_t *exact = malloc(size ? size : 1);

    if (!exact) {
        fail("no memory");
    }
    memcpy(exact, data, size);
    current = exact;
    current_size = size;
    (void)LLVMFuzzerTestOneInput(exact, size);
    current = NULL;
    free(exact);
    done++;
}

static double
seconds_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void
run_many(unsigned long long runs, uint64_t seed)
{
    static uint8_t data[MOST_BYTES];
    size_t size = 0;
    unsigned again = 0;
    unsigned long long i;

    for (i = 0; i < text_count && i < runs; i++) {
        run_one(texts[i], text_sizes[i]);
    }
    (void)printf("%llu of %zu texts load\n", loaded, text_count);
    for (; i < runs; i++) {
        const uint64_t step = (seed << 40) + i;
        const unsigned long long before = loaded;

        random_state = step;
        if (again == 0) { /* else: one step further from one that loads */
            size_t text = below(text_count);

            size = text_sizes[text];
            memcpy(data, texts[text], size);
            again = MOST_STEPS;
        }
        size = LLVMFuzzerCustomMutator(data, size, sizeof(data), (unsigned)(step * 31));
        run_one(data, size);
        again = loaded > before ? again - 1 : 0;
    }
}

int
main(int argc, char **argv)
{
    const struct itimerval tick = {{HANG_SECONDS, 0}, {HANG_SECONDS, 0}};
    unsigned long long runs = 10000;
    uint64_t seed = 1;
    double start;
    int i;

    for (i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "--runs") == 0) {
            runs = strtoull(value, NULL, 10);
            i++;
        }
        else if (strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(value, NULL, 10);
            i++;
        }
        else if (strcmp(argv[i], "--crash") == 0) {
            crash_path = value;
            i++;
        }
        else if (strcmp(argv[i], "--launch") == 0) {
            launching = true;
        }
        else {
            read_text(argv[i]);
        }
    }
    if (text_count == 0) {
        fail("no text is given");
    }
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(keep_input);
    }
    (void)signal(SIGABRT, on_abort);
    (void)signal(SIGALRM, on_alarm);
    (void)setitimer(ITIMER_REAL, &tick, NULL);
    (void)LLVMFuzzerInitialize(&argc, &argv);
    start = seconds_now();
    run_many(runs, seed);
    (void)printf("%llu inputs, %llu loaded, %llu refused, %.0f a second\n", done,
                 loaded, refused, (double)done / (seconds_now() - start));
    if (launching) {
        (void)printf("%llu kernels ran to their end\n", ended);
    }
    for (i = 0; i < (int)text_count; i++) {
        free((void *)(uintptr_t)texts[i]);
    }
    return 0;
}

#endif
