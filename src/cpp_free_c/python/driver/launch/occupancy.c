/* Occupancy: how many blocks and clusters of a kernel fit on the device, by the
 * driver's own computation.
 *
 * These are methods of Function, and Device.max_cooperative_blocks. Python is the only
 * caller. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/errors.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/launch/launch.h"
#include "python/driver/resource.h"

enum { WARP = 32, COOPERATIVE_LAUNCH = 95 };

/* The number of threads of a block: an int, or 1 to 3 ints. */
static int
occupancy_threads(pcu_state *st, PyObject *block, int *threads)
{
    unsigned int dims[3];
    if (pcu_as_dims(st, block, dims, "block") < 0) {
        return -1;
    }
    unsigned long long product = (unsigned long long)dims[0] * dims[1] * dims[2];
    if (dims[0] > INT_MAX || dims[1] > INT_MAX || dims[2] > INT_MAX || product == 0 ||
        product > INT_MAX) {
        PyErr_Format(PyExc_ValueError, "block must have 1 to %d threads, not %R",
                     INT_MAX, block);
        return -1;
    }
    *threads = (int)product;
    return 0;
}

/* Make the kernel's context current. */
static int
occupancy_enter(pcu_function *self, const char *routine, pcu_scope *scope)
{
    pcu_resource *module = (pcu_resource *)self->module;
    if (pcu_resource_check(module, routine) < 0) {
        return -1;
    }
    CUresult status = pcu_scope_enter(scope, self->ctx);
    if (status != CUDA_SUCCESS) {
        return pcu_raise(self->st, scope->routine, status);
    }
    return 0;
}

/* Leave the context, and raise for the status of the driver call. */
static int
occupancy_leave(pcu_function *self, const char *routine, CUresult status,
                pcu_scope *scope)
{
    CUresult left = pcu_scope_leave(scope);
    if (status != CUDA_SUCCESS) {
        return pcu_raise_detail(self->st, routine, status, "%U", self->name);
    }
    if (left != CUDA_SUCCESS) {
        return pcu_raise(self->st, "cuCtxPopCurrent", left);
    }
    return 0;
}

/* The blocks that one multiprocessor holds at once. */
static int
occupancy_blocks(pcu_function *self, int threads, size_t shared, int *blocks)
{
    static const char routine[] = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
    pcu_scope scope;
    if (occupancy_enter(self, routine, &scope) < 0) {
        return -1;
    }
    CUresult status = drv.OccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, self->handle, threads, shared);
    return occupancy_leave(self, routine, status, &scope);
}

/* -- sentences of docstrings ------------------------------------------------------- */

#define DOC_UNLOADED \
    "LogicError\n"   \
    "    If the context of the kernel has ended.\n"

#define DOC_BLOCK                   \
    "block : int or tuple of int\n" \
    "    Threads of a block, in up to 3 dimensions.\n"

#define DOC_SHARED             \
    "shared : int, optional\n" \
    "    Dynamic shared memory of a block in bytes. The default is 0.\n"

#define DOC_BAD_BLOCK                    \
    "ValueError\n"                       \
    "    If ``block`` has no threads.\n" \
    "LogicError\n"                       \
    "    If the context of the kernel has ended.\n"

/* -- Function.max_active_blocks ---------------------------------------------------- */

/* The arguments of the functions here; objects are borrowed. */
typedef struct {
    PyObject *block;
    size_t shared;
    int blocks;
    PyObject *cluster;
    PyObject *function;
} occupancy_args;

static const pcu_word occupancy_words[] = {
    PCU_WORD("block", pcu_as_object, occupancy_args, block),
    PCU_WORD("shared", pcu_as_size, occupancy_args, shared),
    PCU_WORD("blocks", pcu_as_int, occupancy_args, blocks),
    PCU_WORD("cluster", pcu_as_object, occupancy_args, cluster),
    PCU_WORD("function", pcu_as_object, occupancy_args, function),
};

