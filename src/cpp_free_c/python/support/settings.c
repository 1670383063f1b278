/* Settings of the environment: _setting and _is_strict. See settings.h. */
#include "python/support/settings.h"

#include <stdarg.h>

#include "python/support/setup.h"

int
pcu_forgive(PyObject *error, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    PyObject *text = PyUnicode_FromFormatV(format, values);
    va_end(values);
    PyObject *module = NULL;
    PyObject *done = NULL;
    if (text != NULL) {
        module = PyImport_ImportModule("pycuda._warning");
    }
    if (module != NULL) {
        done = PyObject_CallMethod(module, "forgive", "OO", text, error);
    }
    Py_XDECREF(module);
    Py_XDECREF(text);
    Py_XDECREF(done);
    if (done == NULL) {
        return -1;
    }
    return 0;
}

int
pcu_setting_read(pcu_setting setting)
{
    int found = pcu_setting_find(setting);
    if (found < 0) {
        char text[512];
        pcu_setting_complain(setting, text, sizeof(text));
        PyObject *message =
            PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
        if (message != NULL) {
            PyErr_SetObject(PyExc_ValueError, message);
            Py_DECREF(message);
        }
    }
    return found;
}

/* -- NVIDIA's libraries ------------------------------------------------------------ */

static int
library_try(PyObject *paths, pcu_library_opener open, char *reason)
{
    char detail[PCU_LIBRARY_REASON];
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(paths); i++) {
        const char *path = PyUnicode_AsUTF8(PyList_GET_ITEM(paths, i));
        if (path == NULL) {
            return -1;
        }
        if (open(path, detail, sizeof(detail)) == 0) {
            return 1;
        }
        if (reason[0] == '\0') {
            memcpy(reason, detail, sizeof(detail));
        }
    }
    return 0;
}

int
pcu_library_open(const char *name, pcu_library_opener open, char *reason)
{
    int opened = -1;
    PyObject *finder = PyImport_ImportModule("pycuda._libraries");
    reason[0] = '\0';
    if (finder == NULL) {
        return -1;
    }
    PyObject *paths = PyObject_CallMethod(finder, "paths", "s", name);
    Py_DECREF(finder);
    if (paths != NULL && PyList_Check(paths)) {
        opened = library_try(paths, open, reason);
    }
    else if (paths != NULL) {
        PyErr_SetString(PyExc_TypeError, "paths() must return a list");
    }
    Py_XDECREF(paths);
    return opened;
}

PyDoc_STRVAR(settings_setting_doc,
             "_setting($module, variable, /)\n--\n\n"
             "Return what a variable of the environment chooses.\n\n"
             "The result is a bool for a switch, else a word. ValueError if the\n"
             "variable has another value, KeyError if it is no setting.");

static PyObject *
settings_setting(PyObject *Py_UNUSED(m), PyObject *arg)
{
    const char *variable = PyUnicode_AsUTF8(arg);
    int setting = 0;
    if (variable == NULL) {
        return NULL;
    }
    while (setting < PCU_SETTING_COUNT &&
           strcmp(variable, pcu_setting_variable((pcu_setting)setting)) != 0) {
        setting++;
    }
    if (setting == PCU_SETTING_COUNT) {
        PyErr_SetObject(PyExc_KeyError, arg);
        return NULL;
    }
    int found = pcu_setting_read((pcu_setting)setting);
    if (found < 0) {
        return NULL;
    }
    if (pcu_setting_is_switch((pcu_setting)setting)) {
        return PyBool_FromLong(found);
    }
    char word[32];
    pcu_setting_word((pcu_setting)setting, found, word, sizeof(word));
    return PyUnicode_FromString(word);
}

PyDoc_STRVAR(settings_is_strict_doc,
             "_is_strict($module, /)\n--\n\n"
             "Return whether a mistake that a GPU may forgive is an error.\n\n"
             "That is so with PYCUDA_STRICT=1, and if PYCUDA_CHECK names a check.");

static PyObject *
settings_is_strict(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    if (pcu_setting_read(PCU_SETTING_STRICT) < 0) {
        return NULL;
    }
    return PyBool_FromLong(pcu_setting_is_strict());
}

static PyMethodDef settings_functions[] = {
    {"_setting", settings_setting, METH_O, settings_setting_doc},
    {"_is_strict", settings_is_strict, METH_NOARGS, settings_is_strict_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_settings_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, settings_functions);
}
