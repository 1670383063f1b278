/* Prepared calls: prepare() fixes the argument types, prepared_call() and its variants
 * launch with values of these types.
 *
 * prepared_format.c compiles the types once. prepared_values.c packs the values of each
 * call, and launch.c launches. */
#include "python/driver/launch/launch.h"

#include "python/support/convert.h"
#include "python/driver/stream.h"
#include "python/driver/texture/reference.h"

/* -- prepare() --------------------------------------------------------------------- */

/* Keep the texture references of prepare(), and set the attribute texrefs. */
static int
prepared_take_texrefs(PyObject *op, PyObject *texrefs)
{
    pcu_state *st = ((pcu_function *)op)->st;
    PyObject *list;
    PyObject *kept = NULL;
    if (texrefs == NULL || texrefs == Py_None) {
        list = PyList_New(0);
    }
    else {
        list = PySequence_List(texrefs);
    }
    if (list != NULL) {
        kept = PySequence_Tuple(list);
    }
    int rc = 0;
    if (kept == NULL || pcu_module_references_check(st, kept, false) < 0 ||
        PyObject_SetAttr(op, st->str_texrefs, list) < 0) {
        rc = -1;
    }
    if (rc == 0) {
        PyObject *checked = NULL; /* nothing to check in a launch */
        if (PyTuple_GET_SIZE(kept) != 0) {
            checked = Py_NewRef(kept);
        }
        Py_XSETREF(((pcu_function *)op)->texrefs, checked);
    }
    Py_XDECREF(kept);
    Py_XDECREF(list);
    return rc;
}

/* Make prepared calls use this plan. Takes over the reference. */
static void
prepared_install(pcu_function *self, PyObject *format, pcu_prepared *prepared)
{
    pcu_prepared_release(self->prepared);
    self->prepared = prepared;
    Py_XSETREF(self->arg_format, Py_NewRef(format));
}

PyObject *
pcu_function_prepare(PyObject *op, PyObject *arg_types, PyObject *texrefs)
{
    pcu_function *self = (pcu_function *)op;
    pcu_prepared *prepared = NULL;
    PyObject *format = pcu_prepared_format_new(arg_types);
    if (format == NULL || pcu_prepared_compile(self, format, &prepared) < 0 ||
        prepared_take_texrefs(op, texrefs) < 0) {
        pcu_prepared_release(prepared);
        Py_XDECREF(format);
        return NULL;
    }
    prepared_install(self, format, prepared);
    Py_DECREF(format);
    return Py_NewRef(op);
}

PyObject *
pcu_function_get_arg_format(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_function *self = (pcu_function *)op;
    if (self->arg_format == NULL) {
        PyErr_Format(PyExc_AttributeError,
                     "%U has no arg_format: call prepare(), or set it", self->name);
        return NULL;
    }
    return Py_NewRef(self->arg_format);
}

int
pcu_function_set_arg_format(PyObject *op, PyObject *format, void *Py_UNUSED(closure))
{
    pcu_function *self = (pcu_function *)op;
    pcu_prepared *prepared = NULL;
    if (format == NULL) {
        pcu_prepared_release(self->prepared);
        self->prepared = NULL;
        Py_CLEAR(self->arg_format);
        return 0;
    }
    if (!PyUnicode_Check(format)) {
        PyErr_Format(PyExc_TypeError,
                     "arg_format must be a str such as 'Pif', not %s; prepare() takes "
                     "lists of types",
                     Py_TYPE(format)->tp_name);
        return -1;
    }
    if (pcu_prepared_compile(self, format, &prepared) < 0) {
        return -1;
    }
    prepared_install(self, format, prepared);
    return 0;
}

/* -- the calls --------------------------------------------------------------------- */

/* A prepared call as it came from Python. */
typedef struct {
    const char *method; /* for messages */
    bool async;         /* a stream follows the block */
    PyObject *const *args;
    Py_ssize_t nargs;
    PyObject *kwnames;
} prepared_request;

