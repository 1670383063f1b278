/* Module: code that is loaded into a context.
 *
 * Loading PTX runs the driver's JIT compiler. Its logs go to the message handler, and
 * after a failure into the exception.
 *
 * Invariant: the code stays loaded while a Function of the module is alive. Callers:
 * SourceModule and programs, through module_from_buffer and module_from_file. */
#include "python/support/base.h"

#include <sys/stat.h>

#include "python/support/convert.h"
#include "python/support/driver_call.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/launch/launch.h"
#include "python/driver/module/module.h"
#include "python/driver/resource.h"
#include "python/driver/texture/reference.h"

/* Load the code, call the handler, and raise after a failure. The Module is made before
 * the handler runs, so the code has an owner if the handler raises. */
static PyObject *
module_load_new(pcu_state *st, PyObject *ctx, const void *image, pcu_jit *jit,
                PyObject *handler)
{
    pcu_handle handle = {0};
    PyObject *self = NULL;
    CUresult status;
    PCU_STATUS(status, ModuleLoadDataEx,
               (&handle.module, image, jit->count, jit->keys, jit->values));
    if (status == CUDA_SUCCESS) {
        self = pcu_resource_new(st, st->Module, ctx, PCU_HANDLE_module, handle);
        if (self == NULL) {
            return NULL;
        }
    }
    if (pcu_jit_report(st, jit, handler, "cuModuleLoadDataEx", status) < 0) {
        Py_CLEAR(self);
    }
    return self;
}

/* Keep the declarations of the kernels in PTX. Without a module nothing is done. */
static PyObject *
module_keep_entries(PyObject *self, const pcu_image *image)
{
    if (self != NULL && pcu_image_entries(image->data, image->size,
                                          &((pcu_module *)self)->entries) < 0) {
        Py_CLEAR(self);
    }
    return self;
}

typedef struct {
    PyObject *source;
    PyObject *options;
    PyObject *handler;
} module_load_args;

static const pcu_word module_load_words[] = {
    PCU_WORD("buffer", pcu_as_object, module_load_args, source),
    PCU_WORD("options", pcu_as_object, module_load_args, options),
    PCU_WORD("message_handler", pcu_as_object, module_load_args, handler),
};

PCU_SIGNATURE(
    module_from_buffer, module_load_words,
    "module_from_buffer($module, /, buffer, options=[], message_handler=None)\n"
    "--\n\n"
    "Load code into the current context.\n"
    "\nParameters\n----------\n"
    "buffer : bytes or buffer\n"
    "    Machine code (cubin), PTX, or several of them (fatbin).\n"
    "options : sequence of tuple, optional\n"
    "    Pairs of a ``jit_option`` and an int, for PTX. The default is none.\n"
    "message_handler : callable, optional\n"
    "    Function of a bool for success and two str, the information and the\n"
    "    errors of the JIT compiler.\n"
    "\nReturns\n-------\n"
    "Module\n"
    "    The loaded code.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    If the code is invalid, or if no context is current.\n"
    "RuntimeError\n"
    "    If it has no code for this device.\n"
    "\nSee Also\n--------\n"
    "module_from_file : Load a file.\n"
    "Linker : Link several pieces.\n"
    "pycuda.compiler.SourceModule : Compile and load.\n"
    "\nNotes\n-----\n"
    "For PTX the driver's JIT compiler runs; the driver keeps its results in\n"
    "a cache.\n"
    "\nExamples\n--------\n"
    ">>> from pycuda.compiler import compile\n"
    ">>> module = drv.module_from_buffer(compile(\"__global__ void f() {}\"))\n"
    ">>> module.get_function(\"f\")(block=32)")

static PyObject *
module_from_buffer(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    module_load_args a = {0};
    pcu_jit jit;
    pcu_image image;
    PyObject *self = NULL;
    PyObject *ctx = NULL;
    if (pcu_args_parse(st, &module_from_buffer_signature, args, nargs, kwnames, &a) <
            0 ||
        pcu_image_acquire(st, &image, a.source, "a module is loaded", "buffer",
                          "cuModuleLoadDataEx") < 0) {
        return NULL;
    }
    if (pcu_jit_init(st, &jit, a.options, false) == 0) {
        ctx = pcu_context_require(st, "cuModuleLoadDataEx");
    }
    if (ctx != NULL) {
        self = module_load_new(st, ctx, image.data, &jit, a.handler);
        self = module_keep_entries(self, &image);
    }
    Py_XDECREF(ctx);
    pcu_jit_finish(&jit);
    pcu_image_release(&image);
    return self;
}

