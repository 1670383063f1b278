/* Copies of one-dimensional arrays: memcpy_atoa, _atod, _dtoa, _atoh, _htoa and the
 * asynchronous ones between host and array.
 *
 * Indices and lengths are bytes. Images of more dimensions are copied by Memcpy2D and
 * Memcpy3D. All release the interpreter lock; the arrays and host buffers of the _async
 * forms are the caller's to keep until the stream has passed. */

#include "array.h"

typedef struct {
    PyObject *ary; /* borrowed: the only array, or the destination */
    size_t index;
    PyObject *src_ary; /* borrowed */
    size_t src_index;
    CUdeviceptr pointer;
    PyObject *host; /* borrowed */
    size_t len;
    CUstream stream;
} arraycopy_args;

#define ARRAYCOPY_SPEC(name, convert, member)           \
    {                                                   \
        name, convert, offsetof(arraycopy_args, member) \
    }

static inline CUarray
arraycopy_handle(PyObject *array)
{
    return ((pcu_resource *)array)->handle.array;
}

PyDoc_STRVAR(arraycopy_memcpy_atoa_doc,
             "memcpy_atoa($module, /, dest, dest_index, src, src_index, len)\n--\n\n"
             "Copy len bytes between two Arrays. The indices count bytes.");

static PyObject *
arraycopy_memcpy_atoa(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        ARRAYCOPY_SPEC("dest", pcu_as_array, ary),
        ARRAYCOPY_SPEC("dest_index", pcu_as_size, index),
        ARRAYCOPY_SPEC("src", pcu_as_array, src_ary),
        ARRAYCOPY_SPEC("src_index", pcu_as_size, src_index),
        ARRAYCOPY_SPEC("len", pcu_as_size, len),
    };
    static const pcu_argtable table = {"memcpy_atoa", specs, 5, 5, 0};
    pcu_state *st = pcu_state_of_module(m);
    arraycopy_args a = {0};
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, MemcpyAtoA,
             (arraycopy_handle(a.ary), a.index, arraycopy_handle(a.src_ary),
              a.src_index, a.len));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(arraycopy_memcpy_atod_doc,
             "memcpy_atod($module, /, dest, ary, index, len)\n--\n\n"
             "Copy len bytes of an Array, from byte index on, to device memory.");

static PyObject *
arraycopy_memcpy_atod(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        ARRAYCOPY_SPEC("dest", pcu_as_pointer, pointer),
        ARRAYCOPY_SPEC("ary", pcu_as_array, ary),
        ARRAYCOPY_SPEC("index", pcu_as_size, index),
        ARRAYCOPY_SPEC("len", pcu_as_size, len),
    };
    static const pcu_argtable table = {"memcpy_atod", specs, 4, 4, 0};
    pcu_state *st = pcu_state_of_module(m);
    arraycopy_args a = {0};
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, MemcpyAtoD, (a.pointer, arraycopy_handle(a.ary), a.index, a.len));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(arraycopy_memcpy_dtoa_doc,
             "memcpy_dtoa($module, /, ary, index, src, len)\n--\n\n"
             "Copy len bytes of device memory to an Array, from its byte index on.");

static PyObject *
arraycopy_memcpy_dtoa(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        ARRAYCOPY_SPEC("ary", pcu_as_array, ary),
        ARRAYCOPY_SPEC("index", pcu_as_size, index),
        ARRAYCOPY_SPEC("src", pcu_as_pointer, pointer),
        ARRAYCOPY_SPEC("len", pcu_as_size, len),
    };
    static const pcu_argtable table = {"memcpy_dtoa", specs, 4, 4, 0};
    pcu_state *st = pcu_state_of_module(m);
    arraycopy_args a = {0};
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, MemcpyDtoA, (arraycopy_handle(a.ary), a.index, a.pointer, a.len));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

static const pcu_argspec arraycopy_atoh_specs[] = {
    ARRAYCOPY_SPEC("dest", pcu_as_object, host),
    ARRAYCOPY_SPEC("ary", pcu_as_array, ary),
    ARRAYCOPY_SPEC("index", pcu_as_size, index),
    ARRAYCOPY_SPEC("stream", pcu_as_stream, stream),
};
static const pcu_argspec arraycopy_htoa_specs[] = {
    ARRAYCOPY_SPEC("ary", pcu_as_array, ary),
    ARRAYCOPY_SPEC("index", pcu_as_size, index),
    ARRAYCOPY_SPEC("src", pcu_as_object, host),
    ARRAYCOPY_SPEC("stream", pcu_as_stream, stream),
};

