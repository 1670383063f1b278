/* Unit test of driver/staging: copies through pieces by a bus that is late. It moves a
 * part only when somebody asks for the event behind it, so a piece that is filled or
 * emptied too early shows in the bytes. */
#include "driver/staging.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "driver/capture.h"
#include "driver/context_record.h"
#include "driver/setting.h"

enum { TOTAL = 64 << 10, MOST = 8 * TOTAL, QUEUE = 1024, ROUNDS = 40, BLOCKS = 256 };

/* -- what staging.c uses ----------------------------------------------------------- */

struct pcu_drv drv;
struct pcu_drv_info pcu_drv_info = {.state = PCU_DRV_READY};
pcu_capture_record *pcu_captures;
PCU_THREAD bool pcu_in_host_function;
static pcu_context_record record = {.handle = (CUcontext)(uintptr_t)8, .alive = true};

pcu_context_record *
pcu_context_record_working(void)
{
    return &record;
}

int
pcu_setting_read_staging(pcu_staging_setting *setting)
{
    *setting = (pcu_staging_setting){.total = TOTAL, .threads = 5};
    return 1;
}

/* -- the bus ----------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock; /* calls of several threads */
    struct {
        char *to;
        const char *from;
        size_t size;
    } copies[QUEUE];
    size_t submitted, moved;
    size_t events[QUEUE]; /* by number: the copies before it */
    size_t event_count, registered;
    void *blocks[BLOCKS]; /* that are page-locked */
    size_t plain;         /* copies of the driver's own */
    long fails;           /* the copy that fails; 0: none */
} bus = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void
bus_move(size_t until)
{
    for (; bus.moved < until; bus.moved++) {
        memcpy(bus.copies[bus.moved % QUEUE].to, bus.copies[bus.moved % QUEUE].from,
               bus.copies[bus.moved % QUEUE].size);
    }
}

static CUresult
bus_submit(char *to, const char *from, size_t size)
{
    pthread_mutex_lock(&bus.lock);
    CUresult status = CUDA_SUCCESS;
    if (bus.fails != 0 && --bus.fails == 0) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    else {
        if (bus.submitted - bus.moved == QUEUE) {
            bus_move(bus.moved + 1);
        }
        bus.copies[bus.submitted % QUEUE].to = to;
        bus.copies[bus.submitted % QUEUE].from = from;
        bus.copies[bus.submitted++ % QUEUE].size = size;
    }
    pthread_mutex_unlock(&bus.lock);
    return status;
}

static CUresult
up_async(CUdeviceptr device, const void *host, size_t size, CUstream stream)
{
    (void)stream;
    return bus_submit((char *)(uintptr_t)device, host, size);
}

static CUresult
down_async(void *host, CUdeviceptr device, size_t size, CUstream stream)
{
    (void)stream;
    return bus_submit(host, (const char *)(uintptr_t)device, size);
}

static CUresult
plain_up(CUdeviceptr device, const void *host, size_t size)
{
    pthread_mutex_lock(&bus.lock);
    bus_move(bus.submitted);
    bus.plain++;
    memcpy((char *)(uintptr_t)device, host, size);
    pthread_mutex_unlock(&bus.lock);
    return CUDA_SUCCESS;
}

static CUresult
plain_down(void *host, CUdeviceptr device, size_t size)
{
    pthread_mutex_lock(&bus.lock);
    bus_move(bus.submitted);
    bus.plain++;
    memcpy(host, (const char *)(uintptr_t)device, size);
    pthread_mutex_unlock(&bus.lock);
    return CUDA_SUCCESS;
}

static CUresult
event_create(CUevent *event, unsigned int flags)
{
    (void)flags;
    pthread_mutex_lock(&bus.lock);
    *event = (CUevent)(uintptr_t)(++bus.event_count % QUEUE);
    pthread_mutex_unlock(&bus.lock);
    return CUDA_SUCCESS;
}

static CUresult
event_destroy(CUevent event)
{
    (void)event;
    return CUDA_SUCCESS;
}

