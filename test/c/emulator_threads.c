/* Many threads on the software device, through its C interface alone.
 *
 *   emulator_threads LIBRARY [ROUNDS]
 *
 * Each has contexts, streams and modules of its own, and shares others: copies, kernels
 * whose blocks meet in shared memory and in atomic operations or wait for each other,
 * streams that wait for each other's events, host functions, graphs, pools, mapped
 * memory. Ends with 0 when every value read back is the one written and no handle is
 * left. Built with a sanitizer, together with a library built so, it is the library's
 * test for races and leaks: it is the whole process. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/cuda_abi.h"
#include "abi/client_abi.h"
#include "abi/functions.h"
#include "abi/graph_abi.h"

enum { THREADS = 8, LARGEST = 100000 };

#define MEMBER(name, export, version, thread, caller, door, traits, span, ...) \
    CUresult (*name)(PCU_PARAMETERS(__VA_ARGS__));
static struct {
    PCU_FUNCTIONS(MEMBER)
} drv;
#undef MEMBER

/* The C library frees the thread-local data of an ended thread when a new one gets its
 * stack. ThreadSanitizer does not see what orders that. It reads this function. */
const char *__tsan_default_suppressions(void);
const char *
__tsan_default_suppressions(void)
{
    return "race:dl_deallocate_tls\n";
}

