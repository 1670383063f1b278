/* What the bare driver costs: the calls that the Python package makes, made from C.
 *
 *   floor IMAGE [--batches N] [--only CASE]    each case once, one JSON object
 *   floor IMAGE --ask                          one line of JSON per line of stdin
 *   floor --list                               the names of the cases
 *
 * IMAGE is a cubin or a PTX text that holds `k4(float *a, float *b, float *c, int n)`,
 * which adds, and `k0()`, which is empty. With --ask a line of stdin reads
 * `case batches calls` and is answered by the nanoseconds per call of each batch, so
 * that bench_launch.py can measure the floor and itself in turn. FLOOR_LIBCUDA names
 * another driver library to open.
 *
 * Only the calls lie between two readings of the clock: each batch starts on an idle
 * device, is short enough that the launch queue never fills (a full queue makes the
 * caller wait for the device) and is waited for outside of the timed part. One untimed
 * batch goes first. Sums computed by the kernel are checked, so a driver that does not
 * run it has no floor.
 *
 * A program of its own: cc -std=c11 -O2 -I ../src/cpp_free_c floor.c -ldl. It needs no
 * toolkit; types and signatures come from abi/cuda_abi.h and abi/functions.h. */
#define _POSIX_C_SOURCE 200809L

#include "floor_driver.h"

enum { BYTES = 4096, COUNT = BYTES / (int)sizeof(float), BLOCK = 128 };
enum { MAX_BATCHES = 100000, MAX_CALLS = 1000000 };

/* -- what the cases work on -------------------------------------------------------- */

struct bench {
    CUcontext ctx;
    void *image;
    CUfunction k4;
    CUfunction k0;
    CUstream stream;
    CUevent event;
    CUdeviceptr a, b, c; /* COUNT floats each */
    int n;
    float host_a[COUNT], host_b[COUNT], host_c[COUNT];
};

static CUresult
bench_open(struct bench *self)
{
    CUmodule module;

    TRY(drv.ModuleLoadData(&module, self->image));
    TRY(drv.ModuleGetFunction(&self->k4, module, "k4"));
    TRY(drv.ModuleGetFunction(&self->k0, module, "k0"));
    TRY(drv.StreamCreate(&self->stream, 0));
    TRY(drv.EventCreate(&self->event, 0));
    TRY(drv.MemAlloc(&self->a, BYTES));
    TRY(drv.MemAlloc(&self->b, BYTES));
    TRY(drv.MemAlloc(&self->c, BYTES));
    for (int i = 0; i < COUNT; i++) {
        self->host_a[i] = (float)i;
        self->host_b[i] = 0.5f * (float)i;
        self->host_c[i] = -1.0f;
    }
    self->n = COUNT;
    TRY(drv.MemcpyHtoD(self->a, self->host_a, BYTES));
    TRY(drv.MemcpyHtoD(self->b, self->host_b, BYTES));
    return drv.MemcpyHtoD(self->c, self->host_c, BYTES);
}

/* Whether host_c holds the sums; wipes it, so that the next check is about new work. */
static int
sums_right(struct bench *self)
{
    int right = 1;

    for (int i = 0; i < COUNT; i++) {
        right = right && self->host_c[i] == self->host_a[i] + self->host_b[i];
        self->host_c[i] = -1.0f;
    }
    return right;
}

/* -- the cases: each makes `calls` calls ------------------------------------------- */

static CUresult
launch_params_4(struct bench *self, int calls)
{
    void *params[] = {&self->a, &self->b, &self->c, &self->n};

    for (int i = 0; i < calls; i++) {
        TRY(drv.LaunchKernel(self->k4, COUNT / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL,
                             params, NULL));
    }
    return CUDA_SUCCESS;
}

static CUresult
launch_stream_4(struct bench *self, int calls)
{
    void *params[] = {&self->a, &self->b, &self->c, &self->n};

    for (int i = 0; i < calls; i++) {
        TRY(drv.LaunchKernel(self->k4, COUNT / BLOCK, 1, 1, BLOCK, 1, 1, 0,
                             self->stream, params, NULL));
    }
    return CUDA_SUCCESS;
}

