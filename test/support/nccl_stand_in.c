/* An NCCL for tests on the software device, whose memory the processor can read.
 *
 * Processes and threads exchange their arrays as files in the folder
 * NCCL_STAND_IN_FOLDER. The library of the software device, NCCL_STAND_IN_DRIVER, is
 * asked to finish a stream before its arrays are read, so every exchange has ended when
 * its function returns. In a captured stream, a host function makes the exchange at
 * each launch of the graph. NCCL_STAND_IN_FAILS names a function that returns
 * ncclInvalidUsage, NCCL_STAND_IN_ASYNC a status that ncclCommGetAsyncError reports. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    char bytes[128];
} identifier;

typedef struct {
    char name[64];
    int size, rank;
    void *context;   /* current when the communicator was made */
    int collectives; /* so far */
    int sent[64], received[64];
} communicator;

enum { SUCCESS, CUDA_ERROR, SYSTEM_ERROR, INTERNAL, INVALID_ARGUMENT, INVALID_USAGE };
enum { ALL_REDUCE, REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, SEND, RECV };

typedef struct {
    communicator *comm;
    int kind, type, op, peer, number;
    const char *send;
    char *recv;
    size_t count;
    void *stream;
} exchange;

static const size_t widths[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
static atomic_int alive, ids;
static _Thread_local int depth;
static _Thread_local exchange queue[256];
static _Thread_local int queued;

#define EXPORT __attribute__((visibility("default")))

EXPORT int
nccl_stand_in_alive(void)
{
    return alive;
}

static int
fails(const char *function)
{
    const char *name = getenv("NCCL_STAND_IN_FAILS");
    return name != NULL && strcmp(name, function) == 0;
}

/* -- files ------------------------------------------------------------------------- */

static void
path_of(char *path, const communicator *comm, const char *what, int a, int b, int c)
{
    sprintf(path, "%s/%s.%s.%d.%d.%d", getenv("NCCL_STAND_IN_FOLDER"), comm->name, what,
            a, b, c);
}

static int
put(const char *path, const void *data, size_t size)
{
    char temporary[1100];
    sprintf(temporary, "%s.part", path);
    FILE *file = fopen(temporary, "wb");
    if (file == NULL) {
        return SYSTEM_ERROR;
    }
    size_t written = fwrite(data, 1, size, file);
    if (fclose(file) != 0 || written != size || rename(temporary, path) != 0) {
        return SYSTEM_ERROR;
    }
    return SUCCESS;
}

/* Wait a minute for a file of that size. */
static int
get(const char *path, void *data, size_t size)
{
    for (int i = 0; i < 60000; i++) {
        FILE *file = fopen(path, "rb");
        if (file != NULL) {
            char more;
            size_t found = fread(data, 1, size, file);
            found += fread(&more, 1, 1, file);
            fclose(file);
            return found == size ? SUCCESS : INVALID_USAGE;
        }
        usleep(1000);
    }
    return SYSTEM_ERROR;
}

/* A function of the driver, NULL if it cannot be found. */
static void *
driver_function(const char *name)
{
    void *function = NULL;
    int (*find)(const char *, void **, int, uint64_t) = NULL;
    void *library = dlopen(getenv("NCCL_STAND_IN_DRIVER"), RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) {
        *(void **)&find = dlsym(library, "cuGetProcAddress");
    }
    if (find == NULL || find(name, &function, 12000, 0) != 0) {
        return NULL;
    }
    return function;
}

/* Finish a stream of the communicator's context. */
static int
finish_stream(const communicator *comm, void *stream)
{
    void *popped;
    int (*push)(void *), (*synchronize)(void *), (*pop)(void **);
    *(void **)&push = driver_function("cuCtxPushCurrent");
    *(void **)&pop = driver_function("cuCtxPopCurrent");
    *(void **)&synchronize = driver_function("cuStreamSynchronize");
    if (push == NULL || pop == NULL || synchronize == NULL ||
        push(comm->context) != 0) {
        return CUDA_ERROR;
    }
    int status = synchronize(stream);
    (void)pop(&popped);
    return status == 0 ? SUCCESS : CUDA_ERROR;
}

/* -- reductions -------------------------------------------------------------------- */

static float
from_bfloat16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, 4);
    return value;
}

