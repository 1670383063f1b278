/* What graphs cost on the bare driver: launching an executable graph, and changing the
 * arguments of one of its kernels.
 *
 *   floor_graph IMAGE --ask     one line of JSON per line of stdin
 *
 * IMAGE comes from bench_graph.py --image. The lines are those of floor.c: a line reads
 * `case batches calls` and is answered by the nanoseconds per call of each batch. Each
 * batch starts on an idle device. The graphs are captured from a stream, as
 * bench_graph.py captures its own. */
#define _POSIX_C_SOURCE 200809L

#include "floor_driver.h"

enum { BYTES = 4096, COUNT = BYTES / (int)sizeof(float), BLOCK = 128 };
enum { MAX_BATCHES = 10000, MAX_CALLS = 1000000, LONG = 20, OPERATIONS = 1000 };

/* The system of equations of the case cg: Poisson's equation on a square, and the
 * iterations of a launch. bench_graph.py has the same numbers. */
enum { SIDE = 1024, ROWS = SIDE * SIDE, ITERATIONS = 200, THREADS = 256 };

struct bench {
    CUcontext ctx;
    CUfunction k4;
    CUstream stream;
    CUdeviceptr a, b, c;
    int n;
    CUgraphExec one, chain, operations;
    CUgraphNode node; /* of the graph that `one` was made from */
    CUgraphExec cg;   /* NULL: the driver has no conditional nodes */
};

/* -- conjugate gradients in a graph with a loop -------------------------------------
 */

/* What the kernels work on. */
struct system {
    CUdeviceptr indptr, indices, data, x, r, d, q, numbers, count;
};

/* The matrix in compressed rows: 4 on the diagonal, -1 for each neighbour. */
static CUresult
system_fill(struct system *s)
{
    int *indptr = malloc((ROWS + 1) * sizeof *indptr);
    int *indices = malloc(5 * (size_t)ROWS * sizeof *indices);
    float *data = malloc(5 * (size_t)ROWS * sizeof *data);
    static const int places[] = {-SIDE, -1, 0, 1, SIDE};
    int used = 0;

    if (indptr == NULL || indices == NULL || data == NULL) {
        fail("no memory", "for the matrix");
    }
    for (int row = 0; row < ROWS; row++) {
        indptr[row] = used;
        for (int k = 0; k < 5; k++) {
            int column = row + places[k];

            if (column < 0 || column >= ROWS || (k == 1 && row % SIDE == 0) ||
                (k == 3 && row % SIDE == SIDE - 1)) {
                continue;
            }
            indices[used] = column;
            data[used++] = k == 2 ? 4.0f : -1.0f;
        }
    }
    indptr[ROWS] = used;
    TRY(drv.MemAlloc(&s->indptr, (ROWS + 1) * sizeof *indptr));
    TRY(drv.MemAlloc(&s->indices, (size_t)used * sizeof *indices));
    TRY(drv.MemAlloc(&s->data, (size_t)used * sizeof *data));
    TRY(drv.MemcpyHtoD(s->indptr, indptr, (ROWS + 1) * sizeof *indptr));
    TRY(drv.MemcpyHtoD(s->indices, indices, (size_t)used * sizeof *indices));
    TRY(drv.MemcpyHtoD(s->data, data, (size_t)used * sizeof *data));
    free(indptr);
    free(indices);
    free(data);
    TRY(drv.MemAlloc(&s->x, ROWS * sizeof(float)));
    TRY(drv.MemAlloc(&s->r, ROWS * sizeof(float)));
    TRY(drv.MemAlloc(&s->d, ROWS * sizeof(float)));
    TRY(drv.MemAlloc(&s->q, ROWS * sizeof(float)));
    TRY(drv.MemAlloc(&s->numbers, 3 * sizeof(float)));
    return drv.MemAlloc(&s->count, sizeof(int));
}

/* Launch a kernel of all rows; `blocks` 0: a thread for each row. */
static CUresult
rows_launch(CUmodule module, const char *name, unsigned int blocks, CUstream stream,
            void **params)
{
    CUfunction kernel;

    TRY(drv.ModuleGetFunction(&kernel, module, name));
    if (blocks == 0) {
        blocks = ROWS / THREADS;
    }
    return drv.LaunchKernel(kernel, blocks, 1, 1, blocks == 1 ? 1 : THREADS, 1, 1, 0,
                            stream, params, NULL);
}

/* One iteration. numbers: delta, curvature, the next delta. */
static CUresult
iteration_enqueue(CUmodule module, struct system *s, CUstream stream,
                  CUgraphConditionalHandle again)
{
    enum { DOT_BLOCKS = 264 };
    CUdeviceptr delta = s->numbers;
    CUdeviceptr curvature = delta + 4;
    CUdeviceptr found = delta + 8;
    void *product[] = {&s->indptr, &s->indices, &s->data, &s->d, &s->q};
    void *first[] = {&s->d, &s->q, &curvature};
    void *advance[] = {&delta, &curvature, &s->d, &s->q, &s->x, &s->r};
    void *second[] = {&s->r, &s->r, &found};
    void *turn[] = {&found, &delta, &s->r, &s->d};
    void *decide[] = {&again, &s->numbers, &s->count};

    TRY(rows_launch(module, "cg_product", 0, stream, product));
    TRY(rows_launch(module, "cg_dot", DOT_BLOCKS, stream, first));
    TRY(rows_launch(module, "cg_advance", 0, stream, advance));
    TRY(rows_launch(module, "cg_dot", DOT_BLOCKS, stream, second));
    TRY(rows_launch(module, "cg_turn", 0, stream, turn));
    return rows_launch(module, "cg_decide", 1, stream, decide);
}

/* The graph: set the start values, then loop. */
static CUresult
cg_make(CUcontext ctx, CUmodule module, CUstream stream, CUgraphExec *exec)
{
    static struct system s;
    CUgraph graph, body;
    CUgraphNode start, loop;
    CUgraphConditionalHandle again;
    CUgraphNodeParams params;
    size_t one = 1;
    void *begin[] = {&s.x, &s.r, &s.d, &s.numbers, &s.count};

    TRY(system_fill(&s));
    TRY(drv.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    TRY(rows_launch(module, "cg_begin", 0, stream, begin));
    TRY(drv.StreamEndCapture(stream, &graph));
    TRY(drv.GraphGetNodes(graph, &start, &one));
    TRY(drv.GraphConditionalHandleCreate(&again, graph, ctx, 1,
                                         CU_GRAPH_COND_ASSIGN_DEFAULT));
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = again;
    params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    params.conditional.size = 1;
    params.conditional.ctx = ctx;
    TRY(drv.GraphAddNode(&loop, graph, &start, NULL, 1, &params));
    TRY(drv.StreamBeginCaptureToGraph(stream, params.conditional.phGraph_out[0], NULL,
                                      NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    TRY(iteration_enqueue(module, &s, stream, again));
    TRY(drv.StreamEndCapture(stream, &body));
    return drv.GraphInstantiateWithFlags(exec, graph, 0);
}

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
    if (drv.GraphConditionalHandleCreate != NULL) {
        TRY(cg_make(self->ctx, module, self->stream, &self->cg));
    }
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

/* A solution by conjugate gradients, and the wait for its end. */
static CUresult
cg(struct bench *self, int calls)
{
    if (self->cg == NULL) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    for (int i = 0; i < calls; i++) {
        TRY(drv.GraphLaunch(self->cg, self->stream));
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
    {"cg", cg},
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
