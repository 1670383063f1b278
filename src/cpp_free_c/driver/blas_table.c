/* Open cuBLAS and fill the table of its functions: see blas_table.h. */

#include "driver/blas_table.h"

#include "driver/shared_library.h"

struct pcu_blas_table pcu_blas;

#define BLAS_ENTRY(name, symbol, need, params) \
    {symbol, need, offsetof(struct pcu_blas_table, name)},
static const pcu_library_entry blas_entries[] = {PCU_CUBLAS_SYMBOLS(BLAS_ENTRY)};
#undef BLAS_ENTRY

enum { BLAS_ENTRY_COUNT = sizeof(blas_entries) / sizeof(blas_entries[0]) };

int
pcu_blas_load(const char *path, char *detail, size_t size)
{
    struct pcu_blas_table table;
    int rc =
        pcu_library_load(path, blas_entries, BLAS_ENTRY_COUNT, &table, detail, size);
    if (rc == 0) {
        pcu_blas = table;
    }
    return rc;
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
