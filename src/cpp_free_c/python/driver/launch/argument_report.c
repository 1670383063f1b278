/* Warnings about the types of arguments.
 *
 * pycuda/_argument_types.py writes the text and calls Python's machinery of warnings,
 * which shows a warning once for each line, or as the program's filters say. It answers
 * whether the same warning would be hidden the next time. The call site is remembered
 * then, until the filters change. */
#include "python/driver/launch/launch.h"

#include <stdarg.h>

#include "python/support/call_site.h"
#include "python/driver/resource.h"

enum { SITES = 16 };

typedef struct {
    uint32_t line;
    Py_ssize_t index; /* of the argument */
} argument_site;

struct pcu_argument_sites {
    PyObject *filters; /* strong: the list warnings.filters when the sites were added */
    Py_ssize_t length; /* of that list */
    Py_ssize_t next;   /* the place of the next site */
    argument_site items[SITES];
};

void
pcu_argument_sites_free(struct pcu_argument_sites *sites)
{
    if (sites == NULL) {
        return;
    }
    Py_CLEAR(sites->filters);
    PyMem_Free(sites);
}

/* The list of the filters of warnings. NULL if it cannot be had; no exception then. */
static PyObject *
site_filters_new(const pcu_state *st)
{
    PyObject *filters = NULL;
    PyObject *module = PyImport_GetModule(st->str_warnings);
    if (module != NULL) {
        filters = PyObject_GetAttr(module, st->str_filters);
        Py_DECREF(module);
    }
    if (filters == NULL) {
        PyErr_Clear(); /* without the list each call asks the machinery */
    }
    else if (!PyList_CheckExact(filters)) {
        Py_CLEAR(filters);
    }
    return filters;
}

/* Whether this call site has warned of the argument, under the same filters. */
static bool
site_is_known(const pcu_function *fn, uint32_t line, Py_ssize_t index)
{
    const struct pcu_argument_sites *sites = fn->sites;
    if (sites == NULL || line == PCU_CALL_SITE_UNKNOWN) {
        return false;
    }
    for (size_t i = 0; i < SITES; i++) {
        const argument_site *site = &sites->items[i];
        if (site->line == line && site->index == index) {
            PyObject *filters = site_filters_new(fn->st);
            bool same = filters != NULL && filters == sites->filters &&
                        PyList_GET_SIZE(filters) == sites->length;
            Py_XDECREF(filters);
            return same;
        }
    }
    return false;
}

/* Remember a call site. A lack of memory is no error: the site warns again. */
static void
site_add(pcu_function *fn, uint32_t line, Py_ssize_t index)
{
    PyObject *filters = site_filters_new(fn->st);
    if (filters == NULL || line == PCU_CALL_SITE_UNKNOWN) {
        Py_XDECREF(filters);
        return;
    }
    if (fn->sites == NULL) {
        fn->sites = PyMem_Calloc(1, sizeof(*fn->sites));
    }
    struct pcu_argument_sites *sites = fn->sites;
    if (sites == NULL) {
        Py_DECREF(filters);
        return;
    }
    if (sites->filters != filters || sites->length != PyList_GET_SIZE(filters)) {
        memset(sites->items, 0, sizeof(sites->items));
        sites->length = PyList_GET_SIZE(filters);
        Py_XSETREF(sites->filters, Py_NewRef(filters));
    }
    argument_site *site = &sites->items[sites->next];
    sites->next = (sites->next + 1) % SITES;
    site->index = index;
    site->line = line;
    Py_DECREF(filters);
}

static int
argument_report(pcu_function *fn, Py_ssize_t index, PyObject *arg, bool is_format)
{
    uint32_t line = pcu_call_site(fn->st);
    if (site_is_known(fn, line, index)) {
        return 0;
    }
    PyObject *entries = ((pcu_module *)fn->module)->entries;
    PyObject *module = PyImport_ImportModule("pycuda._argument_types");
    PyObject *settled = NULL;
    int rc = -1;
    if (entries == NULL) {
        entries = Py_None;
    }
    if (module != NULL) {
        settled = PyObject_CallMethod(module, "report", "OOOnnOi", fn->module, entries,
                                      fn->name, fn->nparams, index, arg, is_format);
    }
    if (settled != NULL) {
        rc = 0;
        if (settled == Py_True) {
            site_add(fn, line, index);
        }
    }
    Py_XDECREF(module);
    Py_XDECREF(settled);
    return rc;
}

