/* Look-ups in the table of result codes, abi/results.h. Callers: see status.h. */

#include "driver/status.h"

typedef struct {
    CUresult status;
    pcu_status_kind kind;
    const char *name;
    const char *text;
} status_row;

#define STATUS_ROW(name, code, exception, text) \
    {name, PCU_KIND_##exception, #name, text},
static const status_row status_rows[] = {PCU_RESULTS(STATUS_ROW)};
#undef STATUS_ROW

static const status_row *
status_find(CUresult status)
{
    for (size_t i = 0; i < sizeof(status_rows) / sizeof(status_rows[0]); i++) {
        if (status_rows[i].status == status) {
            return &status_rows[i];
        }
    }
    return NULL;
}

pcu_status_kind
pcu_status_classify(CUresult status)
{
    const status_row *row = status_find(status);
    if (row == NULL) {
        return PCU_KIND_LogicError;
    }
    return row->kind;
}

const char *
pcu_status_name(CUresult status)
{
    const status_row *row = status_find(status);
    const char *name = NULL;
    if (row != NULL) {
        return row->name;
    }
    if (drv.GetErrorName(status, &name) == CUDA_SUCCESS && name != NULL) {
        return name;
    }
    return "CUDA_ERROR_<unknown>";
}

const char *
pcu_status_text(CUresult status)
{
    const char *text = NULL;
    if (drv.GetErrorString(status, &text) == CUDA_SUCCESS && text != NULL) {
        return text;
    }
    const status_row *row = status_find(status);
    if (row == NULL) {
        return "unrecognized error code";
    }
    return row->text;
}

bool
pcu_status_is_sticky(CUresult status)
{
    switch (status) {
        case CUDA_ERROR_ECC_UNCORRECTABLE:
        case CUDA_ERROR_ILLEGAL_ADDRESS:
        case CUDA_ERROR_LAUNCH_TIMEOUT:
        case CUDA_ERROR_ASSERT:
        case CUDA_ERROR_HARDWARE_STACK_ERROR:
        case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        case CUDA_ERROR_MISALIGNED_ADDRESS:
        case CUDA_ERROR_INVALID_ADDRESS_SPACE:
        case CUDA_ERROR_INVALID_PC:
        case CUDA_ERROR_LAUNCH_FAILED:
            return true;
        default:
            return false;
    }
}
