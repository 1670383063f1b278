/* The launch calls of CUDA before 4.0.
 *
 * They keep the state of a launch in the function: the block shape, the size of shared
 * memory, and a parameter block that param_set() and its variants write piece by piece.
 * launch(), launch_grid() and launch_grid_async() use that state. Each method has a
 * second name with an underscore. */
#include "python/driver/launch/launch.h"

#include "python/support/buffer.h"
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/settings.h"
#include "python/driver/stream.h"

enum { OLD_PARAMS_MAX = 32764 }; /* bytes of parameters that a kernel can have */

/* -- sentences of docstrings ------------------------------------------------------- */

#define DOC_OLD \
    "Programs of today call the function, or use ``Function.prepared_call``.\n"

#define DOC_OFFSET   \
    "offset : int\n" \
    "    Place in the block in bytes.\n"

#define DOC_BLOCK_FULL \
    "ValueError\n"     \
    "    If the block would have more than 32764 bytes.\n"

#define DOC_NO_LAUNCH                                                             \
    "LogicError\n"                                                                \
    "    If the shape does not fit, or if the context of the kernel has ended.\n" \
    "TypeError\n"                                                                 \
    "    If parameters of the kernel were not set.\n"

/* Resize the parameter block. New bytes are zero. */
static int
old_resize(pcu_function *self, size_t size)
{
    unsigned char *params = PyMem_Realloc(self->old_params, Py_MAX(size, 1));
    if (params == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->old_params = params;
    if (size > self->old_params_size) {
        memset(params + self->old_params_size, 0, size - self->old_params_size);
    }
    self->old_params_size = size;
    return 0;
}

static int
old_write(pcu_function *self, size_t offset, const void *bytes, size_t size)
{
    if (offset > OLD_PARAMS_MAX || size > OLD_PARAMS_MAX - offset) {
        PyErr_Format(PyExc_ValueError,
                     "%zu bytes at offset %zu: a parameter block has at most %d", size,
                     offset, OLD_PARAMS_MAX);
        return -1;
    }
    if (offset + size > self->old_params_size && old_resize(self, offset + size) < 0) {
        return -1;
    }
    memcpy(self->old_params + offset, bytes, size);
    return 0;
}

typedef struct {
    size_t offset;
    PyObject *value;
} old_set_args;

static const pcu_word old_set_words[] = {
    PCU_WORD("offset", pcu_as_size, old_set_args, offset),
    PCU_WORD("value", pcu_as_object, old_set_args, value),
    PCU_WORD("buffer", pcu_as_object, old_set_args, value),
};

PCU_SIGNATURE_OF_ONE(old_param_set_size, "bytes", pcu_as_size,
                     "param_set_size($self, /, bytes)\n"
                     "--\n\n"
                     "Set the size of the parameter block.\n"
                     "\nParameters\n----------\n"
                     "bytes : int\n"
                     "    Size, at most 32764.\n"
                     "\nRaises\n------\n"
                     "ValueError\n"
                     "    If it is larger.\n"
                     "\nSee Also\n--------\n"
                     "Function.param_setv : Write into the block.\n"
                     "\nNotes\n-----\n" DOC_OLD)
PyDoc_STRVAR(
    old_param_set_size_under_doc,
    "_param_set_size($self, bytes, /)\n--\n\nparam_set_size() under its other name.");

static PyObject *
old_param_set_size(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    size_t size = 0;
    if (pcu_args_parse(self->st, &old_param_set_size_signature, args, nargs, kwnames,
                       PCU_ONLY(old_param_set_size, &size)) < 0) {
        return NULL;
    }
    if (size > OLD_PARAMS_MAX) {
        PyErr_Format(PyExc_ValueError, "bytes is %zu; a parameter block has at most %d",
                     size, OLD_PARAMS_MAX);
        return NULL;
    }
    if (old_resize(self, size) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE(old_param_seti, old_set_words,
              "param_seti($self, /, offset, value)\n"
              "--\n\n"
              "Write a 32-bit integer into the parameter block.\n"
              "\nParameters\n----------\n" DOC_OFFSET
              "value : int\n"
              "    The integer, signed or unsigned.\n"
              "\nRaises\n------\n" DOC_BLOCK_FULL
              "\nSee Also\n--------\n"
              "Function.param_set : Write all arguments.\n"
              "\nNotes\n-----\n" DOC_OLD)
PyDoc_STRVAR(
    old_param_seti_under_doc,
    "_param_seti($self, offset, value, /)\n--\n\nparam_seti() under its other name.");

static PyObject *
old_param_seti(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    old_set_args a;
    unsigned long long bits = 0;
    if (pcu_args_parse(self->st, &old_param_seti_signature, args, nargs, kwnames, &a) <
            0 ||
        pcu_as_integer(a.value, INT_MIN, UINT_MAX, &bits, "value") < 0) {
        return NULL;
    }
    unsigned int value = (unsigned int)bits;
    if (old_write(self, a.offset, &value, sizeof(value)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE(old_param_setf, old_set_words,
              "param_setf($self, /, offset, value)\n"
              "--\n\n"
              "Write a 32-bit floating-point number into the parameter block.\n"
              "\nParameters\n----------\n" DOC_OFFSET
              "value : float\n"
              "    The number.\n"
              "\nRaises\n------\n" DOC_BLOCK_FULL
              "\nSee Also\n--------\n"
              "Function.param_set : Write all arguments.\n"
              "\nNotes\n-----\n" DOC_OLD)
PyDoc_STRVAR(
    old_param_setf_under_doc,
    "_param_setf($self, offset, value, /)\n--\n\nparam_setf() under its other name.");

static PyObject *
old_param_setf(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    old_set_args a;
    if (pcu_args_parse(self->st, &old_param_setf_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    double number = PyFloat_AsDouble(a.value);
    if (number == -1.0 && PyErr_Occurred()) {
        return NULL;
    }
    float value = (float)number;
    if (old_write(self, a.offset, &value, sizeof(value)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE(old_param_setv, old_set_words,
              "param_setv($self, /, offset, buffer)\n"
              "--\n\n"
              "Write the bytes of a buffer into the parameter block.\n"
              "\nParameters\n----------\n" DOC_OFFSET
              "buffer : buffer\n"
              "    Contiguous buffer, such as bytes or a NumPy array.\n"
              "\nRaises\n------\n" DOC_BLOCK_FULL
              "\nSee Also\n--------\n"
              "Function.param_set : Write all arguments.\n"
              "\nNotes\n-----\n" DOC_OLD)
PyDoc_STRVAR(
    old_param_setv_under_doc,
    "_param_setv($self, offset, buffer, /)\n--\n\nparam_setv() under its other name.");

static PyObject *
old_param_setv(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    old_set_args a;
    pcu_buffer buffer = {0};
    if (pcu_args_parse(self->st, &old_param_setv_signature, args, nargs, kwnames, &a) <
            0 ||
        pcu_buffer_acquire(&buffer, a.value, false, "buffer") < 0) {
        return NULL;
    }
    int rc = old_write(self, a.offset, buffer.data, buffer.size);
    pcu_buffer_release(&buffer);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(old_param_set_doc,
             "param_set($self, /, *args)\n"
             "--\n\n"
             "Fill the parameter block with the arguments of a call.\n"
             "\nParameters\n----------\n"
             "*args : object\n"
             "    Arguments, as in a call of the function. In, Out and InOut are not\n"
             "    possible.\n"
             "\nRaises\n------\n"
             "TypeError\n"
             "    If an argument does not fit its parameter.\n"
             "\nSee Also\n--------\n"
             "Function.launch_grid : Launch with them.\n"
             "\nNotes\n-----\n" DOC_OLD);
PyDoc_STRVAR(old_param_set_under_doc,
             "_param_set($self, /, *args)\n--\n\nparam_set() under its other name.");

static PyObject *
old_param_set(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    pcu_function *self = (pcu_function *)op;
    pcu_argument_buffer buffer;
    PyObject **memory = NULL;
    if (pcu_function_describe(self) < 0) {
        return NULL;
    }
    pcu_argument_buffer_init(&buffer);
    int rc = pcu_arguments_pack(self, args, nargs, NULL, &buffer, &memory);
    if (rc == 0 && memory != NULL) {
        PyErr_Format(
            PyExc_TypeError,
            "param_set() of %U takes no argument handlers (In, Out, InOut): they copy "
            "arrays for one call of the function only",
            self->name);
        rc = -1;
    }
    if (rc == 0) {
        rc = old_resize(self, buffer.used);
    }
    if (rc == 0) {
        memcpy(self->old_params, buffer.data, buffer.used);
    }
    pcu_handlers_release(memory, nargs);
    pcu_argument_buffer_free(&buffer);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

typedef struct {
    unsigned int dims[3];
} old_block_args;

static const pcu_word old_set_block_shape_words[] = {
    PCU_WORD("x", pcu_as_uint, old_block_args, dims[0]),
    PCU_WORD("y", pcu_as_uint, old_block_args, dims[1]),
    PCU_WORD("z", pcu_as_uint, old_block_args, dims[2]),
};

PCU_SIGNATURE(old_set_block_shape, old_set_block_shape_words,
              "set_block_shape($self, /, x, y, z)\n"
              "--\n\n"
              "Set the threads of a block for the launches that follow.\n"
              "\nParameters\n----------\n"
              "x : int\n"
              "    Threads in the first dimension.\n"
              "y : int\n"
              "    Threads in the second dimension.\n"
              "z : int\n"
              "    Threads in the third dimension.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the kernel or the device does not allow so many.\n"
              "\nSee Also\n--------\n"
              "Function.launch_grid : Launch.\n"
              "\nNotes\n-----\n" DOC_OLD)
PyDoc_STRVAR(old_set_block_shape_under_doc,
             "_set_block_shape($self, x, y, z, /)\n--\n\nset_block_shape() under its "
             "other name.");

static PyObject *
old_set_block_shape(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    old_block_args a = {0};
    if (pcu_args_parse(self->st, &old_set_block_shape_signature, args, nargs, kwnames,
                       &a) < 0 ||
        pcu_function_describe(self) < 0) {
        return NULL;
    }
    pcu_launch_shape shape = {.grid = {1, 1, 1}};
    memcpy(shape.block, a.dims, sizeof(a.dims));
    if (pcu_launch_check(self, &shape) < 0) {
        return NULL;
    }
    memcpy(self->old_block, a.dims, sizeof(a.dims));
    Py_RETURN_NONE;
}

PCU_SIGNATURE_OF_ONE(
    old_set_shared_size, "bytes", pcu_as_uint,
    "set_shared_size($self, /, bytes)\n"
    "--\n\n"
    "Set the dynamic shared memory of a block for the launches that follow.\n"
    "\nParameters\n----------\n"
    "bytes : int\n"
    "    Size.\n"
    "\nSee Also\n--------\n"
    "Function.launch_grid : Launch.\n"
    "\nNotes\n-----\n" DOC_OLD)
PyDoc_STRVAR(
    old_set_shared_size_under_doc,
    "_set_shared_size($self, bytes, /)\n--\n\nset_shared_size() under its other name.");

static PyObject *
old_set_shared_size(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    if (pcu_args_parse(self->st, &old_set_shared_size_signature, args, nargs, kwnames,
                       PCU_ONLY(old_set_shared_size, &self->old_shared)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Launch with a copy of the parameters: another thread or a signal handler may set them
 * while the launch waits. If the kernel has more, these are zeros. PyCUDA launches such
 * a kernel, too; it then reads bytes of an earlier launch. */
static int
old_launch_copy(pcu_function *self, const pcu_launch_shape *shape, const void *bytes,
                size_t size)
{
    pcu_argument_buffer buffer;
    size_t whole = size;
    int rc = 0;
    if (self->nparams > 0 && size < self->params_size) {
        whole = self->params_size;
    }
    pcu_argument_buffer_init(&buffer);
    unsigned char *params = pcu_argument_buffer_reserve(&buffer, whole, 1);
    if (params == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (size != 0) {
        memcpy(params, bytes, size);
    }
    memset(params + size, 0, whole - size);
    if (size < whole) {
        rc = pcu_forgive(PyExc_TypeError,
                         "%U takes %zu bytes of parameters, %zu were given", self->name,
                         whole, size);
    }
    if (rc == 0) {
        rc = pcu_launch_run(self, shape, buffer.data, buffer.used);
    }
    pcu_argument_buffer_free(&buffer);
    return rc;
}

static PyObject *
old_launch(pcu_function *self, unsigned int width, unsigned int height, CUstream stream)
{
    pcu_launch_shape shape = {
        .grid = {width, height, 1}, .shared = self->old_shared, .stream = stream};
    memcpy(shape.block, self->old_block, sizeof(shape.block));
    if (pcu_function_describe(self) < 0) {
        return NULL;
    }
    int rc = old_launch_copy(self, &shape, self->old_params, self->old_params_size);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(old_launch_single_doc,
             "launch($self, /)\n"
             "--\n\n"
             "Launch one block on the current stream.\n"
             "\nRaises\n------\n" DOC_NO_LAUNCH
             "\nSee Also\n--------\n"
             "Function.launch_grid : Launch several blocks.\n"
             "\nNotes\n-----\n" PCU_DOC_NO_WAIT DOC_OLD);
PyDoc_STRVAR(old_launch_single_under_doc,
             "_launch($self, /)\n--\n\nlaunch() under its other name.");

static PyObject *
old_launch_single(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return old_launch((pcu_function *)op, 1, 1, pcu_stream_current());
}

typedef struct {
    unsigned int width;
    unsigned int height;
    CUstream stream;
} old_grid_args;

/* The method and its name with an underscore have different keywords. */
static const pcu_word old_grid_words[] = {
    PCU_WORD("width", pcu_as_uint, old_grid_args, width),
    PCU_WORD("height", pcu_as_uint, old_grid_args, height),
    PCU_WORD("stream", pcu_as_stream, old_grid_args, stream),
    PCU_WORD("grid_width", pcu_as_uint, old_grid_args, width),
    PCU_WORD("grid_height", pcu_as_uint, old_grid_args, height),
    PCU_WORD("s", pcu_as_stream, old_grid_args, stream),
};

static PyObject *
old_launch_parsed(PyObject *op, const pcu_signature *signature, PyObject *const *args,
                  Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    old_grid_args a = {.stream = pcu_stream_current()};
    if (pcu_args_parse(self->st, signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    return old_launch(self, a.width, a.height, a.stream);
}

#define OLD_GRID(function)                                                           \
    static PyObject *function(PyObject *op, PyObject *const *args, Py_ssize_t nargs, \
                              PyObject *kwnames)                                     \
    {                                                                                \
        return old_launch_parsed(op, &function##_signature, args, nargs, kwnames);   \
    }

PCU_SIGNATURE(old_launch_grid, old_grid_words,
              "launch_grid($self, /, width, height)\n"
              "--\n\n"
              "Launch several blocks on the current stream.\n"
              "\nParameters\n----------\n"
              "width : int\n"
              "    Blocks in the first dimension.\n"
              "height : int\n"
              "    Blocks in the second dimension.\n"
              "\nRaises\n------\n" DOC_NO_LAUNCH
              "\nSee Also\n--------\n"
              "Function.launch_grid_async : Launch on another stream.\n"
              "\nNotes\n-----\n" PCU_DOC_NO_WAIT DOC_OLD)
PCU_SIGNATURE(old_launch_grid_under, old_grid_words,
              "_launch_grid($self, /, grid_width, grid_height)\n--\n\n"
              "launch_grid() under its other name.")
PCU_SIGNATURE(old_launch_grid_async, old_grid_words,
              "launch_grid_async($self, /, width, height, stream)\n"
              "--\n\n"
              "Launch several blocks on a stream.\n"
              "\nParameters\n----------\n"
              "width : int\n"
              "    Blocks in the first dimension.\n"
              "height : int\n"
              "    Blocks in the second dimension.\n"
              "stream : Stream or None\n"
              "    Stream; None is the current one.\n"
              "\nRaises\n------\n" DOC_NO_LAUNCH
              "\nSee Also\n--------\n"
              "Function.launch_grid : Launch on the current stream.\n"
              "\nNotes\n-----\n" PCU_DOC_NO_WAIT DOC_OLD)
PCU_SIGNATURE(old_launch_grid_async_under, old_grid_words,
              "_launch_grid_async($self, /, grid_width, grid_height, s)\n--\n\n"
              "launch_grid_async() under its other name.")
OLD_GRID(old_launch_grid)
OLD_GRID(old_launch_grid_under)
OLD_GRID(old_launch_grid_async)
OLD_GRID(old_launch_grid_async_under)

typedef struct {
    PyObject *grid;
    PyObject *block;
    PyObject *params;
    unsigned int shared;
    CUstream stream;
} old_kernel_args;

/* Read dimensions. An empty tuple is (1, 1, 1). */
static int
old_dims(pcu_state *st, PyObject *value, unsigned int dims[3], const char *name)
{
    if (PyTuple_Check(value) && PyTuple_GET_SIZE(value) == 0) {
        dims[0] = dims[1] = dims[2] = 1;
        return 0;
    }
    return pcu_as_dims(st, value, dims, name);
}

static const pcu_word old_kernel_words[] = {
    PCU_WORD("grid", pcu_as_object, old_kernel_args, grid),
    PCU_WORD("block", pcu_as_object, old_kernel_args, block),
    PCU_WORD("param_buffer", pcu_as_object, old_kernel_args, params),
    PCU_WORD("shared", pcu_as_uint, old_kernel_args, shared),
    PCU_WORD("stream", pcu_as_stream, old_kernel_args, stream),
};

PCU_SIGNATURE(old_launch_kernel, old_kernel_words,
              "_launch_kernel"
              "($self, grid, block, param_buffer, shared, stream, /)\n--\n\n"
              "Launch with a parameter block that you packed.")

static PyObject *
old_launch_kernel(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    pcu_function *self = (pcu_function *)op;
    old_kernel_args a = {0};
    pcu_launch_shape shape = {0};
    pcu_buffer buffer = {0};
    if (pcu_args_parse(self->st, &old_launch_kernel_signature, args, nargs, NULL, &a) <
            0 ||
        old_dims(self->st, a.grid, shape.grid, "grid") < 0 ||
        old_dims(self->st, a.block, shape.block, "block") < 0 ||
        pcu_function_describe(self) < 0 ||
        pcu_buffer_acquire(&buffer, a.params, false, "param_buffer") < 0) {
        return NULL;
    }
    shape.shared = a.shared;
    shape.stream = a.stream;
    int rc = old_launch_copy(self, &shape, buffer.data, buffer.size);
    pcu_buffer_release(&buffer);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

#define OLD_ROW(name, function, flags, doc)                     \
    {                                                           \
        name, (PyCFunction)(void (*)(void))function, flags, doc \
    }

PyMethodDef pcu_old_call_methods[] = {
    OLD_ROW("param_set", old_param_set, METH_FASTCALL, old_param_set_doc),
    OLD_ROW("_param_set", old_param_set, METH_FASTCALL, old_param_set_under_doc),
    OLD_ROW("param_set_size", old_param_set_size, METH_FASTCALL | METH_KEYWORDS,
            old_param_set_size_doc),
    OLD_ROW("_param_set_size", old_param_set_size, METH_FASTCALL | METH_KEYWORDS,
            old_param_set_size_under_doc),
    OLD_ROW("param_seti", old_param_seti, METH_FASTCALL | METH_KEYWORDS,
            old_param_seti_doc),
    OLD_ROW("_param_seti", old_param_seti, METH_FASTCALL | METH_KEYWORDS,
            old_param_seti_under_doc),
    OLD_ROW("param_setf", old_param_setf, METH_FASTCALL | METH_KEYWORDS,
            old_param_setf_doc),
    OLD_ROW("_param_setf", old_param_setf, METH_FASTCALL | METH_KEYWORDS,
            old_param_setf_under_doc),
    OLD_ROW("param_setv", old_param_setv, METH_FASTCALL | METH_KEYWORDS,
            old_param_setv_doc),
    OLD_ROW("_param_setv", old_param_setv, METH_FASTCALL | METH_KEYWORDS,
            old_param_setv_under_doc),
    OLD_ROW("set_block_shape", old_set_block_shape, METH_FASTCALL | METH_KEYWORDS,
            old_set_block_shape_doc),
    OLD_ROW("_set_block_shape", old_set_block_shape, METH_FASTCALL | METH_KEYWORDS,
            old_set_block_shape_under_doc),
    OLD_ROW("set_shared_size", old_set_shared_size, METH_FASTCALL | METH_KEYWORDS,
            old_set_shared_size_doc),
    OLD_ROW("_set_shared_size", old_set_shared_size, METH_FASTCALL | METH_KEYWORDS,
            old_set_shared_size_under_doc),
    OLD_ROW("launch", old_launch_single, METH_NOARGS, old_launch_single_doc),
    OLD_ROW("_launch", old_launch_single, METH_NOARGS, old_launch_single_under_doc),
    OLD_ROW("launch_grid", old_launch_grid, METH_FASTCALL | METH_KEYWORDS,
            old_launch_grid_doc),
    OLD_ROW("_launch_grid", old_launch_grid_under, METH_FASTCALL | METH_KEYWORDS,
            old_launch_grid_under_doc),
    OLD_ROW("launch_grid_async", old_launch_grid_async, METH_FASTCALL | METH_KEYWORDS,
            old_launch_grid_async_doc),
    OLD_ROW("_launch_grid_async", old_launch_grid_async_under,
            METH_FASTCALL | METH_KEYWORDS, old_launch_grid_async_under_doc),
    OLD_ROW("_launch_kernel", old_launch_kernel, METH_FASTCALL, old_launch_kernel_doc),
    {NULL, NULL, 0, NULL},
};