/* Packs the arguments again for each launch, as a caller with new arguments must. */
static CUresult
launch_extra_4(struct bench *self, int calls)
{
    unsigned char buffer[3 * sizeof(CUdeviceptr) + sizeof(int)];
    size_t size = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};

    for (int i = 0; i < calls; i++) {
        memcpy(buffer, &self->a, sizeof self->a);
        memcpy(buffer + 8, &self->b, sizeof self->b);
        memcpy(buffer + 16, &self->c, sizeof self->c);
        memcpy(buffer + 24, &self->n, sizeof self->n);
        TRY(drv.LaunchKernel(self->k4, COUNT / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, NULL,
                             extra));
    }
    return CUDA_SUCCESS;
}

static CUresult
launch_params_0(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        TRY(drv.LaunchKernel(self->k0, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    }
    return CUDA_SUCCESS;
}

static CUresult
launch_extra_0(struct bench *self, int calls)
{
    unsigned char buffer[1] = {0};
    size_t size = 0;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};

    for (int i = 0; i < calls; i++) {
        TRY(drv.LaunchKernel(self->k0, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    }
    return CUDA_SUCCESS;
}

static CUresult
alloc_free(struct bench *self, int calls)
{
    (void)self;
    for (int i = 0; i < calls; i++) {
        CUdeviceptr p;

        TRY(drv.MemAlloc(&p, BYTES));
        TRY(drv.MemFree(p));
    }
    return CUDA_SUCCESS;
}

/* A result of its own for each launch; freeing it waits for the launch. */
static CUresult
alloc_launch_free(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        CUdeviceptr p;
        void *params[] = {&self->a, &self->b, &p, &self->n};

        TRY(drv.MemAlloc(&p, BYTES));
        TRY(drv.LaunchKernel(self->k4, COUNT / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL,
                             params, NULL));
        TRY(drv.MemFree(p));
    }
    return CUDA_SUCCESS;
}

/* f(In(a), In(b), Out(c), n): what the driver has to do for it, in the package's order.
 */
static CUresult
in_in_out(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        CUdeviceptr a, b, c;
        void *params[] = {&a, &b, &c, &self->n};

        TRY(drv.MemAlloc(&a, BYTES));
        TRY(drv.MemAlloc(&b, BYTES));
        TRY(drv.MemAlloc(&c, BYTES));
        TRY(drv.MemcpyHtoD(a, self->host_a, BYTES));
        TRY(drv.MemcpyHtoD(b, self->host_b, BYTES));
        TRY(drv.LaunchKernel(self->k4, COUNT / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL,
                             params, NULL));
        TRY(drv.CtxSynchronize());
        TRY(drv.MemcpyDtoH(self->host_c, c, BYTES));
        TRY(drv.MemFree(a));
        TRY(drv.MemFree(b));
        TRY(drv.MemFree(c));
    }
    return CUDA_SUCCESS;
}

static CUresult
htod(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        TRY(drv.MemcpyHtoD(self->a, self->host_a, BYTES));
    }
    return CUDA_SUCCESS;
}

static CUresult
dtoh(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        TRY(drv.MemcpyDtoH(self->host_b, self->b, BYTES));
    }
    return CUDA_SUCCESS;
}

/* A new device copy of a host array, dropped again. */
static CUresult
to_gpu(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        CUdeviceptr p;

        TRY(drv.MemAlloc(&p, BYTES));
        TRY(drv.MemcpyHtoD(p, self->host_a, BYTES));
        TRY(drv.MemFree(p));
    }
    return CUDA_SUCCESS;
}

/* A new host copy of a device array, dropped again. */
static CUresult
get(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        void *host = malloc(BYTES);
        CUresult status = host == NULL ? CUDA_ERROR_OUT_OF_MEMORY
                                       : drv.MemcpyDtoH(host, self->a, BYTES);

        free(host);
        TRY(status);
    }
    return CUDA_SUCCESS;
}

static CUresult
event_record(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        TRY(drv.EventRecord(self->event, self->stream));
    }
    return CUDA_SUCCESS;
}

static CUresult
stream_query(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        TRY(drv.StreamQuery(self->stream));
    }
    return CUDA_SUCCESS;
}

