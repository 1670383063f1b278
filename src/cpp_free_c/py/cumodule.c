/* Module: code loaded into a context. Loading runs the driver's JIT compiler on PTX;
 * what that says goes to the message handler, and with a failure into the exception. */

#include "texref.h"

enum { MODULE_LOG_BYTES = 32768, MODULE_OPTIONS_MAX = 40 };

/* The options of one load: what the caller asked, then the two logs. */
typedef struct {
    unsigned int count;
    CUjit_option keys[MODULE_OPTIONS_MAX + 4];
    void *values[MODULE_OPTIONS_MAX + 4];
    char *info; /* owned; MODULE_LOG_BYTES each */
    char *error;
} module_jit;

static void
module_jit_add(module_jit *jit, CUjit_option key, uintptr_t value)
{
    jit->keys[jit->count] = key;
    jit->values[jit->count] = (void *)value;
    jit->count++;
}

static int
module_jit_add_pair(pcu_state *st, module_jit *jit, PyObject *pair)
{
    unsigned int key = 0;
    unsigned long long value = 0;
    PyObject *items = PySequence_Tuple(pair);
    if (items == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_SetString(PyExc_TypeError, "options must be pairs (jit_option, int)");
        }
        return -1;
    }
    int rc = -1;
    if (PyTuple_GET_SIZE(items) != 2) {
        PyErr_SetString(PyExc_TypeError, "options must be pairs (jit_option, int)");
    }
    else if (jit->count >= MODULE_OPTIONS_MAX) {
        PyErr_Format(PyExc_ValueError, "at most %d options are possible",
                     MODULE_OPTIONS_MAX);
    }
    else if (pcu_enum_value(st->enum_jit_option, PyTuple_GET_ITEM(items, 0), &key,
                            "option") == 0 &&
             pcu_as_integer(PyTuple_GET_ITEM(items, 1), 0, UINT_MAX, &value,
                            "option value") == 0) {
        module_jit_add(jit, key, (uintptr_t)value);
        rc = 0;
    }
    Py_DECREF(items);
    return rc;
}