PCU_SIGNATURE(occupancy_max_active_blocks, occupancy_words,
              "max_active_blocks($self, /, block, shared=0)\n"
              "--\n\n"
              "Return how many blocks one multiprocessor holds at once.\n"
              "\nParameters\n----------\n" DOC_BLOCK DOC_SHARED
              "\nReturns\n-------\n"
              "int\n"
              "    The number; 0 if not even one block fits.\n"
              "\nRaises\n------\n" DOC_BAD_BLOCK
              "\nSee Also\n--------\n"
              "Function.suggest_block : The size of blocks with the best occupancy.\n"
              "pycuda.tools.OccupancyRecord : The same from the figures of a device.\n"
              "\nExamples\n--------\n"
              ">>> from pycuda.compiler import SourceModule\n"
              ">>> f = SourceModule(\"__global__ void f() {}\").get_function(\"f\")\n"
              ">>> f.max_active_blocks(256) > 0\n"
              "True")

static PyObject *
occupancy_max_active_blocks(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    occupancy_args a = {0};
    int threads = 0;
    int blocks = 0;
    if (pcu_args_parse(self->st, &occupancy_max_active_blocks_signature, args, nargs,
                       kwnames, &a) < 0 ||
        occupancy_threads(self->st, a.block, &threads) < 0 ||
        occupancy_blocks(self, threads, a.shared, &blocks) < 0) {
        return NULL;
    }
    return PyLong_FromLong(blocks);
}

/* -- Function.suggest_block -------------------------------------------------------- */

/* The block size with the most active threads, and the number of blocks of this size
 * that fill the device. */
typedef struct {
    int threads;
    int blocks;
} suggestion;

int
pcu_occupancy_suggest(pcu_function *self, size_t shared, int limit, int *threads,
                      int *blocks)
{
    static const char routine[] = "cuOccupancyMaxPotentialBlockSize";
    pcu_scope scope;
    if (occupancy_enter(self, routine, &scope) < 0) {
        return -1;
    }
    CUresult status = drv.OccupancyMaxPotentialBlockSize(blocks, threads, self->handle,
                                                         NULL, shared, limit);
    return occupancy_leave(self, routine, status, &scope);
}

/* Ask the program for the shared memory of a block of this size. */
static int
occupancy_ask_shared(pcu_state *st, PyObject *function, int threads, size_t *shared)
{
    PyObject *value = PyObject_CallFunction(function, "i", threads);
    int rc = -1;
    if (value != NULL) {
        rc = pcu_as_size(st, value, shared, "the result of shared()");
        Py_DECREF(value);
    }
    return rc;
}

/* The same search for shared memory that depends on the block size. The driver's own
 * search takes a C function without an argument for the Python function. */
static int
occupancy_search(pcu_function *self, PyObject *function, int limit, suggestion *found)
{
    int most = 0;
    int best = 0;
    pcu_scope scope;
    if (occupancy_enter(self, "cuFuncGetAttribute", &scope) < 0) {
        return -1;
    }
    CUresult status = drv.FuncGetAttribute(
        &most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, self->handle);
    if (occupancy_leave(self, "cuFuncGetAttribute", status, &scope) < 0) {
        return -1;
    }
    if (limit > 0 && limit < most) {
        most = limit;
    }
    found->threads = found->blocks = 0;
    for (int size = (most + WARP - 1) / WARP * WARP; size > 0; size -= WARP) {
        int threads = Py_MIN(size, most);
        size_t shared = 0;
        int blocks = 0;
        if (occupancy_ask_shared(self->st, function, threads, &shared) < 0 ||
            occupancy_blocks(self, threads, shared, &blocks) < 0) {
            return -1;
        }
        if (blocks * threads > best) {
            best = blocks * threads;
            found->threads = threads;
            found->blocks = blocks * self->ctx->limits.multiprocessors;
        }
    }
    return 0;
}

typedef struct {
    PyObject *shared;
    int limit;
} suggest_args;

static const pcu_word suggest_words[] = {
    PCU_WORD("shared", pcu_as_object, suggest_args, shared),
    PCU_WORD("limit", pcu_as_int, suggest_args, limit),
};

