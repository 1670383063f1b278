/* Libraries that are opened at run time: see vendor_libraries.h. */

#include "driver/vendor_libraries.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* A function: its exported name, and the place of its pointer in the table. A missing
 * function that is not required is NULL. */
typedef struct {
    const char *symbol;
    bool required;
    size_t offset;
} library_entry;

/* dlsym relies on pointers to functions and to objects being alike. memcpy avoids a
 * cast that C does not define. */
static int
library_fill(void *library, const library_entry *entries, int count, void *table,
             char *detail, size_t size)
{
    for (int i = 0; i < count; i++) {
        void *function = dlsym(library, entries[i].symbol);
        if (function == NULL && entries[i].required) {
            (void)snprintf(detail, size, "the library has no %s", entries[i].symbol);
            return -1;
        }
        memcpy((char *)table + entries[i].offset, &function, sizeof(function));
    }
    return 0;
}

/* Open a library and fill its table. Return 0, or -1 with the reason in `detail`: then
 * the contents of the table are undefined. */
static int
library_load(const char *path, const library_entry *entries, int count, void *table,
             char *detail, size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        if (reason == NULL) {
            reason = path;
        }
        (void)snprintf(detail, size, "%s", reason);
        return -1;
    }
    if (library_fill(library, entries, count, table, detail, size) < 0) {
        (void)dlclose(library); /* no call into it has been made */
        return -1;
    }
    return 0;
}

/* -- cuBLAS ------------------------------------------------------------------------ */

struct pcu_blas_table pcu_blas;

#define BLAS_ENTRY(name, symbol, need, params) \
    {symbol, need, offsetof(struct pcu_blas_table, name)},
static const library_entry blas_entries[] = {PCU_CUBLAS_SYMBOLS(BLAS_ENTRY)};
#undef BLAS_ENTRY

enum { BLAS_ENTRY_COUNT = sizeof(blas_entries) / sizeof(blas_entries[0]) };

int
pcu_blas_load(const char *path, char *detail, size_t size)
{
    struct pcu_blas_table table;
    int rc = library_load(path, blas_entries, BLAS_ENTRY_COUNT, &table, detail, size);
    if (rc == 0) {
        pcu_blas = table;
    }
    return rc;
}

bool
pcu_blas_is_loaded(void)
{
    return pcu_blas.Create != NULL;
}

const char *
pcu_blas_status_name(int status)
{
    switch (status) {
        case PCU_CUBLAS_SUCCESS:
            return "CUBLAS_STATUS_SUCCESS";
        case PCU_CUBLAS_NOT_INITIALIZED:
            return "CUBLAS_STATUS_NOT_INITIALIZED";
        case PCU_CUBLAS_ALLOC_FAILED:
            return "CUBLAS_STATUS_ALLOC_FAILED";
        case PCU_CUBLAS_INVALID_VALUE:
            return "CUBLAS_STATUS_INVALID_VALUE";
        case PCU_CUBLAS_ARCH_MISMATCH:
            return "CUBLAS_STATUS_ARCH_MISMATCH";
        case PCU_CUBLAS_MAPPING_ERROR:
            return "CUBLAS_STATUS_MAPPING_ERROR";
        case PCU_CUBLAS_EXECUTION_FAILED:
            return "CUBLAS_STATUS_EXECUTION_FAILED";
        case PCU_CUBLAS_INTERNAL_ERROR:
            return "CUBLAS_STATUS_INTERNAL_ERROR";
        case PCU_CUBLAS_NOT_SUPPORTED:
            return "CUBLAS_STATUS_NOT_SUPPORTED";
        case PCU_CUBLAS_LICENSE_ERROR:
            return "CUBLAS_STATUS_LICENSE_ERROR";
        default:
            return "an unknown status of cuBLAS";
    }
}

/* -- cuFFT ------------------------------------------------------------------------- */

struct pcu_fft_table pcu_fft;

#define FFT_ENTRY(name, symbol, need, params) \
    {symbol, need, offsetof(struct pcu_fft_table, name)},
static const library_entry fft_entries[] = {PCU_CUFFT_SYMBOLS(FFT_ENTRY)};
#undef FFT_ENTRY