static int
module_jit_init(pcu_state *st, module_jit *jit, PyObject *options)
{
    PyObject *iterator = NULL;
    PyObject *pair;
    memset(jit, 0, sizeof(*jit));
    jit->info = PyMem_Calloc(2, MODULE_LOG_BYTES);
    if (jit->info == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    jit->error = jit->info + MODULE_LOG_BYTES;
    if (options != NULL && options != Py_None) {
        iterator = PyObject_GetIter(options);
        if (iterator == NULL) {
            return -1;
        }
        while ((pair = PyIter_Next(iterator)) != NULL) {
            int rc = module_jit_add_pair(st, jit, pair);
            Py_DECREF(pair);
            if (rc < 0) {
                break;
            }
        }
        Py_DECREF(iterator);
        if (PyErr_Occurred()) {
            return -1;
        }
    }
    module_jit_add(jit, CU_JIT_INFO_LOG_BUFFER, (uintptr_t)jit->info);
    module_jit_add(jit, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, MODULE_LOG_BYTES);
    module_jit_add(jit, CU_JIT_ERROR_LOG_BUFFER, (uintptr_t)jit->error);
    module_jit_add(jit, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, MODULE_LOG_BYTES);
    return 0;
}

/* The driver stores the length used over the value of a size option. */
static PyObject *
module_log_new(const module_jit *jit, const char *log, unsigned int size_option_back)
{
    size_t used = (size_t)(uintptr_t)jit->values[jit->count - size_option_back];
    used = used > MODULE_LOG_BYTES ? MODULE_LOG_BYTES : used;
    const char *end = memchr(log, '\0', used);
    Py_ssize_t length = end == NULL ? (Py_ssize_t)used : (Py_ssize_t)(end - log);
    return PyUnicode_DecodeUTF8(log, length, "replace");
}

/* Give the handler (success, info log, error log). */
static int
module_tell(PyObject *handler, int success, PyObject *info, PyObject *error)
{
    if (handler == NULL || handler == Py_None) {
        return 0;
    }
    PyObject *result = PyObject_CallFunctionObjArgs(
        handler, success ? Py_True : Py_False, info, error, NULL);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* The image as the driver wants it: PTX must end in a NUL, which only bytes promise. */
static int
module_image(PyObject *source, pcu_buffer *buffer, char **copy)
{
    *copy = NULL;
    if (PyUnicode_Check(source)) {
        PyErr_SetString(
            PyExc_TypeError,
            "a module is loaded from bytes, not str; encode PTX text first");
        return -1;
    }
    if (pcu_buffer_acquire(buffer, source, 0, "buffer") < 0) {
        return -1;
    }
    if (!PyBytes_Check(source)) {
        *copy = PyMem_Malloc(buffer->size + 1);
        if (*copy == NULL) {
            pcu_buffer_release(buffer);
            PyErr_NoMemory();
            return -1;
        }
        memcpy(*copy, buffer->data, buffer->size);
        (*copy)[buffer->size] = '\0';
    }
    return 0;
}

/* Load, tell the handler, raise. The wrapper is made first for the handler's sake:
 * whatever it raises, the loaded code has an owner. */
static PyObject *
module_load_new(pcu_state *st, PyObject *ctx, const void *image, module_jit *jit,
                PyObject *handler)
{
    pcu_res_handle handle = {0};
    PyObject *self = NULL;
    CUresult status;
    Py_BEGIN_ALLOW_THREADS
    status =
        drv.ModuleLoadDataEx(&handle.module, image, jit->count, jit->keys, jit->values);
    Py_END_ALLOW_THREADS
    if (status == CUDA_SUCCESS) {
        self = pcu_resource_new(st, st->Module, ctx, PCU_RES_module, handle);
        if (self == NULL) {
            return NULL;
        }
    }
    PyObject *info = module_log_new(jit, jit->info, 3);
    PyObject *error = module_log_new(jit, jit->error, 1);
    if (info == NULL || error == NULL ||
        module_tell(handler, status == CUDA_SUCCESS, info, error) < 0) {
        Py_CLEAR(self);
    }
    else if (status != CUDA_SUCCESS && PyUnicode_GET_LENGTH(error) != 0) {
        pcu_raise_detail(st, "cuModuleLoadDataEx", status, "%U", error);
    }
    else if (status != CUDA_SUCCESS) {
        pcu_raise(st, "cuModuleLoadDataEx", status);
    }
    Py_XDECREF(info);
    Py_XDECREF(error);
    return self;
}

typedef struct {
    PyObject *source;
    PyObject *options;
    PyObject *handler;
} module_load_args;

PyDoc_STRVAR(
    module_from_buffer_doc,
    "module_from_buffer($module, /, buffer, options=[], message_handler=None)\n"
    "--\n\n"
    "Load code (cubin, PTX or fatbin bytes) into the current context.\n\n"
    "options: pairs (jit_option, int). message_handler(success, info, error) gets\n"
    "the JIT compiler's two logs.");

static PyObject *
module_from_buffer(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"buffer", pcu_as_object, offsetof(module_load_args, source)},
        {"options", pcu_as_object, offsetof(module_load_args, options)},
        {"message_handler", pcu_as_object, offsetof(module_load_args, handler)},
    };
    static const pcu_argtable table = {"module_from_buffer", specs, 3, 1, 0};
    pcu_state *st = pcu_state_of_module(m);
    module_load_args a = {0};
    module_jit jit;
    pcu_buffer buffer = {0};
    char *copy = NULL;
    PyObject *self = NULL;
    PyObject *ctx = NULL;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        module_image(a.source, &buffer, &copy) < 0) {
        return NULL;
    }
    if (module_jit_init(st, &jit, a.options) == 0) {
        ctx = pcu_context_require(st, "cuModuleLoadDataEx");
    }
    if (ctx != NULL) {
        const void *image = copy == NULL ? buffer.data : copy;
        self = module_load_new(st, ctx, image, &jit, a.handler);
    }
    Py_XDECREF(ctx);
    PyMem_Free(jit.info);
    PyMem_Free(copy);
    pcu_buffer_release(&buffer);
    return self;
}

PyDoc_STRVAR(module_from_file_doc,
             "module_from_file($module, /, filename)\n--\n\n"
             "Load code from a file into the current context.\n\n"
             "RuntimeError if the file is not there.");

static PyObject *
module_from_file(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    static const pcu_argspec specs[] = {{"filename", pcu_as_object, 0}};
    static const pcu_argtable table = {"module_from_file", specs, 1, 1, 0};
    pcu_state *st = pcu_state_of_module(m);
    PyObject *filename = NULL;
    PyObject *path = NULL;
    pcu_res_handle handle = {0};
    PyObject *self = NULL;
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &filename) < 0 ||
        !PyUnicode_FSConverter(filename, &path)) {
        return NULL;
    }
    PyObject *ctx = pcu_context_require(st, "cuModuleLoad");
    if (ctx != NULL) {
        PCU_CALL(rc, st, ModuleLoad, (&handle.module, PyBytes_AS_STRING(path)));
        if (rc == 0) {
            self = pcu_resource_new(st, st->Module, ctx, PCU_RES_module, handle);
        }
    }
    Py_XDECREF(ctx);
    Py_DECREF(path);
    return self;
}

/* -- methods ----------------------------------------------------------------------- */