static const char *const kernel_text =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 n) {\n"
    ".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.s32 %r5, %r2, %r3, %r4; setp.ge.u32 %p1, %r5, %r1; @%p1 bra DONE;\n"
    "cvta.to.global.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd2, "
    "%rd3;\n"
    "ld.global.u32 %r6, [%rd4]; add.s32 %r7, %r6, 1; st.global.u32 [%rd4], %r7;\n"
    "DONE: ret; }\n"
    /* each block adds 0 + 1 + ... + 127 to *p, through shared memory and a barrier */
    ".visible .entry sum(.param .u64 p) {\n"
    ".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<3>; .shared .align 4 .b8 "
    "s[512];\n"
    "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x;\n"
    "shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.s32 %r4, %r3, %r2; st.shared.u32 [%r4], "
    "%r1;\n"
    "bar.sync 0; xor.b32 %r5, %r2, 508; add.s32 %r5, %r5, %r3; ld.shared.u32 %r6, "
    "[%r5];\n"
    "red.global.add.u32 [%rd2], %r6; ret; }\n"
    /* each block waits for the next one's number, which it adds 1 to */
    ".visible .entry relay(.param .u64 p) {\n"
    ".reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<5>;\n"
    "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %ctaid.x;\n"
    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; mov.u32 %r2, %nctaid.x;\n"
    "add.s32 %r3, %r1, 1; mov.u32 %r4, 0; setp.eq.u32 %p1, %r3, %r2; @%p1 bra LAST;\n"
    "WAIT: atom.global.or.b32 %r4, [%rd4+4], 0; setp.eq.u32 %p1, %r4, 0;\n"
    "@%p1 bra WAIT;\n"
    "LAST: add.s32 %r5, %r4, 1; atom.global.exch.b32 %r5, [%rd4], %r5; ret; }\n"
    /* each block waits until *p is not 0, then adds 1 to *q */
    ".visible .entry hold(.param .u64 p, .param .u64 q) {\n"
    ".reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\n"
    "WAIT: atom.global.or.b32 %r1, [%rd1], 0; setp.eq.u32 %p1, %r1, 0;\n"
    "@%p1 bra WAIT; red.global.add.u32 [%rd2], 1; ret; }\n";

static int rounds = 20;
static CUcontext shared_context;
static CUmodule shared_module;
static pthread_barrier_t start;

/* What one thread found wrong: a call and its code, or NULL. */
typedef struct {
    int number;
    const char *failed;
    int code;
} worker;

#define CHECK(call)                  \
    do {                             \
        CUresult code_ = (call);     \
        if (code_ != CUDA_SUCCESS) { \
            w->failed = #call;       \
            w->code = (int)code_;    \
            return -1;               \
        }                            \
    } while (0)

static int
copies(worker *w, unsigned int n)
{
    static _Thread_local unsigned char there[LARGEST], back[LARGEST];
    CUstream stream;
    CUevent event;
    CUdeviceptr a, b;
    void *pinned;

    memset(there, w->number + 1, n);
    memset(back, 0, n);
    CHECK(drv.StreamCreate(&stream, n % 2));
    CHECK(drv.EventCreate(&event, 0));
    CHECK(drv.MemAlloc(&a, n));
    CHECK(drv.MemAlloc(&b, n));
    CHECK(drv.MemHostAlloc(&pinned, n, 0));
    CHECK(drv.MemcpyHtoDAsync(a, there, n, stream));
    CHECK(drv.MemcpyDtoDAsync(b, a, n, stream));
    CHECK(drv.EventRecord(event, stream));
    CHECK(drv.EventSynchronize(event));
    CHECK(drv.MemcpyDtoH(pinned, b, n));
    CHECK(drv.MemcpyDtoH(back, b, n));
    if (memcmp(there, back, n) != 0 || memcmp(there, pinned, n) != 0) {
        w->failed = "values";
        return -1;
    }
    CHECK(drv.MemFreeHost(pinned));
    CHECK(drv.MemFree(a));
    CHECK(drv.MemFree(b));
    CHECK(drv.EventDestroy(event));
    CHECK(drv.StreamDestroy(stream));
    return 0;
}

/* Launches a kernel of a module on memory of this thread's own. */
static int
launches(worker *w, CUmodule module)
{
    unsigned int n = 3000, values[3000];
    CUfunction function;
    CUstream stream;
    CUdeviceptr p;
    void *parameters[2] = {&p, &n};

    CHECK(drv.ModuleGetFunction(&function, module, "add"));
    CHECK(drv.StreamCreate(&stream, 1));
    CHECK(drv.MemAlloc(&p, sizeof(values)));
    CHECK(drv.MemsetD32Async(p, (unsigned int)w->number, n, stream));
    for (int i = 0; i < 3; i++) {
        CHECK(drv.LaunchKernel(function, 24, 1, 1, 128, 1, 1, 0, stream, parameters,
                               NULL));
    }
    CHECK(drv.MemcpyDtoHAsync(values, p, sizeof(values), stream));
    CHECK(drv.StreamSynchronize(stream));
    for (unsigned int i = 0; i < n; i++) {
        if (values[i] != (unsigned int)w->number + 3) {
            w->failed = "values after launches";
            return -1;
        }
    }
    CHECK(drv.MemFree(p));
    CHECK(drv.StreamDestroy(stream));
    return 0;
}

/* Runs blocks each of which waits for the next one, more than there are threads. */
static int
waits(worker *w, CUmodule module)
{
    enum { BLOCKS = 48 };
    unsigned int values[BLOCKS];
    CUfunction relay;
    CUdeviceptr p;
    void *parameters[1] = {&p};

    CHECK(drv.ModuleGetFunction(&relay, module, "relay"));
    CHECK(drv.MemAlloc(&p, sizeof(values)));
    CHECK(drv.MemsetD32(p, 0, BLOCKS));
    CHECK(drv.LaunchKernel(relay, BLOCKS, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    CHECK(drv.MemcpyDtoH(values, p, sizeof(values)));
    for (unsigned int i = 0; i < BLOCKS; i++) {
        if (values[i] != BLOCKS - i) {
            w->failed = "values after blocks that wait";
            return -1;
        }
    }
    CHECK(drv.MemFree(p));
    return 0;
}

static void
count_up(void *counter)
{
    ++*(unsigned int *)counter; /* one stream's functions come one after the other */
}

/* A kernel goes on in a thread of the device until the host writes a word; work behind
 * it comes later. */
static int
background(worker *w, CUmodule module)
{
    unsigned int counter = 0, one = 1, value = 0, *word;
    CUfunction add, hold;
    CUstream stream;
    CUevent event;
    CUdeviceptr p, q;
    void *to_hold[2] = {&p, &q}, *to_add[2] = {&q, &one};

    CHECK(drv.ModuleGetFunction(&add, module, "add"));
    CHECK(drv.ModuleGetFunction(&hold, module, "hold"));
    CHECK(drv.StreamCreate(&stream, 0));
    CHECK(drv.EventCreate(&event, 0));
    CHECK(drv.MemHostAlloc((void **)&word, sizeof(*word), 2));
    CHECK(drv.MemHostGetDevicePointer(&p, word, 0));
    CHECK(drv.MemAlloc(&q, sizeof(value)));
    CHECK(drv.MemsetD32(q, 0, 1));
    for (int i = 0; i < 2; i++) {
        __atomic_store_n(word, 0, __ATOMIC_SEQ_CST);
        CHECK(drv.LaunchKernel(hold, 7, 1, 1, 1, 1, 1, 0, stream, to_hold, NULL));
        CHECK(drv.LaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, to_add, NULL));
        CHECK(drv.LaunchHostFunc(stream, count_up, &counter));
        CHECK(drv.EventRecord(event, stream));
        if (drv.EventQuery(event) != CUDA_ERROR_NOT_READY ||
            drv.StreamQuery(stream) != CUDA_ERROR_NOT_READY) {
            w->failed = "a query beside a kernel that waits";
            return -1;
        }
        __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
        CHECK(i == 0 ? drv.EventSynchronize(event) : drv.StreamSynchronize(stream));
    }
    CHECK(drv.MemcpyDtoH(&value, q, sizeof(value)));
    if (value != 16 || counter != 2) {
        w->failed = "values after a kernel that waits";
        return -1;
    }
    CHECK(drv.MemFree(q));
    CHECK(drv.MemFreeHost(word));
    CHECK(drv.EventDestroy(event));
    CHECK(drv.StreamDestroy(stream));
    return 0;
}

/* Two streams pass a value on; kernels of many blocks add to one word. */
static int
streams(worker *w, CUmodule module)
{
    unsigned int counter = 0, one = 1, values[2] = {0, 0};
    CUfunction add, sum;
    CUstream first, second;
    CUevent event;
    CUdeviceptr p;
    void *to_first[2] = {&p, &one}, *to_sum[1] = {&p};

    CHECK(drv.ModuleGetFunction(&add, module, "add"));
    CHECK(drv.ModuleGetFunction(&sum, module, "sum"));
    CHECK(drv.StreamCreate(&first, 1));
    CHECK(drv.StreamCreate(&second, 1));
    CHECK(drv.EventCreate(&event, 0));
    CHECK(drv.MemAlloc(&p, sizeof(values)));
    CHECK(drv.MemsetD32Async(p, 0, 2, first));
    for (int i = 0; i < 3; i++) {
        CHECK(drv.LaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, first, to_first, NULL));
        CHECK(drv.LaunchHostFunc(first, count_up, &counter));
        CHECK(drv.EventRecord(event, first));
        CHECK(drv.StreamWaitEvent(second, event, 0));
        CHECK(drv.LaunchKernel(sum, 16, 1, 1, 128, 1, 1, 0, second, to_sum, NULL));
        CHECK(drv.EventRecord(event, second));
        CHECK(drv.StreamWaitEvent(first, event, 0));
        while (drv.EventQuery(event) == CUDA_ERROR_NOT_READY) {
        }
    }
    CHECK(drv.StreamSynchronize(first));
    CHECK(drv.StreamSynchronize(second));
    CHECK(drv.MemcpyDtoH(values, p, sizeof(values)));
    if (counter != 3 || values[0] != 3 + 3 * 16 * 127 * 64 || values[1] != 0) {
        w->failed = "values after streams";
        return -1;
    }
    CHECK(drv.MemFree(p));
    CHECK(drv.EventDestroy(event));
    CHECK(drv.StreamDestroy(first));
    CHECK(drv.StreamDestroy(second));
    return 0;
}

/* Captures a fill, a kernel and a function of the host, and launches them twice in
 * another stream. An object of the program goes with the graph. */
static int
graphs(worker *w, CUmodule module)
{
    enum { COUNT = 1000 };
    unsigned int n = COUNT, counter = 0, ended = 0, values[COUNT];
    CUfunction add;
    CUstream stream, other;
    CUgraph graph;
    CUgraphExec executable;
    CUuserObject object;
    CUdeviceptr p;
    void *parameters[2] = {&p, &n};

    CHECK(drv.ModuleGetFunction(&add, module, "add"));
    CHECK(drv.StreamCreate(&stream, 1));
    CHECK(drv.StreamCreate(&other, 1));
    CHECK(drv.MemAlloc(&p, sizeof(values)));
    CHECK(drv.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(drv.MemsetD32Async(p, (unsigned int)w->number, n, stream));
    CHECK(drv.LaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, parameters, NULL));
    CHECK(drv.LaunchHostFunc(stream, count_up, &counter));
    CHECK(drv.StreamEndCapture(stream, &graph));
    CHECK(drv.UserObjectCreate(&object, &ended, count_up, 1,
                               CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    CHECK(drv.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CHECK(drv.GraphInstantiateWithFlags(&executable, graph, 0));
    CHECK(drv.GraphLaunch(executable, other));
    CHECK(drv.GraphLaunch(executable, stream));
    CHECK(drv.StreamSynchronize(other));
    CHECK(drv.StreamSynchronize(stream));
    CHECK(drv.MemcpyDtoH(values, p, sizeof(values)));
    CHECK(drv.GraphDestroy(graph));
    CHECK(drv.GraphExecDestroy(executable));
    CHECK(drv.StreamSynchronize(stream));
    if (counter != 2 || values[0] != (unsigned int)w->number + 1 ||
        values[n - 1] != values[0] || ended != 1) {
        w->failed = "values after graphs";
        return -1;
    }
    CHECK(drv.MemFree(p));
    CHECK(drv.StreamDestroy(stream));
    CHECK(drv.StreamDestroy(other));
    return 0;
}

/* Memory of a pool, and memory that is mapped, in the order of a stream. */
static int
mappings(worker *w)
{
    CUmemAllocationProp property = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemPoolProps wish = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                           .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc rights = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                              CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    CUmemoryPool pool;
    CUstream stream;
    CUdeviceptr base, block;
    size_t step = 0;
    unsigned int values[4];

    CHECK(drv.StreamCreate(&stream, 1));
    CHECK(drv.MemPoolCreate(&pool, &wish));
    CHECK(drv.MemAllocFromPoolAsync(&block, 1000, pool, stream));
    CHECK(drv.MemGetAllocationGranularity(&step, &property, 0));
    CHECK(drv.MemAddressReserve(&base, 2 * step, 0, 0, 0));
    CHECK(drv.MemCreate(&memory, step, &property, 0));
    CHECK(drv.MemMap(base + step, step, 0, memory, 0));
    CHECK(drv.MemRelease(memory));
    CHECK(drv.MemSetAccess(base + step, step, &rights, 1));
    CHECK(drv.MemsetD32Async(block, (unsigned int)w->number, 4, stream));
    CHECK(drv.MemcpyDtoDAsync(base + step, block, sizeof(values), stream));
    CHECK(drv.MemFreeAsync(block, stream));
    CHECK(drv.MemcpyDtoHAsync(values, base + step, sizeof(values), stream));
    CHECK(drv.StreamSynchronize(stream));
    if (values[0] != (unsigned int)w->number || values[3] != values[0]) {
        w->failed = "values in mapped memory";
        return -1;
    }
    CHECK(drv.MemUnmap(base + step, step));
    CHECK(drv.MemAddressFree(base, 2 * step));
    CHECK(drv.MemPoolDestroy(pool));
    CHECK(drv.StreamDestroy(stream));
    return 0;
}

static int
run(worker *w)
{
    for (int i = 0; i < rounds; i++) {
        unsigned int n =
            1 + (unsigned int)(w->number * 7919 + i * 104729) % (LARGEST - 1);
        CUcontext own;
        CUmodule module;

        CHECK(drv.CtxCreate(&own, 0, 0));
        CHECK(drv.ModuleLoadData(&module, kernel_text));
        if (copies(w, n) < 0 || launches(w, module) < 0 || streams(w, module) < 0 ||
            graphs(w, module) < 0 || mappings(w) < 0 || background(w, module) < 0 ||
            (i % 4 == 0 && waits(w, module) < 0)) {
            return -1;
        }
        CHECK(drv.ModuleUnload(module));
        CHECK(drv.CtxPushCurrent(shared_context));
        if (copies(w, n) < 0 || launches(w, shared_module) < 0 ||
            streams(w, shared_module) < 0 || mappings(w) < 0) {
            return -1;
        }
        CHECK(drv.CtxPopCurrent(NULL));
        CHECK(drv.CtxDestroy(own));
    }
    return 0;
}

static void *
thread_main(void *argument)
{
    pthread_barrier_wait(&start);
    (void)run(argument); /* what failed is in the worker */
    return NULL;
}

static int
load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CUresult (*find)(const char *, void **, int, uint64_t, int *);
    void *symbol = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;

    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    memcpy(&find, &symbol, sizeof(symbol));
#define LOAD(name, export, version, ...)                               \
    if (find("cu" #name, &symbol, version, 0, NULL) == CUDA_SUCCESS) { \
        memcpy(&drv.name, &symbol, sizeof(symbol));                    \
    }
    PCU_FUNCTIONS(LOAD)
#undef LOAD
    return 0;
}

static int
whole(void)
{
    pthread_t threads[THREADS];
    worker workers[THREADS], first = {0}, *w = &first;
    size_t free_bytes, total;
    int failures = 0;

    CHECK(drv.Init(0));
    CHECK(drv.CtxCreate(&shared_context, 0, 0));
    CHECK(drv.ModuleLoadData(&shared_module, kernel_text));
    CHECK(drv.CtxPopCurrent(NULL));
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.number = i};
        if (pthread_create(&threads[i], NULL, thread_main, &workers[i]) != 0) {
            return -1;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (workers[i].failed) {
            fprintf(stderr, "thread %d: %s: %d\n", i, workers[i].failed,
                    workers[i].code);
            failures++;
        }
    }
    CHECK(drv.CtxPushCurrent(shared_context));
    CHECK(drv.ModuleUnload(shared_module));
    CHECK(drv.MemGetInfo(&free_bytes, &total));
    CHECK(drv.CtxDestroy(shared_context));
    return failures || free_bytes != total ? -1 : 0;
}

int
main(int argc, char **argv)
{
    if (argc < 2 || load(argv[1]) < 0) {
        return 2;
    }
    if (argc > 2) {
        rounds = atoi(argv[2]);
    }
    return whole() == 0 ? 0 : 1;
}
