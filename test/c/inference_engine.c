/* A library that works on the program's memory and streams, as an inference runtime
 * does: it finds the driver by itself, keeps a workspace of its own, and enqueues its
 * work in the stream that it is given. In a thread without a current context it makes
 * the primary one current, as the CUDA runtime does.
 *
 * An engine of `size` bytes and `tag` turns the input into an output of 2 * size bytes:
 * the input, then `size` bytes of the tag. All functions return a CUresult. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int (*proc_address)(const char *, void **, int, uint64_t, int *);

static struct {
    int (*mem_alloc)(uint64_t *, size_t);
    int (*mem_free)(uint64_t);
    int (*copy)(uint64_t, uint64_t, size_t, void *);
    int (*set)(uint64_t, unsigned char, size_t, void *);
    int (*synchronize)(void *);
    int (*get_current)(void **);
    int (*set_current)(void *);
    int (*retain)(void **, int);
    int (*release)(int);
} driver;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *primary; /* retained once, at the first need */

typedef struct {
    size_t size;     /* of the input of the next work */
    size_t capacity; /* of the workspace */
    unsigned char tag;
    uint64_t workspace;
    uint64_t input, output; /* of engine_set_address */
} engine;

static int
find(proc_address get, const char *name, int version, void *function)
{
    void *found = NULL;
    int status = get(name, &found, version, 0, NULL);
    memcpy(function, &found, sizeof(found));
    return status;
}

int
engine_open(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    void *symbol = library == NULL ? NULL : dlsym(library, "cuGetProcAddress_v2");
    proc_address get;
    if (symbol == NULL) {
        return -1;
    }
    memcpy(&get, &symbol, sizeof(get));
    return find(get, "cuMemAlloc", 3020, &driver.mem_alloc) |
           find(get, "cuMemFree", 3020, &driver.mem_free) |
           find(get, "cuMemcpyDtoDAsync", 3020, &driver.copy) |
           find(get, "cuMemsetD8Async", 3020, &driver.set) |
           find(get, "cuStreamSynchronize", 2000, &driver.synchronize) |
           find(get, "cuCtxGetCurrent", 4000, &driver.get_current) |
           find(get, "cuCtxSetCurrent", 4000, &driver.set_current) |
           find(get, "cuDevicePrimaryCtxRetain", 7000, &driver.retain) |
           find(get, "cuDevicePrimaryCtxRelease", 11000, &driver.release);
}

int
engine_close(void)
{
    int status = primary == NULL ? 0 : driver.release(0);
    primary = NULL;
    return status;
}

static int
need_context(void)
{
    void *current = NULL;
    int status = driver.get_current(&current);
    if (status != 0 || current != NULL) {
        return status;
    }
    pthread_mutex_lock(&lock);
    if (primary == NULL) {
        status = driver.retain(&primary, 0);
    }
    pthread_mutex_unlock(&lock);
    return status == 0 ? driver.set_current(primary) : status;
}

/* An engine in the driver's current context. */
int
engine_create(engine **out, size_t size, unsigned char tag)
{
    engine *self = calloc(1, sizeof(*self));
    int status = self == NULL ? -1 : need_context();
    if (status == 0) {
        status = driver.mem_alloc(&self->workspace, 2 * size);
    }
    if (status != 0) {
        free(self);
        return status;
    }
    self->size = self->capacity = size;
    self->tag = tag;
    *out = self;
    return 0;
}

int
engine_destroy(engine *self)
{
    int status = driver.mem_free(self->workspace);
    free(self);
    return status;
}

/* The size of the next input: at most what the engine was made for. */
int
engine_set_size(engine *self, size_t size)
{
    if (size == 0 || size > self->capacity) {
        return -1;
    }
    self->size = size;
    return 0;
}

/* bindings: the addresses of input and output. Returns before the work is done. */
int
engine_enqueue(engine *self, const uint64_t *bindings, void *stream)
{
    int status = need_context();
    if (status == 0) {
        status = driver.copy(self->workspace, bindings[0], self->size, stream);
    }
    if (status == 0) {
        status =
            driver.set(self->workspace + self->size, self->tag, self->size, stream);
    }
    return status == 0
               ? driver.copy(bindings[1], self->workspace, 2 * self->size, stream)
               : status;
}

/* Returns when the work is done. */
int
engine_execute(engine *self, const uint64_t *bindings)
{
    int status = engine_enqueue(self, bindings, NULL);
    return status == 0 ? driver.synchronize(NULL) : status;
}

/* The newer interface: addresses by name, then the work. */
int
engine_set_address(engine *self, const char *name, uint64_t address)
{
    if (strcmp(name, "input") == 0) {
        self->input = address;
        return 0;
    }
    if (strcmp(name, "output") == 0) {
        self->output = address;
        return 0;
    }
    return -1;
}

int
engine_enqueue_named(engine *self, void *stream)
{
    const uint64_t bindings[2] = {self->input, self->output};
    return engine_enqueue(self, bindings, stream);
}

typedef struct {
    void (*visit)(void);
    void **current;
} thread_arguments;

/* The body of a thread: call `visit`, then see what is current in the driver. */
void *
engine_thread(void *arguments)
{
    const thread_arguments *given = arguments;
    given->visit();
    driver.get_current(given->current);
    return NULL;
}
