/* The argument parser, for vectorcall and for tp_new and tp_init. Invariant and
 * callers: see args.h. Messages are worded like CPython's. */
#include "python/support/args.h"

static int
args_find(const pcu_argtable *table, PyObject *keyword)
{
    for (int i = table->positional; i < table->count; i++) {
        if (PyUnicode_CompareWithASCIIString(keyword, table->specs[i].name) == 0) {
            return i;
        }
    }
    return -1;
}

static int
args_place(const pcu_argtable *table, PyObject **values, PyObject *keyword,
           PyObject *value)
{
    if (!PyUnicode_Check(keyword)) { /* CPython does not check f(**{1: 2}) for types */
        PyErr_Format(PyExc_TypeError, "%s() keywords must be strings", table->function);
        return -1;
    }
    int i = args_find(table, keyword);
    if (i < 0) {
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                     table->function, keyword);
        return -1;
    }
    if (values[i] != NULL) {
        PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'",
                     table->function, table->specs[i].name);
        return -1;
    }
    values[i] = value;
    return 0;
}

static int
args_place_positional(const pcu_argtable *table, PyObject **values,
                      PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs > table->count) {
        PyErr_Format(PyExc_TypeError, "%s() takes %s %d argument%s (%zd given)",
                     table->function,
                     table->required == table->count ? "exactly" : "at most",
                     table->count, table->count == 1 ? "" : "s", nargs);
        return -1;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        values[i] = args[i];
    }
    return 0;
}

static int
args_convert(pcu_state *st, const pcu_argtable *table, PyObject **values, void *out)
{
    for (int i = 0; i < table->count; i++) {
        const pcu_argspec *spec = &table->specs[i];
        if (values[i] == NULL) {
            if (i < table->required) {
                PyErr_Format(PyExc_TypeError,
                             "%s() missing required argument '%s' (pos %d)",
                             table->function, spec->name, i + 1);
                return -1;
            }
        }
        else if (spec->convert(st, values[i], (char *)out + spec->offset, spec->name) <
                 0) {
            return -1;
        }
    }
    return 0;
}

int
pcu_args_parse(pcu_state *st, const pcu_argtable *table, PyObject *const *args,
               Py_ssize_t nargs, PyObject *kwnames, void *out)
{
    PyObject *values[PCU_ARGS_MAX] = {NULL};
    assert(table->count <= PCU_ARGS_MAX);
    if (args_place_positional(table, values, args, nargs) < 0) {
        return -1;
    }
    Py_ssize_t nkw = 0;
    if (kwnames != NULL) {
        nkw = PyTuple_GET_SIZE(kwnames);
    }
    for (Py_ssize_t i = 0; i < nkw; i++) {
        if (args_place(table, values, PyTuple_GET_ITEM(kwnames, i), args[nargs + i]) <
            0) {
            return -1;
        }
    }
    return args_convert(st, table, values, out);
}

int
pcu_args_parse_tuple(pcu_state *st, const pcu_argtable *table, PyObject *args,
                     PyObject *kwargs, void *out)
{
    PyObject *values[PCU_ARGS_MAX] = {NULL};
    PyObject *const *items = &PyTuple_GET_ITEM(args, 0);
    if (args_place_positional(table, values, items, PyTuple_GET_SIZE(args)) < 0) {
        return -1;
    }
    PyObject *keyword;
    PyObject *value;
    Py_ssize_t position = 0;
    while (kwargs != NULL && PyDict_Next(kwargs, &position, &keyword, &value)) {
        if (args_place(table, values, keyword, value) < 0) {
            return -1;
        }
    }
    return args_convert(st, table, values, out);
}
