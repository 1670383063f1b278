/* The devices of the process and their contexts: the records that all rooms share.
 *
 * cuInit creates the devices once, from the environment; afterwards only their primary
 * context changes. The API lock (lock.h) guards the fields of a context unless a
 * comment says otherwise. The interpreter reads `device`, `access` and `limits` without
 * the lock: they are constant while a kernel runs (access is atomic). */
#ifndef DEVICE_BASE_DEVICE_H
#define DEVICE_BASE_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/cuda_abi.h"
#include "device/base/object.h"

#define EMU_MAX_DEVICES 64
#define EMU_DEVICE_NAME "PyCUDA software device"
#define EMU_DRIVER_VERSION 13000

enum { EMU_WARP_SIZE = 32 };

/* CUlimit values. */
enum {
    EMU_LIMIT_STACK_SIZE = 0, /* bytes of local memory of a thread, for its frames */
    EMU_LIMIT_PRINTF_FIFO_SIZE = 1, /* bytes of printf text between two flushes */
    EMU_LIMIT_MALLOC_HEAP_SIZE = 2, /* bytes of the heap of malloc() in kernels */
    EMU_LIMIT_SYNC_DEPTH = 3,
    EMU_LIMIT_PENDING_LAUNCH_COUNT = 4,
    EMU_LIMIT_L2_FETCH_GRANULARITY = 5,
    EMU_LIMIT_PERSISTING_L2 = 6,
    EMU_LIMITS
};

/* The limits of kernels and launches; cuDeviceGetAttribute reports the same numbers. */
typedef struct {
    int threads_per_block;
    int block_dim[3];
    int grid_dim[3];
    int shared_per_block;       /* static + dynamic without opting in: 48 KiB */
    int shared_per_block_optin; /* with MAX_DYNAMIC_SHARED_SIZE_BYTES set */
    int shared_per_multiprocessor;
    int registers_per_block;
    int registers_per_multiprocessor;
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    int multiprocessors;
    int constant_memory;
} emu_device_limits;

typedef struct emu_device {
    int ordinal;
    int major, minor; /* compute capability */
    emu_device_limits limits;
    uint64_t memory_bytes;
    uint64_t timeout;           /* of a kernel, in nanoseconds; 0: none */
    CUcontext primary;          /* NULL while inactive */
    unsigned int primary_count; /* retains */
    unsigned int primary_flags;
} emu_device;

typedef struct CUctx_st emu_context;

/* Set once by cuInit. */
extern emu_device emu_devices[EMU_MAX_DEVICES];
extern int emu_device_count;
extern uint64_t emu_seed; /* PYCUDA_EMULATOR_SEED; 0: keep the plain order */

/* The turns that the streams of a context have now (api/entry/turn.h). */
typedef struct {
    unsigned blocking; /* of streams that wait for the null stream */
    bool null;         /* the null stream has one */
    unsigned threads;  /* of the device that run work of its streams */
} emu_turns;

struct CUctx_st {
    emu_object object; /* must be first; `owned` lists the objects of the context */
    emu_device *device;
    uint64_t id;
    unsigned int flags;
    unsigned int api_version;
    bool primary;
    /* bit d: kernels may use memory of device d; the bit of its own device is set */
    _Atomic uint64_t access;
    size_t limits[EMU_LIMITS];
    CUfunc_cache cache_config;
    CUsharedconfig shared_config;
    _Atomic int sticky; /* CUresult of the fault of a kernel, or 0; set by any thread */
    /* The serials of the newest object and allocation when a fault was last undone: the
     * program could not release what is older. */
    uint64_t lost_objects, lost_memory;
    _Atomic int
        cancels; /* while above 0, running kernels of other threads in this context are
                    cancelled, because a signal ended the wait for them */
    void *exec;  /* the services of the machine (services.h); NULL until needed, freed
                  * by emu_services_close */

    struct emu_allocation *allocations; /* guarded by the memory's mutex */
    struct CUstream_st *null_stream;
    struct CUstream_st *thread_streams; /* the default streams of threads */
    emu_turns turns;
};

/* The record of an ordinal, or NULL. */
emu_device *emu_device_get(CUdevice ordinal);

/* Set *out to the record of an ordinal. INVALID_DEVICE if there is no such device. */
CUresult emu_device_find(CUdevice ordinal, emu_device **device);

/* The value of a CUdevice_attribute; false for one that is unknown. */
bool emu_device_attribute(const emu_device *device, unsigned int attribute, int *value);

#endif