static CUresult
module_load(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        CUmodule module;

        TRY(drv.ModuleLoadData(&module, self->image));
        TRY(drv.ModuleUnload(module));
    }
    return CUDA_SUCCESS;
}

static CUresult
ctx_get_current(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        CUcontext current;

        TRY(drv.CtxGetCurrent(&current));
        if (current != self->ctx) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult
ctx_push_pop(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        CUcontext popped;

        TRY(drv.CtxPushCurrent(self->ctx));
        TRY(drv.CtxPopCurrent(&popped));
    }
    return CUDA_SUCCESS;
}

/* How many calls a batch has: 500 launches stay clear of the queue's about 1,000. The
 * sums are checked after the cases that compute: in host_c, or in c on the device. */
enum check { CHECK_NONE, CHECK_HOST, CHECK_DEVICE };

/* clang-format off */
static const struct bench_case {
    const char *name;
    CUresult (*run)(struct bench *self, int calls);
    int calls;
    enum check check;
} cases[] = {
    {"launch_params_4", launch_params_4, 500, CHECK_DEVICE},
    {"launch_extra_4", launch_extra_4, 500, CHECK_DEVICE},
    {"launch_stream_4", launch_stream_4, 500, CHECK_DEVICE},
    {"launch_params_0", launch_params_0, 500, CHECK_NONE},
    {"launch_extra_0", launch_extra_0, 500, CHECK_NONE},
    {"alloc_free", alloc_free, 200, CHECK_NONE},
    {"alloc_launch_free", alloc_launch_free, 100, CHECK_NONE},
    {"in_in_out", in_in_out, 50, CHECK_HOST},
    {"htod", htod, 200, CHECK_NONE},
    {"dtoh", dtoh, 200, CHECK_NONE},
    {"to_gpu", to_gpu, 200, CHECK_NONE},
    {"get", get, 200, CHECK_NONE},
    {"event_record", event_record, 500, CHECK_NONE},
    {"stream_query", stream_query, 1000, CHECK_NONE},
    {"module_load", module_load, 5, CHECK_NONE},
    {"ctx_get_current", ctx_get_current, 1000, CHECK_NONE},
    {"ctx_push_pop", ctx_push_pop, 1000, CHECK_NONE},
};
/* clang-format on */
enum { CASES = sizeof cases / sizeof cases[0] };

/* -- measuring --------------------------------------------------------------------- */

static CUresult
check_sums(struct bench *self, enum check check)
{
    if (check == CHECK_DEVICE) {
        TRY(drv.MemcpyDtoH(self->host_c, self->c, BYTES));
        TRY(drv.MemsetD8(self->c, 0xff, BYTES));
    }
    return check == CHECK_NONE || sums_right(self) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

/* Fills ns[0..batches-1] with the nanoseconds per call of each batch. */
static CUresult
measure(struct bench *self, const struct bench_case *c, int batches, int calls,
        double *ns)
{
    TRY(c->run(self, calls));
    TRY(drv.CtxSynchronize());
    TRY(check_sums(self, c->check));
    for (int i = 0; i < batches; i++) {
        double start = now_ns();
        CUresult status = c->run(self, calls);

        ns[i] = (now_ns() - start) / calls;
        TRY(status);
        TRY(drv.CtxSynchronize());
    }
    return check_sums(self, c->check);
}

static const struct bench_case *
case_find(const char *name)
{
    for (int i = 0; i < CASES; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            return &cases[i];
        }
    }
    return NULL;
}

static int
double_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* -- output: JSON ------------------------------------------------------------------ */

/* The middle of the sorted values: the mean of the two middle ones for an even count.
 */
static void
print_summary(const char *name, int calls, double *ns, int batches)
{
    int p95 = (95 * batches + 99) / 100 - 1; /* nearest rank */

    qsort(ns, (size_t)batches, sizeof *ns, double_compare);
    printf(
        "{\"case\": \"%s\", \"calls\": %d, \"batches\": %d, \"min\": %.1f, "
        "\"median\": %.1f, \"p95\": %.1f}",
        name, calls, batches, ns[0], 0.5 * (ns[(batches - 1) / 2] + ns[batches / 2]),
        ns[p95]);
}

/* -- the program ------------------------------------------------------------------- */

