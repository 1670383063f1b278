/* The only element of a GPUArray as a Python number: bool(), int(), float(), complex(),
 * index and format.
 *
 * Each of them copies one element to the host. The slots and methods go into the type:
 * see gpuarray_type.c. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/layout.h"

/* The only element, as a Python number. An array of another number of elements raises
 * `error`; what: the conversion. */
static PyObject *
element_value_new(PyObject *op, const char *what, PyObject *error)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (self->count != 1) {
        PyObject *shape = pcu_shape_tuple_new(self->ndim, self->shape);
        if (shape != NULL) {
            PyErr_Format(error,
                         "%s() of an array of shape %S: it takes one element, as any() "
                         "and all() give",
                         what, shape);
            Py_DECREF(shape);
        }
        return NULL;
    }
    PyObject *host = PyObject_CallMethodNoArgs(op, self->st->str_get);
    if (host == NULL) {
        return NULL;
    }
    PyObject *item = PyObject_CallMethod(host, "item", NULL);
    Py_DECREF(host);
    return item;
}

static int
element_bool(PyObject *op)
{
    PyObject *item = element_value_new(op, "bool", PyExc_ValueError);
    if (item == NULL) {
        return -1;
    }
    int truth = PyObject_IsTrue(item);
    Py_DECREF(item);
    return truth;
}

static PyObject *
element_convert(PyObject *op, const char *what, PyObject *(*convert)(PyObject *))
{
    PyObject *item = element_value_new(op, what, PyExc_TypeError);
    if (item == NULL) {
        return NULL;
    }
    PyObject *number = convert(item);
    Py_DECREF(item);
    return number;
}

static PyObject *
element_int(PyObject *op)
{
    return element_convert(op, "int", PyNumber_Long);
}

static PyObject *
element_float(PyObject *op)
{
    return element_convert(op, "float", PyNumber_Float);
}

static PyObject *
element_index(PyObject *op)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (self->dtype == NULL || self->ndim != 0 || !pcu_type_is_integer(self->type)) {
        PyErr_SetString(PyExc_TypeError,
                        "only integer arrays without axes can be an index");
        return NULL;
    }
    return element_convert(op, "index", PyNumber_Index);
}

static PyObject *
element_complex_of(PyObject *item)
{
    Py_complex value = PyComplex_AsCComplex(item);
    if (PyErr_Occurred()) {
        return NULL;
    }
    return PyComplex_FromCComplex(value);
}

PyDoc_STRVAR(element_complex_doc,
             "__complex__($self, /)\n--\n\nReturn the only element as a complex.");

static PyObject *
element_complex(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return element_convert(op, "complex", element_complex_of);
}

PyDoc_STRVAR(element_format_doc,
             "__format__($self, format_spec, /)\n--\n\n"
             "Format the array's text, or the element of an array without axes.");

static PyObject *
element_format(PyObject *op, PyObject *spec)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyObject *value;
    if (!PyUnicode_Check(spec)) {
        PyErr_Format(PyExc_TypeError, "format_spec must be a str, not %s",
                     Py_TYPE(spec)->tp_name);
        return NULL;
    }
    if (pcu_gpuarray_ready(self) < 0) {
        return NULL;
    }
    if (self->ndim == 0) {
        value = element_value_new(op, "format", PyExc_TypeError);
    }
    else if (PyUnicode_GET_LENGTH(spec) > 0) {
        PyErr_SetString(PyExc_TypeError,
                        "unsupported format string passed to GPUArray.__format__: "
                        "format an element, or the array that get() returns");
        return NULL;
    }
    else {
        value = PyObject_Str(op);
    }
    if (value == NULL) {
        return NULL;
    }
    PyObject *text = PyObject_Format(value, spec);
    Py_DECREF(value);
    return text;
}

PyMethodDef pcu_element_value_methods[] = {
    {"__complex__", element_complex, METH_NOARGS, element_complex_doc},
    {"__format__", element_format, METH_O, element_format_doc},
    {NULL, NULL, 0, NULL},
};

const PyType_Slot pcu_element_value_slots[] = {
    {Py_nb_bool, element_bool},
    {Py_nb_int, element_int},
    {Py_nb_float, element_float},
    {Py_nb_index, element_index},
    {0, NULL},
};
