/* Function.__call__: f(*args, block=, grid=, stream=, shared=, texrefs=, time_kernel=),
 * the keywords of launch_attributes.c, and size= in place of block= and grid=.
 *
 * The steps of a call, and their files:
 *   call.c        reads the keywords
 *   function.c    reads the limits and parameters of the kernel, once
 *   launch.c      checks the shape
 *   arguments.c   packs the arguments into the parameter block
 *   handlers.c    copies the arrays of In and InOut to the device
 *   kept_arguments.c  during a capture: keeps arguments that are no allocations
 *   launch.c      checks the shape again, notes the memory that a captured launch uses
 *                 (python/driver/graph_resources.c), and calls cuLaunchKernel
 *                 or cuLaunchKernelEx, if there are attributes
 *   handlers.c    copies the arrays of Out and InOut back
 *
 * The shape is checked before the arguments, so that a wrong shape copies nothing, and
 * again before the launch, because code that runs meanwhile may change the limits or
 * end the context.
 *
 * Invariant: the only Python code that runs is that of the classes of the arguments and
 * of the keywords' values, and pycuda/_parameter_types.py (see arguments.c). */
#include "python/driver/launch/launch.h"

#include <time.h>

#include "python/support/convert.h"
#include "python/support/recording.h"
#include "python/driver/stream.h"
#include "python/driver/texture/reference.h"

typedef struct {
    pcu_launch_shape shape;
    PyObject *stream; /* borrowed; Py_None if not given */
    bool has_block;
    int special;                      /* or-ed CALL_ flags; 0: the usual call */
    pcu_launch_attributes attributes; /* set if `special` has CALL_ATTRIBUTES */
    PyObject *size;                   /* borrowed, if `special` has CALL_SIZED */
} call_options;

enum { CALL_TIMED = 1, CALL_ATTRIBUTES = 2, CALL_SIZED = 4 };

/* Read one keyword of usual calls. Return 1 if the name is none of these interned
 * names.
 */
static int
call_keyword(pcu_state *st, call_options *call, PyObject *name, PyObject *value)
{
    if (name == st->str_block) {
        call->has_block = value != Py_None;
        if (!call->has_block) {
            return 0;
        }
        return pcu_as_dims(st, value, call->shape.block, "block");
    }
    if (name == st->str_grid) {
        return pcu_as_dims(st, value, call->shape.grid, "grid");
    }
    if (name == st->str_stream) {
        call->stream = value;
        return pcu_as_stream(st, value, &call->shape.stream, "stream");
    }
    if (name == st->str_shared) {
        return pcu_as_uint(st, value, &call->shape.shared, "shared");
    }
    if (name == st->str_texrefs) {
        if (value == Py_None) {
            return 0;
        }
        return pcu_module_references_check(st, value, true);
    }
    return 1;
}

/* Read time_kernel. */
static int
call_time_kernel(call_options *call, PyObject *value)
{
    int timed = PyObject_IsTrue(value);
    if (timed < 0) {
        return -1;
    }
    call->special = (call->special & ~CALL_TIMED) | timed;
    return 0;
}

/* Read a keyword that sets a launch attribute. */
static int
call_attribute(pcu_state *st, call_options *call, PyObject *name, PyObject *value)
{
    if ((call->special & CALL_ATTRIBUTES) == 0) {
        call->attributes.count = 0;
        call->special |= CALL_ATTRIBUTES;
    }
    return pcu_launch_keyword(st, &call->attributes, name, value);
}

/* Note the size, which stands for block and grid. */
static int
call_size(call_options *call, PyObject *kwnames, PyObject *value)
{
    PyObject *other = pcu_launch_shape_keyword(kwnames);
    if (other != NULL) {
        PyErr_Format(PyExc_ValueError,
                     "a kernel call takes size=, which chooses block and grid, or "
                     "block= and grid=; '%U' was given beside size",
                     other);
        return -1;
    }
    call->special |= CALL_SIZED;
    call->size = value;
    return 0;
}

/* Read a keyword that usual calls do not have, or whose name is not interned: it was
 * built at run time. */
static int
call_keyword_slow(pcu_state *st, call_options *call, PyObject *kwnames, PyObject *name,
                  PyObject *value)
{
    if (name == st->str_size || PyUnicode_Compare(name, st->str_size) == 0) {
        return call_size(call, kwnames, value);
    }
    PyObject *known[] = {st->str_block, st->str_grid, st->str_stream, st->str_shared,
                         st->str_texrefs};
    PyObject *attribute = pcu_launch_keyword_name(st, name);
    if (attribute != NULL) {
        return call_attribute(st, call, attribute, value);
    }
    if (PyUnicode_Compare(name, st->str_time_kernel) == 0) {
        return call_time_kernel(call, value);
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(known); i++) {
        if (PyUnicode_Compare(name, known[i]) == 0) {
            return call_keyword(st, call, known[i], value);
        }
    }
    if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError,
                     "a kernel call takes block, grid, size, stream, shared, texrefs, "
                     "time_kernel, cooperative, cluster, programmatic, priority and "
                     "launch_config by keyword, not '%U'",
                     name);
    }
    return -1;
}

