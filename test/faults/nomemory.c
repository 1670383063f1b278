/* faults_nomemory: fails one allocation of Python's, the nth from now on.
 *
 * All three domains count (raw, mem, object), in the thread that armed it alone: the
 * interpreter's other threads and the software device's go their way. The hooks stay in
 * place once set, because memory must be freed where it came from. With the name of a
 * library, only the allocations count that it asks the interpreter for.
 *
 * One that makes a cell (a variable of a function that an inner function uses) is
 * spared in CPython 3.11 and 3.12. The instruction MAKE_CELL goes wrong there without
 * memory: it goes to where the frame's stack pointer is loaded again, which nobody had
 * saved. The frame then looks empty, and the arguments of the call are never released.
 * A search for leaks would report them. No C of the package makes cells.
 *
 * Not spared, for it cannot be told from others by its callers: list.extend and += of
 * an empty list lose a reference to their argument in CPython 3.10 to 3.12. The Python
 * that the rows run does without. */
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
static int has_spared;
static int spares_cells = 1;
static void *callers[64]; /* of the allocation that failed */
static int caller_count;
static char wanted_library[64]; /* a part of its path; "" for all */

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030D0000
static int
is_called(const void *address, const char *name)
{
    Dl_info function;
    return dladdr(address, &function) != 0 && function.dli_sname != NULL &&
           strcmp(function.dli_sname, name) == 0;
}

/* Whether callers[] ask for a cell. PyCell_New may be inlined where it is called; then
 * the size tells a cell (a reference, and two words before it) from other objects. */
static int
must_be_spared(size_t size)
{
    int has_size = size == sizeof(PyCellObject) + 2 * sizeof(void *);
    for (int i = 0; i + 1 < caller_count && spares_cells && has_size; i++) {
        if (is_called(callers[i], "_PyObject_GC_New")) {
            return is_called(callers[i + 1], "PyCell_New") ||
                   is_called(callers[i + 1], "_PyEval_EvalFrameDefault");
        }
    }
    return 0;
}
#else
static int
must_be_spared(size_t Py_UNUSED(size))
{
    return 0;
}
#endif

static const char *
path_of(const void *address)
{
    Dl_info library;
    if (dladdr(address, &library) == 0 || library.dli_fname == NULL) {
        return "";
    }
    return library.dli_fname;
}

/* Whether the wanted library is the first of callers[] outside the interpreter. */
static int
is_wanted(void)
{
    const char *own = path_of((const void *)&wanted_library);
    const char *python = path_of((const void *)Py_None);
    for (int i = 0; i < caller_count; i++) {
        const char *path = path_of(callers[i]);
        if (strcmp(path, own) != 0 && strcmp(path, python) != 0) {
            return strstr(path, wanted_library) != NULL;
        }
    }
    return 0;
}

static int
fails(size_t size)
{
    if (!armed) {
        return 0;
    }
    if (wanted_library[0] != 0) {
        caller_count = backtrace(callers, 64);
        if (!is_wanted()) {
            return 0;
        }
    }
    seen++;
    if (left == 0 || --left > 0) {
        return 0;
    }
    caller_count = backtrace(callers, 64);
    has_spared = must_be_spared(size);
    has_fired = !has_spared;
    return has_fired;
}

static void *
hook_malloc(void *context, size_t size)
{
    const PyMemAllocatorEx *next = context;
    return fails(size) ? NULL : next->malloc(next->ctx, size);
}

static void *
hook_calloc(void *context, size_t count, size_t size)
{
    const PyMemAllocatorEx *next = context;
    return fails(count * size) ? NULL : next->calloc(next->ctx, count, size);
}

static void *
hook_realloc(void *context, void *memory, size_t size)
{
    const PyMemAllocatorEx *next = context;
    return fails(size) ? NULL : next->realloc(next->ctx, memory, size);
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
arm(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    unsigned long long n;
    const char *library = "";
    if (!PyArg_ParseTuple(arguments, "K|s", &n, &library)) {
        return NULL;
    }
    if (strlen(library) >= sizeof wanted_library) {
        PyErr_SetString(PyExc_ValueError, "the name of the library is too long");
        return NULL;
    }
    strcpy(wanted_library, library);
    if (!installed) {
        void *loads_what_it_needs[1];
        (void)backtrace(loads_what_it_needs, 1);
        install();
    }
    seen = 0;
    has_fired = 0;
    has_spared = 0;
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
spared(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyBool_FromLong(has_spared);
}

static PyObject *
spare_cells(PyObject *Py_UNUSED(module), PyObject *flag)
{
    int is_true = PyObject_IsTrue(flag);
    if (is_true < 0) {
        return NULL;
    }
    spares_cells = is_true;
    Py_RETURN_NONE;
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
    int found = 0;
    if (wanted == NULL) {
        return NULL;
    }
    for (int i = 0; i < caller_count; i++) {
        found |= strstr(path_of(callers[i]), wanted) != NULL;
    }
    return PyBool_FromLong(found);
}

/* Wrong on purpose: the block is lost if there is no memory for the bytes. */
static PyObject *
forget(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *bytes;
    char *block = PyMem_RawMalloc(4321);
    if (block == NULL) {
        return PyErr_NoMemory();
    }
    memset(block, 0, 4321);
    bytes = PyBytes_FromStringAndSize(block, 4321);
    if (bytes == NULL) {
        return NULL;
    }
    PyMem_RawFree(block);
    return bytes;
}

static PyMethodDef methods[] = {
    {"arm", arm, METH_VARARGS,
     "Fail the nth allocation from now on, of a library if one is named; 0: none."},
    {"disarm", disarm, METH_NOARGS, "Fail none from now on."},
    {"fired", fired, METH_NOARGS, "Whether one has failed since arm()."},
    {"spared", spared, METH_NOARGS,
     "Whether the nth has come since arm() and was not failed."},
    {"spare_cells", spare_cells, METH_O, "Whether to spare cells; so it is at first."},
    {"count", count, METH_NOARGS, "How many there were between arm() and disarm()."},
    {"forget", forget, METH_NOARGS, "Lose a block if an allocation fails here."},
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
