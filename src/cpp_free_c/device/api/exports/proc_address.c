/* cuGetProcAddress: the function of a name and a version.
 *
 * The versions of one function are rows of one table, with the names that the library
 * exports. The newest version that is not above the one asked for is the answer.
 * Behind the exports come the rows of abi/, for functions that no driver exports. */
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
    bool is_built;
    entry_point function; /* NULL: none */
} export_row;

/* clang-format off */
#define ROW(base, export, version, stream, is_built, function) \
    {base, export, sizeof(base) - 1, sizeof(export) - 1, version, stream, is_built,    \
     (entry_point)function},
#define BUILT(export, base, version, stream, name, parameters, arguments) \
    ROW(#base, #export, version, stream, true, export)
#define RENAMED(export, base, version, stream) \
    ROW(#base, #export, version, stream, true, export)
#define MISSING(export, base, version, stream, name) \
    ROW(#base, #export, version, stream, false, export)
#define SYMBOL(name, version, need, blocking, parameters) \
    ROW("cu" #name, "cu" #name, version, LEGACY, true, emu_cu##name)
#define CLIENT_SYMBOL(name, version, parameters) \
    ROW("cu" #name, "cu" #name, version, LEGACY, true, emu_cu##name)
static const export_row rows[] = {
    PCU_DRIVER_EXPORTS(BUILT)
    PCU_DRIVER_RENAMED(RENAMED)
    PCU_DRIVER_MISSING(MISSING)
    PCU_DRV_SYMBOLS(SYMBOL)
    PCU_CLIENT_SYMBOLS(CLIENT_SYMBOL)
};
/* clang-format on */
#undef ROW
#undef BUILT
#undef RENAMED
#undef MISSING
#undef SYMBOL
#undef CLIENT_SYMBOL

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

/* Whether a row is a better answer than the one found so far. */
static bool
row_is_better(const export_row *row, const export_row *found)
{
    if (found == NULL || row->version != found->version) {
        return found == NULL || row->version > found->version;
    }
    if (row->stream != found->stream) {
        return row->stream > found->stream;
    }
    return row->is_built && !found->is_built;
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

        if (row->function == NULL || row->stream > stream ||
            !row_is_named(row, symbol, length)) {
            continue;
        }
        if (row->version > version) {
            if (*found == NULL) {
                status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
            }
        }
        else if (row_is_better(row, *found)) {
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
