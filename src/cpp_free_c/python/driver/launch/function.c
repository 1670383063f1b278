/* Function: a kernel of a loaded module. The object, its attributes and settings.
 *
 * Function.__call__ is in call.c, prepare() and the prepared calls in prepared_call.c,
 * the launch calls of CUDA before 4.0 in old_calls.c, occupancy in occupancy.c,
 * functions of modules of other libraries in module/foreign_module.c.
 *
 * Invariant: a Function holds its module, which owns the code. */
#include "python/driver/launch/launch.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_call.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/support/suspects.h"
#include "python/driver/context.h"
#include "python/driver/resource.h"
#include "python/driver/texture/reference.h"

#include "abi/function_attributes.h"
#include "python/support/errors.h"

PyObject *
pcu_function_new(pcu_state *st, PyObject *module, CUfunction handle, PyObject *name)
{
    PyTypeObject *type = st->Function;
    PyObject *kept = pcu_launch_name_keep(st, name);
    if (kept == NULL) {
        return NULL;
    }
    pcu_function *self = (pcu_function *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->vectorcall = pcu_call_function;
    self->st = st;
    self->module = Py_NewRef(module);
    self->name = Py_NewRef(name);
    self->launch_name = kept;
    self->handle = handle;
    self->ctx = pcu_context_rec(((pcu_resource *)module)->ctx);
    self->nparams = -1;
    self->old_block[0] = self->old_block[1] = self->old_block[2] = 1;
    return (PyObject *)self;
}

/* -- limits and parameters, as the driver reports them ----------------------------- */

static CUresult
description_read_limits(pcu_function *self)
{
    int threads = 0;
    int static_shared = 0;
    int dynamic = 0;
    CUresult status = drv.FuncGetAttribute(
        &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, self->handle);
    if (status == CUDA_SUCCESS) {
        status = drv.FuncGetAttribute(
            &static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, self->handle);
    }
    if (status == CUDA_SUCCESS) {
        status = drv.FuncGetAttribute(
            &dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, self->handle);
    }
    self->max_threads = threads;
    self->static_shared = (size_t)static_shared;
    self->max_dynamic = (size_t)dynamic;
    return status;
}

/* Count the parameters. *count is -1 if this driver cannot report them. */
static int
description_count_params(pcu_function *self, Py_ssize_t *count)
{
    size_t offset = 0;
    size_t size = 0;
    CUresult status = CUDA_SUCCESS;
    for (*count = 0; status == CUDA_SUCCESS; ++*count) {
        status = drv.FuncGetParamInfo(self->handle, (size_t)*count, &offset, &size);
    }
    --*count;
    if (status == CUDA_ERROR_INVALID_VALUE) { /* past the last one */
        return 0;
    }
    *count = -1;
    if (status == CUDA_ERROR_NOT_FOUND || status == CUDA_ERROR_NOT_SUPPORTED) {
        return 0;
    }
    return pcu_raise(self->st, "cuFuncGetParamInfo", status);
}

static int
description_read_params(pcu_function *self)
{
    Py_ssize_t n;
    pcu_param *params = NULL;
    size_t end = 0;
    if (self->nparams >= 0) { /* they never change, and a call may be using them */
        return 0;
    }
    if (description_count_params(self, &n) < 0) {
        return -1;
    }
    if (n > 0) {
        params = PyMem_Calloc((size_t)n, sizeof(*params));
        if (params == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        pcu_param *param = &params[i];
        CUresult status =
            drv.FuncGetParamInfo(self->handle, (size_t)i, &param->offset, &param->size);
        if (status != CUDA_SUCCESS) {
            PyMem_Free(params);
            return pcu_raise(self->st, "cuFuncGetParamInfo", status);
        }
        if (param->offset + param->size > end) {
            end = param->offset + param->size;
        }
    }
    PyMem_Free(self->params);
    self->params = params;
    self->params_size = end;
    self->nparams = n;
    return 0;
}

int
pcu_function_describe(pcu_function *self)
{
    pcu_resource *module = (pcu_resource *)self->module;
    pcu_scope scope;
    int rc;
    if (self->described) {
        return 0;
    }
    if (pcu_resource_check(module, "cuFuncGetAttribute") < 0) {
        return -1;
    }
    CUresult status = pcu_scope_enter(&scope, pcu_context_rec(module->ctx));
    if (status != CUDA_SUCCESS) {
        return pcu_raise(self->st, scope.routine, status);
    }
    status = description_read_limits(self);
    if (status == CUDA_SUCCESS) {
        rc = description_read_params(self);
    }
    else {
        rc = pcu_raise(self->st, "cuFuncGetAttribute", status);
    }
    status = pcu_scope_leave(&scope);
    if (rc == 0 && status != CUDA_SUCCESS) {
        rc = pcu_raise(self->st, "cuCtxPopCurrent", status);
    }
    self->described = rc == 0;
    return rc;
}

void
pcu_function_forget(pcu_function *self)
{
    self->described = false;
    self->size_threads = 0;
}

static int
function_traverse(PyObject *op, visitproc visit, void *arg)
{
    pcu_function *self = (pcu_function *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->module);
    /* The name and the format may be instances of a class derived from str, which may
     * refer to other objects. */
    Py_VISIT(self->name);
    Py_VISIT(self->arg_format);
    Py_VISIT(self->texrefs);
    Py_VISIT(self->dict);
    return 0;
}

/* Keep the module: it owns the code behind handle. */
static int
function_clear(PyObject *op)
{
    Py_CLEAR(((pcu_function *)op)->dict);
    return 0;
}

static void
function_dealloc(PyObject *op)
{
    pcu_function *self = (pcu_function *)op;
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    function_clear(op);
    PyMem_Free(self->params);
    pcu_argument_sites_free(self->sites);
    pcu_prepared_release(self->prepared);
    PyMem_Free(self->old_params);
    Py_CLEAR(self->texrefs);
    Py_CLEAR(self->arg_format);
    Py_CLEAR(self->name);
    Py_CLEAR(self->module);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyObject *
function_repr(PyObject *op)
{
    return PyUnicode_FromFormat("<%s %U>", Py_TYPE(op)->tp_name,
                                ((pcu_function *)op)->name);
}

/* -- sentences of docstrings ------------------------------------------------------- */

#define DOC_UNLOADED \
    "LogicError\n"   \
    "    If the context of the kernel has ended.\n"

#define DOC_PREPARED_SHAPE                 \
    "grid : int or tuple of int\n"         \
    "    Blocks, in up to 3 dimensions.\n" \
    "block : tuple of int\n"               \
    "    Threads of a block, in up to 3 dimensions.\n"

#define DOC_PREPARED_ARGS \
    "*args : object\n"    \
    "    Arguments.\n"

#define DOC_SHARED_SIZE             \
    "shared_size : int, optional\n" \
    "    Dynamic shared memory of a block in bytes. The default is 0.\n"

#define DOC_ATTRIBUTES                                                          \
    "cooperative : bool, optional\n"                                            \
    "    If true, all blocks are on the device together.\n"                     \
    "cluster : int or tuple of int, optional\n"                                 \
    "    Blocks of a cluster.\n"                                                \
    "programmatic : bool, optional\n"                                           \
    "    If true, the kernel may begin before the one ahead of it has ended.\n" \
    "priority : int, optional\n"                                                \
    "    Priority; a lower number is a higher one.\n"                           \
    "launch_config : LaunchConfig, optional\n"                                  \
    "    More attributes of the launch.\n"

#define DOC_NOT_PREPARED                                                     \
    "AttributeError\n"                                                       \
    "    If ``prepare`` was not called.\n"                                   \
    "struct.error\n"                                                         \
    "    If the arguments are too few or too many, or not of their types.\n" \
    "LogicError\n"                                                           \
    "    If the shape does not fit, or if the context of the kernel has ended.\n"

/* -- attributes and settings ------------------------------------------------------- */

static PyObject *
function_attribute_new(pcu_function *self, unsigned int attribute)
{
    int value = 0;
    int rc;
    if (pcu_resource_check((pcu_resource *)self->module, "cuFuncGetAttribute") < 0) {
        return NULL;
    }
    PCU_CALL(rc, self->st, FuncGetAttribute, (&value, attribute, self->handle));
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromLong(value);
}

static PyObject *
function_get_property(PyObject *op, void *closure)
{
    return function_attribute_new((pcu_function *)op, (unsigned int)(intptr_t)closure);
}

PyDoc_STRVAR(function_get_attribute_doc,
             "get_attribute($self, attr, /)\n"
             "--\n\n"
             "Return an attribute of the kernel.\n"
             "\nParameters\n----------\n"
             "attr : function_attribute\n"
             "    Which one.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    The value.\n"
             "\nRaises\n------\n" DOC_UNLOADED
             "\nSee Also\n--------\n"
             "Function.set_attribute : Change it.\n"
             "\nNotes\n-----\n"
             "The property with the name in lower case has the same value.\n"
             "\nExamples\n--------\n"
             ">>> from pycuda.compiler import SourceModule\n"
             ">>> f = SourceModule(\"__global__ void f() {}\").get_function(\"f\")\n"
             ">>> f.get_attribute(drv.function_attribute.MAX_THREADS_PER_BLOCK)\n"
             "1024");

static PyObject *
function_get_attribute(PyObject *op, PyObject *attr)
{
    pcu_function *self = (pcu_function *)op;
    unsigned int attribute = 0;
    if (pcu_enum_value(self->st->enum_function_attribute, attr, &attribute, "attr") <
        0) {
        return NULL;
    }
    return function_attribute_new(self, attribute);
}

typedef struct {
    PyObject *which;
    int value;
} function_set_args;

static const pcu_word function_set_words[] = {
    PCU_WORD("attr", pcu_as_object, function_set_args, which),
    PCU_WORD("value", pcu_as_int, function_set_args, value),
};

PCU_SIGNATURE(function_set_attribute, function_set_words,
              "set_attribute($self, attr, value, /)\n"
              "--\n\n"
              "Set an attribute of the kernel.\n"
              "\nParameters\n----------\n"
              "attr : function_attribute\n"
              "    MAX_DYNAMIC_SHARED_SIZE_BYTES, PREFERRED_SHARED_MEMORY_CARVEOUT or\n"
              "    another one that can be changed.\n"
              "value : int\n"
              "    The value.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the attribute cannot be changed, if the value is not possible,\n"
              "    or if the context of the kernel has ended.\n"
              "\nSee Also\n--------\n"
              "Function.get_attribute : Read it.\n"
              "\nNotes\n-----\n"
              "A launch with more than 48 KiB of dynamic shared memory needs\n"
              "MAX_DYNAMIC_SHARED_SIZE_BYTES.")

static PyObject *
function_set_attribute(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    pcu_function *self = (pcu_function *)op;
    function_set_args a = {0};
    unsigned int attribute = 0;
    int rc;
    if (pcu_args_parse(self->st, &function_set_attribute_signature, args, nargs, NULL,
                       &a) < 0 ||
        pcu_enum_value(self->st->enum_function_attribute, a.which, &attribute, "attr") <
            0) {
        return NULL;
    }
    if (pcu_resource_check((pcu_resource *)self->module, "cuFuncSetAttribute") < 0) {
        return NULL;
    }
    PCU_CALL(rc, self->st, FuncSetAttribute, (self->handle, attribute, a.value));
    pcu_function_forget(self);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(function_set_cache_config_doc,
             "set_cache_config($self, config, /)\n"
             "--\n\n"
             "Set the preferred split between L1 cache and shared memory.\n"
             "\nParameters\n----------\n"
             "config : func_cache\n"
             "    The preference.\n"
             "\nRaises\n------\n" DOC_UNLOADED
             "\nSee Also\n--------\n"
             "Context.set_cache_config : The preference of all kernels.");

static PyObject *
function_set_cache_config(PyObject *op, PyObject *value)
{
    pcu_function *self = (pcu_function *)op;
    unsigned int config = 0;
    int rc;
    if (pcu_enum_value(self->st->enum_func_cache, value, &config, "config") < 0) {
        return NULL;
    }
    if (pcu_resource_check((pcu_resource *)self->module, "cuFuncSetCacheConfig") < 0) {
        return NULL;
    }
    PCU_CALL(rc, self->st, FuncSetCacheConfig, (self->handle, config));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(function_set_shared_config_doc,
             "set_shared_config($self, config, /)\n"
             "--\n\n"
             "Set the preferred width of shared-memory banks.\n"
             "\nParameters\n----------\n"
             "config : shared_config\n"
             "    The width.\n"
             "\nRaises\n------\n" DOC_UNLOADED
             "\nSee Also\n--------\n"
             "Context.set_shared_config : The width for all kernels.");

static PyObject *
function_set_shared_config(PyObject *op, PyObject *value)
{
    pcu_function *self = (pcu_function *)op;
    unsigned int config = 0;
    int rc;
    if (pcu_enum_value(self->st->enum_shared_config, value, &config, "config") < 0) {
        return NULL;
    }
    if (pcu_resource_check((pcu_resource *)self->module, "cuFuncSetSharedMemConfig") <
        0) {
        return NULL;
    }
    PCU_CALL(rc, self->st, FuncSetSharedMemConfig, (self->handle, config));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(function_param_set_texref_doc,
             "param_set_texref($self, texref, /)\n"
             "--\n\n"
             "Check that an object is a texture reference.\n"
             "\nParameters\n----------\n"
             "texref : TextureReference\n"
             "    The object.\n"
             "\nRaises\n------\n"
             "TypeError\n"
             "    If it is none.\n"
             "\nSee Also\n--------\n"
             "Module.get_texref : Get a texture reference.\n"
             "\nNotes\n-----\n"
             "Before CUDA 3.2 this call was needed to use the reference in launches.");

static PyObject *
function_param_set_texref(PyObject *op, PyObject *texref)
{
    PyObject *list = PyTuple_Pack(1, texref);
    int rc = -1;
    if (list != NULL) {
        rc = pcu_module_references_check(((pcu_function *)op)->st, list, 0);
    }
    Py_XDECREF(list);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

typedef struct {
    PyObject *arg_types; /* borrowed, as is the other */
    PyObject *texrefs;
} prepare_args;

static const pcu_word prepare_words[] = {
    PCU_WORD("arg_types", pcu_as_object, prepare_args, arg_types),
    PCU_WORD("texrefs", pcu_as_object, prepare_args, texrefs),
};

PCU_SIGNATURE(
    function_prepare, prepare_words,
    "prepare($self, /, arg_types, texrefs=None)\n"
    "--\n\n"
    "Set the argument types of prepared calls.\n"
    "\nParameters\n----------\n"
    "arg_types : str or iterable\n"
    "    Format of the kind that ``struct`` has, with P for pointers, or an\n"
    "    item for each argument: a NumPy type or dtype. Any other item, such\n"
    "    as None or \"P\", is a pointer.\n"
    "texrefs : iterable of TextureReference, optional\n"
    "    Texture references that the kernel uses.\n"
    "\nReturns\n-------\n"
    "Function\n"
    "    The function.\n"
    "\nRaises\n------\n"
    "ValueError\n"
    "    If the format is invalid.\n"
    "TypeError\n"
    "    If the types do not fit the kernel's parameters.\n"
    "\nSee Also\n--------\n"
    "Function.prepared_call : Launch.\n"
    "\nNotes\n-----\n"
    "Prepared calls are faster than others: the types of the arguments are\n"
    "not looked at. NumPy scalars are not needed.\n"
    "\nExamples\n--------\n"
    ">>> from pycuda.compiler import SourceModule\n"
    ">>> add = SourceModule('''\n"
    "... __global__ void add(int *x, int n) { x[threadIdx.x] += n; }\n"
    "... ''').get_function(\"add\")\n"
    ">>> x = gpuarray.zeros(3, np.int32)\n"
    ">>> add.prepare(\"Pi\").prepared_call((1, 1), (3, 1, 1), x.gpudata, 4)\n"
    ">>> x\n"
    "array([4, 4, 4], dtype=int32)")

static PyObject *
function_prepare(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    prepare_args a = {0};
    if (pcu_args_parse(((pcu_function *)op)->st, &function_prepare_signature, args,
                       nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return pcu_function_prepare(op, a.arg_types, a.texrefs);
}

PyDoc_STRVAR(function_prepared_call_doc,
             "prepared_call($self, /, grid, block, *args, shared_size=0,\n"
             "cooperative=None, cluster=None, programmatic=None, priority=None,\n"
             "launch_config=None)\n"
             "--\n\n"
             "Launch on the current stream with arguments of the prepared types.\n"
             "\nParameters\n----------\n" DOC_PREPARED_SHAPE DOC_PREPARED_ARGS
                 DOC_SHARED_SIZE DOC_ATTRIBUTES "\nRaises\n------\n" DOC_NOT_PREPARED
             "\nSee Also\n--------\n"
             "Function.prepare : Set the types.\n"
             "Function.prepared_async_call : Launch on another stream.\n"
             "\nNotes\n-----\n"
             "``size=n`` or a shape such as ``size=(ny, nx)`` stands for ``grid`` and\n"
             "``block``, which are then left out, as in a call of the function.\n"
             "\n" PCU_DOC_NO_WAIT
             "\nExamples\n--------\n"
             ">>> from pycuda.compiler import SourceModule\n"
             ">>> fill = SourceModule('''\n"
             "... __global__ void fill(float *x, float a) { x[threadIdx.x] = a; }\n"
             "... ''').get_function(\"fill\").prepare([None, np.float32])\n"
             ">>> x = gpuarray.empty(2, np.float32)\n"
             ">>> fill.prepared_call((1, 1), (2, 1, 1), x.gpudata, 1.5)\n"
             ">>> x\n"
             "array([1.5, 1.5], dtype=float32)");
PyDoc_STRVAR(
    function_prepared_async_call_doc,
    "prepared_async_call($self, /, grid, block, stream, *args, shared_size=0,\n"
    "cooperative=None, cluster=None, programmatic=None, priority=None,\n"
    "launch_config=None)\n"
    "--\n\n"
    "Launch on a stream with arguments of the prepared types.\n"
    "\nParameters\n----------\n" DOC_PREPARED_SHAPE
    "stream : Stream or None\n"
    "    Stream; None is the current one.\n" DOC_PREPARED_ARGS DOC_SHARED_SIZE
        DOC_ATTRIBUTES "\nRaises\n------\n" DOC_NOT_PREPARED
    "\nSee Also\n--------\n"
    "Function.prepared_call : Launch on the current stream.\n"
    "\nNotes\n-----\n" PCU_DOC_NO_WAIT);
PyDoc_STRVAR(function_prepared_timed_call_doc,
             "prepared_timed_call($self, /, grid, block, *args, shared_size=0,\n"
             "cooperative=None, cluster=None, programmatic=None, priority=None,\n"
             "launch_config=None)\n"
             "--\n\n"
             "Launch between two events, and return a function for the time.\n"
             "\nParameters\n----------\n" DOC_PREPARED_SHAPE DOC_PREPARED_ARGS
                 DOC_SHARED_SIZE DOC_ATTRIBUTES
             "\nReturns\n-------\n"
             "callable\n"
             "    Function without arguments that waits for the kernel and returns\n"
             "    the seconds that it took.\n"
             "\nRaises\n------\n" DOC_NOT_PREPARED
             "\nSee Also\n--------\n"
             "Function.prepared_call : Launch without events.\n"
             "\nNotes\n-----\n" PCU_DOC_NO_WAIT
             "\nExamples\n--------\n"
             ">>> from pycuda.compiler import SourceModule\n"
             ">>> f = SourceModule(\"__global__ void f() {}\").get_function(\"f\")\n"
             ">>> seconds = f.prepare(\"\").prepared_timed_call((1, 1), (32, 1, 1))\n"
             ">>> seconds() >= 0\n"
             "True");

#define FUNCTION_KEYWORDS(name, function)                                            \
    {                                                                                \
#        name, (PyCFunction)(void (*)(void))function, METH_FASTCALL | METH_KEYWORDS, \
            function_##name##_doc                                                    \
    }

static PyMethodDef function_methods[] = {
    {"get_attribute", function_get_attribute, METH_O, function_get_attribute_doc},
    {"set_attribute", (PyCFunction)(void (*)(void))function_set_attribute,
     METH_FASTCALL, function_set_attribute_doc},
    {"set_cache_config", function_set_cache_config, METH_O,
     function_set_cache_config_doc},
    {"set_shared_config", function_set_shared_config, METH_O,
     function_set_shared_config_doc},
    {"param_set_texref", function_param_set_texref, METH_O,
     function_param_set_texref_doc},
    FUNCTION_KEYWORDS(prepare, function_prepare),
    FUNCTION_KEYWORDS(prepared_call, pcu_function_prepared_call),
    FUNCTION_KEYWORDS(prepared_async_call, pcu_function_prepared_async_call),
    FUNCTION_KEYWORDS(prepared_timed_call, pcu_function_prepared_timed_call),
    {NULL, NULL, 0, NULL},
};

static PyObject *
function_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((pcu_function *)op)->handle);
}

static PyObject *
function_get_name(PyObject *op, void *Py_UNUSED(closure))
{
    return Py_NewRef(((pcu_function *)op)->name);
}

static PyGetSetDef function_getset[] = {
    {"handle", function_get_handle, NULL, "The CUfunction as an int.", NULL},
    {"name", function_get_name, NULL, "The name that get_function() was given.", NULL},
    {"arg_format", pcu_function_get_arg_format, pcu_function_set_arg_format,
     "The format of prepared calls, a str. Assigning it does the same as prepare().\n"
     "Before that the attribute does not exist.",
     NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef function_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(pcu_function, vectorcall),
     Py_READONLY, NULL},
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_function, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_function, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(function_doc,
             "A kernel, from ``Module.get_function``.\n\n"
             "``f(*args, block, grid=(1, 1), stream=None, shared=0, texrefs=[],\n"
             "time_kernel=False)`` launches it. Arguments have a fixed size: NumPy\n"
             "scalars, device memory, arrays on the device, In, Out and InOut.\n"
             "``block`` and ``grid`` are an int or up to 3 ints, ``shared`` is bytes\n"
             "of dynamic shared memory, and a stream of None is the current one. The\n"
             "call does not wait, unless an argument is In, Out or InOut. With\n"
             "``time_kernel`` it waits for the kernel and returns the seconds.\n"
             "``size=n`` or a shape such as ``size=(ny, nx)``, in place of both block\n"
             "and grid, starts a thread for each element, and some more: the kernel\n"
             "compares its index with the size.\n\n"
             "``cooperative=True`` keeps all blocks on the device together,\n"
             "``cluster=(x, y, z)`` groups blocks, ``programmatic=True`` lets the\n"
             "kernel begin before the one ahead of it has ended, ``priority`` is that\n"
             "of a stream, ``launch_config`` is a ``LaunchConfig``. Each member of\n"
             "``function_attribute`` is also a property, in lower case.\n"
             "\nAttributes\n----------\n"
             "texrefs : list of TextureReference\n"
             "    The texture references that prepare() was given; set by prepare().\n"
             "\nSee Also\n--------\n"
             "Function.prepare : Make calls faster.\n"
             "LaunchConfig : Attributes of launches.\n"
             "Function.suggest_block : A good size of blocks.\n"
             "\nExamples\n--------\n"
             ">>> from pycuda.compiler import SourceModule\n"
             ">>> scale = SourceModule('''\n"
             "... __global__ void scale(float *x, float factor, int n) {\n"
             "...     int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "...     if (i < n) x[i] *= factor;\n"
             "... }''').get_function(\"scale\")\n"
             ">>> x = gpuarray.to_gpu(np.arange(4, dtype=np.float32))\n"
             ">>> scale(x, np.float32(10), np.int32(x.size), size=x.size)\n"
             ">>> x\n"
             "array([ 0., 10., 20., 30.], dtype=float32)");

static PyType_Slot function_slots[] = {
    {Py_tp_doc, (void *)function_doc}, {Py_tp_traverse, function_traverse},
    {Py_tp_clear, function_clear},     {Py_tp_dealloc, function_dealloc},
    {Py_tp_repr, function_repr},       {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, function_members}, {Py_tp_getset, function_getset},
    {Py_tp_methods, function_methods}, {0, NULL},
};

static PyType_Spec function_spec = {
    "pycuda._driver.Function", sizeof(pcu_function), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
        Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_VECTORCALL,
    function_slots};

/* The last row, MAX, is the number of attributes. It gets no property. */
#define FUNCTION_PROPERTY(name, value, doc) {#name, value, doc},
static const pcu_property function_properties[] = {PCU_FUNC_ATTRS(FUNCTION_PROPERTY)};
#undef FUNCTION_PROPERTY

int
pcu_function_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->Function, &function_spec, NULL) < 0) {
        return -1;
    }
    if (pcu_add_methods(st->Function, pcu_old_call_methods) < 0) {
        return -1;
    }
    return pcu_add_properties(st, st->Function, function_properties,
                              Py_ARRAY_LENGTH(function_properties) - 1,
                              function_get_property);
}
