/* What the programs of the floor share: the driver's functions, the clock, and lines of
 * JSON. Each program includes it once; there is no library. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/cuda_abi.h"
#include "abi/functions.h"
#include "abi/graph_abi.h"

/* -- the driver -------------------------------------------------------------------- */

#define MEMBER(name, export, version, thread, caller, door, traits, span, ...) \
    PCU_IF_CALLED_##caller(CUresult (*name)(PCU_PARAMETERS(__VA_ARGS__));)
struct driver {
    PCU_FUNCTIONS(MEMBER)
};
#undef MEMBER

/* A member is NULL where the driver lacks the function; only REQUIRED ones are called.
 */
static struct driver drv;

#define ROW(name, export, version, thread, caller, ...)                  \
    PCU_IF_CALLED_##caller({"cu" #name, version, PCU_IS_NEEDED_##caller, \
                            offsetof(struct driver, name)}, )
static const struct row {
    const char *name;
    int version;
    bool required;
    size_t offset;
} rows[] = {PCU_FUNCTIONS(ROW)};
#undef ROW

typedef CUresult (*get_proc_fn)(const char *, void **, int, uint64_t);
typedef CUresult (*get_proc_v2_fn)(const char *, void **, int, uint64_t, int *);

static void
fail(const char *what, const char *detail)
{
    fprintf(stderr, "floor: %s: %s\n", what, detail);
    exit(1);
}

static void
driver_open(void)
{
    const char *path = getenv("FLOOR_LIBCUDA");
    void *library = dlopen(path != NULL ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    get_proc_v2_fn get_v2 = NULL;
    get_proc_fn get = NULL;
    void *symbol;

    if (library == NULL) {
        fail("no driver library", dlerror());
    }
    /* ISO C has no cast from void * to a function pointer; POSIX gives both one size.
     */
    symbol = dlsym(library, "cuGetProcAddress_v2");
    memcpy(&get_v2, &symbol, sizeof symbol);
    symbol = dlsym(library, "cuGetProcAddress");
    memcpy(&get, &symbol, sizeof symbol);
    if (get_v2 == NULL && get == NULL) {
        fail("driver too old", "cuGetProcAddress is missing, CUDA 11.3 has it");
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        CUresult status;
        int found = 0;

        symbol = NULL;
        status = get_v2 != NULL ? get_v2(row->name, &symbol, row->version, 0, &found)
                                : get(row->name, &symbol, row->version, 0);
        if (status == CUDA_ERROR_STUB_LIBRARY) {
            fail("not a driver", "the library is a stub to link against");
        }
        if (status != CUDA_SUCCESS) {
            symbol = NULL;
        }
        if (symbol == NULL && row->required) {
            fail("the driver lacks a function", row->name);
        }
        memcpy((char *)&drv + row->offset, &symbol, sizeof symbol);
    }
}

/* Ends the function that uses it with the status of a call that failed. */
#define TRY(call)                      \
    do {                               \
        CUresult status_ = (call);     \
        if (status_ != CUDA_SUCCESS) { \
            return status_;            \
        }                              \
    } while (0)

/* -- the clock, and answers -------------------------------------------------------- */

static double
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void
print_string(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\') {
            putchar('\\');
        }
        putchar(c < 0x20 ? ' ' : c);
    }
    putchar('"');
}

static void
print_error(const char *name, CUresult status)
{
    const char *text = NULL;

    drv.GetErrorName(status, &text);
    printf("{\"case\": ");
    print_string(name);
    printf(", \"error\": ");
    print_string(text != NULL ? text : "unknown result code");
    printf("}");
}

static void
print_samples(const char *name, int calls, const double *ns, int batches)
{
    printf("{\"case\": \"%s\", \"calls\": %d, \"ns\": [", name, calls);
    for (int i = 0; i < batches; i++) {
        printf("%s%.2f", i > 0 ? ", " : "", ns[i]);
    }
    printf("]}");
}

/* -- files --------------------------------------------------------------------------
 */

static void *
image_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *image = NULL;
    size_t used = 0, size = 0, got;

    if (file == NULL) {
        fail("cannot open the image", path);
    }
    do {
        char *grown;

        size += 1 << 16;
        grown = realloc(image, size + 1);
        if (grown == NULL) {
            fail("no memory for the image", path);
        }
        image = grown;
        got = fread(image + used, 1, size - used, file);
        used += got;
    } while (used == size);
    if (ferror(file) || used == 0) {
        fail("cannot read the image", path);
    }
    fclose(file);
    image[used] = '\0'; /* a PTX text ends with a NUL */
    return image;
}
