/* Linker: links pieces of code (PTX, machine code, libraries) into one module.
 *
 * Invariant: the driver writes its logs into `jit` until the link is destroyed, so
 * `jit` is freed after the link. link_module() ends the link, also if it fails. While a
 * call runs without the interpreter lock, `busy` is 1 and other threads are refused; it
 * changes under the interpreter lock. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/module/module.h"
#include "python/driver/resource.h"

typedef struct {
    pcu_resource base; /* handle.link */
    pcu_jit *jit;      /* owned */
    PyObject *handler; /* strong; NULL or None: no handler */
    bool busy;
} pcu_linker;

typedef enum { LINKER_ADD_DATA, LINKER_ADD_FILE, LINKER_COMPLETE } linker_step;

/* The driver function of each step. */
static const char *const linker_routines[] = {
    [LINKER_ADD_DATA] = "cuLinkAddData",
    [LINKER_ADD_FILE] = "cuLinkAddFile",
    [LINKER_COMPLETE] = "cuLinkComplete",
};

/* One step of a link, and its result. */
typedef struct {
    linker_step step;
    CUjitInputType type; /* of the code that is added */
    const void *data;    /* the code, or the name of a file */
    size_t size;
    const char *name;
    CUmodule module;     /* result of linking; NULL if there is none */
    const char *routine; /* result: the call that set the status */
} linker_job;

/* -- calling the driver ------------------------------------------------------------ */

/* Complete the link and load the result. */
static CUresult
linker_complete(CUlinkState link, linker_job *job)
{
    void *cubin = NULL;
    size_t size = 0;
    CUresult status;
    PCU_STATUS(status, LinkComplete, (link, &cubin, &size));
    if (status == CUDA_SUCCESS) {
        job->routine = "cuModuleLoadData";
        PCU_STATUS(status, ModuleLoadData, (&job->module, cubin));
    }
    return status;
}

static CUresult
linker_call(CUlinkState link, linker_job *job)
{
    CUresult status = CUDA_SUCCESS;
    job->routine = linker_routines[job->step];
    switch (job->step) {
        case LINKER_ADD_DATA:
            PCU_STATUS(status, LinkAddData,
                       (link, job->type, (void *)(uintptr_t)job->data, job->size,
                        job->name, 0, NULL, NULL));
            break;
        case LINKER_ADD_FILE:
            PCU_STATUS(status, LinkAddFile,
                       (link, job->type, job->data, 0, NULL, NULL));
            break;
        case LINKER_COMPLETE:
            status = linker_complete(link, job);
            break;
    }
    return status;
}

/* Run a step in the link's context, whichever context is current. */
static CUresult
linker_run(pcu_linker *self, linker_job *job)
{
    CUresult status;
    pcu_scope scope;
    pcu_context_record *rec = pcu_context_rec(self->base.ctx);
    CUlinkState link = self->base.handle.link;
    self->busy = true;
    job->routine = "cuCtxPushCurrent";
    status = pcu_scope_enter(&scope, rec);
    if (status == CUDA_SUCCESS) {
        status = linker_call(link, job);
        CUresult left = pcu_scope_leave(&scope);
        if (status == CUDA_SUCCESS && left != CUDA_SUCCESS) {
            job->routine = "cuCtxPopCurrent";
            status = left;
        }
    }
    self->busy = false;
    return status;
}

static int
linker_check_idle(pcu_linker *self, const char *routine)
{
    if (!self->busy) {
        return 0;
    }
    return pcu_raise_detail(self->base.st, routine, CUDA_ERROR_INVALID_HANDLE,
                            "another thread is using this Linker");
}

static int
linker_check(pcu_linker *self, const char *routine)
{
    if (pcu_resource_check(&self->base, routine) < 0 ||
        linker_check_idle(self, routine) < 0 ||
        pcu_current_context_ready(self->base.st) < 0) {
        return -1;
    }
    return 0;
}

/* -- life -------------------------------------------------------------------------- */

static void
linker_jit_free(pcu_jit *jit)
{
    if (jit != NULL) {
        pcu_jit_finish(jit);
        PyMem_Free(jit);
    }
}

typedef struct {
    PyObject *handler;
    PyObject *options;
    bool verbose;
} linker_args;

static const pcu_word linker_words[] = {
    PCU_WORD("message_handler", pcu_as_object, linker_args, handler),
    PCU_WORD("options", pcu_as_object, linker_args, options),
    PCU_WORD("log_verbose", pcu_as_bool, linker_args, verbose),
};

