/* Makes malformed PTX texts and gives them to a target (fuzz_target.h).
 *
 * With -fsanitize=fuzzer (and FUZZ_ENGINE defined) libFuzzer drives it, helped by the
 * mutator below, which knows lines and words. Without, main makes the inputs itself:
 *
 *     fuzz_ptx --runs N --seed S [--crash FILE] TEXT...
 *
 * Sanitizers find the errors that the target does not look for. The input that ends the
 * process is left in FILE. */
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

#include "fuzz_target.h"

enum { MOST_TEXTS = 256, MOST_STEPS = 20, HANG_SECONDS = 20 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) __attribute__((weak));
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static unsigned long long loaded, refused;

/* -- one input ------------------------------------------------------------------ */

void
fuzz_fail(const char *what)
{
    (void)fprintf(stderr, "fuzz_ptx: %s\n", what);
    abort();
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_open();
    return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (fuzz_one(data, size)) {
        loaded++;
    }
    else {
        refused++;
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

size_t
fuzz_below(size_t limit)
{
    if (limit == 0) {
        return 0;
    }
    return (size_t)(random_number() % limit);
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

    word.start = fuzz_below(size);
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

    line.start = fuzz_below(size);
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
                                    "?",
                                    "*",
                                    " % ",
                                    "~",
                                    "<<",
                                    "&&",
                                    ".5",
                                    "5.",
                                    "(.s64)",
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

    if (!line && fuzz_below(3) == 0) {
        const char *word = words[fuzz_below(sizeof(words) / sizeof(words[0]))];

        return replace(data, size, room, part, (const uint8_t *)word, strlen(word));
    }
    if (text_count && fuzz_below(2)) {
        size_t text = fuzz_below(text_count);

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

    switch (fuzz_below(12)) {
        case 0:
            if (size) {
                data[fuzz_below(size)] ^= (uint8_t)(1 << fuzz_below(8));
            }
            return size;
        case 1: /* some bytes less */
            part.start = fuzz_below(size);
            part.end = part.start +
                       fuzz_below(size - part.start < 40 ? size - part.start : 40);
            return replace(data, size, room, part, data, 0);
        case 2: /* cut off */
            return fuzz_below(4) ? size : fuzz_below(size);
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
    if (LLVMFuzzerMutate && fuzz_below(3) == 0) {
        return LLVMFuzzerMutate(data, size, room);
    }
    if (room > MOST_BYTES) {
        room = MOST_BYTES;
    }
    if (size > room) {
        size = room;
    }
    for (count = fuzz_below(3) ? 1 : 1 + fuzz_below(5); count > 0; count--) {
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
        fuzz_fail(path);
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
        fuzz_fail("no memory");
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
            size_t text = fuzz_below(text_count);

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
        else {
            read_text(argv[i]);
        }
    }
    if (text_count == 0) {
        fuzz_fail("no text is given");
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
    fuzz_close();
    for (i = 0; i < (int)text_count; i++) {
        free((void *)(uintptr_t)texts[i]);
    }
    return 0;
}

#endif
