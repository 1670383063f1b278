/* Modules and kernels of other libraries: Module.from_handle, Function.from_handle.
 *
 * Invariant: a foreign module holds its owner and never unloads the code. Python is the
 * only caller. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_call.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/foreign_handle.h"
#include "python/driver/launch/launch.h"
#include "python/driver/resource.h"

/* Whether the object's type has this name, in any module. */
static bool
foreign_is(PyObject *object, const char *name)
{
    const char *type = Py_TYPE(object)->tp_name;
    const char *dot = strrchr(type, '.');
    if (dot != NULL) {
        type = dot + 1;
    }
    return strcmp(type, name) == 0;
}

/* Read a handle: an int, or the attribute of an object. *other becomes true if the
 * handle is of the type with the name `other_type`, which needs another call of the
 * driver. */
static int
foreign_read(PyObject *value, const char *other_type, const char *what,
             unsigned long long *bits, bool *other)
{
    static const char *const names[] = {"handle", "ptr", NULL};
    if (pcu_as_foreign_handle(value, names, what, bits) < 0) {
        return -1;
    }
    if (PyIndex_Check(value)) {
        *other |= foreign_is(value, other_type);
        return 0;
    }
    PyObject *handle = PyObject_GetAttrString(value, "handle");
    if (handle == NULL) {
        PyErr_Clear(); /* the handle was another attribute */
        return 0;
    }
    *other |= foreign_is(handle, other_type);
    Py_DECREF(handle);
    return 0;
}

static PyObject *
foreign_module_new(pcu_state *st, PyTypeObject *type, PyObject *ctx, CUmodule module,
                   PyObject *owner)
{
    pcu_module *self = (pcu_module *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->base.st = st;
        self->base.ctx = Py_NewRef(ctx);
        self->base.kind = PCU_HANDLE_module;
        self->base.handle.module = module;
        self->base.live = true;
        self->foreign = true;
        self->owner = Py_XNewRef(owner);
    }
    return (PyObject *)self;
}

typedef struct {
    PyObject *handle;
    PyObject *owner;
    bool library;
} foreign_args;

static const pcu_word foreign_words[] = {
    PCU_WORD("handle", pcu_as_object, foreign_args, handle),
    PCU_WORD("owner", pcu_as_object, foreign_args, owner),
    PCU_WORD("library", pcu_as_bool, foreign_args, library),
};

PCU_SIGNATURE(
    module_from_handle, foreign_words,
    "from_handle($type, /, handle, owner=None, library=False)\n"
    "--\n\n"
    "Wrap loaded code of another library, which also unloads it.\n"
    "\nParameters\n----------\n"
    "handle : int or object\n"
    "    A CUmodule or CUlibrary, or an object with the attribute ``handle``\n"
    "    or ``ptr``, such as an ObjectCode of cuda.core.\n" PCU_DOC_OWNER
    "library : bool, optional\n"
    "    If true, an int is a CUlibrary. Handles of cuda.bindings tell it\n"
    "    themselves.\n"
    "\nReturns\n-------\n"
    "Module\n"
    "    A new object. Of a CUlibrary, the module in the current context.\n"
    "\nRaises\n------\n" PCU_DOC_NO_HANDLE PCU_DOC_NO_CONTEXT
    "\nSee Also\n--------\n"
    "Function.from_handle : The same for kernels.")

static PyObject *
module_from_handle(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    foreign_args a = {NULL, NULL, false};
    unsigned long long bits = 0;
    PyObject *self = NULL;
    int rc = 0;
    if (st == NULL ||
        pcu_args_parse(st, &module_from_handle_signature, args, nargs, kwnames, &a) <
            0 ||
        foreign_read(a.handle, "CUlibrary", "CUmodule or CUlibrary", &bits,
                     &a.library) < 0) {
        return NULL;
    }
    PyObject *ctx = pcu_context_require(st, "Module.from_handle");
    if (ctx == NULL) {
        return NULL;
    }
    CUmodule module = (CUmodule)(uintptr_t)bits;
    if (a.library) {
        PCU_CALL(rc, st, LibraryGetModule, (&module, (CUlibrary)(uintptr_t)bits));
    }
    if (rc == 0) {
        self = foreign_module_new(st, (PyTypeObject *)type, ctx, module,
                                  pcu_foreign_owner(a.owner, a.handle));
    }
    Py_DECREF(ctx);
    return self;
}

/* -- kernels ----------------------------------------------------------------------- */

/* The kernel's name, for messages. Drivers before CUDA 12.3 cannot tell it. */
static PyObject *
kernel_name_new(CUfunction function)
{
    const char *name = NULL;
    if (drv.FuncGetName(&name, function) != CUDA_SUCCESS || name == NULL) {
        name = "kernel";
    }
    return PyUnicode_FromString(name);
}

PCU_SIGNATURE(function_from_handle, foreign_words,
              "from_handle($type, /, handle, owner=None)\n"
              "--\n\n"
              "Wrap a kernel of another library, which also unloads it.\n"
              "\nParameters\n----------\n"
              "handle : int or object\n"
              "    A CUfunction, a CUkernel of cuda.bindings, or an object with the\n"
              "    attribute ``handle`` or ``ptr``, such as a Kernel of cuda.core or\n"
              "    the attribute ``kernel`` of CuPy's RawKernel.\n" PCU_DOC_OWNER
              "\nReturns\n-------\n"
              "Function\n"
              "    A new object. Of a CUkernel, the function in the current context.\n"
              "\nRaises\n------\n" PCU_DOC_NO_HANDLE PCU_DOC_NO_CONTEXT
              "\nSee Also\n--------\n"
              "Module.from_handle : The same for loaded code.")

static PyObject *
function_from_handle(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    foreign_args a = {NULL, NULL, false};
    unsigned long long bits = 0;
    CUmodule code = NULL;
    PyObject *module = NULL;
    PyObject *name = NULL;
    PyObject *self = NULL;
    bool is_kernel = false;
    int rc = 0;
    if (st == NULL ||
        pcu_args_parse(st, &function_from_handle_signature, args, nargs, kwnames, &a) <
            0 ||
        foreign_read(a.handle, "CUkernel", "CUfunction or CUkernel", &bits,
                     &is_kernel) < 0) {
        return NULL;
    }
    PyObject *ctx = pcu_context_require(st, "Function.from_handle");
    if (ctx == NULL) {
        return NULL;
    }
    CUfunction function = (CUfunction)(uintptr_t)bits;
    if (is_kernel) {
        PCU_CALL(rc, st, KernelGetFunction, (&function, (CUkernel)(uintptr_t)bits));
    }
    if (rc == 0) {
        PCU_CALL(rc, st, FuncGetModule, (&code, function));
    }
    if (rc == 0) {
        module = foreign_module_new(st, st->Module, ctx, code,
                                    pcu_foreign_owner(a.owner, a.handle));
    }
    if (module != NULL) {
        name = kernel_name_new(function);
    }
    if (name != NULL) {
        self = pcu_function_new(st, module, function, name);
    }
    Py_XDECREF(name);
    Py_XDECREF(module);
    Py_DECREF(ctx);
    return self;
}

static PyMethodDef foreign_module_methods[] = {
    {"from_handle", (PyCFunction)(void (*)(void))module_from_handle,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, module_from_handle_doc},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef foreign_function_methods[] = {
    {"from_handle", (PyCFunction)(void (*)(void))function_from_handle,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, function_from_handle_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_foreign_module_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    if (pcu_add_methods(st->Module, foreign_module_methods) < 0) {
        return -1;
    }
    return pcu_add_methods(st->Function, foreign_function_methods);
}
