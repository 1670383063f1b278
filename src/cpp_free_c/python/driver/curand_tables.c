/* Tables of NVIDIA's random number library cuRAND: direction vectors and scramble
 * constants of Sobol sequences.
 *
 * Invariant: the library is opened at first use and never closed; the tables are
 * constants in it. Python (pycuda.curandom) is the only caller. */
#include "python/support/base.h"

#include <dlfcn.h>

#include "python/support/buffer.h"
#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/setup.h"

enum {
    CURAND_ENTRIES = 20000, /* of each table; a longer request repeats them */
    CURAND_LENGTH_32 = 32,  /* words of a direction vector */
    CURAND_LENGTH_64 = 64
};

/* The types of the library's functions. All of them return 0 on success. */
typedef int (*curand_property_function)(int, int *);
typedef int (*curand_vectors_function)(void **, int);
typedef int (*curand_constants_function)(void **);

static void *
curand_open(PyObject *path)
{
    const char *name = PyUnicode_AsUTF8(path);
    if (name == NULL) {
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    PyEval_RestoreThread(thread);
    return library;
}

/* Open the first cuRAND that can be opened. */
static int
curand_load(pcu_state *st)
{
    if (st->curand != NULL) {
        return 0;
    }
    PyObject *module = PyImport_ImportModule("pycuda._libraries");
    PyObject *paths = NULL;
    if (module != NULL) {
        paths = PyObject_CallMethod(module, "paths", "s", "curand");
    }
    PyObject *items = NULL;
    if (paths != NULL) {
        items = PySequence_Tuple(paths);
    }
    Py_ssize_t count = 0;
    if (items != NULL) {
        count = PyTuple_GET_SIZE(items);
    }
    for (Py_ssize_t i = 0; i < count && st->curand == NULL && !PyErr_Occurred(); i++) {
        st->curand = curand_open(PyTuple_GET_ITEM(items, i));
    }
    if (st->curand == NULL && !PyErr_Occurred()) {
        PyErr_SetString(
            st->exc_RuntimeError,
            "cuRAND (libcurand.so) was not found in the loader's path, under "
            "CUDA_HOME, "
            "CUDA_PATH or /usr/local/cuda, or in NVIDIA's wheels; install the CUDA "
            "toolkit, or 'pip install nvidia-curand'");
    }
    Py_XDECREF(module);
    Py_XDECREF(paths);
    Py_XDECREF(items);
    if (st->curand == NULL) {
        return -1;
    }
    return 0;
}

/* Store the address of a function in *function. dlsym returns it as an object pointer.
 */
static int
curand_find(pcu_state *st, const char *name, void *function)
{
    if (curand_load(st) < 0) {
        return -1;
    }
    void *found = dlsym(st->curand, name);
    if (found == NULL) {
        PyErr_Format(st->exc_RuntimeError, "this cuRAND library has no %s", name);
        return -1;
    }
    memcpy(function, &found, sizeof(found));
    return 0;
}

static int
curand_check(pcu_state *st, const char *name, int status)
{
    if (status != 0) {
        PyErr_Format(st->exc_RuntimeError, "%s failed: cuRAND's status %d", name,
                     status);
    }
    if (status != 0) {
        return -1;
    }
    return 0;
}

PyDoc_STRVAR(curand_get_version_doc,
             "get_curand_version($module, /)\n"
             "--\n\n"
             "Return the version of the cuRAND library.\n"
             "\nReturns\n-------\n"
             "tuple of int\n"
             "    Major and minor number, and revision.\n"
             "\nRaises\n------\n"
             "RuntimeError\n"
             "    If the library is not found.\n"
             "\nSee Also\n--------\n"
             "pycuda.curandom : Most generators need no library.");

static PyObject *
curand_get_version(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    curand_property_function property = NULL;
    int parts[3] = {0};
    if (curand_find(st, "curandGetProperty", &property) < 0) {
        return NULL;
    }
    for (int i = 0; i < 3; i++) { /* major, minor and patch level */
        if (curand_check(st, "curandGetProperty", property(i, &parts[i])) < 0) {
            return NULL;
        }
    }
    return Py_BuildValue("(iii)", parts[0], parts[1], parts[2]);
}

/* Fill dst with `count` entries of a table, repeating the table if it is shorter. */
static PyObject *
curand_fill(PyObject *dst, size_t count, const void *table, size_t entry)
{
    pcu_buffer buffer = {0};
    if (pcu_buffer_acquire(&buffer, dst, true, "dst") < 0) {
        return NULL;
    }
    bool fits = count <= buffer.size / entry;
    for (size_t done = 0; fits && done < count; done += CURAND_ENTRIES) {
        size_t now = count - done;
        if (now > CURAND_ENTRIES) {
            now = CURAND_ENTRIES;
        }
        memcpy((char *)buffer.data + done * entry, table, now * entry);
    }
    if (!fits) {
        PyErr_Format(PyExc_ValueError,
                     "dst has %zu bytes; %zu entries of %zu bytes do not fit",
                     buffer.size, count, entry);
    }
    pcu_buffer_release(&buffer);
    if (!fits) {
        return NULL;
    }
    Py_RETURN_NONE;
}

typedef struct {
    PyObject *set;
    PyObject *dst;
    size_t count;
} curand_args;

static const pcu_word curand_words[] = {
    PCU_WORD("set", pcu_as_object, curand_args, set),
    PCU_WORD("dst", pcu_as_object, curand_args, dst),
    PCU_WORD("count", pcu_as_size, curand_args, count),
};

PCU_SIGNATURE(
    curand_get_direction_vectors, curand_words,
    "_get_direction_vectors($module, /, set, dst, count)\n--\n\n"
    "Fill dst, a writable buffer, with `count` direction vectors of a set.\n\n"
    "set: a direction_vector_set. A vector is 32 uint32 or 64 uint64. The table has\n"
    "20000 vectors and is repeated.")

static PyObject *
curand_get_direction_vectors(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    curand_args a = {0};
    curand_vectors_function get = NULL;
    unsigned int set = 0;
    void *vectors = NULL;
    if (pcu_args_parse(st, &curand_get_direction_vectors_signature, args, nargs,
                       kwnames, &a) < 0 ||
        pcu_enum_value(st->enum_direction_vector_set, a.set, &set, "set") < 0) {
        return NULL;
    }
    bool narrow = set <= 102; /* the first two of the enumeration */
    const char *name =
        narrow ? "curandGetDirectionVectors32" : "curandGetDirectionVectors64";
    if (curand_find(st, name, &get) < 0 ||
        curand_check(st, name, get(&vectors, (int)set)) < 0) {
        return NULL;
    }
    return curand_fill(a.dst, a.count, vectors,
                       narrow ? CURAND_LENGTH_32 * sizeof(unsigned int)
                              : CURAND_LENGTH_64 * sizeof(unsigned long long));
}

static PyObject *
curand_get_constants(PyObject *m, const pcu_signature *signature, const char *name,
                     size_t size, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    curand_args a = {0};
    curand_constants_function get = NULL;
    void *constants = NULL;
    if (pcu_args_parse(st, signature, args, nargs, kwnames, &a) < 0 ||
        curand_find(st, name, &get) < 0 ||
        curand_check(st, name, get(&constants)) < 0) {
        return NULL;
    }
    return curand_fill(a.dst, a.count, constants, size);
}

PCU_SIGNATURE(curand_get_scramble_constants32, curand_words,
              "_get_scramble_constants32($module, /, dst, count)\n--\n\n"
              "Fill dst, a writable buffer, with `count` uint32.\n\n"
              "The table has 20000 constants and is repeated.")

static PyObject *
curand_get_scramble_constants32(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames)
{
    return curand_get_constants(m, &curand_get_scramble_constants32_signature,
                                "curandGetScrambleConstants32", sizeof(unsigned int),
                                args, nargs, kwnames);
}

PCU_SIGNATURE(curand_get_scramble_constants64, curand_words,
              "_get_scramble_constants64($module, /, dst, count)\n--\n\n"
              "Fill dst, a writable buffer, with `count` uint64.\n\n"
              "The table has 20000 constants and is repeated.")

static PyObject *
curand_get_scramble_constants64(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames)
{
    return curand_get_constants(m, &curand_get_scramble_constants64_signature,
                                "curandGetScrambleConstants64",
                                sizeof(unsigned long long), args, nargs, kwnames);
}

static PyMethodDef curand_functions[] = {
    {"get_curand_version", curand_get_version, METH_NOARGS, curand_get_version_doc},
    PCU_METHOD("_get_direction_vectors", curand_get_direction_vectors),
    PCU_METHOD("_get_scramble_constants32", curand_get_scramble_constants32),
    PCU_METHOD("_get_scramble_constants64", curand_get_scramble_constants64),
    {NULL, NULL, 0, NULL},
};

int
pcu_curand_tables_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, curand_functions);
}
