/* What graphs cost on the bare driver: launching an executable graph, and changing the
 * arguments of one of its kernels.
 *
 *   floor_graph IMAGE --ask     one line of JSON per line of stdin
 *
 * IMAGE and the lines are those of floor.c: a line reads `case batches calls` and is
 * answered by the nanoseconds per call of each batch. Each batch starts on an idle
 * device. The graphs are captured from a stream, as bench_graph.py captures its own. */
#define _POSIX_C_SOURCE 200809L

#include "floor_driver.h"

enum { BYTES = 4096, COUNT = BYTES / (int)sizeof(float), BLOCK = 128 };
enum { MAX_BATCHES = 10000, MAX_CALLS = 1000000, LONG = 20, OPERATIONS = 1000 };

struct bench {
    CUcontext ctx;
    CUfunction k4;
    CUstream stream;
    CUdeviceptr a, b, c;
    int n;
    CUgraphExec one, chain, operations;
    CUgraphNode node; /* of the graph that `one` was made from */
};

/* -- the graphs -------------------------------------------------------------------- */

/* Capture `count` launches and instantiate the graph. */
static CUresult
graph_make(struct bench *self, int count, CUgraph *graph, CUgraphExec *exec)
{
    void *params[] = {&self->a, &self->b, &self->c, &self->n};

    TRY(drv.StreamBeginCapture(self->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < count; i++) {
        TRY(drv.LaunchKernel(self->k4, COUNT / BLOCK, 1, 1, BLOCK, 1, 1, 0,
                             self->stream, params, NULL));
    }
    TRY(drv.StreamEndCapture(self->stream, graph));
    return drv.GraphInstantiateWithFlags(exec, *graph, 0);
}

static CUresult
bench_open(struct bench *self, const void *image)
{
    CUmodule module;
    CUgraph graph;
    CUdevice device;
    size_t one = 1;

    TRY(drv.Init(0));
    TRY(drv.DeviceGet(&device, 0));
    TRY(drv.CtxCreate(&self->ctx, 0, device));
    TRY(drv.ModuleLoadData(&module, image));
    TRY(drv.ModuleGetFunction(&self->k4, module, "k4"));
    TRY(drv.StreamCreate(&self->stream, 0));
    TRY(drv.MemAlloc(&self->a, BYTES));
    TRY(drv.MemAlloc(&self->b, BYTES));
    TRY(drv.MemAlloc(&self->c, BYTES));
    TRY(drv.MemsetD8(self->a, 0, BYTES));
    TRY(drv.MemsetD8(self->b, 0, BYTES));
    self->n = COUNT;
    TRY(graph_make(self, LONG, &graph, &self->chain));
    TRY(graph_make(self, OPERATIONS, &graph, &self->operations));
    TRY(graph_make(self, 1, &graph, &self->one));
    return drv.GraphGetNodes(graph, &self->node, &one);
}

/* -- the cases --------------------------------------------------------------------- */

static CUresult
replay_1(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        TRY(drv.GraphLaunch(self->one, self->stream));
    }
    return CUDA_SUCCESS;
}

static CUresult
replay_20(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        TRY(drv.GraphLaunch(self->chain, self->stream));
    }
    return CUDA_SUCCESS;
}

static CUresult
update_kernel(struct bench *self, int calls)
{
    CUDA_KERNEL_NODE_PARAMS node = {.func = self->k4,
                                    .gridDimX = COUNT / BLOCK,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = BLOCK,
                                    .blockDimY = 1,
                                    .blockDimZ = 1};
    void *params[] = {&self->a, &self->b, &self->c, &self->n};

    node.kernelParams = params;
    for (int i = 0; i < calls; i++) {
        TRY(drv.GraphExecKernelNodeSetParams(self->one, self->node, &node));
    }
    return CUDA_SUCCESS;
}

/* A thousand operations, and the wait for their end. */
static CUresult
operations(struct bench *self, int calls)
{
    for (int i = 0; i < calls; i++) {
        TRY(drv.GraphLaunch(self->operations, self->stream));
        TRY(drv.StreamSynchronize(self->stream));
    }
    return CUDA_SUCCESS;
}

static const struct bench_case {
    const char *name;
    CUresult (*run)(struct bench *self, int calls);
} cases[] = {
    {"replay_1", replay_1},
    {"replay_20", replay_20},
    {"update_kernel", update_kernel},
    {"operations", operations},
};

/* -- answering --------------------------------------------------------------------- */

static CUresult
measure(struct bench *self, const struct bench_case *c, int batches, int calls,
        double *ns)
{
    TRY(c->run(self, calls));
    TRY(drv.CtxSynchronize());
    for (int i = 0; i < batches; i++) {
        double start = now_ns();
        CUresult status = c->run(self, calls);

        ns[i] = (now_ns() - start) / calls;
        TRY(status);
        TRY(drv.CtxSynchronize());
    }
    return CUDA_SUCCESS;
}

static void
answer(struct bench *self, const char *line, double *ns)
{
    char name[64];
    int batches = 0, calls = 0;
    CUresult status = CUDA_ERROR_INVALID_VALUE;

    if (sscanf(line, "%63s %d %d", name, &batches, &calls) != 3 || batches <= 0 ||
        batches > MAX_BATCHES || calls <= 0 || calls > MAX_CALLS) {
        print_error("bad request", status);
        return;
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            status = measure(self, &cases[i], batches, calls, ns);
        }
    }
    if (status != CUDA_SUCCESS) {
        print_error(name, status);
    }
    else {
        print_samples(name, calls, ns, batches);
    }
}

int
main(int argc, char **argv)
{
    static struct bench bench;
    static double ns[MAX_BATCHES];
    char line[128];
    char device[256] = "";
    int version = 0;
    void *image;
    CUresult status;

    if (argc != 3 || strcmp(argv[2], "--ask") != 0) {
        fail("usage", "floor_graph IMAGE --ask");
    }
    image = image_read(argv[1]);
    driver_open();
    status = bench_open(&bench, image);
    if (status == CUDA_SUCCESS) {
        status = drv.DriverGetVersion(&version);
    }
    if (status == CUDA_SUCCESS) {
        status = drv.DeviceGetName(device, (int)sizeof device, 0);
    }
    if (status != CUDA_SUCCESS) {
        const char *text = NULL;

        drv.GetErrorName(status, &text);
        fail("cannot start", text != NULL ? text : "unknown result code");
    }
    printf("{\"device\": ");
    print_string(device);
    printf(", \"driver\": %d}\n", version);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        answer(&bench, line, ns);
        putchar('\n');
        fflush(stdout);
    }
    status = drv.CtxDestroy(bench.ctx);
    free(image);
    return status != CUDA_SUCCESS;
}