static uint16_t
to_bfloat16(float value)
{
    uint32_t wide;
    memcpy(&wide, &value, 4);
    return (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}

#define COMBINE(a, b)                             \
    (op == 0 || op == 4 ? (a) + (b)               \
     : op == 1          ? (a) * (b)               \
     : op == 2          ? ((a) > (b) ? (a) : (b)) \
                        : ((a) < (b) ? (a) : (b)))
#define LOOP(T)                                         \
    for (size_t i = 0; i < count; i++) {                \
        T *a = (T *)into + i, b = ((const T *)more)[i]; \
        *a = (T)COMBINE(*a, b);                         \
        if (last && op == 4) {                          \
            *a = (T)(*a / (T)size);                     \
        }                                               \
    }                                                   \
    break;

/* Combine one more operand; after the last one divide for the average. */
static void
combine(char *into, const char *more, size_t count, int type, int op, int last,
        int size)
{
    switch (type) {
        case 0:
            LOOP(int8_t)
        case 1:
            LOOP(uint8_t)
        case 2:
            LOOP(int32_t)
        case 3:
            LOOP(uint32_t)
        case 4:
            LOOP(int64_t)
        case 5:
            LOOP(uint64_t)
        case 6:
            LOOP(_Float16)
        case 7:
            LOOP(float)
        case 8:
            LOOP(double)
        default:
            for (size_t i = 0; i < count; i++) {
                float a = from_bfloat16(((uint16_t *)into)[i]);
                float b = from_bfloat16(((const uint16_t *)more)[i]);
                float value = COMBINE(a, b);
                ((uint16_t *)into)[i] =
                    to_bfloat16(last && op == 4 ? value / size : value);
            }
    }
}

/* -- exchanges --------------------------------------------------------------------- */

static size_t
bytes_of(const exchange *e)
{
    size_t bytes = e->count * widths[e->type];
    return e->kind == REDUCE_SCATTER ? bytes * (size_t)e->comm->size : bytes;
}

static int
publish(exchange *e)
{
    char path[1024];
    communicator *comm = e->comm;
    if (e->kind == RECV) {
        e->number = comm->received[e->peer]++;
        return SUCCESS;
    }
    if (e->kind == SEND) {
        path_of(path, comm, "message", comm->rank, e->peer, comm->sent[e->peer]++);
    }
    else {
        e->number = comm->collectives++;
        path_of(path, comm, "part", e->kind, e->number, comm->rank);
    }
    return put(path, e->send, bytes_of(e));
}

static int
read_part(const exchange *e, int rank, char *data)
{
    char path[1024];
    path_of(path, e->comm, "part", e->kind, e->number, rank);
    return get(path, data, bytes_of(e));
}

static int
reduce(const exchange *e)
{
    size_t bytes = bytes_of(e), count = bytes / widths[e->type];
    char *sum = malloc(bytes + 1), *part = malloc(bytes + 1);
    int status = read_part(e, 0, sum);
    for (int rank = 1; rank < e->comm->size && status == SUCCESS; rank++) {
        status = read_part(e, rank, part);
        combine(sum, part, count, e->type, e->op, rank == e->comm->size - 1,
                e->comm->size);
    }
    if (status == SUCCESS && e->recv != NULL) {
        size_t own = e->count * widths[e->type];
        size_t offset = e->kind == REDUCE_SCATTER ? own * (size_t)e->comm->rank : 0;
        memcpy(e->recv, sum + offset, own);
    }
    free(sum);
    free(part);
    return status;
}

static int
collect(const exchange *e)
{
    char path[1024];
    int status = SUCCESS;
    size_t bytes = bytes_of(e);
    switch (e->kind) {
        case SEND:
            return SUCCESS;
        case RECV:
            path_of(path, e->comm, "message", e->peer, e->comm->rank, e->number);
            return get(path, e->recv, bytes);
        case BROADCAST:
            return read_part(e, e->peer, e->recv);
        case ALL_GATHER:
            for (int rank = 0; rank < e->comm->size && status == SUCCESS; rank++) {
                status = read_part(e, rank, e->recv + bytes * (size_t)rank);
            }
            return status;
        default:
            return reduce(e);
    }
}

/* -- captures ---------------------------------------------------------------------- */

/* The exchanges of a captured group. The graph that calls it never ends here. */
typedef struct {
    int count;
    exchange items[];
} captured;

static void
run_captured(void *data)
{
    captured *c = data;
    for (int i = 0; i < c->count; i++) {
        (void)publish(&c->items[i]);
    }
    for (int i = 0; i < c->count; i++) {
        (void)collect(&c->items[i]);
    }
}

static int
is_captured(void *stream)
{
    int state = 0;
    int (*ask)(void *, int *);
    *(void **)&ask = driver_function("cuStreamIsCapturing");
    return ask != NULL && ask(stream, &state) == 0 && state != 0;
}

/* Let the graph of a stream make the exchanges of the list in this stream. */
static int
capture(const exchange *list, int count, void *stream)
{
    int (*launch)(void *, void (*)(void *), void *);
    captured *c = malloc(sizeof(*c) + (size_t)count * sizeof(*list));
    *(void **)&launch = driver_function("cuLaunchHostFunc");
    c->count = 0;
    for (int i = 0; i < count; i++) {
        if (list[i].stream == stream) {
            c->items[c->count++] = list[i];
        }
    }
    return launch(stream, run_captured, c) == 0 ? SUCCESS : CUDA_ERROR;
}

/* Make the exchanges of a list, or let the graphs of captured streams make them. */
static int
run_all(exchange *list, int count)
{
    int status = SUCCESS;
    for (int i = 0; i < count && status == SUCCESS; i++) {
        int first = 0;
        while (list[first].stream != list[i].stream) {
            first++;
        }
        if (!is_captured(list[i].stream)) {
            status = finish_stream(list[i].comm, list[i].stream);
            status = status == SUCCESS ? publish(&list[i]) : status;
        }
        else if (first == i) { /* the first one in its stream */
            status = capture(list, count, list[i].stream);
        }
    }
    for (int i = 0; i < count && status == SUCCESS; i++) {
        if (!is_captured(list[i].stream)) {
            status = collect(&list[i]);
        }
    }
    return status;
}

static int
run(const char *function, exchange e)
{
    if (fails(function)) {
        return INVALID_USAGE;
    }
    if (depth > 0) {
        queue[queued++] = e;
        return SUCCESS;
    }
    return run_all(&e, 1);
}

/* -- the functions of NCCL --------------------------------------------------------- */

EXPORT int
ncclGetVersion(int *version)
{
    *version = 22709;
    return fails("ncclGetVersion") ? INVALID_USAGE : SUCCESS;
}

EXPORT const char *
ncclGetLastError(communicator *comm)
{
    (void)comm;
    return "the stand-in was told to fail";
}

EXPORT int
ncclGetUniqueId(identifier *id)
{
    memset(id, 0, sizeof(*id));
    sprintf(id->bytes, "%d-%d", (int)getpid(), ids++);
    return fails("ncclGetUniqueId") ? INVALID_USAGE : SUCCESS;
}

EXPORT int
ncclCommInitRank(communicator **made, int size, identifier id, int rank)
{
    char path[1024], nothing;
    if (fails("ncclCommInitRank")) {
        return INVALID_USAGE;
    }
    communicator *comm = calloc(1, sizeof(*comm));
    strncpy(comm->name, id.bytes, sizeof(comm->name) - 1);
    comm->size = size;
    comm->rank = rank;
    int (*current)(void **);
    *(void **)&current = driver_function("cuCtxGetCurrent");
    if (current == NULL || current(&comm->context) != 0) {
        return CUDA_ERROR;
    }
    path_of(path, comm, "joined", rank, 0, 0);
    int status = put(path, "", 0);
    for (int other = 0; other < size && status == SUCCESS; other++) {
        path_of(path, comm, "joined", other, 0, 0);
        status = get(path, &nothing, 0);
    }
    *made = comm;
    alive++;
    return status;
}

static int
end(communicator *comm, const char *function)
{
    alive--;
    free(comm);
    return fails(function) ? INVALID_USAGE : SUCCESS;
}

EXPORT int
ncclCommDestroy(communicator *comm)
{
    return end(comm, "ncclCommDestroy");
}

EXPORT int
ncclCommAbort(communicator *comm)
{
    return end(comm, "ncclCommAbort");
}

EXPORT int
ncclCommGetAsyncError(communicator *comm, int *status)
{
    const char *told = getenv("NCCL_STAND_IN_ASYNC");
    (void)comm;
    *status = told == NULL ? SUCCESS : atoi(told);
    return SUCCESS;
}

EXPORT int
ncclAllReduce(const void *send, void *recv, size_t count, int type, int op,
              communicator *comm, void *stream)
{
    return run(__func__,
               (exchange){comm, ALL_REDUCE, type, op, 0, 0, send, recv, count, stream});
}

EXPORT int
ncclReduce(const void *send, void *recv, size_t count, int type, int op, int root,
           communicator *comm, void *stream)
{
    return run(__func__, (exchange){comm, REDUCE, type, op, root, 0, send,
                                    comm->rank == root ? recv : NULL, count, stream});
}

EXPORT int
ncclBroadcast(const void *send, void *recv, size_t count, int type, int root,
              communicator *comm, void *stream)
{
    return run(__func__, (exchange){comm, BROADCAST, type, 0, root, 0, send, recv,
                                    count, stream});
}

EXPORT int
ncclAllGather(const void *send, void *recv, size_t count, int type, communicator *comm,
              void *stream)
{
    return run(__func__,
               (exchange){comm, ALL_GATHER, type, 0, 0, 0, send, recv, count, stream});
}

EXPORT int
ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op,
                  communicator *comm, void *stream)
{
    return run(__func__, (exchange){comm, REDUCE_SCATTER, type, op, 0, 0, send, recv,
                                    count, stream});
}