/* Read a keyword that sets a launch attribute. Return 1 if it is none. */
static int
prepared_attribute(pcu_state *st, pcu_launch_attributes *attributes, PyObject *name,
                   PyObject *value)
{
    PyObject *known = pcu_launch_keyword_name(st, name);
    if (known == NULL) {
        if (PyErr_Occurred()) {
            return -1;
        }
        return 1;
    }
    return pcu_launch_keyword(st, attributes, known, value);
}

/* Read the keywords: shared_size into the shape, launch attributes into `attributes`,
 * the leading parameters into `fixed`. `fixed` has room for grid, block and, with a
 * stream, that one, and already holds those that were given by position. `attributes`
 * may be NULL if there are no keywords. */
static int
prepared_keywords(pcu_function *self, const prepared_request *request, PyObject **fixed,
                  pcu_launch_attributes *attributes, pcu_launch_shape *shape)
{
    Py_ssize_t count = 2 + request->async;
    PyObject *const *values = request->args + request->nargs;
    PyObject *kwnames = request->kwnames;
    static const char *const names[] = {"grid", "block", "stream"};
    Py_ssize_t n = 0;
    if (kwnames != NULL) {
        n = PyTuple_GET_SIZE(kwnames);
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        Py_ssize_t k = 0;
        if (name == self->st->str_shared_size ||
            PyUnicode_CompareWithASCIIString(name, "shared_size") == 0) {
            if (pcu_as_uint(self->st, values[i], &shape->shared, "shared_size") < 0) {
                return -1;
            }
            continue;
        }
        if (PyUnicode_CompareWithASCIIString(name, "size") == 0) {
            continue; /* prepared_read_sized has read it */
        }
        while (k < count && PyUnicode_CompareWithASCIIString(name, names[k]) != 0) {
            k++;
        }
        if (k == count) {
            int rc = prepared_attribute(self->st, attributes, name, values[i]);
            if (rc < 0) {
                return -1;
            }
            if (rc == 0) {
                continue;
            }
            PyErr_Format(PyExc_TypeError,
                         "%s() got an unexpected keyword argument '%U'",
                         request->method, name);
            return -1;
        }
        if (fixed[k] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'",
                         request->method, name);
            return -1;
        }
        fixed[k] = values[i];
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        if (fixed[k] == NULL) {
            const char *stream = "";
            if (request->async) {
                stream = ", stream";
            }
            PyErr_Format(PyExc_TypeError, "%s() needs grid, block%s and the arguments",
                         request->method, stream);
            return -1;
        }
    }
    return 0;
}

/* 1 if the call has no block. Programs for CUDA before 4.0 set the block before the
 * call, so the first value follows the grid. */
static int
prepared_block_is_missing(PyObject *block)
{
    if (PyTuple_Check(block) || PyList_Check(block)) {
        return 0;
    }
    if (PyErr_WarnEx(PyExc_DeprecationWarning,
                     "prepared calls take the block size after the grid size", 1) < 0) {
        return -1;
    }
    return 1;
}

/* The value of the keyword size, NULL if there is none. */
static PyObject *
prepared_find_size(const prepared_request *request)
{
    PyObject *kwnames = request->kwnames;
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), "size") ==
            0) {
            return request->args[request->nargs + i];
        }
    }
    return NULL;
}

/* Read the shape of a call with `size`: no grid and no block precede the stream and the
 * values. Return the index of the first value in the arguments, or -1. */
static Py_ssize_t
prepared_read_sized(pcu_function *self, const prepared_request *request, PyObject *size,
                    pcu_launch_attributes *attributes, pcu_launch_shape *shape)
{
    PyObject *fixed[3] = {size, size, NULL};
    Py_ssize_t given = 0;
    if (request->async && request->nargs > 0) {
        fixed[2] = request->args[0];
        given = 1;
    }
    if (pcu_launch_shape_keyword(request->kwnames) != NULL ||
        (request->nargs > 0 && PyTuple_Check(request->args[0]))) {
        PyErr_Format(PyExc_ValueError,
                     "%s() takes size=, which chooses grid and block, or grid and "
                     "block; both were given",
                     request->method);
        return -1;
    }
    if (prepared_keywords(self, request, fixed, attributes, shape) < 0 ||
        (!self->described && pcu_function_describe(self) < 0) ||
        pcu_launch_cover(self, size, shape) < 0 ||
        (request->async &&
         pcu_as_stream(self->st, fixed[2], &shape->stream, "stream") < 0)) {
        return -1;
    }
    return given;
}

