/* Damaged PTX on the software device: it may be refused or run, never more.
 *
 *   emulator_fuzz LIBRARY ITERATIONS SEED FILE...
 *
 * Each iteration damages one of the files at random, loads it and, when that succeeds,
 * launches its kernels with small buffers and odd numbers as parameters. Ends with 0
 * when nothing crashed, every refused text has a message and no handle is left. Built
 * with a sanitizer, together with a library built so, it is the library's test of
 * parser, lowering and interpreter. Set PYCUDA_EMULATOR_TIMEOUT: a damaged loop may not
 * end. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cuda_abi.h"
#include "tables/drv_symbols.h"

enum { MAX_SEEDS = 32, MAX_TEXT = 1 << 20, MAX_KERNELS = 4, PARAMETERS = 64 };

#define MEMBER(name, version, need, blocking, parameters) CUresult(*name) parameters;
static struct {
    PCU_DRV_SYMBOLS(MEMBER)
} drv;
#undef MEMBER

typedef struct {
    char *text;
    size_t size;
} document;

static document seeds[MAX_SEEDS];
static size_t seed_count;
static uint64_t state;

/* Words that steer a mutation towards what the parser and lowering know. */
static const char *const words[] = {
    ".u8",       ".s16",       ".b32",       ".u64",       ".f32",
    ".f64",      ".pred",      ".f16x2",     ".b128",      ".v2",
    ".v4",       ".wide",      ".hi",        ".lo",        ".cc",
    ".sat",      ".ftz",       ".rz",        ".rni",       ".approx",
    ".volatile", ".global",    ".shared",    ".local",     ".param",
    ".const",    ".sync",      ".add",       ".cas",       ".uni",
    ".extern",   ".weak",      ".visible",   ".reg",       ".align 8",
    "add",       "mov",        "ld",         "st",         "cvt",
    "setp",      "selp",       "bra",        "call",       "ret",
    "exit",      "bar.sync",   "atom",       "shfl.sync",  "vote",
    "mad",       "fma",        "div",        "shl",        "prmt",
    "bfi",       "brx.idx",    "{",          "}",          "[",
    "]",         "(",          ")",          ";",          ",",
    "|",         "!",          "@%p1 ",      "_",          "%tid.x",
    "%r1",       "%rd1",       "%f1",        "%p1",        "0f3F800000",
    "0d0",       "-1",         "0xffffffff", "4294967296", "18446744073709551615",
    "<4>",       "<99999999>", "[0]"};

static uint64_t
draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static size_t
below(size_t n)
{
    return n ? (size_t)(draw() % n) : 0;
}

/* Replaces `cut` bytes at a place by others. */
static void
splice(document *d, size_t at, size_t cut, const char *with, size_t size)
{
    if (at > d->size || cut > d->size - at || d->size - cut + size >= MAX_TEXT) {
        return;
    }
    memmove(d->text + at + size, d->text + at + cut, d->size - at - cut);
    memcpy(d->text + at, with, size);
    d->size = d->size - cut + size;
}

static size_t
line_start(const document *d, size_t at)
{
    while (at > 0 && d->text[at - 1] != '\n') {
        at--;
    }
    return at;
}

static size_t
line_end(const document *d, size_t at)
{
    while (at < d->size && d->text[at] != '\n') {
        at++;
    }
    return at < d->size ? at + 1 : at;
}

static void
damage(document *d)
{
    const size_t at = below(d->size);
    const size_t start = line_start(d, at), end = line_end(d, at);
    const char *word = words[below(sizeof words / sizeof *words)];
    const document *other = &seeds[below(seed_count)];
    size_t from, to;
    char byte = (char)below(256);

    switch (below(8)) {
        case 0:
            splice(d, at, 1, &byte, 1);
            break;
        case 1:
            splice(d, at, below(12), word, strlen(word));
            break;
        case 2:
            splice(d, at, 0, word, strlen(word));
            break;
        case 3: /* a line goes */
            splice(d, start, end - start, "", 0);
            break;
        case 4: /* a line comes from elsewhere */
            from = line_start(other, below(other->size));
            to = line_end(other, from);
            splice(d, start, below(2) ? end - start : 0, other->text + from, to - from);
            break;
        case 5: /* a digit changes */
            from = at;
            while (from < d->size && (d->text[from] < '0' || d->text[from] > '9')) {
                from++;
            }
            byte = (char)('0' + below(10));
            splice(d, from, 1, &byte, 1);
            break;
        case 6:
            splice(d, at, below(200), "", 0);
            break;
        default: /* the end goes */
            if (below(8) == 0) {
                d->size = at;
            }
            break;
    }
}