EXPORT int
ncclSend(const void *send, size_t count, int type, int peer, communicator *comm,
         void *stream)
{
    return run(__func__,
               (exchange){comm, SEND, type, 0, peer, 0, send, NULL, count, stream});
}

EXPORT int
ncclRecv(void *recv, size_t count, int type, int peer, communicator *comm, void *stream)
{
    return run(__func__,
               (exchange){comm, RECV, type, 0, peer, 0, NULL, recv, count, stream});
}

EXPORT int
ncclGroupStart(void)
{
    if (fails("ncclGroupStart")) {
        return INVALID_USAGE;
    }
    depth++;
    return SUCCESS;
}

/* NCCL leaves device 0 current, as the runtime API does: its primary context, if none
 * was current. */
static void
leave_a_device_current(void)
{
    void *current = NULL, *primary = NULL;
    int (*get)(void **), (*set)(void *), (*retain)(void **, int), (*release)(int);
    *(void **)&get = driver_function("cuCtxGetCurrent");
    *(void **)&set = driver_function("cuCtxSetCurrent");
    *(void **)&retain = driver_function("cuDevicePrimaryCtxRetain");
    *(void **)&release = driver_function("cuDevicePrimaryCtxRelease");
    if (get == NULL || set == NULL || retain == NULL || release == NULL ||
        get(&current) != 0 || current != NULL || retain(&primary, 0) != 0) {
        return;
    }
    (void)set(primary);
    (void)release(0);
}

EXPORT int
ncclGroupEnd(void)
{
    int status;
    if (--depth > 0) {
        return SUCCESS;
    }
    status = run_all(queue, queued);
    queued = 0;
    leave_a_device_current();
    return fails("ncclGroupEnd") ? INVALID_USAGE : status;
}