PCU_SIGNATURE(
    linker, linker_words,
    "Linker(message_handler=None, options=None, log_verbose=False, /)\n"
    "--\n\n"
    "A link of several pieces of code into one module.\n"
    "\nParameters\n----------\n"
    "message_handler : callable, optional\n"
    "    Function of a bool for success and two str, the information and the\n"
    "    errors of the JIT compiler. It is called when the module is linked,\n"
    "    or when an addition fails.\n"
    "options : sequence of tuple, optional\n"
    "    Pairs of a ``jit_option`` and an int. The default is none.\n"
    "log_verbose : bool, optional\n"
    "    If true, the log has more information.\n"
    "\nRaises\n------\n" PCU_DOC_NO_CONTEXT
    "\nSee Also\n--------\n"
    "Linker.add_data : Add code.\n"
    "pycuda.compiler.DynamicModule : The same from sources.\n"
    "\nNotes\n-----\n"
    "The code is linked in the context that is current now.\n"
    "\nExamples\n--------\n"
    ">>> from pycuda.compiler import compile\n"
    ">>> linker = drv.Linker()\n"
    ">>> code = compile(\"__global__ void f() {}\", options=[\"-dc\"])\n"
    ">>> linker.add_data(code, drv.jit_input_type.CUBIN)\n"
    ">>> linker.link_module().get_function(\"f\").name\n"
    "'f'")

/* Begin a link in the current context; the options are in jit. */
static int
linker_begin(pcu_linker *self, pcu_jit *jit, PyObject *handler)
{
    pcu_state *st = self->base.st;
    pcu_handle handle = {0};
    int rc;
    PyObject *ctx = pcu_context_require(st, "cuLinkCreate");
    if (ctx == NULL) {
        return -1;
    }
    PCU_CALL(rc, st, LinkCreate, (jit->count, jit->keys, jit->values, &handle.link));
    if (rc == 0) {
        pcu_jit *old_jit = self->jit;
        PyObject *old_handler = self->handler;
        self->jit = jit;
        self->handler = Py_XNewRef(handler);
        pcu_resource_adopt(&self->base, ctx, PCU_HANDLE_link, handle);
        linker_jit_free(old_jit); /* of an earlier __init__: its link is destroyed */
        Py_XDECREF(old_handler);
    }
    Py_DECREF(ctx);
    return rc;
}

static int
linker_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_linker *self = (pcu_linker *)op;
    pcu_state *st = self->base.st;
    linker_args a = {0};
    if (pcu_args_parse_tuple(st, &linker_signature, args, kwargs, &a) < 0) {
        return -1;
    }
    pcu_jit *jit = PyMem_Malloc(sizeof(*jit));
    if (jit == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (pcu_jit_init(st, jit, a.options, a.verbose) < 0 ||
        linker_check_idle(self, "cuLinkCreate") < 0 ||
        linker_begin(self, jit, a.handler) < 0) {
        linker_jit_free(jit);
        return -1;
    }
    return 0;
}

static int
linker_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((pcu_linker *)op)->handler);
    return pcu_resource_traverse(op, visit, arg);
}

static int
linker_clear(PyObject *op)
{
    Py_CLEAR(((pcu_linker *)op)->handler);
    return pcu_resource_clear(op);
}

static void
linker_dealloc(PyObject *op)
{
    pcu_jit *jit = ((pcu_linker *)op)->jit;
    PyObject_GC_UnTrack(op);
    Py_CLEAR(((pcu_linker *)op)->handler);
    pcu_resource_dealloc(op);
    linker_jit_free(jit); /* after the link, which writes into it */
}

/* -- methods ----------------------------------------------------------------------- */

