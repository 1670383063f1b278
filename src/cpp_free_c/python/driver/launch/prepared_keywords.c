/* Reading the keywords of a prepared call. See prepared_keywords.h.
 *
 * A file of its own, so that the compiler keeps it out of the path of calls without
 * keywords. */
#include "python/driver/launch/prepared_keywords.h"

#include "python/support/convert.h"
#include "python/driver/launch/launch_keywords.h"

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

int
pcu_prepared_keywords(pcu_function *self, const pcu_prepared_request *request,
                      PyObject **fixed, pcu_launch_attributes *attributes,
                      pcu_launch_shape *shape)
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
