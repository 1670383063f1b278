/* The generated kernels of a context: see kernel_table.h. An open hash table. */

#include "python/array/ops/kernel_table.h"

#include "python/driver/current_context.h"
#include "python/driver/resource.h"

typedef struct {
    pcu_kernel_key key;
    CUfunction function; /* NULL: an empty place */
    CUmodule module;
} kernel_entry;

struct pcu_kernels {
    size_t capacity; /* a power of two */
    size_t used;     /* at most half of it */
    kernel_entry entries[];
};

enum { KERNEL_TABLE_FIRST = 64, KERNEL_KEY_WORDS = sizeof(pcu_kernel_key) / 8 };

/* -- the table --------------------------------------------------------------------- */

static size_t
kernel_hash(const pcu_kernel_key *key)
{
    uint64_t words[KERNEL_KEY_WORDS];
    uint64_t hash = 0;
    memcpy(words, key, sizeof(words));
    for (int i = 0; i < KERNEL_KEY_WORDS; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return (size_t)hash;
}

/* The place of a key: where it is, or the empty place where it has to go. */
static kernel_entry *
kernel_place(struct pcu_kernels *table, const pcu_kernel_key *key)
{
    size_t mask = table->capacity - 1;
    size_t place = kernel_hash(key) & mask;
    while (table->entries[place].function != NULL &&
           memcmp(&table->entries[place].key, key, sizeof(*key)) != 0) {
        place = (place + 1) & mask;
    }
    return &table->entries[place];
}

static void
kernel_module_unload_noraise(pcu_context *ctx, CUmodule module)
{
    pcu_handle handle = {.module = module};
    pcu_release_noraise(ctx->st, PCU_HANDLE_module, handle, (PyObject *)ctx);
}

/* Unload the kernels of a context that is alive. Other threads run while the driver
 * unloads a module, and may begin a new table. */
static void
kernel_table_unload_noraise(pcu_context *ctx)
{
    while (ctx->kernels != NULL) {
        struct pcu_kernels *table = ctx->kernels;
        ctx->kernels = NULL;
        for (size_t i = 0; i < table->capacity; i++) {
            if (table->entries[i].function != NULL) {
                kernel_module_unload_noraise(ctx, table->entries[i].module);
            }
        }
        PyMem_Free(table);
    }
}

/* Make room for one more entry. */
static int
kernel_table_reserve(pcu_context *ctx)
{
    struct pcu_kernels *old = ctx->kernels;
    size_t capacity = KERNEL_TABLE_FIRST;
    if (old != NULL) {
        if (2 * (old->used + 1) <= old->capacity) {
            return 0;
        }
        capacity = 2 * old->capacity;
    }
    struct pcu_kernels *table =
        PyMem_Calloc(1, sizeof(*table) + capacity * sizeof(kernel_entry));
    if (table == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    table->capacity = capacity;
    for (size_t i = 0; old != NULL && i < old->capacity; i++) {
        if (old->entries[i].function != NULL) {
            *kernel_place(table, &old->entries[i].key) = old->entries[i];
            table->used++;
        }
    }
    ctx->end_part[PCU_CONTEXT_KERNELS] = kernel_table_unload_noraise;
    ctx->kernels = table;
    PyMem_Free(old);
    return 0;
}

/* -- a miss ------------------------------------------------------------------------ */

/* Making a kernel takes long and runs Python code, which may end the context or make
 * another one current. Then nothing may be loaded or launched for this context. */
static int
kernel_check_context(pcu_state *st, const pcu_context *ctx)
{
    CUcontext current = NULL;
    int rc;
    PCU_CALL_CURRENT(rc, st, CtxGetCurrent, (&current));
    if (rc < 0) {
        return -1;
    }
    if (!pcu_context_record_lives(&ctx->rec)) {
        return pcu_raise_detail(st, "cuLaunchKernel", CUDA_ERROR_INVALID_CONTEXT,
                                "the context was detached during the call");
    }
    if (current != ctx->rec.handle) {
        return pcu_raise_detail(st, "cuLaunchKernel", CUDA_ERROR_INVALID_CONTEXT,
                                "another context became current during the call");
    }
    return 0;
}

/* Load the kernel of a key, and keep it in the table. */
static int
kernel_load(pcu_state *st, pcu_context *ctx, const pcu_kernel_key *key, PyObject *image)
{
    CUfunction function = NULL;
    CUmodule module = NULL;
    int rc = kernel_check_context(st, ctx);
    if (rc == 0) {
        PCU_CALL(rc, st, ModuleLoadData, (&module, PyBytes_AS_STRING(image)));
    }
    if (rc < 0) {
        return -1;
    }
    pcu_handle_created(PCU_HANDLE_module);
    PCU_CALL(rc, st, ModuleGetFunction, (&function, module, "kernel"));
    if (rc == 0) {
        rc = kernel_table_reserve(ctx);
    }
    if (rc < 0) {
        pcu_saved_error pending;
        pcu_error_save(&pending);
        kernel_module_unload_noraise(ctx, module);
        pcu_error_restore(&pending);
        return -1;
    }
    kernel_entry *entry = kernel_place(ctx->kernels, key);
    if (entry->function != NULL) { /* another thread has loaded it meanwhile */
        kernel_module_unload_noraise(ctx, module);
        return 0;
    }
    *entry = (kernel_entry){.key = *key, .function = function, .module = module};
    ctx->kernels->used++;
    return 0;
}

/* Compile and load the kernels of some keys. */
static int
kernel_make(pcu_state *st, pcu_context *ctx, size_t count, const pcu_kernel_key *keys)
{
    PyObject *images = pcu_kernel_request_images_new(st, count, keys);
    if (images == NULL) {
        return -1;
    }
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = kernel_load(st, ctx, &keys[i], PyTuple_GET_ITEM(images, (Py_ssize_t)i));
    }
    Py_DECREF(images);
    return rc;
}

/* The kernel of a key, or NULL. */
static CUfunction
kernel_find(const pcu_context *ctx, const pcu_kernel_key *key)
{
    if (ctx->kernels == NULL) {
        return NULL;
    }
    return kernel_place(ctx->kernels, key)->function;
}

bool
pcu_kernel_table_has(const pcu_context *ctx, const pcu_kernel_key *key)
{
    return kernel_find(ctx, key) != NULL;
}

int
pcu_kernel_table_get_all(pcu_state *st, pcu_context *ctx, size_t count,
                         const pcu_kernel_key *keys, CUfunction *kernels)
{
    pcu_kernel_key missing[PCU_KERNELS_AT_ONCE];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        kernels[i] = kernel_find(ctx, &keys[i]);
        if (kernels[i] == NULL) {
            missing[n++] = keys[i];
        }
    }
    if (n == 0) {
        return 0;
    }
    Py_INCREF(ctx);
    int rc = kernel_make(st, ctx, n, missing);
    if (rc == 0) {
        rc = kernel_check_context(st, ctx);
    }
    Py_DECREF(ctx);
    if (rc < 0) {
        return -1;
    }
    return PCU_KERNEL_MADE;
}

int
pcu_kernel_table_get(pcu_state *st, pcu_context *ctx, const pcu_kernel_key *key,
                     CUfunction *kernel)
{
    CUfunction found = kernel_find(ctx, key);
    if (found != NULL) {
        *kernel = found;
        return 0;
    }
    return pcu_kernel_table_get_all(st, ctx, 1, key, kernel);
}

const pcu_kernel_key *
pcu_kernel_table_key(const pcu_context *ctx, CUfunction kernel)
{
    const struct pcu_kernels *table = ctx->kernels;
    for (size_t i = 0; table != NULL && i < table->capacity; i++) {
        if (kernel != NULL && table->entries[i].function == kernel) {
            return &table->entries[i].key;
        }
    }
    return NULL;
}
