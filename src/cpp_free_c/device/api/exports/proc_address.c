/* cuGetProcAddress: the function of a name and a version.
 *
 * The versions of one function are rows of one table, with the names that the library
 * exports. The newest version that is not above the one asked for is the answer. */
#include <string.h>

#include "device/api/context/driver_version.h"
#include "device/api/entry/entry.h"
#include "device/api/exports/exports.h"

typedef void (*entry_point)(void);

enum { LEGACY = 0, PER_THREAD = 1 };

typedef struct {
    const char *base, *export;
    unsigned short base_length, export_length;
    unsigned short version;
    unsigned char stream;
    entry_point function;
} export_row;

#define ROW(export, base, version, stream)                       \
    {#base,   #export, sizeof(#base) - 1,   sizeof(#export) - 1, \
     version, stream,  (entry_point) export},
#define BUILT(export, base, version, stream, name, parameters, arguments) \
    ROW(export, base, version, stream)
#define MISSING(export, base, version, stream, name) ROW(export, base, version, stream)
static const export_row rows[] = {PCU_DRIVER_EXPORTS(BUILT) PCU_DRIVER_RENAMED(ROW)
                                      PCU_DRIVER_MISSING(MISSING)};
#undef ROW
#undef BUILT
#undef MISSING

/* Pointers to objects and to functions are alike on every system with dlsym. C alone
 * does not promise that, so the bytes are copied. */
static void
row_store(void **out, const export_row *row)
{
    _Static_assert(sizeof(*out) == sizeof(row->function), "pointers differ in size");
    memcpy(out, &row->function, sizeof(row->function));
}

/* Whether a row has this symbol: a name without a version, or the exported name. */
static bool
row_is_named(const export_row *row, const char *symbol, size_t length)
{
    return (row->base_length == length && memcmp(row->base, symbol, length) == 0) ||
           (row->export_length == length && memcmp(row->export, symbol, length) == 0);
}

/* Find the newest row up to a version. Return the answer for the caller's status. */
static unsigned int
row_find(const char *symbol, int version, int stream, const export_row **found)
{
    const size_t length = strlen(symbol);
    unsigned int status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;

    *found = NULL;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const export_row *row = &rows[i];

        if (!row_is_named(row, symbol, length) || row->stream > stream) {
            continue;
        }
        if (row->version > version) {
            if (*found == NULL) {
                status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
            }
        }
        else if (*found == NULL || row->version > (*found)->version ||
                 (row->version == (*found)->version &&
                  row->stream > (*found)->stream)) {
            *found = row;
            status = CU_GET_PROC_ADDRESS_SUCCESS;
        }
    }
    return status;
}

CUresult
emu_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
                        cuuint64_t flags, unsigned int *symbolStatus)
{
    const int driver = emu_driver_version();
    const export_row *found;
    unsigned int status;
    int stream = LEGACY;

    if (symbol == NULL || pfn == NULL ||
        flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
        stream = PER_THREAD;
    }
    if (cudaVersion > driver) {
        cudaVersion = driver;
    }
    status = row_find(symbol, cudaVersion, stream, &found);
    if (symbolStatus != NULL) {
        *symbolStatus = status;
    }
    *pfn = NULL;
    if (found == NULL) {
        return CUDA_ERROR_NOT_FOUND;
    }
    row_store(pfn, found);
    return CUDA_SUCCESS;
}

CUresult
emu_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    return emu_cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}