/* Load a file. `filename` is the argument, for messages. */
static PyObject *
module_load_file_new(pcu_state *st, PyObject *ctx, const char *path, PyObject *filename)
{
    pcu_handle handle = {0};
    struct stat info = {0};
    CUresult status;
    /* for a directory the driver of a GPU reports a lack of memory */
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        pcu_raise_detail(st, "cuModuleLoad", CUDA_ERROR_INVALID_IMAGE,
                         "%R is a directory", filename);
        return NULL;
    }
    PCU_STATUS(status, ModuleLoad, (&handle.module, path));
    if (status != CUDA_SUCCESS) {
        pcu_raise_detail(st, "cuModuleLoad", status, "%R", filename);
        return NULL;
    }
    PyObject *self = pcu_resource_new(st, st->Module, ctx, PCU_HANDLE_module, handle);
    if (self != NULL && pcu_image_entries_of_file(path, (size_t)info.st_size,
                                                  &((pcu_module *)self)->entries) < 0) {
        Py_CLEAR(self);
    }
    return self;
}

PCU_SIGNATURE_OF_ONE(
    module_from_file, "filename", pcu_as_object,
    "module_from_file($module, /, filename)\n"
    "--\n\n"
    "Load code from a file into the current context.\n"
    "\nParameters\n----------\n"
    "filename : str or path\n"
    "    File with machine code, PTX or a fatbin.\n"
    "\nReturns\n-------\n"
    "Module\n"
    "    The loaded code.\n"
    "\nRaises\n------\n"
    "RuntimeError\n"
    "    If there is no such file, or if it has no code for this device.\n"
    "LogicError\n"
    "    If the code is invalid, or if no context is current.\n"
    "\nSee Also\n--------\n"
    "module_from_buffer : Load bytes.")

static PyObject *
module_from_file(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    PyObject *filename = NULL;
    PyObject *self = NULL;
    if (pcu_args_parse(st, &module_from_file_signature, args, nargs, kwnames,
                       PCU_ONLY(module_from_file, &filename)) < 0) {
        return NULL;
    }
    PyObject *path = pcu_as_path_new(filename, "filename");
    if (path == NULL) {
        return NULL;
    }
    PyObject *ctx = pcu_context_require(st, "cuModuleLoad");
    if (ctx != NULL) {
        self = module_load_file_new(st, ctx, PyBytes_AS_STRING(path), filename);
    }
    Py_XDECREF(ctx);
    Py_DECREF(path);
    return self;
}

/* -- methods ----------------------------------------------------------------------- */

/* Raise. CUDA_ERROR_NOT_FOUND names the function or variable. */
static int
module_raise(pcu_state *st, const char *routine, CUresult status, const char *name)
{
    if (status == CUDA_ERROR_NOT_FOUND) {
        return pcu_raise_detail(st, routine, status, "the module has no '%s'", name);
    }
    return pcu_raise(st, routine, status);
}

/* Parse the one parameter of get_function and get_global. */
static const char *
module_parse_name(pcu_resource *self, const pcu_signature *signature,
                  PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                  PyObject **name)
{
    if (pcu_args_parse(self->st, signature, args, nargs, kwnames, name) < 0) {
        return NULL;
    }
    return pcu_as_name(*name, "name");
}

PCU_SIGNATURE_OF_ONE(
    module_get_function, "name", pcu_as_object,
    "get_function($self, /, name)\n"
    "--\n\n"
    "Return a kernel of the module.\n"
    "\nParameters\n----------\n"
    "name : str\n"
    "    Name of the kernel. C++ functions outside ``extern \"C\"`` have\n"
    "    mangled names.\n"
    "\nReturns\n-------\n"
    "Function\n"
    "    A new object.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    If the module has no such kernel, or if its context has ended.\n"
    "\nSee Also\n--------\n"
    "Module.get_global : A variable.\n"
    "\nNotes\n-----\n"
    "``SourceModule`` puts the source into ``extern \"C\"``.\n"
    "\nExamples\n--------\n"
    ">>> from pycuda.compiler import SourceModule\n"
    ">>> module = SourceModule(\"__global__ void f() {}\")\n"
    ">>> f = module.get_function(\"f\")\n"
    ">>> f.name\n"
    "'f'")