/* Run a step that adds code. Return None. */
static PyObject *
linker_add(pcu_linker *self, linker_job *job)
{
    pcu_state *st = self->base.st;
    if (linker_check(self, linker_routines[job->step]) < 0) {
        return NULL;
    }
    CUresult status = linker_run(self, job);
    if (status == CUDA_ERROR_FILE_NOT_FOUND) { /* the compiler has not run: no log */
        pcu_raise_detail(st, job->routine, status, "%s", (const char *)job->data);
        return NULL;
    }
    if (status != CUDA_SUCCESS) {
        pcu_jit_report(st, self->jit, self->handler, job->routine, status);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- sentences of docstrings ------------------------------------------------------- */

#define DOC_NOT_ADDED                                                          \
    "LogicError\n"                                                             \
    "    If the code is invalid, if ``link_module`` was called before, or if " \
    "another\n"                                                                \
    "    thread uses the linker.\n"

typedef struct {
    PyObject *source;
    PyObject *type;
    PyObject *name;
} linker_add_args;

static const pcu_word linker_add_words[] = {
    PCU_WORD("data", pcu_as_object, linker_add_args, source),
    PCU_WORD("input_type", pcu_as_object, linker_add_args, type),
    PCU_WORD("name", pcu_as_object, linker_add_args, name),
    PCU_WORD("filename", pcu_as_object, linker_add_args, source),
};

PCU_SIGNATURE(linker_add_data, linker_add_words,
              "add_data($self, /, data, input_type, name='unknown')\n"
              "--\n\n"
              "Add code in memory.\n"
              "\nParameters\n----------\n"
              "data : bytes or buffer\n"
              "    The code.\n"
              "input_type : jit_input_type\n"
              "    What it is.\n"
              "name : str, optional\n"
              "    Name for messages. The default is \"unknown\".\n"
              "\nRaises\n------\n" DOC_NOT_ADDED
              "\nSee Also\n--------\n"
              "Linker.add_file : Add a file.\n"
              "Linker.link_module : Link.")

static PyObject *
linker_add_data(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    pcu_linker *self = (pcu_linker *)op;
    pcu_state *st = self->base.st;
    linker_add_args a = {0};
    linker_job job = {.step = LINKER_ADD_DATA, .name = "unknown"};
    pcu_image image;
    if (pcu_args_parse(st, &linker_add_data_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_enum_value(st->enum_jit_input_type, a.type, &job.type, "input_type") < 0) {
        return NULL;
    }
    if (a.name != NULL) {
        job.name = pcu_as_name(a.name, "name");
        if (job.name == NULL) {
            return NULL;
        }
    }
    if (pcu_image_acquire(st, &image, a.source, "code is linked", "data",
                          "cuLinkAddData") < 0) {
        return NULL;
    }
    job.data = image.data;
    job.size = image.size;
    if (job.type == CU_JIT_INPUT_PTX && image.size != 0 &&
        ((const char *)image.data)[image.size - 1] != '\0') {
        job.size++; /* the NUL after it */
    }
    PyObject *result = linker_add(self, &job);
    pcu_image_release(&image);
    return result;
}

PCU_SIGNATURE(linker_add_file, linker_add_words,
              "add_file($self, /, filename, input_type)\n"
              "--\n\n"
              "Add code from a file.\n"
              "\nParameters\n----------\n"
              "filename : str or path\n"
              "    The file.\n"
              "input_type : jit_input_type\n"
              "    What it is; LIBRARY for a library (.a).\n"
              "\nRaises\n------\n"
              "RuntimeError\n"
              "    If there is no such file.\n" DOC_NOT_ADDED
              "\nSee Also\n--------\n"
              "Linker.add_data : Add bytes.")

static PyObject *
linker_add_file(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    pcu_linker *self = (pcu_linker *)op;
    pcu_state *st = self->base.st;
    linker_add_args a = {0};
    linker_job job = {.step = LINKER_ADD_FILE};
    PyObject *path = NULL;
    if (pcu_args_parse(st, &linker_add_file_signature, args, nargs, kwnames, &a) < 0 ||
        pcu_enum_value(st->enum_jit_input_type, a.type, &job.type, "input_type") < 0) {
        return NULL;
    }
    path = pcu_as_path_new(a.source, "filename");
    if (path == NULL) {
        return NULL;
    }
    job.data = PyBytes_AS_STRING(path);
    PyObject *result = linker_add(self, &job);
    Py_DECREF(path);
    return result;
}

PyDoc_STRVAR(linker_link_module_doc,
             "link_module($self, /)\n"
             "--\n\n"
             "Link the added code, and load it into the linker's context.\n"
             "\nReturns\n-------\n"
             "Module\n"
             "    The linked code.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the code cannot be linked, or if this was called before.\n"
             "\nSee Also\n--------\n"
             "Linker.add_data : Add code.\n"
             "\nNotes\n-----\n"
             "The call ends the linker, also if it fails.");

static PyObject *
linker_link_module(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_linker *self = (pcu_linker *)op;
    pcu_state *st = self->base.st;
    pcu_resource *base = &self->base;
    linker_job job = {.step = LINKER_COMPLETE};
    pcu_handle handle = {0};
    PyObject *module = NULL;
    if (linker_check(self, linker_routines[job.step]) < 0) {
        return NULL;
    }
    CUresult status = linker_run(self, &job);
    uintptr_t link = (uintptr_t)base->handle.link;
    const char *routine = "";
    bool gone;
    base->live =
        0; /* end it before any Python code runs, which may begin another link */
    CUresult ended =
        pcu_release_handle(base->kind, base->handle, base->ctx, &routine, &gone);
    base->live =
        !gone; /* if the driver refused, the release of the object tries again */
    if (job.module != NULL) { /* give the loaded code an owner */
        handle.module = job.module;
        module = pcu_resource_new(st, st->Module, base->ctx, PCU_HANDLE_module, handle);
    }
    if (!PyErr_Occurred() &&
        pcu_jit_report(st, self->jit, self->handler, job.routine, status) == 0 &&
        ended != CUDA_SUCCESS) {
        pcu_raise(st, routine, ended);
    }
    else if (ended != CUDA_SUCCESS) { /* the first error is the one to raise */
        pcu_report_cleanup(st, routine, link, ended);
    }
    if (PyErr_Occurred()) {
        Py_CLEAR(module);
    }
    return module;
}

static PyMethodDef linker_methods[] = {
    PCU_METHOD("add_data", linker_add_data),
    PCU_METHOD("add_file", linker_add_file),
    {"link_module", linker_link_module, METH_NOARGS, linker_link_module_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef linker_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot linker_slots[] = {
    {Py_tp_doc, (void *)linker_doc},
    {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, linker_init},
    {Py_tp_traverse, linker_traverse},
    {Py_tp_clear, linker_clear},
    {Py_tp_dealloc, linker_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, linker_getset},
    {Py_tp_methods, linker_methods},
    {0, NULL},
};

static PyType_Spec linker_spec = {
    "pycuda._driver.Linker", sizeof(pcu_linker), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, linker_slots};

int
pcu_linker_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->Linker, &linker_spec, NULL);
}