static PyObject *
arraycopy_atoh(PyObject *m, const pcu_argtable *table, PyObject *const *args,
               Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    arraycopy_args a = {0};
    pcu_buffer buffer = {0};
    int rc;
    if (pcu_args_parse(st, table, args, nargs, kwnames, &a) < 0 ||
        pcu_buffer_acquire(&buffer, a.host, 1, "dest") < 0) {
        return NULL;
    }
    if (table->count > 3) {
        PCU_CALL(
            rc, st, MemcpyAtoHAsync,
            (buffer.data, arraycopy_handle(a.ary), a.index, buffer.size, a.stream));
    }
    else {
        PCU_CALL(rc, st, MemcpyAtoH,
                 (buffer.data, arraycopy_handle(a.ary), a.index, buffer.size));
    }
    pcu_buffer_release(&buffer);
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *
arraycopy_htoa(PyObject *m, const pcu_argtable *table, PyObject *const *args,
               Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    arraycopy_args a = {0};
    pcu_buffer buffer = {0};
    int rc;
    if (pcu_args_parse(st, table, args, nargs, kwnames, &a) < 0 ||
        pcu_buffer_acquire(&buffer, a.host, 0, "src") < 0) {
        return NULL;
    }
    if (table->count > 3) {
        PCU_CALL(
            rc, st, MemcpyHtoAAsync,
            (arraycopy_handle(a.ary), a.index, buffer.data, buffer.size, a.stream));
    }
    else {
        PCU_CALL(rc, st, MemcpyHtoA,
                 (arraycopy_handle(a.ary), a.index, buffer.data, buffer.size));
    }
    pcu_buffer_release(&buffer);
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

/* A function of the module with its docstring, over one of the two above. */
#define ARRAYCOPY_HOST(name, direction, parameters, count, doc)                  \
    PyDoc_STRVAR(arraycopy_##name##_doc,                                         \
                 #name "($module, /, " parameters ")\n--\n\n" doc);              \
    static PyObject *arraycopy_##name(PyObject *m, PyObject *const *args,        \
                                      Py_ssize_t nargs, PyObject *kwnames)       \
    {                                                                            \
        static const pcu_argtable table = {#name, arraycopy_##direction##_specs, \
                                           count, 3, 0};                         \
        return arraycopy_##direction(m, &table, args, nargs, kwnames);           \
    }
ARRAYCOPY_HOST(memcpy_atoh, atoh, "dest, ary, index", 3,
               "Fill a host buffer from an Array, from its byte index on.")
ARRAYCOPY_HOST(py_memcpy_atoh, atoh, "dest, ary, index", 3,
               "Fill a host buffer from an Array: memcpy_atoh.")
ARRAYCOPY_HOST(memcpy_atoh_async, atoh, "dest, ary, index, stream=None", 4,
               "Queue filling a host buffer from an Array. Keep both alive meanwhile.")
ARRAYCOPY_HOST(memcpy_htoa, htoa, "ary, index, src", 3,
               "Copy a host buffer to an Array, from its byte index on.")
ARRAYCOPY_HOST(py_memcpy_htoa, htoa, "ary, index, src", 3,
               "Copy a host buffer to an Array: memcpy_htoa.")
ARRAYCOPY_HOST(memcpy_htoa_async, htoa, "ary, index, src, stream=None", 4,
               "Queue copying a host buffer to an Array. Keep both alive meanwhile.")

#define ARRAYCOPY_FUNCTION(name)                                  \
    {                                                             \
#        name, (PyCFunction)(void (*)(void))arraycopy_##name,     \
            METH_FASTCALL | METH_KEYWORDS, arraycopy_##name##_doc \
    }

static PyMethodDef arraycopy_functions[] = {
    ARRAYCOPY_FUNCTION(memcpy_atoa),       ARRAYCOPY_FUNCTION(memcpy_atod),
    ARRAYCOPY_FUNCTION(memcpy_dtoa),       ARRAYCOPY_FUNCTION(memcpy_atoh),
    ARRAYCOPY_FUNCTION(py_memcpy_atoh),    ARRAYCOPY_FUNCTION(memcpy_atoh_async),
    ARRAYCOPY_FUNCTION(memcpy_htoa),       ARRAYCOPY_FUNCTION(py_memcpy_htoa),
    ARRAYCOPY_FUNCTION(memcpy_htoa_async), {NULL, NULL, 0, NULL},
};

int
pcu_arraycopy_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, arraycopy_functions);
}
