/* The table of generated kernels that each context has: see kernels.h. */
#include "python/array/ops/kernel_table.h"

#include "python/driver/context_stack.h"
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

#define KERNEL_NAME(CODE, name, size) name,
static const char *const kernel_type_names[] = {PCU_DTYPES(KERNEL_NAME) "raw"};
#undef KERNEL_NAME
#define KERNEL_SIZE(CODE, name, size) size,
static const unsigned char kernel_type_sizes[] = {PCU_DTYPES(KERNEL_SIZE) 0, 0};
#undef KERNEL_SIZE
#define KERNEL_OP(NAME, name, nin, nout, rule) name,
static const char *const kernel_op_names[] = {PCU_ARRAY_OPS(KERNEL_OP)};
#undef KERNEL_OP
#define KERNEL_REDUCTION(NAME, name, nin, rule) name,
static const char *const kernel_reduction_names[] = {
    PCU_ARRAY_REDUCTIONS(KERNEL_REDUCTION)};
#undef KERNEL_REDUCTION

const char *
pcu_op_name(int op)
{
    return kernel_op_names[op];
}

const char *
pcu_reduction_name(int reduction)
{
    return kernel_reduction_names[reduction];
}

size_t
pcu_type_size(int type)
{
    return kernel_type_sizes[type];
}

/* -- the table --------------------------------------------------------------------- */

