/* Open the driver library and fill the driver table. Invariant and callers: see
 * table.h. */

#define _GNU_SOURCE /* dladdr */

#include "driver/table.h"

#include "driver/setting.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The result of the stubs: the library is not loaded, or it lacks the symbol. */
static CUresult drv_stub_status = CUDA_ERROR_NOT_INITIALIZED;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
/* clang-format off */
#define DRV_STUB(name, export, version, thread, caller, door, traits, span, ...) \
    PCU_IF_CALLED_##caller(                                                      \
        static CUresult drv_stub_##name(PCU_PARAMETERS(__VA_ARGS__))             \
        {                                                                        \
            return drv_stub_status;                                              \
        })
/* clang-format on */
PCU_FUNCTIONS(DRV_STUB)
#undef DRV_STUB
#pragma GCC diagnostic pop

#define DRV_STUB_MEMBER(name, export, version, thread, caller, ...) \
    PCU_IF_CALLED_##caller(.name = drv_stub_##name, )
static const struct pcu_drv drv_stubs = {PCU_FUNCTIONS(DRV_STUB_MEMBER)};
struct pcu_drv drv = {PCU_FUNCTIONS(DRV_STUB_MEMBER)};
#undef DRV_STUB_MEMBER

struct pcu_drv_info pcu_drv_info;

/* Held while the library is loaded. A fork waits for it: otherwise a child could
 * inherit the lock from a thread that the child does not have. */
static pthread_mutex_t drv_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t drv_once = PTHREAD_ONCE_INIT;
/* Whether this thread holds drv_lock. A library that forks while it is loaded must not
 * wait for its own thread. */
static _Thread_local bool drv_loading;

typedef struct {
    const char *name;
    int version;
    bool required;
    size_t offset;
} drv_entry;

#define DRV_ENTRY(name, export, version, thread, caller, ...)            \
    PCU_IF_CALLED_##caller({"cu" #name, version, PCU_IS_NEEDED_##caller, \
                            offsetof(struct pcu_drv, name)}, )
static const drv_entry drv_entries[] = {PCU_FUNCTIONS(DRV_ENTRY)};
#undef DRV_ENTRY

enum { DRV_ENTRY_COUNT = sizeof(drv_entries) / sizeof(drv_entries[0]) };

/* Object and function pointers have the same representation on all systems that CUDA
 * supports; dlsym relies on that. memcpy avoids a cast that C does not define. */
static void *
drv_slot_read(const struct pcu_drv *table, size_t offset)
{
    void *function;
    memcpy(&function, (const char *)table + offset, sizeof(function));
    return function;
}

static void
drv_slot_write(struct pcu_drv *table, size_t offset, void *function)
{
    memcpy((char *)table + offset, &function, sizeof(function));
}

typedef CUresult (*drv_resolve_v12)(const char *, void **, int, unsigned long long,
                                    int *);
typedef CUresult (*drv_resolve_v11)(const char *, void **, int, unsigned long long);

typedef struct {
    drv_resolve_v12 v12;
    drv_resolve_v11 v11;
} drv_resolver;

static bool
drv_resolver_find(drv_resolver *resolver, void *library)
{
    void *v12 = dlsym(library, "cuGetProcAddress_v2");
    void *v11 = dlsym(library, "cuGetProcAddress");
    memcpy(&resolver->v12, &v12, sizeof(v12));
    memcpy(&resolver->v11, &v11, sizeof(v11));
    return v12 != NULL || v11 != NULL;
}

/* cuGetProcAddress takes names without _v2: the version chooses the ABI. */
static const char *
drv_base_name(const char *name, char base[static 64])
{
    size_t length = strlen(name);
    if (length < 64 && length > 3 && strcmp(name + length - 3, "_v2") == 0) {
        memcpy(base, name, length - 3);
        base[length - 3] = '\0';
        return base;
    }
    return name;
}