/* Read grid, block, shared_size and stream. Return the index of the first value in the
 * arguments, or -1. */
static Py_ssize_t
prepared_read_shape(pcu_function *self, const prepared_request *request,
                    pcu_launch_attributes *attributes, pcu_launch_shape *shape)
{
    PyObject *fixed[3] = {NULL};
    Py_ssize_t count = 2 + request->async;
    Py_ssize_t given = Py_MIN(request->nargs, count);
    int missing = 0;
    for (Py_ssize_t i = 0; i < given; i++) {
        fixed[i] = request->args[i];
    }
    memset(shape, 0, sizeof(*shape));
    shape->stream = pcu_stream_current();
    if (attributes != NULL || given < count) {
        PyObject *size = prepared_find_size(request);
        if (size != NULL) {
            return prepared_read_sized(self, request, size, attributes, shape);
        }
        if (prepared_keywords(self, request, fixed, attributes, shape) < 0) {
            return -1;
        }
    }
    if (given == count) {
        missing = prepared_block_is_missing(fixed[1]);
    }
    if (missing < 0 || pcu_as_dims(self->st, fixed[0], shape->grid, "grid") < 0) {
        return -1;
    }
    if (missing) {
        memcpy(shape->block, self->old_block, sizeof(shape->block));
    }
    else if (pcu_as_dims(self->st, fixed[1], shape->block, "block") < 0) {
        return -1;
    }
    if (request->async &&
        pcu_as_stream(self->st, fixed[2 - missing], &shape->stream, "stream") < 0) {
        return -1;
    }
    return given - missing;
}

/* Read the shape and pack the values. Any conversion may run code that calls prepare(),
 * so the caller holds the plan. */
static int
prepared_pack_call(pcu_function *self, const pcu_prepared *plan,
                   const prepared_request *request, pcu_launch_attributes *attributes,
                   pcu_argument_buffer *buffer, pcu_launch_shape *shape)
{
    Py_ssize_t first = prepared_read_shape(self, request, attributes, shape);
    if (first < 0 || (!self->described && pcu_function_describe(self) < 0)) {
        return -1;
    }
    if (self->texrefs != NULL &&
        pcu_module_references_check(self->st, self->texrefs, true) < 0) {
        return -1;
    }
    if (pcu_captures != NULL && pcu_captured_arguments(self->st, request->args + first,
                                                       request->nargs - first) < 0) {
        return -1;
    }
    return pcu_prepared_pack(self, plan, request->args + first, request->nargs - first,
                             buffer);
}

/* Pack a call by the present plan. `attributes` is NULL if the call has no keywords. */
static int
prepared_begin(pcu_function *self, const prepared_request *request,
               pcu_launch_attributes *attributes, pcu_argument_buffer *buffer,
               pcu_launch_shape *shape)
{
    pcu_prepared *plan = self->prepared;
    if (plan == NULL) {
        PyErr_Format(PyExc_AttributeError,
                     "%U: call prepare(), or set arg_format, before %s()", self->name,
                     request->method);
        return -1;
    }
    plan->references++;
    int rc = prepared_pack_call(self, plan, request, attributes, buffer, shape);
    pcu_prepared_release(plan);
    return rc;
}