static size_t
kernel_hash(const pcu_kernel_key *key)
{
    uint64_t words[4];
    uint64_t hash = 0;
    memcpy(words, key, sizeof(words));
    for (int i = 0; i < 4; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return (size_t)hash;
}

/* The place of a key: its own, or the empty one where it belongs. */
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

/* Make room for one more entry. */
static int
kernels_reserve(pcu_context *ctx)
{
    struct pcu_kernels *old = ctx->kernels;
    if (old != NULL && 2 * (old->used + 1) <= old->capacity) {
        return 0;
    }
    size_t capacity = old == NULL ? 64 : 2 * old->capacity;
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
    ctx->kernels = table;
    PyMem_Free(old);
    return 0;
}

static void
kernel_unload_noraise(pcu_context *ctx, CUmodule module)
{
    pcu_handle handle = {.module = module};
    pcu_release_noraise(ctx->st, PCU_HANDLE_module, handle, (PyObject *)ctx);
}

/* Other threads run while a module is unloaded, and may begin a new table. */
void
pcu_kernels_clear(pcu_context *ctx)
{
    while (ctx->kernels != NULL) {
        struct pcu_kernels *table = ctx->kernels;
        ctx->kernels = NULL;
        for (size_t i = 0; i < table->capacity; i++) {
            if (table->entries[i].function != NULL) {
                kernel_unload_noraise(ctx, table->entries[i].module);
            }
        }
        PyMem_Free(table);
    }
}

/* -- a miss ------------------------------------------------------------------------ */

static PyObject *
kernel_type_names_new(const pcu_kernel_key *key)
{
    int n = key->nin + key->nout;
    PyObject *names = PyTuple_New(n);
    for (int i = 0; names != NULL && i < n; i++) {
        int type = key->types[i];
        PyObject *name = type == PCU_T_RAW
                             ? PyUnicode_FromFormat("raw%u", (unsigned int)key->raw)
                             : PyUnicode_FromString(kernel_type_names[type]);
        if (name == NULL) {
            Py_CLEAR(names);
            break;
        }
        PyTuple_SET_ITEM(names, i, name);
    }
    return names;
}

/* The image of a kernel, from pycuda._array.kernel_request. */
static PyObject *
kernel_image_new(const pcu_kernel_key *key)
{
    PyObject *image = NULL;
    PyObject *module = PyImport_ImportModule("pycuda._array.kernel_request");
    PyObject *types = module == NULL ? NULL : kernel_type_names_new(key);
    PyObject *op = NULL;
    if (types != NULL) {
        op = PyUnicode_FromString(key->family == PCU_FAMILY_REDUCE
                                      ? kernel_reduction_names[key->op]
                                      : kernel_op_names[key->op]);
    }
    if (op != NULL) {
        const char *compute =
            key->compute < PCU_T_COUNT ? kernel_type_names[key->compute] : "raw";
        image = PyObject_CallMethod(
            module, "image_of", "iOOiy#siiiy#I", (int)key->family, op, types,
            (int)key->nin, (const char *)key->kinds, (Py_ssize_t)(key->nin + key->nout),
            compute, (int)key->ndim, (int)key->wide, (int)key->vec,
            (const char *)key->spare, (Py_ssize_t)sizeof(key->spare),
            (unsigned int)key->raw);
    }
    if (image != NULL && !PyBytes_Check(image)) {
        PyErr_Format(PyExc_TypeError, "a kernel's image must be bytes, not %s",
                     Py_TYPE(image)->tp_name);
        Py_CLEAR(image);
    }
    Py_XDECREF(op);
    Py_XDECREF(types);
    Py_XDECREF(module);
    return image;
}

/* Making a kernel takes long and runs Python code: other code may end the context, or
 * make another one current. Then nothing may be loaded or launched for this one. */
static int
kernel_check_context(pcu_state *st, const pcu_context *ctx)
{
    CUcontext current = NULL;
    int rc;
    PCU_CALL_CURRENT(rc, st, CtxGetCurrent, (&current));
    if (rc == 0 && (!pcu_ctxrec_lives(&ctx->rec) || current != ctx->rec.handle)) {
        rc = pcu_raise_detail(st, "cuLaunchKernel", CUDA_ERROR_INVALID_CONTEXT,
                              pcu_ctxrec_lives(&ctx->rec)
                                  ? "another context became current during the call"
                                  : "the context was detached during the call");
    }
    return rc;
}

static CUfunction
kernel_make(pcu_state *st, pcu_context *ctx, const pcu_kernel_key *key)
{
    CUfunction function = NULL;
    CUmodule module = NULL;
    int rc;
    PyObject *image = kernel_image_new(key);
    if (image == NULL) {
        return NULL;
    }
    rc = kernel_check_context(st, ctx);
    if (rc == 0) {
        PCU_CALL(rc, st, ModuleLoadData, (&module, PyBytes_AS_STRING(image)));
    }
    Py_DECREF(image);
    if (rc < 0) {
        return NULL;
    }
    pcu_handle_created(PCU_HANDLE_module);
    PCU_CALL(rc, st, ModuleGetFunction, (&function, module, "kernel"));
    if (rc == 0) {
        rc = kernels_reserve(ctx);
    }
    if (rc < 0) {
        pcu_saved_error pending;
        pcu_error_save(&pending);
        kernel_unload_noraise(ctx, module);
        pcu_error_restore(&pending);
        return NULL;
    }
    kernel_entry *entry = kernel_place(ctx->kernels, key);
    if (entry->function != NULL) { /* another thread was faster */
        function = entry->function;
        kernel_unload_noraise(ctx, module); /* the table may move meanwhile */
        return function;
    }
    *entry = (kernel_entry){.key = *key, .function = function, .module = module};
    ctx->kernels->used++;
    return function;
}

CUfunction
pcu_kernel_find(pcu_state *st, pcu_context *ctx, const pcu_kernel_key *key)
{
    if (ctx->kernels != NULL) {
        kernel_entry *entry = kernel_place(ctx->kernels, key);
        if (entry->function != NULL) {
            return entry->function;
        }
    }
    Py_INCREF(ctx);
    CUfunction function = kernel_make(st, ctx, key);
    if (function != NULL && kernel_check_context(st, ctx) < 0) {
        function = NULL;
    }
    Py_DECREF(ctx);
    return function;
}

/* -- the launch -------------------------------------------------------------------- */

int
pcu_kernel_launch(pcu_state *st, CUfunction kernel, size_t blocks, unsigned int threads,
                  CUstream stream, pcu_argbuf *params)
{
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params->data,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &params->used, CU_LAUNCH_PARAM_END};
    if (blocks > INT32_MAX) {
        PyErr_Format(PyExc_OverflowError,
                     "a kernel of %zu blocks is more than a launch can have", blocks);
        return -1;
    }
    const pcu_ctxrec *rec = pcu_ctx_current; /* of the kernel */
    CUresult status;
    do {
        PCU_STATUS(status, LaunchKernel,
                   (kernel, (unsigned int)blocks, 1, 1, threads, 1, 1, 0, stream, NULL,
                    extra));
    } while (status != CUDA_SUCCESS && pcu_context_repair(st, status) &&
             rec == pcu_ctx_current);
    return status == CUDA_SUCCESS ? 0 : pcu_raise(st, "cuLaunchKernel", status);
}