int
pcu_argument_report(pcu_function *fn, Py_ssize_t index, PyObject *arg)
{
    return argument_report(fn, index, arg, false);
}

int
pcu_argument_report_format(pcu_function *fn, Py_ssize_t index, char code)
{
    PyObject *text = PyUnicode_FromStringAndSize(&code, 1);
    if (text == NULL) {
        return -1;
    }
    int rc = argument_report(fn, index, text, true);
    Py_DECREF(text);
    return rc;
}

int
pcu_argument_report_strided(pcu_function *fn, Py_ssize_t index, PyObject *const *args,
                            Py_ssize_t nargs)
{
    uint32_t line = pcu_call_site(fn->st);
    if (site_is_known(fn, line, index)) {
        return 0;
    }
    PyObject *all = PyTuple_New(nargs);
    PyObject *module = NULL;
    PyObject *settled = NULL;
    int rc = -1;
    for (Py_ssize_t i = 0; all != NULL && i < nargs; i++) {
        PyTuple_SET_ITEM(all, i, Py_NewRef(args[i]));
    }
    if (all != NULL) {
        module = PyImport_ImportModule("pycuda._argument_types");
    }
    if (module != NULL) {
        settled = PyObject_CallMethod(module, "strided", "OnO", fn->name, index, all);
    }
    if (settled != NULL) {
        rc = 0;
        if (settled == Py_True) {
            site_add(fn, line, index);
        }
    }
    Py_XDECREF(all);
    Py_XDECREF(module);
    Py_XDECREF(settled);
    return rc;
}

/* Call a function of pycuda/_argument_types.py with what is known of the parameter. The
 * format is that of the values behind the argument. NULL with an exception. */
static PyObject *
argument_ask_new(pcu_function *fn, const char *function, Py_ssize_t index,
                 PyObject *arg, PyObject *text, PyObject *error)
{
    PyObject *entries = ((pcu_module *)fn->module)->entries;
    PyObject *module = PyImport_ImportModule("pycuda._argument_types");
    if (module == NULL) {
        return NULL;
    }
    if (entries == NULL) {
        entries = Py_None;
    }
    /* without an error, the list of arguments ends before it */
    PyObject *found = PyObject_CallMethod(
        module, function, error == NULL ? "OOOnnOO" : "OOOnnOOO", fn->module, entries,
        fn->name, fn->nparams, index, arg, text, error);
    Py_DECREF(module);
    return found;
}

/* The words "argument INDEX of KERNEL" and what is wrong. NULL with an exception. */
static PyObject *
argument_text_new(const pcu_function *fn, Py_ssize_t index, const char *format,
                  va_list values)
{
    PyObject *wrong = PyUnicode_FromFormatV(format, values);
    if (wrong == NULL) {
        return NULL;
    }
    PyObject *text =
        PyUnicode_FromFormat("argument %zd of %U%U", index, fn->name, wrong);
    Py_DECREF(wrong);
    return text;
}

int
pcu_argument_raise(pcu_function *fn, Py_ssize_t index, PyObject *arg, PyObject *error,
                   const char *format, ...)
{
    va_list values;
    va_start(values, format);
    PyObject *text = argument_text_new(fn, index, format, values);
    va_end(values);
    if (text == NULL) {
        return -1;
    }
    PyObject *full = argument_ask_new(fn, "explained", index, arg, text, NULL);
    Py_DECREF(text);
    if (full != NULL) {
        PyErr_SetObject(error, full);
        Py_DECREF(full);
    }
    return -1;
}

int
pcu_argument_forgive(pcu_function *fn, Py_ssize_t index, PyObject *arg, PyObject *error,
                     const char *format, ...)
{
    va_list values;
    va_start(values, format);
    PyObject *text = argument_text_new(fn, index, format, values);
    va_end(values);
    PyObject *done = NULL;
    if (text != NULL) {
        done = argument_ask_new(fn, "mistaken", index, arg, text, error);
    }
    Py_XDECREF(text);
    Py_XDECREF(done);
    if (done == NULL) {
        return -1;
    }
    return 0;
}