/* Raise ValueError for a call without block. Other packages take the grid, the block
 * and the arguments in this order. */
static int
call_lacks_block(const pcu_function *self, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs > 1 && PyTuple_Check(args[0]) && PyTuple_Check(args[1])) {
        PyErr_Format(
            PyExc_ValueError,
            "%U: block= must be given: the tuples %R and %R are keywords here, "
            "as in f(*args, grid=%R, block=%R)",
            self->name, args[0], args[1], args[0], args[1]);
    }
    else {
        PyErr_Format(PyExc_ValueError,
                     "%U: block= must be given, as in block=(256, 1, 1), or size=, "
                     "the number of elements",
                     self->name);
    }
    return -1;
}

/* Choose the shape by the size, if the call has one. */
static int
call_without_block(pcu_function *self, call_options *call, PyObject *const *args,
                   Py_ssize_t nargs)
{
    if ((call->special & CALL_SIZED) == 0) {
        return call_lacks_block(self, args, nargs);
    }
    if (!self->described && pcu_function_describe(self) < 0) {
        return -1;
    }
    return pcu_launch_cover(self, call->size, &call->shape);
}

static int
call_keywords(pcu_function *self, call_options *call, PyObject *const *args,
              Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *const *values = args + nargs;
    Py_ssize_t n = 0;
    if (kwnames != NULL) {
        n = PyTuple_GET_SIZE(kwnames);
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        int rc = call_keyword(self->st, call, name, values[i]);
        if (rc == 1) {
            rc = call_keyword_slow(self->st, call, kwnames, name, values[i]);
        }
        if (rc < 0) {
            return -1;
        }
    }
    if (!call->has_block) {
        return call_without_block(self, call, args, nargs);
    }
    return 0;
}

static double
call_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Launch with the attributes of the call. */
static int
call_launch(pcu_function *self, call_options *call, pcu_argument_buffer *buffer)
{
    if ((call->special & CALL_ATTRIBUTES) == 0) {
        return pcu_launch_run(self, &call->shape, buffer->data, buffer->used);
    }
    return pcu_launch_run_attributes(self, &call->shape, &call->attributes,
                                     buffer->data, buffer->used);
}

/* Launch with attributes, or between two synchronizations. In the second case measure
 * the seconds between them. */
static int
call_special(pcu_function *self, call_options *call, pcu_argument_buffer *buffer,
             double *seconds)
{
    if ((call->special & CALL_TIMED) == 0) {
        return call_launch(self, call, buffer);
    }
    if (pcu_launch_synchronize(self->st, call->shape.stream) < 0) {
        return -1;
    }
    double start = call_seconds();
    if (call_launch(self, call, buffer) < 0 ||
        pcu_launch_synchronize(self->st, call->shape.stream) < 0) {
        return -1;
    }
    *seconds = call_seconds() - start;
    return 0;
}

PyObject *
pcu_call_function(PyObject *op, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    call_options call;
    pcu_argument_buffer buffer;
    double seconds = 0;
    PyObject **memory = NULL; /* see pcu_arguments_pack */
    PyObject *result = NULL;
    int rc;
    if (pcu_is_recording(self->st)) {
        return pcu_record_kernel(self->st, op, args, nargs, kwnames);
    }
    memset(&call, 0, offsetof(call_options, attributes));
    call.shape.grid[0] = call.shape.grid[1] = call.shape.grid[2] = 1;
    call.shape.stream = pcu_stream_current();
    call.stream = Py_None;
    if (call_keywords(self, &call, args, nargs, kwnames) < 0 ||
        (!self->described && pcu_function_describe(self) < 0)) {
        return NULL;
    }
    pcu_argument_buffer_init(&buffer);
    if (pcu_launch_check(self, &call.shape) < 0 ||
        pcu_arguments_pack(self, args, nargs, &call.shape.stream, &buffer, &memory) <
            0 ||
        (memory != NULL &&
         pcu_handlers_before(self->st, args, nargs, memory, call.stream) < 0)) {
        goto done;
    }
    if (pcu_captures != NULL && pcu_captured_arguments(self->st, args, nargs) < 0) {
        goto done;
    }
    if (memory != NULL) {
        pcu_handlers_tell_inputs(self->st, args, nargs, memory);
    }
    if (call.special != 0) {
        rc = call_special(self, &call, &buffer, &seconds);
    }
    else {
        rc = pcu_launch_run(self, &call.shape, buffer.data, buffer.used);
    }
    if (memory != NULL) {
        pcu_handlers_tell_inputs(self->st, args, nargs, NULL);
    }
    if (rc < 0) {
        goto done;
    }
    if (memory != NULL && pcu_handlers_after(self->st, args, nargs, memory, call.stream,
                                             call.shape.stream) < 0) {
        goto done;
    }
    if ((call.special & CALL_TIMED) != 0) {
        result = PyFloat_FromDouble(seconds);
    }
    else {
        result = Py_NewRef(Py_None);
    }
done:
    pcu_handlers_release(memory, nargs);
    pcu_argument_buffer_free(&buffer);
    return result;
}