static CUresult
drv_resolve(const drv_resolver *resolver, const char *full, int version,
            void **function)
{
    char base[64];
    const char *name = drv_base_name(full, base);
    *function = NULL;
    CUresult status;
    if (resolver->v12 != NULL) {
        int found = 0;
        status =
            resolver->v12(name, function, version, CU_GET_PROC_ADDRESS_DEFAULT, &found);
    }
    else {
        status = resolver->v11(name, function, version, CU_GET_PROC_ADDRESS_DEFAULT);
    }
    return status;
}

static void
drv_fork_prepare(void)
{
    if (!drv_loading) {
        pthread_mutex_lock(&drv_lock);
    }
}

static void
drv_fork_parent(void)
{
    if (!drv_loading) {
        pthread_mutex_unlock(&drv_lock);
    }
}

static void
drv_fork_child(void)
{
    drv_fork_parent();
    if (pcu_drv_info.initialized) {
        drv = drv_stubs;
        drv_stub_status = CUDA_ERROR_NOT_INITIALIZED;
        pcu_drv_info.state = PCU_DRV_FORKED;
        pcu_drv_info.initialized = false;
    }
}

static void
drv_watch_forks(void)
{
    pthread_atfork(drv_fork_prepare, drv_fork_parent, drv_fork_child);
}

/* The path of the software device's library, which is in the extension's folder. */
static bool
drv_emulator_path(char *path, size_t size)
{
    Dl_info self;
    const char *own = "";
    if (dladdr((void *)&pcu_drv_info, &self) != 0) {
        own = self.dli_fname;
    }
    const char *slash = strrchr(own, '/');
    int length = 0;
    if (slash != NULL) {
        length = (int)(slash - own + 1);
    }
    int n = snprintf(path, size, "%.*slibpycuda_emulator.so", length, own);
    return n > 0 && (size_t)n < size;
}

static void *
drv_open(const char *path)
{
    (void)snprintf(pcu_drv_info.path, sizeof(pcu_drv_info.path), "%s", path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        if (reason == NULL) {
            reason = path;
        }
        (void)snprintf(pcu_drv_info.detail, sizeof(pcu_drv_info.detail), "%s", reason);
    }
    return library;
}

/* Note whether a library is the software device, which may have the driver's name. */
static void
drv_know_device(void *library)
{
    const pcu_software_device *device = NULL;
    if (library != NULL) {
        device = dlsym(library, PCU_SOFTWARE_DEVICE);
    }
    if (device != NULL && device->size == sizeof(*device)) {
        pcu_drv_info.device = device;
    }
}

static void *
drv_open_emulator(void)
{
    char path[sizeof(pcu_drv_info.path)];
    void *library = NULL;
    if (drv_emulator_path(path, sizeof(path))) {
        library = drv_open(path);
    }
    else {
        (void)snprintf(pcu_drv_info.detail, sizeof(pcu_drv_info.detail),
                       "the path of libpycuda_emulator.so is too long");
    }
    drv_know_device(library);
    return library;
}

/* The words of PYCUDA_DRIVER, in the order of its row. */
enum { DRV_CHOICE_AUTO, DRV_CHOICE_CUDA, DRV_CHOICE_EMULATOR };

/* Open the library that PYCUDA_DRIVER names. If it is unset, open the driver, or the
 * software device where there is no driver. */
static void *
drv_open_choice(void)
{
    int choice = pcu_setting_find(PCU_SETTING_DRIVER);
    if (choice == DRV_CHOICE_EMULATOR) {
        return drv_open_emulator();
    }
    void *library = drv_open("libcuda.so.1");
    drv_know_device(library);
    if (library == NULL && choice == DRV_CHOICE_AUTO) {
        char reason[sizeof(pcu_drv_info.detail)];
        memcpy(reason, pcu_drv_info.detail, sizeof(reason));
        library = drv_open_emulator();
        pcu_drv_info.fallback = library != NULL;
        memcpy(pcu_drv_info.detail, reason, sizeof(reason));
    }
    return library;
}