static int
read_seeds(char **paths, int count)
{
    for (int i = 0; i < count && seed_count < MAX_SEEDS; i++) {
        FILE *file = fopen(paths[i], "rb");
        document *d = &seeds[seed_count];

        d->text = malloc(MAX_TEXT);
        if (!file || !d->text) {
            fprintf(stderr, "cannot read %s\n", paths[i]);
            return -1;
        }
        d->size = fread(d->text, 1, MAX_TEXT / 2, file);
        (void)fclose(file);
        seed_count++;
    }
    return 0;
}

/* Runs a kernel; whatever it does to itself is its own affair. */
static CUresult
launch(CUfunction function, CUdeviceptr buffer)
{
    uint64_t values[PARAMETERS][8];
    void *parameters[PARAMETERS];
    CUresult code;

    for (size_t i = 0; i < PARAMETERS; i++) {
        static const uint64_t odd[] = {0, 1, 7, 33, 100, UINT64_MAX};

        memset(values[i], 0, sizeof values[i]);
        values[i][0] = below(3) ? (uint64_t)buffer : odd[below(6)];
        parameters[i] = values[i];
    }
    code = drv.LaunchKernel(function, 2, 1, 1, 1 + (unsigned)below(96), 1, 1,
                            (unsigned)below(3) * 512, NULL, parameters, NULL);
    return code ? code : drv.CtxSynchronize();
}

static int
one(document *d, unsigned long *loaded, unsigned long *ran)
{
    char log[512] = "";
    CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER,
                               CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[2] = {log, (void *)(uintptr_t)sizeof log};
    CUcontext context;
    CUmodule module = NULL;
    CUfunction functions[MAX_KERNELS] = {NULL};
    CUdeviceptr buffer;
    unsigned int count = 0;
    CUresult code;

    if (drv.CtxCreate(&context, 0, 0) != CUDA_SUCCESS) {
        fprintf(stderr, "no context\n");
        return -1;
    }
    d->text[d->size] = 0;
    code = drv.ModuleLoadDataEx(&module, d->text, 2, options, values);
    if (code == CUDA_ERROR_INVALID_PTX && !log[0]) {
        fprintf(stderr, "a text was refused without a message\n");
        return -1;
    }
    if (code == CUDA_SUCCESS) {
        ++*loaded;
        (void)drv.MemAlloc(&buffer, 1024);
        (void)drv.ModuleGetFunctionCount(&count, module);
        (void)drv.ModuleEnumerateFunctions(functions, MAX_KERNELS, module);
        for (unsigned int i = 0; i < count && i < MAX_KERNELS; i++) {
            *ran += launch(functions[i], buffer) == CUDA_SUCCESS;
        }
    }
    if (drv.CtxDestroy(context) != CUDA_SUCCESS) {
        fprintf(stderr, "the context cannot be destroyed\n");
        return -1;
    }
    return 0;
}

static int
open_driver(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CUresult (*find)(const char *, void **, int, uint64_t, void *);

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    *(void **)&find = dlsym(library, "cuGetProcAddress_v2");
#define FIND(name, version, need, blocking, parameters) \
    (void)find("cu" #name, (void **)&drv.name, version, 0, NULL);
    PCU_DRV_SYMBOLS(FIND)
#undef FIND
    return drv.Init(0) == CUDA_SUCCESS ? 0 : -1;
}

int
main(int count, char **arguments)
{
    static char text[MAX_TEXT + 1];
    unsigned long iterations, loaded = 0, ran = 0;

    if (count < 5 || open_driver(arguments[1]) != 0 ||
        read_seeds(arguments + 4, count - 4) != 0) {
        fprintf(stderr, "usage: emulator_fuzz LIBRARY ITERATIONS SEED FILE...\n");
        return 2;
    }
    iterations = strtoul(arguments[2], NULL, 10);
    for (unsigned long i = 0; i < iterations; i++) {
        document d = {text, 0};
        const document *from;
        size_t times;

        state = (strtoul(arguments[3], NULL, 10) + i + 1) * 0x9e3779b97f4a7c15u;
        from = &seeds[below(seed_count)];
        memcpy(text, from->text, from->size);
        d.size = from->size;
        times = below(2) ? 1 : 1 + below(8);
        while (times--) {
            damage(&d);
        }
        if (getenv("EMULATOR_FUZZ_LAST")) {
            FILE *file = fopen(getenv("EMULATOR_FUZZ_LAST"), "wb");

            if (file) {
                (void)fwrite(text, 1, d.size, file);
                (void)fclose(file);
            }
        }
        if (one(&d, &loaded, &ran) != 0) {
            fprintf(stderr, "iteration %lu\n", i);
            return 1;
        }
    }
    printf("%lu texts, %lu loaded, %lu kernels ran to their end\n", iterations, loaded,
           ran);
    return 0;
}