static int
run_all(struct bench *self, int batches, const char *only, double *ns)
{
    int failures = 0, printed = 0;

    printf(", \"cases\": [\n");
    for (int i = 0; i < CASES; i++) {
        const struct bench_case *c = &cases[i];
        CUresult status;

        if (only != NULL && strcmp(only, c->name) != 0) {
            continue;
        }
        printf("%s  ", printed++ > 0 ? ",\n" : "");
        status = measure(self, c, batches, c->calls, ns);
        if (status != CUDA_SUCCESS) {
            print_error(c->name, status);
            failures++;
        }
        else {
            print_summary(c->name, c->calls, ns, batches);
        }
    }
    printf("\n]}\n");
    return failures > 0;
}

static int
run_asked(struct bench *self, double *ns)
{
    char line[128];

    printf("}\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char name[64];
        int batches = 0, calls = 0;
        const struct bench_case *c = NULL;
        CUresult status = CUDA_ERROR_INVALID_VALUE;

        if (sscanf(line, "%63s %d %d", name, &batches, &calls) == 3 && batches > 0 &&
            batches <= MAX_BATCHES && calls > 0 && calls <= MAX_CALLS) {
            c = case_find(name);
        }
        if (c != NULL) {
            status = measure(self, c, batches, calls, ns);
        }
        if (status != CUDA_SUCCESS) {
            print_error(c != NULL ? c->name : "bad request", status);
        }
        else {
            print_samples(c->name, calls, ns, batches);
        }
        putchar('\n');
        fflush(stdout);
    }
    return 0;
}

struct arguments {
    const char *image;
    const char *only;
    int batches;
    int ask;
};

static void
arguments_read(struct arguments *self, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            for (int k = 0; k < CASES; k++) {
                printf("%s %d\n", cases[k].name, cases[k].calls);
            }
            exit(0);
        }
        else if (strcmp(argv[i], "--ask") == 0) {
            self->ask = 1;
        }
        else if (strcmp(argv[i], "--batches") == 0 && i + 1 < argc) {
            self->batches = atoi(argv[++i]);
        }
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            self->only = argv[++i];
        }
        else if (argv[i][0] != '-' && self->image == NULL) {
            self->image = argv[i];
        }
        else {
            fail("not understood", argv[i]);
        }
    }
    if (self->batches < 1 || self->batches > MAX_BATCHES) {
        fail("--batches", "takes 1 to 100000");
    }
    if (self->only != NULL && case_find(self->only) == NULL) {
        fail("no such case, see --list", self->only);
    }
    if (self->image == NULL) {
        fail("usage", "floor IMAGE [--batches N] [--only CASE] | IMAGE --ask | --list");
    }
}

static CUresult
start(struct bench *self, double *init_ns, char *name, int name_size, int *version)
{
    CUdevice device;
    double begin = now_ns();

    TRY(drv.Init(0));
    *init_ns = now_ns() - begin;
    TRY(drv.DriverGetVersion(version));
    TRY(drv.DeviceGet(&device, 0));
    TRY(drv.DeviceGetName(name, name_size, device));
    TRY(drv.CtxCreate(&self->ctx, 0, device));
    return bench_open(self);
}

int
main(int argc, char **argv)
{
    static struct bench bench;
    static double ns[MAX_BATCHES];
    struct arguments args = {NULL, NULL, 50, 0};
    char name[256] = "";
    double init_ns = 0;
    int version = 0, result;
    CUresult status;

    arguments_read(&args, argc, argv);
    bench.image = image_read(args.image);
    driver_open();
    status = start(&bench, &init_ns, name, (int)sizeof name, &version);
    if (status != CUDA_SUCCESS) {
        const char *text = NULL;

        drv.GetErrorName(status, &text);
        fail("cannot start", text != NULL ? text : "unknown result code");
    }
    printf("{\"device\": ");
    print_string(name);
    printf(", \"driver\": %d, \"init_ns\": %.0f", version, init_ns);
    result =
        args.ask ? run_asked(&bench, ns) : run_all(&bench, args.batches, args.only, ns);
    status = drv.CtxDestroy(bench.ctx);
    free(bench.image);
    return result != 0 || status != CUDA_SUCCESS;
}
