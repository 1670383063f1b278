/* faults_nomemory: fails one allocation of Python's, the nth from now on.
 *
 * All three domains count (raw, mem, object), in the thread that armed it alone: the
 * interpreter's other threads and the software device's go their way. The hooks stay in
 * place once set, because memory must be freed where it came from. */
#define _GNU_SOURCE /* dladdr */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

static PyMemAllocatorEx inner[3];
static int installed;
static _Thread_local int armed;
static unsigned long long left; /* until the one that fails */
static unsigned long long seen; /* since it was armed */
static int has_fired;
static void *callers[64]; /* of the allocation that failed */
static int caller_count;

static int
fails(void)
{
    if (!armed) {
        return 0;
    }
    seen++;
    if (left == 0 || --left > 0) {
        return 0;
    }
    has_fired = 1;
    caller_count = backtrace(callers, 64);
    return 1;
}

static void *
hook_malloc(void *context, size_t size)
{
    const PyMemAllocatorEx *next = context;
    return fails() ? NULL : next->malloc(next->ctx, size);
}

static void *
hook_calloc(void *context, size_t count, size_t size)
{
    const PyMemAllocatorEx *next = context;
    return fails() ? NULL : next->calloc(next->ctx, count, size);
}

static void *
hook_realloc(void *context, void *memory, size_t size)
{
    const PyMemAllocatorEx *next = context;
    return fails() ? NULL : next->realloc(next->ctx, memory, size);
}

static void
hook_free(void *context, void *memory)
{
    const PyMemAllocatorEx *next = context;
    next->free(next->ctx, memory);
}

static void
install(void)
{
    static const PyMemAllocatorDomain domains[] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM,
                                                   PYMEM_DOMAIN_OBJ};
    for (int i = 0; i < 3; i++) {
        PyMemAllocatorEx hook = {&inner[i], hook_malloc, hook_calloc, hook_realloc,
                                 hook_free};
        PyMem_GetAllocator(domains[i], &inner[i]);
        PyMem_SetAllocator(domains[i], &hook);
    }
    installed = 1;
}

static PyObject *
arm(PyObject *Py_UNUSED(module), PyObject *number)
{
    unsigned long long n = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (!installed) {
        void *loads_what_it_needs[1];
        (void)backtrace(loads_what_it_needs, 1);
        install();
    }
    seen = 0;
    has_fired = 0;
    caller_count = 0;
    left = n;
    armed = 1;
    Py_RETURN_NONE;
}

static PyObject *
disarm(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    armed = 0;
    Py_RETURN_NONE;
}

static PyObject *
fired(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyBool_FromLong(has_fired);
}

static PyObject *
count(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromUnsignedLongLong(seen);
}

static PyObject *
within(PyObject *Py_UNUSED(module), PyObject *part)
{
    const char *wanted = PyUnicode_AsUTF8(part);
    Dl_info library;
    int found = 0;
    if (wanted == NULL) {
        return NULL;
    }
    for (int i = 0; i < caller_count; i++) {
        found |= dladdr(callers[i], &library) != 0 && library.dli_fname != NULL &&
                 strstr(library.dli_fname, wanted) != NULL;
    }
    return PyBool_FromLong(found);
}

static PyMethodDef methods[] = {
    {"arm", arm, METH_O, "Fail the nth allocation from now on; 0: none, only count."},
    {"disarm", disarm, METH_NOARGS, "Fail none from now on."},
    {"fired", fired, METH_NOARGS, "Whether one has failed since arm()."},
    {"count", count, METH_NOARGS, "How many there were between arm() and disarm()."},
    {"within", within, METH_O,
     "Whether a library with this in its path asked for what failed."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "faults_nomemory", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC
PyInit_faults_nomemory(void)
{
    return PyModule_Create(&module);
}