enum { FFT_ENTRY_COUNT = sizeof(fft_entries) / sizeof(fft_entries[0]) };

int
pcu_fft_load(const char *path, char *detail, size_t size)
{
    struct pcu_fft_table table;
    int rc = library_load(path, fft_entries, FFT_ENTRY_COUNT, &table, detail, size);
    if (rc == 0) {
        pcu_fft = table;
    }
    return rc;
}

bool
pcu_fft_is_loaded(void)
{
    return pcu_fft.Create != NULL;
}

const char *
pcu_fft_status_name(int status)
{
    switch (status) {
        case PCU_CUFFT_SUCCESS:
            return "CUFFT_SUCCESS";
        case PCU_CUFFT_INVALID_PLAN:
            return "CUFFT_INVALID_PLAN";
        case PCU_CUFFT_ALLOC_FAILED:
            return "CUFFT_ALLOC_FAILED";
        case PCU_CUFFT_INVALID_TYPE:
            return "CUFFT_INVALID_TYPE";
        case PCU_CUFFT_INVALID_VALUE:
            return "CUFFT_INVALID_VALUE";
        case PCU_CUFFT_INTERNAL_ERROR:
            return "CUFFT_INTERNAL_ERROR";
        case PCU_CUFFT_EXEC_FAILED:
            return "CUFFT_EXEC_FAILED";
        case PCU_CUFFT_SETUP_FAILED:
            return "CUFFT_SETUP_FAILED";
        case PCU_CUFFT_INVALID_SIZE:
            return "CUFFT_INVALID_SIZE";
        case PCU_CUFFT_INVALID_DEVICE:
            return "CUFFT_INVALID_DEVICE";
        case PCU_CUFFT_NO_WORKSPACE:
            return "CUFFT_NO_WORKSPACE";
        case PCU_CUFFT_NOT_IMPLEMENTED:
            return "CUFFT_NOT_IMPLEMENTED";
        case PCU_CUFFT_NOT_SUPPORTED:
            return "CUFFT_NOT_SUPPORTED";
        default:
            return "an unknown status of cuFFT";
    }
}

/* -- NCCL -------------------------------------------------------------------------- */

struct pcu_nccl_table pcu_nccl;

#define NCCL_ENTRY(name, symbol, need, params) \
    {symbol, need, offsetof(struct pcu_nccl_table, name)},
static const library_entry nccl_entries[] = {
    PCU_NCCL_SYMBOLS(NCCL_ENTRY) /* the last is not a function with a status */
    {"ncclGetLastError", 0, offsetof(struct pcu_nccl_table, GetLastError)},
};
#undef NCCL_ENTRY

enum { NCCL_ENTRY_COUNT = sizeof(nccl_entries) / sizeof(nccl_entries[0]) };

int
pcu_nccl_load(const char *path, char *detail, size_t size)
{
    struct pcu_nccl_table table;
    int rc = library_load(path, nccl_entries, NCCL_ENTRY_COUNT, &table, detail, size);
    if (rc == 0) {
        pcu_nccl = table;
    }
    return rc;
}

bool
pcu_nccl_is_loaded(void)
{
    return pcu_nccl.GetVersion != NULL;
}

const char *
pcu_nccl_status_name(int status)
{
    switch (status) {
        case PCU_NCCL_SUCCESS:
            return "ncclSuccess";
        case PCU_NCCL_CUDA_ERROR:
            return "ncclUnhandledCudaError";
        case PCU_NCCL_SYSTEM_ERROR:
            return "ncclSystemError";
        case PCU_NCCL_INTERNAL_ERROR:
            return "ncclInternalError";
        case PCU_NCCL_INVALID_ARGUMENT:
            return "ncclInvalidArgument";
        case PCU_NCCL_INVALID_USAGE:
            return "ncclInvalidUsage";
        case PCU_NCCL_REMOTE_ERROR:
            return "ncclRemoteError";
        case PCU_NCCL_IN_PROGRESS:
            return "ncclInProgress";
        default:
            return "an unknown status of NCCL";
    }
}