PCU_SIGNATURE(
    occupancy_suggest_block, suggest_words,
    "suggest_block($self, /, shared=0, limit=0)\n"
    "--\n\n"
    "Return the size of blocks that keeps most threads of the device busy.\n"
    "\nParameters\n----------\n"
    "shared : int or callable, optional\n"
    "    Dynamic shared memory of a block in bytes, or a function that\n"
    "    returns it for a number of threads. The default is 0.\n"
    "limit : int, optional\n"
    "    Most threads of a block. The default, 0, is the kernel's own limit.\n"
    "\nReturns\n-------\n"
    "tuple of int\n"
    "    Threads of a block, and the number of such blocks with which the\n"
    "    device is full.\n"
    "\nRaises\n------\n" DOC_UNLOADED
    "\nSee Also\n--------\n"
    "Function.max_active_blocks : The occupancy of a given size.\n"
    "\nExamples\n--------\n"
    ">>> from pycuda.compiler import SourceModule\n"
    ">>> f = SourceModule(\"__global__ void f() {}\").get_function(\"f\")\n"
    ">>> threads, blocks = f.suggest_block()\n"
    ">>> threads % 32\n"
    "0")

static PyObject *
occupancy_suggest_block(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    suggest_args a = {NULL, 0};
    suggestion found = {0, 0};
    size_t shared = 0;
    int rc;
    if (pcu_args_parse(self->st, &occupancy_suggest_block_signature, args, nargs,
                       kwnames, &a) < 0) {
        return NULL;
    }
    if (a.shared != NULL && PyCallable_Check(a.shared)) {
        rc = occupancy_search(self, a.shared, a.limit, &found);
    }
    else {
        rc = 0;
        if (a.shared != NULL) {
            rc = pcu_as_size(self->st, a.shared, &shared, "shared");
        }
        if (rc == 0) {
            rc = pcu_occupancy_suggest(self, shared, a.limit, &found.threads,
                                       &found.blocks);
        }
    }
    if (rc < 0) {
        return NULL;
    }
    return Py_BuildValue("(ii)", found.threads, found.blocks);
}

/* -- Function.available_shared ----------------------------------------------------- */

PCU_SIGNATURE(occupancy_available_shared, occupancy_words,
              "available_shared($self, /, block, blocks=1)\n"
              "--\n\n"
              "Return how much dynamic shared memory each block can have.\n"
              "\nParameters\n----------\n" DOC_BLOCK
              "blocks : int, optional\n"
              "    Blocks that one multiprocessor is to hold at once. The default is\n"
              "    1.\n"
              "\nReturns\n-------\n"
              "int\n"
              "    Bytes.\n"
              "\nRaises\n------\n" DOC_BAD_BLOCK
              "\nSee Also\n--------\n"
              "Function.max_active_blocks : The blocks for a size of the memory.")

static PyObject *
occupancy_available_shared(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames)
{
    static const char routine[] = "cuOccupancyAvailableDynamicSMemPerBlock";
    pcu_function *self = (pcu_function *)op;
    occupancy_args a = {.blocks = 1};
    int threads = 0;
    size_t bytes = 0;
    pcu_scope scope;
    if (pcu_args_parse(self->st, &occupancy_available_shared_signature, args, nargs,
                       kwnames, &a) < 0 ||
        occupancy_threads(self->st, a.block, &threads) < 0 ||
        occupancy_enter(self, routine, &scope) < 0) {
        return NULL;
    }
    CUresult status = drv.OccupancyAvailableDynamicSMemPerBlock(&bytes, self->handle,
                                                                a.blocks, threads);
    if (occupancy_leave(self, routine, status, &scope) < 0) {
        return NULL;
    }
    return PyLong_FromSize_t(bytes);
}

/* -- clusters ---------------------------------------------------------------------- */

