/* Open cuBLAS and fill the table of its functions: see blas_table.h. */

#include "driver/blas_table.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct pcu_blas_table pcu_blas;

typedef struct {
    const char *symbol;
    int required;
    size_t offset;
} blas_entry;

#define BLAS_ENTRY(name, symbol, need, params) \
    {symbol, need, offsetof(struct pcu_blas_table, name)},
static const blas_entry blas_entries[] = {PCU_CUBLAS_SYMBOLS(BLAS_ENTRY)};
#undef BLAS_ENTRY

enum { BLAS_ENTRY_COUNT = sizeof(blas_entries) / sizeof(blas_entries[0]) };

/* dlsym relies on pointers to functions and to objects being alike. memcpy avoids a
 * cast that C does not define. */
static int
blas_fill(void *library, struct pcu_blas_table *table, char *detail, size_t size)
{
    for (int i = 0; i < BLAS_ENTRY_COUNT; i++) {
        const blas_entry *entry = &blas_entries[i];
        void *function = dlsym(library, entry->symbol);
        if (function == NULL && entry->required) {
            (void)snprintf(detail, size, "the library has no %s", entry->symbol);
            return -1;
        }
        memcpy((char *)table + entry->offset, &function, sizeof(function));
    }
    return 0;
}

int
pcu_blas_load(const char *path, char *detail, size_t size)
{
    struct pcu_blas_table table;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        if (reason == NULL) {
            reason = path;
        }
        (void)snprintf(detail, size, "%s", reason);
        return -1;
    }
    if (blas_fill(library, &table, detail, size) < 0) {
        (void)dlclose(library); /* no call into it has been made */
        return -1;
    }
    pcu_blas = table;
    return 0;
}

int
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
