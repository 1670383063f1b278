/* What it costs in C to make a kernel from source: NVRTC, then the driver.
 *
 *   floor_compile LIBNVRTC SOURCE ARCH
 *
 * LIBNVRTC is the library to open, SOURCE a file of CUDA C, ARCH an architecture:
 * compute_XY makes PTX and sm_XY machine code. A line of stdin reads
 * `case batches calls` and is answered by the nanoseconds per call of each batch, so
 * that bench_compile.py can measure this and itself in turn. The cases:
 *
 *   nvrtc        a program from the source to the image
 *   nvrtc_load   the same, and the image loaded into the context and unloaded
 *
 * Each call compiles another text: a number in a comment tells them apart, for a
 * compiler that might remember. A program of its own, see floor.c. */
#define _POSIX_C_SOURCE 200809L

#include "floor_driver.h"

enum { MAX_BATCHES = 10000, MAX_CALLS = 10000, OPTIONS = 1 };

typedef struct nvrtc_program *nvrtc_program;

#define NVRTC_FUNCTIONS(X)                                              \
    X(CreateProgram, (nvrtc_program *, const char *, const char *, int, \
                      const char *const *, const char *const *))        \
    X(CompileProgram, (nvrtc_program, int, const char *const *))        \
    X(GetPTXSize, (nvrtc_program, size_t *))                            \
    X(GetPTX, (nvrtc_program, char *))                                  \
    X(GetCUBINSize, (nvrtc_program, size_t *))                          \
    X(GetCUBIN, (nvrtc_program, char *))                                \
    X(DestroyProgram, (nvrtc_program *))

#define MEMBER(name, params) int(*name) params;
static struct {
    NVRTC_FUNCTIONS(MEMBER)
} nvrtc;
#undef MEMBER

struct bench {
    char *source; /* with room for a number at the end */
    size_t source_length;
    const char *arch;
    int number;
};

static void
nvrtc_open(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol;

    if (library == NULL) {
        fail("NVRTC cannot be opened", dlerror());
    }
#define LOAD(name, params)                     \
    symbol = dlsym(library, "nvrtc" #name);    \
    if (symbol == NULL) {                      \
        fail("NVRTC lacks a function", #name); \
    }                                          \
    memcpy(&nvrtc.name, &symbol, sizeof symbol);
    NVRTC_FUNCTIONS(LOAD)
#undef LOAD
}

/* -- the work ---------------------------------------------------------------------- */

/* The image of the source, to be freed; NULL if NVRTC refuses. */
static char *
compile(struct bench *self)
{
    const char *options[OPTIONS];
    char option[64];
    nvrtc_program program = NULL;
    char *image = NULL;
    size_t size = 0;
    int machine = strncmp(self->arch, "sm_", 3) == 0;

    snprintf(option, sizeof option, "-arch=%s", self->arch);
    options[0] = option;
    snprintf(self->source + self->source_length, 32, "// %d\n", self->number++);
    if (nvrtc.CreateProgram(&program, self->source, "kernel.cu", 0, NULL, NULL) != 0) {
        return NULL;
    }
    if (nvrtc.CompileProgram(program, OPTIONS, options) == 0 &&
        (machine ? nvrtc.GetCUBINSize : nvrtc.GetPTXSize)(program, &size) == 0) {
        image = malloc(size + 1);
    }
    if (image != NULL &&
        (machine ? nvrtc.GetCUBIN : nvrtc.GetPTX)(program, image) != 0) {
        free(image);
        image = NULL;
    }
    nvrtc.DestroyProgram(&program);
    return image;
}

static CUresult
run(struct bench *self, int calls, int load)
{
    for (int i = 0; i < calls; i++) {
        CUresult status = CUDA_SUCCESS;
        CUmodule module = NULL;
        char *image = compile(self);

        if (image == NULL) {
            return CUDA_ERROR_INVALID_SOURCE;
        }
        if (load) {
            status = drv.ModuleLoadDataEx(&module, image, 0, NULL, NULL);
        }
        free(image);
        TRY(status);
        if (load) {
            TRY(drv.ModuleUnload(module));
        }
    }
    return CUDA_SUCCESS;
}

static CUresult
measure(struct bench *self, int load, int batches, int calls, double *ns)
{
    TRY(run(self, 1, load));
    for (int i = 0; i < batches; i++) {
        double start = now_ns();
        CUresult status = run(self, calls, load);

        ns[i] = (now_ns() - start) / calls;
        TRY(status);
    }
    return CUDA_SUCCESS;
}

/* -- the program ------------------------------------------------------------------- */

static void
answer(struct bench *self, const char *line, double *ns)
{
    char name[64] = "";
    int batches = 0, calls = 0, load;
    CUresult status = CUDA_ERROR_INVALID_VALUE;

    if (sscanf(line, "%63s %d %d", name, &batches, &calls) != 3 || batches < 1 ||
        batches > MAX_BATCHES || calls < 1 || calls > MAX_CALLS) {
        strcpy(name, "bad request");
    }
    load = strcmp(name, "nvrtc_load") == 0;
    if (load || strcmp(name, "nvrtc") == 0) {
        status = measure(self, load, batches, calls, ns);
    }
    if (status != CUDA_SUCCESS) {
        print_error(name, status);
    }
    else {
        print_samples(name, calls, ns, batches);
    }
    putchar('\n');
    fflush(stdout);
}

static void
source_read(struct bench *self, const char *path)
{
    char *text = image_read(path);

    self->source_length = strlen(text);
    self->source = malloc(self->source_length + 32);
    if (self->source == NULL) {
        fail("no memory", path);
    }
    memcpy(self->source, text, self->source_length);
    free(text);
}

static CUresult
start(CUcontext *ctx, char *name, int name_size, int *version)
{
    CUdevice device;

    TRY(drv.Init(0));
    TRY(drv.DriverGetVersion(version));
    TRY(drv.DeviceGet(&device, 0));
    TRY(drv.DeviceGetName(name, name_size, device));
    return drv.CtxCreate(ctx, 0, device);
}

int
main(int argc, char **argv)
{
    static double ns[MAX_BATCHES];
    struct bench bench = {NULL, 0, NULL, 0};
    CUcontext ctx = NULL;
    char line[128], name[256] = "";
    int version = 0;

    if (argc != 4) {
        fail("usage", "floor_compile LIBNVRTC SOURCE ARCH");
    }
    nvrtc_open(argv[1]);
    source_read(&bench, argv[2]);
    bench.arch = argv[3];
    driver_open();
    if (start(&ctx, name, (int)sizeof name, &version) != CUDA_SUCCESS) {
        fail("cannot start", "the driver refuses");
    }
    printf("{\"device\": ");
    print_string(name);
    printf(", \"driver\": %d}\n", version);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        answer(&bench, line, ns);
    }
    free(bench.source);
    return drv.CtxDestroy(ctx) != CUDA_SUCCESS;
}