/* A launch whose grid is one cluster for each multiprocessor. */
static int
occupancy_config(pcu_function *self, const occupancy_args *a, CUlaunchConfig *config,
                 CUlaunchAttribute *attribute)
{
    unsigned int block[3];
    unsigned int cluster[3] = {1, 1, 1};
    if (pcu_as_dims(self->st, a->block, block, "block") < 0 ||
        (a->cluster != NULL &&
         pcu_as_dims(self->st, a->cluster, cluster, "cluster") < 0)) {
        return -1;
    }
    memset(attribute, 0, sizeof(*attribute));
    attribute->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute->value.clusterDim.x = cluster[0];
    attribute->value.clusterDim.y = cluster[1];
    attribute->value.clusterDim.z = cluster[2];
    *config = (CUlaunchConfig){
        .gridDimX = cluster[0] * (unsigned int)self->ctx->limits.multiprocessors,
        .gridDimY = cluster[1],
        .gridDimZ = cluster[2],
        .blockDimX = block[0],
        .blockDimY = block[1],
        .blockDimZ = block[2],
        .sharedMemBytes = (unsigned int)Py_MIN(a->shared, UINT_MAX)};
    if (a->cluster != NULL) {
        config->attrs = attribute;
        config->numAttrs = 1;
    }
    return 0;
}

PCU_SIGNATURE(occupancy_max_active_clusters, occupancy_words,
              "max_active_clusters($self, /, cluster, block, shared=0)\n"
              "--\n\n"
              "Return how many clusters the device holds at once.\n"
              "\nParameters\n----------\n"
              "cluster : int or tuple of int\n"
              "    Blocks of a cluster, in up to 3 dimensions.\n" DOC_BLOCK DOC_SHARED
              "\nReturns\n-------\n"
              "int\n"
              "    The number.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the driver refuses the shape, or if the context of the kernel\n"
              "    has ended.\n"
              "\nSee Also\n--------\n"
              "Function.max_cluster_size : The most blocks of a cluster.\n"
              "\nNotes\n-----\n"
              "Clusters need compute capability 9.0.")

static PyObject *
occupancy_max_active_clusters(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames)
{
    static const char routine[] = "cuOccupancyMaxActiveClusters";
    pcu_function *self = (pcu_function *)op;
    occupancy_args a = {0};
    CUlaunchConfig config;
    CUlaunchAttribute attribute;
    int clusters = 0;
    pcu_scope scope;
    if (pcu_args_parse(self->st, &occupancy_max_active_clusters_signature, args, nargs,
                       kwnames, &a) < 0 ||
        occupancy_config(self, &a, &config, &attribute) < 0 ||
        occupancy_enter(self, routine, &scope) < 0) {
        return NULL;
    }
    CUresult status = drv.OccupancyMaxActiveClusters(&clusters, self->handle, &config);
    if (occupancy_leave(self, routine, status, &scope) < 0) {
        return NULL;
    }
    return PyLong_FromLong(clusters);
}

PCU_SIGNATURE(occupancy_max_cluster_size, occupancy_words,
              "max_cluster_size($self, /, block, shared=0)\n"
              "--\n\n"
              "Return the most blocks that a cluster can have.\n"
              "\nParameters\n----------\n" DOC_BLOCK DOC_SHARED
              "\nReturns\n-------\n"
              "int\n"
              "    Number of blocks.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the driver refuses the shape, or if the context of the kernel\n"
              "    has ended.\n"
              "\nSee Also\n--------\n"
              "Function.max_active_clusters : How many clusters run at once.\n"
              "\nNotes\n-----\n"
              "More than 8 blocks need the function attribute\n"
              "NON_PORTABLE_CLUSTER_SIZE_ALLOWED.")

static PyObject *
occupancy_max_cluster_size(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames)
{
    static const char routine[] = "cuOccupancyMaxPotentialClusterSize";
    pcu_function *self = (pcu_function *)op;
    occupancy_args a = {0};
    CUlaunchConfig config;
    CUlaunchAttribute attribute;
    int blocks = 0;
    pcu_scope scope;
    if (pcu_args_parse(self->st, &occupancy_max_cluster_size_signature, args, nargs,
                       kwnames, &a) < 0 ||
        occupancy_config(self, &a, &config, &attribute) < 0 ||
        occupancy_enter(self, routine, &scope) < 0) {
        return NULL;
    }
    CUresult status =
        drv.OccupancyMaxPotentialClusterSize(&blocks, self->handle, &config);
    if (occupancy_leave(self, routine, status, &scope) < 0) {
        return NULL;
    }
    return PyLong_FromLong(blocks);
}

/* -- Device.max_cooperative_blocks ------------------------------------------------- */

