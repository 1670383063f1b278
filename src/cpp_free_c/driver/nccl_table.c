/* Open NCCL and fill the table of its functions: see nccl_table.h. */

#include "driver/nccl_table.h"

#include "driver/shared_library.h"

struct pcu_nccl_table pcu_nccl;

#define NCCL_ENTRY(name, symbol, need, params) \
    {symbol, need, offsetof(struct pcu_nccl_table, name)},
static const pcu_library_entry nccl_entries[] = {
    PCU_NCCL_SYMBOLS(NCCL_ENTRY) /* the last is not a function with a status */
    {"ncclGetLastError", 0, offsetof(struct pcu_nccl_table, GetLastError)},
};
#undef NCCL_ENTRY

enum { NCCL_ENTRY_COUNT = sizeof(nccl_entries) / sizeof(nccl_entries[0]) };

int
pcu_nccl_load(const char *path, char *detail, size_t size)
{
    struct pcu_nccl_table table;
    int rc =
        pcu_library_load(path, nccl_entries, NCCL_ENTRY_COUNT, &table, detail, size);
    if (rc == 0) {
        pcu_nccl = table;
    }
    return rc;
}

int
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
