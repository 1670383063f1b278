/* A target of fuzz_ptx.c: loads a text through the driver's functions and launches its
 * kernels, with small buffers and odd numbers as parameters.
 *
 * A kernel may fail in any way, but no handle may be left when its context is gone. Set
 * PYCUDA_EMULATOR_TIMEOUT: a damaged loop may not end. Linked with the whole software
 * device. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/api/context/leak.h"
#include "device/api/exports/exports.h"
#include "fuzz_target.h"

enum { MOST_KERNELS = 4, PARAMETERS = 64 };

static unsigned long long ended;

void
fuzz_open(void)
{
    (void)setenv("PYCUDA_EMULATOR_MEMORY", "256M", 0);
    (void)setenv("PYCUDA_EMULATOR_CAPABILITY", "9.0", 0);
    if (cuInit(0) != CUDA_SUCCESS) {
        fuzz_fail("there is no device");
    }
}

/* Runs a kernel until it ends or fails. */
static CUresult
launch(CUfunction function, CUdeviceptr buffer)
{
    static const uint64_t odd[] = {0, 1, 7, 33, 100, UINT64_MAX};
    uint64_t values[PARAMETERS][8] = {{0}};
    void *parameters[PARAMETERS];
    CUresult status;

    for (size_t i = 0; i < PARAMETERS; i++) {
        values[i][0] = fuzz_below(3) ? (uint64_t)buffer : odd[fuzz_below(6)];
        parameters[i] = values[i];
    }
    status = cuLaunchKernel(function, 2, 1, 1, 1 + (unsigned)fuzz_below(96), 1, 1,
                            (unsigned)fuzz_below(3) * 512, NULL, parameters, NULL);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return cuCtxSynchronize();
}

static void
launch_all(CUmodule module)
{
    CUfunction functions[MOST_KERNELS] = {NULL};
    CUdeviceptr buffer;
    unsigned count = 0;

    if (cuMemAlloc_v2(&buffer, 1024) != CUDA_SUCCESS ||
        cuModuleGetFunctionCount(&count, module) != CUDA_SUCCESS ||
        cuModuleEnumerateFunctions(functions, MOST_KERNELS, module) != CUDA_SUCCESS) {
        fuzz_fail("a module that is loaded cannot be asked");
    }
    for (unsigned i = 0; i < count && i < MOST_KERNELS; i++) {
        ended += launch(functions[i], buffer) == CUDA_SUCCESS;
    }
}

/* Loads an input in a context of its own: a kernel that fails makes it unusable. */
bool
fuzz_one(const uint8_t *data, size_t size)
{
    static char text[MOST_BYTES + 1];
    char log[512] = "";
    CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER,
                               CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[2] = {log, (void *)(uintptr_t)sizeof(log)};
    const long long before = emu_live_count("memory") + emu_live_count("module");
    CUcontext own;
    CUmodule module = NULL;
    CUresult status;

    if (size > MOST_BYTES) {
        return false;
    }
    memcpy(text, data, size);
    text[size] = 0;
    if (cuCtxCreate_v2(&own, 0, 0) != CUDA_SUCCESS) {
        fuzz_fail("there is no context");
    }
    status = cuModuleLoadDataEx(&module, text, 2, options, values);
    if (status == CUDA_ERROR_INVALID_PTX && log[0] == 0) {
        fuzz_fail("a text was refused without a word");
    }
    if (status == CUDA_SUCCESS) {
        launch_all(module);
    }
    if (cuCtxDestroy_v2(own) != CUDA_SUCCESS ||
        emu_live_count("memory") + emu_live_count("module") != before) {
        fuzz_fail("something is left of a context");
    }
    return status == CUDA_SUCCESS;
}

void
fuzz_close(void)
{
    (void)printf("%llu kernels ran to their end\n", ended);
}