static PyObject *
module_get_function(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_resource *self = (pcu_resource *)op;
    PyObject *name = NULL;
    CUfunction function = NULL;
    const char *text =
        module_parse_name(self, &module_get_function_signature, args, nargs, kwnames,
                          PCU_ONLY(module_get_function, &name));
    if (text == NULL || pcu_resource_check(self, "cuModuleGetFunction") < 0) {
        return NULL;
    }
    CUresult status;
    PCU_STATUS(status, ModuleGetFunction, (&function, self->handle.module, text));
    if (status != CUDA_SUCCESS) {
        module_raise(self->st, "cuModuleGetFunction", status, text);
        return NULL;
    }
    return pcu_function_new(self->st, op, function, name);
}

PCU_SIGNATURE_OF_ONE(
    module_get_global, "name", pcu_as_object,
    "get_global($self, /, name)\n"
    "--\n\n"
    "Return the address of a variable of the module.\n"
    "\nParameters\n----------\n"
    "name : str\n"
    "    Name of a ``__device__`` or ``__constant__`` variable.\n"
    "\nReturns\n-------\n"
    "tuple of int\n"
    "    Address and size in bytes.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    If the module has no such variable, or if its context has ended.\n"
    "\nSee Also\n--------\n"
    "memcpy_htod : Copy to the variable.\n"
    "\nExamples\n--------\n"
    ">>> from pycuda.compiler import SourceModule\n"
    ">>> module = SourceModule(\"__constant__ float factors[4];\")\n"
    ">>> address, size = module.get_global(\"factors\")\n"
    ">>> size\n"
    "16\n"
    ">>> drv.memcpy_htod(address, np.ones(4, np.float32))")

static PyObject *
module_get_global(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_resource *self = (pcu_resource *)op;
    PyObject *name = NULL;
    CUdeviceptr pointer = 0;
    size_t size = 0;
    const char *text =
        module_parse_name(self, &module_get_global_signature, args, nargs, kwnames,
                          PCU_ONLY(module_get_global, &name));
    if (text == NULL || pcu_resource_check(self, "cuModuleGetGlobal") < 0) {
        return NULL;
    }
    CUresult status;
    PCU_STATUS(status, ModuleGetGlobal, (&pointer, &size, self->handle.module, text));
    if (status != CUDA_SUCCESS) {
        module_raise(self->st, "cuModuleGetGlobal", status, text);
        return NULL;
    }
    return Py_BuildValue("(Kn)", pointer, (Py_ssize_t)size);
}

static PyMethodDef module_methods[] = {
    PCU_METHOD("get_function", module_get_function),
    PCU_METHOD("get_global", module_get_global),
    {NULL, NULL, 0, NULL},
};

static PyObject *
module_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((pcu_resource *)op)->handle.module);
}

static PyGetSetDef module_getset[] = {
    {"handle", module_get_handle, NULL, "The CUmodule as an int.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static int
module_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((pcu_module *)op)->owner);
    int rc = pcu_reference_store_traverse(((pcu_module *)op)->references, visit, arg);
    if (rc != 0) {
        return rc;
    }
    return pcu_resource_traverse(op, visit, arg);
}

/* Unload the code first, then release the arrays that its references are bound to. */
static void
module_dealloc(PyObject *op)
{
    pcu_module *self = (pcu_module *)op;
    pcu_reference_store *references = self->references;
    PyObject *owner = self->owner;
    PyObject *entries = self->entries;
    self->owner = NULL;
    self->entries = NULL;
    if (self->foreign) {
        self->base.live = false;
    }
    pcu_resource_dealloc(op);
    pcu_reference_store_free(references);
    Py_XDECREF(entries);
    Py_XDECREF(owner);
}

PyDoc_STRVAR(module_type_doc,
             "Code that is loaded into a context.\n"
             "\nSee Also\n--------\n"
             "module_from_buffer : Load code.\n"
             "Module.get_function : Get a kernel.\n"
             "\nNotes\n-----\n"
             "The code stays loaded while the object or any ``Function`` from it\n"
             "lives.");

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
    PCU_METHOD("module_from_buffer", module_from_buffer),
    PCU_METHOD("module_from_file", module_from_file),
    {NULL, NULL, 0, NULL},
};

int
pcu_module_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->Module, &module_spec, NULL) < 0 ||
        pcu_add_methods(st->Module, pcu_module_reference_methods) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, module_functions);
}
