/* A driver for tests of waits: the software device without its own interface, so that
 * the package takes it for a real driver. While `fake_busy` is not 0, the calls that
 * wait for the device wait, whatever signals come, and questions say that the device
 * works. FAKE_EMULATOR is the path of the software device. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, NOT_READY = 600 };

volatile int fake_busy;      /* the device works; negative: for so many questions */
volatile int fake_questions; /* calls of Query */
volatile int fake_waits;     /* calls that have waited for the device */

static int
fake_is_busy(void)
{
    return __atomic_load_n(&fake_busy, __ATOMIC_SEQ_CST) != 0;
}

void fake_wait(void);

void
fake_wait(void)
{
    while (fake_is_busy()) {
        __atomic_add_fetch(&fake_waits, 1, __ATOMIC_SEQ_CST);
        usleep(1000);
    }
}

static int
fake_question(void)
{
    __atomic_add_fetch(&fake_questions, 1, __ATOMIC_SEQ_CST);
    if (fake_busy < 0) {
        fake_busy++;
        return NOT_READY;
    }
    return fake_is_busy() ? NOT_READY : SUCCESS;
}

/* X(name, parameters, arguments) of the calls that wait. */
#define WAITS(X)                                                                \
    X(cuCtxSynchronize, (void), ())                                             \
    X(cuStreamSynchronize, (void *a), (a))                                      \
    X(cuEventSynchronize, (void *a), (a))                                       \
    X(cuMemFree, (unsigned long long a), (a))                                   \
    X(cuMemFreeHost, (void *a), (a))                                            \
    X(cuMemHostUnregister, (void *a), (a))                                      \
    X(cuArrayDestroy, (void *a), (a))                                           \
    X(cuModuleLoadDataEx, (void *a, void *b, unsigned c, void *d, void *e),     \
      (a, b, c, d, e))                                                          \
    X(cuModuleUnload, (void *a), (a))                                           \
    X(cuCtxDestroy, (void *a), (a))                                             \
    X(cuDevicePrimaryCtxRelease, (int a), (a))                                  \
    X(cuDevicePrimaryCtxReset, (int a), (a))                                    \
    X(cuMemcpyHtoD, (unsigned long long a, const void *b, size_t c), (a, b, c)) \
    X(cuMemcpyDtoH, (void *a, unsigned long long b, size_t c), (a, b, c))       \
    X(cuMemcpy2D, (const void *a), (a))                                         \
    X(cuMemcpy3D, (const void *a), (a))
#define QUESTIONS(X)                 \
    X(cuStreamQuery, (void *a), (a)) \
    X(cuEventQuery, (void *a), (a))

#define WAIT(name, parameters, arguments) \
    static int(*real_##name) parameters;  \
    static int fake_##name parameters     \
    {                                     \
        fake_wait();                      \
        return real_##name arguments;     \
    }
WAITS(WAIT)
#define QUESTION(name, parameters, arguments)                      \
    static int(*real_##name) parameters;                           \
    static int fake_##name parameters                              \
    {                                                              \
        int answer = fake_question();                              \
        return answer == SUCCESS ? real_##name arguments : answer; \
    }
QUESTIONS(QUESTION)

/* Only a copy to pageable memory waits. */
static int (*real_cuMemcpyDtoHAsync)(void *, unsigned long long, size_t, void *);
static int (*real_cuPointerGetAttribute)(void *, int, unsigned long long);

static int
fake_cuMemcpyDtoHAsync(void *host, unsigned long long device, size_t size, void *stream)
{
    enum { MEMORY_TYPE = 2 };
    unsigned int type;
    if (real_cuPointerGetAttribute(&type, MEMORY_TYPE, (uintptr_t)host) != SUCCESS) {
        fake_wait();
    }
    return real_cuMemcpyDtoHAsync(host, device, size, stream);
}

static int
fake_cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer)
{
    return real_cuPointerGetAttribute(value, attribute, pointer);
}

int cuGetProcAddress_v2(const char *, void **, int, unsigned long long, int *);

int
cuGetProcAddress_v2(const char *name, void **function, int version,
                    unsigned long long flags, int *found)
{
    static int (*real)(const char *, void **, int, unsigned long long, int *);
    if (real == NULL) {
        void *library = dlopen(getenv("FAKE_EMULATOR"), RTLD_NOW | RTLD_LOCAL);
        void *symbol = dlsym(library, "cuGetProcAddress_v2");
        memcpy(&real, &symbol, sizeof(real));
    }
    int status = real(name, function, version, flags, found);
    void *fake = NULL;
#define REPLACE(name_, parameters, arguments)                               \
    if (strcmp(name, #name_) == 0 && *function != NULL) {                   \
        memcpy(&real_##name_, function, sizeof(void *));                    \
        memcpy(&fake, &(int(*[1]) parameters){fake_##name_}, sizeof(fake)); \
    }
    WAITS(REPLACE)
    QUESTIONS(REPLACE)
    REPLACE(cuMemcpyDtoHAsync, (void *, unsigned long long, size_t, void *), )
    REPLACE(cuPointerGetAttribute, (void *, int, unsigned long long), )
    if (fake != NULL) {
        *function = fake;
    }
    return status;
}