PCU_SIGNATURE(occupancy_max_cooperative_blocks, occupancy_words,
              "max_cooperative_blocks($self, /, function, block=None, shared=0)\n"
              "--\n\n"
              "Return the most blocks of a cooperative launch of a kernel.\n"
              "\nParameters\n----------\n"
              "function : Function\n"
              "    The kernel, which is loaded on this device.\n"
              "block : int or tuple of int, optional\n"
              "    Threads of a block. The default is the result of "
              "``suggest_block``.\n" DOC_SHARED
              "\nReturns\n-------\n"
              "int\n"
              "    The number; 0 if the device has no cooperative launches.\n"
              "\nRaises\n------\n"
              "ValueError\n"
              "    If the kernel is loaded on another device, or if ``block`` has no\n"
              "    threads.\n"
              "TypeError\n"
              "    If ``function`` is no ``Function``.\n"
              "\nSee Also\n--------\n"
              "Function.max_active_blocks : The blocks of one multiprocessor.\n"
              "LaunchConfig : Cooperative launches.")

/* Check that the kernel is loaded on this device. */
static int
occupancy_check_device(pcu_state *st, PyObject *device, PyObject *function)
{
    if (!PyObject_TypeCheck(function, st->Function)) {
        PyErr_Format(PyExc_TypeError, "function must be a Function, not %s",
                     Py_TYPE(function)->tp_name);
        return -1;
    }
    pcu_function *kernel = (pcu_function *)function;
    if (kernel->ctx->device != pcu_device_handle(device)) {
        PyErr_Format(PyExc_ValueError,
                     "%U is loaded on device %d, not on device %d: ask that device",
                     kernel->name, kernel->ctx->device, pcu_device_handle(device));
        return -1;
    }
    return 0;
}

static PyObject *
occupancy_max_cooperative_blocks(PyObject *device, PyTypeObject *defining,
                                 PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type(defining);
    occupancy_args a = {0};
    suggestion size = {0, 0};
    int able = 0;
    int blocks = 0;
    if (st == NULL ||
        pcu_args_parse(st, &occupancy_max_cooperative_blocks_signature, args, nargs,
                       kwnames, &a) < 0 ||
        occupancy_check_device(st, device, a.function) < 0) {
        return NULL;
    }
    pcu_function *kernel = (pcu_function *)a.function;
    CUresult status =
        drv.DeviceGetAttribute(&able, COOPERATIVE_LAUNCH, kernel->ctx->device);
    if (status != CUDA_SUCCESS) {
        pcu_raise(st, "cuDeviceGetAttribute", status);
        return NULL;
    }
    int rc;
    if (a.block == NULL || a.block == Py_None) {
        rc = pcu_occupancy_suggest(kernel, a.shared, 0, &size.threads, &size.blocks);
    }
    else {
        rc = occupancy_threads(st, a.block, &size.threads);
    }
    if (rc < 0 || occupancy_blocks(kernel, size.threads, a.shared, &blocks) < 0) {
        return NULL;
    }
    if (!able) {
        blocks = 0;
    }
    return PyLong_FromLong((long)blocks * kernel->ctx->limits.multiprocessors);
}

#define OCCUPANCY_METHOD(name) PCU_METHOD(#name, occupancy_##name)

static PyMethodDef occupancy_function_methods[] = {
    OCCUPANCY_METHOD(max_active_blocks), OCCUPANCY_METHOD(suggest_block),
    OCCUPANCY_METHOD(available_shared),  OCCUPANCY_METHOD(max_active_clusters),
    OCCUPANCY_METHOD(max_cluster_size),  {NULL, NULL, 0, NULL},
};

static PyMethodDef occupancy_device_methods[] = {
    {"max_cooperative_blocks",
     (PyCFunction)(void (*)(void))occupancy_max_cooperative_blocks,
     METH_METHOD | METH_FASTCALL | METH_KEYWORDS, occupancy_max_cooperative_blocks_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_occupancy_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    if (pcu_add_methods(st->Function, occupancy_function_methods) < 0) {
        return -1;
    }
    return pcu_add_methods(st->Device, occupancy_device_methods);
}
