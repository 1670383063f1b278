/* Open cuFFT and fill the table of its functions: see fft_table.h. */

#include "driver/fft_table.h"

#include "driver/shared_library.h"

struct pcu_fft_table pcu_fft;

#define FFT_ENTRY(name, symbol, need, params) \
    {symbol, need, offsetof(struct pcu_fft_table, name)},
static const pcu_library_entry fft_entries[] = {PCU_CUFFT_SYMBOLS(FFT_ENTRY)};
#undef FFT_ENTRY

enum { FFT_ENTRY_COUNT = sizeof(fft_entries) / sizeof(fft_entries[0]) };

int
pcu_fft_load(const char *path, char *detail, size_t size)
{
    struct pcu_fft_table table;
    int rc = pcu_library_load(path, fft_entries, FFT_ENTRY_COUNT, &table, detail, size);
    if (rc == 0) {
        pcu_fft = table;
    }
    return rc;
}

int
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