/* CUDA_ERROR_NOT_FOUND said with the name that was asked for. */
static int
module_raise(pcu_state *st, const char *routine, CUresult status, const char *name)
{
    if (status == CUDA_ERROR_NOT_FOUND) {
        return pcu_raise_detail(st, routine, status, "the module has no '%s'", name);
    }
    return pcu_raise(st, routine, status);
}

/* The one parameter of get_function and get_global. */
static const char *
module_parse_name(pcu_resource *self, const char *function, PyObject *const *args,
                  Py_ssize_t nargs, PyObject *kwnames, PyObject **name)
{
    static const pcu_argspec specs[] = {{"name", pcu_as_object, 0}};
    const pcu_argtable table = {function, specs, 1, 1, 0};
    return pcu_args_parse(self->st, &table, args, nargs, kwnames, name) < 0
               ? NULL
               : pcu_as_name(*name, "name");
}

PyDoc_STRVAR(
    module_get_function_doc,
    "get_function($self, /, name)\n--\n\n"
    "The kernel of that name, a new Function. LogicError if there is none.\n\n"
    "The name is the linker's: C++ functions outside extern \"C\" are mangled.");

static PyObject *
module_get_function(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_resource *self = (pcu_resource *)op;
    PyObject *name = NULL;
    CUfunction function = NULL;
    const char *text =
        module_parse_name(self, "get_function", args, nargs, kwnames, &name);
    if (text == NULL || pcu_resource_check(self, "cuModuleGetFunction") < 0) {
        return NULL;
    }
    CUresult status = drv.ModuleGetFunction(&function, self->handle.module, text);
    if (status != CUDA_SUCCESS) {
        module_raise(self->st, "cuModuleGetFunction", status, text);
        return NULL;
    }
    return pcu_function_new(self->st, op, function, name);
}

PyDoc_STRVAR(
    module_get_global_doc,
    "get_global($self, /, name)\n--\n\n"
    "Address and size in bytes of a __device__ or __constant__ variable, a tuple.");

static PyObject *
module_get_global(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_resource *self = (pcu_resource *)op;
    PyObject *name = NULL;
    CUdeviceptr pointer = 0;
    size_t size = 0;
    const char *text =
        module_parse_name(self, "get_global", args, nargs, kwnames, &name);
    if (text == NULL || pcu_resource_check(self, "cuModuleGetGlobal") < 0) {
        return NULL;
    }
    CUresult status = drv.ModuleGetGlobal(&pointer, &size, self->handle.module, text);
    if (status != CUDA_SUCCESS) {
        module_raise(self->st, "cuModuleGetGlobal", status, text);
        return NULL;
    }
    return Py_BuildValue("(Kn)", pointer, (Py_ssize_t)size);
}

static PyMethodDef module_methods[] = {
    {"get_function", (PyCFunction)(void (*)(void))module_get_function,
     METH_FASTCALL | METH_KEYWORDS, module_get_function_doc},
    {"get_global", (PyCFunction)(void (*)(void))module_get_global,
     METH_FASTCALL | METH_KEYWORDS, module_get_global_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef module_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static int
module_traverse(PyObject *op, visitproc visit, void *arg)
{
    int rc = pcu_refs_traverse(((pcu_module *)op)->refs, visit, arg);
    return rc != 0 ? rc : pcu_resource_traverse(op, visit, arg);
}

/* The code goes first, then what its references are bound to. */
static void
module_dealloc(PyObject *op)
{
    pcu_refs *refs = ((pcu_module *)op)->refs;
    pcu_resource_dealloc(op);
    pcu_refs_free(refs);
}

PyDoc_STRVAR(
    module_type_doc,
    "Code loaded into a context, by module_from_buffer or module_from_file.\n\n"
    "It stays loaded while any Function from it lives.");

static PyType_Slot module_slots[] = {
    {Py_tp_doc, (void *)module_type_doc},  {Py_tp_traverse, module_traverse},
    {Py_tp_clear, pcu_resource_clear},     {Py_tp_dealloc, module_dealloc},
    {Py_tp_members, pcu_resource_members}, {Py_tp_getset, module_getset},
    {Py_tp_methods, module_methods},       {0, NULL},
};

static PyType_Spec module_spec = {"pycuda._driver.Module", sizeof(pcu_module), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                      Py_TPFLAGS_BASETYPE |
                                      Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  module_slots};

static PyMethodDef module_functions[] = {
    {"module_from_buffer", (PyCFunction)(void (*)(void))module_from_buffer,
     METH_FASTCALL | METH_KEYWORDS, module_from_buffer_doc},
    {"module_from_file", (PyCFunction)(void (*)(void))module_from_file,
     METH_FASTCALL | METH_KEYWORDS, module_from_file_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_cumodule_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->Module, &module_spec, NULL) < 0 ||
        pcu_add_methods(st->Module, pcu_texref_module_methods) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, module_functions);
}
