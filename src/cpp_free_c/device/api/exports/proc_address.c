/* cuGetProcAddress: the function of a name and a version.
 *
 * The versions of one function are rows of one table, with the names that the library
 * exports. The newest version that is not above the one asked for is the answer. Names
 * are those without a version. Behind the exports come the rows of abi/, for functions
 * that no driver exports.
 *
 * The answers are those of an H200's driver. Only a version above that of the driver,
 * which a driver refuses, counts as the newest one here. */
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
    bool is_exported;
    entry_point function; /* NULL: none */
} export_row;

/* clang-format off */
#define ROW(base, export, version, stream, is_built, is_exported, function) \
    {base, export, sizeof(base) - 1, sizeof(export) - 1, version, stream, is_built,    \
     is_exported, (entry_point)function},
#define BUILT(export, base, version, stream, name, parameters, arguments) \
    ROW(#base, #export, version, stream, true, true, export)
#define RENAMED(export, base, version, stream) \
    ROW(#base, #export, version, stream, true, true, export)
#define MISSING(export, base, version, stream, name) \
    ROW(#base, #export, version, stream, false, true, export)
#define SYMBOL(name, version, need, blocking, parameters) \
    ROW("cu" #name, "cu" #name, version, LEGACY, true, false, emu_cu##name)
#define CLIENT_SYMBOL(name, version, parameters) \
    ROW("cu" #name, "cu" #name, version, LEGACY, true, false, emu_cu##name)
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

static bool
row_is_of(const export_row *row, const char *symbol, size_t length)
{
    return row->base_length == length && memcmp(row->base, symbol, length) == 0;
}

/* What the table has for a symbol. */
typedef struct {
    bool is_exported; /* the library exports it, as the name or with a version */
    int stream;       /* PER_THREAD if a row is of that kind, else LEGACY */
} symbol_rows;

static symbol_rows
row_survey(const char *symbol, size_t length)
{
    symbol_rows found = {.stream = LEGACY};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const export_row *row = &rows[i];
        const bool is_of = row_is_of(row, symbol, length);

        if (row->is_exported) {
            found.is_exported |= is_of || (row->export_length == length &&
                                           memcmp(row->export, symbol, length) == 0);
        }
        if (is_of && row->stream > found.stream) {
            found.stream = row->stream;
        }
    }
    return found;
}

/* Whether a row is a better answer than the one found so far. */
static bool
row_is_better(const export_row *row, const export_row *found)
{
    if (found == NULL || row->version != found->version) {
        return found == NULL || row->version > found->version;
    }
    return row->is_built && !found->is_built;
}

/* Find the newest row up to a version. Return the answer for the caller's status. A
 * function with a form for each thread's stream has no other form for that flag. */
static unsigned int
row_find(const char *symbol, int version, int stream, const export_row **found)
{
    const size_t length = strlen(symbol);
    const symbol_rows known = row_survey(symbol, length);
    unsigned int status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;

    *found = NULL;
    if (stream > known.stream) {
        stream = known.stream;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const export_row *row = &rows[i];

        if (row->function == NULL || row->stream != stream ||
            row->is_exported != known.is_exported || !row_is_of(row, symbol, length)) {
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

/* Find a function by the arguments of a call. */
static CUresult
row_ask(const char *symbol, const void *pfn, int version, cuuint64_t flags,
        const export_row **found, unsigned int *status)
{
    const cuuint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                             CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    const int driver = emu_driver_version();
    int stream = LEGACY;

    if (symbol == NULL || pfn == NULL || (flags & ~known) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
        stream = PER_THREAD;
    }
    if (version > driver || version < 0) {
        version = driver;
    }
    *status = row_find(symbol, version, stream, found);
    return CUDA_SUCCESS;
}

/* A missing function is no error: the pointer is NULL, and symbolStatus says why. */
CUresult
emu_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
                        cuuint64_t flags, unsigned int *symbolStatus)
{
    const export_row *found = NULL;
    unsigned int why;
    const CUresult status = row_ask(symbol, pfn, cudaVersion, flags, &found, &why);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (symbolStatus != NULL) {
        *symbolStatus = why;
    }
    *pfn = NULL;
    if (found != NULL) {
        row_store(pfn, found);
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    const export_row *found = NULL;
    unsigned int why;
    const CUresult status = row_ask(symbol, pfn, cudaVersion, flags, &found, &why);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (found == NULL) {
        return CUDA_ERROR_NOT_FOUND;
    }
    row_store(pfn, found);
    return CUDA_SUCCESS;
}