static CUresult
event_record(CUevent event, CUstream stream)
{
    (void)stream;
    pthread_mutex_lock(&bus.lock);
    bus.events[(uintptr_t)event] = bus.submitted;
    pthread_mutex_unlock(&bus.lock);
    return CUDA_SUCCESS;
}

/* Every third question finds the work done. */
static CUresult
event_query(CUevent event)
{
    static int questions;
    pthread_mutex_lock(&bus.lock);
    size_t until = bus.events[(uintptr_t)event];
    if (++questions % 3 == 0) {
        bus_move(until);
    }
    CUresult status = bus.moved < until ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
    pthread_mutex_unlock(&bus.lock);
    return status;
}

static CUresult
event_synchronize(CUevent event)
{
    pthread_mutex_lock(&bus.lock);
    bus_move(bus.events[(uintptr_t)event]);
    pthread_mutex_unlock(&bus.lock);
    return CUDA_SUCCESS;
}

static CUresult
stream_wait(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

static CUresult
stream_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static CUresult
exchange_mode(CUstreamCaptureMode *mode)
{
    (void)mode;
    return CUDA_SUCCESS;
}

static CUresult
host_register(void *memory, size_t size, unsigned int flags)
{
    (void)size;
    (void)flags;
    pthread_mutex_lock(&bus.lock);
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    if (bus.registered < BLOCKS) {
        bus.blocks[bus.registered++] = memory;
        status = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&bus.lock);
    return status;
}

/* The number of a block, BLOCKS if it is not registered. The lock is held. */
static size_t
bus_find(const void *memory)
{
    for (size_t i = 0; i < bus.registered; i++) {
        if (bus.blocks[i] == memory) {
            return i;
        }
    }
    return BLOCKS;
}

static CUresult
host_unregister(void *memory)
{
    pthread_mutex_lock(&bus.lock);
    size_t number = bus_find(memory);
    if (number < BLOCKS) {
        bus.blocks[number] = bus.blocks[--bus.registered];
    }
    pthread_mutex_unlock(&bus.lock);
    return number < BLOCKS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult
pointer_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    (void)data;
    (void)attribute;
    pthread_mutex_lock(&bus.lock);
    size_t number = bus_find((const void *)(uintptr_t)pointer);
    pthread_mutex_unlock(&bus.lock);
    return number < BLOCKS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult
address_range(CUdeviceptr *base, size_t *size, CUdeviceptr pointer)
{
    *base = pointer;
    *size = MOST;
    return CUDA_SUCCESS;
}

static CUresult
push(CUcontext context)
{
    (void)context;
    return CUDA_SUCCESS;
}

static CUresult
pop(CUcontext *context)
{
    *context = record.handle;
    return CUDA_SUCCESS;
}

static int
host(int question)
{
    (void)question;
    return 0;
}

static void
begin(void)
{
    drv.MemcpyHtoD = plain_up;
    drv.MemcpyDtoH = plain_down;
    drv.MemcpyHtoDAsync = up_async;
    drv.MemcpyDtoHAsync = down_async;
    drv.EventCreate = event_create;
    drv.EventDestroy = event_destroy;
    drv.EventRecord = event_record;
    drv.EventQuery = event_query;
    drv.EventSynchronize = event_synchronize;
    drv.StreamQuery = stream_wait;
    drv.StreamSynchronize = stream_wait;
    drv.StreamIsCapturing = stream_capturing;
    drv.ThreadExchangeStreamCaptureMode = exchange_mode;
    drv.MemHostRegister = host_register;
    drv.MemHostUnregister = host_unregister;
    drv.PointerGetAttribute = pointer_attribute;
    drv.MemGetAddressRange = address_range;
    drv.CtxPushCurrent = push;
    drv.CtxPopCurrent = pop;
    pcu_staging_begin(host);
}

/* -- the copies -------------------------------------------------------------------- */

static _Alignas(4096) unsigned char device[MOST + 64], source[MOST + 64],
    target[MOST + 64];

static CUdeviceptr
address(void *memory)
{
    return (CUdeviceptr)(uintptr_t)memory;
}

static void
fill(void)
{
    for (size_t i = 0; i < sizeof(source); i++) {
        source[i] = (unsigned char)rand();
    }
}

static void
test_sizes(void)
{
    static const size_t sizes[] = {4096, 16384, 20480, TOTAL, 3 * TOTAL, MOST - 1};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (size_t offset = 0; offset < 64; offset += 21) {
            size_t size = sizes[i] + offset % 2;
            fill();
            memset(target, 0, sizeof(target));
            CHECK_EQ(drv.MemcpyHtoD(address(device), source + offset, size), 0);
            CHECK_EQ(memcmp(device, source + offset, size), 0);
            CHECK_EQ(drv.MemcpyDtoH(target + offset, address(device), size), 0);
            CHECK_EQ(memcmp(target + offset, device, size), 0);
            CHECK_EQ(target[offset + size], 0);
        }
    }
}

static void
test_view(void)
{
    pcu_staging_view view = {.data = (const char *)source,
                             .itemsize = 4,
                             .ndim = 3,
                             .shape = {16, 4, 256},
                             .strides = {16384, 2100, 8}};
    fill();
    CHECK_EQ(pcu_staging_pack(address(device), &view, TOTAL, NULL), 0);
    int wrong = 0;
    for (size_t i = 0; i < (size_t)16 * 1024; i++) {
        size_t from = i / 1024 * 16384 + i / 256 % 4 * 2100 + i % 256 * 8;
        wrong += memcmp(device + 4 * i, source + from, 4) != 0;
    }
    CHECK_EQ(wrong, 0);
    view.itemsize = 12;
    CHECK_EQ(pcu_staging_pack(address(device), &view, TOTAL, NULL),
             CUDA_ERROR_NOT_FOUND);
}

static void
test_failures(void)
{
    fill();
    for (long number = 1; number < 140; number += 16) {
        bus.fails = number;
        CUresult status = drv.MemcpyHtoD(address(device), source, MOST);
        CHECK_EQ(status, number <= MOST / 4096 ? CUDA_ERROR_INVALID_VALUE : 0);
        bus.fails = 0;
        CHECK_EQ(drv.MemcpyHtoD(address(device), source, MOST), 0);
        CHECK_EQ(memcmp(device, source, MOST), 0);
    }
}

static void *
copy_often(void *argument)
{
    static unsigned char places[3][2][TOTAL];
    unsigned char(*place)[TOTAL] = places[*(int *)argument];
    int wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        memset(place[0], i + *(int *)argument, TOTAL);
        wrong += drv.MemcpyHtoD(address(place[1]), place[0], TOTAL) != CUDA_SUCCESS;
        wrong += memcmp(place[0], place[1], TOTAL) != 0;
        if (i % 8 == *(int *)argument) {
            (void)pcu_staging_release(record.handle);
        }
    }
    *(int *)argument = wrong;
    return NULL;
}

static void
test_threads(void)
{
    int numbers[3] = {0, 1, 2};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, copy_often, &numbers[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK_EQ(numbers[i], 0);
    }
}

static void
test_release(void)
{
    CHECK_EQ(drv.MemcpyHtoD(address(device), source, MOST), 0);
    CHECK_EQ(pcu_staging_release(record.handle), TOTAL);
    CHECK_EQ(bus.registered, 0);
    CHECK_EQ(pcu_staging_release(record.handle), 0);
    size_t plain = bus.plain;
    CHECK_EQ(drv.MemcpyHtoD(address(device), source, TOTAL / 2), 0);
    CHECK_EQ(bus.plain, plain + 1);
    CHECK_EQ(drv.MemcpyHtoD(address(device), source, TOTAL), 0);
    CHECK_EQ(bus.plain, plain + 1);
    (void)pcu_staging_release(record.handle);
    CHECK_EQ(bus.registered, 0);
}

int
main(void)
{
    begin();
    CHECK_EQ(drv.MemcpyHtoD(address(device), source, MOST), 0);
    CHECK_EQ(bus.plain, 0);
    test_sizes();
    test_view();
    test_failures();
    test_threads();
    test_release();
    return check_report();
}