static pcu_drv_state
drv_fill(void *library)
{
    drv_resolver resolver;
    if (!drv_resolver_find(&resolver, library)) {
        return PCU_DRV_TOO_OLD;
    }
    struct pcu_drv table = drv_stubs;
    for (int i = 0; i < DRV_ENTRY_COUNT; i++) {
        const drv_entry *entry = &drv_entries[i];
        void *function;
        CUresult status =
            drv_resolve(&resolver, entry->name, entry->version, &function);
        if (status == CUDA_ERROR_STUB_LIBRARY) {
            return PCU_DRV_STUB;
        }
        if (status == CUDA_SUCCESS && function != NULL) {
            drv_slot_write(&table, entry->offset, function);
        }
        else if (entry->required) {
            (void)snprintf(pcu_drv_info.detail, sizeof(pcu_drv_info.detail), "%s",
                           entry->name);
            return PCU_DRV_INCOMPLETE;
        }
    }
    int version = 0;
    if (table.DriverGetVersion(&version) == CUDA_SUCCESS) {
        pcu_drv_info.version = version;
    }
    drv_stub_status = CUDA_ERROR_NOT_FOUND;
    drv = table;
    return PCU_DRV_READY;
}

static pcu_drv_state
drv_load_locked(void)
{
    pcu_setting wrong = pcu_setting_find_wrong();
    if (wrong != PCU_SETTING_COUNT) {
        pcu_setting_complain(wrong, pcu_drv_info.detail, sizeof(pcu_drv_info.detail));
        return PCU_DRV_BAD_CHOICE;
    }
    if (!pcu_setting_check_staging(pcu_drv_info.detail, sizeof(pcu_drv_info.detail))) {
        return PCU_DRV_BAD_CHOICE;
    }
    pcu_drv_info.launch_blocking = pcu_setting_find(PCU_SETTING_LAUNCH_BLOCKING) == 1;
    void *library = drv_open_choice();
    if (library != NULL) {
        return drv_fill(library);
    }
    return PCU_DRV_NO_LIBRARY;
}

CUresult
pcu_drv_load(void)
{
    pthread_once(&drv_once, drv_watch_forks);
    pthread_mutex_lock(&drv_lock);
    if (pcu_drv_info.state == PCU_DRV_UNLOADED) {
        drv_loading = true;
        pcu_drv_info.state = drv_load_locked();
        drv_loading = false;
    }
    pcu_drv_state state = pcu_drv_info.state;
    pthread_mutex_unlock(&drv_lock);
    return pcu_drv_state_status(state);
}

CUresult
pcu_drv_init(unsigned int flags)
{
    CUresult status = pcu_drv_load();
    if (status == CUDA_SUCCESS) {
        status = drv.Init(flags);
    }
    if (status == CUDA_SUCCESS) {
        pcu_drv_info.initialized = true;
    }
    return status;
}

CUresult
pcu_drv_state_status(pcu_drv_state state)
{
    switch (state) {
        case PCU_DRV_READY:
            return CUDA_SUCCESS;
        case PCU_DRV_NO_LIBRARY:
            return CUDA_ERROR_NO_DEVICE;
        case PCU_DRV_STUB:
            return CUDA_ERROR_STUB_LIBRARY;
        case PCU_DRV_TOO_OLD:
        case PCU_DRV_INCOMPLETE:
            return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
        case PCU_DRV_BAD_CHOICE:
            return CUDA_ERROR_INVALID_VALUE;
        case PCU_DRV_UNLOADED:
        case PCU_DRV_FORKED:
            break;
    }
    return CUDA_ERROR_NOT_INITIALIZED;
}

int
pcu_drv_missing_since(const char *routine)
{
    bool loaded = pcu_drv_info.state == PCU_DRV_READY; /* if not, all are stubs */
    int since = 0;
    for (int i = 0; loaded && i < DRV_ENTRY_COUNT; i++) {
        const drv_entry *entry = &drv_entries[i];
        if (strcmp(entry->name, routine) == 0 &&
            drv_slot_read(&drv, entry->offset) ==
                drv_slot_read(&drv_stubs, entry->offset)) {
            since = entry->version;
        }
    }
    return since;
}