static PyObject *
prepared_call(PyObject *op, const prepared_request *request)
{
    pcu_function *self = (pcu_function *)op;
    pcu_launch_shape shape;
    pcu_argument_buffer buffer;
    pcu_argument_buffer_init(&buffer);
    int rc = prepared_begin(self, request, NULL, &buffer, &shape);
    if (rc == 0) {
        rc = pcu_launch_run(self, &shape, buffer.data, buffer.used);
    }
    pcu_argument_buffer_free(&buffer);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* The same for a call with keywords, which may set launch attributes. */
static PyObject *
prepared_call_keywords(PyObject *op, prepared_request *request)
{
    pcu_function *self = (pcu_function *)op;
    pcu_launch_shape shape;
    pcu_launch_attributes attributes;
    pcu_argument_buffer buffer;
    attributes.count = 0;
    pcu_argument_buffer_init(&buffer);
    int rc = prepared_begin(self, request, &attributes, &buffer, &shape);
    if (rc == 0) {
        rc = pcu_launch_run_attributes(self, &shape, &attributes, buffer.data,
                                       buffer.used);
    }
    pcu_argument_buffer_free(&buffer);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyObject *
pcu_function_prepared_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames)
{
    prepared_request request = {"prepared_call", false, args, nargs, kwnames};
    if (kwnames != NULL) {
        return prepared_call_keywords(op, &request);
    }
    return prepared_call(op, &request);
}

PyObject *
pcu_function_prepared_async_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *kwnames)
{
    prepared_request request = {"prepared_async_call", true, args, nargs, kwnames};
    if (kwnames != NULL) {
        return prepared_call_keywords(op, &request);
    }
    return prepared_call(op, &request);
}

/* -- timing ------------------------------------------------------------------------ */

PyDoc_STRVAR(prepared_get_call_time_doc,
             "get_call_time($self, /)\n--\n\nWait for the launch and return the "
             "seconds that it took.");

/* self is the tuple (start event, end event). */
static PyObject *
prepared_get_call_time(PyObject *events, PyObject *Py_UNUSED(ignored))
{
    PyObject *start = PyTuple_GET_ITEM(events, 0);
    PyObject *end = PyTuple_GET_ITEM(events, 1);
    PyObject *waited = PyObject_CallMethod(end, "synchronize", NULL);
    if (waited == NULL) {
        return NULL;
    }
    Py_DECREF(waited);
    PyObject *milliseconds = PyObject_CallMethod(end, "time_since", "O", start);
    if (milliseconds == NULL) {
        return NULL;
    }
    double seconds = PyFloat_AsDouble(milliseconds) * 1e-3;
    Py_DECREF(milliseconds);
    return PyFloat_FromDouble(seconds);
}

static PyMethodDef prepared_timer_def = {"get_call_time", prepared_get_call_time,
                                         METH_NOARGS, prepared_get_call_time_doc};

static int
prepared_record(PyObject *event)
{
    PyObject *recorded = PyObject_CallMethod(event, "record", NULL);
    Py_XDECREF(recorded);
    if (recorded == NULL) {
        return -1;
    }
    return 0;
}

PyObject *
pcu_function_prepared_timed_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    pcu_launch_attributes attributes;
    prepared_request request = {"prepared_timed_call", false, args, nargs, kwnames};
    pcu_launch_shape shape;
    pcu_argument_buffer buffer;
    PyObject *timer = NULL;
    PyObject *events = NULL;
    PyObject *start = PyObject_CallNoArgs((PyObject *)self->st->Event);
    PyObject *end = NULL;
    if (start != NULL) {
        end = PyObject_CallNoArgs((PyObject *)self->st->Event);
    }
    attributes.count = 0;
    pcu_argument_buffer_init(&buffer);
    if (end != NULL &&
        prepared_begin(self, &request, &attributes, &buffer, &shape) == 0 &&
        prepared_record(start) == 0 &&
        pcu_launch_run_attributes(self, &shape, &attributes, buffer.data,
                                  buffer.used) == 0 &&
        prepared_record(end) == 0) {
        events = PyTuple_Pack(2, start, end);
        if (events != NULL) {
            timer = PyCFunction_New(&prepared_timer_def, events);
        }
    }
    pcu_argument_buffer_free(&buffer);
    Py_XDECREF(start);
    Py_XDECREF(end);
    Py_XDECREF(events);
    return timer;
}
