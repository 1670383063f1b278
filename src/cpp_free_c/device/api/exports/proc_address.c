/* cuGetProcAddress: the function of a name and a version.
 *
 * The versions of one function are rows of one table, with the names that the library
 * exports. The newest version that is not above the one asked for is the answer. Names
 * are those without a version.
 *
 * The answers are those of an H200's driver. Only a version above that of the driver,
 * which a driver refuses, counts as the newest one here. */
#include <string.h>

#include "device/api/context/device_setup.h"
#include "device/api/entry/entry.h"
#include "device/api/exports/exports.h"

typedef void (*entry_point)(void);

enum { LEGACY = 0, PER_THREAD = 1 };

typedef struct {
    const char *name, *export;
    unsigned short version;
    unsigned char stream;
    entry_point function;
} export_row;

/* clang-format off */
#define THREAD_VERSION(version) \
    (version) > PCU_THREAD_VERSION ? (version) : PCU_THREAD_VERSION
#define ROW(name, export, version, stream) \
    {"cu" #name, PCU_TEXT(export), version, stream, (entry_point)export},
#define ROWS(name, export, version, thread)                                     \
    ROW(name, export, version, LEGACY)                                          \
    PCU_IF_THREAD_##thread(ROW(name, PCU_THREAD_NAME_##thread(export),          \
                               THREAD_VERSION(version), PER_THREAD))
#define FUNCTION(name, export, version, thread, ...)                            \
    ROWS(name, PCU_EXPORT(export), version, thread)                             \
    PCU_IF_OTHER(export)(ROWS(name, PCU_OTHER_NAME(export),                     \
                              PCU_OTHER_VERSION(export), thread))
static const export_row rows[] = {PCU_FUNCTIONS(FUNCTION)};
/* clang-format on */
#undef ROW
#undef ROWS
#undef FUNCTION

/* Pointers to objects and to functions are alike on every system with dlsym. C alone
 * does not promise that, so the bytes are copied. */
static void
row_store(void **out, const export_row *row)
{
    _Static_assert(sizeof(*out) == sizeof(row->function), "pointers differ in size");
    memcpy(out, &row->function, sizeof(row->function));
}

/* Whether a row is of the function with that name; the row's may have a version. */
static bool
row_is_of(const export_row *row, const char *symbol, size_t length)
{
    const char *rest = row->name + length;

    return strncmp(row->name, symbol, length) == 0 &&
           (*rest == 0 || (rest[0] == '_' && rest[1] == 'v' && rest[3] == 0));
}

/* What the table has for a symbol: PER_THREAD if a row is of that kind. */
static int
row_streams(const char *symbol, size_t length)
{
    int stream = LEGACY;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].stream > stream && row_is_of(&rows[i], symbol, length)) {
            stream = rows[i].stream;
        }
    }
    return stream;
}

/* Find the newest row up to a version. Return the answer for the caller's status. A
 * function with a form for each thread's stream has no other form for that flag. */
static unsigned int
row_find(const char *symbol, int version, int stream, const export_row **found)
{
    const size_t length = strlen(symbol);
    const int known = row_streams(symbol, length);
    unsigned int status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;

    *found = NULL;
    if (stream > known) {
        stream = known;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const export_row *row = &rows[i];

        if (row->stream != stream || !row_is_of(row, symbol, length)) {
            continue;
        }
        if (row->version > version) {
            if (*found == NULL) {
                status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
            }
        }
        else if (*found == NULL || row->version > (*found)->version) {
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
